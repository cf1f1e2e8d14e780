"""Rotations that are right and unusual, and one that is wrong, read as what they are."""

import numpy as np
import pytest

from rope_lab.audit import fingerprint
from rope_lab.audit.gallery import mismatched_tables, right
from rope_lab.audit.ways import whole_sequences
from tests.audit.implementations import rotary


@pytest.mark.parametrize("factor", [2 * np.pi, -20.0])
def test_frequencies_above_pi_are_read_where_fractions_are_answered(factor):
    theta = factor * 100.0 ** (-np.arange(8) / 8)
    seen = fingerprint(rotary(layout="half", theta=theta), head_dim=16)
    assert np.allclose(seen.frequencies, np.abs(theta), rtol=1e-9)
    assert (seen.problems, seen.direction, seen.precision) == ((), int(np.sign(factor)), "float64")
    assert seen.scheme.startswith(f"base 100, every frequency times {abs(factor):.5g}")


def test_control_a_table_that_cuts_fractions_is_read_at_whole_positions():
    seen = fingerprint(lambda x, n: right(x, np.floor(n)), head_dim=8)
    assert (seen.base, seen.problems) == (10000.0, ())


def test_exponents_over_an_odd_width():
    theta = 10000.0 ** (-2 * np.arange(11) / 21)
    seen = fingerprint(rotary(layout="half", theta=theta), head_dim=22)
    assert (seen.base, seen.rotated_dims) == (10000.0, 22)
    assert "its exponents are over an odd width, 21" in seen.notes


def test_tables_of_the_other_layout_are_named():
    seen = fingerprint(mismatched_tables, head_dim=8)
    assert (seen.layout, seen.precision) == ("other", "unknown")
    assert seen.problems[0].startswith("mismatched cos/sin layout")


class Narrow:
    """An array of a library that has no float64."""

    def __init__(self, values):
        self.values = np.asarray(values, dtype=np.float32)
        self.shape, self.dtype = self.values.shape, self.values.dtype

    def __array__(self, dtype=None, copy=None):
        return self.values.astype(dtype or self.values.dtype)


def test_a_library_without_float64_narrows_by_its_nature():
    seen = fingerprint(lambda x, n: Narrow(right(x, n)), head_dim=8)
    assert (seen.problems, seen.ok) == ((), True)
    assert "returns float32 for float64" in seen.notes


@pytest.mark.parametrize("leaks", [False, True])
def test_whole_sequences_are_asked_with_few_calls(leaks):
    calls = []

    def call(x):
        calls.append(x.shape)
        turned = right(x.astype(float), np.arange(x.shape[1]))
        return turned + (np.cumsum(x, axis=1) - x) * leaks

    f = whole_sequences(call, longest=64)
    x, at = np.random.default_rng(0).normal(size=(2, 3, 5, 8)), np.array([7, 0, 33, 7, 5])
    assert np.abs(f(x, at) - right(x, at)).max() < 1e-5
    before = len(calls)
    f(x, at)
    assert len(calls) - before == (5 if leaks else 2)
    with pytest.raises(IndexError, match="asked up to 63"):
        f(x, at + 60)
