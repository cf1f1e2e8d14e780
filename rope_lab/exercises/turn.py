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
    direction: int  # +1 counter-clockwise, -1 clockwise
    rotary_dim: int = 0  # the first so many coordinates turn; 0: all of them

    def __call__(self, x, n):
        x, width = np.array(x, dtype=float), self.rotary_dim or self.head_dim
        theta = rotation.frequencies(width, base=self.base)
        x[..., :width] = rotation.rotate(x[..., :width], self.direction * n, theta=theta, layout=self.layout)
        return x

    def __repr__(self) -> str:
        way = "counter-clockwise" if self.direction > 0 else "clockwise"
        part = f", rotary_dim={self.rotary_dim}" if self.rotary_dim else ""
        return f"(x, n) -> x turned {way}, head_dim={self.head_dim}, base={self.base:g}, {self.layout}{part}"
