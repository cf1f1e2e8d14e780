"""Break the recurrence and see which claims of chapter 10 notice; and the witnesses, by hand."""

import numpy as np
import pytest

from rope_lab.algebra import recurrence, rotation
from rope_lab.claims import load, verify

IDS = {name for name, entry in load().items() if entry.chapter == 10}


def failing() -> set[str]:
    return {result.claim.id for result in verify("ch10") if result.failed}


def test_all_six_of_the_source_are_there():
    assert {
        "su19.rnn-special",
        "su19.rnn-complex-form",
        "su19.rnn-geometric",
        "su19.rnn-complete",
        "su19.lru-retnet",
        "su19.lru-vs-rwkv",
    } <= IDS


def test_nothing_fails_as_it_is():
    assert failing() == set()


def test_a_recurrence_that_turns_the_other_way(monkeypatch):
    right = recurrence.recurrent
    monkeypatch.setattr(
        recurrence, "recurrent", lambda v, *, gamma, theta: right(v, gamma=gamma, theta=-np.asarray(theta))
    )
    assert {"su19.rnn-geometric"} <= failing()


def test_a_rotation_without_its_minus(monkeypatch):
    def broken(angle):
        cos, sin = np.cos(angle), np.sin(angle)
        return np.moveaxis(np.array([[cos, sin], [sin, cos]]), (0, 1), (-2, -1))

    monkeypatch.setattr(rotation, "rotation_2d", broken)
    assert {
        "su19.rnn-special",
        "su19.rnn-complex-form",
        "su19.rnn-geometric",
        "su19.lru-retnet",
        "book.decay-frame",
    } <= failing()


def test_retention_that_forgets_the_turn(monkeypatch):
    right = recurrence.retention_recurrent
    monkeypatch.setattr(
        recurrence, "retention_recurrent", lambda q, k, v, *, gamma, theta: right(q, k, v, gamma=gamma, theta=0 * theta)
    )
    assert "su19.lru-retnet" in failing()


def test_a_kernel_of_another_sign_is_seen_by_the_convolution(monkeypatch):
    right = recurrence.impulse_response
    monkeypatch.setattr(recurrence, "impulse_response", lambda *a, **k: right(*a, **k).conj())
    assert "book.decay-convolution" in failing()


def test_witnesses_by_hand():
    assert pytest.approx(1.9) == 0.9**1 + 0.9**0
    assert pytest.approx([1 / 3, 2 / 3]) == [0.5 / 1.5, 1 / 1.5]
    h2 = 0.5 * np.exp(-0.5j * np.pi) * 1
    assert h2 == pytest.approx(-0.5j)
    values = [2 / 3**n - (2 / 3) ** n for n in range(9)]
    assert values[0] == 1
    assert values[1] == pytest.approx(0)
    assert max(values[2:]) < 0
