"""Break the definition of attention, and the ledger names the claims it hits; the witnesses of chapter 8, by hand."""

import numpy as np
import pytest

from rope_lab.algebra import placements, rotation
from rope_lab.claims import load, select, verify

QUARTER = np.array([[0, -1], [1, 0]])  # the turn of one position: whole numbers, no rounding


def failing() -> set[str]:
    return {result.claim.id for result in verify("ch8") if result.failed}


def R(n):
    return np.linalg.matrix_power(QUARTER, n % 4)


def test_nothing_fails_as_it_is():
    assert failing() == set()


def test_an_output_that_turns_on_instead_of_back(monkeypatch):
    right = placements.rotate
    # The output is what turns by minus its position.
    monkeypatch.setattr(placements, "rotate", lambda x, at, **kw: right(x, np.abs(np.asarray(at)), **kw))
    assert {"su19.o-rope-def", "su19.abs-list", "book.one-token", "book.vo-complex", "book.vo-frame"} <= failing()


def test_a_rotation_with_a_lost_minus(monkeypatch):
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: np.abs(right(angle)))
    hit = failing()
    assert {entry.id for entry in select("ch8") if entry.evidence == "exact"} <= hit
    assert {"su19.abs-list", "su19.o-rope-def", "unsaid.vo-freq", "book.vo-complex"} <= hit


def test_a_rule_that_forgets_the_values(monkeypatch):
    monkeypatch.setattr(placements, "is_relative", lambda x: ("q" in x) == ("k" in x))
    assert failing() == {"book.four-of-sixteen"}


def test_weights_that_do_not_look_at_the_keys_place(monkeypatch):
    right = placements.attention_weights
    monkeypatch.setattr(
        placements, "attention_weights", lambda q, k, rotated, **kw: right(q, k, rotated=rotated.replace("k", ""), **kw)
    )
    assert {"su19.abs-list", "unsaid.single-side-order", "book.two-tokens"} <= failing()


def test_values_alone():
    v = np.array([1, 0])
    assert [(R(n) @ v).tolist() for n in (0, 1)] == [[1, 0], [0, 1]]


def test_an_earlier_value_arrives_turned_the_other_way():
    assert (R(1).T @ R(0) == R(-1)).all()


def test_the_wrong_sign_sees_the_sum():
    assert (R(0) @ R(0) == np.eye(2)).all()
    assert (R(1) @ R(1) == -np.eye(2)).all()


def test_keys_alone():
    q = k = np.array([1, 0])
    assert [[int(q @ R(n + s) @ k) for n in (0, 1)] for s in (0, 1)] == [[1, 0], [0, -1]]


def test_half_turns():
    q = k = np.array([1, 0])
    assert [int(q @ R(2 * s) @ k) for s in (0, 1)] == [1, -1]  # book.two-tokens
    assert (R(0) + R(2) == 0).all()  # book.vo-fading


def test_a_mirror_turns_a_turn_around():
    F = np.diag([1, -1])
    assert all((F @ R(n) @ F == R(-n)).all() and (R(n).T @ F @ R(n) == F @ R(2 * n)).all() for n in range(4))


@pytest.mark.parametrize("name", ["su19.zh-roper", "su19.zh-poyo", "su19.en-zh-diff"])
def test_who_tried_it_is_not_printed(name):
    entry = load()[name]
    assert "@" not in entry.statement + entry.correction + entry.witness
    assert entry.date
