"""Generators: laws, the independent check by SciPy, refusals, controls."""

import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg

from rope_lab.algebra.arguments import expect_skew
from rope_lab.algebra.generators import (
    alias,
    angles_4d,
    block_diag,
    exponential,
    generator_2d,
    generator_matrix,
    halves_4d,
    is_orthogonal,
    power,
    power_4d,
    skew_4d,
)
from rope_lab.algebra.rotation import rotation_2d, rotation_matrix

seeds = st.integers(0, 2**32 - 1)
reals = st.floats(-50, 50)
sixes = st.lists(st.floats(-3, 3, allow_subnormal=False), min_size=6, max_size=6)
SPECIAL = [
    [0, 0, 0, 0, 0, 0],  # nothing turns
    [1, 0, 0, 0, 0, 1],
    [1, 0, 0, 0, 0, -1],  # equal angles, of either handedness
    [2, 0, 0, 0, 0, 0],  # a plane stands still
    [1, 0, 0, 0, 0, 1 + 1e-9],  # nearly equal
    [0, 2, 0, 0, 0.5, 0],
]


def skew(seed, d, scale=1.0):
    A = scale * np.random.default_rng(seed).normal(size=(d, d))
    return A - A.T


@pytest.mark.parametrize("dtype", [int, np.float32, float, complex, object])
def test_blocks_along_the_diagonal_are_scipys(dtype):
    blocks = np.eye(2, dtype=dtype), np.zeros((0, 3), dtype=dtype), [[1, 2], [3, 4]], [5, 6], 7
    for some in (blocks[:2], blocks, blocks[1:] * 20):
        found, target = block_diag(*some), linalg.block_diag(*some)
        assert (found.dtype, found.tolist()) == (target.dtype, target.tolist())


WITHOUT_SCIPY = """
import sys; sys.modules["scipy"] = None
import numpy as np
from rope_lab import algebra
assert all(hasattr(algebra, name) for name in algebra.__all__)
theta, x, at = [1.0, 0.1], np.eye(5, 4), np.arange(5)
assert np.allclose(algebra.rotate(x, 3, theta=theta).T, algebra.power(algebra.generator_matrix(theta), 3) @ x.T)
y = algebra.attention(x, x, x, q_positions=at, k_positions=at, rotated="qkvo", theta=theta)
assert np.allclose(y, algebra.decode(x / 2, x, "undo", positions=at, theta=theta).outputs)  # 2: the root of the width
algebra.skew_normal_form(np.zeros((2, 2)))  # the control: a Schur form is SciPy's
"""


def test_what_computes_nothing_of_scipys_needs_no_scipy():
    done = subprocess.run([sys.executable, "-c", WITHOUT_SCIPY], check=False, capture_output=True, text=True)
    assert re.search("in _schur\n.*No module named 'scipy.linalg'", done.stderr, re.DOTALL)


@given(d=st.integers(1, 9), seed=seeds, scale=st.sampled_from([1e-12, 0.1, 1.0, 30.0]))
def test_exponential_is_scipys(d, seed, scale):
    A = scale / d * np.random.default_rng(seed).normal(size=(d, d))
    target = linalg.expm(A)
    np.testing.assert_allclose(exponential(A), target, atol=1e-11 * (1 + scale) * np.abs(target).max())


@given(d=st.integers(1, 8), seed=seeds, n=reals)
def test_power_is_scipys_and_orthogonal(d, seed, n):
    B = skew(seed, d)
    R = power(B, n)
    np.testing.assert_allclose(R, linalg.expm(n * B), atol=1e-11)
    assert is_orthogonal(R)
    assert np.linalg.det(R) > 0


@given(d=st.integers(1, 6), seed=seeds, m=reals, n=reals)
def test_the_law_at_real_positions(d, seed, m, n):
    B = skew(seed, d)
    np.testing.assert_allclose(power(B, m).T @ power(B, n), power(B, n - m), atol=1e-10)


@given(theta=st.lists(st.floats(-3, 3), min_size=1, max_size=4), n=reals)
def test_the_usual_generator_makes_the_usual_rotation(theta, n):
    np.testing.assert_allclose(power(generator_matrix(theta), n), rotation_matrix(n, theta=theta), atol=1e-11)
    np.testing.assert_allclose(power(generator_2d(theta[0]), n), rotation_2d(n * theta[0]), atol=1e-11)


def test_far_positions_stay_orthogonal():
    theta = [1.0, 0.01]
    for n in (4096.0, 1e6):
        target = rotation_matrix(n, theta=theta)
        np.testing.assert_allclose(power(generator_matrix(theta), n), target, atol=4e-15 * n)


def test_shapes():
    B = skew(0, 4)
    assert power(B, np.zeros((2, 3))).shape == (2, 3, 4, 4)
    assert power(B, []).shape == (0, 4, 4)
    assert (power(B, 0) == np.eye(4)).all()
    assert generator_2d([[1.0, 2.0]]).shape == (1, 2, 2, 2)


@given(sixes, st.floats(-5, 5))
def test_four_dimensions_in_closed_form(entries, n):
    B = skew_4d(entries)
    S, A = halves_4d(B)
    np.testing.assert_allclose(S + A, B, atol=1e-15)
    np.testing.assert_allclose(S @ A, A @ S, atol=1e-13)
    for half in (S, A):
        np.testing.assert_allclose(half @ half, -np.sum(half**2) / 4 * np.eye(4), atol=1e-13)
    np.testing.assert_allclose(power_4d(B, n), linalg.expm(n * B), atol=1e-11)
    found = np.sort(np.abs(np.linalg.eigvals(B).imag))[::-1]
    np.testing.assert_allclose(np.repeat(angles_4d(B), 2), found, atol=1e-7)  # eigvals is weak at equal angles


@pytest.mark.parametrize("entries", SPECIAL)
def test_four_dimensions_where_angles_meet(entries):
    B = skew_4d(entries)
    np.testing.assert_allclose(power_4d(B, 1.7), linalg.expm(1.7 * B), atol=1e-13)
    first, second = angles_4d(B)
    assert first >= second >= 0
    np.testing.assert_allclose(first**2 + second**2, np.sum(np.square(entries)), atol=1e-13)


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=4), seeds)
def test_aliases_are_what_the_integers_see(theta, seed):
    rng = np.random.default_rng(seed)
    signs, turns = rng.choice([-1, 1], size=len(theta)), rng.integers(-2, 3, size=len(theta))
    other = rng.permutation(signs * theta + 2 * np.pi * turns)
    np.testing.assert_allclose(alias(theta), alias(other), atol=1e-12)
    n = np.arange(-4, 5)
    traces = [np.trace(rotation_matrix(n, theta=t), axis1=-2, axis2=-1) for t in (theta, other, alias(theta))]
    np.testing.assert_allclose(traces[0], traces[1], atol=1e-11)
    np.testing.assert_allclose(traces[0], traces[2], atol=1e-11)


def test_control_half_a_turn_is_no_alias():
    assert not np.allclose(alias([1.0]), alias([1.0 + np.pi]))


# --- refusals ---


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("B", "error", "says"),
    [
        ([[0, -2], [2.1, 0]], ValueError, "misses it by 1.0e-01 at a size of 2.1e+00; take (B - B.T) / 2"),
        ([[1, 0], [0, 1]], ValueError, "misses it by 2.0e+00"),
        ([[0, 1e-9], [1e-9, 0]], ValueError, "misses it by 2.0e-09"),  # relative to its own size
        ([[0, -1, 0], [1, 0, 0]], ValueError, "expected a square matrix, got shape (2, 3)"),
        ([0, 1], ValueError, "expected a square matrix, got shape (2,)"),
        ([[0, np.nan], [np.nan, 0]], ValueError, "expected finite numbers, got nan"),
        ([[0, -np.inf], [np.inf, 0]], ValueError, "expected finite numbers, got -inf"),
        ([[0, 1j], [-1j, 0]], TypeError, "expected real numbers"),
    ],
)
def test_what_is_not_skew_is_refused(B, error, says):
    for call in (expect_skew, lambda B: power(B, 1), angles_4d):
        with pytest.raises(error, match=re.escape(says)):
            call(B)


@pytest.mark.usefixtures("untyped")
def test_sizes_that_do_not_fit():
    with pytest.raises(ValueError, match=re.escape("expected shape (4, 4), got (2, 2)")):
        angles_4d(generator_2d(1.0))
    with pytest.raises(ValueError, match="expected six numbers"):
        skew_4d([1, 2, 3])
    with pytest.raises(ValueError, match="one frequency for each plane"):
        generator_matrix([[1.0]])


def test_rounding_is_forgiven():
    P = np.linalg.qr(np.random.default_rng(3).normal(size=(6, 6)))[0]
    B = P @ generator_matrix([1e3, 1.0, 1e-3]) @ P.T
    cleaned = expect_skew(B)
    assert (cleaned + cleaned.T == 0).all()
    np.testing.assert_allclose(cleaned, B, atol=1e-12)


def test_what_counts_as_orthogonal_without_a_word():
    assert is_orthogonal(np.eye(3) + 1e-12)
    assert not is_orthogonal(np.eye(3) + 1e-6)
