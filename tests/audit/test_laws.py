"""Each law holds for every correct implementation, and each known mistake is caught by the law that is named for it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_lab.algebra.half_precision import round_to
from rope_lab.audit import GALLERY, fingerprint, laws
from rope_lab.audit.gallery import right
from tests.audit.implementations import HOSTILE, MISCOUNTED, from_table, in_narrow_torch, in_torch, rotary

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
    "earlier dtypes",
    "earlier calls",
    "batch neighbours",
]


def broken(f, **options):
    return [law.name for law in laws(f, **options) if not law.ok]


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
    assert broken(in_torch(f) if torched else f, head_dim=2 * (planes + beyond)) == []


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
        "long positions": "n = 15 to 32767: from n to n + 1, from n to 2 n",
        "earlier dtypes": "positions 0 to 10, before and after a longer text in a dtype of fewer bits",
        "earlier calls": "11 tokens from position 0 and from 7, before and after 29 tokens that end far out",
        "batch neighbours": "a batch of one, and the same row third of 7, positions [2, 0, 9, 4, 3]",
    }


@pytest.mark.parametrize("head_dim", [8, 32])
@pytest.mark.parametrize("mistake", GALLERY, ids=lambda m: m.name)
def test_each_mistake_is_caught_by_name(mistake, head_dim):
    found = {law.name: law.ok for law in mistake.examine(head_dim=head_dim)}
    assert found[mistake.caught_by] is False


@pytest.mark.parametrize("mistake", GALLERY, ids=lambda m: m.name)
def test_control_what_they_meant_is_not_caught(mistake):
    """The same expectations, asked of the right implementation, of the base that was meant."""
    meant = mistake.expected
    f = rotary(layout="half", base=meant.get("base", 10000.0))
    assert broken(f, head_dim=8, expected=meant) == []


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


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_callable_breaks_a_law_and_raises_nothing(name):
    f, _ = HOSTILE[name]
    found = broken(f, head_dim=8)
    assert found or name == "narrows"  # float32 for float64 is lawful


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
        "the turn is not the one from 0 to 1$",
    ),
}


@pytest.mark.parametrize("name", OTHERWISE)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # how the table ends
def test_long_positions_say_what_is_seen_of_a_wrong_turn(name):
    f, seen = OTHERWISE[name]
    found = far_out(f)
    assert not found.ok
    assert re.search(seen, found.saw)


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

    (law,) = [law for law in laws(g, head_dim=8) if not law.ok]
    assert (law.name, law.saw) == ("cached decoding", "raised RuntimeError: one token is no sequence")
    assert law.input.startswith("A whole sequence at once, and the same token by token")


def test_keys_are_turned_by_their_own_function():
    assert broken(right, keys=rotary(layout="half"), head_dim=8) == []
    assert "relativity" in broken(right, keys=rotary(layout="half", base=9000.0), head_dim=8)


@pytest.mark.parametrize("name", ["half", "half-split"])
def test_a_layout_is_expected_under_either_of_its_names(name):
    found = laws(right, head_dim=8, expected={"layout": name})[-1]
    assert (found.name, found.ok, found.saw) == ("expected layout", True, "half-split, expected half-split")
    assert not laws(rotary(), head_dim=8, expected={"layout": name})[-1].ok


@pytest.mark.usefixtures("untyped")
def test_an_expectation_nobody_can_have():
    with pytest.raises(
        ValueError, match="expected: 'colour' is not a field of a fingerprint that can be expected; use one of: layout"
    ):
        laws(right, head_dim=8, expected={"colour": 1})


def named_in(page):
    """The laws that a table of chapter 17 explains."""
    return re.findall(r"^\| \*\*([\w -]+)\*\*: ", page, flags=re.MULTILINE)


def test_the_page_explains_every_law_and_no_other():
    page = (Path(__file__).resolve().parents[2] / "book/17_which_rope.md").read_text()
    assert named_in(page) == NAMES
    assert len(NAMES) == 13  # the page counts them
    assert named_in(page.replace("**isometry**", "isometry")) != NAMES  # the control


def test_an_expectation_may_come_from_a_saved_fingerprint():
    saved = json.loads(fingerprint(right, head_dim=8).to_json())
    assert all(law.ok for law in laws(right, head_dim=8, expected={"pairs": saved["pairs"], "problems": []}))
    assert not laws(right, head_dim=8, expected={"pairs": saved["pairs"][1:]})[-1].ok
