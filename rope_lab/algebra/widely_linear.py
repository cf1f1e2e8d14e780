r"""A real map between planes, split in two: $\tilde y = A\tilde x + B\bar{\tilde x}$, complex- plus conjugate-linear.

>>> mirror = np.diag([1.0, -1.0])  # the first axis stays, the second is flipped: conjugation
>>> A, B = complex_parts(mirror)
>>> A.item(), B.item()
(0j, (1+0j))
>>> energies(mirror + 2 * np.eye(2))
(8.0, 2.0)
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Complex128, Float64
from numpy.typing import ArrayLike

from rope_lab.algebra import rotation
from rope_lab.algebra.arguments import Layout, expect_complex, expect_even, expect_map, expect_real, expect_whole

__all__ = [
    "SIGMA",
    "complex_matrix",
    "complex_parts",
    "energies",
    "join",
    "sigma_coordinates",
    "split",
    "times_i",
    "to_complex",
    "to_real",
]

SIGMA = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[0, -1], [1, 0]], [[1, 0], [0, -1]]], dtype=np.float64)
"""Identity, mirror at the 45 degree line, quarter turn, mirror at the first axis. All real, unlike Pauli's."""


def to_complex(
    x: ArrayLike, *, layout: Layout = "interleaved", n_heads: int = 1
) -> Complex128[np.ndarray, "*batch planes"]:
    r"""Read every plane of ``x`` as one complex number.

    $\tilde x = x_a + \mathrm i\, x_b$ for the two coordinates a, b of each plane

    Args:
        x: (..., size).
        layout: "interleaved" or "half".
        n_heads: Heads that the last axis holds; only the half-split layout can tell.

    Returns:
        (..., size/2), complex128, head by head.

    Raises:
        ValueError: If the size does not consist of whole planes in each head.

    Claims:
        ``crope.eq8-9``

    >>> to_complex([1, 2, 3, 4]), to_complex([1, 2, 3, 4], layout="half")
    (array([1.+2.j, 3.+4.j]), array([1.+3.j, 2.+4.j]))
    """
    x = expect_real(x, name="x")
    first, second = _coordinates(x.shape[-1] if x.ndim else 1, layout=layout, n_heads=n_heads, name="x")
    return x[..., first] + 1j * x[..., second]


def to_real(
    z: ArrayLike, *, layout: Layout = "interleaved", n_heads: int = 1
) -> Float64[np.ndarray, "*batch features"]:
    """Lay complex numbers out as planes: the inverse of `to_complex`.

    Args:
        z: (..., planes), complex.
        layout: "interleaved" or "half".
        n_heads: Heads that the last axis holds.

    Returns:
        (..., 2 planes), float64.

    Raises:
        ValueError: If the planes do not divide among the heads.

    Claims:
        ``crope.eq8-9``

    >>> to_real([1 + 2j, 3 + 4j], layout="half")
    array([1., 3., 2., 4.])
    """
    z = expect_complex(z, name="z")
    first, second = _coordinates(2 * z.shape[-1] if z.ndim else 1, layout=layout, n_heads=n_heads, name="z")
    x = np.empty((*z.shape[:-1], 2 * z.shape[-1]))
    x[..., first], x[..., second] = z.real, z.imag
    return x


def times_i(size: int, *, layout: Layout = "interleaved", n_heads: int = 1) -> Float64[np.ndarray, "features features"]:
    r"""The real matrix $J$ that multiplies every plane by $\mathrm i$: a quarter turn, with $J^2 = -I$.

    Args:
        size: How many coordinates, even.
        layout: "interleaved" or "half".
        n_heads: Heads that they make.

    Returns:
        (size, size), float64.

    Raises:
        ValueError: If the size does not consist of whole planes in each head.

    Claims:
        ``book.commutes-with-j``

    >>> times_i(2)
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    expect_whole(size, name="size", limit=4096)  # a matrix of more rows fills the memory
    first, second = _coordinates(size, layout=layout, n_heads=n_heads, name="size")
    J = np.zeros((size, size))
    J[second, first], J[first, second] = 1.0, -1.0
    return J


def split(
    W: ArrayLike, *, layout: Layout = "interleaved", out_heads: int = 1, in_heads: int = 1
) -> tuple[Float64[np.ndarray, "two_n two_m"], Float64[np.ndarray, "two_n two_m"]]:
    r"""A real map as the sum of its complex-linear and its conjugate-linear part; each is an orthogonal projection.

    $W = \tfrac12 (W - JWJ) + \tfrac12 (W + JWJ)$; the first commutes with $J$, the second anticommutes

    Args:
        W: (2n, 2m), outputs in rows.
        layout: "interleaved" or "half".
        out_heads: Heads that the rows hold.
        in_heads: Heads that the columns hold.

    Returns:
        The two parts, of W's shape, float64; they are orthogonal to each other in the Frobenius product.

    Raises:
        ValueError: If a side is odd.

    Claims:
        ``book.split``, ``crope.sigma.span``

    >>> linear, conjugate = split([[1, 0], [0, 0]])
    >>> linear.tolist(), conjugate.tolist()
    ([[0.5, 0.0], [0.0, 0.5]], [[0.5, 0.0], [0.0, -0.5]])
    """
    W = expect_map(W)
    rows, columns = W.shape
    turned = times_i(rows, layout=layout, n_heads=out_heads) @ W @ times_i(columns, layout=layout, n_heads=in_heads)
    return (W - turned) / 2, (W + turned) / 2


def complex_parts(
    W: ArrayLike, *, layout: Layout = "interleaved", out_heads: int = 1, in_heads: int = 1
) -> tuple[Complex128[np.ndarray, "n m"], Complex128[np.ndarray, "n m"]]:
    r"""The complex matrices of the two parts: $\tilde y = A\,\tilde x + B\,\bar{\tilde x}$.

    Per block $\begin{pmatrix} p & q\\ r & s\end{pmatrix}$: $A = \tfrac12[(p + s) + \mathrm i (r - q)]$, $B =
    \tfrac12[(p - s) + \mathrm i (r + q)]$.

    Args:
        W: (2n, 2m), outputs in rows.
        layout: "interleaved" or "half".
        out_heads: Heads that the rows hold.
        in_heads: Heads that the columns hold.

    Returns:
        A and B, each (n, m), complex128.

    Raises:
        ValueError: If a side is odd.

    Claims:
        ``crope.sigma.basis``, ``book.split``

    >>> A, B = complex_parts([[1, 2], [3, 4]])
    >>> A.item(), B.item()
    ((2.5+0.5j), (-1.5+2.5j))
    """
    W = expect_map(W)
    a, b = _coordinates(W.shape[0], layout=layout, n_heads=out_heads, name="W")
    c, d = _coordinates(W.shape[1], layout=layout, n_heads=in_heads, name="W")
    p, q, r, s = W[np.ix_(a, c)], W[np.ix_(a, d)], W[np.ix_(b, c)], W[np.ix_(b, d)]
    return ((p + s) + 1j * (r - q)) / 2, ((p - s) + 1j * (r + q)) / 2


def join(
    A: ArrayLike, B: ArrayLike, *, layout: Layout = "interleaved", out_heads: int = 1, in_heads: int = 1
) -> Float64[np.ndarray, "two_n two_m"]:
    r"""The real matrix of $\tilde x \mapsto A\,\tilde x + B\,\bar{\tilde x}$: the inverse of `complex_parts`.

    Args:
        A: (n, m), complex.
        B: (n, m), complex.
        layout: "interleaved" or "half".
        out_heads: Heads that the rows hold.
        in_heads: Heads that the columns hold.

    Returns:
        (2n, 2m), float64.

    Raises:
        ValueError: If the shapes differ.

    Claims:
        ``book.split``

    >>> join([[1j]], [[0]])  # multiplication by i
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    A, B = expect_complex(A, name="A"), expect_complex(B, name="B")
    if A.ndim != 2 or A.shape != B.shape:
        raise ValueError(f"A, B: expected two matrices of one shape, got {A.shape} and {B.shape}; give zeros for none")
    a, b = _coordinates(2 * A.shape[0], layout=layout, n_heads=out_heads, name="A")
    c, d = _coordinates(2 * A.shape[1], layout=layout, n_heads=in_heads, name="A")
    W = np.empty((2 * A.shape[0], 2 * A.shape[1]))
    W[np.ix_(a, c)], W[np.ix_(a, d)] = (A + B).real, (B - A).imag
    W[np.ix_(b, c)], W[np.ix_(b, d)] = (A + B).imag, (A - B).real
    return W


def energies(
    W: ArrayLike, *, layout: Layout = "interleaved", out_heads: int = 1, in_heads: int = 1
) -> tuple[float, float]:
    """The complex-linear and the conjugate-linear energy of a map: $2|A|^2$ and $2|B|^2$, which add to $|W|^2$.

    Args:
        W: (2n, 2m), outputs in rows.
        layout: "interleaved" or "half".
        out_heads: Heads that the rows hold.
        in_heads: Heads that the columns hold.

    Returns:
        Two squared Frobenius norms, floats.

    Raises:
        ValueError: If a side is odd.

    Claims:
        ``book.energies-add``

    >>> energies([[1, 0], [0, -1]])
    (0.0, 2.0)
    """
    A, B = complex_parts(W, layout=layout, out_heads=out_heads, in_heads=in_heads)
    return 2 * float((np.abs(A) ** 2).sum()), 2 * float((np.abs(B) ** 2).sum())


def sigma_coordinates(
    W: ArrayLike, *, layout: Layout = "interleaved", out_heads: int = 1, in_heads: int = 1
) -> Float64[np.ndarray, "n m 4"]:
    r"""Every 2 x 2 block of ``W`` in the basis `SIGMA`: $M = a_0\sigma_0 + a_1\sigma_1 + a_2\sigma_2 + a_3\sigma_3$.

    $A = a_0 + \mathrm i a_2$ and $B = a_3 + \mathrm i a_1$.

    Args:
        W: (2n, 2m), outputs in rows.
        layout: "interleaved" or "half".
        out_heads: Heads that the rows hold.
        in_heads: Heads that the columns hold.

    Returns:
        (n, m, 4), float64.

    Raises:
        ValueError: If a side is odd.

    Claims:
        ``crope.sigma.basis``

    >>> sigma_coordinates([[1, 2], [3, 4]]).ravel()
    array([ 2.5,  2.5,  0.5, -1.5])
    """
    A, B = complex_parts(W, layout=layout, out_heads=out_heads, in_heads=in_heads)
    return np.stack([A.real, B.imag, A.imag, B.real], axis=-1)


def complex_matrix(
    W: ArrayLike, *, layout: Layout = "interleaved", out_heads: int = 1, in_heads: int = 1
) -> Complex128[np.ndarray, "n m"]:
    r"""The complex matrix of a real map that is complex-linear; any other map is refused, with the reason.

    $\tilde y = A\,\tilde x$

    Args:
        W: (2n, 2m), outputs in rows.
        layout: "interleaved" or "half".
        out_heads: Heads that the rows hold.
        in_heads: Heads that the columns hold.

    Returns:
        (n, m), complex128.

    Raises:
        ValueError: If more than rounding is conjugate-linear: most often the layout is not the one that the map was
            built for.

    Claims:
        ``crope.sigma.span``

    >>> complex_matrix([[0, -1], [1, 0]]).item()
    1j
    """
    A, B = complex_parts(W, layout=layout, out_heads=out_heads, in_heads=in_heads)
    linear, conjugate = 2 * (np.abs(A) ** 2).sum(), 2 * (np.abs(B) ** 2).sum()
    if conjugate > 1e-24 * (linear + conjugate):
        share = conjugate / (linear + conjugate)
        raise ValueError(
            f"W: expected a complex-linear map in the {layout} layout, got one whose conjugate-linear part has "
            f"{share:.3g} of the energy, so it does not commute with the rotations; give the layout it was built for, "
            "permute its rows and columns with layouts.projection_permutation, or take split(W)[0]"
        )
    return A


def _coordinates(size: int, *, layout: Layout, n_heads: int, name: str) -> np.ndarray:
    """The first and the second coordinate of every plane, head after head: (2, planes)."""
    size = expect_even(size, name=f"size of {name}" if name != "size" else name)
    if size % (2 * (n_heads := expect_whole(n_heads, name="heads", least=1, most=size))):
        raise ValueError(
            f"{name}: expected whole planes in each of {n_heads} heads, got size {size}; "
            f"a complex number takes two real ones, so use a multiple of {2 * n_heads}"
        )
    one = rotation.planes(size // n_heads, layout=layout)
    heads = size // n_heads * np.arange(n_heads)
    return (heads[:, None, None] + one).reshape(-1, 2).T
