"""Tables of cosines and sines: how a module is asked for them, and how a function applies them to q and k, by trying.

Whatever has tables is called from here alone: another shape of positions is a row of `SHAPES`, another order of axes a
way of `apply_calls`.

>>> import torch
>>> turn = lambda x, position_ids: ((position_ids[..., None] * torch.tensor([1.0, 0.1])).cos(),) * 2
>>> [call.words for call in table_calls(turn, {})][:1]
['(4, 1, T)']
>>> def apply_rotary(q, k, cos, sin): return q, k
>>> def other(a, b): return a
>>> [takes_tables(f) for f in (apply_rotary, other)]
[True, False]
>>> class RotaryEmbedding:
...     def forward(self, positions):
...         angle = positions[:, None] * torch.tensor([1.0, 0.01])
...         return angle.cos(), angle.sin()
>>> apply_cos_sin(cos_sin_function(RotaryEmbedding().forward, head_dim=4), head_dim=4)[1]
'gives tables, applied here in the half-split layout; they do not say which coordinates pair'
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rope_lab.algebra.arguments import Layout
from rope_lab.algebra.layouts import quarter_turn
from rope_lab.audit.constructions import LENGTHS, LONGEST, required
from rope_lab.audit.conversion import printed_layout
from rope_lab.audit.foreign_code import SAME, parameters_of
from rope_lab.audit.probe import RotaryCallable

Tables = Callable[[Any, Any], tuple[Any, ...]]  # x, P -> cosines and sines, or angles


@dataclass(frozen=True)
class TableCall:
    """One way to ask: tables(x, P) for positions P (T, axes)."""

    tables: Tables
    axes: int
    words: str  # the shape in which the positions go in


def _as_batch(tables: Tables) -> Tables:
    """The tables with an axis of one batch entry in front."""
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
        rest = [name for name in names if name in ("device", "dtype")]
        rows = _rows(lambda x: module(LONGEST, **{name: getattr(x, name) for name in rest}))
        yield TableCall(rows, 1, f"a length of {LONGEST}")
        yield TableCall(_as_batch(rows), 1, f"a length of {LONGEST}, as one batch")
    elif names in ([*SIDES], [*SIDES[1:]]):
        yield TableCall(_blocks(lambda _, sides: module(*sides)), len(names), "the sides of a block")
    elif names[:1] == ["pixel_values"]:
        yield from _grids(module, config)
    elif names[:1] in (["hidden_states"], ["x"]):
        rows = _rows(lambda x: module(x.new_zeros(1, LONGEST, x.shape[-1]), **which))
        yield TableCall(rows, 1, "a whole sequence")
        if config is not None:
            yield from _grids(module, config)
            return
        block = _blocks(lambda x, sides: module(x.new_zeros(()).expand(1, 1, *sides)))
        yield TableCall(block, 2, "a block of rows and columns")
        yield TableCall(block, 3, "a block of frames, rows and columns")


def several(answer: Any) -> tuple[Any, ...]:
    """The answer of a module as a tuple of tables."""
    return tuple(answer) if isinstance(answer, tuple | list | Iterator) else (answer,)


def _rows(ask: Callable[[Any], Any]) -> Tables:
    """Tables of `LONGEST` places from 0 on, of which the rows are looked up."""

    def tables(x: Any, P: Any) -> tuple[Any, ...]:
        at, given = whole_rows(P[:, 0], LONGEST), several(ask(x))
        # stacked tables (cos, sin) of one tensor: the axis of the tokens is the one as long as the sequence
        return tuple(table.index_select(list(table.shape).index(LONGEST), at) for table in given)

    return tables


def _blocks(ask: Callable[[Any, list[int]], Any]) -> Tables:
    """Tables of a block of patches that is large enough for the positions; the last side runs fastest.

    The first time a block with sides of double length must have the same tables at these positions.
    """
    checked: list[bool] = []

    def tables(x: Any, P: Any) -> tuple[Any, ...]:
        at = whole_rows(P, LONGEST)
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
            at = whole_rows(P, rows)
            found.append(flat[at[:, 0] * rows + at[:, 1]])
        return tuple(found)

    yield TableCall(tables, 2, f"a grid of {GRID} x {GRID} patches")


def whole_rows(at: Any, end: int | None = None) -> Any:
    """The numbers of rows, where a table has such rows; else IndexError."""
    if at.is_floating_point() or at.min() < 0 or (end is not None and at.max() >= end):
        raise IndexError(f"a table has whole rows from 0 {'on' if end is None else f'to {end - 1}'}")
    return at


QUERIES = ("q", "xq", "query", "query_layer", "query_states", "x", "tensor", "hidden_states", "t")
KEYS = ("k", "xk", "key", "key_layer", "key_states")
VALUES = ("v", "value", "value_layer")
TABLES = (
    *("cos", "sin", "freqs_cis", "freqs_ci", "freqs", "cos_sin", "sinusoidal_pos"),
    *("rotary_emb", "image_rotary_emb", "rope_cache"),
)

Turn = Callable[[Any, tuple[Any, ...], Any], list[Any]]  # x, tables, positions -> x turned as q (and as k)


def takes_tables(function: Any) -> bool:
    """Whether the names of its parameters are those of a function that applies tables to q, or to q and k."""
    names = parameter_names(function)
    return bool(set(names) & set(TABLES)) and bool(set(names) & set(QUERIES))


def parameter_names(function: Any) -> list[str]:
    """The names of its parameters; none if it does not tell them."""
    try:
        return list(parameters_of(function))
    except (TypeError, ValueError):
        return []


def other_settings(function: Any) -> list[dict[str, Any]]:
    """The switches of a function, each turned by itself: a truth value, or which axis is split, the last or another."""
    found: list[dict[str, Any]] = []
    for name, parameter in parameters_of(function).items():
        if isinstance(parameter.default, bool):
            found.append({name: not parameter.default})
        elif parameter.default in (-1, -2):
            found.append({name: -3 - parameter.default})
    return found


def apply_calls(function: Any, **settings: Any) -> Iterator[Turn]:
    """The ways to call it, the usual one first: tokens behind heads, before them, no batch, before all.

    ``settings`` go to every call.
    """
    function = getattr(function, "__wrapped__", function)
    names = parameter_names(function)
    turned = [name for name in names if name in (*QUERIES, *KEYS, *VALUES)]
    asked = [name for name in names if name in TABLES]
    with_positions = "position_ids" in names and "position_ids" in required(function)

    def run(x: Any, tables: tuple[Any, ...], positions: Any) -> list[Any]:
        given = dict(zip(turned, [x, *(x.clone() for _ in turned[1:])], strict=True))
        given |= _arranged(asked, tables)
        if with_positions:
            given["position_ids"] = positions
        y = function(**given, **settings)
        return list(y)[:2] if isinstance(y, tuple | list) else [y]

    def heads_first(x: Any, tables: tuple[Any, ...], positions: Any) -> list[Any]:
        return run(x, tables, positions)

    def tokens_first(x: Any, tables: tuple[Any, ...], positions: Any) -> list[Any]:
        return [y.transpose(1, 2) for y in run(x.transpose(1, 2), tables, positions)]

    def no_batch(x: Any, tables: tuple[Any, ...], positions: Any) -> list[Any]:
        import torch

        rows = [[y.transpose(0, 1) for y in run(row.transpose(0, 1), tables, positions)] for row in x]
        return [torch.stack(turned) for turned in zip(*rows, strict=True)]

    def no_heads(x: Any, tables: tuple[Any, ...], positions: Any) -> list[Any]:
        flat = x.reshape(-1, *x.shape[-2:])
        return [y.reshape(x.shape) for y in run(flat, tables, positions)]

    def tokens_outside(x: Any, tables: tuple[Any, ...], positions: Any) -> list[Any]:
        return [y.permute(1, 2, 0, 3) for y in run(x.permute(2, 0, 1, 3), tables, positions)]

    yield from (heads_first, tokens_first, no_batch, no_heads, tokens_outside)
    if asked == ["sin", "cos"]:  # a module may give them in this order too
        yield from map(_other_order, (heads_first, tokens_first, no_batch, no_heads))


def _other_order(turn: Turn) -> Turn:
    return lambda x, tables, positions: turn(x, tables[::-1], positions)


def _arranged(asked: list[str], tables: tuple[Any, ...]) -> dict[str, Any]:
    """The tables under the names that the function has for them."""
    if set(asked) == {"cos", "sin"}:
        if len(tables) == 1:  # angles, or cosines and sines stacked
            (table,) = tables
            tables = tuple(table) if table.shape[0] == 2 else (table.cos(), table.sin())
        return {"cos": tables[0], "sin": tables[1]}
    (name,) = asked
    return {name: tables[0] if len(tables) == 1 else tables}


def for_both(apply: Any) -> Any:
    """apply(q, k, *tables), made of apply(x, cos, sin) where the family has that form."""
    if list(parameters_of(apply))[:3] != ["x", "cos", "sin"]:
        return apply
    return lambda q, k, *tables: (apply(q, *tables), apply(k, *tables))


def tensor(x: Any) -> Any:
    """x, if it is a tensor of torch."""
    if not hasattr(x, "detach"):
        raise TypeError("torch tensors only")
    return x


def repeated_entries(x: Any, cos: Any, sin: Any) -> Any:
    """x (..., T, head_dim) turned by tables (T, head_dim), in the pairs whose entries are equal.

    Raises:
        ValueError: If the tables are not as wide as x, or neither neighbours nor halves of them repeat.
    """
    cos, sin = (table.reshape(-1, table.shape[-1]).to(x.dtype) for table in (cos, sin))
    if cos.shape != x.shape[-2:]:
        raise ValueError("the tables have no row for each token, or do not say which coordinates pair")
    if _equal(cos[..., ::2], cos[..., 1::2]) and _equal(sin[..., ::2], sin[..., 1::2]):
        turned = (x.unflatten(-1, (-1, 2)).flip(-1) * x.new_tensor([-1.0, 1.0])).flatten(-2)
    else:
        half = x.shape[-1] // 2
        if not (_equal(cos[..., :half], cos[..., half:]) and _equal(sin[..., :half], sin[..., half:])):
            raise ValueError("the entries of the tables do not repeat, so they do not say which coordinates pair")
        turned = (x.unflatten(-1, (2, -1)).flip(-2) * x.new_tensor([[-1.0], [1.0]])).flatten(-2)
    return x * cos + turned * sin


def _equal(a: Any, b: Any) -> bool:
    return bool((a == b).all())


CosSinFunction = Callable[[Any, Any], tuple[Any, Any]]
COS_SIN_POSITIONS = ("positions", "position_ids", "position", "pos", "token_positions", "pos_ids", "t")
COS_SIN_LENGTHS = ("seq_len", "seq_length", "length")
MOST = 2**17  # rows of a table that is made for a length: more cost a gigabyte


def cos_sin_function(module: Any, *, head_dim: int) -> CosSinFunction | None:
    """The function that gives a module's cos and sin for x and positions (T,), or None if it gives no such tables.

    The module is identified by the names of forward's parameters. If it takes positions, its tables are used as they
    are; if it takes a length, their rows are looked up. Each is (..., T, head_dim) or (..., T, head_dim / 2).
    """
    names = list(parameters_of(getattr(module, "forward", module)))
    asked = next((name for name in names if name in (*COS_SIN_POSITIONS, *COS_SIN_LENGTHS)), None)
    if asked is None:
        return None

    def tables(x: Any, positions: Any) -> tuple[Any, Any]:
        before = () if names[0] == asked else (x,)
        if asked in COS_SIN_POSITIONS:
            cos, sin = module(*before, **{asked: positions[None] if asked == "position_ids" else positions})
            return cos, sin
        cos, sin = module(*before, **{asked: int(whole_rows(positions, MOST).max()) + 1})
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
