"""Rotating q and k: our two forms and three libraries, as ratios to a copy of the same bytes.

``rope-lab bench rotary`` calls `run` and prints `table`. The measuring happens in a process of its own (harness.py).
A library runs as it is installed: with its own public functions, eager. The one that a compiler helps most, and whose
layout ours shares, is shown compiled as well.
"""

import importlib
import json
import warnings
from collections.abc import Callable
from typing import Any

import torch
from rich.table import Table
from torch import Tensor

from benchmarks.harness import can_compile, card, in_a_fresh_process, measure, ratios
from rope_lab.nn.rotary import RotaryConfig, rotary_table, rotate

SHAPE = (4, 16, 2048, 64)  # batch, heads, T, head_dim
ROUNDS = 21
PASSES = {"fp32 fwd": torch.float32, "fp32 fwd+bwd": torch.float32, "bf16 fwd": torch.bfloat16}
EAGER, COMPILED = "interleaved (complex multiply), eager", "half (chunk, stack), torch.compile"
PROJECTED = "the same, heads side by side in memory"  # as q and k come in a model: a row of the table serves them all
BARS = {
    (EAGER, "fp32 fwd"): 1.5,
    (EAGER, "fp32 fwd+bwd"): 1.5,
    (COMPILED, "fp32 fwd"): 1.7,
    (COMPILED, "bf16 fwd"): 1.7,
}
PEERS = ("transformers", "rotary-embedding-torch", "x-transformers")
Turn = Callable[[Tensor], Tensor]


def run() -> dict[str, Any]:
    """Measure, in a fresh process, keep the card in benchmarks/cards/rotary.json and return it."""
    return in_a_fresh_process("benchmarks.rotary")


def table(card: dict[str, Any]) -> Table:
    """The card as a table: one row for each form, one column for each pass."""
    shown = Table(
        title=f"rotating {tuple(card['shape'])}, {card['threads']} thread: time over copy_ of the same bytes",
        caption="\n".join(card["notes"]),
        caption_justify="left",
    )
    shown.add_column("form")
    for name in PASSES:
        shown.add_column(name, justify="right")
    cells = {(row["form"], row["pass"]): row for row in card["rows"]}
    for form in dict.fromkeys(row["form"] for row in card["rows"]):
        shown.add_row(form, *(_cell(cells.get((form, name))) for name in PASSES))
    return shown


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    bar = "" if row["bar"] is None else f" ({'within' if row['ratio_to_copy'] <= row['bar'] else 'above'} {row['bar']})"
    return f"{row['ratio_to_copy']:.2f}{bar}"


def main() -> dict[str, Any]:
    """Measure in this process, which should have been started by `run`."""
    torch.set_num_threads(1)
    rows, notes = [], []
    if not can_compile():
        notes.append("g++ was not found: the forms named torch.compile ran eager. Install it with apt-get install g++.")
    for name, dtype in PASSES.items():
        x, upstream = (torch.randn(SHAPE).to(dtype) for _ in range(2))
        variants = _copies(x, upstream, backward="bwd" in name)
        turns = _ours() | _peers(x.dtype, notes)
        for form, turn in turns.items():
            given = _projected(x) if form == PROJECTED else x
            variants[form] = _both(turn, given, upstream) if "bwd" in name else _forward(turn, given)
        for form, found in ratios(measure(variants, rounds=ROUNDS), to="copy_").items():
            rows.append({"form": form, "dtype": name.split()[0], "pass": name, "bar": BARS.get((form, name)), **found})
    notes.extend(_verdict(name, rows) for name in PASSES)
    return card(
        "rotary",
        packages=("torch", *PEERS),
        threads=torch.get_num_threads(),
        shape=list(SHAPE),
        rounds=ROUNDS,
        rows=rows,
        notes=list(dict.fromkeys(notes)),
    )


def _verdict(name: str, rows: list[dict[str, Any]]) -> str:
    """Are our forms (the compiled one where it was compiled) faster than each library as it is installed?"""
    ratio = {row["form"]: row["ratio_to_copy"] for row in rows if row["pass"] == name}
    ours = max(ratio[form] for form in (EAGER, COMPILED)[: 1 + can_compile()])
    theirs = [r for form, r in ratio.items() if form in PEERS]
    if not theirs:
        return f"{name}: no library to compare with"
    place = "are ahead of" if ours < min(theirs) else "ARE NOT AHEAD OF"
    return f"{name}: ours {place} every library that is installed"


def _copies(x: Tensor, upstream: Tensor, *, backward: bool) -> dict[str, Callable[[], Any]]:
    """The physical limit: the bytes in and out once, and once more for the gradient."""
    out, grad = torch.empty_like(x), torch.empty_like(x)
    return {"copy_": (lambda: (out.copy_(x), grad.copy_(upstream))) if backward else (lambda: out.copy_(x))}


def _projected(x: Tensor) -> Tensor:
    """The same values in the memory order that a projection leaves: (B, T, H, d), the heads of a token side by side."""
    return x.transpose(1, 2).contiguous().transpose(1, 2)


def _forward(turn: Turn, x: Tensor) -> Callable[[], Any]:
    def call() -> None:
        with torch.no_grad():
            turn(x)

    return call


def _both(turn: Turn, x: Tensor, upstream: Tensor) -> Callable[[], Any]:
    leaf = x.clone().requires_grad_()

    def call() -> None:
        turned = turn(leaf)
        if isinstance(turned, tuple):  # q and k
            torch.autograd.grad(turned, leaf, upstream.chunk(2))
        else:
            torch.autograd.grad(turned, leaf, upstream)

    return call


def _compiled(turn: Turn) -> Turn:
    return torch.compile(turn) if can_compile() else turn


def _ours() -> dict[str, Turn]:
    """Our forms. The tables are built once, as a model builds them."""
    length, head_dim = SHAPE[-2:]
    interleaved, half = (
        rotary_table(torch.arange(length), RotaryConfig(head_dim, layout=layout)) for layout in ("interleaved", "half")
    )
    return {
        EAGER: lambda x: rotate(x, interleaved),
        "interleaved, torch.compile": _compiled(lambda x: rotate(x, interleaved)),
        "half (chunk, stack), eager": lambda x: rotate(x, half),
        COMPILED: _compiled(lambda x: rotate(x, half)),
        PROJECTED: _compiled(lambda x: rotate(x, half)),
    }


def _peers(dtype: torch.dtype, notes: list[str]) -> dict[str, Turn]:
    """The libraries that are installed; each one that is not is said in the notes."""
    found: dict[str, Turn] = {}
    for build in (_transformers, _rotary_embedding_torch, _x_transformers):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what a library warns of at its import
                found |= build(dtype)
        except ModuleNotFoundError as error:
            notes.append(f"not measured: {error.name} is not installed (pip install -r requirements-dev.txt)")
    return found


def _transformers(dtype: torch.dtype) -> dict[str, Turn]:
    llama = importlib.import_module("transformers.models.llama.modeling_llama")
    config = llama.LlamaConfig(hidden_size=SHAPE[1] * SHAPE[-1], num_attention_heads=SHAPE[1])
    cos, sin = llama.LlamaRotaryEmbedding(config)(torch.empty(0, dtype=dtype), torch.arange(SHAPE[-2])[None])

    def turn(x: Tensor) -> Any:  # it turns q and k at once: the two halves of the batch, the same bytes in total
        q, k = x.chunk(2)
        return llama.apply_rotary_pos_emb(q, k, cos, sin)

    return {"transformers": turn, "transformers, torch.compile": _compiled(turn)}


def _rotary_embedding_torch(_: torch.dtype) -> dict[str, Turn]:
    rotary = importlib.import_module("rotary_embedding_torch").RotaryEmbedding(dim=SHAPE[-1])
    return {"rotary-embedding-torch": rotary.rotate_queries_or_keys}


def _x_transformers(_: torch.dtype) -> dict[str, Turn]:
    module = importlib.import_module("x_transformers.x_transformers")
    frequencies, _ = module.RotaryEmbedding(SHAPE[-1]).forward_from_seq_len(SHAPE[-2])
    return {"x-transformers": lambda x: module.apply_rotary_pos_emb(x, frequencies)}


if __name__ == "__main__":
    print(json.dumps(main()))
