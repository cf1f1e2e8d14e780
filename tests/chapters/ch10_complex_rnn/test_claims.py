"""Break the recurrence and see which claims of chapter 10 notice."""

from itertools import pairwise

import numpy as np

from rope_lab.algebra import recurrence, rotation
from tests.claims.broken import holding


def test_a_recurrence_that_turns_the_other_way(monkeypatch):
    right = recurrence.recurrent
    monkeypatch.setattr(
        recurrence, "recurrent", lambda v, *, gamma, theta: right(v, gamma=gamma, theta=-np.asarray(theta))
    )
    assert holding({"su19.rnn-geometric"}) == set()


def test_a_rotation_without_its_minus(monkeypatch):
    def broken(angle):
        cos, sin = np.cos(angle), np.sin(angle)
        return np.moveaxis(np.array([[cos, sin], [sin, cos]]), (0, 1), (-2, -1))

    monkeypatch.setattr(rotation, "rotation_2d", broken)
    assert (
        holding(
            {"su19.rnn-special", "su19.rnn-complex-form", "su19.rnn-geometric", "su19.lru-retnet", "book.decay-frame"}
        )
        == set()
    )


def test_retention_that_forgets_the_turn(monkeypatch):
    right = recurrence.retention_recurrent
    monkeypatch.setattr(
        recurrence, "retention_recurrent", lambda q, k, v, *, gamma, theta: right(q, k, v, gamma=gamma, theta=0 * theta)
    )
    assert holding({"su19.lru-retnet"}) == set()


def test_a_kernel_of_another_sign_is_seen_by_the_convolution(monkeypatch):
    right = recurrence.impulse_response
    monkeypatch.setattr(recurrence, "impulse_response", lambda *a, **k: right(*a, **k).conj())
    assert holding({"book.decay-convolution"}) == set()


def test_how_often_the_scores_of_two_answers_change_places():
    """What the page says of the bell: 35 times in 128 steps, and 17 times in the even ones; 17 decays allow 16."""
    pairs = [(a, b) for a in range(7) for b in range(7) if a != b]
    for step, least in ((1, 35), (2, 17)):
        told = [[n % 7 for n in range(0, 128, step) if n % 7 in pair] for pair in pairs]
        assert min(sum(x != y for x, y in pairwise(each)) for each in told) == least > 16
