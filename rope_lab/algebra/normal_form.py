r"""The right basis: every skew matrix, and every orthogonal one, is a row of plane blocks after a change of basis.

>>> rng = np.random.default_rng(0)
>>> A = rng.normal(size=(6, 6))
>>> form = skew_normal_form(A - A.T)
>>> bool(np.allclose(form.P @ form.blocks @ form.P.T, A - A.T))
True

Both functions start from the real Schur form $Q^\top A Q = T$. For these matrices $T$ is block-diagonal up to rounding,
also where angles repeat or nearly do: $T$ is triangular but for 2 x 2 blocks *and* skew (or orthogonal), so what stands
above the blocks is as small as what stands below. Nothing has to be divided by a difference of angles.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import expect_orthogonal, expect_skew
from rope_lab.algebra.generators import block_diag, generator_2d
from rope_lab.algebra.rotation import rotation_2d

__all__ = ["OrthogonalForm", "SkewForm", "orthogonal_normal_form", "skew_normal_form"]


class SkewForm(NamedTuple):
    r"""$B = P \Lambda P^\top$: the basis ``P``, (d, d) and orthogonal, and the angles ``theta``, one for each plane."""

    P: Float64[np.ndarray, "d d"]
    theta: Float64[np.ndarray, "planes"]

    @property
    def blocks(self) -> Float64[np.ndarray, "d d"]:
        r"""$\Lambda = \mathrm{diag}(J_{\theta_0}, J_{\theta_1}, \ldots)$ with $J_\theta = \theta\,(0, -1; 1, 0)$; for
        an odd d one more 0 at the end."""
        return block_diag(*generator_2d(self.theta), np.zeros((len(self.P) % 2,) * 2))


class OrthogonalForm(NamedTuple):
    r"""$O = P\,\mathrm{diag}(R_{\theta_0}, R_{\theta_1}, \ldots, \pm 1)\,P^\top$: the basis, the angles, and ``signs``:
    the +1 and the -1 that found no partner, at most one of each."""

    P: Float64[np.ndarray, "d d"]
    theta: Float64[np.ndarray, "planes"]
    signs: Float64[np.ndarray, "rest"]

    @property
    def blocks(self) -> Float64[np.ndarray, "d d"]:
        r"""$\mathrm{diag}(R_{\theta_0}, R_{\theta_1}, \ldots)$, and then the lone signs."""
        return block_diag(*rotation_2d(self.theta), np.diag(self.signs))


def skew_normal_form(B: ArrayLike, *, tolerance: float = 1e-10) -> SkewForm:
    r"""The planes in which a skew matrix turns, and how fast it turns in each.

    $B = P \Lambda P^\top, \quad \Lambda = \mathrm{diag}(J_{\theta_0}, J_{\theta_1}, \ldots), \quad J_\theta =
    \begin{pmatrix} 0 & -\theta\\ \theta & 0\end{pmatrix}$

    P is orthogonal and $\theta_0 \ge \theta_1 \ge \ldots \ge 0$. An odd d leaves one more 0, in the last column of P.
    If all angles differ and none is 0, P is unique up to a turn within each plane. It is taken such that in each plane
    the coordinate axis that leans on it most falls on the first column. So the same B gives the same P, and a B that is
    its own normal form gives P = I.

    Args:
        B: (d, d), skew.
        tolerance: How far B may miss skewness, relative to its largest entry; what misses by less is replaced by half
            of $B - B^\top$.

    Returns:
        P and theta, in radians per position, float64.

    Raises:
        ValueError: If ``B`` is not square or not skew.

    Claims:
        ``su6.skew-normal-form``

    >>> form = skew_normal_form([[0.0, 0, 3], [0, 0, 4], [-3, -4, 0]])
    >>> form.theta, form.P[:, 2].round(12) + 0.0  # it turns about the axis (4, -3, 0) / 5
    (array([5.]), array([ 0.8, -0.6,  0. ]))
    """
    B = expect_skew(B, tolerance=tolerance)
    size = np.abs(B).max() or 1.0
    T, Q, paired, single = _schur(B / size)
    # A 1 x 1 block is a 0; two zeros are a plane that does not turn.
    paired += list(zip(single[0::2], single[1::2], strict=False))
    angle = np.array([(T[b, a] - T[a, b]) / 2 if b == a + 1 and T[b, a] != 0 else 0.0 for a, b in paired])
    P, theta = _sorted_planes(Q, paired, angle)
    last = [_facing(Q[:, single[-1]])] if len(single) % 2 else []
    return SkewForm(np.column_stack([*P, *last]), size * theta)


def orthogonal_normal_form(O: ArrayLike, *, tolerance: float = 1e-8) -> OrthogonalForm:  # noqa: E741 - the book's letter
    r"""The planes in which an orthogonal matrix turns, by how much, and the axes that it keeps or flips.

    $O = P\,\mathrm{diag}(R_{\theta_0}, R_{\theta_1}, \ldots, \pm 1)\,P^\top$

    P is orthogonal and $\pi \ge \theta_0 \ge \theta_1 \ge \ldots \ge 0$, in radians; P is fixed as in
    `skew_normal_form`. Two eigenvalues -1 are a half turn and two +1 a turn by 0, so that at most one +1 and one -1 are
    left, in this order, in ``signs``: none for even d and det +1; both for even d and det -1; for odd d the one that
    equals the determinant.

    Args:
        O: (d, d), orthogonal.
        tolerance: How large an entry of $O^\top O - I$ may be; what misses by less is replaced by an orthogonal matrix
            as near.

    Returns:
        P, theta and signs, float64.

    Raises:
        ValueError: If ``O`` is not square or not orthogonal.

    Claims:
        ``book.orthogonal-normal-form``

    >>> form = orthogonal_normal_form([[0.0, 1], [1, 0]])  # a mirror
    >>> form.theta, form.signs
    (array([], dtype=float64), array([ 1., -1.]))
    >>> orthogonal_normal_form(-np.eye(3)).theta.round(6), orthogonal_normal_form(-np.eye(3)).signs
    (array([3.141593]), array([-1.]))
    """
    T, Q, paired, single = _schur(expect_orthogonal(O, name="O", tolerance=tolerance))
    angle = [np.arctan2(T[b, a] - T[a, b], T[a, a] + T[b, b]) for a, b in paired]
    signs = []
    for sign, turn in ((1.0, 0.0), (-1.0, np.pi)):
        alike = [i for i in single if np.copysign(1.0, T[i, i]) == sign]
        couples = list(zip(alike[0::2], alike[1::2], strict=False))
        paired, angle = paired + couples, angle + [turn] * len(couples)
        signs += [(sign, alike[-1])] if len(alike) % 2 else []
    P, theta = _sorted_planes(Q, paired, np.array(angle))
    last = [_facing(Q[:, i]) for _, i in signs]
    return OrthogonalForm(np.column_stack([*P, *last]), theta, np.array([sign for sign, _ in signs]))


def _schur(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int]], list[int]]:
    """T and Q, and the places of the 2 x 2 and of the 1 x 1 blocks of T. LAPACK writes exact zeros between."""
    from scipy.linalg import schur  # only here: SciPy is large to load where a page computes

    (T, Q), paired, single, i = schur(A, output="real"), [], [], 0
    while i < len(T):
        if i + 1 < len(T) and T[i + 1, i] != 0.0:
            paired.append((i, i + 1))
            i += 2
        else:
            single.append(i)
            i += 1
    return T, Q, paired, single


def _sorted_planes(Q, paired, angle) -> tuple[list[np.ndarray], Float64[np.ndarray, "planes"]]:
    """The planes by falling angle, none of them negative: exchanging the two columns changes the sign of the angle."""
    columns = [Q[:, [a, b]] if turn >= 0 else Q[:, [b, a]] for (a, b), turn in zip(paired, angle, strict=True)]
    order = np.argsort(-np.abs(angle), kind="stable")
    return [_upright(columns[i]) for i in order], np.abs(angle)[order].astype(float)


def _upright(plane: Float64[np.ndarray, "d 2"]) -> Float64[np.ndarray, "d 2"]:
    """Turn a basis within its plane until the axis that leans on the plane most falls on the first vector."""
    reach = np.hypot(*plane.T)
    axis = int(np.argmax(reach > (1 - 1e-6) * reach.max()))  # the first of those that rounding cannot tell apart
    u, v = plane[axis] / reach[axis]
    turned = plane @ np.array([[u, -v], [v, u]])
    turned[axis, 1] = 0.0
    return turned


def _facing(vector: Float64[np.ndarray, "d"]) -> Float64[np.ndarray, "d"]:
    """The vector or its opposite: its largest entry is positive."""
    size = np.abs(vector)
    return vector * np.copysign(1.0, vector[np.argmax(size > (1 - 1e-6) * size.max())])
