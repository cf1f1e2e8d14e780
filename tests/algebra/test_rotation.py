"""The laws of the reference rotation, each with a control that must fail, then examples and refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra.layouts import rotate_elementwise
from rope_lab.algebra.rotation import (
    frequencies,
    layout_permutation,
    logits,
    planes,
    rotate,
    rotation_2d,
    rotation_matrix,
)
from tests import signatures

LAYOUTS = ("interleaved", "half")
layouts = st.sampled_from(LAYOUTS)
head_dims = st.integers(1, 6).map(lambda n: 2 * n)
positions = st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6))
seeds = st.integers(0, 2**32 - 1)

EPS = np.finfo(float).eps


def draw(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def slack(*places):
    """What rounding n * theta may cost: the angle's own last digits, some times over."""
    return 1e-12 + 16 * EPS * sum(abs(n) for n in places)


def close(got, expected, *places):
    return bool(np.abs(np.asarray(got) - expected).max() <= slack(*places) * 20)


def relative_error(matrix, q, k, m, n, shift):
    """How far q_m . k_n moves when both positions move by ``shift``."""
    before, after = ((matrix(m + s) @ q) @ (matrix(n + s) @ k) for s in (0, shift))
    return abs(before - after)


@given(angle=st.floats(-1e6, 1e6))
def test_a_plane_turns_counter_clockwise(angle):
    turned = complex(*(rotation_2d(angle) @ [1.0, 0.0]))
    assert abs(turned - np.exp(1j * angle)) < 1e-14
    clockwise = complex(*(rotation_2d(1.0).T @ [1.0, 0.0]))
    assert abs(clockwise - np.exp(1j)) > 1  # control


@given(d=head_dims, n=positions, layout=layouts, seed=seeds)
def test_isometry(d, n, layout, seed):
    R = rotation_matrix(n, theta=frequencies(d), layout=layout)
    assert np.abs(R.T @ R - np.eye(d)).max() < 1e-14
    assert np.linalg.det(R) == pytest.approx(1)
    x = draw(seed, d)
    pairs = x[planes(d, layout=layout)]
    turned = rotate(x, n, theta=frequencies(d), layout=layout)[planes(d, layout=layout)]
    assert np.allclose(np.linalg.norm(turned, axis=-1), np.linalg.norm(pairs, axis=-1))  # in every plane by itself


def test_control_isometry():
    R = rotation_matrix(1, theta=frequencies(4))
    R[0, 1] *= -1  # a dropped sign
    assert np.abs(R.T @ R - np.eye(4)).max() > 0.1


@given(d=head_dims, m=positions, n=positions, layout=layouts)
def test_group_law(d, m, n, layout):
    R = lambda p: rotation_matrix(p, theta=frequencies(d), layout=layout)  # noqa: E731
    assert close(R(m) @ R(n), R(m + n), m, n)
    assert not close(R(1) @ R(1), R(1), 1)  # control


@given(d=head_dims, n=positions, layout=layouts)
def test_inverse_and_identity(d, n, layout):
    R = rotation_matrix(n, theta=frequencies(d), layout=layout)
    assert np.array_equal(rotation_matrix(-n, theta=frequencies(d), layout=layout), R.T)
    assert np.array_equal(rotation_matrix(0, theta=frequencies(d), layout=layout), np.eye(d))
    one = rotation_matrix(1, theta=frequencies(d), layout=layout)
    assert not np.allclose(one, one.T)  # control: one step is not its own inverse
    assert not np.allclose(one, np.eye(d))


@given(d=head_dims, m=positions, n=positions, shift=positions, layout=layouts, seed=seeds)
def test_relativity(d, m, n, shift, layout, seed):
    """q and k stand at positions of their own; only n - m counts, also for negative and non-integer ones."""
    q, k = draw(seed, 2, d)
    R = lambda p: rotation_matrix(p, theta=frequencies(d), layout=layout)  # noqa: E731
    size = np.linalg.norm(q) * np.linalg.norm(k)
    assert relative_error(R, q, k, m, n, shift) <= size * 20 * slack(m, n, shift)
    assert abs((R(m) @ q) @ (R(n) @ k) - q @ R(n - m) @ k) <= size * 20 * slack(m, n)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_control_relativity(layout):
    q, k = np.array([1.0, 0.0, 0.5, 0.0]), np.array([0.3, 1.0, 0.0, -1.0])
    R = lambda p: rotation_matrix(p, theta=frequencies(4), layout=layout)  # noqa: E731
    assert relative_error(R, q, k, 2, 7, 3) < 1e-14
    assert relative_error(lambda p: R(p) + p * np.eye(4), q, k, 2, 7, 3) > 1
    assert abs((R(2) @ q) @ (R(7).T @ k) - q @ R(5) @ k) > 0.1  # k turned backwards: depends on n + m


@given(d=head_dims, n=positions, seed=seeds)
def test_layouts_are_conjugate(d, n, seed):
    theta, p = frequencies(d), layout_permutation(d)
    x = draw(seed, d)
    half = rotate(x[p], n, theta=theta, layout="half")
    assert np.allclose(half, rotate(x, n, theta=theta, layout="interleaved")[p], rtol=0, atol=1e-14)
    R_half, R = (rotation_matrix(n, theta=theta, layout=layout) for layout in ("half", "interleaved"))
    assert np.array_equal(R_half, R[np.ix_(p, p)])
    assert np.array_equal(x[p][np.argsort(p)], x)


def test_control_layouts_are_conjugate():
    x, theta, p = np.arange(8.0), frequencies(8), layout_permutation(8)
    interleaved = rotate(x, 1, theta=theta, layout="interleaved")
    assert not np.allclose(rotate(x, 1, theta=theta, layout="half"), interleaved)
    back = np.argsort(p)  # the permutation the wrong way round
    assert not np.allclose(rotate(x[back], 1, theta=theta, layout="half"), interleaved[back])


@given(d=head_dims, layout=layouts, seed=seeds)
def test_logits_are_the_relative_form(d, layout, seed):
    q, k = draw(seed, 3, d), draw(seed + 1, 4, d)
    at_q, at_k = np.array([-2.5, 0.0, 11.0]), np.array([7.0, -1.0, 0.25, 100.0])
    theta = frequencies(d)
    s = logits(q, k, q_positions=at_q, k_positions=at_k, theta=theta, layout=layout)
    expected = [
        [q_m @ rotation_matrix(n - m, theta=theta, layout=layout) @ k_n for k_n, n in zip(k, at_k, strict=True)]
        for q_m, m in zip(q, at_q, strict=True)
    ]
    assert np.allclose(s, expected)
    assert not np.allclose(s, q @ k.T)  # control: positions count


def test_turning_is_complex_multiplication():
    x, n = draw(0, 5, 6), np.arange(5)
    turned = rotate(x, n, theta=frequencies(6))
    expected = (x[:, ::2] + 1j * x[:, 1::2]) * np.exp(1j * n[:, None] * frequencies(6))
    assert np.allclose(turned[:, ::2] + 1j * turned[:, 1::2], expected)


def test_frequencies_by_hand():
    assert frequencies(4).tolist() == [1.0, 0.01]
    assert np.allclose(frequencies(6, base=1000.0), [1.0, 0.1, 0.01])


def test_very_large_positions_keep_length():
    x = draw(0, 8)
    for n in (1e9, -1e15, 2.0**62, 1e300):
        assert np.linalg.norm(rotate(x, n, theta=frequencies(8))) == pytest.approx(np.linalg.norm(x))


def test_shapes():
    theta = frequencies(4)
    assert rotation_2d(np.zeros((3, 5))).shape == (3, 5, 2, 2)
    assert rotation_matrix([1, 2, 3], theta=theta).shape == (3, 4, 4)
    assert rotate(draw(0, 2, 3, 5, 4), np.arange(5), theta=theta).shape == (2, 3, 5, 4)
    assert rotate(draw(0, 2, 5, 4), draw(1, 2, 5), theta=theta).shape == (2, 5, 4)  # positions of their own
    assert rotate(draw(0, 4), np.arange(7), theta=theta).shape == (7, 4)  # an orbit
    q, k = draw(0, 2, 3, 4), draw(1, 2, 5, 4)
    assert logits(q, k, q_positions=[0, 1, 2], k_positions=range(5), theta=theta).shape == (2, 3, 5)


X, T4 = np.ones((3, 4)), frequencies(4)
REFUSALS = {
    "odd head_dim": (lambda: frequencies(5), ValueError, "even integer, got 5"),
    "no head_dim": (lambda: frequencies(0), ValueError, "even integer, got 0"),
    "head_dim a float": (lambda: frequencies(4.0), TypeError, "got 4.0"),
    "head_dim a bool": (lambda: layout_permutation(True), TypeError, "got True"),
    "base zero": (lambda: frequencies(4, base=0), ValueError, "positive number, got 0"),
    "base too large for a float": (lambda: frequencies(4, base=10**400), ValueError, "finite positive number"),
    "base nan": (lambda: frequencies(4, base=float("nan")), ValueError, "positive number, got nan"),
    "base text": (lambda: frequencies(4, base="10000"), TypeError, "got '10000'"),
    "unknown layout": (lambda: planes(4, layout="split"), ValueError, "\"half\" .*, got 'split'"),
    "layout a number": (lambda: rotate(X, 1, theta=T4, layout=2), ValueError, "got 2"),
    "position text": (lambda: rotate(X, "3", theta=T4), TypeError, "positions: expected real numbers, got '3'"),
    "position none": (lambda: rotation_matrix(None, theta=T4), TypeError, "position: .* got None"),
    "position bool": (lambda: rotate(X, [True, False, True], theta=T4), TypeError, "got dtype bool"),
    "position complex": (lambda: rotate(X, 1j, theta=T4), TypeError, "expected real numbers"),
    "position nan": (lambda: rotate(X, [0, 1, np.nan], theta=T4), ValueError, "finite numbers, got nan"),
    "position ragged": (lambda: rotate(X, [[1], [1, 2]], theta=T4), ValueError, "ragged"),
    "angle infinite": (lambda: rotation_2d(np.inf), ValueError, "angle: expected finite numbers, got inf"),
    "lengths": (lambda: rotate(X, [0, 1], theta=T4), ValueError, r"broadcasts with \(3,\).*got \(2,\)"),
    "width": (lambda: rotate(X, 1, theta=frequencies(6)), ValueError, r"\(\.\.\., 6\).*got shape \(3, 4\)"),
    "x a number": (lambda: rotate(1.0, 1, theta=0.5), ValueError, r"got shape \(\)"),
    "x complex": (lambda: rotate(X + 1j, 1, theta=T4), TypeError, "x: expected real numbers"),
    "theta of rank 2": (lambda: rotate(X, 1, theta=[[1.0, 0.1]]), ValueError, r"theta: .*got shape \(1, 2\)"),
    "theta empty": (lambda: rotate(X, 1, theta=[]), ValueError, r"theta: .*got shape \(0,\)"),
    "q of rank 1": (lambda: logits(X[0], X, q_positions=0, k_positions=0, theta=T4), ValueError, r"q: .*\(4,\)"),
}


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_say_expected_got_and_fix(name):
    call, kind, words = REFUSALS[name]
    with pytest.raises(kind, match=words) as caught:
        call()
    assert "expected" in str(caught.value)
    assert ";" in str(caught.value)  # the fix stands behind it


def test_signatures_are_enforced_here():
    """The control of the shape checks: a wrong type is caught by the signature under pytest."""
    with pytest.raises(TypeError, match="typechecking parameter 'layout'"):
        planes(4, layout="split")


def test_of_each_function_the_first_calls_of_a_test_are_checked(monkeypatch):
    monkeypatch.setattr(signatures, "LIMIT", 3)
    for _ in range(2):
        signatures.new_test()
        for _ in range(3):
            with pytest.raises(TypeError, match="typechecking parameter 'layout'"):
                planes(4, layout="split")
        with pytest.raises(ValueError, match="layout: expected"):
            planes(4, layout="split")
    monkeypatch.setattr(signatures, "LIMIT", float("inf"))
    with pytest.raises(TypeError, match="typechecking parameter 'layout'"):
        planes(4, layout="split")


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("form", [rotate, rotate_elementwise])
def test_one_vector_is_taken_and_one_number_is_not(form):
    np.testing.assert_allclose(form([1.0, 0.0], np.pi / 2, theta=[1.0]), [0.0, 1.0], atol=1e-15)
    with pytest.raises(ValueError, match=r"x: expected \(\.\.\., 2\) for 1 frequencies, got shape \(\)"):
        form(1.0, 0.0, theta=[1.0])
