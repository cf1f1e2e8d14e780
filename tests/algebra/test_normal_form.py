"""The normal forms: the law, adversarial clusters of angles, what is deterministic, and what is refused."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag, expm

from rope_lab.algebra import normal_form, rotation
from rope_lab.algebra.normal_form import orthogonal_normal_form, skew_normal_form

BAR = 1e-12
QUARTER = np.array([[0.0, -1.0], [1.0, 0.0]])
# Angles that tempt an algorithm to divide by their difference.
CLUSTERS = (
    [1.0, 1.0, 1.0, 1.0],
    [0.0, 0.0, 0.0],
    [1.0, 1.0 + 1e-15, 1.0 - 3e-15, 1.0 + 1e-12],
    [1.0, 1.0 + 1e-8, 1.0 + 2e-8],
    [2.0, 1e-8, 1e-16, 1e-200],
    [1e-9, 0.0, 1e-9],
    [np.pi, np.pi - 1e-15, np.pi - 1e-9, np.pi],
    [1e8, 1.0, 1.0, 0.0],
    list(rotation.frequencies(64)),
)


def random_basis(rng, d):
    return np.linalg.qr(rng.normal(size=(d, d)))[0]


def skew_from(theta, rng, *, odd=False):
    core = block_diag(*(t * QUARTER for t in theta), *([[0.0]] if odd else []))
    Q = random_basis(rng, len(core))
    B = Q @ core @ Q.T
    return (B - B.T) / 2


def misses_skew(B):
    form = skew_normal_form(B)
    d = len(B)
    assert np.abs(form.P.T @ form.P - np.eye(d)).max() < BAR
    assert len(form.theta) == d // 2
    assert (form.theta >= 0).all()
    assert (np.diff(form.theta) <= 0).all()
    return np.linalg.norm(form.P @ form.blocks @ form.P.T - B) / max(np.linalg.norm(B), 1e-300)


def misses_orthogonal(O):  # noqa: E741
    form = orthogonal_normal_form(O)
    d = len(O)
    assert np.abs(form.P.T @ form.P - np.eye(d)).max() < BAR
    assert 2 * len(form.theta) + len(form.signs) == d
    assert list(form.signs) in ([], [1.0], [-1.0], [1.0, -1.0])
    assert ((form.theta >= 0) & (form.theta <= np.pi)).all()
    assert (np.diff(form.theta) <= 0).all()
    return np.linalg.norm(form.P @ form.blocks @ form.P.T - O) / np.linalg.norm(O)


@given(
    st.lists(st.sampled_from([0.0, 1e-14, 1e-7, 0.5, 0.5 + 1e-13, 1.0, 3.0, np.pi, 40.0]), min_size=1, max_size=8),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_a_skew_matrix_is_rebuilt_from_its_planes(theta, odd, seed):
    B = skew_from(theta, np.random.default_rng(seed), odd=odd)
    assert misses_skew(B) <= BAR
    size = max(theta)
    assert np.allclose(skew_normal_form(B).theta, sorted(theta, reverse=True), rtol=0, atol=1e-12 * max(size, 1e-300))


@given(
    st.lists(st.sampled_from([0.0, 1e-15, 1e-8, 1.0, 1.0 + 1e-13, 3.0, np.pi - 1e-9, np.pi]), max_size=6),
    st.lists(st.sampled_from([1.0, -1.0]), max_size=5),
    st.integers(0, 2**32 - 1),
)
def test_an_orthogonal_matrix_is_rebuilt_from_its_planes(theta, signs, seed):
    assume(theta or signs)
    core = block_diag(*rotation.rotation_2d(np.array(theta)), np.diag(signs))
    Q = random_basis(np.random.default_rng(seed), len(core))
    O = Q @ core @ Q.T  # noqa: E741
    assert misses_orthogonal(O) <= BAR
    form = orthogonal_normal_form(O)
    lone = [s for s in (1.0, -1.0) if signs.count(s) % 2]
    assert list(form.signs) == lone  # pairs are planes: a pair of -1 is a half turn


@given(st.integers(1, 9), st.floats(1e-100, 1e100), st.integers(0, 2**32 - 1))
def test_any_skew_matrix_of_any_size_of_entries(d, scale, seed):
    A = scale * np.random.default_rng(seed).normal(size=(d, d))
    assert misses_skew(A - A.T) <= BAR


@pytest.mark.parametrize("theta", CLUSTERS)
@pytest.mark.parametrize("odd", [False, True])
def test_clusters(theta, odd):
    rng = np.random.default_rng(5)
    B = skew_from(theta, rng, odd=odd)
    assert misses_skew(B) <= BAR
    if max(theta) < 10:  # expm itself loses digits on large angles
        assert misses_orthogonal(expm(B)) <= 10 * BAR  # the bar is on the form, expm adds its own rounding
    Q = random_basis(rng, 2 * len(theta) + odd)
    core = block_diag(*rotation.rotation_2d(np.array(theta)), *([[-1.0]] if odd else []))
    assert misses_orthogonal(Q @ core @ Q.T) <= BAR


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("d", [64, 255, 256])
def test_large(d):
    rng = np.random.default_rng(d)
    A = rng.normal(size=(d, d))
    assert misses_skew(A - A.T) <= BAR
    assert misses_orthogonal(random_basis(rng, d)) <= BAR
    repeated = np.repeat([2.0, 1.0, 1.0 + 1e-13, 0.0], d // 8)
    assert misses_skew(skew_from(repeated, rng, odd=d % 2 == 1)) <= BAR


@pytest.mark.parametrize("d", [2, 3, 6, 7])
def test_one_missing_flip_changes_what_is_left_over(d):
    rng = np.random.default_rng(d)
    Q = random_basis(rng, d)
    Q = Q * np.linalg.det(Q) if d % 2 else Q @ np.diag([np.linalg.det(Q)] + [1.0] * (d - 1))
    mirrored = Q @ np.diag([-1.0] + [1.0] * (d - 1))
    expected = ([1.0], [-1.0]) if d % 2 else ([], [1.0, -1.0])
    assert list(orthogonal_normal_form(Q).signs) == expected[0]
    assert list(orthogonal_normal_form(mirrored).signs) == expected[1]


def test_the_basis_is_fixed():
    theta = [3.0, 2.0, 0.5]
    core = block_diag(*(t * QUARTER for t in theta))
    assert np.array_equal(skew_normal_form(core).P, np.eye(6))
    assert np.array_equal(skew_normal_form(core).theta, theta)
    rng = np.random.default_rng(3)
    B = skew_from(theta, rng)
    noisy = B + 1e-14 * (lambda A: A - A.T)(rng.normal(size=(6, 6)))
    assert np.allclose(skew_normal_form(B).P, skew_normal_form(noisy).P, atol=1e-11)
    assert np.array_equal(skew_normal_form(B).P, skew_normal_form(B.copy(order="F")).P)
    assert np.allclose(skew_normal_form(-B).theta, theta)  # the other direction: the same speeds


def test_the_two_forms_agree():
    B = skew_from([2.5, 1.0, 0.25], np.random.default_rng(1))
    skew, orthogonal = skew_normal_form(B), orthogonal_normal_form(expm(B))
    assert np.allclose(skew.theta, orthogonal.theta)
    assert np.allclose(skew.P, orthogonal.P)


def test_zero_and_one():
    assert np.array_equal(skew_normal_form(np.zeros((4, 4))).theta, [0.0, 0.0])
    assert np.array_equal(skew_normal_form([[0.0]]).P, [[1.0]])
    assert np.array_equal(orthogonal_normal_form(np.eye(4)).theta, [0.0, 0.0])
    assert np.array_equal(orthogonal_normal_form([[-1.0]]).signs, [-1.0])


def test_a_wrong_sign_in_the_blocks_is_seen():
    """The control: with the planes turned the other way the matrix is not rebuilt."""
    B = skew_from([2.0, 1.0], np.random.default_rng(0))
    form = skew_normal_form(B)
    assert np.linalg.norm(form.P @ form.blocks.T @ form.P.T - B) > 1.0


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([[0.0, 1.0], [1.0, 0.0]], r"skew.*2\.0e\+00"),
        ([[0.0, 1.0]], r"square.*\(1, 2\)"),
        ([[0.0, np.nan], [0.0, 0.0]], "finite"),
        (np.zeros((0, 0)), "square"),
        (np.zeros((2, 2, 2)), "square"),
    ],
)
def test_what_is_not_skew_is_refused(bad, words):
    with pytest.raises(ValueError, match=words):
        skew_normal_form(bad)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([[1.0, 1.0], [0.0, 1.0]], r"orthogonal.*1\.0e\+00"),
        (1e200 * np.eye(2), "orthogonal"),
        ([[1.0, 0.0]], "square"),
        ([[np.inf, 0.0], [0.0, 1.0]], "finite"),
    ],
)
def test_what_is_not_orthogonal_is_refused(bad, words):
    with pytest.raises(ValueError, match=words):
        orthogonal_normal_form(bad)


def test_nearly_skew_is_taken_and_named():
    B = skew_from([1.0, 2.0], np.random.default_rng(0))
    B[0, 1] += 1e-13
    assert normal_form.skew_normal_form(B).theta.shape == (2,)
    with pytest.raises(ValueError, match="skew"):
        skew_normal_form(B + 1e-6)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_almost_orthogonal_stays_near(seed):
    rng = np.random.default_rng(seed)
    O = random_basis(rng, 5) + 1e-10 * rng.normal(size=(5, 5))  # noqa: E741
    form = orthogonal_normal_form(O)
    assert np.abs(form.P @ form.blocks @ form.P.T - O).max() < 1e-8


@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 5, 7]))
def test_the_largest_entry_of_a_lone_axis_is_positive(seed, d):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    for P in (skew_normal_form(A - A.T).P, orthogonal_normal_form(random_basis(rng, d)).P):
        axis = P[:, -1]
        assert axis[np.abs(axis).argmax()] > 0
