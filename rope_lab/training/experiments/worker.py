"""One run of a sweep, in a process of its own, which reads its order from standard input.

A process of its own has its own threads and allocator settings, which count only when they stand in the environment
before Python starts; and a run that dies takes no other with it.
"""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from rope_lab.training.data import corpora
from rope_lab.training.results import cards
from rope_lab.training.run.config import RunConfig

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
        """Train and return the card; None where the run stopped before its end (it resumes when called again)."""
        module, _, function = self.train.partition(":")
        train = getattr(import_module(module), function)
        config = RunConfig.from_json(self.config)
        corpus = corpora.load(config.corpus, tokenizer=config.tokenizer, root=self.data)
        return train(
            config,
            out=Path(self.runs) / config.name,
            corpus=corpus,
            device=self.device,
            threads=self.threads,
            time_budget_s=self.time_budget_s,
            progress=self.progress,
        ).card


def main() -> int:
    """Read ``{"results": folder, "order": {...}}``; write the card there. Exit status 3: stopped before the end."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # asked to end: as with Ctrl-C, save a checkpoint first
    asked = json.load(sys.stdin)
    card = Order(**asked["order"]).carry_out()
    if card is None:
        return STOPPED
    cards.write(card, folder_of(card, asked["results"]))
    return 0


STOPPED = 3


def folder_of(run: cards.Card | RunConfig, results: str | Path) -> Path:
    """Where a sweep writes the cards of a run's experiment: ``results/experiment/rung``."""
    return cards.places(run.experiment, run.rung, root=results)[0]


def request(order: Order, results: str | Path) -> str:
    """What `main` reads."""
    return json.dumps({"results": str(results), "order": asdict(order)})


if __name__ == "__main__":
    sys.exit(main())
