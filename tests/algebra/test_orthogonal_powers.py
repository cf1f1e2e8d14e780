"""Powers, logarithms and mirrors of orthogonal matrices: laws, examples, refusals, controls."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag, expm

from rope_lab.algebra.orthogonal_powers import adapted_axis, mirror, orthogonal_power, skew_logarithm, split_off
from rope_lab.algebra.rotation import rotation_2d

seeds = st.integers(0, 2**32 - 1)
whole = st.integers(-9, 9)


@st.composite
def orthogonal(draw, det=None, most=7):
    """Random planes with angles that also repeat, vanish or are half turns, beside lone signs, in a random basis."""
    size = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(seeds))
    planes = draw(st.integers(0, size // 2))
    angles = [draw(st.sampled_from([0.0, np.pi, 0.7, 0.7 + 1e-9, 2.5, -1.1])) for _ in range(planes)]
    signs = [draw(st.sampled_from([1.0, -1.0])) for _ in range(size - 2 * planes)]
    P = np.linalg.qr(rng.normal(size=(size, size)))[0]
    O = P @ block_diag(*(rotation_2d(a) for a in angles), np.diag(signs)) @ P.T  # noqa: E741
    if det is not None and np.linalg.det(O) * det < 0:
        O = O @ mirror(rng.normal(size=size))  # noqa: E741
    return O


@given(O=orthogonal(), n=whole)
def test_a_power_is_a_product(O, n):  # noqa: E741
    expected = np.linalg.matrix_power(O if n >= 0 else O.T, abs(n))
    np.testing.assert_allclose(orthogonal_power(O, n), expected, atol=1e-11)


@given(O=orthogonal(det=+1), s=st.floats(-4, 4), t=st.floats(-4, 4))
def test_real_powers_add(O, s, t):  # noqa: E741
    product = orthogonal_power(O, s) @ orthogonal_power(O, t)
    np.testing.assert_allclose(product, orthogonal_power(O, s + t), atol=1e-10)


@given(O=orthogonal(det=+1), t=st.floats(-3, 3))
def test_the_logarithm_is_skew_short_and_undone_by_the_exponential(O, t):  # noqa: E741
    B = skew_logarithm(O)
    assert (B == -B.T).all()
    assert np.linalg.norm(B, 2) <= np.pi + 1e-9
    np.testing.assert_allclose(expm(B), O, atol=1e-10)
    np.testing.assert_allclose(expm(t * B), orthogonal_power(O, t), atol=1e-10)


def test_a_large_position_keeps_its_parity():
    O = block_diag(rotation_2d(0.5), [[-1.0]])  # noqa: E741
    for n in (10**9, 10**9 + 1, -3, 2.0, np.float64(5.0), np.int64(4)):
        assert orthogonal_power(O, n)[2, 2] == pytest.approx(-1 if n % 2 else 1)


@settings(max_examples=30)
@given(O=orthogonal(det=-1), seed=seeds, n=whole)
def test_the_adapted_mirror_commutes(O, seed, n):  # noqa: E741
    v = adapted_axis(O)
    np.testing.assert_allclose(O @ v, -v, atol=1e-10)
    O_plus, M = split_off(O, axis=v)
    assert np.linalg.det(O_plus) == pytest.approx(1)
    np.testing.assert_allclose(O_plus @ M, O, atol=1e-12)
    repaired = (M if n % 2 else np.eye(len(O))) @ expm(n * skew_logarithm(O_plus))
    np.testing.assert_allclose(repaired, orthogonal_power(O, n), atol=1e-9)
    # Any axis splits a mirror off; what fails is the power.
    O_plus, M = split_off(O, axis=np.random.default_rng(seed).normal(size=len(O)))
    np.testing.assert_allclose(O_plus @ M, O, atol=1e-12)
    assert np.linalg.det(O_plus) == pytest.approx(1)


def test_control_a_coordinate_mirror_does_not_give_the_power():
    O = np.array([[0.0, 1.0], [1.0, 0.0]])  # noqa: E741
    O_plus, M = split_off(O, axis=[0.0, 1.0])
    np.testing.assert_allclose(O_plus, rotation_2d(np.pi / 2), atol=1e-15)
    np.testing.assert_allclose(M @ M @ O_plus @ O_plus, -np.eye(2), atol=1e-15)
    np.testing.assert_allclose(orthogonal_power(O, 2), np.eye(2), atol=1e-15)


@given(seed=seeds, size=st.integers(1, 6), scale=st.sampled_from([1e-200, 1.0, 1e200]))
def test_a_mirror_is_its_own_inverse(seed, size, scale):
    v = scale * np.random.default_rng(seed).normal(size=size)
    M = mirror(v)
    np.testing.assert_allclose(M @ M, np.eye(size), atol=1e-12)
    np.testing.assert_allclose(M @ v, -v, rtol=1e-10)
    assert np.linalg.det(M) == pytest.approx(-1)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: orthogonal_power(np.diag([1.0, -1.0]), 0.5), ValueError, "n: expected a whole number, because O has"),
        (lambda: orthogonal_power(np.eye(2), "2"), TypeError, "n: expected a number, got '2'"),
        (lambda: orthogonal_power(np.eye(2), True), TypeError, "n: expected a number, got True"),
        (lambda: orthogonal_power(np.eye(2), np.inf), ValueError, "n: expected a finite number"),
        (lambda: orthogonal_power(2 * np.eye(2), 1), ValueError, "O: expected an orthogonal matrix"),
        (lambda: skew_logarithm(np.diag([1.0, -1.0])), ValueError, "got one with determinant -1"),
        (lambda: adapted_axis(np.eye(3)), ValueError, "got one with determinant \\+1"),
        (lambda: mirror([0.0, 0.0]), ValueError, "axis: expected one vector that is not zero, got zeros only"),
        (lambda: mirror(np.eye(2)), ValueError, r"got shape \(2, 2\)"),
        (lambda: mirror(2.0), ValueError, r"got shape \(\)"),
        (lambda: split_off(np.eye(2), axis=[1.0, 0, 0]), ValueError, "axis: expected 2 entries"),
    ],
)
def test_refusals(call, error, says):
    with pytest.raises(error, match=says):
        call()
