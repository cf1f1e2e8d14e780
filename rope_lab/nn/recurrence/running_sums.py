r"""The scan under `rope_lab.nn.recurrence.forms`: all states of $h_t = r\,h_{t-1} + v_t$ at once, the rate r complex.

Count each value as what it will be at the end, after K steps: $r^{K-t} v_t$. Then the recurrence is a running sum. Over
a long time the powers leave the range of numbers, so time is cut into chunks of 32 steps. The values of a chunk sum to
what it ends with; the ends are a sequence 32 times as short with the rate $r^{32}$; and the state a chunk begins with
counts as $r^K$ times itself and is added first. Where |r| is so small that a chunk is too long, its steps are a loop.
"""

import functools
import itertools
import math
from typing import NamedTuple

import torch
from torch import Tensor

from rope_lab.nn.recurrence.rates import Rate

STEPS = 32  # steps of a chunk. Chunks hand on a sequence 32 times as short ...
LAST = 64  # ... until no more than this are left, which are one chunk.
KEPT = 2**12  # numbers of a rate whose tables are kept, so that rates for each row of a batch do not fill the memory
SMALLEST = 2.0**-24  # of gamma^steps: its inverse is what a running sum is multiplied by


class Tables(NamedTuple):
    """Powers of the rate r in a chunk of K steps, t from 1 to K: (..., 1, K, width), or 1 in place of width."""

    into: Tensor  # r^(K - t)
    back: Tensor | None  # r^(t - K); None where r^K is too small for it
    enter: Tensor  # r^K, what the state before a chunk counts in its sum; without back r, for a loop


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
    into, back, enter = tables(rate, steps, v.dtype, v.device)
    at_end = v * into
    h = v.clone() if back is None else at_end
    if chunks > 1:
        ends = scan(at_end.sum(-2), rate._replace(power=steps * rate.power), state)
        h[..., 1:, 0, :].addcmul_(ends[..., :-1, :], enter)
    if state is not None:
        h[..., :1, 0, :].addcmul_(state[..., None, :], enter)
    h = _loop(h, enter) if back is None else h.cumsum_(-2).mul_(back)
    h = h.reshape(*batch, chunks * steps, width)
    return h[..., :length, :].contiguous() if spare else h


def _loop(h: Tensor, rate: Tensor) -> Tensor:
    """Take the second step of all chunks together, then the third, and so on."""
    for before, here in itertools.pairwise(h.unbind(-2)):
        here.addcmul_(before, rate)
    return h


@functools.lru_cache(maxsize=16)  # 65,536 steps have three levels; a rate that is learned has new tables at each step
def _tables(rate: Rate, steps: int, dtype: torch.dtype, device: torch.device) -> Tables:
    float64 = functools.partial(torch.tensor, dtype=torch.float64, device="cpu")  # whatever torch's defaults are
    gamma = float64(rate.gamma).view(*rate.shape[:-1], 1, 1, *(rate.shape[-1:] or (1,)))
    theta = None if rate.theta is None else float64(rate.theta)

    def power(n: Tensor) -> Tensor:
        """r^n in float64, rounded once."""
        r = gamma**n if theta is None else gamma**n * torch.exp(-1j * (n * theta))
        return r.to(device, dtype)

    t = rate.power * torch.arange(1, steps + 1, device="cpu")[:, None]
    into = power(t[-1] - t)
    if (gamma.abs() ** t[-1]).min() < SMALLEST:
        return Tables(into, None, power(t[0])[..., 0, :])
    return Tables(into, power(t - t[-1]), power(t[-1])[..., 0, :])
