"""Break the rounding, and the claims of chapter 18 notice."""

import numpy as np
import pytest

from rope_lab.algebra import half_precision, rotation
from rope_lab.nn import rotary
from tests.claims.broken import holding


@pytest.mark.parametrize("break_it", ["cut", "one bit more", "one bit less"])
def test_a_wrong_rounding_is_noticed(monkeypatch, break_it):
    right = half_precision._nearest

    def wrong(x, form):
        if break_it == "cut":
            h = half_precision._spacing(np.where(np.isfinite(x), x, 0.0), form)
            return np.where(np.isfinite(x), np.trunc(x / h) * h, x)
        return right(x, form._replace(bits=form.bits + (1 if break_it == "one bit more" else -1)))

    monkeypatch.setattr(half_precision, "_nearest", wrong)
    hit = {"book.spacing", "book.table-error", "book.angle-error"}
    hit |= set() if break_it == "cut" else {"unsaid.precision", "book.half-integers", "book.half-count"}
    hit -= {"book.angle-error"} if break_it == "one bit more" else set()
    assert holding(hit) == set()


def test_a_sign_in_the_rotation_is_noticed(monkeypatch):
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: np.swapaxes(right(angle), -1, -2))
    assert holding({"book.rounded-frequency", "book.relativity-gap"}) == set()


def test_a_lost_conjugate_is_noticed(monkeypatch):
    right = half_precision.rounded_turns

    def lost(positions, *, theta, rounding):
        turns = right(positions, theta=theta, rounding=rounding)
        return turns if rounding == half_precision.Rounding() else turns.conj()

    monkeypatch.setattr(half_precision, "rounded_turns", lost)
    assert holding({"book.relativity-bound", "book.table-error"}) == set()


def test_a_table_from_float32_is_noticed(monkeypatch):
    right = rotary.rotary_table

    def single(positions, config, **options):
        table = right(positions, config, **options)
        return table._replace(cos=table.cos * (1 + 2.0**-20))

    monkeypatch.setattr(rotary, "rotary_table", single)
    assert holding({"book.float64-table"}) == set()
