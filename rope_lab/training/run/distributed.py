"""One process, or the group that ``torchrun`` starts: this process's place in it, and sums over all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from rope_lab.errors import ArgumentError
from rope_lab.training.run.environment import expect_device


@dataclass(frozen=True)
class Processes:
    """This process's place among those of the run."""

    device: torch.device
    rank: int = 0
    world: int = 1

    @property
    def first(self) -> bool:
        """Whether this process writes the files and draws the progress bar."""
        return self.rank == 0

    def sum(self, values: Tensor) -> Tensor:
        """The elementwise sum over all processes."""
        if self.world > 1:
            values = values.clone()
            dist.all_reduce(values)
        return values

    def any(self, flag: bool) -> bool:
        """Whether any process says yes: all get the same answer, so all stop at the same step."""
        if self.world == 1:
            return flag
        return bool(self.sum(torch.tensor([float(flag)], device=self.device)).item())

    def wait(self) -> None:
        """Wait until all processes are here."""
        if self.world > 1:
            dist.barrier()


@contextlib.contextmanager
def processes(device: str | None) -> Iterator[Processes]:
    """Join the processes that ``torchrun`` announces in the environment; alone, the run is one process.

    Args:
        device: "cpu", "cuda" or "cuda:N"; ``None`` takes a GPU where there is one.

    Raises:
        ArgumentError: another device, or a GPU where this torch can use none.
    """
    expect_device(device)
    kind = device or ("cuda" if torch.cuda.is_available() else "cpu")
    if kind.startswith("cuda") and not torch.cuda.is_available():
        raise ArgumentError(f"device: expected one that this torch can use, got {device!r} without a GPU; take cpu")
    world, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    if kind == "cuda" and world > 1:
        kind = f"cuda:{int(os.environ.get('LOCAL_RANK', rank))}"
        torch.cuda.set_device(kind)
    if world == 1:
        yield Processes(torch.device(kind))
        return
    ours = not dist.is_initialized()  # a notebook or a test may have joined already
    if ours:
        dist.init_process_group("gloo" if kind == "cpu" else "nccl")
    try:
        yield Processes(torch.device(kind), rank, world)
    finally:
        if ours:
            dist.destroy_process_group()
