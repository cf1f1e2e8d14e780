r"""Half of what? How many dimensions the weights, the forms at one offset and the whole relative families have.

A head of width d on a stream of width D computes $x^\top F_\Delta\, y$ with $F_\Delta = W_q^\top R_\Delta W_k$ and
$\Delta = n - m$. Each count has a closed formula, and `jacobian_rank` finds the same number from the weights alone, in
integers modulo a prime: no rounding, no threshold. A rank modulo a prime, at one point, is never above the true one,
and the formula, which counts matrices of a given rank, is never below it. Where they agree, both are right.

>>> [family_dimension(head_dim=4, width=6, complex_linear=c) for c in (False, True)]
[44, 20]
>>> [jacobian_rank(head_dim=4, width=6, complex_linear=c, offsets=range(5)) for c in (False, True)]
[44, 20]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import expect_even, expect_flag, expect_list, expect_real, expect_whole, shown
from rope_lab.algebra.widely_linear import times_i

__all__ = [
    "PRIME",
    "family_dimension",
    "form_dimension",
    "gauge_dimension",
    "jacobian_rank",
    "value_dimension",
    "value_rank",
    "weight_dimension",
]

PRIME = 2**31 - 1  # products of two residues fit into an int64
LARGEST = 2**11  # numbers in a matrix whose rank is found: its square is what is written down

# Planes turn by angles whose cosine and sine are fractions, so nothing is rounded: (3 + 4i)/5, (5 + 12i)/13, ...
# None of these angles is a rational part of a turn, and no two agree, up to sign or not.
TURNS = (
    (Fraction(3, 5), Fraction(4, 5)),
    (Fraction(5, 13), Fraction(12, 13)),
    (Fraction(15, 17), Fraction(8, 17)),
    (Fraction(7, 25), Fraction(24, 25)),
)
Turn = tuple[Fraction | int, Fraction | int]


def weight_dimension(*, head_dim: int, width: int, complex_linear: bool) -> int:
    """Free numbers in $W_q$ and $W_k$ together: $2dD$, or $dD$ if they are complex-linear.

    Args:
        head_dim: d, even.
        width: D of the stream, even.
        complex_linear: Whether the projections are.

    Returns:
        An int.

    Raises:
        ValueError: If a size is odd.

    Claims:
        ``crope.half-function-space``

    >>> weight_dimension(head_dim=4, width=6, complex_linear=True)
    24
    """
    d, n = _sizes(head_dim, width)
    return d * n if expect_flag(complex_linear, name="complex_linear") else 2 * d * n


def form_dimension(*, head_dim: int, width: int, complex_linear: bool) -> int:
    r"""Dimension of the set of forms $W_q^\top R_\Delta W_k$ at one fixed offset.

    $r\,(2D - r)$ with $r = \min(d, D)$: real D x D matrices of rank r. Complex-linear: half of that, the real dimension
    of complex D/2 x D/2 matrices of rank r/2.

    Args:
        head_dim: d, even.
        width: D of the stream, even.
        complex_linear: Whether the projections are; then it is half, the real dimension of complex D/2 x D/2 matrices
            of rank r/2.

    Returns:
        An int.

    Raises:
        ValueError: If a size is odd.

    Claims:
        ``crope.half-function-space``

    >>> [form_dimension(head_dim=4, width=6, complex_linear=c) for c in (False, True)]
    [32, 16]
    """
    d, n = _sizes(head_dim, width)
    r = min(d, n)
    return r * (2 * n - r) // (2 if expect_flag(complex_linear, name="complex_linear") else 1)


def family_dimension(*, head_dim: int, width: int, complex_linear: bool, theta: ArrayLike | None = None) -> int:
    r"""Dimension of the set of families $\{W_q^\top R_\Delta W_k\}_\Delta$, all whole offsets at once.

    $d(2D - 1)$ for distinct frequencies, and $d(D - 1)$ if complex-linear. A group of g planes that share a frequency
    counts $2r(2D - r)$, $r = \min(g, D)$; one at 0 or $\pi$ counts $s(2D - s)$, $s = \min(2g, D)$; complex-linear $2r(D
    - r)$ with $r = \min(g, D/2)$.

    Dense weights do not tell $\theta$ from $-\theta$; complex-linear ones do. Whole offsets see frequencies mod $2\pi$.

    Args:
        head_dim: d, even.
        width: D of the stream, even.
        complex_linear: Whether the projections are.
        theta: (d/2,), radians per position; None: all distinct, and between 0 and $\pi$.

    Returns:
        An int.

    Raises:
        ValueError: If there is not one frequency for each plane.

    Claims:
        ``crope.half-function-space``, ``unsaid.crope-degenerate``

    >>> family_dimension(head_dim=4, width=6, complex_linear=False, theta=[0.3, 0.3])
    40
    >>> family_dimension(head_dim=32, width=128, complex_linear=True)
    4064
    """
    d, n = _sizes(head_dim, width)
    angles = np.arange(1, d // 2 + 1) / (d + 2) if theta is None else expect_real(theta, name="theta")
    if angles.shape != (d // 2,):
        raise ValueError(
            f"theta: expected {d // 2} frequencies for a head of width {d}, got shape {angles.shape}; "
            "give one for each plane"
        )
    expect_whole(len(angles), name="planes", limit=4096)  # each is compared with each
    total = 0
    for frequency, planes in _groups(angles, up_to_sign=not expect_flag(complex_linear, name="complex_linear")):
        if complex_linear:
            r = min(planes, n // 2)
            total += 2 * r * (n - r)
        elif _real(frequency):
            s = min(2 * planes, n)
            total += s * (2 * n - s)
        else:
            r = min(planes, n)
            total += 2 * r * (2 * n - r)
    return total


def gauge_dimension(*, head_dim: int) -> int:
    r"""The number of directions in $(W_q, W_k)$ that change no logit: $d$, one complex factor for each plane.

    $\tilde q \to \tilde q / \bar\lambda$ and $\tilde k \to \lambda \tilde k$, for distinct frequencies, none of them 0
    or $\pi$.

    Args:
        head_dim: d, even.

    Returns:
        An int.

    Claims:
        ``book.gauge``

    >>> gauge_dimension(head_dim=32)
    32
    """
    return expect_even(head_dim, name="head_dim")


def value_dimension(*, head_dim: int, width: int, complex_linear: bool) -> int:
    r"""Dimension of the set of products $W_o W_v$ of one head, with $W_o$ real and free.

    $d(2D - d)$, and $dD + \tfrac12 d(D - d)$ for a complex-linear $W_v$; here $d \le D$.

    Args:
        head_dim: d, even, at most the width.
        width: D of the stream, even.
        complex_linear: Whether $W_v$ is.

    Returns:
        An int.

    Raises:
        ValueError: If the head is wider than the stream.

    Claims:
        ``unsaid.crope-v``

    >>> [value_dimension(head_dim=4, width=8, complex_linear=c) for c in (False, True)]
    [48, 40]
    """
    d, n = _sizes(head_dim, width)
    if d > n:
        raise ValueError(f"head_dim: expected at most the width {n}, got {d}; a wider head adds nothing to W_o W_v")
    return n * d + d * (n - d) // (2 if expect_flag(complex_linear, name="complex_linear") else 1)


def jacobian_rank(
    *,
    head_dim: int,
    width: int,
    complex_linear: bool,
    offsets: Iterable[int],
    turns: Sequence[Turn] | None = None,
    seed: int = 0,
) -> int:
    r"""Rank of the derivative of $(W_q, W_k) \mapsto (W_q^\top R_\Delta W_k)_\Delta$ at a random point, exactly.

    Args:
        head_dim: d, even.
        width: D of the stream, even.
        complex_linear: Whether the projections are.
        offsets: Which offsets; one gives a form's count, ``range(head_dim + 1)`` the family's.
        turns: (cos, sin) of each plane as fractions; None: distinct ones.
        seed: Of the random point.

    Returns:
        An int; the arithmetic is in integers modulo `PRIME`.

    Raises:
        ValueError: If there are more planes than `TURNS` has.

    Claims:
        ``crope.half-function-space``

    >>> jacobian_rank(head_dim=2, width=2, complex_linear=True, offsets=range(3))
    2
    """
    d, n = _sizes(head_dim, width)
    if turns is None and d // 2 > len(TURNS):
        raise ValueError(f"head_dim: expected at most {2 * len(TURNS)} without turns, got {d}; give turns, one a plane")
    turns = TURNS[: d // 2] if turns is None else expect_list(turns, name="turns")
    if len(turns) != d // 2 or not all(isinstance(t, tuple) and len(t) == 2 for t in turns):
        raise ValueError(f"turns: expected {d // 2} pairs of fractions, (cos, sin), got {shown(turns)}; one a plane")
    rng = np.random.default_rng(expect_whole(seed, name="seed", least=0))
    basis = _basis(d, n, complex_linear)
    W_q, W_k = (np.tensordot(rng.integers(0, PRIME, len(basis)).astype(object), basis, 1) % PRIME for _ in "qk")
    if not (offsets := expect_list(offsets, name="offsets")):
        raise ValueError("offsets: expected one at least, got none; such as [0]")
    rotations = [_rotation(turns, offset) for offset in offsets]
    rows = [np.concatenate([(E.T @ R % PRIME @ W_k % PRIME).ravel() for R in rotations]) for E in basis]
    rows += [np.concatenate([(W_q.T @ R % PRIME @ E % PRIME).ravel() for R in rotations]) for E in basis]
    return _rank(np.array(rows))


def value_rank(*, head_dim: int, width: int, complex_linear: bool, seed: int = 0) -> int:
    r"""Rank of the derivative of $(W_o, W_v) \mapsto W_o W_v$ at a random point, with $W_o$ real.

    Args:
        head_dim: d, even.
        width: D of the stream, even.
        complex_linear: Whether $W_v$ is.
        seed: Of the random point.

    Returns:
        An int.

    Claims:
        ``unsaid.crope-v``

    >>> value_rank(head_dim=2, width=8, complex_linear=True)
    22
    """
    d, n = _sizes(head_dim, width)
    rng = np.random.default_rng(expect_whole(seed, name="seed", least=0))
    basis = _basis(d, n, complex_linear)
    W_o = rng.integers(0, PRIME, (n, d)).astype(object)
    W_v = np.tensordot(rng.integers(0, PRIME, len(basis)).astype(object), basis, 1) % PRIME
    rows = [(W_o @ E % PRIME).ravel() for E in basis]
    rows += [(E.T @ W_v % PRIME).ravel() for E in _basis(d, n, complex_linear=False)]
    return _rank(np.array(rows))


def _sizes(head_dim: int, width: int) -> tuple[int, int]:
    return expect_even(head_dim, name="head_dim"), expect_even(width, name="width")


def _real(angle: float) -> bool:
    return min(abs(angle % np.pi), np.pi - angle % np.pi) < 1e-9


def _groups(angles: Float64[np.ndarray, " planes"], *, up_to_sign: bool) -> list[tuple[float, int]]:
    """Frequencies that whole offsets cannot tell apart, each with its number of planes."""
    groups: list[list] = []
    for angle in angles.tolist():
        for group in groups:
            same = [angle - group[0]] + ([angle + group[0]] if up_to_sign else [])
            if any(abs((gap + np.pi) % (2 * np.pi) - np.pi) < 1e-9 for gap in same):
                group[1] += 1
                break
        else:
            groups.append([angle, 1])
    return [(angle, planes) for angle, planes in groups]


def _basis(rows: int, columns: int, complex_linear: bool) -> np.ndarray:
    """A basis of the real, or of the complex-linear, matrices: (dimension, rows, columns), Python integers."""
    if rows * columns > LARGEST:
        raise ValueError(f"head_dim, width: expected a product of at most {LARGEST}, got {rows * columns}; take less")
    units = np.eye(rows * columns, dtype=int).reshape(-1, rows, columns)
    if expect_flag(complex_linear, name="complex_linear"):
        J_out, J_in = (times_i(size).astype(int) for size in (rows, columns))
        first = units.reshape(rows, columns, rows, columns)[::2].reshape(-1, rows, columns)
        units = first - J_out @ first @ J_in  # one entry in the first row of a plane decides the second row
    return units.astype(object)


def _rotation(turns: Sequence[Turn], offset: int) -> np.ndarray:
    """The rotation by a whole offset, its fractions as residues."""
    R = np.zeros((2 * len(turns),) * 2, dtype=object)
    for plane, (cos, sin) in enumerate(turns):
        c, s = (Fraction(v).numerator * pow(Fraction(v).denominator, -1, PRIME) % PRIME for v in (cos, sin))
        block, turn = np.eye(2, dtype=object), np.array([[c, -s], [s, c]], dtype=object)
        for _ in range(expect_whole(offset, name="offsets", least=0, limit=LARGEST)):
            block = turn @ block % PRIME
        R[2 * plane : 2 * plane + 2, 2 * plane : 2 * plane + 2] = block
    return R


def _rank(matrix: Any) -> int:
    """Rank modulo `PRIME`, by elimination."""
    A: Int64[np.ndarray, "rows columns"] = np.asarray(matrix % PRIME, dtype=np.int64)
    rank = 0
    for column in range(A.shape[1]):
        if rank == len(A):
            break
        nonzero = np.flatnonzero(A[rank:, column])
        if not nonzero.size:
            continue
        pivot = rank + nonzero[0]
        A[[rank, pivot]] = A[[pivot, rank]]
        A[rank] = A[rank] * pow(int(A[rank, column]), -1, PRIME) % PRIME
        below = A[rank + 1 :]
        below[:] = (below - below[:, column, None] * A[rank] % PRIME) % PRIME
        rank += 1
    return rank
