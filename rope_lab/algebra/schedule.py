"""What a schedule of frequencies does: wavelengths, turns, and how logits behave far away.

>>> waves = wavelengths(128)
>>> int((waves > 4096).sum()), len(waves)  # planes that do not turn once in 4096 positions, and all of them
(18, 64)
"""

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import expect_base, expect_float, expect_frequencies, expect_real
from rope_lab.algebra.rotation import frequencies, rotation_matrix


def wavelengths(head_dim: int, *, base: float = 10000.0) -> Float64[np.ndarray, "planes"]:
    r"""The number of positions in which each plane turns once.

    $\lambda_i = 2\pi / \theta_i = 2\pi\, \mathrm{base}^{2i/\mathrm{head\_dim}}$

    For a base above 1 they run from $2\pi$ to $2\pi\,\mathrm{base}^{1-2/\mathrm{head\_dim}}$.

    Args:
        head_dim: Width of the head, even.
        base: A positive number.

    Returns:
        (head_dim/2,), float64, in positions.

    Raises:
        ValueError: If ``head_dim`` is odd or ``base`` not positive.

    Claims:
        ``unsaid.theta-choice``

    >>> wavelengths(8).round(1)
    array([   6.3,   62.8,  628.3, 6283.2])
    """
    return 2 * np.pi / frequencies(head_dim, base=base)


def turns(window: float, *, theta: ArrayLike) -> Float64[np.ndarray, "planes"]:
    r"""The number of turns of each plane on the way from position 0 to ``window``.

    $\mathrm{window} \cdot \theta_i / 2\pi$; below 1 the plane does not complete a turn.

    Args:
        window: The last position, a real number.
        theta: (planes,), radians per position.

    Returns:
        (planes,), float64.

    Raises:
        TypeError: If an argument is not real.
        ValueError: If it is not finite.

    Claims:
        ``unsaid.theta-choice``

    >>> turns(100, theta=frequencies(4)).round(3)
    array([15.915,  0.159])
    """
    return expect_float(window, name="window") * expect_frequencies(theta) / (2 * np.pi)


def decay(offsets: ArrayLike, *, theta: ArrayLike) -> Float64[np.ndarray, "*offsets"]:
    r"""The logit of a query and a key that are equal, divided by its value at offset 0.

    $f(r) = \frac{1}{p}\sum_{i=0}^{p-1} \cos(r\,\theta_i)$ with one term for each of the p planes

    The two have the same length in every plane.

    Args:
        offsets: Any finite reals.
        theta: (planes,), radians per position.

    Returns:
        The shape of ``offsets``, float64.

    Raises:
        TypeError: If an argument is not real.
        ValueError: If it is not finite.

    Claims:
        ``unsaid.decay``

    >>> decay([0, 1, 10, 100, 1000], theta=frequencies(128)).round(2)
    array([1.  , 0.97, 0.67, 0.48, 0.16])
    """
    offsets = expect_real(offsets, name="offsets")
    return np.asarray(np.cos(np.multiply.outer(offsets, expect_frequencies(theta))).mean(axis=-1))


def dense_decay(offsets: ArrayLike, *, base: float = 10000.0) -> Float64[np.ndarray, "*offsets"]:
    r"""The limit of `decay` when the planes lie ever closer: an integral in the place of the mean.

    $g(r) = \int_0^1 \cos(r\,\mathrm{base}^{-u})\,du = \frac{\mathrm{Ci}(r) - \mathrm{Ci}(r/\mathrm{base})} {\ln
    \mathrm{base}}$, with the cosine integral Ci

    Args:
        offsets: Positive reals.
        base: Above 1.

    Returns:
        The shape of ``offsets``, float64.

    Raises:
        ValueError: If an offset is not positive, or ``base`` at most 1.

    Claims:
        ``book.decay-integral``

    >>> dense_decay([1, 10, 100, 1000]).round(4)
    array([0.974 , 0.6824, 0.4368, 0.1877])
    """
    offsets, base = _positive(offsets), _above_one(base)
    from scipy.special import sici

    return np.asarray((sici(offsets)[1] - sici(offsets / base)[1]) / np.log(base))


def log_law(offsets: ArrayLike, *, base: float = 10000.0) -> Float64[np.ndarray, "*offsets"]:
    r"""The straight line on a logarithmic axis that `decay` follows.

    $1 - \frac{\ln r + \gamma}{\ln \mathrm{base}}$ with Euler's constant $\gamma = 0.5772\ldots$

    Good for offsets r far above 1 and far below the base, with many planes: as many as $r \ln \mathrm{base}$, or it is
    only the trend.

    Args:
        offsets: Positive reals.
        base: Above 1.

    Returns:
        The shape of ``offsets``, float64.

    Raises:
        ValueError: If an offset is not positive, or ``base`` at most 1.

    Claims:
        ``unsaid.decay``

    >>> log_law([10, 100, 1000]).round(4)
    array([0.6873, 0.4373, 0.1873])
    """
    offsets, base = _positive(offsets), _above_one(base)
    return np.asarray(1 - (np.log(offsets) + np.euler_gamma) / np.log(base))


def logit_variance(
    offsets: ArrayLike, *, theta: ArrayLike, q_moments: ArrayLike, k_moments: ArrayLike
) -> Float64[np.ndarray, "*offsets"]:
    r"""Mean square of the logit of a random query and an independent random key; its variance where one has mean 0.

    $\mathrm{E}\,(q^\top \mathcal R_r k)^2 = \mathrm{tr}(M_q\, \mathcal R_r\, M_k\, \mathcal R_r^\top)$

    Args:
        offsets: Any finite reals.
        theta: (d/2,), radians per position, interleaved layout.
        q_moments: $M_q = \mathrm{E}\,q q^\top$, (d, d).
        k_moments: $M_k = \mathrm{E}\,k k^\top$, (d, d).

    Returns:
        The shape of ``offsets``, float64.

    Raises:
        ValueError: If the shapes do not fit.

    Claims:
        ``book.logit-variance``, ``unsaid.decay``

    >>> logit_variance([0, 1, 50], theta=[1.0], q_moments=np.diag([1.9, 0.1]), k_moments=np.eye(2))
    array([2., 2., 2.])
    """
    theta, moments = expect_frequencies(theta), []
    for name, given in (("q_moments", q_moments), ("k_moments", k_moments)):
        matrix = expect_real(given, name=name)
        if matrix.shape != (2 * len(theta),) * 2:
            raise ValueError(
                f"{name}: expected a square matrix of side {2 * len(theta)} for {len(theta)} frequencies, "
                f"got shape {matrix.shape}; give E[x x^T] of one head"
            )
        moments.append(matrix)
    R = rotation_matrix(offsets, theta=theta)
    M_q, M_k = moments
    return np.asarray((M_q.T * (R @ M_k @ np.swapaxes(R, -1, -2))).sum(axis=(-1, -2)))


def _positive(offsets: ArrayLike) -> Float64[np.ndarray, "*offsets"]:
    offsets = expect_real(offsets, name="offsets")
    if (offsets <= 0).any():
        raise ValueError(f"offsets: expected numbers above 0, got {offsets.min()}; a logarithm has no value there")
    return offsets


def _above_one(base: float) -> float:
    base = expect_base(base)
    if base <= 1:
        raise ValueError(f"base: expected a number above 1, got {base}; at 1 every plane turns at the same speed")
    return base
