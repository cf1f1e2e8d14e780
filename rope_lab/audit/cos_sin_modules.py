"""A rotary module that gives tables, ``RotaryEmbedding(dim)``: cosines and sines for positions, or for a length.

>>> import torch
>>> class RotaryEmbedding:
...     def forward(self, positions):
...         angle = positions[:, None] * torch.tensor([1.0, 0.01])
...         return angle.cos(), angle.sin()
>>> apply_cos_sin(cos_sin_function(RotaryEmbedding().forward, head_dim=4), head_dim=4)[1]
'gives tables, applied here in the half-split layout; they do not say which coordinates pair'
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rope_lab.algebra.arguments import Layout
from rope_lab.algebra.layouts import quarter_turn
from rope_lab.audit.conversion import printed_layout
from rope_lab.audit.importing import parameters_of
from rope_lab.audit.probe import RotaryCallable

CosSinFunction = Callable[[Any, Any], tuple[Any, Any]]
POSITIONS = ("positions", "position_ids", "position", "pos", "t")
LENGTHS = ("seq_len", "seq_length", "length")


def cos_sin_function(module: Any, *, head_dim: int) -> CosSinFunction | None:
    """The function that gives a module's cos and sin for x and positions (T,), or None if it gives no such tables.

    The module is identified by the names of forward's parameters. If it takes positions, its tables are used as they
    are; if it takes a length, their rows are looked up. Each is (..., T, head_dim) or (..., T, head_dim / 2).
    """
    names = list(parameters_of(getattr(module, "forward", module)))
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
    except Exception:  # it does not give a pair of tables
        return None
    return tables if shapes in ([(4, head_dim)] * 2, [(4, head_dim // 2)] * 2) else None


def apply_cos_sin(tables: CosSinFunction, *, head_dim: int) -> tuple[RotaryCallable, str]:
    """f(x, positions) in numpy that applies the tables, and a sentence that says to which coordinates."""
    sample = _sample(tables, head_dim)
    whole = sample[0].shape[-1] == head_dim
    neighbours = whole and all((table[..., ::2] == table[..., 1::2]).all() for table in sample)
    layout: Layout = "interleaved" if neighbours else "half"

    def f(x: Any, positions: Any) -> Any:
        import torch

        given = tables(torch.from_numpy(x), torch.from_numpy(positions))
        cos, sin = (table.detach().double().numpy() for table in given)
        if not whole:
            cos, sin = (np.concatenate([table, table], axis=-1) for table in (cos, sin))
        return x * cos + quarter_turn(x, layout=layout) * sin

    why = ", as their entries repeat" if whole else "; they do not say which coordinates pair"
    return f, f"gives tables, applied here in the {printed_layout(layout)} layout{why}"


def _sample(tables: CosSinFunction, head_dim: int) -> tuple[Any, Any]:
    import torch

    cos, sin = tables(torch.zeros(1, 1, 4, head_dim), torch.arange(4))
    return cos, sin
