"""Calling the function that applies tables to q and k: its order of arguments and of axes, found by trying.

>>> def apply_rotary(q, k, cos, sin): return q, k
>>> def other(a, b): return a
>>> [takes_tables(f) for f in (apply_rotary, other)]
[True, False]
"""

from collections.abc import Callable, Iterator
from typing import Any

from rope_lab.audit.foreign_code import parameters_of

QUERIES = ("q", "xq", "query", "query_layer", "query_states", "x", "tensor", "hidden_states", "t")
KEYS = ("k", "xk", "key", "key_layer", "key_states")
VALUES = ("v", "value", "value_layer")
TABLES = ("cos", "sin", "freqs_cis", "freqs_ci", "freqs", "cos_sin", "sinusoidal_pos", "rotary_emb", "image_rotary_emb")

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
    """The ways to call it, the usual one first: heads before tokens, tokens before heads, no batch.

    ``settings`` go to every call.
    """
    function = getattr(function, "__wrapped__", function)
    names = parameter_names(function)
    turned = [name for name in names if name in (*QUERIES, *KEYS, *VALUES)]
    asked = [name for name in names if name in TABLES]
    with_positions = "position_ids" in names and "position_ids" in _required(function)

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

    yield from (heads_first, tokens_first, no_batch, no_heads)
    if asked == ["sin", "cos"]:  # a module may give them in this order too
        yield from map(_other_order, (heads_first, tokens_first, no_batch, no_heads))


def _other_order(turn: Turn) -> Turn:
    return lambda x, tables, positions: turn(x, tables[::-1], positions)


def _required(function: Any) -> list[str]:
    return [n for n, p in parameters_of(function).items() if p.default is p.empty]


def _arranged(asked: list[str], tables: tuple[Any, ...]) -> dict[str, Any]:
    """The tables under the names that the function has for them."""
    if set(asked) == {"cos", "sin"}:
        if len(tables) == 1:  # angles, or cosines and sines stacked
            (table,) = tables
            tables = tuple(table) if table.shape[0] == 2 else (table.cos(), table.sin())
        return {"cos": tables[0], "sin": tables[1]}
    (name,) = asked
    return {name: tables[0] if len(tables) == 1 else tables}
