"""The plan's analysis against SciPy's tests, and against answers that are known."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rope_lab.training.results.equivalence import family

APART, INSIDE, NOISY = [0.05, 0.06, 0.055, 0.052], [0.001, -0.002, 0.0, 0.001], [0.5, -0.6, 0.4, -0.1]

samples = st.lists(st.floats(-1, 1), min_size=3, max_size=8, unique=True).filter(lambda v: statistics.stdev(v) > 1e-4)


@given(values=samples)
def test_both_questions_are_scipy_s_tests(values):
    (found,) = family({"one": values}, margin=0.1)
    assert found.p_difference == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=1e-12)
    high = stats.ttest_1samp(values, 0.1, alternative="less").pvalue
    low = stats.ttest_1samp(values, -0.1, alternative="greater").pvalue
    assert found.p_equivalence == pytest.approx(max(high, low), abs=1e-12)
    wide = stats.t.interval(0.99, len(values) - 1, statistics.fmean(values), stats.sem(values))
    assert (found.wide.mean - found.wide.half, found.wide.mean + found.wide.half) == pytest.approx(wide)


def test_the_four_outcomes():
    found = family({"up": APART, "down": [-x for x in APART], "same": INSIDE, "noise": NOISY})
    assert [each.outcome for each in found] == ["worse", "better", "equivalent", "undecided"]
    assert [each.beyond_margin for each in found] == [True, True, False, False]


def test_a_difference_that_is_clear_but_small_is_called_equivalent():
    (found,) = family({"small": [0.004, 0.005, 0.0045, 0.0052]})
    assert found.p_difference < 0.01
    assert found.outcome == "equivalent"


def test_the_correction_can_take_an_answer_away():
    barely = [0.03, 0.01, 0.04, 0.02]
    (alone,) = family({"barely": barely}, margin=0.001)
    assert alone.outcome == "worse"
    among = family({"barely": barely, **{str(i): NOISY for i in range(4)}}, margin=0.001)
    assert among[0].outcome == "undecided"
    assert among[0].p_difference == alone.p_difference


def test_an_answer_that_three_seeds_carry_turns():
    steady = family({"steady": [0.05, 0.06, 0.055, 0.052, 0.058, 0.051, 0.056, 0.054]})[0]
    assert steady.left_out(3) == (56, 0, 56)
    carried = family({"carried": [0.9, 0.9, 0.9, *[-0.02] * 5]})[0]
    ways, turned, _ = carried.left_out(3)
    assert (ways, carried.outcome, turned) == (56, "undecided", 0)  # it has no answer that could turn
    inside = family({"inside": [0.001, 0.001, 0.001, *[0.0202] * 5]})[0]
    assert inside.outcome == "equivalent"
    assert inside.left_out(3)[1] == 1  # without the three low seeds the mean lies outside the margin


def test_a_run_without_a_finite_loss_decides_nothing_and_still_counts():
    found = family({"lost": [math.nan, 0.1, 0.1], "up": [0.05, 0.06, 0.055]})
    assert found[0].outcome == "undecided"
    assert found[1].p_difference < 0.05


def test_what_cannot_be_asked_is_said():
    with pytest.raises(ValueError, match="one: expected differences of two seeds or more, got 1"):
        family({"one": [0.1]})
    with pytest.raises(ValueError, match="margin: expected a positive number of nats per token, got 0"):
        family({"a": APART}, margin=0)
