"""Why a layer of a model sees where its text stands. Each cause is decided by an experiment, not by a name.

| cause | experiment |
|---|---|
| position 0 apart | counted from position 1 the layer stays |
| rounding | in float64 throughout the movement is gone |
| dynamic scaling | a second row, far out, changes the answer for the first |
| norm after the turn | without this one module the layer stays |
| length temperature | keys keep their lengths, and one factor for each query brings the scores back |
| values turn | the scores stay, and the layer's answer moves |
| queries and keys turn differently | q with q and k with k stay, q with k moves |
| lengths change | a query or key gets longer or shorter on its way |
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from rope_lab.audit.foreign_code import TargetError
from rope_lab.audit.shift_runs import Run, Runner, movement

ROUNDING = "rounding, coarser than the type of the weights"
START = "position 0 is told apart"
ABSOLUTE = "absolute positions added"
DYNAMIC = "dynamic scaling"
NORM = "norm after the turn"
TEMPERATURE = "length temperature"
VALUES = "values turn, and nothing turns them back"
DIFFERENT = "queries and keys turn differently"
LENGTHS = "lengths of queries or keys change with the position"
UNKNOWN = "no known cause fits"
BY_DESIGN = (
    START,
    ABSOLUTE,
    DYNAMIC,
    NORM,
    TEMPERATURE,
)  # what models are built with; they lose relativity all the same


def causes_of(ask: Runner, base: Run, *, layer: int, shift: int, floor: float) -> tuple[str, ...]:
    """The causes that fit one layer, which got the input of ``base`` and moved by more than ``floor``."""
    found = [DYNAMIC] if _neighbour(ask, base, layer=layer, shift=shift, floor=floor) else []
    first, moved = ask(1, given=base), ask(shift, given=base)
    if movement(first.outputs[layer], ask(shift + 1, given=base).outputs[layer]) <= floor:
        found.append(START)
    name = _bypassed(ask, base, layer=layer, shift=shift, floor=floor)
    found += [f"{NORM} ({name})"] if name else []
    return tuple(found) or (_scores(base.attended.get(layer, []), moved.attended.get(layer, []), floor),)


def _neighbour(ask: Runner, base: Run, *, layer: int, shift: int, floor: float) -> bool:
    """Whether the first row answers otherwise because the second stands far out."""
    try:
        near, far = ask(0, 0, given=base), ask(0, shift, given=base)
    except TargetError:
        return False
    return movement(near.outputs[layer], far.outputs[layer]) > floor


def _bypassed(ask: Runner, base: Run, *, layer: int, shift: int, floor: float) -> str | None:
    """The modules without which the layer stays, by name: those that get what has turned, and keep its shape."""
    turned: dict[str, list[Tensor]] = {}

    def note(name: str) -> Any:
        def hook(_: nn.Module, args: Any, output: Any) -> None:
            if args and isinstance(args[0], Tensor) and isinstance(output, Tensor) and args[0].shape == output.shape:
                turned.setdefault(name, []).append(args[0])

        return hook

    modules = {n: m for n, m in ask.layers[layer].named_modules() if n and not list(m.children())}
    modules = {n: m for n, m in modules.items() if not isinstance(m, nn.Linear)}
    hooks = [m.register_forward_hook(note(n)) for n, m in modules.items()]
    ask(0, given=base)
    ask(shift, given=base)
    for hook in hooks:
        hook.remove()
    halves = {n: (xs[: len(xs) // 2], xs[len(xs) // 2 :]) for n, xs in turned.items()}  # before the shift, and after
    after = [n for n, both in halves.items() if any(movement(*xs) > floor for xs in zip(*both, strict=False))]
    for names in _groups(after):
        hooks = [modules[n].register_forward_hook(lambda _, args, __: args[0]) for n in names]
        stays = movement(ask(0, given=base).outputs[layer], ask(shift, given=base).outputs[layer]) <= floor
        for hook in hooks:
            hook.remove()
        if stays:
            return ", ".join(names)
    return None


def _groups(names: list[str]) -> Iterator[tuple[str, ...]]:
    """Each module alone, then each pair: queries and keys have norms of their own."""
    yield from ((name,) for name in names)
    yield from ((a, b) for i, a in enumerate(names) for b in names[i + 1 :])


def _scores(before: list[tuple[Tensor, Tensor]], after: list[tuple[Tensor, Tensor]], floor: float) -> str:
    """What the queries and keys of one layer say."""
    if not before or len(before) != len(after):
        return UNKNOWN
    pairs = list(zip(before, after, strict=True))
    scores = [(_product(*old).tril(), _product(*new).tril()) for old, new in pairs]
    if all(movement(*s) <= floor for s in scores):
        return VALUES
    q, k = (max(movement(old[i].norm(dim=-1), new[i].norm(dim=-1)) for old, new in pairs) for i in (0, 1))
    if k <= floor and all(_factored(*s) <= floor for s in scores):
        return TEMPERATURE
    if max(q, k) > floor:
        return LENGTHS
    alone = max(movement(_product(old[i], old[i]), _product(new[i], new[i])) for old, new in pairs for i in (0, 1))
    return DIFFERENT if alone <= floor else UNKNOWN


def _product(q: Tensor, k: Tensor) -> Tensor:
    """q k^T, each head of keys for its queries."""
    if q.ndim == k.ndim == 4 and q.shape[1] != k.shape[1]:
        k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
    return q @ k.transpose(-1, -2)


def _factored(before: Tensor, after: Tensor) -> float:
    """What is left of the movement when each query may have one factor, the same for all heads."""
    axes = tuple(i for i in range(before.ndim) if i != before.ndim - 2)
    factor = (before * after).sum(axes, keepdim=True) / before.square().sum(axes, keepdim=True)
    return movement(before * factor, torch.as_tensor(after))
