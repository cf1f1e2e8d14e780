r"""The recurrence as it is written, $h_t = r\,h_{t-1} + v_t$, one step after the other, compiled.

On a CPU nothing is faster: the state stays beside the arithmetic, and a long sequence takes hardly longer than a
copy of it. The state is kept in float64, so that no step hands a rounding on. numba compiles the loop at its first call
and keeps the machine code in a cache folder. Without numba, and on a GPU, which needs thousands of steps at once,
`rope_lab.nn.recurrence.running_sums` takes its place.
"""

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rope_lab.algebra.arguments import Layout
from rope_lab.nn.recurrence.rates import Rate


class Loops(NamedTuple):
    """Each fills h, like v (N, T, width); rates and first states are in float64, a row for each of N or one for all."""

    turning: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, bool], None]  # complex arrays
    real: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, bool], None]


@functools.cache
def loops() -> Loops | None:
    """The compiled loops; None where numba is missing, or older than this Python or numpy."""
    try:
        import numba
    except ImportError:
        return None
    return Loops(*(_compile(inspect.unwrap(loop), numba.njit) for loop in (_turning, _real)))


def _compile(loop: Callable[..., None], njit: Any) -> Any:
    try:
        return njit(nogil=True, cache=True)(loop)
    except RuntimeError:  # there is no folder that the machine code could be kept in
        return njit(nogil=True)(loop)


def states(
    v: np.ndarray, rate: Rate, state: np.ndarray | None, layout: Layout | None, run: Loops, *, last_first: bool
) -> np.ndarray:
    """Every state, (..., T, d), from ``state``, (..., d), or zero; nothing turns if there is no layout.

    ``last_first``: the loop goes from the last step to the first.
    """
    x, rates = _planes(v, layout), _rates(rate)
    h = np.empty_like(x)
    *batch, length, width = x.shape
    if rates.shape != (width,):  # one row of rates for all sequences, or one for each
        rows = batch if math.prod(rate.shape[:-1]) > 1 else rates.shape[:-1]
        rates = np.broadcast_to(rates, (*rows, width))
    first = np.zeros((1, width), rates.dtype) if state is None else _planes(state, layout).astype(rates.dtype)
    loop = run.real if layout is None else run.turning
    sequences = x.reshape(-1, length, width), h.reshape(-1, length, width)
    loop(*sequences, rates.reshape(-1, width), first.reshape(-1, width), last_first)
    if layout == "half":
        return np.concatenate((h.real, h.imag), axis=-1)
    return h.view(v.dtype)


@functools.lru_cache(maxsize=1)
def _rates(rate: Rate) -> np.ndarray:
    gamma = np.array(rate.gamma).reshape(rate.shape)
    return gamma if rate.theta is None else gamma * np.exp(-1j * np.array(rate.theta))


def _planes(x: np.ndarray, layout: Layout | None) -> np.ndarray:
    """Each plane as one complex number, whole in memory: a view if it can be. In numpy, where that costs least."""
    x = np.ascontiguousarray(x)
    to = np.promote_types(x.dtype, np.complex64)
    if layout == "half":
        z = np.empty((*x.shape[:-1], x.shape[-1] // 2), to)
        z.real, z.imag = np.split(x, 2, axis=-1)
        return z
    return x if layout is None else x.view(to)


def _turning(v: Any, h: Any, rates: Any, first: Any, last_first: bool) -> None:
    x, y = np.empty(v.shape[2]), np.empty(v.shape[2])  # real and imaginary parts: so all planes are computed at once
    for n in range(len(v)):
        a, b = rates[n % len(rates)].real.copy(), rates[n % len(rates)].imag.copy()
        x[:], y[:] = first[n % len(first)].real, first[n % len(first)].imag
        for step in range(v.shape[1]):
            t = v.shape[1] - 1 - step if last_first else step
            for p in range(v.shape[2]):
                real = a[p] * x[p] - b[p] * y[p] + v[n, t, p].real
                imag = a[p] * y[p] + b[p] * x[p] + v[n, t, p].imag
                x[p], y[p] = real, imag
                h[n, t, p] = complex(real, imag)


def _real(v: Any, h: Any, rates: Any, first: Any, last_first: bool) -> None:
    x = np.empty(v.shape[2])
    for n in range(len(v)):
        a = rates[n % len(rates)].copy()
        x[:] = first[n % len(first)]
        for step in range(v.shape[1]):
            t = v.shape[1] - 1 - step if last_first else step
            for p in range(v.shape[2]):
                x[p] = a[p] * x[p] + v[n, t, p]
                h[n, t, p] = x[p]
