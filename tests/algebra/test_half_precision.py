"""The emulated formats against torch, bit for bit; then what rounding costs a rotation, each law with a control."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra import half_precision as half
from rope_lab.algebra.half_precision import Rounding, rounded_logits, spacing
from rope_lab.algebra.rotation import frequencies, logits

TORCH = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
HALVES = ("float16", "bfloat16")


def floats_from(words):
    return np.asarray(words, dtype=np.uint32).view(np.float32)


def every_rounding_case():
    """Each upper half of a float32 with the lower halves around a tie: all that rounding to bfloat16 can meet."""
    upper = np.arange(2**16, dtype=np.uint32) << 16
    lower = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], dtype=np.uint32)
    return floats_from((upper[:, None] | lower).ravel())


def every_half_and_midpoint():
    """Each finite float16, the middle to its neighbour, and the float32 numbers next to that middle."""
    values = np.sort(np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float64))
    values = np.unique(values[np.isfinite(values)])
    values = np.append(values, [-65520.0, 65520.0])  # where infinity begins
    middle = ((values[1:] + values[:-1]) / 2).astype(np.float32)
    up, down = np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, np.float32(-np.inf))
    return np.concatenate([values.astype(np.float32), middle, up, down])


def agree(x, dtype):
    theirs = torch.from_numpy(x).to(TORCH[dtype])
    ours = half.round_to(x, dtype=dtype)
    np.testing.assert_array_equal(ours, theirs.double().numpy())
    if dtype in HALVES:
        words, number = theirs.view(torch.int16).numpy().view(np.uint16), ~np.isnan(x)
        np.testing.assert_array_equal(half.bit_pattern(x, dtype=dtype)[number], words[number])


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("cases", [every_rounding_case, every_half_and_midpoint])
def test_bit_for_bit_torch(cases, dtype):
    agree(cases(), dtype)


@pytest.mark.parametrize("dtype", TORCH)
def test_float64_too_which_is_rounded_twice(dtype):
    rng = np.random.default_rng(0)
    agree(rng.integers(0, 2**64, size=200_000, dtype=np.uint64).view(np.float64), dtype)
    agree(rng.normal(size=100_000) * 10.0 ** rng.integers(-8, 6, size=100_000), dtype)
    just_above_a_tie = np.array([1 + 2**-8 + 2**-40, 1 + 2**-11 + 2**-40, 1 + 2**-24 + 2**-50])
    agree(just_above_a_tie, dtype)


def test_control_other_roundings_are_told_apart():
    x = every_rounding_case()
    x = x[np.isfinite(x)]
    cut = floats_from(x.view(np.uint32) & np.uint32(0xFFFF0000))  # the lower half thrown away
    assert (half.round_to(x, dtype="bfloat16") != cut).mean() > 0.3
    once = 1.0  # a single rounding would take 1 + 2^-8 + 2^-40 up, not to even
    assert half.round_to(1 + 2**-8 + 2**-40, dtype="bfloat16") == once


@given(st.lists(st.floats(width=32), min_size=1, max_size=20))
def test_rounding_is_nearest_odd_symmetric_and_idempotent(values):
    x = np.array(values)
    for dtype in TORCH:
        once = half.round_to(x, dtype=dtype)
        np.testing.assert_array_equal(half.round_to(once, dtype=dtype), once)
        np.testing.assert_array_equal(half.round_to(-x, dtype=dtype), -once)
        near = np.isfinite(once)
        assert (np.abs(once[near] - x[near]) <= half.spacing(x[near], dtype=dtype) / 2).all()


@pytest.mark.parametrize(("dtype", "p"), [("bfloat16", 8), ("float16", 11)])
def test_integers(dtype, p):
    n = np.arange(2 ** (p + 1) + 1)
    kept = half.round_to(n, dtype=dtype) == n
    assert kept[: 2**p + 1].all()
    assert not kept[2**p + 1 :: 2].any()
    np.testing.assert_array_equal(half.spacing(n[2**p : -1], dtype=dtype), 2)


@given(st.integers(0, 2**20), st.sampled_from(HALVES))
def test_the_angles_are_what_torch_computes(n, dtype):
    theta = frequencies(16, base=5e5)
    rounding = Rounding(position="float32", theta="float32", angle="float32", table=dtype)
    ours = half.rounded_angles(n, theta=theta, rounding=rounding)
    theirs = torch.tensor(n).float() * torch.from_numpy(theta).float()
    np.testing.assert_array_equal(ours, theirs.double().numpy())
    cast = half.rounded_angles(n, theta=theta, rounding=Rounding(position=dtype, theta=dtype, angle=dtype))
    theirs = torch.tensor(n).to(TORCH[dtype]) * torch.from_numpy(theta).to(TORCH[dtype])
    np.testing.assert_array_equal(cast, theirs.double().numpy())


def test_a_table_in_float16_beyond_its_range_is_nan():
    errors = half.turn_errors([65519, 65520], theta=[1.0], rounding=Rounding(position="float16"))
    assert np.isnan(errors).tolist() == [[False], [True]]


def test_an_infinite_position_in_a_plane_that_stands_still_is_nan_without_a_warning():
    rounding = Rounding(position="float16")
    assert np.isnan(half.rounded_angles(70_000, theta=[0.0], rounding=rounding)).all()
    assert half.rounded_angles(1e300, theta=[1e300], rounding=Rounding()) == np.inf


def test_one_position_serves_all():
    q, at = np.array([1.0, 2.0]), {"theta": [1.0], "rounding": Rounding(table="bfloat16")}
    shared = half.rounded_logits(q, q, q_positions=5, k_positions=[1, 2], **at)
    np.testing.assert_array_equal(shared, half.rounded_logits(q, q, q_positions=[5, 5], k_positions=[1, 2], **at))


@given(st.integers(0, 2**32 - 1), st.floats(-1e5, 1e5), st.floats(-1e5, 1e5))
def test_without_rounding_it_is_the_algebra(seed, m, n):
    q, k = np.random.default_rng(seed).normal(size=(2, 8))
    theta = frequencies(8)
    plain = half.rounded_logits(q, k, q_positions=m, k_positions=n, theta=theta, rounding=Rounding())
    known = logits(q[None], k[None], q_positions=[m], k_positions=[n], theta=theta)
    np.testing.assert_allclose(plain, known[0, 0], atol=1e-9)


def test_relativity_survives_a_rounded_frequency_and_nothing_else():
    q, k = np.random.default_rng(1).normal(size=(2, 16))
    m, theta = np.array([0, 1000, 100_003]), frequencies(16)

    def spread(**where):
        rounding = Rounding(**where)
        return np.ptp(half.rounded_logits(q, k, q_positions=m, k_positions=m + 5, theta=theta, rounding=rounding))

    assert spread() < 1e-8
    assert spread(theta="bfloat16") < 1e-8
    for where in ("position", "angle", "table"):
        assert spread(**{where: "bfloat16"}) > 1e-3


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: half.round_to(1.0, dtype="float8"), ValueError, "dtype: expected one of float64"),
        (lambda: half.round_to([True], dtype="float16"), TypeError, "x: expected real numbers"),
        (lambda: half.bit_pattern(1.0, dtype="float32"), ValueError, 'expected "float16" or "bfloat16"'),
        (lambda: Rounding(angle="half"), ValueError, "angle: expected one of"),
        (
            lambda: half.rounded_angles(np.inf, theta=[1.0], rounding=Rounding()),
            ValueError,
            "positions: expected finite",
        ),
        (
            lambda: half.rounded_logits(
                np.ones(4), np.ones(4), q_positions=0, k_positions=0, theta=[1.0], rounding=Rounding()
            ),
            ValueError,
            "q: expected one vector of 2 numbers",
        ),
        (
            lambda: half.rounded_logits(
                np.ones(2), np.ones(2), q_positions=[0, 1, 2], k_positions=[0, 1], theta=[1.0], rounding=Rounding()
            ),
            ValueError,
            r"in one shape, got \(3,\) and \(2,\)",
        ),
        (
            lambda: half.rounded_logits(
                np.ones(4), np.ones(4), q_positions=[0], k_positions=[0], theta=[[1.0], [2.0]], rounding=Rounding()
            ),
            ValueError,
            r"theta: expected one frequency for each plane, .*got shape \(2, 1\)",
        ),
        (lambda: half.turn_errors(1, theta=[[1.0]], rounding=Rounding()), ValueError, "one frequency for each plane"),
        (
            lambda: half.rounded_turns(1, theta=[1.0], rounding="bfloat16"),
            TypeError,
            "expected a Rounding, got 'bfloat16'",
        ),
        (
            lambda: half.round_to([[1.0], [1.0, 2.0]], dtype="float16"),
            ValueError,
            "x: expected an array .* a ragged one",
        ),
        (lambda: half.round_to(torch.ones(2).bfloat16(), dtype="float16"), TypeError, "detach.*double"),
        (lambda: half.spacing(torch.ones(2, requires_grad=True), dtype="float16"), TypeError, "numpy can hold, got T"),
    ],
)
@pytest.mark.usefixtures("untyped")
def test_refusals(call, error, says):
    with pytest.raises(error, match=says):
        call()


@pytest.mark.parametrize(("dtype", "least"), [("float64", 2.0**-1074), ("bfloat16", 2.0**-133), ("float16", 2.0**-24)])
def test_the_spacing_at_zero_and_at_minus_one(dtype, least):
    assert spacing(0.0, dtype=dtype) == least
    assert spacing(-1.0, dtype=dtype) == spacing(1.0, dtype=dtype) > 1e-16


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("width", [2, 6])
def test_a_vector_too_short_or_too_long_is_refused(width):
    with pytest.raises(ValueError, match=rf"k: expected one vector of 4 numbers .* got shape \({width},\)"):
        rounded_logits(np.ones(4), np.ones(width), q_positions=0, k_positions=0, theta=[1.0, 0.1], rounding=Rounding())
