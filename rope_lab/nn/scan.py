r"""The scan under `rope_lab.nn.linear_rnn`: all states of $h_t = r\,h_{t-1} + v_t$ at once, the rate r complex.

Count each value as what it will be at the end, after K steps: $r^{K-t} v_t$. Then the recurrence is a running sum. Over
a long time the powers leave the range of numbers, so time is cut into chunks of 16 steps, and each begins from zero.
What the chunks end with is a sequence 16 times as short with the rate $r^{16}$, whose states reach the next chunks and
enter their step t as $r^t$ times themselves. Where |r| is so small that a chunk is too long, its steps are a loop.
"""

import functools
import itertools
import math
from typing import NamedTuple

import torch
from torch import Tensor

STEPS = 16  # steps of a chunk. Chunks hand on a sequence 16 times as short ...
LAST = 64  # ... until no more than this are left, which are one chunk.
KEPT = 2**12  # numbers of a rate whose tables are kept, so that rates for each row of a batch do not fill the memory
SMALLEST = 2.0**-24  # of gamma^steps: its inverse is what a running sum is multiplied by


class Rate(NamedTuple):
    """A rate by value, so that calls with equal ones share their tables."""

    gamma: tuple[float, ...]
    shape: tuple[int, ...]  # of gamma, which broadcasts with (..., width)
    theta: tuple[float, ...] | None  # width numbers; None: nothing turns
    power: int = 1  # how many steps of the sequence are one step of this level


class Tables(NamedTuple):
    """Powers of the rate r for t from 1 to K steps, (..., 1, K, width) or 1 in place of width."""

    into: Tensor | None  # r^(K - t); None where r^K is too small for back
    back: Tensor | None  # r^(t - K)
    reach: Tensor  # r^t


def rate_of(gamma: Tensor, theta: Tensor | None) -> Rate:
    """The rate of one step, from tensors in float64."""
    turns = None if theta is None else tuple(theta.tolist())
    return Rate(tuple(gamma.flatten().tolist()), tuple(gamma.shape), turns)


def scan(v: Tensor, rate: Rate, state: Tensor | None) -> Tensor:
    """Every state, (..., T, width), from ``state``, (..., width), or zero: complex, or real if theta is None."""
    *batch, length, width = v.shape
    if not v.numel():
        return v.clone()
    steps = length if length <= LAST else STEPS
    chunks = -(-length // steps)
    if spare := steps * chunks - length:  # zeros at the end change nothing
        v = torch.nn.functional.pad(v, (0, 0, 0, spare))
    v = v.reshape(*batch, chunks, steps, width)
    tables = _tables if math.prod(rate.shape[:-1]) * width <= KEPT else _tables.__wrapped__
    into, back, reach = tables(rate, steps, v.dtype, v.device)
    h = _loop(v, reach[..., 0, :]) if into is None else (v * into).cumsum(-2).mul_(back)
    if chunks > 1:
        first = v.new_zeros(*batch, 1, width) if state is None else state[..., None, :]
        carried = scan(h[..., -1, :], rate._replace(power=steps * rate.power), state)
        h.addcmul_(torch.cat((first, carried[..., :-1, :]), dim=-2)[..., None, :], reach)
    elif state is not None:
        h.addcmul_(state[..., None, None, :], reach)
    h = h.view(*batch, chunks * steps, width)
    return h[..., :length, :] if spare else h


def _loop(v: Tensor, rate: Tensor) -> Tensor:
    """All chunks take their first step together, then all their second, and so on."""
    h = v.clone()
    for before, here in itertools.pairwise(h.unbind(-2)):
        here.addcmul_(before, rate)
    return h


@functools.lru_cache(maxsize=16)  # 65,536 steps have four levels; a rate that is learned has new tables at each step
def _tables(rate: Rate, steps: int, dtype: torch.dtype, device: torch.device) -> Tables:
    float64 = functools.partial(torch.tensor, dtype=torch.float64, device="cpu")  # whatever torch's defaults are
    gamma = float64(rate.gamma).view(*rate.shape[:-1], 1, 1, *(rate.shape[-1:] or (1,)))
    theta = None if rate.theta is None else float64(rate.theta)

    def power(n: Tensor) -> Tensor:
        """r^n in float64, rounded once."""
        r = gamma**n if theta is None else gamma**n * torch.exp(-1j * (n * theta))
        return r.to(device, dtype)

    t = rate.power * torch.arange(1, steps + 1, device="cpu")[:, None]
    if (gamma.abs() ** t[-1]).min() < SMALLEST:
        return Tables(None, None, power(t))
    return Tables(power(t[-1] - t), power(t - t[-1]), power(t))
