"""A cached key that is turned again and again, and rounded each time to the numbers that the cache can hold.

>>> key = np.array([1.0, 1.0])
>>> turned_again(key, theta=[1e-3], steps=1000, store="bfloat16")  # it should have turned by one radian
array([1., 1.])
>>> turned_again(key, theta=[1e-3], steps=1, by=1000, store="bfloat16")
array([-0.30078125,  1.3828125 ])
"""

from math import hypot, sqrt
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import (
    expect_float,
    expect_frequencies,
    expect_one_of,
    expect_real,
    expect_turning,
    expect_whole,
)
from rope_lab.algebra.half_precision import FORMATS, round_to
from rope_lab.algebra.rotation import rotate
from rope_lab.algebra.widely_linear import to_complex, to_real

Store = Literal["float64", "float32", "float16", "bfloat16", "int8"]
BLOCK = 32  # neighbours that share a scale in a cache of eight bits


def stored(x: ArrayLike, *, store: Store) -> Float64[np.ndarray, "*shape"]:
    r"""The numbers that a cache returns for those put into it.

    A float format: $\mathrm{fl}(x)$ of `round_to`. int8: $s\,\mathrm{rint}(x/s)$, where 32 neighbours share
    $s = \mathrm{fl}_{16}(\max|x|/127)$, a float16: the blocks of llama.cpp's ``q8_0``, but for ties.

    Args:
        x: Reals, (..., width); width a multiple of 32 for int8.
        store: "float64", "float32", "float16", "bfloat16" or "int8".

    Returns:
        The shape of x, float64.

    Raises:
        ValueError: If the store is unknown, or the width is no multiple of 32.

    >>> stored(np.arange(32.0), store="int8")[[1, 31]].round(4)
    array([ 0.9766, 31.0059])
    """
    expect_one_of(store, get_args(Store), name="store", fix="give the name of the format")
    x = expect_real(x, name="x")
    if store != "int8":
        return round_to(x, dtype=store)
    if not x.ndim or x.shape[-1] % BLOCK:
        raise ValueError(f"x: expected a width that is a multiple of {BLOCK}, got shape {x.shape}; pad it with zeros")
    blocks = x.reshape(*x.shape[:-1], -1, BLOCK)
    scale = round_to(np.abs(blocks).max(axis=-1, keepdims=True) / 127, dtype="float16")
    steps = np.clip(np.rint(np.divide(blocks, scale, out=np.zeros_like(blocks), where=scale > 0)), -127, 127)
    return np.asarray((scale * steps).reshape(x.shape))


def turned_again(
    x: ArrayLike, *, theta: ArrayLike, steps: int, by: float = 1.0, store: Store
) -> Float64[np.ndarray, "*batch head_dim"]:
    r"""Turn cached vectors ``steps`` times by ``by`` places, and put them back into the cache after each turn.

    $x \leftarrow \mathrm{fl}(\mathcal R_{\mathrm{by}}\,x)$, after $x \leftarrow \mathrm{fl}(x)$ at the beginning

    The turn itself is float64: the best that a machine could do. What remains is the cache's own rounding.

    Args:
        x: (..., head_dim), interleaved.
        theta: (head_dim/2,), radians per place.
        steps: How often.
        by: How far each time, in places.
        store: As in `stored`.

    Returns:
        The shape of x, float64.

    Claims:
        ``book.cache-frozen``, ``book.cache-lag``, ``book.cache-many-turns``
    """
    turn = np.exp(1j * expect_float(by, name="by") * expect_frequencies(theta))
    x = stored(x, store=store)
    expect_turning(x, expect_frequencies(theta), np.zeros(()))
    for _ in range(expect_whole(steps, name="steps", least=0, limit=2**17)):
        x = stored(to_real(turn * to_complex(x)), store=store)
    return x


def turn_miss(
    x: ArrayLike, *, theta: ArrayLike, steps: int, by: float = 1.0, store: Store
) -> Float64[np.ndarray, "*batch planes"]:
    r"""The distance of each pair from where exact turns would have brought the cached one, as a share of its length.

    $|\hat z_i - e^{\mathrm i N\,\mathrm{by}\,\theta_i} z_i| / |z_i|$ after N steps

    Args:
        x, theta, steps, by, store: As in `turned_again`; no pair of x may be zero.

    Returns:
        (..., planes), float64; 0 where the pair is right, 2 where it points the other way.

    >>> turn_miss([1.0, 1.0], theta=[1e-3], steps=1000, store="bfloat16").round(3)  # 2 sin(1/2): it did not move
    array([0.959])
    """
    start, moved = stored(x, store=store), turned_again(x, theta=theta, steps=steps, by=by, store=store)
    off = moved - rotate(start, steps * expect_float(by, name="by"), theta=theta)
    return np.asarray(np.hypot(off[..., ::2], off[..., 1::2]) / np.hypot(start[..., ::2], start[..., 1::2]))


def still_below(dtype: Literal["float32", "float16", "bfloat16"], *, ratio: float = 1.0) -> float:
    r"""An angle below which no turn moves a pair whose coordinates differ by a factor of at most ``ratio``.

    $\varphi\,r + \varphi^2/2 < 2^{-p-1}$: each coordinate changes by less than half the way to its next number

    Args:
        dtype: The format of the cache, with p significant bits.
        ratio: At least 1.

    Returns:
        Radians.

    Claims:
        ``book.cache-frozen``

    >>> round(still_below("bfloat16"), 6)
    0.001951
    """
    half_step = 2.0 ** -(FORMATS[expect_one_of(dtype, FORMATS, name="dtype")].bits + 1)
    ratio = expect_float(ratio, name="ratio", least=1)
    return 2 * half_step / (ratio + hypot(ratio, sqrt(2 * half_step)))
