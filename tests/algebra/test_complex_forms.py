"""A common phase, a factor for each plane, twice the width: laws over random weights, controls, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra import rotation
from rope_lab.algebra.complex_forms import gauge, phase_average, real_input, widen
from rope_lab.algebra.widely_linear import split, times_i

seeds = st.integers(0, 2**32 - 1)
THETA = np.array([0.9, 0.2])


def forms(W_q, W_k, layout="interleaved"):
    return [W_q.T @ rotation.rotation_matrix(at, theta=THETA, layout=layout) @ W_k for at in (-3, 0, 1, 7.5)]


@given(seed=seeds, layout=st.sampled_from(["interleaved", "half"]))
def test_a_factor_for_each_plane_changes_no_form(seed, layout):
    rng = np.random.default_rng(seed)
    W_q, W_k = rng.normal(size=(2, 4, 6))
    factors = rng.uniform(0.5, 2, 2) * np.exp(1j * rng.uniform(0, 6, 2))
    others = gauge(W_q, W_k, factors, layout=layout)
    np.testing.assert_allclose(forms(*others, layout), forms(W_q, W_k, layout), atol=1e-12)
    assert np.abs(others[0] - W_q).max() > 1e-3


@given(seed=seeds)
def test_the_mean_over_a_common_phase(seed):
    F, J = np.random.default_rng(seed).normal(size=(6, 6)), times_i(6)
    angles = 2 * np.pi * np.arange(3) / 3  # a form has phases -2, 0, 2: three angles average them exactly
    turns = [np.cos(a) * np.eye(6) + np.sin(a) * J for a in angles]
    np.testing.assert_allclose(np.mean([T.T @ F @ T for T in turns], axis=0), phase_average(F), atol=1e-12)


@given(seed=seeds)
def test_a_complex_linear_head_keeps_all_of_its_form(seed):
    W_q, W_k = (split(W)[0] for W in np.random.default_rng(seed).normal(size=(2, 4, 6)))
    for F in forms(W_q, W_k):
        np.testing.assert_allclose(phase_average(F), F, atol=1e-12)


@given(seed=seeds)
def test_twice_the_width_on_real_inputs(seed):
    rng = np.random.default_rng(seed)
    W, x = rng.normal(size=(4, 6)), rng.normal(size=(3, 6))
    wide = widen(W)
    np.testing.assert_allclose(real_input(x) @ wide.T, x @ W.T, atol=1e-12)
    np.testing.assert_allclose(split(wide)[1], 0)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gauge(np.eye(4), np.eye(4), [1.0, 0.0]), "none of them 0"),
        (lambda: gauge(np.eye(4), np.eye(4), [1.0]), "expected 2 complex numbers"),
        (lambda: phase_average(np.ones((2, 4))), "square"),
        (lambda: widen(np.ones((3, 4))), "even"),
    ],
)
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
