r"""Positions with two coordinates: one generator for each, and the law that holds if and only if the two commute.

>>> J = np.array([[0.0, -1.0], [1.0, 0.0]])
>>> grid_turn(0.25, 0.25, B_1=np.pi * J, B_2=np.pi * J).round(12) + 0.0  # a quarter turn
array([[ 0., -1.],
       [ 1.,  0.]])
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import expect_float, expect_list, expect_shapes, expect_skew
from rope_lab.algebra.generators import exponential

__all__ = ["grid_law_residual", "grid_turn"]


def grid_turn(x: float, y: float, *, B_1: ArrayLike, B_2: ArrayLike) -> Float64[np.ndarray, "d d"]:
    """The matrix of a place on a grid: $R_{x,y} = e^{x B_1 + y B_2}$.

    Args:
        x: A real number.
        y: A real number.
        B_1: (d, d), skew, radians per step of x.
        B_2: (d, d), skew, radians per step of y.

    Returns:
        (d, d), float64.

    Raises:
        ValueError: If a generator is not skew.

    Claims:
        ``book.grid-commute``

    >>> J = np.array([[0.0, -1.0], [1.0, 0.0]])
    >>> grid_turn(np.pi, 0.0, B_1=J, B_2=2 * J).round(12) + 0.0
    array([[-1.,  0.],
           [ 0., -1.]])
    """
    first, second = expect_shapes(B_1=(expect_skew(B_1, name="B_1"), "d d"), B_2=(expect_skew(B_2, name="B_2"), "d d"))
    return exponential(expect_float(x, name="x") * first + expect_float(y, name="y") * second)


def grid_law_residual(B_1: ArrayLike, B_2: ArrayLike, *, span: tuple[float, ...] = (-1.0, 0.0, 0.5, 2.0)) -> float:
    r"""The largest error of $R_p^\top R_{p'} = R_{p' - p}$ over all pairs of places with coordinates in ``span``.

    Args:
        B_1: (d, d), skew, radians per step of x.
        B_2: (d, d), skew, radians per step of y.
        span: The coordinates that are tried.

    Returns:
        A float.

    Claims:
        ``book.grid-commute``

    >>> J = np.array([[0.0, -1.0], [1.0, 0.0]])
    >>> grid_law_residual(J, 2 * J) < 1e-12
    True
    """
    (ends,) = expect_shapes(span=(expect_list(span, name="span", most=8), "places"))
    if not len(ends):
        raise ValueError("span: expected one coordinate at least, got none; such as (0.0, 1.0)")
    places = [(x, y) for x in ends.tolist() for y in ends.tolist()]
    at = {place: grid_turn(*place, B_1=B_1, B_2=B_2) for place in places}
    return max(
        float(np.abs(at[p].T @ at[s] - grid_turn(s[0] - p[0], s[1] - p[1], B_1=B_1, B_2=B_2)).max())
        for p in places
        for s in places
    )
