"""The witnesses of chapter 18, computed again by other means; then the rounding is broken, and the ledger notices."""

import struct
from itertools import pairwise

import numpy as np
import pytest

from rope_lab.algebra import half_precision, rotation
from rope_lab.claims import load, run
from rope_lab.nn import rotary

CLAIMS = {
    "unsaid.precision",
    "book.half-integers",
    "book.spacing",
    "book.half-count",
    "book.angle-error",
    "book.rounded-frequency",
    "book.relativity-gap",
    "book.relativity-bound",
    "book.table-error",
    "book.float64-table",
}


def holding(names):
    return {name for name in names if run(load()[name]).ok}


def by_struct(n):
    """Python's own float16, which rounds to even."""
    return struct.unpack("<e", struct.pack("<e", n))[0]


def nearest(n, p):
    """The nearest integer of at most p significant bits; a tie goes to the even one. Integers only."""
    step = 2 ** max(0, n.bit_length() - p)
    below, rest = divmod(n, step)
    return step * (below + (2 * rest > step or (2 * rest == step and below % 2 == 1)))


def test_the_claims_hold():
    assert holding(CLAIMS) == CLAIMS


def test_first_collisions():
    assert by_struct(2049) == 2048
    assert nearest(257, 8) == 256
    assert nearest(2049, 11) == 2048


def test_the_count():
    assert len({nearest(n, 8) for n in range(2**17)}) == 1409 == 2**8 + 9 * 2**7 + 1
    assert len({by_struct(n) for n in range(2**15)}) == 2**11 + 4 * 2**10 + 1


def test_the_steps_of_the_last_octave():
    there = sorted({nearest(n, 8) for n in range(2**16, 2**17)})
    assert {b - a for a, b in pairwise(there)} == {512}
    assert max(abs(nearest(n, 8) - n) for n in range(2**16, 2**17)) == 256


def test_a_frequency_in_bfloat16():
    hat = half_precision.round_to(0.3, dtype="bfloat16").item()
    assert hat == 0.30078125 == 77 / 256
    assert 1000 * (hat - 0.3) == pytest.approx(0.78, abs=0.005)


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
