r"""Generators: matrices B with $B^\top = -B$, and the rotations $e^{nB}$ that they make.

>>> from rope_lab.algebra.rotation import rotation_matrix
>>> B = generator_matrix([1.0, 0.01])
>>> bool(np.allclose(power(B, 7), rotation_matrix(7, theta=[1.0, 0.01])))
True
"""

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import expect_float, expect_frequencies, expect_real, expect_skew, expect_square

__all__ = [
    "alias",
    "angles_4d",
    "exponential",
    "generator_2d",
    "generator_matrix",
    "halves_4d",
    "is_orthogonal",
    "power",
    "power_4d",
    "skew_4d",
]

_TERMS = 18  # of the series, at norm 1/2 or less: the next one is below 2^-19 / 19!, about 1e-23


def is_orthogonal(matrix: ArrayLike, *, tolerance: float = 1e-9) -> bool:
    r"""Is $A^\top A = I$, up to ``tolerance`` in each entry?

    Args:
        matrix: (d, d).
        tolerance: Largest difference that counts as none.

    Returns:
        True or False.

    Raises:
        ValueError: If the matrix is not square.

    >>> is_orthogonal([[0, -1], [1, 0]]), is_orthogonal([[0, -2], [0.5, 0]])
    (True, False)
    """
    A = expect_square(matrix, name="matrix")
    return bool(np.abs(A.T @ A - np.eye(len(A))).max() <= expect_float(tolerance, name="tolerance"))


def exponential(A: ArrayLike) -> Float64[np.ndarray, "d d"]:
    r"""The matrix exponential of any square matrix, by scaling and squaring.

    $e^A = \sum_k A^k / k! = \bigl(e^{A/2^s}\bigr)^{2^s}$

    s halvings bring the matrix down to norm 1/2, where a few terms of the series are exact to the last digit; then the
    result is squared s times. Each squaring doubles the error, so the result is good to about $|A|$ units in the last
    place: no more than float64 knows of an angle of that size. Written out because chapter 5 is about it, and its lab
    compares it with SciPy's ``expm``, which is made in another way.

    Args:
        A: (d, d), skew or not.

    Returns:
        (d, d), float64.

    Raises:
        TypeError: If ``A`` is not real.
        ValueError: If it is not square or not finite.

    Claims:
        ``su6.exp-orth``, ``su6.exp-power``

    >>> exponential([[0, 1], [0, 0]])
    array([[1., 1.],
           [0., 1.]])
    """
    A = expect_square(A, name="A")
    norm = np.abs(A).sum(axis=0).max()
    halvings = max(0, int(np.ceil(np.log2(norm))) + 1) if norm > 0 else 0
    small, identity = np.ldexp(A, -halvings), np.eye(len(A))
    result = identity
    for k in range(_TERMS, 0, -1):  # Horner: I + A (I + A/2 (I + A/3 (...)))
        result = identity + small @ result / k
    for _ in range(halvings):
        result = result @ result
    return result


def power(B: ArrayLike, n: ArrayLike) -> Float64[np.ndarray, "*positions d d"]:
    r"""The rotation $\mathcal R_n = e^{nB}$ that the generator B makes at position n.

    $e^{nB} = \sum_k n^k B^k / k!$

    Args:
        B: (d, d), skew; for another generator there is `exponential`.
        n: Any real number, or an array whose shape leads the result's.

    Returns:
        (..., d, d), float64.

    Raises:
        ValueError: If ``B`` is not skew.

    Claims:
        ``su6.exp-orth``, ``su6.blockdiag-exp``

    >>> power(generator_2d(np.pi), [0, 0.5]).round(12) + 0.0
    array([[[ 1.,  0.],
            [ 0.,  1.]],
    <BLANKLINE>
           [[ 0., -1.],
            [ 1.,  0.]]])
    """
    B, n = expect_skew(B), expect_real(n, name="n")
    every = [exponential(position * B) for position in n.ravel()]
    return np.array(every).reshape(*n.shape, *B.shape)


def block_diag(*blocks: ArrayLike) -> np.ndarray:
    """Return the matrix with these blocks along its diagonal, in the dtype that holds them all; a number is 1 x 1."""
    given = [np.atleast_2d(block) for block in blocks]
    rows, columns = np.cumsum([block.shape for block in given], axis=0).T
    matrix = np.zeros((rows[-1], columns[-1]), dtype=np.result_type(*given))
    for block, row, column in zip(given, rows, columns, strict=True):
        matrix[row - block.shape[0] : row, column - block.shape[1] : column] = block
    return matrix


def generator_2d(theta: ArrayLike) -> Float64[np.ndarray, "*angles 2 2"]:
    r"""The generator of one plane: the quarter turn times the angle.

    $J_\theta = \begin{pmatrix} 0 & -\theta \\ \theta & 0 \end{pmatrix}, \quad e^{J_\theta} = R_\theta$

    Args:
        theta: Radians per position: a number, or an array whose shape leads the result's.

    Returns:
        (..., 2, 2), float64.

    Claims:
        ``su6.rtheta-exp``

    >>> generator_2d(0.5)
    array([[ 0. , -0.5],
           [ 0.5,  0. ]])
    """
    theta = expect_real(theta, name="theta")
    return theta[..., None, None] * np.array([[0.0, -1.0], [1.0, 0.0]]) + 0.0  # + 0.0: no -0.0 on the diagonal


def generator_matrix(theta: ArrayLike) -> Float64[np.ndarray, "d d"]:
    r"""The generator of the usual rotation: one $J_{\theta_i}$ for each plane, interleaved layout.

    $\Lambda = \mathrm{blockdiag}(J_{\theta_0}, J_{\theta_1}, \dots), \quad e^{n\Lambda} = \mathcal R_n$

    Args:
        theta: (planes,), radians per position.

    Returns:
        (2 planes, 2 planes), float64, interleaved layout.

    Claims:
        ``su6.blockdiag-exp``

    >>> generator_matrix([1, 2])
    array([[ 0., -1.,  0.,  0.],
           [ 1.,  0.,  0.,  0.],
           [ 0.,  0.,  0., -2.],
           [ 0.,  0.,  2.,  0.]])
    """
    return block_diag(*generator_2d(expect_frequencies(theta)))


# --- four dimensions: everything in closed form ----------------------------------------------------------------------


def skew_4d(entries: ArrayLike) -> Float64[np.ndarray, "4 4"]:
    r"""The skew matrix of four dimensions with the six given entries below its diagonal.

    $b_{21}, b_{31}, b_{41}, b_{32}, b_{42}, b_{43}$, counted from one; above the diagonal stand their negatives

    So the entry $b_{21} = \theta$ alone turns the first two coordinates by $\theta$, counter-clockwise.

    Args:
        entries: Six numbers.

    Returns:
        (4, 4), float64.

    Raises:
        ValueError: If there are not six.

    >>> skew_4d([1, 0, 0, 0, 0, 2])[3].tolist()
    [0.0, 0.0, 2.0, 0.0]
    """
    entries = expect_real(entries, name="entries")
    if entries.shape != (6,):
        raise ValueError(f"entries: expected six numbers, got shape {entries.shape}; they stand below the diagonal")
    lower = np.zeros((4, 4))
    lower[[1, 2, 3, 2, 3, 3], [0, 0, 0, 1, 1, 2]] = entries
    return lower - lower.T


def halves_4d(B: ArrayLike) -> tuple[Float64[np.ndarray, "4 4"], Float64[np.ndarray, "4 4"]]:
    r"""The self-dual and the anti-self-dual half of a skew 4 x 4 matrix: $B = B_+ + B_-$.

    $B_+ B_- = B_- B_+, \quad B_\pm^2 = -\tfrac14 r_\pm^2 I$

    $r_\pm$ as in `angles_4d`.

    Args:
        B: (4, 4), skew.

    Returns:
        $B_+$ and $B_-$, each (4, 4), float64.

    Raises:
        ValueError: If ``B`` is not skew or not 4 x 4.

    Claims:
        ``book.four-halves``

    >>> halves = halves_4d(skew_4d([3, 0, 0, 0, 0, 1]))
    >>> [float(half[i]) for half in halves for i in ((1, 0), (3, 2))]
    [2.0, 2.0, 1.0, -1.0]
    """
    entries = _six(B)
    dual = entries[::-1] * [1.0, -1.0, 1.0, 1.0, -1.0, 1.0]  # each plane trades places with the one it does not touch
    return skew_4d((entries + dual) / 2), skew_4d((entries - dual) / 2)


def angles_4d(B: ArrayLike) -> Float64[np.ndarray, "2"]:
    r"""The two angles of a skew 4 x 4 matrix, in radians per position, the larger first, neither negative.

    $\theta_{0,1} = \tfrac12 (r_+ \pm r_-)$, up to sign, with $r_\pm^2 = (b_{21} \pm b_{43})^2 + (b_{31} \mp b_{42})^2 +
    (b_{41} \pm b_{32})^2$

    No eigenvalue is computed. Good to $|B|$ units in the last place.

    Args:
        B: (4, 4), skew.

    Returns:
        (2,), float64.

    Raises:
        ValueError: If ``B`` is not skew or not 4 x 4.

    Claims:
        ``book.four-angles``

    >>> angles_4d(skew_4d([3, 0, 0, 0, 0, -1]))
    array([3., 1.])
    """
    plus, minus = (np.linalg.norm(half) for half in halves_4d(B))  # a half holds u/2 four times, |u| = r: its norm is r
    return np.array([(plus + minus) / 2, abs(plus - minus) / 2])


def power_4d(B: ArrayLike, n: float) -> Float64[np.ndarray, "4 4"]:
    r"""$e^{nB}$ of a skew 4 x 4 matrix in closed form: no series, no eigenvalues.

    $e^{nB} = \bigl(I\cos\tfrac{n r_+}2 + \tfrac{2}{r_+} B_+ \sin\tfrac{n r_+}2\bigr) \bigl(I\cos\tfrac{n r_-}2 +
    \tfrac{2}{r_-} B_- \sin\tfrac{n r_-}2\bigr)$

    Args:
        B: (4, 4), skew.
        n: Any real number.

    Returns:
        (4, 4), float64.

    Raises:
        ValueError: If ``B`` is not skew or not 4 x 4.

    Claims:
        ``book.four-halves``

    >>> power_4d(skew_4d([np.pi, 0, 0, 0, 0, 0]), 1).round(12).diagonal()
    array([-1., -1.,  1.,  1.])
    """
    n, result = expect_float(n, name="n"), np.eye(4)
    for half in halves_4d(B):
        speed = np.linalg.norm(half) / 2
        # sin(n speed) / speed without a division by zero
        result = result @ (np.cos(n * speed) * np.eye(4) + n * np.sinc(n * speed / np.pi) * half)
    return result


# --- the integers see angles modulo one turn -------------------------------------------------------------------------


def alias(theta: ArrayLike) -> Float64[np.ndarray, "planes"]:
    r"""The frequencies as whole positions see them: each folded into $[0, \pi]$, and sorted.

    $\min(\theta \bmod 2\pi,\ 2\pi - \theta \bmod 2\pi)$, the larger first

    Two lists of one length give the same rotations on the integers, up to an orthogonal change of basis, if
    and only if their aliases agree.

    Args:
        theta: (planes,), radians per position.

    Returns:
        (planes,), float64.

    Claims:
        ``unsaid.aliasing``, ``book.alias-classes``

    >>> alias([1.0, 2 * np.pi - 1.0, 2 * np.pi + 0.5]).round(12)
    array([1. , 1. , 0.5])
    """
    turned = np.mod(expect_frequencies(theta), 2 * np.pi)
    return np.sort(np.minimum(turned, 2 * np.pi - turned))[::-1]


def _six(B: ArrayLike) -> Float64[np.ndarray, "6"]:
    B = expect_skew(B)
    if B.shape != (4, 4):
        raise ValueError(f"B: expected shape (4, 4), got {B.shape}; in other dimensions use power()")
    return B[[1, 2, 3, 2, 3, 3], [0, 0, 0, 1, 1, 2]]
