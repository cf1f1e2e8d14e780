"""The rule behind a list of frequencies: what is called one base, blocks, a scaling or a ramp, and what is not."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rope_lab.algebra.frequency_schedules import (
    NTK,
    ByParts,
    Divided,
    DynamicNTK,
    Linear,
    Llama3,
    LongRoPE,
    Proportional,
    Schedule,
    Yarn,
    YarnPaper,
)
from rope_lab.algebra.hf_schedules import RopeSettings
from rope_lab.audit.fingerprints import fingerprint
from rope_lab.audit.frequency_rule import NO_RULE, explain, named
from tests.audit.implementations import frequencies, rotary

THETA, AT = frequencies(32, 10000.0), np.arange(16)


def said(theta, **options):
    return explain(theta, width=2 * len(theta), **options).scheme


def test_one_plane_that_misses_by_a_ten_thousandth_is_no_base():
    assert explain(THETA * (1 + 1e-4 * (AT == 7)), width=32).base is None


def test_a_base_keeps_the_digits_that_float32_can_tell_and_no_others():
    assert explain(frequencies(32, 10000.1).astype(np.float32), width=32).base == pytest.approx(10000.1, abs=0.02)
    tilted = frequencies(32, 500000.0) * (1 + 5e-6 * np.sin(AT))
    assert explain(tilted, width=32).base == 500000.0


def test_equal_steps_are_named_and_nearly_equal_ones_are_not():
    even = np.linspace(3.0, 15.0, 10)
    assert explain(even, width=20).scheme == "equal steps from 3 to 15 radians"
    bent = even * np.where(np.arange(10) == 4, 1.001, 1.0)
    assert explain(bent, width=20).scheme == NO_RULE
    assert explain(even, width=20, doubt=0.05).scheme != "equal steps from 3 to 15 radians"


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
    "one base, backwards": (THETA[::-1], "base 10000, its planes in reverse order: the slowest first"),
}
NOT = {
    "nearly two blocks": (np.tile(frequencies(16, 100.0), 2) * np.where(AT < 8, 1, 1.005), "blocks"),
    "nearly backwards": (THETA[::-1] * (1 + 0.005 * np.sin(AT)), "reverse"),
    "backwards and scaled": (THETA[::-1] / 4, "reverse"),
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


MADE = {  # each schedule with the base that it changes; all on 128 coordinates
    "Linear": (Linear(factor=4), 1e4),
    "ByParts": (ByParts(factor=16, window=4096), 1e4),
    "ByParts, its own turns": (ByParts(factor=2.7, window=2500, fast=10), 5e5),
    "Llama3": (Llama3(factor=8, window=8192), 5e5),
    "Llama3, no round window": (Llama3(factor=32, window=8000), 5e5),
    "YarnPaper": (YarnPaper(factor=16, window=4096), 1e4),
    "Yarn": (Yarn(factor=4, window=32768), 1e6),
    "Yarn, its own turns": (Yarn(factor=8, window=1024, fast=20), 1e4),
    "Yarn, not rounded": (Yarn(factor=32, window=4096, whole=False), 1.5e5),
    "Yarn, its own factor": (Yarn(factor=40, window=4096, given=1.0), 1e4),
    "Proportional": (Proportional(share=0.25), 1e6),
    "Proportional and linear": (Proportional(share=0.25, factor=8), 1e6),
}
LISTED = LongRoPE(
    short=tuple(1 + 0.01 * np.arange(64) ** 1.5), long=tuple(1 + 0.9 * np.arange(64)), window=4096, factor=32
)
BY_SETTINGS = {  # a list that only the configuration tells, what it is then, and the words
    "Schedule": (Schedule(), Schedule(), "one base"),
    "NTK": (NTK(factor=4), NTK(factor=4), "NTK(factor=4), from base 10000"),
    "DynamicNTK": (
        DynamicNTK(factor=2, window=4096),
        NTK(factor=3),
        "DynamicNTK(factor=2, window=4096), as NTK(factor=3), from base 10000",
    ),
    "LongRoPE": (LISTED, LISTED.at(8192), "LongRoPE, its long divisors: texts beyond 4096, from base 10000"),
    "Divided": (
        Divided(divisors=LISTED.long),
        Divided(divisors=LISTED.long),
        "Divided(divisors=<64 numbers>), from base 10000",
    ),
    "Yarn": (Yarn(factor=4, window=5000), Yarn(factor=4, window=5000), "Yarn(factor=4, window=5000), from base 10000"),
}


def turned(schedule, base, layout="half"):
    """A rotation made with the schedule: cosines and sines times its factor."""
    turn = rotary(layout=layout, theta=schedule.frequencies(128, base=base))
    return lambda x, n: schedule.attention_factor * turn(x, n)


def settings_of(found):
    return {field.name: getattr(found, field.name) for field in fields(found)}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", MADE)
def test_the_list_of_a_schedule_is_named_by_its_own_name_with_its_settings(name, dtype):
    schedule, base = MADE[name]
    theta = schedule.frequencies(128, base=base).astype(dtype)
    found = explain(theta, width=128, scale=schedule.attention_factor)
    assert type(found.schedule) is type(schedule)
    assert settings_of(found.schedule) == pytest.approx(settings_of(schedule), rel=1e-4)
    assert found.origin == pytest.approx(base, rel=1e-4)


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize("name", MADE)
def test_a_rotation_made_with_a_schedule_is_called_by_its_name(name):
    schedule, base = MADE[name]
    seen = fingerprint(turned(schedule, base), head_dim=128)
    assert f": {type(schedule).__name__}(" in seen.scheme
    assert f"base {base:g}".replace("e+06", "000000") in seen.scheme
    assert seen.scheme in str(seen)


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize("name", BY_SETTINGS)
def test_with_its_configuration_a_list_is_named_that_no_list_alone_tells(name):
    schedule, made, words = BY_SETTINGS[name]
    at = schedule.at(8192)
    settings = RopeSettings(head_dim=128, base=10000.0, rotary_dim=None, schedule=schedule)
    found = explain(at.frequencies(128, base=10000.0), width=128, settings=settings)
    assert found.scheme == words
    assert type(found.schedule) is type(made)
    assert settings_of(found.schedule) == pytest.approx(settings_of(made))
    if not schedule.by_length:
        assert fingerprint(turned(at, 10000.0), head_dim=128, settings=settings).scheme == words


@pytest.mark.parametrize("name", ["DynamicNTK", "LongRoPE"])
def test_a_port_whose_list_does_not_change_with_the_text_is_not_called_the_schedule_that_does(name):
    schedule = BY_SETTINGS[name][0]
    settings = RopeSettings(head_dim=128, base=10000.0, rotary_dim=None, schedule=schedule)

    def follows(x, n):
        return turned(schedule.at(int(np.max(n)) + 1), 10000.0)(x, n)

    seen = [fingerprint(turned(schedule.at(n), 10000.0), head_dim=128, settings=settings).scheme for n in (9, 8192)]
    assert seen[0].endswith("; but here texts of every length have this list")
    assert ("the configuration has another list, Dyn" if name == "DynamicNTK" else "of every length") in seen[1]
    assert "every length" not in fingerprint(follows, head_dim=128, settings=settings).scheme


def test_whole_numbers_are_whole():
    assert named(Yarn(factor=4.0, window=262144)) == "Yarn(factor=4, window=262144)"
    settings = RopeSettings(head_dim=128, base=500042.0, rotary_dim=None, schedule=Schedule())
    said = explain(Schedule().frequencies(128, base=500017.0), width=128, settings=settings).scheme
    assert said == "base 500017; the configuration has base 500042 over 128 coordinates"


@pytest.mark.parametrize("schedule", [NTK(factor=4), DynamicNTK(factor=2, window=4096).at(8192)])
def test_without_a_configuration_ntk_is_a_base_like_any_other(schedule):
    found = explain(schedule.frequencies(128, base=10000.0), width=128)
    assert found.scheme == "one base"
    assert found.base == pytest.approx(10000 * schedule.factor ** (128 / 126))


@pytest.mark.parametrize("length", [4096, 4097])
def test_without_a_configuration_no_list_of_divisors_is_called_longrope(length):
    found = explain(LISTED.at(length).frequencies(128, base=10000.0), width=128)
    assert (found.schedule, found.scheme) == (None, NO_RULE)
    assert "only its configuration" in found.scheme


def test_a_configuration_that_has_another_list_is_named_as_such():
    settings = RopeSettings(head_dim=128, base=5e5, rotary_dim=None, schedule=Llama3(factor=32, window=8192))
    found = explain(Llama3(factor=8, window=8192).frequencies(128, base=5e5), width=128, settings=settings)
    assert found.scheme.endswith(
        "; the configuration has another list, Llama3(factor=32, window=8192), from base 500000"
    )
    assert found.schedule == Llama3(factor=8, window=8192)


@pytest.mark.parametrize(("own", "more"), [(1e4, ""), (7e6, ", of which NTK(factor=13.434) makes this list")])
def test_another_base_than_the_configuration_s_is_called_a_base(own, more):
    settings = RopeSettings(head_dim=128, base=5e5, rotary_dim=None, schedule=Schedule())
    found = explain(Schedule().frequencies(128, base=own), width=128, settings=settings)
    assert (found.base, found.scheme) == (
        own,
        f"base {own:.0f}; the configuration has base 500000 over 128 coordinates{more}",
    )


def test_interleaved_planes_at_rest_are_not_seen_and_the_configuration_tells_them():
    """Over the whole head or over the turning part are one embedding there, with two bases."""
    schedule = Proportional(share=0.5)
    f = turned(schedule, 10000.0, layout="interleaved")
    assert fingerprint(f, head_dim=128).base == pytest.approx(100.0)
    settings = RopeSettings(head_dim=128, base=10000.0, rotary_dim=None, schedule=schedule)
    said = fingerprint(f, head_dim=128, settings=settings).scheme
    assert said == "Proportional(share=0.5), from base 10000"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Yarn(factor=4, window=4096), YarnPaper(factor=4, window=4096)),
        (Llama3(factor=8, window=8192), ByParts(factor=8, window=8192)),
        (Linear(factor=4), Proportional(share=0.5, factor=4)),
    ],
)
def test_control_two_schedules_are_told_apart(one, other):
    first, second = (
        explain(made.frequencies(128, base=5e5), width=128, scale=made.attention_factor) for made in (one, other)
    )
    assert type(first.schedule) is type(one)
    assert type(second.schedule) is type(other)


@pytest.mark.parametrize("name", ["Llama3", "Yarn", "ByParts", "Linear", "Proportional"])
def test_control_a_list_with_one_plane_off_is_none_of_them(name):
    schedule, base = MADE[name]
    theta = schedule.frequencies(128, base=base)
    middle = np.flatnonzero(theta > 0)[len(theta[theta > 0]) // 2]
    found = explain(np.where(np.arange(64) == middle, 0.99 * theta, theta), width=128)
    assert found.schedule is None
    assert "(factor=" not in found.scheme


def test_the_words_say_which_other_settings_have_the_same_list():
    said = {name: explain(MADE[name][0].frequencies(128, base=MADE[name][1]), width=128).scheme for name in MADE}
    assert said["Yarn"].endswith("window=32768), or a window nearby, or window and turns times one number")
    assert said["ByParts"].endswith("window=4096), or window and turns times one number")
    assert said["Llama3"].endswith("(Llama 3): Llama3(factor=8, window=8192)")


@given(arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1)), st.sampled_from([0.0, 1e-3, 0.1]))
def test_any_list_gets_an_answer(theta, doubt):
    for list_ in (theta, np.sort(theta)[::-1], np.where(np.arange(len(theta)) < 4, 1, theta)):
        assert explain(list_, width=2 * len(theta), doubt=doubt, scale=1.0).scheme
