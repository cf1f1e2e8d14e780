"""A projection, forward and backward: complex-linear in its three products, over a dense layer of the same shape.

``rope-lab bench projection`` calls `run` and prints `table`. A dense layer is the unit, since it is what a
complex-linear one replaces; gradients of the input and of every parameter are taken, as in training. The tokens of a
batch share the cost of building the real matrix: the second column shows a batch of few.
"""

import json
from collections.abc import Callable
from typing import Any

import torch
from rich.table import Table
from torch import Tensor, nn

from benchmarks.harness import card, in_a_fresh_process, measure, ratios
from rope_lab.nn.complex_linear import ComplexLinear
from rope_lab.nn.complex_products import PRODUCTS

SHAPES = {  # what a column is called: batch, tokens in a window, width, rounds
    "128": (8, 1024, 128, 101),
    "128, short batch": (1, 512, 128, 101),
    "256": (8, 1024, 256, 31),
    "512": (4, 1024, 512, 21),
    "1024": (2, 1024, 1024, 15),
}
HEADS = 4  # of the output; the planes of the input are those of one wide vector, as in a query projection
DENSE = "nn.Linear"
FORMS = {
    "real matrix, half-split": ("half", "real"),
    "real matrix, interleaved": ("interleaved", "real"),
    "Gauss's three products, half-split": ("half", "gauss"),
    "complex64, half-split": ("half", "complex"),
}
REAL, _, GAUSS, _ = FORMS
BARS = {(REAL, "128"): 1.05, (GAUSS, "512"): 0.9, (GAUSS, "1024"): 0.9}


def run() -> dict[str, Any]:
    """Measure, in a fresh process, keep the card in benchmarks/cards/projection.json and return it."""
    return in_a_fresh_process("benchmarks.projection")


def table(card: dict[str, Any]) -> Table:
    """The card as a table: one row for each form, one column for each shape."""
    shown = Table(
        title=f"projection, float32, forward and backward, {card['threads']} thread: time over nn.Linear",
        caption="\n".join(card["notes"]),
        caption_justify="left",
    )
    shown.add_column("form")
    for name in card["shapes"]:
        shown.add_column(f"d = {name}", justify="right")
    cells = {(row["form"], row["shape"]): row for row in card["rows"]}
    for form in FORMS:
        shown.add_row(form, *(f"{cells[form, name]['ratio_to_dense']:.2f}" for name in card["shapes"]))
    return shown


def main() -> dict[str, Any]:
    """Measure in this process, which should have been started by `run`."""
    torch.set_num_threads(1)
    rows = []
    for name, (batch, length, width, rounds) in SHAPES.items():
        variants = _variants(torch.randn(batch, length, width, generator=torch.Generator().manual_seed(0)))
        for form, found in ratios(measure(variants, rounds=rounds), to=DENSE).items():
            ratio = {"ratio_to_dense": found.pop("ratio_to_copy")}
            rows.append({"form": form, "shape": name, "bar": BARS.get((form, name)), **ratio, **found})
    notes = [
        f"{row['form'].partition(',')[0]}, d = {row['shape']}: {row['ratio_to_dense']:.3f}, "
        f"{'within' if row['ratio_to_dense'] <= row['bar'] else 'above'} {row['bar']:g}"
        for row in rows
        if row["bar"] is not None
    ]
    errors = _errors()
    notes += [f"relative error of float32, d = 512, {name}: {error:.1e}" for name, error in errors.items()]
    return card(
        "projection",
        packages=("torch",),
        threads=torch.get_num_threads(),
        heads=HEADS,
        shapes={name: list(shape[:3]) for name, shape in SHAPES.items()},
        rounds={name: shape[3] for name, shape in SHAPES.items()},
        errors=errors,
        rows=rows,
        notes=notes,
    )


def _variants(x: Tensor) -> dict[str, Callable[[], Any]]:
    width, upstream = x.shape[-1], torch.randn_like(x)
    layers: dict[str, nn.Module] = {DENSE: nn.Linear(width, width, bias=False)}
    for form, (layout, product) in FORMS.items():
        layers[form] = ComplexLinear(width, width, layout=layout, out_heads=HEADS, product=product)
    return {form: _both(layer, x, upstream) for form, layer in layers.items()}


def _both(layer: nn.Module, x: Tensor, upstream: Tensor) -> Callable[[], Any]:
    wanted = (x.clone().requires_grad_(), *layer.parameters())
    return lambda: torch.autograd.grad(layer(wanted[0]), wanted, upstream)


def _errors() -> dict[str, float]:
    """Each product in float32 against the same one in float64."""
    torch.manual_seed(0)
    x, found = torch.randn(1024, 512), {}
    layer = ComplexLinear(512, 512, layout="half").requires_grad_(False)
    exact = layer.double()(x.double())
    layer = layer.float()
    for layer.product in PRODUCTS:
        found[layer.product] = float((layer(x) - exact).norm() / exact.norm())
    return found


if __name__ == "__main__":
    print(json.dumps(main()))
