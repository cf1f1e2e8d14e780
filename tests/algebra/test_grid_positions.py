"""Places with two coordinates: the law holds exactly if the generators commute."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag

from rope_lab.algebra.grid_positions import grid_law_residual, grid_turn
from rope_lab.algebra.rotation import rotation_2d

seeds = st.integers(0, 2**32 - 1)
J = np.array([[0.0, -1.0], [1.0, 0.0]])


def skew(rng, size):
    A = rng.normal(size=(size, size))
    return A - A.T


def common_planes(rng, planes):
    """Two skew matrices that share their planes, and what they turn by."""
    P = np.linalg.qr(rng.normal(size=(2 * planes, 2 * planes)))[0]
    theta = rng.normal(size=(planes, 2))
    B_1, B_2 = (P @ block_diag(*(a * J for a in column)) @ P.T for column in theta.T)
    return (B_1 - B_1.T) / 2, (B_2 - B_2.T) / 2, P, theta


@settings(max_examples=15)
@given(seed=seeds, planes=st.integers(1, 3))
def test_common_planes_commute_and_obey(seed, planes):
    B_1, B_2, P, theta = common_planes(np.random.default_rng(seed), planes)
    assert np.abs(B_1 @ B_2 - B_2 @ B_1).max() < 1e-12
    assert grid_law_residual(B_1, B_2, span=(-1.0, 0.0, 2.5)) < 1e-10
    turned = P @ block_diag(*(rotation_2d(1.5 * a - 2.0 * b) for a, b in theta)) @ P.T
    np.testing.assert_allclose(grid_turn(1.5, -2.0, B_1=B_1, B_2=B_2), turned, atol=1e-11)


@settings(max_examples=15)
@given(seed=seeds, size=st.integers(3, 5))
def test_control_others_do_not(seed, size):
    rng = np.random.default_rng(seed)
    B_1, B_2 = skew(rng, size), skew(rng, size)
    assert np.abs(B_1 @ B_2 - B_2 @ B_1).max() > 1e-3
    assert grid_law_residual(B_1, B_2, span=(-1.0, 0.0, 1.0)) > 1e-3
