r"""How far a list of frequencies reaches: angles met in training, and the lowest value of the decay.

>>> from rope_lab.algebra import frequencies
>>> theta = frequencies(128, base=500000.0)  # a head of Llama 3 8B, trained on 8192 tokens
>>> reach(theta, trained=theta, window=8192)
8192.0
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import LONGEST, expect_frequencies, expect_whole
from rope_lab.algebra.schedule import turns


class Lowest(NamedTuple):
    """The lowest value of a decay, and the first offset that has it."""

    value: float
    offset: int


def reach(theta: ArrayLike, *, trained: ArrayLike, window: int) -> float:
    r"""The longest text in which no plane goes beyond the angles that it met in training.

    $\min_i L\, \theta_i / \theta'_i$ over the planes with less than one turn, $L\theta_i < 2\pi$; a plane with a whole
    turn has met every angle, up to half a step

    Args:
        theta: (planes,), the frequencies in use, $\theta'$.
        trained: (planes,), those of the training, $\theta$.
        window: L, the length of the training.

    Returns:
        Tokens; infinity where every plane made a turn.

    Raises:
        ValueError: If the lists differ in length, or ``window`` is not a positive integer.

    Claims:
        ``book.longer-met``, ``book.longer-ntk-reach``, ``book.longer-parts-reach``

    >>> from rope_lab.algebra import frequencies
    >>> theta = frequencies(128, base=500000.0)
    >>> round(reach(theta * 8.0 ** (-np.arange(64) / 63), trained=theta, window=8192) / 8192, 2)  # NTK by 8
    3.17
    """
    used, old = expect_frequencies(theta), expect_frequencies(trained)
    if used.shape != old.shape:
        raise ValueError(f"theta: expected {len(old)} planes, as in training, got {len(used)}; give both of one head")
    expect_whole(window, name="window", least=1)
    slow = (turns(window, theta=old) < 1) & (used > 0)
    return float((window * old[slow] / used[slow]).min(initial=np.inf))


def decay_along(length: int, *, theta: ArrayLike) -> Float64[np.ndarray, "length"]:
    r"""`decay` at every offset 0, ..., length - 1, in one product of two small matrices.

    $\mathrm{Re} \sum_i e^{\mathrm i a \theta_i}\, e^{\mathrm i b \theta_i} / p$ with r = a + b and a in wide steps

    Args:
        length: How many offsets.
        theta: (planes,), radians per position.

    Returns:
        (length,), float64.

    Raises:
        ValueError: If ``length`` is not a positive integer.

    Claims:
        ``book.longer-islands``

    >>> from rope_lab.algebra import frequencies
    >>> decay_along(3, theta=frequencies(128)).round(3)
    array([1.   , 0.97 , 0.897])
    """
    expect_whole(length, name="length", least=1, limit=LONGEST)
    planes = expect_frequencies(theta)
    step = int(np.ceil(np.sqrt(length)))
    wide, fine = np.arange(0, length, step), np.arange(step)
    table = np.exp(1j * np.outer(wide, planes)) @ np.exp(1j * np.outer(planes, fine))
    return table.real.ravel()[:length] / len(planes)


def lowest_decay(length: int, *, theta: ArrayLike) -> Lowest:
    """The lowest value of `decay` among the offsets 0, ..., length - 1.

    Men et al. ask that it is not negative: a key that equals the query should not score below a random one.

    Args:
        length: How many offsets, the length of the text.
        theta: (planes,), radians per position.

    Returns:
        A `Lowest`, value and offset.

    Raises:
        ValueError: If ``length`` is not a positive integer.

    Source: arXiv 2405.14591.

    Claims:
        ``book.longer-islands``

    >>> from rope_lab.algebra import frequencies
    >>> lowest_decay(8192, theta=frequencies(128, base=1e5))
    Lowest(value=-0.01236..., offset=7757)
    """
    along = decay_along(length, theta=theta)
    at = int(along.argmin())
    return Lowest(float(along[at]), at)
