r"""One head that looks ``offset`` places ahead: its query, how far its logits stand apart, and where they come back.

>>> theta = rotation.frequencies(64)
>>> scores = offset_logits([0, 1, 2, 3], offset=2, theta=theta)  # keys 0 to 3 places ahead of the query
>>> int(scores.argmax()), float(scores.max())
(2, 32.0)
"""

from itertools import pairwise

import numpy as np
from jaxtyping import Complex128, Float64
from numpy.typing import ArrayLike

from rope_lab.algebra import rotation, schedule
from rope_lab.algebra.arguments import (
    WIDEST,
    expect_base,
    expect_even,
    expect_float,
    expect_frequencies,
    expect_real,
    expect_shapes,
    expect_whole,
)

__all__ = [
    "leak_law",
    "neighbour_gap",
    "offset_logits",
    "offset_query",
    "ones_key",
    "returns",
    "target_weight",
    "token_projection",
]


def offset_query(offset: float, *, theta: ArrayLike) -> Float64[np.ndarray, "head_dim"]:
    r"""The query whose logit with `ones_key` is largest for the key ``offset`` places ahead.

    $\tilde q = (e^{\mathrm i s\theta_0}, e^{\mathrm i s\theta_1}, \dots)$, one number $(\cos s\theta_i, \sin
    s\theta_i)$ for each plane

    For the offset s it is the key of all ones, turned by s, in the interleaved layout.

    Args:
        offset: How far ahead the wanted key stands.
        theta: (planes,), radians per position.

    Returns:
        (2 planes,), float64.

    Claims:
        ``crope.eq27-sign``, ``crope.realform``

    >>> offset_query(1, theta=[np.pi / 2]).round(12) + 0.0
    array([0., 1.])
    """
    theta = expect_frequencies(theta)
    return rotation.rotate(ones_key(len(theta)), expect_float(offset, name="offset"), theta=theta)


def ones_key(planes: int) -> Float64[np.ndarray, "head_dim"]:
    r"""The key $\tilde k = (1, 1, \dots, 1)$ as a real vector, $(1, 0, 1, 0, \dots)$.

    Args:
        planes: How many.

    Returns:
        (2 planes,), float64.

    Claims:
        ``crope.eq22-23``

    >>> ones_key(2)
    array([1., 0., 1., 0.])
    """
    return np.tile([1.0, 0.0], expect_whole(planes, name="planes", least=0, limit=WIDEST))


def offset_logits(offsets: ArrayLike, *, offset: float, theta: ArrayLike) -> Float64[np.ndarray, "keys"]:
    r"""The logits of a head that looks for ``offset``, over keys at ``offsets`` from the query.

    $s(r) = \mathrm{Re}[\tilde q^\dagger \mathcal R_r \tilde k] = \sum_i \cos((r - s)\,\theta_i)$, by turning the key

    Not divided by the root of head_dim.

    Args:
        offsets: (keys,), n - m for each key; the query stands at 0.
        offset: What the head looks for, s.
        theta: (planes,), radians per position.

    Returns:
        (keys,), float64.

    Claims:
        ``crope.eq28-form``

    >>> offset_logits([0, 1, 2], offset=1, theta=[np.pi / 2]).round(12) + 0.0
    array([0., 1., 0.])
    """
    theta, offsets = expect_frequencies(theta), np.atleast_1d(expect_real(offsets, name="offsets"))
    expect_shapes(offsets=(offsets, "keys"))
    keys = np.tile(ones_key(len(theta)), (len(offsets), 1))
    query = offset_query(offset, theta=theta)[None]
    return rotation.logits(query, keys, q_positions=[0], k_positions=offsets, theta=theta)[0]


def token_projection(offsets: ArrayLike, *, theta: ArrayLike, width: int) -> Complex128[np.ndarray, "planes columns"]:
    r"""The complex $W_q$ that gives each kind of token its query: kind t lives in every T-th coordinate, from t on.

    $(\tilde W_q)_{ij} = e^{\mathrm i s_t \theta_i}$ with t = j mod T, for T offsets $s_0, \dots, s_{T-1}$

    An embedding whose coordinates of kind t sum to a real a > 0, all others 0, gets a times that kind's query.

    Args:
        offsets: One for each kind of token.
        theta: (planes,), radians per position.
        width: The number of complex coordinates of an embedding, a multiple of T.

    Returns:
        (planes, width), complex128.

    Raises:
        ValueError: If the kinds do not fit the width.

    Claims:
        ``crope.eq29-Wx``, ``crope.in-subspace``

    >>> token_projection([0, 1], theta=[np.pi], width=4).real
    array([[ 1., -1.,  1., -1.]])
    """
    theta, offsets = expect_frequencies(theta), np.atleast_1d(expect_real(offsets, name="offsets"))
    expect_whole(width, name="width", least=1, limit=WIDEST)
    if not len(offsets) or width % len(offsets):
        raise ValueError(
            f"width: expected a multiple of the {len(offsets)} kinds of token, got {width}; each kind takes every "
            f"{len(offsets)}-th coordinate, so use {max(1, round(width / max(1, len(offsets)))) * max(1, len(offsets))}"
        )
    return np.tile(np.exp(1j * np.outer(theta, offsets)), width // len(offsets))


def neighbour_gap(theta: ArrayLike) -> float:
    r"""The logit of the wanted key minus that of its neighbours.

    $\sum_i (1 - \cos\theta_i)$

    In the dense limit of a geometric schedule it is, per plane, $1 - g(1)$ of `schedule.dense_decay`.

    Args:
        theta: (planes,), radians per position.

    Returns:
        A float.

    Claims:
        ``book.head-leak``

    >>> neighbour_gap([np.pi, np.pi / 2])
    3.0
    """
    theta = expect_frequencies(theta)
    return float((1 - np.cos(theta)).sum())


def target_weight(window: int, *, theta: ArrayLike, amplitude: float = 1.0) -> float:
    r"""Softmax weight on the wanted key, among all keys at most ``window`` positions from it.

    $a = 1 / \sum_{|k| \le w} e^{-c\,\sum_i (1 - \cos k\theta_i)}$ with the amplitude c

    Args:
        window: How many positions on either side, 0 or more.
        theta: (planes,), radians per position.
        amplitude: The factor c of the logits.

    Returns:
        A float from 0 to 1.

    Raises:
        ValueError: If the window is negative.

    Claims:
        ``crope.eq23-limit``, ``crope.sec4.near-perfect``

    >>> round(target_weight(64, theta=rotation.frequencies(128)), 3)
    0.769
    """
    window = expect_whole(window, name="window", least=0, limit=2**20, fix="it counts positions on either side")
    theta = expect_frequencies(theta)
    behind = len(theta) * (1 - schedule.decay(np.arange(-window, window + 1), theta=theta))
    return float(1 / np.exp(-expect_float(amplitude, name="amplitude") * behind).sum())


def leak_law(head_dim: int, *, base: float = 10000.0) -> float:
    r"""The weight that the wanted key lacks, $1 - a$, when head_dim is large: half of it goes to either neighbour.

    $1 - a \sim 2\,e^{(\cos 1 - \cos(1/\mathrm{base}))/2}\, e^{-\frac d2 (1 - g(1))}$ with g of `schedule.dense_decay`

    For logits that are not scaled down, and any fixed window of at least one position on either side.

    Args:
        head_dim: Width of the head, even.
        base: Above 1.

    Returns:
        A float.

    Raises:
        ValueError: If the base is 1 or less.

    Claims:
        ``book.head-leak``

    >>> theta = rotation.frequencies(2048)
    >>> round(leak_law(2048) / (1 - target_weight(64, theta=theta)), 2)
    1.0
    """
    head_dim, base = expect_even(head_dim, name="head_dim"), expect_base(base)
    rate = 1 - float(schedule.dense_decay(1.0, base=base))
    return float(2 * np.exp((np.cos(1) - np.cos(1 / base)) / 2 - head_dim / 2 * rate))


def returns(theta: ArrayLike, *, above: float, until: int) -> list[int]:
    r"""The offsets from 1 to ``until`` at which the mean cosine sets a new record above ``above``.

    The mean cosine $\frac 1p \sum_i \cos k\theta_i$ comes back to 1 as closely as one likes, for any frequencies. Each
    entry is closer than all before it.

    Args:
        theta: (planes,), radians per position.
        above: The first record to beat.
        until: The last offset, 1 or more.

    Returns:
        A list of ints.

    Raises:
        ValueError: If ``until`` is below 1.

    Claims:
        ``unsaid.recurrence``

    >>> returns([1.0], above=0.99, until=1000)
    [25, 44, 333, 710]
    """
    until = expect_whole(until, name="until", least=1, limit=2**20)
    value = schedule.decay(np.arange(1, until + 1), theta=theta)
    best = np.maximum.accumulate(np.concatenate(([expect_float(above, name="above")], value)))
    return [k for k, (before, now) in enumerate(pairwise(best), start=1) if now > before]
