r"""Which coordinates of the *input* form planes? The pairing that makes a given map as complex-linear as it can be.

The planes of a head are fixed by the rotation. The planes of the residual stream are not: nothing in the model says
which of its coordinates belong together. A map that is exactly complex-linear over some pairing looks half
conjugate-linear over a random one. So before saying "this layer is not complex-linear", look for the best pairing.

A pairing is an orthogonal matrix $J$ with $J^2 = -I$: multiplication by $\mathrm i$.

>>> rng = np.random.default_rng(0)
>>> W = rng.normal(size=(4, 8))
>>> J = best_pairing(W)
>>> linear_share(W, J) > linear_share(W, times_i(8))
True
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import Layout, expect_even, expect_kind, expect_map, expect_narrow, expect_real
from rope_lab.algebra.normal_form import skew_normal_form
from rope_lab.algebra.widely_linear import times_i

__all__ = ["best_pairing", "linear_part", "linear_share", "random_pairing"]


def linear_part(
    W: ArrayLike, J: ArrayLike, *, layout: Layout = "interleaved", out_heads: int = 1
) -> Float64[np.ndarray, "rows columns"]:
    r"""The part of ``W`` that is complex-linear over the pairing ``J`` of its input.

    $\tfrac12 (W - J_\text{out} W J)$, the orthogonal projection onto $J_\text{out} W = W J$

    Args:
        W: (2n, 2m), outputs in rows.
        J: (2m, 2m), orthogonal with $J^2 = -I$.
        layout: Which outputs form a plane.
        out_heads: Heads that the rows hold.

    Returns:
        The shape of W, float64.

    Raises:
        ValueError: If J does not pair W's columns.

    Claims:
        ``book.best-pairing``

    >>> linear_part([[1.0, 0.0], [0.0, 0.0]], times_i(2)).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    W, J = expect_map(W), _pairing(J, columns=np.shape(W)[-1])
    return (W - times_i(len(W), layout=layout, n_heads=out_heads) @ W @ J) / 2


def linear_share(W: ArrayLike, J: ArrayLike, *, layout: Layout = "interleaved", out_heads: int = 1) -> float:
    """The share of the energy $|W|^2$ that is complex-linear over the pairing ``J``: 1 all of it, 0 none.

    Args:
        W: (2n, 2m), outputs in rows.
        J: (2m, 2m), orthogonal with $J^2 = -I$.
        layout: Which outputs form a plane.
        out_heads: Heads that the rows hold.

    Returns:
        A float from 0 to 1.

    Raises:
        ValueError: If J does not pair W's columns.

    Claims:
        ``book.best-pairing``

    >>> linear_share([[1.0, 0.0], [0.0, -1.0]], times_i(2))  # a mirror
    0.0
    """
    part = linear_part(W, J, layout=layout, out_heads=out_heads)
    return float((part**2).sum() / (expect_map(W) ** 2).sum())


def best_pairing(
    *maps: ArrayLike, layout: Layout = "interleaved", out_heads: int = 1
) -> Float64[np.ndarray, "columns columns"]:
    r"""The pairing of the input over which the maps together have the most complex-linear energy.

    $J = P\,\mathrm{diag}(J_1)\,P^\top$ with $\sum W^\top J_\text{out} W = A = P\,\mathrm{diag}(J_{\theta_i})\,P^\top$

    A is skew, and the energy is $\tfrac12 \sum |W|^2 - \tfrac12 \mathrm{tr}(A J)$. No orthogonal J makes
    $-\mathrm{tr}(A J)$ larger than the sum of A's singular values; this one gives just that, so the energy is $\tfrac12
    \sum |W|^2 + \sum_i \theta_i$.

    Args:
        maps: Each (2n, 2m), all with the same input.
        layout: Which outputs form a plane.
        out_heads: Heads that the rows hold.

    Returns:
        (2m, 2m), float64.

    Raises:
        ValueError: If the maps have inputs of different widths.

    Claims:
        ``book.best-pairing``

    >>> best_pairing([[0.0, 1.0], [1.0, 0.0]])  # a mirror is conjugate-linear, and linear if the input turns backwards
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    matrices = [expect_map(W) for W in maps]
    if not matrices or len({W.shape[1] for W in matrices}) != 1:
        widths = [W.shape[1] for W in matrices]
        raise ValueError(f"maps: expected one or more maps of one input, got input widths {widths}; give those alone")
    expect_even(matrices[0].shape[1], name="columns of the maps")
    A = sum(W.T @ times_i(len(W), layout=layout, n_heads=out_heads) @ W for W in matrices)
    P = skew_normal_form((A - A.T) / 2).P
    return P @ times_i(len(P)) @ P.T


def random_pairing(size: int, rng: np.random.Generator) -> Float64[np.ndarray, "size size"]:
    r"""A pairing in a basis drawn at random: what to compare a found one with. $J = Q J_0 Q^\top$, Q uniform.

    Args:
        size: How many coordinates, even.
        rng: NumPy's generator.

    Returns:
        (size, size), float64.

    >>> J = random_pairing(4, np.random.default_rng(0))
    >>> bool(np.allclose(J @ J, -np.eye(4)))
    True
    """
    expect_kind(rng, np.random.Generator, name="rng")
    Q, R = np.linalg.qr(rng.normal(size=(expect_narrow(size, name="size"),) * 2))
    Q = Q * np.sign(np.diag(R))
    return Q @ times_i(size) @ Q.T


def _pairing(J: ArrayLike, *, columns: int) -> Float64[np.ndarray, "columns columns"]:
    J = expect_real(J, name="J")
    if J.shape != (columns, columns):
        raise ValueError(f"J: expected a pairing of {columns} inputs, got shape {J.shape}; best_pairing(W) makes one")
    if (gap := np.abs(J @ J + np.eye(columns)).max()) > 1e-8 or (gap := np.abs(J + J.T).max()) > 1e-8:
        raise ValueError(
            f"J: expected an orthogonal matrix with J J = -I, got one that misses by {gap:.1e}; "
            "times_i(size) is one, and best_pairing(W) another"
        )
    return J
