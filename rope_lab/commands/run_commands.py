"""What one does with runs of one's own: see how the loss fell, let the model write, put runs beside each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rope_lab.errors import ArgumentError, FileError, printable
from rope_lab.reading import json_text
from rope_lab.training.files import kind
from rope_lab.training.results import cards
from rope_lab.training.results.cards import Card, Metric

STEPS = "▁▂▃▄▅▆▇█"


def spark(losses: Sequence[float], *, width: int) -> str:
    """A row of losses as bars, one for each of at most ``width`` equal parts.

    >>> spark([4.0, 3.0, 2.0, 1.0], width=4)
    '█▆▃▁'
    """
    top = max(map(abs, losses)) or 1.0  # numbers near the largest of all have a mean, too
    parts = [float(np.mean(part)) for part in np.array_split(np.divide(losses, top), min(width, len(losses)))]
    low, high = min(parts), max(parts)
    return "".join(STEPS[round((part - low) / ((high - low) or 1.0) * (len(STEPS) - 1))] for part in parts)


def tell_next(card: Card, folder: Path) -> None:
    """Print how the losses of a finished run fell, and what one can do with it."""
    for name in ("train_loss", "valid_loss"):
        if len(losses := _losses(card, name)) > 1:
            print(f"{name.replace('_', ' '):16}{losses[0]:.3f} {spark(losses, width=48)} {losses[-1]:.3f}")
    begin = "ROMEO:" if card.data["corpus"] == "tinyshakespeare" else "The"
    named = printable(folder)
    print(f"Let it write:   rope-lab write {named} --prompt '{begin}'")
    print(f"Compare it:     rope-lab results {named} runs/ANOTHER")
    print(f"In Python:      model, tokenizer = rope_lab.load_model({str(folder)!r}, tokenizer=True)")


def write(folder: Path, prompt: str, *, tokens: int | None, temperature: float, seed: int) -> None:
    """Print the prompt and what a run's model writes after it; ``tokens`` None: 100, or as many as the model reads."""
    import torch

    from rope_lab.training.run.loop import load_run, tokenizer_of

    if not math.isfinite(temperature):
        raise ArgumentError(f"--temperature: expected a finite number of at least 0, got {temperature}")
    if not -(2**63) <= seed < 2**64:
        raise ArgumentError(f"--seed: expected a whole number of 64 bits, got {seed}; take a smaller one")
    run, model = load_run(folder)
    tokenizer = tokenizer_of(run)
    begin = [tokenizer.vocab_size] * run.bos + tokenizer.encode(prompt).tolist()
    if not begin:
        raise ArgumentError("--prompt: expected at least one character, got none: the model needs one to go on from")
    room = run.seq_len - len(begin)
    if room < (1 if tokens is None else tokens):
        raise ArgumentError(
            f"expected prompt and text of at most {run.seq_len} tokens together, which is what the model reads, got "
            f"{len(begin)} and {tokens or 1}: shorten the prompt, or ask for fewer with --tokens"
        )
    generator = torch.Generator().manual_seed(seed)
    options: dict[str, Any] = {"temperature": temperature, "generator": generator}
    with torch.no_grad():
        ids = model.generate(torch.tensor([begin]), n_tokens=min(100, room) if tokens is None else tokens, **options)
    told = [token for token in ids[0].tolist() if token < tokenizer.vocab_size]  # the others are no text
    print(printable(tokenizer.decode(told), keep="\n\t"))


def compare(folders: Sequence[Path], *, metric: Metric, as_json: bool, as_csv: bool) -> None:
    """Print runs beside each other: the loss, the difference to the first, and what differs between their configs."""
    folders = [folder for folder in folders if folder.suffix != ".log"]  # `runs/*` names the logs of a sweep, too
    if not folders:
        raise FileError("FOLDER: expected folders of runs, got logs alone; name the folders")
    found = [_card(folder) for folder in folders]
    if as_csv:
        from rope_lab.training.results import flat_cards

        print(flat_cards.as_csv(found), end="")
        return
    first = found[0].loss(metric)
    rows: list[dict[str, Any]] = [
        {
            "run": str(folder),
            "loss": card.loss(metric),
            "difference": card.loss(metric) - first,
            "differs": _changes(found[0].config, card.config),
            "curve": spark(_losses(card, "train_loss"), width=12),
        }
        for folder, card in zip(folders, found, strict=True)
    ]
    if as_json:
        print(json_text(rows, indent=1))
        return
    shown = Table(
        caption="Losses in nats per token. One run each: a difference without an interval, which may be the seed's."
    )
    for column in ("run", "loss", "minus first", "differs in", "train loss"):
        number = column in ("loss", "minus first")
        shown.add_column(column, justify="right" if number else "left", no_wrap=number, overflow="fold")
    for place, row in enumerate(rows):
        gap = f"{row['difference']:+.4f}" if place else ""
        words = "; ".join(f"{name} {value}" for name, value in row["differs"].items()) or "nothing"
        cells = (row["run"], f"{row['loss']:.4f}", gap, words if place else "", row["curve"])
        shown.add_row(*(Text(printable(cell)) for cell in cells))
    Console(markup=False, emoji=False).print(shown)


def _card(folder: Path) -> Card:
    if kind(folder) != "a folder":
        raise FileError(f"{folder}: expected the folder of a run, got {kind(folder) or 'nothing of that name'}")
    places = [place for place in sorted(folder.glob("*.json")) if place.name != "checkpoint.json"]
    if len(places) != 1:
        words = f"{len(places)} files" if places else "none; `rope-lab train` writes it at the end of the run"
        raise FileError(f"{folder}: expected one result card, got {words}")
    return cards.read(places[0])


def _changes(first: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return what a config has otherwise than the first, by field; those of the model under their own names."""
    here, there = _flat(first), _flat(other)
    names = sorted(name for name in {*here, *there} if here.get(name) != there.get(name))
    return {name: there.get(name, "as by default") for name in names}


def _flat(config: dict[str, Any]) -> dict[str, Any]:
    own = config.get("model")
    model = {f"model.{name}": value for name, value in own.items()} if isinstance(own, dict) else {}
    return {name: value for name, value in {**config, **model}.items() if name not in ("model", "experiment", "rung")}


def _losses(card: Card, name: str) -> list[float]:
    return [loss for loss in card.curve.get(name, []) if loss is not None] or [card.loss()]
