"""The best pairing of a map's input: it finds a hidden one, nothing beats it, and refusals are in words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra.pairing import best_pairing, linear_part, linear_share, random_pairing
from rope_lab.algebra.widely_linear import split, times_i

seeds = st.integers(0, 2**32 - 1)
LAYOUTS = ("interleaved", "half")


@given(seed=seeds, rows=st.integers(1, 6), planes=st.integers(1, 6), layout=st.sampled_from(LAYOUTS))
def test_over_the_laid_out_pairing_the_part_is_that_of_split(seed, rows, planes, layout):
    W = np.random.default_rng(seed).normal(size=(2 * rows, 2 * planes))
    J = times_i(2 * planes, layout=layout)
    np.testing.assert_allclose(linear_part(W, J, layout=layout), split(W, layout=layout)[0], atol=1e-13)


@given(seed=seeds, planes=st.integers(1, 6), layout=st.sampled_from(LAYOUTS))
def test_a_hidden_pairing_is_found(seed, planes, layout):
    rng = np.random.default_rng(seed)
    hidden = random_pairing(2 * planes, rng)
    W = linear_part(rng.normal(size=(2 * planes + 4, 2 * planes)), hidden, layout=layout)
    found = best_pairing(W, layout=layout)
    assert linear_share(W, hidden, layout=layout) == pytest.approx(1)
    assert linear_share(W, found, layout=layout) == pytest.approx(1)


@given(seed=seeds, planes=st.integers(2, 6))
def test_no_drawn_pairing_beats_it_and_the_energy_is_the_formula_s(seed, planes):
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(2, 6, 2 * planes))
    J = best_pairing(q, k)

    def energy(pairing):
        return sum((linear_part(W, pairing) ** 2).sum() for W in (q, k))

    angles = np.linalg.svd(sum(W.T @ times_i(6) @ W for W in (q, k)), compute_uv=False)  # each twice
    assert energy(J) == pytest.approx(((q**2).sum() + (k**2).sum()) / 2 + angles.sum() / 2)
    assert max(energy(random_pairing(2 * planes, rng)) for _ in range(20)) < energy(J)


def test_a_random_basis_shows_half_of_a_complex_linear_map():
    rng = np.random.default_rng(0)
    W = linear_part(rng.normal(size=(64, 64)), times_i(64))
    shares = [linear_share(W, random_pairing(64, rng)) for _ in range(20)]
    assert linear_share(W, times_i(64)) == pytest.approx(1)
    assert abs(np.mean(shares) - 0.5) < 0.01


def test_many_heads_have_planes_of_their_own():
    W = np.random.default_rng(0).normal(size=(8, 4))
    whole = linear_part(W, times_i(4), layout="half", out_heads=2)
    by_head = np.vstack([linear_part(head, times_i(4), layout="half") for head in W.reshape(2, 4, 4)])
    np.testing.assert_allclose(whole, by_head)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: best_pairing(np.ones((2, 3))), "columns of the maps"),
        (lambda: best_pairing(np.ones((2, 4)), np.ones((2, 6))), r"input widths \[4, 6\]"),
        (best_pairing, "one or more maps"),
        (lambda: linear_part(np.ones((2, 2)), np.eye(2)), "J J = -I"),
        (lambda: linear_part(np.ones((2, 4)), times_i(2)), "pairing of 4 inputs"),
        (lambda: linear_share(np.ones(4), times_i(4)), "expected a matrix"),
        (lambda: best_pairing(np.ones((3, 4))), "whole planes|even"),
    ],
)
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.usefixtures("untyped")
def test_a_square_root_of_minus_one_that_is_not_orthogonal_is_refused():
    J = np.array([[1.0, -2.0], [1.0, -1.0]])
    assert np.array_equal(J @ J, -np.eye(2))
    with pytest.raises(ValueError, match="J: expected an orthogonal matrix with J J = -I"):
        linear_part(np.eye(2), J)
