"""Which Python function turns: the innermost one that gets the same vector at two positions and returns another.

No function is named here. Every call inside a layer is followed by the interpreter's own profiler, until the layer's
queries and keys have met: what ends later only carries on what has turned.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import torch
from torch import Tensor

from rope_lab.audit.shift_runs import TOKENS, Runner, movement

HALVES = ", which puts even coordinates before odd ones"
ORDERS = {"same": "", "halves": HALVES, "another": ", which puts coordinates in another order"}
PASSING = ("torch", "beartype", "jaxtyping")  # their frames carry what others turn


@dataclass
class Call:
    """One call of a Python function inside a layer; the calls are numbered as they begin."""

    name: str  # module:name
    layer: int
    number: int
    given: list[Tensor]
    returned: list[Tensor]


@contextmanager
def followed(ask: Runner) -> Iterator[list[Call]]:
    """The calls that ended inside a layer before its queries met keys, in the order in which they ended."""
    ended: list[Call] = []
    stack: list[Call | None] = []
    numbers = count()

    def profile(frame: Any, event: str, arg: Any) -> None:
        if event == "call":
            stack.append(_begun(frame, ask.now[0], next(numbers)))
        elif event == "return" and stack:
            call = stack.pop()
            if call is not None and not ask.met and (returned := _tensors([arg])):
                call.returned = returned
                ended.append(call)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield ended
    finally:
        sys.setprofile(before)


def turning_names(old: list[Call], new: list[Call], *, floor: float) -> dict[int, tuple[str, ...]]:
    """Of two runs at two positions: for each layer the functions that turned what stood still before them.

    One that gives a vector back in another order, also where it does not turn it, is named as such. Its fingerprint
    is that of the order in which it writes; weights are stored for the order that it reads.
    """
    found: dict[int, list[str]] = {}
    turned: list[int] = []
    for a, b in zip(old, new, strict=False):
        if a.name != b.name or not _turned(a, b, floor):
            continue
        if any(number > a.number for number in turned):  # it began before one that ended before it: it stands around it
            continue
        turned.append(a.number)
        names = found.setdefault(a.layer, [])
        name = a.name + ORDERS[_order(a)]
        if name not in names:
            names.append(name)
    return {layer: tuple(names) for layer, names in found.items()}


def _turned(a: Call, b: Call, floor: float) -> bool:
    """A tensor came back moved, and one of its shape was given that had not moved."""
    moved = {x.shape for x, y in zip(a.returned, b.returned, strict=False) if movement(x, y) > floor}
    still = {x.shape for x, y in zip(a.given, b.given, strict=False) if movement(x, y) <= floor}
    moving = {x.shape for x, y in zip(a.given, b.given, strict=False) if movement(x, y) > floor}
    return any(s in still or (s not in moving and s.numel() in {t.numel() for t in still}) for s in moved)


def _order(call: Call) -> str:
    """At position 0, where nothing turns, the same numbers come back: in which order?"""
    for y in call.returned:
        for x in call.given:
            if x.shape == y.shape and x.shape[-2] == TOKENS:
                first, last = x[..., 0, :], y[..., 0, :]
                same = torch.allclose(first.sort(-1).values, last.sort(-1).values, rtol=0, atol=1e-9)
                if same and not torch.allclose(first, last, rtol=0, atol=1e-9):
                    halves = torch.cat([first[..., ::2], first[..., 1::2]], -1)
                    return "halves" if torch.allclose(halves, last, rtol=0, atol=1e-9) else "another"
    return "same"


def _begun(frame: Any, layer: int, number: int) -> Call | None:
    module = frame.f_globals.get("__name__") or ""
    code = frame.f_code
    written = module and not code.co_filename.startswith("<")  # in a file, not made by a decorator
    if layer < 0 or not written or module.partition(".")[0] in PASSING or module.startswith("rope_lab.audit"):
        return None
    values = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
    return Call(f"{module}:{code.co_qualname}", layer, number, _tensors(values), [])


def _tensors(values: list[Any]) -> list[Tensor]:
    """The floating-point tensors among these, and in tuples among these, as they are now."""
    flat = [x for value in values for x in (value if isinstance(value, tuple | list) else (value,))]
    return [x.clone() for x in flat if isinstance(x, Tensor) and x.is_floating_point() and TOKENS in x.shape]
