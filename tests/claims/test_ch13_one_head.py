"""The witnesses of chapter 13, computed again by hand, and what a broken piece of algebra makes fail."""

from dataclasses import replace

import numpy as np
import pytest

from rope_lab.algebra import additive_head, one_head, rotation, widely_linear
from rope_lab.claims import verify
from rope_lab.training.results import cards


def failing(pattern="ch13"):
    return {result.claim.id for result in verify(pattern) if result.failed}


def test_eq27_as_printed_looks_back():
    theta, r = 0.7, np.arange(-3, 4)
    logits = (np.conj(np.exp(-1j * theta)) * np.exp(1j * r * theta)).real
    assert r[logits.argmax()] == -1


def test_two_vectors_that_are_parallel_only_as_complex_numbers():
    q1, q2 = np.exp(1j * np.array([1, 0.3])), np.exp(2j * np.array([1, 0.3]))
    smallest = np.linalg.svd(np.stack((q1, q2), axis=1))[1][1]
    assert round(float(smallest), 3) == 0.348


def test_the_parabola_at_one_place():
    n, m = np.arange(20), 6
    for s in (1, 2):
        assert n[(2 * (m + s) * n - n**2).argmax()] == m + s


def test_eq26_leaves_one_row_for_all():
    token, keys = np.array([1.0, 0.0]), np.random.default_rng(0).normal(size=(9, 2))
    rows = [keys @ token for _ in (3, 7)]  # the query does not know where it is
    assert (rows[0] == rows[1]).all()


def test_the_printed_margin():
    assert round(float(np.log(999 * 0.99 / 0.01)), 1) == 11.5


def test_cosines_that_come_back():
    assert 1 - np.cos(710) < 2e-9
    assert (np.cos(84823) + np.cos(848.23)) / 2 > 0.999999


def test_a_query_that_looks_back(monkeypatch):
    right = one_head.offset_query
    monkeypatch.setattr(one_head, "offset_query", lambda s, *, theta: right(-s, theta=theta))
    assert {"crope.eq27-sign", "crope.realform", "crope.figure-task"} <= failing()


def test_a_turn_the_other_way(monkeypatch):
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: right(-np.asarray(angle)))
    assert {"crope.eq27-sign", "crope.eq28-form", "crope.realform", "crope.eq29-sum", "crope.one-layer"} <= failing()


def test_a_projection_conjugated(monkeypatch):
    right = one_head.token_projection
    monkeypatch.setattr(one_head, "token_projection", lambda *a, **k: right(*a, **k).conj())
    assert {"crope.eq29-Wx", "crope.eq29-sum", "crope.one-layer"} <= failing("crope.*")


def test_the_wrong_half(monkeypatch):
    right = widely_linear.join
    monkeypatch.setattr(widely_linear, "join", lambda A, B, **where: right(B, A, **where))
    assert failing("crope.in-subspace") == {"crope.in-subspace"}


def test_a_parabola_without_its_square(monkeypatch):
    right = additive_head.parabola_head

    def flat(*window, **how):
        head = right(*window, **how)
        W_k = head.W_k.copy()
        W_k[1] = 0
        return replace(head, W_k=W_k)

    monkeypatch.setattr(additive_head, "parabola_head", flat)
    assert {"crope.eq25-26", "crope.abs-impossible", "book.head-parabola"} <= failing()


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
