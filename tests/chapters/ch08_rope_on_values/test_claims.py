"""Break the definition of attention, and the ledger names the claims it hits."""

import numpy as np
import pytest

from rope_lab.algebra import placements, rotation
from rope_lab.claims import load, select
from tests.claims.broken import failing, holding


def test_an_output_that_turns_on_instead_of_back(monkeypatch):
    right = placements.rotate
    # The output is what turns by minus its position.
    monkeypatch.setattr(placements, "rotate", lambda x, at, **kw: right(x, np.abs(np.asarray(at)), **kw))
    assert holding({"su19.o-rope-def", "su19.abs-list", "book.one-token", "book.vo-complex", "book.vo-frame"}) == set()


def test_a_rotation_with_a_lost_minus(monkeypatch):
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: np.abs(right(angle)))
    symbols = {entry.id for entry in select("ch8") if entry.evidence == "cases"}
    assert holding(symbols | {"su19.abs-list", "su19.o-rope-def", "unsaid.vo-freq", "book.vo-complex"}) == set()


@pytest.mark.deep
def test_a_rule_that_forgets_the_values(monkeypatch):
    monkeypatch.setattr(placements, "is_relative", lambda x: ("q" in x) == ("k" in x))
    assert failing("ch8") == {"book.four-of-sixteen"}


def test_weights_that_do_not_look_at_the_keys_place(monkeypatch):
    right = placements.attention_weights
    monkeypatch.setattr(
        placements, "attention_weights", lambda q, k, rotated, **kw: right(q, k, rotated=rotated.replace("k", ""), **kw)
    )
    assert holding({"su19.abs-list", "unsaid.single-side-order", "book.two-tokens"}) == set()


@pytest.mark.parametrize("name", ["su19.zh-roper", "su19.zh-poyo", "su19.en-zh-diff"])
def test_who_tried_it_is_not_printed(name):
    entry = load()[name]
    assert "@" not in entry.statement + entry.correction + entry.witness
    assert entry.date
