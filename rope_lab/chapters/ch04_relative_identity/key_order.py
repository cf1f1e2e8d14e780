r"""Two keys that change the order of their scores when both are held at another place: how often.

>>> from rope_lab.algebra import frequencies
>>> order_flips(8192, theta=frequencies(128, base=500000.0))[[999, 8191]].round(3)  # a head of Llama 3 8B
array([0.318, 0.376])
"""

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.longer_texts import decay_along

__all__ = ["order_flips", "resting_limit"]


def order_flips(length: int, *, theta: ArrayLike) -> Float64[np.ndarray, "length"]:
    r"""The probability that two keys change their order between two random places of a window, for every window.

    $\frac{2}{\pi L^2} \sum_{r=1}^{L-1} (L - r) \arccos f(r)$ for L = 1, ..., ``length``, with the mean cosine f

    The query has the same length in every plane; the difference of the two keys is normal, with the same spread in
    every direction, and independent of the query.

    Args:
        length: The longest window.
        theta: (planes,), radians per position; 0 for a plane at rest.

    Returns:
        (length,), float64, from 0 to 1: the window of L places stands at L - 1.

    Raises:
        ValueError: If ``length`` is not a positive integer.

    Claims:
        ``book.order-flips``, ``book.resting-planes``

    >>> order_flips(2, theta=[np.pi])  # half of the pairs are two places, and there every order is turned round
    array([0. , 0.5])
    """
    flips = np.arccos(np.clip(decay_along(length, theta=theta), -1, 1)) / np.pi
    flips[0] = 0.0  # of a place with itself, where rounding would count
    r = np.arange(length, dtype=float)  # whole numbers of 32 bits, as some machines have them, would overflow
    L = r + 1
    return 2 * (L * np.cumsum(flips) - np.cumsum(r * flips)) / L**2


def resting_limit(share: float) -> float:
    r"""The limit of `order_flips` in ever longer windows, for a head with many planes and a share of them at rest.

    $\arccos(\rho) / \pi$

    Args:
        share: $\rho$, from 0 to 1.

    Returns:
        A float from 0 to 1/2.

    Raises:
        ValueError: If ``share`` is not between 0 and 1.

    Claims:
        ``book.resting-planes``

    >>> [round(resting_limit(p), 3) for p in (0, 0.25, 0.5, 0.75, 1)]
    [0.5, 0.42, 0.333, 0.23, 0.0]
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share: expected a number from 0 to 1, got {share}; give planes at rest over all planes")
    return float(np.arccos(share) / np.pi)
