"""The windows that a run learns from, in the batch order of its seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from rope_lab.errors import ArgumentError


class Batches:
    """The batch order of one seed: ``batches[step]`` gives (inputs, targets), each (batch, seq_len), int64.

    Step s reads the same windows whatever came before, so a resumed run reads what an unbroken one would, and every
    variant of a seed reads the same. Each process of several takes every ``world``-th window of the batch.

    Args:
        stream: token ids, (tokens,).
        seq_len: tokens in a window.
        batch_size: windows in a batch, over all processes.
        steps: batches.
        seed: that of the order.
        bos: the id that begins each window; default: none, and a window is one token longer.
        device: where the batches go.
        rank: this process's number.
        world: the number of processes.

    Raises:
        ArgumentError: a stream shorter than one window.

    >>> first = Batches(np.arange(100, dtype=np.uint16), seq_len=4, batch_size=2, steps=3, seed=0)[0]
    >>> bool((first[1] == first[0] + 1).all())  # the target is the next token
    True
    """

    def __init__(
        self,
        stream: np.ndarray,
        *,
        seq_len: int,
        batch_size: int,
        steps: int,
        seed: int,
        bos: int | None = None,
        device: torch.device | str = "cpu",
        rank: int = 0,
        world: int = 1,
    ) -> None:
        self.bos, self.device = bos, torch.device(device)
        length = seq_len + (bos is None)  # BOS stands in for the first input
        starts = len(stream) - length + 1
        if starts < 1:
            raise ArgumentError(
                f"expected a corpus of at least {length} tokens, got {len(stream)}: "
                "choose a longer corpus or a smaller seq_len"
            )
        span = np.arange(length)
        offsets = np.random.default_rng(seed).integers(starts, size=(steps, batch_size))[:, rank::world]
        self.stream: Any = stream  # arrays on a CPU, where the stream stays on the disk
        self.offsets: Any = offsets
        self.span: Any = span
        if self.device.type != "cpu":  # the whole stream and all offsets: no step waits for the host
            self.stream = torch.from_numpy(stream.astype(np.int32)).to(self.device)
            self.offsets = torch.from_numpy(offsets).to(self.device)
            self.span = torch.from_numpy(span).to(self.device)

    def __getitem__(self, step: int) -> tuple[Int[Tensor, "batch T"], Int[Tensor, "batch T"]]:
        windows = self.stream[self.offsets[step][:, None] + self.span]  # (batch, span)
        if isinstance(windows, np.ndarray):
            windows = torch.from_numpy(windows.astype(np.int64))
        return split(windows.long(), bos=self.bos)


def split(windows: Int[Tensor, "batch span"], *, bos: int | None) -> tuple[Tensor, Tensor]:
    """Inputs and targets, each (batch, T): a target is the token after its input; BOS is the first input if given."""
    if bos is None:
        return windows[:, :-1].contiguous(), windows[:, 1:].contiguous()
    start = torch.full_like(windows[:, :1], bos)
    return torch.cat((start, windows[:, :-1]), 1), windows
