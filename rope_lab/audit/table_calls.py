"""Asking a rotary module for its tables: which shape of positions it takes, and along how many axes, found by trying.

>>> import torch
>>> turn = lambda x, position_ids: ((position_ids[..., None] * torch.tensor([1.0, 0.1])).cos(),) * 2
>>> [call.words for call in table_calls(turn, {})][:1]
['(4, 1, T)']
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TableCall:
    """One way to ask: tables(x, P) for positions P (T, axes)."""

    tables: Callable[[Any, Any], tuple[Any, ...]]
    axes: int
    words: str  # the shape in which the positions go in


def _axes_first(P: Any) -> Any:
    return P.T[:, None, :]


def _as_they_are(P: Any) -> Any:
    return P


def _with_batch(P: Any) -> Any:
    return P[None]


def _one_axis(P: Any) -> Any:
    return P.T


def _one_axis_flat(P: Any) -> Any:
    return P[:, 0]


SHAPES: tuple[tuple[int, str, Callable[[Any], Any]], ...] = (
    (4, "(4, 1, T)", _axes_first),
    (3, "(3, 1, T)", _axes_first),
    (2, "(2, 1, T)", _axes_first),
    (2, "(T, 2)", _as_they_are),
    (2, "(1, T, 2)", _with_batch),
    (3, "(T, 3)", _as_they_are),
    (3, "(1, T, 3)", _with_batch),
    (1, "(1, T)", _one_axis),
    (1, "(T,)", _one_axis_flat),
)
GRID = 96  # patches along each side, where a module takes an image
LONGEST = 2048  # tokens, where a module takes a whole sequence


def table_calls(module: Any, which: dict[str, Any], *, config: Any = None) -> Iterator[TableCall]:
    """The ways to ask a module, many axes first. ``which`` goes to every call, such as the kind of layer."""
    names = [n for n in inspect.signature(getattr(module, "forward", module)).parameters if n not in which]
    if any("position" in name or name in ("coords", "grid") for name in names):
        for axes, words, shape in SHAPES:

            def tables(x: Any, P: Any, shape: Any = shape) -> tuple[Any, ...]:
                at = shape(P)
                return several(module(*((x, at) if len(names) > 1 else (at,)), **which))

            yield TableCall(tables, axes, words)
    elif names[:1] == ["pixel_values"]:
        yield from _grids(module, config)
    elif names[:1] in (["hidden_states"], ["x"]):
        yield TableCall(_rows(module, which), 1, "a whole sequence")
        yield from _grids(module, config)


def several(answer: Any) -> tuple[Any, ...]:
    """What a module gave, as a tuple of tables."""
    return tuple(answer) if isinstance(answer, tuple | list) else (answer,)


def _rows(module: Any, which: dict[str, Any]) -> Callable[[Any, Any], tuple[Any, ...]]:
    """Tables of a whole sequence from 0 on, of which the rows are looked up."""

    def tables(x: Any, P: Any) -> tuple[Any, ...]:
        at = _whole(P[:, 0], LONGEST)
        given = several(module(x.new_zeros(1, LONGEST, x.shape[-1]), **which))
        # stacked tables (cos, sin) of one tensor: the axis of the tokens is the one as long as the sequence
        return tuple(_looked_up(table, at, LONGEST) for table in given)

    return tables


def _looked_up(table: Any, at: Any, length: int) -> Any:
    axis = list(table.shape).index(length)
    return table.index_select(axis, at)


def _grids(module: Any, config: Any) -> Iterator[TableCall]:
    """Tables of an image: rows of patches, then columns; the first token may be another one."""
    patch = getattr(config, "patch_size", 1)

    def tables(x: Any, P: Any) -> tuple[Any, ...]:
        side = GRID
        image = x.new_zeros(()).expand(1, getattr(config, "num_channels", 3), side * patch, side * patch)
        given = several(module(image))
        found = []
        for table in given:
            flat = table.reshape(-1, table.shape[-1])
            rows = round(flat.shape[0] ** 0.5)
            at = _whole(P, rows)
            found.append(flat[at[:, 0] * rows + at[:, 1]])
        return tuple(found)

    yield TableCall(tables, 2, f"a grid of {GRID} x {GRID} patches")


def _whole(at: Any, end: int) -> Any:
    if at.is_floating_point() or at.min() < 0 or at.max() >= end:
        raise IndexError(f"a table has whole rows from 0 to {end - 1}")
    return at
