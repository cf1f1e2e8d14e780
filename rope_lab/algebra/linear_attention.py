r"""Linear attention with positions: its kernel, and which changes of basis a ReLU lets through.

>>> q, k = np.array([1.0, 0.0]), np.array([1.0, 0.0])
>>> kernel(q, k, np.eye(2)), kernel(q, k, -np.eye(2))
(1.0, -1.0)
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import expect_even, expect_float, expect_real, expect_rule, expect_shapes, expect_square

__all__ = ["hadamard_witness", "kernel", "mixed_basis", "relu", "relu_blocks"]


def relu(x: ArrayLike) -> Float64[np.ndarray, "*shape"]:
    r"""The feature map $\max(x, 0)$, entry by entry, in float64.

    Args:
        x: Reals of any shape.

    Returns:
        The shape of x, float64.

    >>> relu([-1.0, 2.0])
    array([0., 2.])
    """
    return np.maximum(expect_real(x, name="x"), 0.0)


def kernel(
    q: Float64[np.ndarray, " d"],
    k: Float64[np.ndarray, " d"],
    R: Float64[np.ndarray, "d d"],
    *,
    feature: Callable[[np.ndarray], np.ndarray] = relu,
) -> float:
    r"""The kernel of linear attention, in the place of $e^{\text{logit}}$: $\phi(q)^\top R\, \phi(k)$.

    Args:
        q: (d,).
        k: (d,).
        R: (d, d), the relative matrix of the offset.
        feature: $\phi$.

    Returns:
        A float.

    Claims:
        ``su6.linattn-identity``

    >>> kernel(np.array([1.0, -2.0]), np.array([3.0, 4.0]), np.eye(2))
    3.0
    """
    q, k, R = expect_shapes(q=(q, "d"), k=(k, "d"), R=(R, "d d"))
    feature = expect_rule(feature, name="feature")
    return float(feature(q) @ R @ feature(k))


def relu_blocks(O: ArrayLike, *, tolerance: float = 1e-12) -> bool:  # noqa: E741 - the book's letter
    r"""Is an orthogonal matrix a row of plane rotations once its coordinates are sorted, and not otherwise mixed?

    True if and only if a permutation $\Pi$ makes $\Pi O \Pi^\top = \mathrm{diag}(R_{\theta_0}, R_{\theta_1}, \ldots)$.
    With a ReLU before the rotation these are the O that ordinary RoPE of equal width can imitate for all $W_q$, $W_k$.

    Args:
        O: (d, d), orthogonal, d even.
        tolerance: Entries up to here count as zero.

    Returns:
        True or False.

    Raises:
        ValueError: If ``O`` is not square or d is odd.

    Claims:
        ``su6.linattn-not-absorbable``

    >>> relu_blocks([[0.6, 0, -0.8, 0], [0, 1, 0, 0], [0.8, 0, 0.6, 0], [0, 0, 0, 1]])
    True
    >>> relu_blocks([[0.0, 1], [1, 0]])  # a mirror
    False
    """
    O = expect_square(O, name="O")  # noqa: E741
    expect_even(len(O), name="rows of O")
    linked = np.abs(O) > expect_float(tolerance, name="tolerance")
    alone = []
    for i in range(len(O)):
        others = [j for j in np.flatnonzero(linked[i] | linked[:, i]) if j != i]
        if len(others) > 1:
            return False
        if not others:
            alone.append(O[i, i])
            continue
        j = others[0]
        if np.abs(O[i, i] - O[j, j]) > tolerance or np.abs(O[i, j] + O[j, i]) > tolerance:
            return False
    # What is alone has an entry 1 or -1; two equal ones make a plane, turned by nothing or by half a turn.
    kept = sum(bool(entry > 0) for entry in alone)
    return kept % 2 == 0 and (len(alone) - kept) % 2 == 0


def mixed_basis() -> tuple[tuple[Fraction, ...], ...]:
    r"""Half of the 4 x 4 Hadamard matrix: orthogonal, rational, and without a zero.

    >>> [str(entry) for entry in mixed_basis()[1]]
    ['1/2', '-1/2', '1/2', '-1/2']
    """
    return tuple(tuple(Fraction((-1) ** (i & j).bit_count(), 2) for j in range(4)) for i in range(4))


def hadamard_witness() -> tuple[tuple[Fraction, ...], ...]:
    r"""One step of a relative matrix that a ReLU keeps ordinary RoPE of the same width from imitating, in fractions.

    $O = P\,\mathrm{diag}(R_\alpha, R_\beta)\,P^\top$ with $P$ of `mixed_basis`, $\cos\alpha, \sin\alpha = \tfrac35,
    \tfrac45$ and $\cos\beta, \sin\beta = \tfrac5{13}, \tfrac{12}{13}$.

    Claims:
        ``su6.linattn-not-absorbable``

    >>> [str(entry) for entry in hadamard_witness()[0]]
    ['32/65', '56/65', '7/65', '-4/65']
    """
    P, N = np.array(mixed_basis()), np.zeros((4, 4), dtype=object)
    for at, (c, s) in ((0, (Fraction(3, 5), Fraction(4, 5))), (2, (Fraction(5, 13), Fraction(12, 13)))):
        N[at : at + 2, at : at + 2] = [[c, -s], [s, c]]
    return tuple(tuple(row) for row in P @ N @ P.T)
