"""A rotary module that gives tables, ``RotaryEmbedding(dim)``: cosines and sines for positions, or for a length.

>>> import torch
>>> class RotaryEmbedding:
...     def forward(self, positions):
...         angle = positions[:, None] * torch.tensor([1.0, 0.01])
...         return angle.cos(), angle.sin()
>>> applied(tables_of(RotaryEmbedding().forward, head_dim=4), head_dim=4)[1]
'gives tables, applied here to halves; they do not say which coordinates pair'
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from rope_lab.algebra.layouts import quarter_turn

Tables = Callable[[Any, Any], tuple[Any, Any]]
POSITIONS = ("positions", "position_ids", "position", "pos", "t")
LENGTHS = ("seq_len", "seq_length", "length")


def tables_of(module: Any, *, head_dim: int) -> Tables | None:
    """cos and sin for x and positions (T,), torch tensors; None for a module that gives no such tables.

    Told by the names of forward's parameters. For positions the tables stay as they are, for a length their rows are
    looked up. Each is (..., T, head_dim) or (..., T, head_dim / 2).
    """
    names = list(inspect.signature(getattr(module, "forward", module)).parameters)
    asked = next((name for name in names if name in (*POSITIONS, *LENGTHS)), None)
    if asked is None:
        return None

    def tables(x: Any, positions: Any) -> tuple[Any, Any]:
        before = () if names[0] == asked else (x,)
        if asked in POSITIONS:
            cos, sin = module(*before, **{asked: positions[None] if asked == "position_ids" else positions})
            return cos, sin
        if positions.is_floating_point() or positions.min() < 0:
            raise IndexError("a table has whole rows from 0 on")
        cos, sin = module(*before, **{asked: int(positions.max()) + 1})
        return cos[..., positions, :], sin[..., positions, :]

    try:
        shapes = [tuple(table.shape[-2:]) for table in _sample(tables, head_dim)]
    except Exception:  # whatever it gives, it is no pair of tables
        return None
    return tables if shapes in ([(4, head_dim)] * 2, [(4, head_dim // 2)] * 2) else None


def applied(tables: Tables, *, head_dim: int) -> tuple[Callable[[Any, Any], Any], str]:
    """The tables as f(x, positions) in numpy, and in words to which coordinates they were applied."""
    sample = _sample(tables, head_dim)
    whole = sample[0].shape[-1] == head_dim
    neighbours = whole and all((table[..., ::2] == table[..., 1::2]).all() for table in sample)
    layout = "interleaved" if neighbours else "half"

    def f(x: Any, positions: Any) -> Any:
        import torch

        given = tables(torch.from_numpy(x), torch.from_numpy(positions))
        cos, sin = (table.detach().double().numpy() for table in given)
        if not whole:
            cos, sin = (np.concatenate([table, table], axis=-1) for table in (cos, sin))
        return x * cos + quarter_turn(x, layout=layout) * sin

    why = ", as their entries repeat" if whole else "; they do not say which coordinates pair"
    return f, f"gives tables, applied here to {'neighbours' if neighbours else 'halves'}{why}"


def _sample(tables: Tables, head_dim: int) -> tuple[Any, Any]:
    import torch

    cos, sin = tables(torch.zeros(1, 1, 4, head_dim), torch.arange(4))
    return cos, sin
