"""The reference for every rotation in the book: matrices in float64, slow and obviously right.

>>> theta = frequencies(4)
>>> q, k = np.array([1.0, 0.0, 2.0, 0.0]), np.array([0.0, 1.0, 1.0, 1.0])
>>> near = rotate(q, 3, theta=theta) @ rotate(k, 5, theta=theta)
>>> far = rotate(q, 1003, theta=theta) @ rotate(k, 1005, theta=theta)
>>> bool(np.isclose(near, far))  # the dot product sees n - m only
True
"""

import numpy as np
from jaxtyping import Float64, Int
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import (
    Layout,
    expect_base,
    expect_even,
    expect_frequencies,
    expect_layout,
    expect_real,
    expect_turning,
)


def rotation_2d(angle: ArrayLike) -> Float64[np.ndarray, "*angles 2 2"]:
    r"""The matrix that turns a plane counter-clockwise by ``angle``.

    $R_\theta = \begin{pmatrix}\cos\theta & -\sin\theta\\ \sin\theta & \cos\theta\end{pmatrix}$

    Args:
        angle: In radians: a number, or an array whose shape leads the result's.

    Returns:
        (..., 2, 2), float64.

    Raises:
        TypeError: If ``angle`` is not real.
        ValueError: If it is not finite.

    Claims:
        ``blog.angle``

    >>> rotation_2d(np.pi / 2).round(12) + 0.0
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    angle = expect_real(angle, name="angle")
    cos, sin = np.cos(angle), np.sin(angle)
    minus_sin = 0.0 - sin  # not -sin: at angle 0 the matrix is I, without a -0.0
    return np.stack([np.stack([cos, minus_sin], axis=-1), np.stack([sin, cos], axis=-1)], axis=-2)


def frequencies(head_dim: int, *, base: float = 10000.0) -> Float64[np.ndarray, "planes"]:
    r"""The frequency of each plane, in radians per position.

    $\theta_i = \mathrm{base}^{-2i/\mathrm{head\_dim}}, \quad i = 0, \ldots, \mathrm{head\_dim}/2 - 1$

    Args:
        head_dim: Width of the head, even. For partial rotary give rotary_dim in its place.
        base: A positive number.

    Returns:
        (head_dim/2,), float64, in radians per position; the first is 1.

    Raises:
        TypeError: If ``head_dim`` is not an int or ``base`` not a number.
        ValueError: If ``head_dim`` is odd or ``base`` not positive.

    Claims:
        ``blog.theta``, ``cross.theta-index``

    >>> frequencies(4)
    array([1.  , 0.01])
    """
    head_dim, base = expect_even(head_dim, name="head_dim"), expect_base(base)
    return base ** (-2.0 * np.arange(head_dim // 2) / head_dim)


def planes(head_dim: int, *, layout: Layout = "interleaved") -> Int[np.ndarray, "planes 2"]:
    r"""The pairs of coordinates that turn together: one row for each plane.

    interleaved: $(2i, 2i+1)$; half: $(i, i + \mathrm{head\_dim}/2)$

    Args:
        head_dim: Width of the head, even.
        layout: "interleaved" or "half".

    Returns:
        (head_dim/2, 2), ints.

    Raises:
        ValueError: If ``head_dim`` is odd or the layout unknown.

    Claims:
        ``blog.pairings``

    >>> planes(6, layout="half").tolist()
    [[0, 3], [1, 4], [2, 5]]
    """
    head_dim, layout = expect_even(head_dim, name="head_dim"), expect_layout(layout)
    index = np.arange(head_dim)
    if layout == "interleaved":
        return index.reshape(-1, 2)
    return index.reshape(2, -1).T


def layout_permutation(head_dim: int) -> Int[np.ndarray, "head_dim"]:
    r"""The index array p that turns an interleaved vector into a half-split one: ``x_half = x_interleaved[..., p]``.

    $p = (0, 2, 4, \ldots, 1, 3, 5, \ldots)$; back again with ``np.argsort(p)``

    Args:
        head_dim: Width of the head, even.

    Returns:
        (head_dim,), ints.

    Claims:
        ``blog.row-swaps``, ``unsaid.layouts``

    >>> layout_permutation(6).tolist()
    [0, 2, 4, 1, 3, 5]
    """
    return planes(head_dim, layout="interleaved").T.reshape(-1)


def rotation_matrix(
    position: ArrayLike, *, theta: ArrayLike, layout: Layout = "interleaved"
) -> Float64[np.ndarray, "*positions head_dim head_dim"]:
    r"""The matrix $\mathcal R_n$ that turns plane i by ``position`` times ``theta[i]`` radians.

    $\mathcal R_n = \mathrm{blockdiag}(R_{n\theta_0}, \ldots, R_{n\theta_{d/2-1}})$ in the interleaved layout; in the
    half-split layout the same 2 x 2 blocks stand on the rows and columns $(i, i + d/2)$.

    Args:
        position: Any finite real number, or an array whose shape leads the result's.
        theta: (head_dim/2,), radians per position; one number serves for a single plane.
        layout: "interleaved" or "half".

    Returns:
        (..., head_dim, head_dim), float64.

    Raises:
        TypeError: If an argument is not real.
        ValueError: If one is not finite, or ``theta`` is not a vector.

    Claims:
        ``su6.blockdiag-form``, ``blog.half-matrix``

    >>> rotation_matrix(1, theta=[np.pi / 2, np.pi]).round(12).astype(int)
    array([[ 0, -1,  0,  0],
           [ 1,  0,  0,  0],
           [ 0,  0, -1,  0],
           [ 0,  0,  0, -1]])
    """
    position, theta = expect_real(position, name="position"), expect_frequencies(theta)
    head_dim = 2 * len(theta)
    R = np.zeros((*position.shape, head_dim, head_dim))
    for (a, b), theta_i in zip(planes(head_dim, layout=layout), theta, strict=True):
        R[..., [[a], [b]], [[a, b]]] = rotation_2d(position * theta_i)
    return R


def rotate(
    x: ArrayLike, positions: ArrayLike, *, theta: ArrayLike, layout: Layout = "interleaved"
) -> Float64[np.ndarray, "*batch head_dim"]:
    r"""Turn each vector of ``x`` by its position.

    $y_t = \mathcal R_{n_t}\, x_t$

    One vector with many positions gives its orbit, (T, head_dim).

    Args:
        x: (..., T, head_dim), or one vector (head_dim,).
        positions: (T,), one number, or what broadcasts with ``x.shape[:-1]``; any finite reals.
        theta: (head_dim/2,), radians per position.
        layout: "interleaved" or "half".

    Returns:
        (..., T, head_dim), float64 whatever came in.

    Raises:
        TypeError: If an argument is not real.
        ValueError: If the lengths do not fit.

    Claims:
        ``blog.angle``, ``unsaid.norm``

    >>> rotate([1.0, 0.0], [0, 1, 2], theta=np.pi / 2).round(12) + 0.0
    array([[ 1.,  0.],
           [ 0.,  1.],
           [-1.,  0.]])
    """
    x, positions, theta = expect_real(x, name="x"), expect_real(positions, name="positions"), expect_frequencies(theta)
    expect_turning(x, theta, positions)
    R = rotation_matrix(positions, theta=theta, layout=layout)
    return (R @ x[..., None])[..., 0]


def logits(
    q: ArrayLike,
    k: ArrayLike,
    *,
    q_positions: ArrayLike,
    k_positions: ArrayLike,
    theta: ArrayLike,
    layout: Layout = "interleaved",
) -> Float64[np.ndarray, "*batch queries keys"]:
    r"""Every query against every key, each rotated by its own position; not divided by the root of head_dim.

    $s_{mn} = (\mathcal R_m q_m)^\top (\mathcal R_n k_n) = q_m^\top \mathcal R_{n-m} k_n$

    The code is the left side; that it equals the right is a test.

    Args:
        q: (..., Tq, head_dim).
        k: (..., Tk, head_dim).
        q_positions: (Tq,), any finite reals.
        k_positions: (Tk,), any finite reals.
        theta: (head_dim/2,), radians per position.
        layout: "interleaved" or "half".

    Returns:
        (..., Tq, Tk), float64.

    Raises:
        ValueError: If ``q`` or ``k`` has no axis for positions, or the lengths do not fit.

    Claims:
        ``blog.inner-chain``

    >>> q, k = [[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]
    >>> logits(q, k, q_positions=[7], k_positions=[7, 7], theta=0.3).round(12) + 0.0
    array([[1., 0.]])
    """
    rotated = []
    for name, x, positions in (("q", q, q_positions), ("k", k, k_positions)):
        if (x := expect_real(x, name=name)).ndim < 2:
            raise ValueError(f"{name}: expected (..., T, d), got shape {x.shape}; write one vector as x[None, :]")
        rotated.append(rotate(x, positions, theta=theta, layout=layout))
    q, k = rotated
    return q @ np.swapaxes(k, -1, -2)
