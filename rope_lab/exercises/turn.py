"""A rotation whose convention the reader is to find out: the instrument of several exercises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rope_lab.algebra import rotation
from rope_lab.algebra.arguments import Layout


@dataclass(frozen=True)
class Turn:
    """A rotation of vectors of one length, with a layout that it does not tell."""

    head_dim: int
    base: float
    layout: Layout
    direction: int | tuple[int, ...]  # +1 counter-clockwise, -1 clockwise, or a factor for each plane
    rotary_dim: int = 0  # the first so many coordinates turn; 0: all of them

    def __call__(self, x, n):
        x, width = np.array(x, dtype=float), self.rotary_dim or self.head_dim
        theta = rotation.frequencies(width, base=self.base) * self.direction
        x[..., :width] = rotation.rotate(x[..., :width], n, theta=theta, layout=self.layout)
        return x

    def __repr__(self) -> str:
        way = {1: "counter-clockwise", -1: "clockwise"}.get(self.direction, f"{self.direction} times")  # type: ignore
        part = f", rotary_dim={self.rotary_dim}" if self.rotary_dim else ""
        return f"(x, n) -> x turned {way}, head_dim={self.head_dim}, base={self.base:g}, {self.layout}{part}"
