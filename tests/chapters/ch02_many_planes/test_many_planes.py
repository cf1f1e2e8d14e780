"""Chapter 2's widget and figure, against the algebra."""

import re
from math import log2, log10

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_lab.algebra import schedule
from rope_lab.algebra.rotation import frequencies, rotate
from rope_lab.chapters.ch02_many_planes.clock_bank import FARTHEST, WINDOW, ClockBank
from rope_lab.chapters.ch02_many_planes.figures import one_turn
from rope_lab.show.widgets.kit import base_of
from tests.show.drawn import random_state


def bank(n: float = 24, *, factor: float = 4, **state) -> dict:
    return ClockBank.compute(ClockBank(log_n=log10(n + 1), log_factor=log2(factor), **state).state())


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_clock_bank_is_the_algebra(seed):
    drawn = random_state(ClockBank, np.random.default_rng(seed)) | {"way": "leave"}
    found, d = ClockBank.compute(drawn), int(drawn["head_dim"])
    n, base = 10 ** drawn["log_n"] - 1, base_of(drawn["log_base"])
    theta = frequencies(d, base=base)
    np.testing.assert_allclose(found["wavelengths"], schedule.wavelengths(d, base=base))
    hands = rotate(np.tile([1.0, 0.0], d // 2), n, theta=theta).reshape(-1, 2)
    np.testing.assert_allclose(found["hands"], hands, atol=1e-10)
    np.testing.assert_allclose(found["turns"], schedule.turns(n, theta=theta))
    assert found["never"] == (schedule.wavelengths(d, base=base) > WINDOW).sum()
    assert found["strange"] == (found["never"] if n > WINDOW else 0)
    np.testing.assert_allclose(found["logit"], schedule.decay(n, theta=theta), atol=1e-10)
    np.testing.assert_allclose(found["law"], schedule.log_law(n, base=base), atol=1e-12)
    variance = schedule.logit_variance(n, theta=theta, q_moments=np.eye(d) / d, k_moments=np.eye(d) / d)
    np.testing.assert_allclose(found["spread"], np.sqrt(variance))


def test_the_base_is_a_round_number():
    assert [base_of(power) for power in (2.0, 4.0, 5.7, 6.0, 7.0)] == [100, 10_000, 500_000, 1_000_000, 10_000_000]


def test_position_zero_has_every_hand_at_rest():
    found = bank(0)
    assert found["logit"] == found["law"] == 1
    assert max(found["turns"]) == 0


def test_what_the_ways_of_reading_a_longer_text_do():
    """At four windows: planes at angles never met, and by how much the fastest hand turns from word to word."""
    found = {way: bank(4 * WINDOW, way=way) for way in ("leave", "squeeze", "base", "parts")}
    assert {way: values["strange"] for way, values in found.items()} == {
        "leave": 29,
        "squeeze": 0,
        "base": 28,
        "parts": 0,
    }
    assert {way: values["neighbours"] for way, values in found.items()} == {
        "leave": 1,
        "squeeze": 0.25,
        "base": 1,
        "parts": 1,
    }


@pytest.mark.parametrize("way", ["squeeze", "base"])
def test_the_slowest_plane_is_slowed_by_the_factor(way):
    slowest = [bank(way=w)["wavelengths"][-1] for w in ("leave", way)]
    assert slowest[1] == pytest.approx(4 * slowest[0])


def test_by_parts_keeps_fast_planes_and_slows_slow_ones():
    before, after = (np.array(bank(way=way)["wavelengths"]) for way in ("leave", "parts"))
    turns = WINDOW / before
    np.testing.assert_allclose((after / before)[turns >= 32], 1)
    np.testing.assert_allclose((after / before)[turns <= 1], 4)
    between = (after / before)[(turns > 1) & (turns < 32)]
    assert (np.diff(between) > 0).all()
    assert len(between) > 10


def test_the_key_reaches_eight_windows():
    assert FARTHEST == 8 * WINDOW
    assert bank(FARTHEST)["n"] == pytest.approx(FARTHEST)


def test_the_figure_counts_what_it_draws():
    numbers = [int(n) for n in re.findall(r"(\d+) of 64", one_turn().desc)]
    pairs = ((1e4, 4096), (5e5, 8192))
    assert numbers == [int((schedule.wavelengths(128, base=base) > window).sum()) for base, window in pairs]
    other = one_turn(windows=(4096, 65536)).desc
    assert [int(n) for n in re.findall(r"(\d+) of 64", other)] != numbers  # control
