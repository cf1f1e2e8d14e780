"""Which relative matrices a ReLU lets ordinary RoPE imitate, and the witness it does not."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import block_diag

from rope_lab.algebra.linear_attention import hadamard_witness, kernel, mixed_basis, relu, relu_blocks
from rope_lab.algebra.rotation import rotation_2d

seeds = st.integers(0, 2**32 - 1)
angles = st.sampled_from([0.0, np.pi, 0.4, 1.9, -2.2])


@given(turns=st.lists(angles, min_size=1, max_size=4), seed=seeds)
def test_planes_in_any_order_are_recognised(turns, seed):
    order = np.random.default_rng(seed).permutation(2 * len(turns))
    O = block_diag(*(rotation_2d(a) for a in turns))[np.ix_(order, order)]  # noqa: E741
    assert relu_blocks(O)


@given(seed=seeds, turns=st.lists(st.sampled_from([0.4, 1.9, -2.2]), min_size=2, max_size=3, unique=True))
def test_control_mixed_planes_are_not(seed, turns):
    size = 2 * len(turns)
    P = np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0]
    assert not relu_blocks(P @ block_diag(*(rotation_2d(a) for a in turns)) @ P.T)


@pytest.mark.parametrize(
    "O", [np.diag([1.0, -1.0]), [[0.0, 1], [1, 0]], np.eye(4)[[1, 2, 3, 0]], np.diag([1.0, 1, 1, -1])]
)
def test_control_mirrors_and_cycles_are_not(O):  # noqa: E741
    assert not relu_blocks(O)


def test_in_two_dimensions_every_rotation_is_a_block():
    assert all(relu_blocks(rotation_2d(a)) for a in np.linspace(-4, 4, 33))


def test_the_witness_is_rational_orthogonal_and_full():
    O, P = hadamard_witness(), mixed_basis()  # noqa: E741
    for matrix in (O, P):
        rows = [[sum(a * b for a, b in zip(r, s, strict=True)) for s in matrix] for r in matrix]
        assert rows == [[Fraction(int(i == j)) for j in range(4)] for i in range(4)]
    assert all(entry for row in O for entry in row)
    assert not relu_blocks(np.array(O, dtype=float))


@given(seed=seeds)
def test_positive_monomials_pass_through_a_relu(seed):
    rng = np.random.default_rng(seed)
    C = np.diag(rng.uniform(0.2, 3, size=4))[rng.permutation(4)]
    x = rng.normal(size=4)
    np.testing.assert_allclose(relu(C @ x), C @ relu(x))
    mixed = np.array(mixed_basis(), dtype=float)
    assert np.abs(relu(mixed @ [1.0, -1, 0, 0]) - mixed @ relu([1.0, -1, 0, 0])).max() > 0.4  # control


def test_the_kernel_is_the_product_it_says():
    q, k, R = np.array([1.0, -1.0]), np.array([2.0, 3.0]), rotation_2d(0.3)
    assert kernel(q, k, R) == pytest.approx(R[0] @ k)
    assert kernel(q, k, R, feature=np.exp) == pytest.approx(np.exp(q) @ R @ np.exp(k))


@pytest.mark.usefixtures("untyped")
def test_refusals():
    with pytest.raises(ValueError, match="rows of O: expected a positive even integer, got 3"):
        relu_blocks(np.eye(3))
