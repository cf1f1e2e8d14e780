r"""Powers and logarithms of an orthogonal matrix, and how to split a mirror off one with determinant -1.

>>> O = np.array([[0.0, 1.0], [1.0, 0.0]])  # a mirror: O O = I
>>> orthogonal_power(O, 7).round(12) + 0.0
array([[0., 1.],
       [1., 0.]])

Everything goes through the normal form $O = P\,\mathrm{diag}(R_{\theta_0}, R_{\theta_1}, \ldots, \pm 1)\,P^\top$.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import expect_float, expect_number, expect_real
from rope_lab.algebra.normal_form import SkewForm, orthogonal_normal_form

__all__ = ["adapted_axis", "mirror", "orthogonal_power", "skew_logarithm", "split_off"]

Matrix = Float64[np.ndarray, "d d"]


def orthogonal_power(O: ArrayLike, n: float | np.integer) -> Matrix:  # noqa: E741 - the book's letter
    r"""The power of an orthogonal matrix, plane by plane.

    $O^n = P\,\mathrm{diag}(R_{n\theta_0}, R_{n\theta_1}, \ldots, (\pm 1)^n)\,P^\top$

    Between whole numbers the power is $e^{nB}$ with the B of `skew_logarithm`, and no more unique than B.

    Args:
        O: (d, d), orthogonal.
        n: Any whole number, negative ones too; and any real number if $\det O = 1$.

    Returns:
        (d, d), float64.

    Raises:
        ValueError: If O is not orthogonal, or if $\det O = -1$ and n is not whole.

    Claims:
        ``su6.det-minus-conclusion``, ``su6.orthogonal-power``

    >>> orthogonal_power([[-1.0, 0], [0, -1]], 0.5).round(12) + 0.0  # half of a half turn
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    form, n = orthogonal_normal_form(O), expect_number(n, name="n", fix="give a position, such as 3")
    expect_float(n, name="n")
    if form.signs.prod() < 0 and n % 1:
        raise ValueError(
            f"n: expected a whole number, because O has determinant -1, got {n:g}; a mirror cannot be done in part"
        )
    # A lone +1 stays; a lone -1 is here only with a whole n.
    signs = np.where(form.signs > 0, 1.0, -1.0 if n % 2 else 1.0)
    return form.P @ form._replace(theta=n * form.theta, signs=signs).blocks @ form.P.T


def skew_logarithm(O: ArrayLike) -> Matrix:  # noqa: E741
    r"""A skew matrix whose exponential is the orthogonal matrix.

    $B = P\,\mathrm{diag}(J_{\theta_0}, J_{\theta_1}, \ldots)\,P^\top$ with $0 \le \theta_i \le \pi$, so $e^B = O$

    It is the shortest such B. It is unique unless some angle is $\pi$: two eigenvalues -1 are a half turn, in either
    direction, and four leave the planes open too.

    Args:
        O: (d, d), orthogonal, with determinant 1.

    Returns:
        (d, d), float64.

    Raises:
        ValueError: If O is not orthogonal, or has determinant -1.

    Claims:
        ``su6.det1-converse``

    >>> skew_logarithm([[0.0, -1], [1, 0]]).round(4) + 0.0  # a quarter turn
    array([[ 0.    , -1.5708],
           [ 1.5708,  0.    ]])
    """
    form = orthogonal_normal_form(O)
    if form.signs.prod() < 0:
        raise ValueError(
            "O: expected an orthogonal matrix with determinant +1, got one with determinant -1; no real "
            "matrix has it as exponential: split a mirror off first, with split_off"
        )
    B = form.P @ SkewForm(form.P, form.theta).blocks @ form.P.T
    return (B - B.T) / 2


def mirror(axis: ArrayLike) -> Matrix:
    r"""The mirror that sends one axis to its opposite and keeps what is perpendicular to it.

    $M_v = I - 2\,\frac{v v^\top}{v^\top v}$

    Args:
        axis: v, (d,), of any length but 0.

    Returns:
        (d, d), float64.

    Raises:
        ValueError: If ``axis`` is not a vector, or is zero.

    Claims:
        ``book.mirror-commutes``

    >>> mirror([0.0, 3.0])
    array([[ 1.,  0.],
           [ 0., -1.]])
    """
    v = expect_real(axis, name="axis")
    if v.ndim != 1 or not v.any():
        got = f"shape {v.shape}" if v.ndim != 1 else "zeros only"
        raise ValueError(f"axis: expected one vector that is not zero, got {got}; give the direction to flip")
    v = v / np.abs(v).max()
    return np.eye(len(v)) - 2 * np.outer(v, v) / (v @ v)


def adapted_axis(O: ArrayLike) -> Float64[np.ndarray, " d"]:  # noqa: E741
    """The unit vector that an orthogonal matrix with determinant -1 sends to its opposite: $O v = -v$.

    If O flips several axes, it is one of them.

    Args:
        O: (d, d), orthogonal, with determinant -1.

    Returns:
        (d,), float64, with a positive largest entry.

    Raises:
        ValueError: If O is not orthogonal, or has determinant +1.

    Claims:
        ``book.minus-one-eigenvalue``

    >>> adapted_axis([[0.0, 1], [1, 0]]).round(4)
    array([ 0.7071, -0.7071])
    """
    form = orthogonal_normal_form(O)
    if form.signs.prod() > 0:
        raise ValueError(
            "O: expected an orthogonal matrix with determinant -1, got one with determinant +1; "
            "it has a logarithm, so no mirror has to be split off"
        )
    return form.P[:, -1]  # the lone -1 comes last


def split_off(O: ArrayLike, *, axis: ArrayLike) -> tuple[Matrix, Matrix]:  # noqa: E741
    r"""Split a mirror off: $O = O_+ M_v$, with $\det O_+ = -\det O$.

    Along a coordinate axis this is the factorisation of part 6. Along `adapted_axis` the two factors commute, so $O^n =
    M_v^n O_+^n$.

    Args:
        O: (d, d), orthogonal.
        axis: v, (d,).

    Returns:
        $O_+ = O M_v$ and $M_v$, each (d, d), float64.

    Raises:
        ValueError: If O is not orthogonal or the axis does not fit it.

    Claims:
        ``su6.det-minus-factor``, ``su6.det-minus-power``

    >>> O = [[0.0, 1], [1, 0]]
    >>> O_plus, M = split_off(O, axis=[0.0, 1])
    >>> float(np.abs(O_plus @ M - M @ O_plus).max())
    2.0
    >>> O_plus, M = split_off(O, axis=adapted_axis(O))
    >>> bool(np.abs(O_plus @ M - M @ O_plus).max() < 1e-15)
    True
    """
    form, M = orthogonal_normal_form(O), mirror(axis)
    if len(M) != len(form.P):
        raise ValueError(f"axis: expected {len(form.P)} entries, one for each row of O, got {len(M)}")
    return np.asarray(O, dtype=float) @ M, M
