"""Chapter 7's small task: what stands k columns to the right of the marked cell, or k rows below it?

``python -m rope_lab.chapters.ch07_many_axes.task`` makes the cards again, in some minutes on one core.

A grid of 8 x 8 cells holds symbols from 0 to 7, one cell is marked, and k is 1, 2 or 3; the answer lies on the grid. A
layer with two heads of 16 planes answers. The models differ in the table of their frequencies alone, all of base
1,000,000: sections and interleaved with the shares of planes that Qwen2-VL and Qwen3-VL give to time, height and
width, where time stands still; axial; and mixed, with angles that are spread evenly. Controls: one axis, which counts
the cells row by row, and no positions at all.

Written before any of these runs; steps and rate were chosen with the axial table and a seed that is not among them.
*Primary*, the share of right answers to questions about columns on grids of the trained size, paired by seed with a
95 % Student interval over three seeds; a difference whose interval holds zero is undecided:

1. interleaved minus sections. Expected above zero: with sections no plane turns by more than 0.0002 radians from a
   column to the next.
2. axial minus interleaved. No expectation.
3. mixed minus interleaved. No expectation.
4. one axis minus interleaved. No expectation: k columns to the right are k cells on.

Control: no positions must stay below a share of 0.3. *Exploratory*: questions about rows, and grids of 12 x 12 that
training has not seen. There one axis is expected to fail for rows: a row is 12 cells on, and was 8.

Added after a look at the first ten cards, so what they show is *observed*: interleaved was still learning when its rate
reached zero, and sections had learned nothing. Both were trained five times as long as well, with the same seeds.

>>> cells, asked, question, answer = grids(3, size=8, generator=torch.Generator().manual_seed(0), asks="columns")
>>> bool((answer == cells[range(3), asked + question + 1]).all())
True
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from rope_lab.algebra.many_axes import (
    axial_frequencies,
    interleaved_frequencies,
    mixed_frequencies,
    section_frequencies,
)
from rope_lab.chapters.ch07_many_axes.grid_reader import GridReader
from rope_lab.nn.rotary import RotaryConfig
from rope_lab.training.experiments.small_tasks import SmallTask, fit, losses_of, share_right, write_cards

STEPS, LONGER = 800, 4000
SYMBOLS, FARTHEST = 8, 3  # and questions: 0 to 2 for columns, 3 to 5 for rows
SIZES = (8, 12)  # of the test grids; training sees the first only
HEAD_DIM, BASE = 32, 1e6
SECTIONS = {"sections": [4, 6, 6], "interleaved": [6, 5, 5]}  # planes of time, height and width
PLANNED = ("sections", "interleaved", "axial", "mixed", "one axis", "no positions")
OBSERVED = ("sections, longer", "interleaved, longer")
Asks = Literal["columns", "rows"]


class Grids(NamedTuple):
    """Grids with one question each."""

    cells: Tensor  # (count, size * size), int64: the symbol of every cell, row by row
    asked: Tensor  # (count,): the marked cell
    question: Tensor  # (count,): 0 to 2 for k = 1 to 3 columns to the right, 3 to 5 for k rows below
    answer: Tensor  # (count,): a symbol


def grids(count: int, *, size: int, generator: torch.Generator, asks: Asks | None = None) -> Grids:
    """Random grids, marks and questions whose answers lie on the grid.

    Args:
        count: How many grids.
        size: Rows, and columns.
        generator: Draws everything.
        asks: About columns or rows only; None: either.
    """
    cells = torch.randint(SYMBOLS, (count, size * size), generator=generator)
    low, high = {"columns": (0, FARTHEST), "rows": (FARTHEST, 2 * FARTHEST), None: (0, 2 * FARTHEST)}[asks]
    question = torch.randint(low, high, (count,), generator=generator)
    k, down = question % FARTHEST + 1, question >= FARTHEST
    free, bound = (torch.rand(count, generator=generator) for _ in range(2))
    along, across = (bound * (size - k)).long(), (free * size).long()  # the way of the question, and the other one
    asked = torch.where(down, along * size + across, across * size + along)
    target = asked + torch.where(down, size * k, k)
    return Grids(cells, asked, question, cells.gather(1, target[:, None])[:, 0])


def rotation(variant: str) -> RotaryConfig | None:
    """The turn of every plane by row and column, or by the place in the reading order.

    >>> [round(max(column), 4) for column in zip(*rotation("sections").vectors)]
    [0.0316, 0.0002]
    """
    if variant == "no positions":
        return None
    if variant == "one axis":
        return RotaryConfig(HEAD_DIM, base=BASE)
    spread = np.pi * (np.arange(HEAD_DIM // 4) / (HEAD_DIM // 4))
    tables = {
        "sections": lambda: section_frequencies(SECTIONS["sections"], base=BASE)[:, 1:],  # every frame is 0
        "interleaved": lambda: interleaved_frequencies(SECTIONS["interleaved"], base=BASE)[:, 1:],
        "axial": lambda: axial_frequencies(HEAD_DIM, base=BASE),
        "mixed": lambda: mixed_frequencies(HEAD_DIM, angles=spread, base=BASE),
    }
    return RotaryConfig.of_axes(tables[variant]())


def places(size: int) -> Tensor:
    """Row and column of every cell, (size * size, 2)."""
    return torch.cartesian_prod(torch.arange(size), torch.arange(size))


class _OnGrids(nn.Module):
    """A reader that knows where the cells of a grid stand."""

    def __init__(self, variant: str, seed: int) -> None:
        super().__init__()
        self.reader = GridReader(
            rotation(variant.removesuffix(", longer")),
            head_dim=HEAD_DIM,
            symbols=SYMBOLS,
            questions=2 * FARTHEST,
            seed=seed,
        )
        self.flat = variant == "one axis"

    def forward(self, grid: Grids) -> Tensor:
        cells = grid.cells.shape[1]
        where = torch.arange(cells) if self.flat else places(math.isqrt(cells))
        return self.reader(grid.cells, grid.asked, grid.question, places=where)


def train_grids(model: nn.Module, *, steps: int, size: int, rate: float, batch: int, seed: int) -> list[float]:
    """Train in place on fresh grids, ``batch`` at a time; returns the loss of every step, in nats."""
    generator = torch.Generator().manual_seed(seed)

    def ask() -> tuple[Tensor, Tensor]:
        grid = grids(batch, size=size, generator=generator)
        return model(grid), grid.answer

    return fit(model, ask, steps=steps, rate=rate)


@torch.no_grad()
def grid_accuracy(model: nn.Module, *, size: int, asks: Asks, count: int = 2048) -> float:
    """The share of right answers on fresh grids, the same ones at every call."""
    grid = grids(count, size=size, generator=torch.Generator().manual_seed(10_000 + size), asks=asks)
    return share_right(model(grid), grid.answer)


@torch.no_grad()
def _validate(model: nn.Module, config: dict[str, Any]) -> dict[str, Any]:
    """Loss on grids of the trained size that training has not seen, a batch at a time."""
    generator = torch.Generator().manual_seed(20_000)
    batches = (grids(128, size=config["size"], generator=generator) for _ in range(16))
    return losses_of((model(grid), grid.answer) for grid in batches)


TASK = SmallTask(
    experiment="grid-question",
    corpus="grids of symbols",
    classes=SYMBOLS,
    config={
        "task": "what stands k columns to the right of the marked cell, or k rows below",
        "head_dim": HEAD_DIM,
        "base": BASE,
        "size": SIZES[0],
        "length": SIZES[0] ** 2,
        "farthest": FARTHEST,
        "steps": STEPS,
        "batch": 64,
        "rate": 0.002,
        "optimizer": "Adam, cosine to zero",
        "sizes": list(SIZES),
    },
    variants={
        **{name: {"sections": SECTIONS[name]} if name in SECTIONS else {} for name in PLANNED},
        **{name: {"sections": SECTIONS[name.split(",")[0]], "steps": LONGER} for name in OBSERVED},
    },
    seeds=range(3),
    build=_OnGrids,
    train=lambda model, config: train_grids(
        model, **{name: config[name] for name in ("steps", "size", "rate", "batch", "seed")}
    ),
    validate=_validate,
    measure=lambda model: {
        asks: {str(size): grid_accuracy(model, size=size, asks=asks) for size in SIZES} for asks in ("columns", "rows")
    },
)

if __name__ == "__main__":
    write_cards(TASK)
