"""Cards as one table for a spreadsheet, and as one list for a script: every committed run, one row each."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict

from rope_lab.errors import printable
from rope_lab.training.results.cards import Card

COLUMNS = (
    *("experiment", "rung", "setting", "variant", "seed", "final_loss", "best_loss", "sd", "steps", "parameters"),
    *("corpus", "tokenizer", "lr", "batch_size", "seq_len", "precision"),
    *("tokens_per_s", "wall_s", "device", "date", "commit", "config_hash"),
)


def as_csv(found: Sequence[Card]) -> str:
    """One line for each card, with `COLUMNS`; losses in nats per token, times in seconds.

    Args:
        found: The cards, in the order of the lines.

    Returns:
        The table as text. A field that a card's config does not have is empty.
    """
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    for card in found:  # what a stranger wrote has no control characters
        table.writerow({k: printable(v) if isinstance(v, str) else v for k, v in _row(card).items()})
    return text.getvalue()


def as_json(found: Sequence[Card]) -> str:
    """The whole cards as a list, with their curves.

    Args:
        found: The cards, in the order of the list.

    Returns:
        JSON that `rope_lab.training.results.cards` can make cards of again, one on each line.
    """
    lines = ",\n".join(json.dumps(asdict(card), allow_nan=False) for card in found)
    return f"[\n{lines}\n]\n"


def _row(card: Card) -> dict[str, object]:
    settings = {name: card.config.get(name, "") for name in ("lr", "batch_size", "seq_len", "precision")}
    circumstances = {name: card.volatile[name] for name in ("tokens_per_s", "wall_s", "device", "date", "commit")}
    return {
        **{name: getattr(card, name) for name in ("experiment", "rung", "setting", "variant", "seed", "config_hash")},
        "final_loss": card.loss("final"),
        "best_loss": card.loss("best"),
        "sd": card.final["sd"],
        "steps": card.final["step"],
        "parameters": card.parameters["total"],
        "corpus": card.data["corpus"],
        "tokenizer": card.data["tokenizer"],
        **settings,
        **circumstances,
    }
