"""Correct implementations keep each law, known mistakes break the one named for them, harmless ones are told apart."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_lab.algebra.half_precision import round_to
from rope_lab.algebra.hf_schedules import rope_settings
from rope_lab.algebra.layouts import rotate_elementwise
from rope_lab.audit import GALLERY, fingerprint, laws
from rope_lab.audit.constructions import Built
from rope_lab.audit.gallery import right
from rope_lab.audit.law_suite import configured_rule, module_laws
from rope_lab.audit.probe import TURNED, OfBoth, Probe
from tests.audit.faulty_modules import CASES, THETA, As, decays, left, rot
from tests.audit.faulty_modules import asked as laws_of
from tests.audit.implementations import HOSTILE, MISCOUNTED, from_table, in_narrow_torch, in_torch, rotary
from tests.deep import sampled

NAMES = [
    "answers",
    "linear",
    "isometry",
    "identity at zero",
    "group law",
    "inverse",
    "relativity",
    "non-vacuity",
    "cached decoding",
    "long positions",
    "rows of a call",
    "gradient",
    "earlier dtypes",
    "earlier calls",
    "batch neighbours",
]


def broken(f, **options):
    return [law.name for law in laws(f, **options) if not law.ok]


@pytest.mark.deep
@given(
    layout=st.sampled_from(["interleaved", "half"]),
    base=st.floats(2.0, 1e8),
    planes=st.integers(1, 16),
    beyond=st.integers(0, 8),
    direction=st.sampled_from([1, -1]),
    dtype=st.sampled_from([np.float64, np.float32]),
    torched=st.booleans(),
)
@settings(max_examples=30)
def test_a_correct_implementation_is_never_flagged(layout, base, planes, beyond, direction, dtype, torched):
    f = rotary(layout=layout, base=base, rotary_dim=2 * planes, direction=direction, dtype=dtype)
    found = laws(in_torch(f) if torched else f, head_dim=2 * (planes + beyond))
    assert [law.name for law in found if law.broken] == []


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("length", [64, 512, 2048])
def test_a_table_that_ends_is_not_flagged(length):
    """Nor is one that reads negative positions from its end: it is told, where the inverse is asked."""
    found = {law.name: law for law in laws(from_table(length=length), head_dim=16)}
    assert all(law.ok for law in found.values()), [str(law) for law in found.values() if not law.ok]
    assert "not answered" in found["inverse"].saw


def test_every_law_is_asked_once_and_says_what_it_saw():
    found = laws(rotary(), head_dim=8)
    assert [law.name for law in found] == NAMES
    assert all(law.saw and law.input for law in found)


def test_every_law_says_where_it_was_asked():
    """Positions in no order, offsets that differ, and far ones: what a reader can repeat."""
    assert {law.name: law.input for law in laws(rotary(), head_dim=8)} == {
        "answers": "x (2, 3, 4, 8)",
        "linear": "2 x - 3 y at positions (3, 0, 7, 1, 4)",
        "isometry": "positions [0, 1, 17, 254, 1001]",
        "identity at zero": "all positions 0",
        "group law": "m = [3, 17, 100, 254, 700], n = [5, 40, 157, 3, 324]",
        "inverse": "n = [1, 2, 9, 30, 200], then -n",
        "relativity": "m = [0, 5, 11, 2, 60], n = [3, 1, 7, 40, 9]",
        "non-vacuity": "m = [1, 4, 2, 9, 6], n = m + 0, 1, 2, 5",
        "cached decoding": "positions 0 to 4",
        "long positions": "n = 15 to 32767: from n to n + 1, from n to 2 n; 3435 positions below 1048576",
        "rows of a call": "x (2x2x4200x8), 67 heads, a batch of 67, 5 sizes, 31 kinds, views",
        "gradient": "1100 rows, a batch of 67, 67 heads, 16 heads of a batch of 16, a text of 4200 rows, "
        "a single token, far positions, another call before the backward",
        "earlier dtypes": "positions 0 to 10, before and after a longer text in a dtype of fewer bits",
        "earlier calls": "11 tokens from position 0 and from 7, before and after 29 tokens that end far out",
        "batch neighbours": "a batch of one, and the same row third of 7, positions [2, 0, 9, 4, 3]",
    }


@pytest.mark.deep(keep=4)
@pytest.mark.parametrize("mistake", GALLERY, ids=lambda m: m.name)
def test_each_mistake_is_caught_by_name(mistake):
    found = {law.name: law for law in mistake.examine(head_dim=32)}
    assert found[mistake.caught_by].ok is False
    assert any(law.broken for law in found.values()) == (mistake.name != "counting from one")


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize("mistake", GALLERY, ids=lambda m: m.name)
def test_control_what_they_meant_is_not_caught(mistake):
    """The same expectations, asked of the right implementation, of the base that was meant."""
    meant = mistake.expected
    f = rotary(layout="half", base=meant.get("base", 10000.0))
    assert broken(f, head_dim=8, expected=meant) == []


@pytest.mark.parametrize("mistake", [*GALLERY[:3], *GALLERY[-3:]], ids=lambda m: m.name)
def test_what_is_asked_alone_is_told_as_among_all(mistake):
    whole = {law.name: law.ok for law in mistake.examine()}
    some = {law.name: law.ok for law in mistake.examine(only=["relativity", mistake.caught_by])}
    expected = {name for name in whole if name.startswith("expected ")}
    assert some == {name: whole[name] for name in {"answers", "relativity", mistake.caught_by} | expected}
    with pytest.raises(ValueError, match="expected names of laws, got 'symmetry'; use some of: linear, isometry"):
        mistake.examine(only=["symmetry"])


def test_the_gallery_is_large_and_its_names_differ():
    names = {m.name for m in GALLERY}
    assert len(names) == len(GALLERY) >= 12
    assert {m.caught_by for m in GALLERY} >= {"isometry", "relativity", "non-vacuity", "cached decoding"}


def test_mismatched_tables_are_wrong_in_their_order_alone():
    """Cosines and sines repeat for neighbours, and the quarter turn is that of halves."""
    mistake = next(m for m in GALLERY if m.name == "mismatched cos/sin layout")
    found = mistake.f(np.array([[1.0, 0.0, 0.0, 0.0]]), np.array([3]))
    np.testing.assert_allclose(found, [[np.cos(3), 0, np.sin(3 * 10000.0**-0.5), 0]], atol=1e-12)


def test_wrong_pairs_are_those_of_the_whole_head():
    """Half of eight coordinates turn: planes (0, 4) and (1, 5), not (0, 2) and (1, 3)."""
    x = np.arange(1.0, 9.0)[None, None]
    found = next(m for m in GALLERY if m.name == "wrong partial pairing").f(x, np.array([1]))
    assert np.flatnonzero(found != x).tolist() == [0, 1, 4, 5]
    np.testing.assert_allclose(found[0, 0, [0, 4]], [np.cos(1) - 5 * np.sin(1), np.sin(1) + 5 * np.cos(1)], atol=1e-12)


def test_lawful_mistakes_break_no_law():
    """What is lawful and still wrong for a model needs an expectation: a base, a layout, a direction."""
    for name in ("wrong base", "flipped sign", "other layout"):
        mistake = next(m for m in GALLERY if m.name == name)
        assert broken(mistake.f, head_dim=8) == []


@pytest.mark.deep(keep=10)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_callable_breaks_a_law_and_raises_nothing(name):
    f, _ = HOSTILE[name]
    found = broken(f, head_dim=8)
    assert found or name == "narrows"  # float32 for float64 is lawful


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize("name", MISCOUNTED)
def test_miscounted_positions_break_a_law(name):
    """Integers that overflow, a count that ends or starts again: also where every near step is right."""
    f, law = MISCOUNTED[name]
    assert law in broken(f, head_dim=16)


STRETCHED = {  # the factor on lengths at position n -> the first position that shows it
    "decay": (lambda n: 0.99**n, 16),
    "slow decay": (lambda n: 0.99999**n, 16),
    "growth": (lambda n: 1.001**n, 16),
    "half as long far out": (lambda n: np.where(n > 40000, 0.5, 1.0), 65534),
}


def far_out(f):
    return next(law for law in laws(f, head_dim=16) if law.name == "long positions")


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize("name", STRETCHED)
def test_long_positions_blame_a_length_where_a_length_changes(name):
    """The turn is right at every position: it is the length that is another, and the verdict says by how much."""
    factor, at = STRETCHED[name]
    found = far_out(lambda x, n: rotary()(x, n) * factor(np.asarray(n, dtype=float))[:, None])
    assert not found.ok
    assert f"a length at {at} is {factor(np.float64(at)):.6g} times that at 0" in found.saw


def test_long_positions_name_the_length_that_changes_most():
    """One head of three is stretched far out."""

    def f(x, n):
        factor = np.where((np.asarray(n)[:, None] > 40000) & (np.arange(x.shape[-3])[:, None, None] == 1), 0.5, 1.0)
        return rotary()(x, n) * factor

    assert "a length at 65534 is 0.5 times that at 0" in far_out(f).saw


ROUNDED = "the steps there differ from each other, as with rounded or cut positions or angles"
OTHERWISE = {  # the turn is wrong far out -> what is seen of it, and nothing that is not
    "sixteen bits": (MISCOUNTED["sixteen bits"][0], "the turn is not the one from 0 to 16384"),
    "cut at 32767": (MISCOUNTED["cut at 32767"][0], "the turn is not the one from 0 to 16384"),
    "cut at 3000": (lambda x, n: right(x, np.minimum(n, 3000)), "nothing turns from 4095 to 4103: positions are cut"),
    "eight bits": (MISCOUNTED["eight bits"][0], ROUNDED),
    "rounded": (lambda x, n: right(x, round_to(n, dtype="bfloat16")), ROUNDED),
    "bfloat16 positions": (in_narrow_torch(torch.bfloat16, positions=torch.bfloat16), ROUNDED),
    "float16 positions": (in_narrow_torch(torch.float16, positions=torch.float16), ROUNDED),
    "slower beyond 2048": (
        MISCOUNTED["slower beyond 2048"][0],
        "equal to each other, but not to the step from 0 to 1, as with other freq",
    ),
    "dynamic scaling": (
        lambda x, n: right(x, n, base=10000.0 * max(1.0, np.max(n) / 2048)),
        "a call that reaches 4096 turns its other tokens otherwise too",
    ),
    "a table that ends in a slower part": (
        lambda x, n: right(x, np.where(n > 4095, n / 4, n) / (np.max(n) < 4100)),
        "the turn is not the one from 0 to 1; the first wrong position found is 4096$",
    ),
}


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize("name", OTHERWISE)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # how the table ends
def test_long_positions_say_what_is_seen_of_a_wrong_turn(name):
    f, seen = OTHERWISE[name]
    found = far_out(f)
    assert not found.ok
    assert re.search(seen, found.saw)


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("head_dim", [8, 64])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_what_answers_in_half_precision_only(dtype, head_dim):
    """The tolerance allows the rounding of a correct one, and neither rounded positions nor a wrong length."""
    assert broken(in_narrow_torch(dtype), head_dim=head_dim) == []
    assert "long positions" in broken(in_narrow_torch(dtype, positions=dtype), head_dim=head_dim)
    assert "isometry" in broken(in_narrow_torch(dtype, scale=1.15), head_dim=head_dim)


def test_one_that_fails_far_out_is_reported():
    def f(x, n):
        return rotary()(x, n) * np.where(np.asarray(n) > 500, np.nan, 1.0)[:, None]

    found = laws(f, head_dim=8)
    assert all(law.ok for law in found)  # as a table that ends

    def g(x, n):
        if x.shape[-2] == 1:
            raise RuntimeError("one token is no sequence")
        return rotary()(x, n)

    (law,) = [law for law in laws(g, head_dim=8) if law.name == "cached decoding"]
    assert (law.ok, law.saw) == (True, "not asked: token by token: raised RuntimeError: one token is no sequence")


def test_keys_are_turned_by_their_own_function():
    assert broken(right, keys=rotary(layout="half"), head_dim=8) == []
    assert "relativity" in broken(right, keys=rotary(layout="half", base=9000.0), head_dim=8)


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("name", ["half", "half-split"])
def test_a_layout_is_expected_under_either_of_its_names(name):
    found = laws(right, head_dim=8, expected={"layout": name})[-1]
    assert (found.name, found.ok, found.saw) == ("expected layout", True, "half-split, expected half-split")
    assert not laws(rotary(), head_dim=8, expected={"layout": name})[-1].ok


@pytest.mark.usefixtures("untyped")
def test_an_expectation_nobody_can_have():
    with pytest.raises(
        ValueError,
        match="expected: got 'colour', which is not a field of a fingerprint that can be expected; use one of: layout",
    ):
        laws(right, head_dim=8, expected={"colour": 1})


def named_in(page):
    """The laws that a table of chapter 17 explains."""
    return re.findall(r"^\| \*\*([\w -]+)\*\*: ", page, flags=re.MULTILINE)


def test_the_page_explains_every_law_and_no_other():
    page = (Path(__file__).resolve().parents[2] / "book/17_which_rope.md").read_text()
    assert named_in(page) == NAMES
    assert len(NAMES) == 15  # the page counts them
    assert named_in(page.replace("**isometry**", "isometry")) != NAMES  # the control


def test_an_expectation_may_come_from_a_saved_fingerprint():
    saved = json.loads(fingerprint(right, head_dim=8).to_json())
    assert all(law.ok for law in laws(right, head_dim=8, expected={"pairs": saved["pairs"], "problems": []}))
    assert not laws(right, head_dim=8, expected={"pairs": saved["pairs"][1:]})[-1].ok


ORDER = np.array([4, 0, 5, 1, 6, 2, 7, 3])
MIX = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
HARMLESS = {
    "a factor": (lambda x, n: 1.25 * right(x, n), "a constant factor 1.25 on lengths"),
    "another order": (lambda x, n: right(x, n)[..., ORDER], "the answer has its coordinates in another order"),
    "counting from one": (lambda x, n: right(x, np.asarray(n) + 1), "positions count from 1"),
    "counting from a half": (lambda x, n: right(x, np.asarray(n) + 0.5), "positions count from 0.5"),
    "another mix": (lambda x, n: right(x, n) @ MIX, "one orthogonal map after the turn"),
    "each plane from elsewhere": (
        lambda x, n: right(x, n) @ np.kron(np.eye(4), [[0.6, 0.8], [-0.8, 0.6]]),
        "one orthogonal map after the turn",
    ),
    "a factor on each plane": (
        lambda x, n: right(x, n) * np.tile([1.0, 2, 3, 4], 2),
        "constant factors 1 to 4 on lengths",
    ),
    "two of them": (
        lambda x, n: 0.5 * right(x, np.asarray(n) - 3),
        "a constant factor 0.5 on lengths, positions count from -3",
    ),
}


def on_half(x, n):
    y = np.array(x)
    y[..., :4] = 1.5 * right(x[..., :4], n)
    return y


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize("name", HARMLESS)
def test_it_is_named_and_nothing_is_broken(name):
    f, words = HARMLESS[name]
    found = laws(f, head_dim=8)
    assert {law.by_design for law in found if not law.ok} == {words}
    assert not any(law.broken for law in found)
    assert str(next(law for law in found if law.by_design)).startswith("note  ")


def test_a_factor_on_what_turns_alone():
    assert {law.by_design for law in laws(on_half, head_dim=8) if not law.ok} == {"a constant factor 1.5 on lengths"}


def test_a_first_position_is_a_note_of_the_fingerprint():
    seen = fingerprint(HARMLESS["counting from one"][0], head_dim=8)
    assert (seen.problems, seen.notes, seen.base) == ((), ("positions count from 1",), 10000.0)


BROKEN = {
    "a stretch": lambda x, n: right(x, n) * np.linspace(1, 2, 8),
    "a factor on half of each plane": lambda x, n: right(x, n) * np.repeat([1.2, 1], 4),
    "a factor on one coordinate": lambda x, n: right(x, n) * np.array([1.5, *[1] * 7]),
    "nothing turns": lambda x, n: 2 * x,  # noqa: ARG005
    "a mix without an inverse": lambda x, n: right(x, n) @ np.diag([1.0] * 7 + [0]) @ MIX,
}


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize("name", BROKEN)
def test_control_other_things_stay_broken(name):
    found = laws(BROKEN[name], head_dim=8)
    assert any(law.broken for law in found)
    assert not any(law.by_design for law in found)


@pytest.mark.parametrize("name", ["a factor on half of each plane", "a factor on one coordinate"])
def test_control_a_factor_that_parts_a_plane_is_no_attention_factor(name):
    found = {law.name: law for law in laws(BROKEN[name], head_dim=8)}
    assert found["relativity"].broken
    assert not fingerprint(BROKEN[name], head_dim=8).ok


def test_control_q_and_k_must_begin_alike():
    found = laws(right, head_dim=8, keys=HARMLESS["another order"][0])
    assert any(law.broken for law in found)
    assert not any(law.by_design for law in found)


def test_one_orthogonal_map_after_the_turn_is_a_note_of_the_fingerprint():
    seen = fingerprint(HARMLESS["another mix"][0], head_dim=8)
    assert (TURNED in seen.problems, seen.notes) == (False, ("one orthogonal map after the turn",))


def test_a_window_ends_what_is_asked():
    """A table that is read beyond its end is sound for a model of so many positions, and for no other."""

    def cut(x, n):
        return right(x, np.minimum(n, 39_999))

    (found,) = [law for law in laws(cut, head_dim=8) if law.broken]
    assert found.saw.endswith("; the first wrong position found is 40000")
    assert not any(law.broken for law in laws(cut, head_dim=8, window=40_000))
    assert fingerprint(cut, head_dim=8, window=40_000).ok
    assert not fingerprint(cut, head_dim=8, window=40_001).ok


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("window", [15, 2.0, True])
def test_a_window_is_a_whole_number(window):
    for ask in (laws, fingerprint):
        with pytest.raises((TypeError, ValueError), match="window: expected a whole number of at least 16"):
            ask(right, head_dim=8, window=window)


def test_what_was_not_asked_is_not_said_to_hold():
    found = {law.name: law for law in laws(right, head_dim=8)}
    assert not found["gradient"].asked
    assert str(found["gradient"]).startswith("----  gradient          not asked: called with numpy")
    assert all(law.asked for name, law in found.items() if name != "gradient")


PLAIN = {"head_dim": 16, "rope_theta": 10000.0, "max_position_embeddings": 2048}
LONG = {
    **PLAIN,
    "original_max_position_embeddings": 2048,
    "rope_scaling": {
        "type": "longrope",
        "factor": 4.0,
        "short_factor": [1.0] * 8,
        "long_factor": [1.0 + i / 2 for i in range(8)],
    },
}


def turned(theta, factor=1.0):
    return lambda x, n: factor * rotary(layout="half", theta=theta(int(np.max(n)) + 1))(x, n)


def asked(f, config):
    settings = rope_settings(config)
    return configured_rule(Probe(f, head_dim=16), settings, window=2048)


def rule(config, length):
    settings = rope_settings(config)
    return settings.schedule.at(length).frequencies(16, base=settings.base)


def test_a_schedule_that_follows_its_configuration():
    assert asked(turned(lambda _: rule(PLAIN, 1)), PLAIN).ok
    factor = rope_settings(LONG).schedule.attention_factor
    assert factor > 1.05
    assert asked(turned(lambda length: rule(LONG, length), factor), LONG).ok


def test_control_short_frequencies_in_a_long_text():
    """As in PhiMoE: beyond the window the lengths are those of long texts, and the frequencies those of short ones."""
    factor = rope_settings(LONG).schedule.attention_factor
    found = asked(turned(lambda _: rule(LONG, 1), factor), LONG)
    assert not found.ok
    assert found.broken
    assert found.saw.startswith("in a text of 4096 tokens the turn from 0 to 1 is off by")


@pytest.mark.parametrize(
    ("f", "config", "words"),
    [
        (turned(lambda _: rule({**PLAIN, "rope_theta": 500.0}, 1)), PLAIN, "in a text of 1025 tokens the turn from"),
        (turned(lambda length: rule(LONG, length)), LONG, "in a text of 1025 tokens lengths are times 1, expected 1."),
        (turned(lambda _: rule(PLAIN, 1)[::-1] * 0.999), PLAIN, "in a text of 1025 tokens the turn from"),
    ],
)
def test_control_another_rule(f, config, words):
    found = asked(f, config)
    assert not found.ok
    assert found.saw.startswith(words)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"head_dim": 42, "partial_rotary_factor": 0.5}, "not asked: "),
        ({"head_dim": 64}, "not asked: 32 planes, wider than the head"),
    ],
)
def test_a_width_that_is_no_number_of_planes_is_not_asked(config, words):
    found = asked(turned(lambda _: rule(PLAIN, 1)), {**PLAIN, **config})
    assert found.ok
    assert found.saw.startswith(words)


@pytest.mark.parametrize(("turning", "config"), [(16, {**PLAIN, "partial_rotary_factor": 0.5}), (8, PLAIN)])
def test_control_another_number_of_coordinates_is_named_first(turning, config):
    own = np.zeros(8)
    own[: turning // 2] = rule(PLAIN, 1)[: turning // 2]
    found = asked(turned(lambda _: own), config)
    assert not found.ok
    assert found.saw.startswith(
        f"{turning} of 16 coordinates are seen to turn, expected {24 - turning}; in a text of 1025 tokens"
    )


def test_slow_planes_turn_too():
    """A base so large that its slow planes hardly move within the text."""
    config = {**PLAIN, "rope_theta": 1e4}
    assert "seen to turn" not in asked(turned(lambda _: rule({**PLAIN, "rope_theta": 1e9}, 1)), config).saw


def test_one_plane_that_turns_the_other_way_is_a_caution():
    found = asked(turned(lambda _: rule(PLAIN, 1) * np.where(np.arange(8) == 3, -1, 1)), PLAIN)
    assert (found.ok, found.broken) == (False, False)
    assert "but some planes turn the other way" in found.saw


@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_a_factor_belongs_to_what_turns_alone(factor):
    part = {**PLAIN, "partial_rotary_factor": 0.5}
    scaled = {**part, "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "attention_factor": factor}}
    theta = rope_settings(scaled).schedule.frequencies(8, base=rope_settings(scaled).base)
    turn = rotary(layout="half", theta=theta)

    def alone(x, n):
        return np.concatenate([factor * turn(x[..., :8], n), x[..., 8:]], axis=-1)

    assert asked(alone, scaled).ok
    assert asked(lambda x, n: alone(x, n) * ([1.0] * 8 + [factor] * 8), scaled).saw.startswith("what does not turn is")


def test_tables_of_few_bits_are_judged_by_their_bits():
    theta = rule(PLAIN, 1)

    def f(x, n):
        turn = np.exp(1j * np.multiply.outer(n, theta))
        c, s = (torch.tensor(part).bfloat16().double().numpy() for part in (turn.real, turn.imag))
        a, b = x[..., :8], x[..., 8:]
        return np.concatenate([c * a - s * b, s * a + c * b], axis=-1)

    assert asked(f, PLAIN).saw.endswith("within the bits of its bfloat16 tables")


def test_a_table_that_ends_early_is_not_asked():
    """As far as it goes it may be right; no text of a thousand tokens fits."""
    found = asked(from_table(length=64), PLAIN)
    assert (found.ok, found.saw) == (True, "not asked: a table ends before these texts")


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_planes_in_another_order_are_a_caution_and_the_order_of_coordinates_does_not_count(layout):
    order = np.random.default_rng(0).permutation(16)
    other = asked(rotary(layout=layout, theta=rule(PLAIN, 1)[::-1]), PLAIN)
    assert (other.ok, other.broken) == (False, False)
    assert "in another order; right only for weights" in str(other)
    assert asked(rotary(layout=layout, theta=rule(PLAIN, 1)), PLAIN).ok
    assert asked(lambda x, n: rotary()(x, n)[..., order], PLAIN).ok


class Tables(torch.nn.Module):
    """Frequencies in a buffer, or made anew in each call."""

    def __init__(self, *, held):
        super().__init__()
        self.register_buffer("inv_freq", torch.tensor(1e4 ** (-np.arange(0, 16, 2) / 16), dtype=torch.float32))
        self.held = held

    def forward(self, x, n):
        theta = self.inv_freq.double().numpy() if self.held else 1e4 ** (-np.arange(0, 16, 2) / 16)
        return torch.from_numpy(rotary(layout="half", theta=theta)(x.double().numpy(), n.numpy())).to(x.dtype)


@pytest.mark.parametrize("held", [True, False])
def test_a_cast_is_a_caution_and_never_a_break(held):
    module = Tables(held=held)
    before = module.inv_freq.clone()
    found = {law.name: law for law in module_laws(module, 16, Built(module, rope_settings(PLAIN), 2048))}
    assert found["configured rule"].ok
    cast = found["survives casting"]
    assert cast.ok is not held
    assert not cast.broken
    assert str(cast).startswith("care" if held else "ok")
    assert torch.equal(module.inv_freq, before)  # the module is as it was


def test_a_table_from_earlier_calls_is_not_a_cast_one():
    """It would answer from there, whatever the cast did to its frequencies."""

    class Caching(Tables):
        def forward(self, x, n):
            self.table = getattr(self, "table", self.inv_freq.clone())
            return torch.from_numpy(rotary(layout="half", theta=self.table.double().numpy())(x.numpy(), n.numpy()))

    module = Caching(held=True)
    (law,) = module_laws(module, 16, Built(module, None, None))
    assert (law.ok, law.saw) == (True, "not asked: table keeps what earlier calls made")


@pytest.mark.parametrize("f", [lambda x, _n: 0 * x, lambda: 0])
def test_what_has_no_inverse_or_no_answer_is_for_other_laws(f):
    assert module_laws(f, 16, Built(Tables(held=True), rope_settings(PLAIN), 2048)) == []


def test_a_rule_that_we_do_not_know_is_not_asked():
    module = Tables(held=False)
    names = [law.name for law in module_laws(module, 16, Built(module, None, None))]
    assert names == ["survives casting"]
    bare = SimpleNamespace(buffers=lambda: (), parameters=lambda: ())
    (law,) = module_laws(module, 16, Built(bare, None, None))
    assert law.saw == "the module holds no numbers that a cast could change"


NAMED = {f"{law}: {name}": (law, faulty, twin) for law, name, faulty, twin in CASES}
IN_EACH_RUN = [
    "rows of a call: rows from 24 on are not turned",
    "rows of a call: heads from 32 on are not turned",
    "long positions: a table of 200000 rows that is read beyond",
    "long positions: a sine that drifts",
    "gradient: turns further, interleaved",
    "gradient: is cut off",
    "gradient: of the second half of the width",
    "isometry: the same decay on both",
    "relativity: factors on coordinates, twice",
    "non-vacuity: pairs across heads",
    "non-vacuity: one head is not turned",
]


def test_the_table_is_large_and_its_names_differ():
    assert len(NAMED) == len(CASES) >= 60
    assert len({law for law, *_ in CASES}) == 15


@pytest.mark.deep(keep=5)
@pytest.mark.parametrize("name", sampled(list(NAMED), IN_EACH_RUN))
def test_the_fault_is_found_and_the_twin_is_not_blamed(name):
    law, faulty, twin = NAMED[name]
    assert law in laws_of(faulty)[0]
    assert laws_of(twin)[0] == []


@pytest.mark.parametrize("name", ["is zero", "is missing"])
def test_a_function_built_for_inference_gets_a_note(name):
    assert laws_of(NAMED[f"gradient: {name}"][2]) == ([], ["gradient"])


def test_the_first_wrong_row_is_named_also_where_each_second_one_is_right():
    second = left(lambda i, _: (i > 40) & (i % 2 == 1))
    (rows,) = [law for law in laws(As(second), head_dim=8) if law.name == "rows of a call"]
    assert rows.saw.startswith("from row 41 of a call")


def beside(f, g):
    """q and k of one call: that of k is another answer of it."""
    return (both := OfBoth(lambda x, p: (f(x, p), g(x, p)))), replace(both, which=-1)


@pytest.mark.parametrize(
    "name", ["rows from 100 on are not turned", "a table of 200000 rows that is read beyond", "is not turned"]
)
def test_keys_that_come_with_the_queries_are_asked_by_the_same_calls(name):
    law, _, faulty, _ = next(case for case in CASES if case[1] == name)
    for f, g in ((rot, faulty), (rot, rot)):
        q, k = beside(f, g)
        found = [each.name for each in laws(q, head_dim=8, keys=k) if each.broken]
        assert (law in found) is (g is faulty)
        assert found == [] or g is faulty


def held_in(dtype, theta=THETA):
    def f(x, p):
        angle = p.double()[:, None] * theta
        cos, sin = (table.to(dtype).to(x.dtype) for table in (angle.cos(), angle.sin()))
        a, b = x.chunk(2, -1)
        return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)

    return f


CAUTIONED = {  # what is broken only in the hands of who asks it so, with its faulty neighbour
    "a decay alone": (decays(1), decays(1, False), "if keys have the inverse ones"),
    "a growth alone": (decays(-1), lambda x, p: decays(-1)(x, p.clamp(max=700)), "if keys have the inverse ones"),
    "bfloat16 tables": (
        held_in(torch.bfloat16),
        lambda x, p: held_in(torch.bfloat16)(x, p.clamp(max=700)),
        "hold bfloat16",
    ),
    "float16 tables": (
        held_in(torch.float16),
        lambda x, p: held_in(torch.float16)(x, p.clamp(max=5000)),
        "hold float16",
    ),
}


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize("name", CAUTIONED)
def test_a_partner_or_a_type_that_is_missing_is_a_caution(name):
    right, faulty, words = CAUTIONED[name]
    found = [law for law in laws(right, head_dim=8) if not law.ok]
    assert found
    assert all(words in law.caution and not law.broken for law in found)
    assert any(law.broken for law in laws(faulty, head_dim=8))


def by_keyword(x, *, positions):
    return rot(x, positions)


def turn_(x, positions):
    x.copy_(rot(x, positions))


def writes(x, positions):
    return x.copy_(rot(x, positions))


class CountsOn(torch.nn.Module):
    def forward(self, x, offset: int = 0):
        return rot(x, torch.arange(x.shape[-2]) + offset)


def test_positions_by_name_and_work_in_place():
    for f in (by_keyword, turn_, CountsOn()):
        assert all(law.ok for law in laws(f, head_dim=8))
    assert broken(writes, head_dim=8)[:1] == ["linear"]  # the control: its name does not say so
    assert "relativity" in broken(lambda x, *, positions: rot(x, positions.double() ** 2), head_dim=8)
    assert "relativity" in broken(lambda x, *, offset: CountsOn()(x, offset // 2), head_dim=8)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, *, start_pos: CountsOn()(x, start_pos),
        lambda *, x, offset=0: CountsOn()(x, offset),
        lambda *, x, position_ids: rot(x, position_ids),
        lambda x, start=0: rot(x, start),  # which names its positions as others name the first of them
    ],
)
def test_the_place_of_the_first_token_is_told_from_the_positions_of_all(f):
    x, positions = np.random.default_rng(0).normal(size=(1, 2, 5, 8)), np.array([7, 8, 9, 2, 40])
    assert Probe(f, head_dim=8)(x, positions) == pytest.approx(Probe(rot, head_dim=8)(x, positions))


def test_a_length_temperature_is_blamed_alone_with_the_next_step_and_is_none_beside_its_keys():
    def tempered(x, positions):
        return rot(x, positions) * (1 + 0.1 * torch.log1p(positions // 512))[..., None].to(x.dtype)

    alone = [law for law in laws(tempered, head_dim=8) if law.broken]
    assert alone
    assert all("hand them in with keys=" in law.saw for law in alone)
    assert not any(law.broken for law in laws(tempered, head_dim=8, keys=rot))
    leaning = lambda x, n: tempered(x, n) + 0.01 * n[..., None] * x.flip(-1)  # noqa: E731
    assert not any("keys=" in law.saw for law in laws(leaning, head_dim=8))


def test_wide_heads_are_asked_in_long_calls_too():
    theta = 1e4 ** (-torch.arange(64).double() / 64)

    def alone(x, p):
        row = torch.arange(len(p))[:, None]
        return torch.where((row == 1500) & (len(p) > 1501), x, rot(x, p, theta=theta))

    assert "rows of a call" in [law.name for law in laws(As(alone), head_dim=128) if law.broken]


def test_callables_that_insist_on_a_dtype_are_asked_in_it():
    def singles(x, n):
        if x.dtype != np.float32:
            raise TypeError("float32 only")
        return rotate_elementwise(x, n, theta=THETA.numpy()).astype(np.float32)

    def short(x, p):
        return rot(x, p.long()) if p.dtype == torch.int32 else 1 / 0

    assert [Probe(f, head_dim=8).form.split(", ")[0] for f in (singles, short)] == ["numpy float32", "torch float64"]
    assert Probe(short, head_dim=8).form.endswith("int32")
