"""Laws of the split of a real map: it rejoins, it is orthogonal, and the parts do with i what their names say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra import layouts, rotation, widely_linear

sizes = st.integers(1, 6)
heads = st.integers(1, 3)
kinds = st.sampled_from(["interleaved", "half"])
seeds = st.integers(0, 2**32 - 1)


def close(a, b):
    return np.allclose(a, b, rtol=0, atol=1e-12)


@given(planes=sizes, n_heads=heads, kind=kinds, seed=seeds)
def test_back_and_forth(planes, n_heads, kind, seed):
    where = {"layout": kind, "n_heads": n_heads}
    x = np.random.default_rng(seed).normal(size=(2, 3, 2 * planes * n_heads))
    z = widely_linear.to_complex(x, **where)
    assert z.shape == (2, 3, planes * n_heads)
    assert (widely_linear.to_real(z, **where) == x).all()
    J = widely_linear.times_i(x.shape[-1], **where)
    assert close(widely_linear.to_complex(x @ J.T, **where), 1j * z)
    assert (J @ J + np.eye(len(J)) == 0).all()


@given(n=sizes, m=sizes, out_heads=heads, in_heads=heads, kind=kinds, seed=seeds)
def test_the_split(n, m, out_heads, in_heads, kind, seed):
    rng = np.random.default_rng(seed)
    where = {"layout": kind, "out_heads": out_heads, "in_heads": in_heads}
    W, x = rng.normal(size=(2 * n * out_heads, 2 * m * in_heads)), rng.normal(size=2 * m * in_heads)
    linear, conjugate = widely_linear.split(W, **where)
    A, B = widely_linear.complex_parts(W, **where)
    assert close(linear + conjugate, W)
    assert close(widely_linear.join(A, B, **where), W)
    assert close(widely_linear.join(A, 0 * B, **where), linear)
    J_out = widely_linear.times_i(len(W), layout=kind, n_heads=out_heads)
    J_in = widely_linear.times_i(len(x), layout=kind, n_heads=in_heads)
    assert close(J_out @ linear, linear @ J_in)
    assert close(J_out @ conjugate, -conjugate @ J_in)
    assert abs((linear * conjugate).sum()) < 1e-10
    assert np.allclose(widely_linear.energies(W, **where), [(linear**2).sum(), (conjugate**2).sum()])
    z = widely_linear.to_complex(x, layout=kind, n_heads=in_heads)
    assert close(widely_linear.to_complex(W @ x, layout=kind, n_heads=out_heads), A @ z + B @ z.conj())
    assert not close(J_out @ W, W @ J_in)  # control: a real map as it comes is not complex-linear
    again = widely_linear.split(linear, **where)
    assert close(again[0], linear)  # a projection: doing it twice changes nothing
    assert close(again[1], 0)


@given(n=sizes, m=sizes, seed=seeds)
def test_sigma_coordinates_rebuild_every_block(n, m, seed):
    W = np.random.default_rng(seed).normal(size=(2 * n, 2 * m))
    blocks = np.einsum("nmk,kab->namb", widely_linear.sigma_coordinates(W), widely_linear.SIGMA)
    assert close(blocks.reshape(2 * n, 2 * m), W)
    half = widely_linear.sigma_coordinates(W[rotation.layout_permutation(2 * n)], layout="half")
    if n > 1 and m > 1:
        assert not np.allclose(half, widely_linear.sigma_coordinates(W))  # control: the columns were forgotten


@given(planes=sizes, kind=kinds, seed=seeds)
def test_a_rotation_is_complex_linear_with_phases_on_the_diagonal(planes, kind, seed):
    theta = np.random.default_rng(seed).uniform(0.1, 3, size=planes)
    R = rotation.rotation_matrix(1.7, theta=theta, layout=kind)
    assert close(widely_linear.complex_matrix(R, layout=kind), np.diag(np.exp(1.7j * theta)))


def test_a_layout_that_does_not_fit_is_refused_with_the_fix():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))
    W = widely_linear.join(A, 0 * A)
    J = widely_linear.times_i(8, layout="half")
    assert np.abs(J @ W - W @ J).max() > 0.3
    with pytest.raises(ValueError, match="does not commute with the rotations"):
        widely_linear.complex_matrix(W, layout="half")
    p = layouts.projection_permutation(1, 8)
    assert close(widely_linear.complex_matrix(W[p][:, p], layout="half"), A)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: widely_linear.split(np.ones((3, 4))), "even integer, got 3; coordinates turn in pairs"),
        (lambda: widely_linear.complex_parts(np.ones((4, 5))), "even integer, got 5"),
        (lambda: widely_linear.to_complex([1.0, 2.0, 3.0]), "even integer, got 3"),
        (lambda: widely_linear.to_complex(np.ones(6), n_heads=2), "whole planes in each of 2 heads, got size 6"),
        (lambda: widely_linear.split(np.ones(4)), r"a matrix \(2n, 2m\), got shape"),
        (lambda: widely_linear.join(np.ones((1, 2)), np.ones((2, 1))), "two matrices of one shape"),
        (lambda: widely_linear.split(np.eye(2), layout="halves"), "layout: expected"),
    ],
)
@pytest.mark.usefixtures("untyped")
def test_refusals(call, reason):
    with pytest.raises(ValueError, match=reason):
        call()


def test_by_hand():
    assert widely_linear.to_complex([1, 2, 3, 4], layout="half", n_heads=2).tolist() == [1 + 2j, 3 + 4j]
    A, B = widely_linear.complex_parts([[0, 1], [1, 0]])  # the mirror at 45 degrees: i times the conjugate
    assert (A.item(), B.item()) == (0, 1j)
