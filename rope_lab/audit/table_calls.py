"""Asking a rotary module for its tables: which shape of positions it takes, and along how many axes, found by trying.

>>> import torch
>>> turn = lambda x, position_ids: ((position_ids[..., None] * torch.tensor([1.0, 0.1])).cos(),) * 2
>>> [call.words for call in table_calls(turn, {})][:1]
['(4, 1, T)']
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rope_lab.audit.constructions import LENGTHS, LONGEST
from rope_lab.audit.foreign_code import parameters_of


@dataclass(frozen=True)
class TableCall:
    """One way to ask: tables(x, P) for positions P (T, axes)."""

    tables: Callable[[Any, Any], tuple[Any, ...]]
    axes: int
    words: str  # the shape in which the positions go in


def _as_batch(tables: Callable[[Any, Any], tuple[Any, ...]]) -> Callable[[Any, Any], tuple[Any, ...]]:
    """The same tables with an axis of one batch entry in front."""
    return lambda x, P: tuple(table[None] for table in tables(x, P))


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
PLACES = ("ids", "pos", "coords", "grid", "t", "positions", "position_ids")
SIDES = ("frames", "height", "width")
GRID = 96  # patches along each side, where a module takes an image
SIDE = 4  # patches along the shortest side
SAME = 1e-4
VOLUME = 2**15  # patches of a block, where a module takes a video or the sides of a block


def table_calls(module: Any, which: dict[str, Any], *, config: Any = None) -> Iterator[TableCall]:
    """The ways to ask a module, many axes first. ``which`` goes to every call, such as the kind of layer."""
    names = [n for n in parameters_of(getattr(module, "forward", module)) if n not in which]
    if asked := next((name for name in names if "position" in name or name in PLACES), None):
        first = asked == names[0]
        rest = [name for name in names[1:] if first and name in ("device", "dtype")]
        for axes, words, shape in SHAPES:

            def tables(x: Any, P: Any, shape: Any = shape) -> tuple[Any, ...]:
                given = (shape(P),) if first else (x, shape(P))
                return several(module(*given, **{name: getattr(x, name) for name in rest}, **which))

            yield TableCall(tables, axes, words)
            if config is None and shape in (_as_they_are, _one_axis_flat):
                yield TableCall(_as_batch(tables), axes, f"{words}, as one batch")
    elif names[:1] and names[0] in LENGTHS:
        rows = _length(module, names)
        yield TableCall(rows, 1, f"a length of {LONGEST}")
        yield TableCall(_as_batch(rows), 1, f"a length of {LONGEST}, as one batch")
    elif names in ([*SIDES], [*SIDES[1:]]):
        yield TableCall(_blocks(lambda _, sides: module(*sides)), len(names), "the sides of a block")
    elif names[:1] == ["pixel_values"]:
        yield from _grids(module, config)
    elif names[:1] in (["hidden_states"], ["x"]):
        yield TableCall(_rows(module, which), 1, "a whole sequence")
        if config is not None:
            yield from _grids(module, config)
            return
        block = _blocks(lambda x, sides: module(x.new_zeros(()).expand(1, 1, *sides)))
        yield TableCall(block, 2, "a block of rows and columns")
        yield TableCall(block, 3, "a block of frames, rows and columns")


def several(answer: Any) -> tuple[Any, ...]:
    """What a module gave, as a tuple of tables."""
    return tuple(answer) if isinstance(answer, tuple | list | Iterator) else (answer,)


def _rows(module: Any, which: dict[str, Any]) -> Callable[[Any, Any], tuple[Any, ...]]:
    """Tables of a whole sequence from 0 on, of which the rows are looked up."""

    def tables(x: Any, P: Any) -> tuple[Any, ...]:
        at = _whole(P[:, 0], LONGEST)
        given = several(module(x.new_zeros(1, LONGEST, x.shape[-1]), **which))
        # stacked tables (cos, sin) of one tensor: the axis of the tokens is the one as long as the sequence
        return tuple(_looked_up(table, at, LONGEST) for table in given)

    return tables


def _length(module: Any, names: list[str]) -> Callable[[Any, Any], tuple[Any, ...]]:
    """Tables of a length, of which the rows are looked up."""

    def tables(x: Any, P: Any) -> tuple[Any, ...]:
        at = _whole(P[:, 0], LONGEST)
        given = several(module(LONGEST, **{name: getattr(x, name) for name in names if name in ("device", "dtype")}))
        return tuple(_looked_up(table, at, LONGEST) for table in given)

    return tables


def _blocks(ask: Callable[[Any, list[int]], Any]) -> Callable[[Any, Any], tuple[Any, ...]]:
    """Tables of a block of patches that is large enough for the positions; the last side runs fastest.

    The first time a block with sides of double length must have the same tables at these positions.
    """
    checked: list[bool] = []

    def tables(x: Any, P: Any) -> tuple[Any, ...]:
        at = _whole(P, LONGEST)
        sides = [max(SIDE, 1 << int(side).bit_length()) for side in at.amax(dim=0)]  # so that few sizes are asked
        if math.prod(sides) > VOLUME:
            raise IndexError(f"blocks of up to {VOLUME} patches are asked")
        found = _of_block(ask(x, sides), sides, at)
        if not checked:
            double = [2 * side for side in sides]
            other = _of_block(ask(x, double), double, at)
            if any(bool((a - b).abs().max() > SAME) for a, b in zip(found, other, strict=True)):
                raise ValueError("its tables depend on the size of the block")
            checked.append(True)
        return found

    return tables


def _of_block(answer: Any, sides: list[int], at: Any) -> tuple[Any, ...]:
    """The rows of tables at places (T, axes) of a block."""
    row = at.new_zeros(len(at))
    for axis, side in enumerate(sides):
        row = row * side + at[:, axis]
    flat = [table.reshape(-1, table.shape[-1]) for table in several(answer)]
    if any(len(table) != math.prod(sides) for table in flat):
        raise ValueError("its tables have no row for each patch of the block")
    return tuple(table[row] for table in flat)


def _looked_up(table: Any, at: Any, length: int) -> Any:
    axis = list(table.shape).index(length)
    return table.index_select(axis, at)


def _grids(module: Any, config: Any) -> Iterator[TableCall]:
    """Tables of an image: rows of patches, then columns; the first token may be another one."""
    patch = getattr(config, "patch_size", 1)
    whole: dict[Any, tuple[Any, ...]] = {}  # the image is always the same: its tables are asked once for each dtype

    def tables(x: Any, P: Any) -> tuple[Any, ...]:
        if x.dtype not in whole:
            side = GRID * patch
            whole[x.dtype] = several(module(x.new_zeros(()).expand(1, getattr(config, "num_channels", 3), side, side)))
        found = []
        for table in whole[x.dtype]:
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
