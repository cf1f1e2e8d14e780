"""The complex recurrence: our two forms, a loop, a generic associative scan, SciPy's filter, the quadratic form.

``rope-lab bench recurrence`` calls `run` and prints `table`. The same four million numbers are cut into sequences of
1,024 to 65,536 steps, so that every one of these columns moves the same bytes and the unit, a copy, is the same. The
last columns are one shorter sequence by itself, where the copy stays in the cache and starting an operation may take
longer than doing it. Without numba there is no compiled loop, and its rows are left out. What takes minutes is measured
on a part (fewer sequences, fewer steps, fewer rounds) and scaled; the card says which.
"""

import json
import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from rich.table import Table
from scipy.signal import lfilter
from torch import Tensor

from benchmarks.harness import card, in_a_fresh_process, measure, ratios
from rope_lab.nn.recurrence import compiled
from rope_lab.nn.recurrence.forms import linear_rnn

CHANNELS = 64
SHAPES = {
    "1k": (64, 1024),
    "4k": (16, 4096),
    "16k": (4, 16384),
    "65k": (1, 65536),
    "1k, one sequence": (1, 1024),
    "16k, one sequence": (1, 16384),
}
EQUAL, ALONE = list(SHAPES)[:4], list(SHAPES)[4:]
GAMMA, ROUNDS = 0.99, 21
LOOPED, SUMS, COPY = "ours, compiled loop", "ours, running sums", "copy_"
SCAN, LOOP = "generic associative scan", "loop over steps in Python"
FILTER, QUADRATIC = "SciPy lfilter, a call for each plane", "quadratic attention form"
BACKWARD = ", forward and backward"
FORMS = (LOOPED, LOOPED + BACKWARD, SUMS, SUMS + BACKWARD, SCAN, LOOP, FILTER, QUADRATIC)
BAR, GROWTH, ERROR = 10.0, 1.3, 5e-7
States = Callable[[Tensor, Tensor], Tensor]  # of v and theta


def run() -> dict[str, Any]:
    """Measure, in a fresh process, keep the card in benchmarks/cards/recurrence.json and return it."""
    return in_a_fresh_process("benchmarks.recurrence")


def _in_words(entry: dict[str, Any]) -> str:
    bar, found = entry["bar"], entry["found"]
    asked = "" if bar is None else f" (bar {bar:g})"
    above = {form: " above" if bar is not None and value > bar else "" for form, value in found.items()}
    return f"{entry['what']}{asked}: " + "; ".join(f"{form}, {value:.2g}{above[form]}" for form, value in found.items())


def table(card: dict[str, Any]) -> Table:
    """The card as a table: one row for each form, one column for each length."""
    words = "\n".join([*map(_in_words, card["bars"]), *card["notes"]])
    shown = Table(
        title=f"complex recurrence, {card['channels']} channels, {card['threads']} thread: time over copy_",
        caption=words,
        caption_justify="left",
    )
    shown.add_column("form")
    for name in card["shapes"]:
        shown.add_column(name, justify="right")
    cells = {(row["form"], row["length"]): row for row in card["rows"]}
    for form in FORMS:
        found = (cells.get((form, name)) for name in card["shapes"])
        shown.add_row(form, *("" if row is None else f"{row['ratio_to_copy']:.1f}" for row in found))
    return shown


def main() -> dict[str, Any]:
    """Measure in this process, which should have been started by `run`."""
    torch.set_num_threads(1)
    theta = torch.linspace(0.01, 3.0, CHANNELS // 2, dtype=torch.float64)
    rows: list[dict[str, Any]] = []
    errors: dict[str, dict[str, float]] = {form: {} for form in _ours()}
    for name, (count, length) in SHAPES.items():
        v = torch.randn(count, length, CHANNELS, generator=torch.Generator().manual_seed(0))
        variants = _quick(v, theta)
        seconds = measure(variants, rounds=ROUNDS, warm_up=2)
        found = ratios(seconds, to=COPY)
        copy_ms = found[COPY]["milliseconds"]
        for form, (call, share) in _slow(v, theta).items():
            once = 1e3 * min(measure({form: call}, rounds=2, warm_up=1)[form]) / share
            found[form] = {"ratio_to_copy": round(once / copy_ms, 1), "milliseconds": round(once, 3), "share": share}
        rows += [{"form": form, "length": name, **numbers} for form, numbers in found.items()]
        if count == 1:
            for form, states in _ours().items():
                errors[form][name] = _error(states, v, theta)
    by = {(row["form"], row["length"]): row for row in rows}
    notes = ["measured on a part and scaled: the loop, lfilter and the quadratic form (see share in the card)"]
    return card(
        "recurrence",
        packages=("torch", "numpy", "scipy", "numba"),
        threads=torch.get_num_threads(),
        channels=CHANNELS,
        shapes=SHAPES,
        gamma=GAMMA,
        rounds=ROUNDS,
        errors=errors,
        rows=rows,
        bars=_bars(by, errors, theta),
        notes=notes,
    )


def _bars(
    by: dict[tuple[str, str], dict[str, Any]], errors: dict[str, dict[str, float]], theta: Tensor
) -> list[dict[str, Any]]:
    """What was asked of our forms, and what each of them reached."""

    def copies(form: str, name: str) -> float:
        return by[form, name]["ratio_to_copy"]

    def milliseconds(form: str, name: str) -> float:
        return by[form, name]["milliseconds"]

    short = ALONE[0]
    asked: list[tuple[str, float | None, Callable[[str], float]]] = [
        ("copies, equal bytes, at most", BAR, lambda form: max(copies(form, name) for name in EQUAL)),
        *((f"copies, {name}", BAR, partial(copies, name=name)) for name in ALONE),
        (f"one step, in copies of {short}", None, lambda form: _start(form, theta) / milliseconds(COPY, short)),
        ("time per number, 65k over 1k", GROWTH, lambda form: milliseconds(form, "65k") / milliseconds(form, "1k")),
        ("relative error of float32, 65k", ERROR, lambda form: errors[form]["65k"]),
    ]
    return [{"what": what, "bar": bar, "found": {form: found(form) for form in errors}} for what, bar, found in asked]


def _ours() -> dict[str, States]:
    """Every form of ours that this machine has: a function of v and theta."""

    def states(v: Tensor, theta: Tensor) -> Tensor:
        return linear_rnn(v, gamma=GAMMA, theta=theta)[0]

    def by_sums(v: Tensor, theta: Tensor) -> Tensor:
        loop, compiled.loops = compiled.loops, lambda: None  # type: ignore[assignment]
        try:
            return states(v, theta)
        finally:
            compiled.loops = loop

    forms: dict[str, States] = {LOOPED: states} if compiled.loops() else {}
    return forms | {SUMS: by_sums}


def _start(form: str, theta: Tensor) -> float:
    """Milliseconds of a call for one step: checks, tables and the start of every operation."""
    v = torch.zeros(1, CHANNELS)
    return 1e3 * statistics.median(measure({form: partial(_ours()[form], v, theta)}, rounds=10 * ROUNDS)[form])


def _quick(v: Tensor, theta: Tensor) -> dict[str, Callable[[], Any]]:
    out = torch.empty_like(v)
    leaf, upstream = v.clone().requires_grad_(), torch.randn_like(v)
    z, rate = _complex(v), (GAMMA * torch.exp(-1j * theta)).to(torch.complex64)

    variants: dict[str, Callable[[], Any]] = {COPY: lambda: out.copy_(v)}
    for form, states in _ours().items():
        variants[form] = partial(states, v, theta)
        variants[form + BACKWARD] = partial(_both, states, theta, leaf, upstream)
    return variants | {SCAN: lambda: _associative(z, rate)}


def _both(states: States, theta: Tensor, leaf: Tensor, upstream: Tensor) -> None:
    torch.autograd.grad(states(leaf, theta), leaf, upstream)


def _slow(v: Tensor, theta: Tensor) -> dict[str, tuple[Callable[[], Any], float]]:
    """Each with the share of the whole work that one call does."""
    count, length = v.shape[:2]
    z, rate = _complex(v), (GAMMA * torch.exp(-1j * theta)).to(torch.complex64)
    steps = min(length, 4096)
    rows = np.ascontiguousarray(z[0].numpy().T)
    forms = {
        LOOP: (lambda: _loop(z[:, :steps], rate), steps / length),
        FILTER: (
            lambda: [lfilter([1], [1, -r], row) for r, row in zip(rate[:4].numpy(), rows[:4], strict=True)],
            4 / (count * len(rows)),
        ),
    }
    if length <= 4096:
        forms[QUADRATIC] = (lambda: _quadratic(v[:1], _turns(length, theta)), 1 / count)
    return forms


def _complex(v: Tensor) -> Tensor:
    return torch.view_as_complex(v.unflatten(-1, (-1, 2)))


def _associative(z: Tensor, rate: Tensor) -> Tensor:
    """A scan that knows only that pairs (a, b) combine to (a2 a1, a2 b1 + b2): doubling strides."""
    a, b, stride = rate.expand(z.shape[1], -1).clone(), z.clone(), 1
    while stride < z.shape[1]:
        b[:, stride:] = a[stride:] * b[:, :-stride] + b[:, stride:]
        a[stride:] = a[stride:] * a[:-stride]
        stride *= 2
    return b


def _loop(z: Tensor, rate: Tensor) -> Tensor:
    h, found = torch.zeros_like(z[:, 0]), torch.empty_like(z)
    for t in range(z.shape[1]):
        h = rate * h + z[:, t]
        found[:, t] = h
    return found


def _quadratic(v: Tensor, table: Tensor) -> Tensor:
    steps = torch.arange(v.shape[1])
    behind = steps[:, None] - steps
    weights = torch.where(behind >= 0, GAMMA ** behind.clamp(min=0), 0.0)
    turned = torch.view_as_real(_complex(v) * table).flatten(-2)
    return torch.view_as_real(_complex(weights @ turned) * table.conj()).flatten(-2)


def _turns(length: int, theta: Tensor) -> Tensor:
    angles = torch.arange(1, length + 1, dtype=torch.float64)[:, None] * theta
    return torch.polar(torch.ones_like(angles), angles).to(torch.complex64)


def _error(states: States, v: Tensor, theta: Tensor) -> float:
    exact = torch.view_as_real(_loop(_complex(v.double()), GAMMA * torch.exp(-1j * theta))).flatten(-2)
    found = states(v, theta).double()
    return float((found - exact).norm() / exact.norm())


if __name__ == "__main__":
    print(json.dumps(main()))
