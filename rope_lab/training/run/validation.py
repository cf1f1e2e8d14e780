"""The loss by which runs are compared: on a fixed piece of the validation stream, read to its end."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from rope_lab.errors import ArgumentError
from rope_lab.training.data.batches import split
from rope_lab.training.run.distributed import Processes

IGNORED = -100  # the target of a place that holds no token: cross entropy leaves it out


@dataclass(frozen=True)
class Validation:
    """The mean loss over the tokens, in nats, and how it spreads over batches."""

    loss: float
    sd: float  # standard deviation over the full batches; 0 where there is only one
    batches: int
    tokens: int


def validation_batches(
    stream: np.ndarray, *, seq_len: int, batch_size: int, bos: int | None = None
) -> Iterator[tuple[Int[Tensor, "batch T"], Int[Tensor, "batch T"]]]:
    """The stream cut into windows without overlap, to its end.

    Every token is a target once, bar the first where no BOS precedes it. All batches have one shape: the places left
    over in the last carry the target ``IGNORED``. That padding comes after the tokens of its window, where causal
    attention cannot see it.

    >>> [(x.tolist(), y.tolist()) for x, y in validation_batches(np.arange(6), seq_len=4, batch_size=1)]
    [([[0, 1, 2, 3]], [[1, 2, 3, 4]]), ([[4, 5, 0, 0]], [[5, -100, -100, -100]])]
    """
    windows = -(-(len(stream) - (bos is None)) // seq_len)
    for first in range(0, windows, batch_size):
        batch = torch.full((batch_size, seq_len + (bos is None)), IGNORED)
        for row, window in enumerate(range(first, min(first + batch_size, windows))):
            tokens = stream[window * seq_len : window * seq_len + batch.shape[1]].astype(np.int64)
            batch[row, : len(tokens)] = torch.from_numpy(tokens)
        inputs, targets = split(batch, bos=bos)
        yield inputs.clamp_min(0), targets


def validate(
    nats: Callable[[Tensor, Tensor], Tensor],
    stream: np.ndarray,
    *,
    seq_len: int,
    batch_size: int,
    bos: int | None,
    group: Processes,
    report: Callable[[int, int], None] = lambda *_: None,
) -> Validation:
    """Judge ``nats``, the summed loss of a batch, on every batch of the stream; the processes share them.

    ``report`` hears the number of the batch and how many there are.
    """
    batches = list(validation_batches(stream, seq_len=seq_len, batch_size=batch_size, bos=bos))
    if not batches:
        raise ArgumentError(
            f"expected validation tokens to predict, got a stream of {len(stream)}: choose another corpus"
        )
    sums = torch.zeros(len(batches), dtype=torch.float64, device=group.device)
    for i, (inputs, targets) in enumerate(batches):
        if i % group.world == group.rank:
            sums[i] = nats(inputs, targets)
        report(i + 1, len(batches))
    nats_of: list[float] = group.sum(sums).tolist()
    counts = [int((targets != IGNORED).sum()) for _, targets in batches]
    full = [s / count for s, count in zip(nats_of, counts, strict=True) if count == max(counts)]
    sd = statistics.stdev(full) if len(full) > 1 and all(map(math.isfinite, full)) else 0.0
    return Validation(math.fsum(nats_of) / sum(counts), sd, len(batches), sum(counts))
