"""Intervals are Student's, and pairing is by seed."""

import math
import statistics

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from rope_lab.training.results import intervals
from rope_lab.training.results.intervals import along, interval, paired
from tests.training.tiny import card


@given(values=st.lists(st.floats(-5, 5), min_size=2, max_size=8, unique=True))
def test_the_interval_is_scipy_s(values):
    assume(statistics.stdev(values) >= 1e-6)
    found = interval(values)
    low, high = stats.t.interval(0.95, len(values) - 1, statistics.fmean(values), stats.sem(values))
    assert (found.mean - found.half, found.mean + found.half) == pytest.approx((low, high), rel=1e-6, abs=1e-9)


def test_one_seed_decides_nothing():
    assert interval([0.5]) == intervals.Interval(0.5, math.inf, 1)
    assert not interval([0.5]).decided
    assert str(interval([0.5])) == "+0.500 (one seed)"
    with pytest.raises(ValueError, match="at least one value"):
        interval([])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("others", [[], [1.0], [math.inf, 1.0]])
def test_what_is_no_number_has_no_interval(value, others):
    with pytest.raises(ValueError, match=r"values: expected finite numbers, one for each seed, got .*; look at"):
        interval([*others, value])


@given(levels=st.lists(st.floats(1, 9), min_size=2, max_size=5), gap=st.floats(0.01, 1))
def test_pairing_removes_what_a_seed_does_to_every_variant(levels, gap):
    found = [card(v, s, level + gap * (v == "b")) for s, level in enumerate(levels) for v in ("a", "b")]
    difference = paired(found, "b", "a")
    assert difference.mean == pytest.approx(gap)
    assert difference.half < 1e-9
    assert difference.decided


def test_only_seeds_that_both_have_are_paired():
    found = [card("a", 0, 1.0), card("a", 1, 2.0), card("b", 1, 2.5), card("b", 2, 9.0)]
    assert paired(found, "b", "a").mean == 0.5


def test_settings_are_not_mixed():
    found = [card("a", 0, config={"setting": s}) for s in ("PTB", "PG-19")]
    with pytest.raises(ValueError, match=r"expected the cards of one setting.*filter by card\.setting"):
        paired(found, "a", "a")
    assert found[0].file_name == "ptb-a-seed0.json"


def run(variant, seed, losses, steps=None, **more):
    steps = steps or [10 * i for i in range(len(losses))]
    train = [4.0] * len(losses)
    return card(variant, seed, curve={"step": steps, "train_loss": train, "valid_loss": losses}, **more)


def test_gaps_are_taken_step_by_step_and_seed_by_seed():
    runs = [("A", 0, [3.5, 3.25]), ("B", 0, [3.0, 3.0]), ("A", 1, [4.0, 3.0]), ("B", 1, [3.5, 3.25])]
    found = along([run(*args) for args in runs], "A", "B")
    assert found.steps == [0, 10]
    assert found.by_seed == {0: [0.5, 0.25], 1: [0.5, -0.25]}
    assert [gap.mean for gap in found.at_each_step] == [0.5, 0.0]
    assert (found.change.mean, found.change.n) == (-0.5, 2)


def test_only_what_every_run_has_is_compared():
    full, short = [3.0, 2.0, 1.0], [3.5, None, 1.5]
    found = along([run("A", 0, short), run("B", 0, full), run("A", 1, full), run("C", 1, full)], "A", "B")
    assert (found.steps, found.by_seed) == ([0, 20], {0: [0.5, 0.5]})


def test_the_middle_belongs_to_neither_half():
    found = along([run("A", 0, [1.0, 9.0, 3.0]), run("B", 0, [0.0, 0.0, 0.0])], "A", "B")
    assert found.change.mean == 2.0


def test_nothing_to_pair():
    found = along([run("A", 0, [1.0]), run("B", 1, [1.0])], "A", "B")
    assert (found.steps, found.by_seed, found.at_each_step) == ([], {}, [])


def test_settings_are_not_mixed_along_a_run():
    with pytest.raises(ValueError, match="expected the cards of one setting"):
        along([run(name, 0, [1.0], config={"setting": name}) for name in "AB"], "A", "B")
