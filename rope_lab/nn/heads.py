"""The shape of attention: what all layers share, and what the projections q, k, v and o add."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from rope_lab.algebra.arguments import Layout, expect_layout
from rope_lab.algebra.placements import roles


@dataclass(frozen=True)
class HeadsConfig:
    """The widths of an attention layer, and which coordinates form a plane.

    The layout is "half" because torch.compile makes that one fast. `RotaryConfig`, which serves the vectors of any
    model, says "interleaved", the layout of the formulas. Stored results depend on both defaults.
    """

    d_model: int = 128  # width of the residual stream
    n_heads: int = 4
    head_dim: int | None = None  # width of a head; None: d_model / n_heads, and half of that halves the projections
    layout: Layout = "half"  # which coordinates form a plane

    def __post_init__(self) -> None:
        expect_sizes(self, "d_model", "n_heads", "head_dim")
        if self.head_dim is None and self.d_model % self.n_heads:
            raise ValueError(f"expected d_model divisible by {self.n_heads} heads, got {self.d_model}: or set head_dim")
        expect_layout(self.layout)

    @property
    def width(self) -> int:
        """Width of a head."""
        return self.d_model // self.n_heads if self.head_dim is None else self.head_dim


@dataclass(frozen=True)
class ProjectionConfig(HeadsConfig):
    """The four projections q, k, v and o: how many heads each has, which turn, and which are complex-linear."""

    n_kv_heads: int | None = None  # heads of k and v, each read by n_heads / n_kv_heads queries; None: n_heads, 1: MQA
    rotated: str = "qk"  # which of q, k, v, o turn with their position; "" for none
    complex_linear: str = ""  # which of them are complex-linear: half the weights
    bias: bool = False  # a bias in each linear layer

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rotated", roles(self.rotated, name="rotated"))
        object.__setattr__(self, "complex_linear", roles(self.complex_linear, name="complex_linear"))
        expect_sizes(self, "n_kv_heads")
        if self.n_heads % self.kv_heads:
            raise ValueError(
                f"n_kv_heads: expected a divisor of n_heads = {self.n_heads}, got {self.n_kv_heads}: "
                "each head of keys and values serves the same number of queries"
            )

    @property
    def kv_heads(self) -> int:
        """The number of heads of keys and values."""
        return self.n_heads if self.n_kv_heads is None else self.n_kv_heads

    def heads(self, role: str) -> int:
        """The number of heads of ``role``: those of keys and values may be fewer."""
        return self.kv_heads if role in "kv" else self.n_heads


def fields_of(kind: type[HeadsConfig], config: HeadsConfig) -> dict[str, Any]:
    """The fields of ``kind``, with the values that they have in ``config``, a config further down the tree."""
    return {field.name: getattr(config, field.name) for field in fields(kind)}


def expect_sizes(config: HeadsConfig, *names: str) -> None:
    """Refuse a field that is not a whole number of at least 1; None is allowed where it is the default."""
    for name in names:
        value, default = getattr(config, name), getattr(type(config), name)
        if value is None and default is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{type(config).__name__}.{name}: expected a whole number of at least 1, got {value!r}")
