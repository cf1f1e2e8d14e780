"""Each law is as sharp as it says: mistakes just beyond the tolerance are seen, and each way of asking counts."""

import numpy as np
import pytest
import torch

from rope_lab.audit import fingerprint, laws
from rope_lab.audit.law_checks import diagnose_axis
from rope_lab.audit.probe import Probe
from tests.audit.implementations import counted, from_table, in_narrow_torch, rotary


def asked(f, name, **options):
    """One law, by name, asked of f with heads of 16."""
    return next(law for law in laws(f, head_dim=16, **options) if law.name == name)


SMALL = {  # a mistake -> the law with a small tolerance for it
    "a cube": (lambda x, n: rotary()(x, n) + 1e-6 * x**3, "linear"),
    "a shift at zero": (counted(lambda n: n + 1e-4), "identity at zero"),
    "a shift in each turn": (counted(lambda n: n + 0.01), "group law"),
    "a shift there and back": (counted(lambda n: n + 5e-4), "inverse"),
    "a table a little too long": (lambda x, n: 1.0002 * from_table()(x, n), "inverse"),
    "no negative turn": (counted(np.abs), "inverse"),
    "one token alone": (counted(lambda n: n + 1e-4 * (len(n) == 1)), "cached decoding"),
}


@pytest.mark.deep(keep=3)
@pytest.mark.parametrize("name", SMALL)
def test_a_small_mistake_is_seen(name):
    f, law = SMALL[name]
    assert not asked(f, law).ok


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    "name", ["linear", "isometry", "identity at zero", "group law", "inverse", "cached decoding", "long positions"]
)
def test_the_keys_are_asked_as_well(name):
    """q is sound, and k breaks every law that is asked of one callable."""

    def wrong(x, n):
        return (1.1 + 0.1 * (len(n) == 1)) * rotary()(x, np.sqrt(np.abs(n)) + 1) + 0.1 * x**3

    assert asked(rotary(), name).ok
    assert not asked(rotary(), name, keys=wrong).ok


@pytest.mark.deep
def test_another_order_at_zero_is_reported():
    found = asked(lambda x, n: rotary()(x, n)[..., ::-1], "identity at zero")
    assert not found.ok
    assert "the coordinates of x in another order" in found.saw
    for other in (counted(lambda n: n + 1e-4), lambda x, n: rotary()(x, n) + 1):  # the control: another miss
        found = asked(other, "identity at zero")
        assert not found.ok
        assert "order" not in found.saw


def test_a_table_of_sixteen_rows_is_not_asked_far_out():
    found = asked(from_table(length=16), "long positions")
    assert found.ok
    assert found.saw.startswith("not asked: raised IndexError")


def remembers():
    """After a long call, the calls that stay near 0 are turned further."""
    calls = []

    def f(x, n):
        calls.append(len(n))
        return rotary()(x, np.asarray(n) + 0.1 * (max(calls) >= 15 and np.max(n) < 10))

    return f


DECODING = {
    "token by token": counted(lambda n: n + 0.1 * (len(n) == 1)),
    "in two chunks": counted(lambda n: n + 0.1 * (len(n) in (2, 3))),
    "after a longer call": remembers(),
    "with a far token in the same call": lambda x, n: rotary(base=1e4 * max(1.0, np.max(n) / 2048))(x, n),
}


@pytest.mark.parametrize("way", DECODING)
def test_each_way_of_decoding_is_asked(way):
    found = asked(DECODING[way], "cached decoding")
    assert not found.ok
    assert found.saw.startswith(way)


def by_length():
    """Tables kept under the length of the text alone."""
    kept = {}
    return lambda x, n: rotary()(x, kept.setdefault(len(n), np.array(n)))


def slower_ever_after():
    """Frequencies that follow the farthest position of all calls so far, and never come back."""
    farthest = [0.0]

    def f(x, n):
        farthest.append(max(farthest[-1], float(np.max(n))))
        return rotary(base=1e4 * max(1.0, farthest[-1] / 200_000))(x, n)

    return f


def grown_in_the_dtype_of_the_call():
    """A table that grows with the texts, in the dtype of the x that made it grow."""
    rows, dtype = [0], [np.float64]

    def f(x, n):
        if np.max(n) >= rows[0]:
            rows[0], dtype[0] = np.max(n) + 1, x.dtype
        return rotary()(x, n).astype(dtype[0]).astype(x.dtype)

    return f


def set_back_by_short_texts():
    """The same, and a text of the window's length sets it back, as the dynamic schedule of transformers does."""
    farthest = [0.0]

    def f(x, n):
        reached = float(np.max(n))
        farthest.append(0.0 if reached < 2048 else max(farthest[-1], reached))
        return rotary(base=1e4 * max(1.0, farthest[-1] / 2048))(x, n)

    return f


STATE = {  # what stays behind -> the law of state that sees it, and what it says
    "tables by length": (by_length, "earlier calls", "after a call of the same length at other positions"),
    "the farthest text": (slower_ever_after, "earlier calls", "after a call that was longer and went farther"),
    "until a short text": (set_back_by_short_texts, "earlier calls", "after a call that went farther"),
    "a table in fewer bits": (grown_in_the_dtype_of_the_call, "earlier dtypes", "after a call in float16"),
    "a mean of the batch": (
        lambda: lambda x, n: rotary()(x, n) * (1 + 1e-4 * (len(x) > 1)),
        "batch neighbours",
        "a row of a batch depends on the others",
    ),
}


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("name", STATE)
def test_each_way_of_remembering_is_seen(name):
    made, law, words = STATE[name]
    found = asked(made(), law)
    assert not found.ok
    assert found.saw.startswith(words)
    assert asked(rotary(), law).ok  # the control: nothing stays behind


@pytest.mark.parametrize("window", [None, 2**21])
@pytest.mark.parametrize("made", [slower_ever_after, grown_in_the_dtype_of_the_call])
def test_a_fingerprint_that_went_before_hides_nothing_that_stays_behind(made, window):
    f, law = made(), "earlier calls" if made is slower_ever_after else "earlier dtypes"
    fingerprint(f, head_dim=16, window=window)
    assert not asked(f, law, window=window, only=[law]).ok
    assert asked(rotary(), law, window=window, only=[law]).ok


def test_a_narrow_one_has_no_narrower_dtype_to_ask():
    found = asked(in_narrow_torch(torch.bfloat16), "earlier dtypes")
    assert (found.ok, found.saw) == (True, "no dtype has fewer bits than its own")


@pytest.mark.parametrize("cut", [np.floor, np.ceil])
def test_a_table_that_is_asked_between_its_rows_is_reported_and_not_flagged(cut):
    found = asked(lambda x, n: from_table()(x, cut(n).astype(int)), "inverse")
    assert found.ok
    assert "(a table: keep n >= 0)" in found.saw


def test_what_of_a_table_is_not_answered_is_told_of_negative_positions_and_of_fractions_apart():
    """numpy reads -n from the end and refuses a fraction; what refuses -n says so, also where the keys answer it."""
    refuses = lambda x, n: from_table()(x, n if np.min(n) >= 0 else "none")  # noqa: E731
    found = asked(from_table(), "inverse")
    assert found.ok
    assert found.saw.startswith("position -n does not undo n")
    assert found.saw.endswith("(fractions are not answered, as by a table: keep n >= 0)")
    assert "-n is not answered: raised IndexError" in asked(refuses, "inverse").saw
    assert not asked(refuses, "inverse", keys=counted(np.abs)).ok


@pytest.mark.deep
def test_the_keys_table_may_end_first():
    long, short = rotary(layout="half"), from_table(length=64)
    for q, k in ((long, short), (short, long)):
        assert [law.name for law in laws(q, keys=k, head_dim=16) if not law.ok] == []


X, AT = np.random.default_rng(0).normal(size=(2, 3, 5, 4)), np.arange(5)
AXES = {
    "a head": (
        lambda x, n: rotary()(x, n) * (1 + 1e-5 * np.arange(x.shape[-3]))[:, None, None],
        "it turns with the head",
    ),
    "a batch entry": (
        lambda x, n: rotary()(x, n) * (1 + 1e-5 * np.arange(len(x)))[:, None, None, None],
        "it turns with the batch entry",
    ),
    "the first token": (counted(lambda n: n + 1e-3 * n[0]), "the position of token 0 turns token 1"),
    "from the first": (counted(lambda n: n - n[0]), "the position of token 0 turns token 1"),
    "the place": (counted(lambda n: np.arange(len(n))), "it turns by the place in the sequence and ignores the"),
}


@pytest.mark.parametrize("name", AXES)
def test_the_axis_is_named(name):
    f, words = AXES[name]
    assert diagnose_axis(Probe(f, head_dim=4), X, AT, tolerance=1e-6).startswith(words)


def test_control_a_sound_one_has_no_axis_to_name():
    assert diagnose_axis(Probe(rotary(), head_dim=4), X, AT, tolerance=1e-6) is None


@pytest.mark.deep
def test_what_is_expected_is_compared_to_five_digits_and_for_q_and_k():
    base = {"base": 10000.0}
    for other, ok in ((10000.0, True), (10005.0, False)):
        f = rotary(layout="half", base=other)
        assert asked(f, "expected base", expected=base).ok is ok
    found = asked(rotary(), "expected base", keys=rotary(base=500.0), expected=base)
    assert (found.ok, found.saw) == (False, "q: 10000.0, k: 500.0, expected 10000.0")
    assert asked(rotary(), "expected base", keys=rotary(), expected=base).saw == "10000.0, expected 10000.0"
