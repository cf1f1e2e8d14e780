"""Break a piece of the algebra, and the claims of chapter 13 notice."""

from dataclasses import replace

import numpy as np
import pytest

from rope_lab.algebra import additive_head, one_head, rotation, widely_linear
from rope_lab.claims import verify
from rope_lab.training.results import cards
from tests.claims.broken import holding


def test_a_query_that_looks_back(monkeypatch):
    right = one_head.offset_query
    monkeypatch.setattr(one_head, "offset_query", lambda s, *, theta: right(-s, theta=theta))
    assert holding({"crope.eq27-sign", "crope.realform", "crope.figure-task"}) == set()


def test_a_turn_the_other_way(monkeypatch):
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: right(-np.asarray(angle)))
    assert (
        holding({"crope.eq27-sign", "crope.eq28-form", "crope.realform", "crope.eq29-sum", "crope.one-layer"}) == set()
    )


def test_a_projection_conjugated(monkeypatch):
    right = one_head.token_projection
    monkeypatch.setattr(one_head, "token_projection", lambda *a, **k: right(*a, **k).conj())
    assert holding({"crope.eq29-Wx", "crope.eq29-sum", "crope.one-layer"}) == set()


def test_the_wrong_half(monkeypatch):
    right = widely_linear.join
    monkeypatch.setattr(widely_linear, "join", lambda A, B, **where: right(B, A, **where))
    assert holding({"crope.in-subspace"}) == set()


def test_a_parabola_without_its_square(monkeypatch):
    right = additive_head.parabola_head

    def flat(*window, **how):
        head = right(*window, **how)
        W_k = head.W_k.copy()
        W_k[1] = 0
        return replace(head, W_k=W_k)

    monkeypatch.setattr(additive_head, "parabola_head", flat)
    assert holding({"crope.eq25-26", "crope.abs-impossible", "book.head-parabola"}) == set()


def test_the_experiment_reads_the_cards(monkeypatch):
    found = cards.load_all("one-head", "cpu")
    assert len(found) == 20
    assert {card.config["length"] for card in found} == {32}
    monkeypatch.setattr(cards, "load_all", lambda *_: [card for card in found if card.seed < 3])
    (result,) = verify("book.head-trained")
    assert result.outcome == "not attempted"
    worse = [replace(card, measured=card.measured | {"accuracy": [0.5] * 5}) for card in found]
    monkeypatch.setattr(cards, "load_all", lambda *_: worse)
    (result,) = verify("book.head-trained")
    assert result.outcome == "not reproduced"


@pytest.mark.parametrize("variant", ["RoPE", "CRoPE", "absolute", "absolute, moved"])
def test_every_variant_has_five_seeds(variant):
    assert [card.seed for card in cards.load_all("one-head", "cpu") if card.variant == variant] == list(range(5))
