"""The rule behind a list of frequencies: what is called one base, blocks, a scaling or a ramp, and what is not."""

import numpy as np
import pytest

from rope_lab.audit.frequency_rule import explain
from tests.audit.implementations import frequencies

THETA, AT = frequencies(32, 10000.0), np.arange(16)


def said(theta, **options):
    return explain(theta, width=2 * len(theta), **options).scheme


def test_one_plane_that_misses_by_a_ten_thousandth_is_no_base():
    assert explain(THETA * (1 + 1e-4 * (AT == 7)), width=32).base is None


def test_a_base_keeps_the_digits_that_float32_can_tell_and_no_others():
    assert explain(frequencies(32, 10000.1).astype(np.float32), width=32).base == pytest.approx(10000.1, abs=0.02)
    tilted = frequencies(32, 500000.0) * (1 + 5e-6 * np.sin(AT))
    assert explain(tilted, width=32).base == 500000.0


@pytest.mark.parametrize(("beyond", "base"), [(3.08e-6, 10000.0), (4.76e-6, 10000.0419)])
def test_a_round_base_may_miss_up_to_three_times_as_much_as_the_fitted_one(beyond, base):
    """The fitted one misses by 1e-6; 10000 misses by 2.5 times as much here, by 3.5 times as much there."""
    rounding = 1 + 1e-6 * np.sign(np.sin(2.1 * np.arange(32)))
    found = explain(frequencies(64, 10000.0 * (1 + beyond)) * rounding, width=64)
    assert found.base == pytest.approx(base, rel=1e-8)


def test_blocks_are_compared_with_the_first_one():
    """Two blocks that were rounded apart are each as far from the first as rounding allows."""
    one = frequencies(16, 100.0)
    assert said(np.concatenate([one, one * (1 + 1.2e-5), one * (1 - 1.2e-5)])).startswith("3 blocks of the same")


def test_a_base_is_rounded_to_six_digits_where_four_are_too_few():
    assert explain(frequencies(32, 123456.0).astype(np.float32), width=32).base == 123456.0


@pytest.mark.parametrize(
    ("theta", "words"), [([0.0, 0.0], "nothing turns"), ([], "nothing turns"), ([1.0, 0.0], "some planes stand still")]
)
def test_planes_that_stand_still_have_no_base(theta, words):
    found = explain(theta, width=4)
    assert (found.base, found.residual, found.scheme) == (None, None, words)


def test_two_slow_planes_are_enough_for_a_ramp_and_one_is_not():
    for slow in (1, 2, 3):
        factor = np.where(16 - slow <= AT, 8, 1)
        assert ("8 times slower from plane" in said(THETA / factor)) == (slow > 1)


def test_a_plane_that_may_be_off_pulls_no_base():
    """What is in doubt weighs little."""
    doubt = np.where(AT == 15, 1e-2, 0.0)
    found = explain(THETA * (1 + 1e-3 * (AT == 15)), width=32, doubt=doubt)
    assert found.base == pytest.approx(10000.0, rel=1e-4)


RAMP = np.clip((np.arange(64) - 5) / 50, 0, 1)


def by_parts(base, *, window, low, high, factor):
    """Each plane slowed by its number of turns in the old window: not at all above high, fully below low."""
    theta = frequencies(128, base)
    kept = np.clip((window * theta / (2 * np.pi) - low) / (high - low), 0, 1)
    return theta * (kept + (1 - kept) / factor)


WORDS = {
    "blocks of two planes": (np.tile(frequencies(4, 100.0), 3), "3 blocks of the same frequencies, base 100 each"),
    "a long ramp": (
        frequencies(128, 5e5) * (1 - RAMP + RAMP / 2),
        "base 500000 in planes 0 to 5, 2 times slower from plane 55 on, a ramp over the planes (YaRN)",
    ),
    "a ramp over the turns": (
        by_parts(5e5, window=8192, low=1, high=4, factor=8),
        "base 500000 in planes 0 to 28, 8 times slower from plane 35 on, a ramp over the turns (Llama 3)",
    ),
    "a longer ramp over the turns": (
        by_parts(1e4, window=4096, low=1, high=32, factor=16),
        "16 times slower from plane 46 on, a ramp over the turns (by parts, 32 to 1)",
    ),
}
NOT = {
    "nearly two blocks": (np.tile(frequencies(16, 100.0), 2) * np.where(AT < 8, 1, 1.005), "blocks"),
    "nearly scaled": (THETA / 4 * (1 + 0.005 * np.sin(AT)), "every frequency times"),
    "a ramp that turns back": (THETA * np.where(AT < 6, 1, np.where(AT < 8, 1.5, 1 / 8)), "slower"),
    "a ramp without an end": (THETA * np.exp(-0.02 * np.clip(AT - 5, 0, None) ** 2), "slower"),
    "a ramp of neither kind": (frequencies(128, 5e5) * (1 - RAMP**2 / 2), "a ramp over"),
    "a ramp with two planes on it": (THETA * np.where(AT < 6, 1, np.where(AT < 8, 0.5, 1 / 8)), "a ramp over"),
    "a last plane of its own": (THETA * np.where(AT == 15, 1 / 8, 1), "slower"),
}


@pytest.mark.parametrize("name", WORDS)
def test_a_rule_in_words(name):
    theta, words = WORDS[name]
    assert words in said(theta)


@pytest.mark.parametrize("name", NOT)
def test_control_what_only_looks_like_the_rule(name):
    theta, words = NOT[name]
    assert words not in said(theta)
    assert explain(theta, width=2 * len(theta)).base is None
