r"""Which functions of the offset are dot products of vectors of finite width: the exponential polynomials.

>>> hankel_rank([2**r for r in range(9)])  # a decay, read backwards: one number does
1
>>> query, step, key = relative_features([0.0, 1.0, 2.0, 3.0], width=2)  # the linear bias of ALiBi
>>> float(query @ np.linalg.matrix_power(step, 100) @ key)
100.0
"""

from collections.abc import Sequence
from fractions import Fraction
from numbers import Number
from typing import NamedTuple

import mpmath
import numpy as np
import sympy as sp
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import expect_list, expect_real, expect_whole, shown

__all__ = ["RelativeFeatures", "hankel_rank", "relative_features"]


class RelativeFeatures(NamedTuple):
    r"""A query, a step and a key: $g(r) = \mathrm{query}^\top\, \mathrm{step}^r\, \mathrm{key}$."""

    query: Float64[np.ndarray, "width"]
    step: Float64[np.ndarray, "width width"]
    key: Float64[np.ndarray, "width"]


def hankel_rank(values: Sequence[Number | sp.Basic], *, digits: int = 100) -> int:
    r"""The rank of the matrix with the entries $g(i + j)$: how many numbers a query and a key need at least.

    $H = \begin{pmatrix} g(0) & g(1) & \cdots \\ g(1) & g(2) & \cdots \\ \vdots & \vdots & \end{pmatrix}$

    By elimination with complete pivoting on numbers of many digits. A pivot counts if it is above
    $10^{-3\,\mathrm{digits}/4}$ of the largest entry. So values are exact: integers, fractions, SymPy's expressions.
    The rounding of a float would have a rank of its own.

    Args:
        values: $g(0), g(1), \ldots, g(2N-2)$: an odd number of them.
        digits: How many decimal digits the elimination keeps.

    Returns:
        The rank of the N x N matrix.

    Raises:
        TypeError: If a value is a float.
        ValueError: If the number of values is even, or a value is no real number.

    Claims:
        ``book.width-rank``, ``book.width-list``, ``book.width-infinite``

    >>> hankel_rank([sp.cos(r) for r in range(9)]), hankel_rank([sp.Rational(1, 1 + r) for r in range(9)])
    (2, 5)
    """
    expect_whole(digits, name="digits", least=20, limit=10_000)
    if len(values := expect_list(values, name="values")) % 2 == 0:
        raise ValueError(
            f"values: expected an odd number of them, g(0) to g(2N-2) for a matrix of N rows, got {len(values)}; "
            "leave out the last one"
        )
    with mpmath.workdps(digits):
        numbers = [_to_digits(value, digits) for value in values]
        size = (len(numbers) + 1) // 2
        return _rank([numbers[i : i + size] for i in range(size)], mpmath.mpf(10) ** (-3 * digits // 4))


def _to_digits(value: Number | sp.Basic, digits: int) -> mpmath.mpf:
    if not isinstance(value, int | Fraction | sp.Expr | float | np.integer | np.floating) or isinstance(value, bool):
        raise TypeError(f"values: expected exact numbers, got {shown(value)}; give integers, fractions or expressions")
    exact = sp.sympify(value)
    if exact.has(sp.Float):
        raise TypeError(
            f"values: expected exact numbers, got {shown(value)}; its rounding would count as rank, so give integers, "
            "fractions or expressions such as sympy.cos(3)"
        )
    if not exact.is_real or not exact.is_finite:
        raise ValueError(f"values: expected finite real numbers, got {shown(value)}; give one number for each offset")
    return mpmath.mpf(str(sp.N(exact, digits)))


def _rank(rows: list[list[mpmath.mpf]], tolerance: mpmath.mpf) -> int:
    largest, rank = max(abs(entry) for row in rows for entry in row), 0
    while rows and rows[0]:
        size, i, j = max((abs(entry), i, j) for i, row in enumerate(rows) for j, entry in enumerate(row))
        if size <= tolerance * largest:
            break
        pivot = rows.pop(i)
        rows = [
            [
                entry - row[j] / pivot[j] * above
                for c, (entry, above) in enumerate(zip(row, pivot, strict=True))
                if c != j
            ]
            for row in rows
        ]
        rank += 1
    return rank


def relative_features(values: ArrayLike, *, width: int) -> RelativeFeatures:
    r"""A pair of families for a function of the offset: queries $M^{-m\top} a$ and keys $M^n b$.

    $M = H_0^{-1} H_1$ with the Hankel matrices of $g(0), g(1), \ldots$ and of $g(1), g(2), \ldots$; $a$ is the first
    row of $H_0$, and $b = (1, 0, \ldots, 0)$

    Then $a^\top M^r b = g(r)$ for all whole r, negative ones too, if g is an exponential polynomial of this width. For
    any other g it is true of the values that were given, and of no more.

    Args:
        values: (2 width,), $g(0), g(1), \ldots$
        width: How many numbers a query and a key get.

    Returns:
        `RelativeFeatures`, float64.

    Raises:
        ValueError: If the number of values is another one, if a smaller width does, or if no width does because the
            step has no inverse, as for a window.

    Claims:
        ``book.width-rank``

    >>> query, step, key = relative_features(np.cos(np.arange(4)), width=2)
    >>> bool(np.isclose(query @ np.linalg.matrix_power(step, -5) @ key, np.cos(5)))
    True
    """
    expect_whole(width, name="width", least=1, limit=4096)
    g = expect_real(values, name="values")
    if g.shape != (2 * width,):
        raise ValueError(
            f"values: expected {2 * width} of them for the width {width}, got shape {g.shape}; give g(0) to "
            f"g({2 * width - 1})"
        )
    H = np.lib.stride_tricks.sliding_window_view(g, width)  # row i: g(i), ..., g(i + width - 1)
    first, after = H[:width], H[1:]
    if np.linalg.matrix_rank(first) < width:
        raise ValueError(
            f"width: expected the rank of the Hankel matrix, {np.linalg.matrix_rank(first)}, got {width}; give a "
            "smaller width"
        )
    step = np.linalg.solve(first, after)
    if np.linalg.matrix_rank(step) < width:
        raise ValueError(
            "values: expected a function whose step has an inverse, got one with the eigenvalue 0, as a window has; "
            "a mask does that, and no features do"
        )
    return RelativeFeatures(first[0].copy(), step, np.eye(width)[0])
