"""One run of a sweep, in a process of its own, which reads its order from standard input.

A process of its own has its own threads and allocator settings, which count only when they stand in the environment
before Python starts; and a run that dies takes no other with it.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from rope_lab.training.data import corpora
from rope_lab.training.files import UnderWayError, clear_partials, set_aside
from rope_lab.training.results import cards
from rope_lab.training.run.config import RunConfig
from rope_lab.training.run.signals import interrupts

TRAIN = "rope_lab.training.run.loop:train"


@dataclass(frozen=True)
class Order:
    """What a worker needs to know: the run, and where things lie."""

    config: dict[str, Any]  # RunConfig.to_dict()
    runs: str  # folder of the checkpoints, one folder a run
    data: str | None = None  # data folder; None: the user's cache
    device: str | None = None  # "cpu", "cuda"; None: a GPU where there is one
    threads: int | None = None  # None: as torch chooses
    time_budget_s: float | None = None  # None: no limit
    progress: bool = False
    train: str = TRAIN  # "module:function"; a test puts a quick one here

    def carry_out(self) -> cards.Card | None:
        """Train and return the card; None where the run stopped before its end (it resumes when called again).

        Raises:
            KeyboardInterrupt: The run was asked to stop, and has saved what it had.
        """
        module, _, function = self.train.partition(":")
        train = getattr(import_module(module), function)
        config = RunConfig.from_json(self.config)
        corpus = corpora.load(config.corpus, tokenizer=config.tokenizer, root=self.data)
        ended = train(
            config,
            out=Path(self.runs) / config.name,
            corpus=corpus,
            device=self.device,
            threads=self.threads,
            time_budget_s=self.time_budget_s,
            progress=self.progress,
        )
        if getattr(ended, "reason", "") == "interrupted":
            raise KeyboardInterrupt
        return ended.card


def main() -> int:
    """Read ``{"results": folder, "order": {...}}``; write the card there.

    Exit status `STOPPED` before the end of the run, `UNDER_WAY` where another process trains it.
    """
    asked = json.load(sys.stdin)
    try:
        with interrupts():  # asked to end: as with Ctrl-C, save a checkpoint first
            card = Order(**asked["order"]).carry_out()
    except KeyboardInterrupt:
        return STOPPED
    except UnderWayError as error:
        print(error, file=sys.stderr)
        return UNDER_WAY
    if card is None:
        return STOPPED
    keep(card, asked["results"])
    return 0


STOPPED = 3
UNDER_WAY = 4


def keep(card: cards.Card, results: str | Path) -> None:
    """Write a card into ``results``. Another run's card of that name, or a damaged one, is set aside and not lost."""
    folder = folder_of(card, results)
    place = folder / card.file_name
    if os.path.lexists(place):
        try:
            same = cards.read(place).config_hash == card.config_hash
        except cards.CardError:
            same = False
        if not same:
            print(f"{place} was not the card of this run: it is {set_aside(place).name} now", file=sys.stderr)
    cards.write(card, folder)
    clear_partials(place)


def folder_of(run: cards.Card | RunConfig, results: str | Path) -> Path:
    """The folder where a sweep writes the cards of a run's experiment: ``results/experiment/rung``."""
    return cards.places(run.experiment, run.rung, root=results)[0]


def request(order: Order, results: str | Path) -> str:
    """The JSON that `main` reads."""
    return json.dumps({"results": str(results), "order": asdict(order)})


if __name__ == "__main__":
    sys.exit(main())
