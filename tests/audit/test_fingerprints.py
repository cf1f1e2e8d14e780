"""What a fingerprint recovers, from correct implementations, unusual ones and hostile ones, and of several axes."""

import json
import time
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra import axial_frequencies, interleaved_frequencies, mixed_frequencies, section_frequencies
from rope_lab.algebra.layouts import rotate_elementwise
from rope_lab.audit import fingerprint, laws
from rope_lab.audit.fingerprints import FAR, _precision, arrangement, axes_of
from rope_lab.audit.gallery import mismatched_tables, right
from rope_lab.audit.ways import whole_sequences
from rope_lab.nn import Rotary, RotaryConfig
from rope_lab.nn.rotary import rotary_table, rotate
from tests.audit.implementations import HOSTILE, MISCOUNTED, frequencies, from_table, in_narrow_torch, in_torch, rotary

LAYOUTS = {"interleaved": "interleaved", "half": "half-split"}


@pytest.mark.deep
@given(
    layout=st.sampled_from(sorted(LAYOUTS)),
    base=st.floats(2.0, 1e8),
    planes=st.integers(2, 24),
    beyond=st.integers(0, 12),
    direction=st.sampled_from([1, -1]),
    torched=st.booleans(),
)
def test_a_correct_implementation_is_recovered_exactly(layout, base, planes, beyond, direction, torched):
    """Layout, base, partial width and direction drawn at random; numpy or torch."""
    r, head_dim = 2 * planes, 2 * (planes + beyond)
    f = rotary(layout=layout, base=base, rotary_dim=r, direction=direction)
    seen = fingerprint(in_torch(f) if torched else f, head_dim=head_dim)
    assert seen.ok, seen.problems
    assert (seen.layout, seen.rotated_dims, seen.head_dim, seen.direction) == (LAYOUTS[layout], r, head_dim, direction)
    assert seen.base == pytest.approx(base, rel=1e-9)
    assert seen.base_residual < 1e-9
    assert seen.frequencies == pytest.approx(frequencies(r, base), rel=1e-9)
    assert seen.orthogonal
    assert seen.scale == pytest.approx(1)
    assert (seen.dtype, seen.precision) == ("float64", "float64")
    pairs = np.array(seen.pairs)
    step = 1 if layout == "interleaved" else planes
    assert (pairs[:, 1] - pairs[:, 0] == step).all()
    assert sorted(pairs.ravel()) == list(range(r))


@pytest.mark.deep
@given(base=st.sampled_from([10000.0, 500000.0, 1e6, 10000000.0]), direction=st.sampled_from([1, -1]))
def test_angles_in_float32_cost_no_digit_of_a_round_base(base, direction):
    seen = fingerprint(rotary(layout="half", base=base, direction=direction, dtype=np.float32), head_dim=64)
    assert (seen.base, seen.precision, seen.orthogonal) == (base, "float32", True)
    assert 0 < seen.angle_error[FAR[-1]] < 0.02


def test_control_bases_next_to_each_other_are_told_apart():
    near, far = (fingerprint(rotary(base=b), head_dim=32).base for b in (10000.0, 10000.01))
    assert (near, round(far, 6)) == (10000.0, 10000.01)


def test_pairs_that_are_neither_layout_are_listed():
    order = np.array([5, 2, 0, 7, 1, 3, 6, 4])
    back = np.argsort(order)
    seen = fingerprint(lambda x, n: rotary()(x[..., order], n)[..., back], head_dim=8)
    assert seen.layout == "other"
    assert set(seen.pairs) == {tuple(sorted(pair)) for pair in order.reshape(-1, 2).tolist()}
    assert sorted(seen.frequencies) == pytest.approx(sorted(frequencies(8, 10000.0)))


def test_planes_that_are_no_coordinates():
    """A turned basis: no two coordinates belong together, the frequencies are there all the same."""
    S = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    seen = fingerprint(lambda x, n: rotary()(x @ S, n) @ S.T, head_dim=6)
    assert (seen.layout, seen.pairs, seen.orthogonal, seen.rotated_dims) == ("other", (), True, 6)
    assert seen.frequencies == pytest.approx(frequencies(6, 10000.0))


def test_the_last_coordinates_may_turn():
    f = rotary()
    seen = fingerprint(lambda x, n: np.concatenate([x[..., :4], f(x[..., 4:], n)], axis=-1), head_dim=12)
    assert (seen.layout, seen.rotated_dims, seen.base) == ("interleaved", 8, 10000.0)
    assert "begin at 4" in seen.notes[0]


def test_an_answer_in_another_order():
    """Neighbours in, halves out: the logits are right, and position 0 is a permutation."""
    f = rotary()
    seen = fingerprint(lambda x, n: f(x, n)[..., [0, 2, 4, 1, 3, 5]], head_dim=6)
    assert (seen.layout, seen.base, seen.ok) == ("interleaved", 10000.0, True)
    assert "another order" in seen.notes[0]


def test_an_answer_with_other_signs():
    """A reflection beside the rotation: no other order, and a note that says which coordinates."""
    seen = fingerprint(lambda x, n: rotary()(x, n) * np.array([1, -1, 1, -1]), head_dim=4)
    assert seen.notes == ("coordinates change sign, also at position 0: 1, 3",)


@pytest.mark.parametrize("name", MISCOUNTED)
def test_miscounted_positions_are_a_problem(name):
    seen = fingerprint(MISCOUNTED[name][0], head_dim=16)
    assert any("does not turn" in text or "position is ignored" in text for text in seen.problems), seen.problems


@pytest.mark.parametrize("name", ["cut at 32767", "round and round", "a root"])
def test_an_angle_that_jumps_tells_nothing_of_the_frequency(name):
    """Position 1 shows the first frequency, and each doubled position refines it, up to the first that jumps."""
    assert fingerprint(MISCOUNTED[name][0], head_dim=16).frequencies[0] == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(
    ("error", "eps", "words"),
    [
        ({}, 2.0**-52, "unknown"),
        ({1009: 1e-9, 10007: 1e-8}, 2.0**-52, "float64"),
        ({1009: 1e-9, 10007: 2e-7}, 2.0**-52, "float32"),
        ({1009: 4e-3, 10007: 4e-2}, 2.0**-52, "float32"),
        ({1009: 6e-3, 10007: 4e-2}, 2.0**-52, "half"),
        ({1009: 0.0}, 2.0**-7, "float32"),  # so coarse an answer hides what is finer
        ({1009: 2.5 * 2.0**-7}, 2.0**-7, "float32"),
        ({101: 2.6 * 2.0**-7}, 2.0**-7, "half"),  # twice the spacing of the answer is its rounding, and no more
    ],
)
def test_the_precision_is_read_from_how_fast_the_error_grows(error, eps, words):
    assert _precision(error, eps) == words


def test_planes_in_another_basis_may_not_change_with_the_position():
    f, g = rotary(), rotary(layout="half")
    seen = fingerprint(lambda x, n: np.where(np.asarray(n)[:, None] % 2 == 0, f(x, n), g(x, n)), head_dim=8)
    assert "does not turn" in seen.problems[0]


RAMP = np.clip((np.arange(16) - 5) / 5, 0, 1)
SCHEMES = {
    "linear": (frequencies(32, 10000.0) / 4, "base 10000, every frequency times 0.25"),
    "llama3": (frequencies(32, 5e5) * (1 - RAMP + RAMP / 8), "base 500000 in planes 0 to 5, 8 times slower from plane"),
    "two axes": (np.tile(frequencies(16, 100.0), 2), "2 blocks of the same frequencies, base 100 each"),
    "random": (np.random.default_rng(0).uniform(0.01, 1, 16), "no single base fits"),
}


@pytest.mark.parametrize("name", SCHEMES)
def test_where_no_single_base_fits_the_frequencies_are_given(name):
    theta, words = SCHEMES[name]
    seen = fingerprint(rotary(theta=theta), head_dim=32)
    assert seen.base is None
    assert seen.frequencies == pytest.approx(theta, rel=1e-9)
    assert words in seen.scheme
    assert words in str(seen)


def test_of_many_frequencies_the_first_three_and_the_last_two_are_printed():
    theta = SCHEMES["random"][0]
    shown = [f"{value:.6g}" for value in theta]
    wanted = f"frequencies   {', '.join(shown[:3])}, ..., {', '.join(shown[-2:])}"
    assert wanted in str(fingerprint(rotary(theta=theta), head_dim=32)).splitlines()
    assert (
        f"frequencies   {', '.join(shown[:6])}" in str(fingerprint(rotary(theta=theta[:6]), head_dim=12)).splitlines()
    )


def test_ntk_is_another_base():
    assert fingerprint(rotary(base=10000.0 * 4 ** (32 / 30)), head_dim=32).base == pytest.approx(10000 * 4 ** (32 / 30))


@pytest.mark.parametrize("rounded", ["positions", "angles"])
def test_half_precision_shows_in_the_angle_error(rounded):
    def f(x, n):
        half = n.bfloat16().double() if rounded == "positions" else n
        angle = half[:, None] * torch.tensor(frequencies(x.shape[-1], 10000.0))
        angle = angle.bfloat16().double() if rounded == "angles" else angle
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1)

    seen = fingerprint(f, head_dim=32)
    assert (seen.layout, seen.precision) == ("half-split", "half")
    assert max(seen.angle_error.values()) > 0.5
    assert "does not turn" in seen.problems[0]


def test_positions_in_float16_are_half_precision_too():
    """They lose less than those in bfloat16, and end before 65536."""
    seen = fingerprint(lambda x, n: in_torch(rotary())(x, n.to(torch.float16).double()), head_dim=16)
    assert seen.precision == "half"
    assert "position 10007 does not turn" in seen.problems[0]


@pytest.mark.parametrize("factor", [1.15, 1.005])
def test_a_factor_on_all_that_turns_is_a_note(factor):
    seen = fingerprint(lambda x, n: factor * rotary()(x, n), head_dim=16)
    assert (seen.ok, seen.orthogonal, seen.scale) == (True, False, pytest.approx(factor))
    assert seen.notes == (f"a constant factor {factor} on what turns, as YaRN's attention factor",)


def test_a_factor_is_told_apart_from_the_rounding_of_the_answer():
    """Of numbers that are 1/128 apart near 1, a factor within eight steps may be rounding."""
    seen = fingerprint(in_narrow_torch(torch.bfloat16, scale=1.066), head_dim=32)
    assert seen.notes[0].startswith("a constant factor 1.06")
    assert seen.problems == ()


def test_a_factor_and_a_turn_at_zero_hide_no_frequency():
    seen = fingerprint(lambda x, n: 1.15 * rotary()(x, np.asarray(n) + 1), head_dim=16)
    assert (seen.base, seen.scale) == (10000.0, pytest.approx(1.15))


def test_planes_in_another_basis_are_asked_up_to_1024():
    """That far every model is trained; beyond, many turn more slowly, which only planes of coordinates show."""
    S, slower = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0], MISCOUNTED["slower beyond 2048"][0]
    assert fingerprint(lambda x, n: slower(x @ S, n) @ S.T, head_dim=6).problems == ()
    assert "does not turn" in fingerprint(slower, head_dim=6).problems[0]


def test_a_stretch_beside_the_planes_is_no_factor():
    seen = fingerprint(lambda x, n: rotary(rotary_dim=4)(x, n) * [1, 1, 1, 1, 2, 2], head_dim=6)
    assert (seen.orthogonal, seen.scale, seen.notes) == (False, 1, ())
    assert seen.problems == ("not orthogonal: lengths and angles between vectors change",)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_what_answers_in_a_narrow_type_only(dtype):
    def f(x, n):
        if x.dtype != dtype:
            raise TypeError(f"{dtype} only")
        return in_torch(rotary(layout="half"))(x.double(), n).to(dtype)

    seen = fingerprint(f, head_dim=32)
    assert (seen.layout, seen.rotated_dims, seen.direction) == ("half-split", 32, 1)
    assert (seen.orthogonal, seen.problems) == (True, ())
    assert seen.precision == "float32"  # a finer angle does not show in so coarse an answer
    assert seen.base == pytest.approx(10000, rel=0.01)
    assert f"torch {seen.dtype}" in seen.form


def test_a_table_that_ends():
    seen = fingerprint(from_table(length=2048), head_dim=16)
    assert (seen.layout, seen.base, seen.ok) == ("half-split", 10000.0, True)
    assert seen.notes[0].startswith(
        "asked up to 1024; a call that reaches 2048 is refused: raised IndexError: index 2048"
    )


def test_angles_that_follow_the_longest_position():
    """Dynamic scaling: beyond what it was trained on, every token of the call turns slower."""

    def f(x, n):
        return rotary(base=10000.0 * max(1.0, np.max(n) / 2048))(x, n)

    seen = fingerprint(f, head_dim=16)
    assert (seen.layout, seen.base) == ("interleaved", 10000.0)
    assert "angles change when a far position is in the same call" in seen.problems[0]


@pytest.mark.parametrize(("window", "up_to"), [(2048, 1024), (512, 256), (128, 64), (32, 16)])
def test_a_list_for_texts_beyond_a_window(window, up_to):
    """As LongRoPE: one long text and every plane turns slower, by a number of its own."""
    theta = 10000.0 ** (-np.arange(8) / 8)

    def f(x, n):
        return rotary(theta=theta / (np.arange(1, 9) if np.max(n) >= window else 1))(x, n)

    seen = fingerprint(f, head_dim=16)
    assert (seen.layout, seen.base) == ("interleaved", 10000.0)
    assert seen.problems[0].endswith(f"in the same call; asked in calls up to {up_to}")


WRONG_FROM = {  # what becomes of the positions, and the first that is wrong
    "cut": (lambda n: np.minimum(n, 2047), 2048),
    "round and round": (lambda n: n % 2048, 2048),
    "eight bits": (lambda n: n.astype(np.uint8), 256),
    "sixteen bits": (lambda n: n.astype(np.int16), 32768),
    "cut beyond the rungs": (lambda n: np.minimum(n, 69_999), 70_000),
}


@pytest.mark.parametrize("name", WRONG_FROM)
def test_positions_that_are_cut_or_wrap_change_nothing_of_what_nearer_ones_show(name):
    count, end = WRONG_FROM[name]
    seen = fingerprint(lambda x, n: rotary()(x, count(np.asarray(n))), head_dim=64)
    assert (seen.base, seen.direction, seen.rotated_dims, len(seen.problems)) == (10000.0, 1, 64, 1)
    assert seen.angle_error == {n: pytest.approx(0, abs=1e-9) for n in FAR if n < end}
    assert seen.precision == ("float64" if end > 1009 else "unknown")


def test_nothing_is_asked_beyond_the_window():
    asked = []

    def f(x, n):
        asked.append(np.max(n))
        return rotary()(x, n)

    seen = fingerprint(f, head_dim=64, window=4096)
    assert (max(asked), seen.precision, list(seen.angle_error)) == (4095, "float64", [1009])


ORDERS = {  # whether f takes x and n so, and how the axes of x lie
    "x (batch, T, head_dim)": (lambda x, n: x.shape[1:-1] == n.shape, (0, 1, 2)),
    "x (T, head_dim)": (lambda x, n: x.shape[:-1] == n.shape, (0, 1)),
    "x (T, batch, heads, head_dim)": (lambda x, n: x.ndim == 4 and len(x) == len(n), (1, 2, 0, 3)),
    "x (T, heads, head_dim)": (lambda x, n: x.ndim == 3 and len(x) == len(n), (1, 0, 2)),
    "positions int64 (batch, T)": (lambda x, n: n.shape == (len(x), x.shape[-2]), (0, 1, 2, 3)),
}


@pytest.mark.deep(keep=4)
@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("count", [None, lambda n: n // 2 * 2, lambda n: n[::-1], lambda n: n * (len(n) > 1)])
def test_another_order_of_axes_is_asked_and_excuses_nothing(name, count):
    takes, order = ORDERS[name]

    def f(x, n):
        if not takes(x, n):
            raise ValueError("another order wanted")
        if n.ndim > 1:
            return np.stack([turned(row, own) for row, own in zip(x, n, strict=True)])
        return turned(x.transpose(order), n).transpose(np.argsort(order))

    def turned(x, n):
        return rotary()(x, n if count is None else count(n))

    seen = fingerprint(f, head_dim=8)
    assert name in seen.form
    assert any(law.broken for law in laws(f, head_dim=8)) == (count is not None)


@pytest.mark.parametrize("used", [lambda n: n, lambda n: n[:1], lambda n: n[::-1]])
def test_each_entry_of_a_batch_is_turned_by_its_own_positions(used):
    def f(x, n):
        if n.shape != (len(x), x.shape[-2]):
            raise ValueError("positions (batch, T) wanted")
        return np.stack([rotary()(row, own) for row, own in zip(x, np.broadcast_to(used(n), n.shape), strict=True)])

    said = [str(law) for law in laws(f, head_dim=8) if law.broken]
    right = np.array_equal(used(np.array([[0, 1], [5, 6]])), [[0, 1], [5, 6]])
    assert right == (not said)
    assert right or "positions of its own" in said[0]


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("heads", [1, 4, 6, 8])
@pytest.mark.parametrize("count", [None, lambda n: n[::-1], lambda n: n + (len(n) == 1)])
def test_a_number_of_heads_that_f_insists_on(heads, count):
    bases = np.linspace(1e3, 1e5, heads)[:, None]
    theta = torch.from_numpy(bases ** (-np.arange(4) / 4))

    def f(x, n):
        n = n if count is None else torch.as_tensor(count(n.numpy()).copy())
        angles, (a, b) = n[None, :, None] * theta[:, None], x.chunk(2, -1)
        if x.shape[-3] != heads:
            raise ValueError(f"{heads} heads wanted")
        return torch.cat((a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()), -1)

    assert f"x (batch, heads={heads}, T, head_dim)" in fingerprint(f, head_dim=8).form
    found = laws(f, head_dim=8, window=4096)
    assert any(law.broken for law in found) == (count is not None)
    said = f"as it takes heads={heads}" if heads == 1 else "heads, which have frequencies of their own"
    assert count is not None or any(said in law.saw for law in found)  # many at once were not asked


def test_an_answer_may_have_a_name_and_a_batch_is_no_text():
    assert fingerprint(lambda x, n: {"x": rotary()(x, n)}, head_dim=8).base == 10000.0
    assert not fingerprint(lambda x, n: rotary()(x.swapaxes(0, -2), n[: len(x)]).swapaxes(0, -2), head_dim=8).ok
    assert not fingerprint(lambda x, n: rotary()(x.swapaxes(1, -2), n[: x.shape[1]]).swapaxes(1, -2), head_dim=8).ok


def test_positions_that_must_be_floats():
    def f(x, n):
        if n.dtype.kind != "f":
            raise TypeError("floats")
        return rotary()(x, n)

    assert fingerprint(f, head_dim=8).form.endswith("positions float64")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_callable_gets_a_report(name):
    f, words = HOSTILE[name]
    seen = fingerprint(f, head_dim=8)
    assert not seen.ok
    assert any(words in text for text in seen.problems), seen.problems
    assert words in str(seen)
    json.loads(seen.to_json())


def test_it_prints_as_a_table_and_as_json():
    seen = fingerprint(rotary(layout="half"), head_dim=8)
    assert str(seen).splitlines()[:4] == [
        "layout        half-split: (0, 4) (1, 5) (2, 6) (3, 7)",
        "rotated dims  8 of 8",
        "direction     +1 (counter-clockwise)",
        f"base          10000, residual {seen.base_residual:.1g}",
    ]
    assert "orthogonal    yes" in str(seen).splitlines()
    assert "orthogonal    no" in str(fingerprint(lambda x, n: 2 * rotary()(x, n), head_dim=8)).splitlines()
    assert json.loads(seen.to_json())["layout"] == "half-split"


@pytest.mark.parametrize("head_dim", [3, 0, 2.0, True])
@pytest.mark.usefixtures("untyped")
def test_only_head_dim_raises(head_dim):
    with pytest.raises((TypeError, ValueError), match="head_dim: expected a positive even integer"):
        fingerprint(rotary(), head_dim=head_dim)


def test_it_takes_less_than_a_second_at_head_dim_128():
    f = rotary(layout="half")
    start = time.process_time()  # of this process: no load counts
    fingerprint(f, head_dim=128)
    assert time.process_time() - start < 1


def without_its_minus(x, n, *, factor=1.0):
    """rotate_half as it is most often written wrong, with tables in float32."""
    angles = n[..., None] / 10000.0 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    cos, sin = (torch.cat((table, table), -1).to(x) for table in (angles.cos(), angles.sin()))
    first, second = x.chunk(2, -1)
    return factor * (x * cos + torch.cat((second, first), -1) * sin)


@pytest.mark.parametrize("head_dim", [4, 16, 64, 128])
@pytest.mark.parametrize("factor", [1.0, 1.2])
def test_a_missing_minus_is_no_attention_factor(head_dim, factor):
    seen = fingerprint(partial(without_its_minus, factor=factor), head_dim=head_dim)
    assert not seen.ok
    assert not any("factor" in note for note in seen.notes)


def test_a_factor_is_named_and_the_angles_are_still_asked():
    seen = fingerprint(lambda x, n: 1.2 * rotary()(x, n), head_dim=8)
    assert (seen.ok, seen.notes) == (True, ("a constant factor 1.2 on what turns, as YaRN's attention factor",))
    assert not fingerprint(lambda x, n: 1.2 * rotary()(x, np.minimum(n, 3)), head_dim=8).ok


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


ALTERNATING = np.kron(np.eye(2), np.ones((8, 1))) * 10000.0 ** (-np.r_[0:16:2, 1:16:2] / 16)[:, None]  # as in Pixtral
TABLES = {
    "by sections of 4, 6, 6 planes": section_frequencies([4, 6, 6]),
    "in turn (interleaved), 6, 5, 5 planes": interleaved_frequencies([6, 5, 5]),
    "in turn (interleaved), 10, 3, 3 planes": interleaved_frequencies([10, 3, 3]),
    "axial: blocks of 8, 8 planes": axial_frequencies(32),
    "mixed: a plane turns with several axes": mixed_frequencies(32, angles=0.7),
    "in another order, 5, 6, 5 planes": np.roll(interleaved_frequencies([6, 5, 5]), 1, axis=1),
}


def asked(table, layout="half"):
    """What `axes_of` finds in our own rotation with this table."""
    rotary, count = Rotary(RotaryConfig.of_axes(table, layout=layout)), table.shape[1]

    def along(axis):
        def turned(x, positions):
            n = torch.as_tensor(np.asarray(positions, dtype=np.float64))
            places = torch.stack([n * (axis in (None, a)) for a in range(count)], dim=-1)
            return rotary(torch.as_tensor(np.asarray(x)), positions=places).numpy()

        return turned

    return axes_of(along, axes=count, head_dim=2 * len(table))


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("words", TABLES)
def test_the_arrangement_is_named_and_each_axis_has_its_planes(words, layout):
    table = TABLES[words]
    found = asked(table, layout)
    assert arrangement(found) == words
    for axis, column in zip(found, table.T, strict=True):
        assert axis.planes == tuple(np.flatnonzero(column))
        np.testing.assert_allclose(np.abs(axis.frequencies), np.abs(column[column != 0]), rtol=1e-5)


def test_the_alternating_list_of_pixtral_is_axial_with_the_second_block_between():
    rows, columns = asked(ALTERNATING)
    assert arrangement((rows, columns)) == "axial: blocks of 8, 8 planes"
    assert rows.base == pytest.approx(10000)
    assert "every frequency times 0.56" in columns.words  # 10000 ** (-1/16): half a step further


@pytest.mark.parametrize(
    ("words", "theta"),
    [("first coordinates", 10000.0 ** (-np.arange(4) / 4)), ("proportional", 10000.0 ** (-np.arange(4) / 8))],
)
def test_the_two_conventions_of_a_part_differ_in_their_exponent(words, theta):
    """16 coordinates, half of them turn: as a head of 8, or as the first planes of a head of 16."""
    share = {"partial_rotary_factor": 0.5, "head_dim": 16, "rope_theta": 1e4}
    kind = {"rope_type": "proportional"} if words == "proportional" else {}
    config = RotaryConfig.from_hf({**share, "rope_parameters": {"partial_rotary_factor": 0.5, **kind}})

    def turned(x, positions):
        return rotate(torch.as_tensor(x), rotary_table(positions, config, dtype=torch.float64)).numpy()

    seen = fingerprint(turned, head_dim=16)
    assert len(seen.pairs) * 2 == 8
    assert seen.pairs[0] == ((0, 8) if words == "proportional" else (0, 4))
    np.testing.assert_allclose(seen.frequencies, theta, rtol=1e-6)
    assert ("Proportional(share=0.5)" in seen.scheme) == (words == "proportional")


def test_a_part_at_the_end_of_a_head_is_named():
    config = RotaryConfig(8)

    def turned(x, positions):
        x = torch.as_tensor(x)
        return torch.cat(
            (x[..., :8], rotate(x[..., 8:], rotary_table(positions, config, dtype=torch.float64))), -1
        ).numpy()

    seen = fingerprint(turned, head_dim=16)
    assert (len(seen.pairs) * 2, seen.pairs[0]) == (8, (8, 9))
    assert "begin at 8" in seen.notes[0]


def test_what_is_relative_is_no_problem():
    """Planes may turn either way, and each head by frequencies of its own."""

    def f(x, n):
        theta = np.array([1.0, -0.1])
        return np.stack([rotate_elementwise(x[:, h], n, theta=theta / (h + 1)) for h in range(x.shape[1])], 1)

    seen = fingerprint(f, head_dim=4)
    assert (seen.problems, seen.direction) == ((), 0)
    assert [note[:27] for note in seen.notes] == ["some planes turn the other ", "each head has its own frequ"]
