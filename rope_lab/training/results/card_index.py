"""Which runs of the experiments have their cards: what a page must say before it says what the cards show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rope_lab.training.experiments.catalogue import every_experiment
from rope_lab.training.experiments.definition import Experiment
from rope_lab.training.results import cards


@dataclass(frozen=True)
class ExperimentCards:
    """The cards of one experiment at one rung."""

    asked: Experiment
    cards: tuple[cards.Card, ...]  # those that lie there, also of runs that the experiment no longer asks for

    @property
    def done(self) -> int:
        """Runs of the experiment that have a card."""
        return len({run.digest for run in self.asked.runs} & {card.config_hash for card in self.cards})

    @property
    def words(self) -> str:
        """``5 of 45 runs``; ``all 45 runs``; and how many cards belong to no run of the experiment as it is now."""
        runs = len(self.asked.runs)
        outdated = sum(card.config_hash not in {run.digest for run in self.asked.runs} for card in self.cards)
        said = f"all {runs} runs" if self.done == runs else f"{self.done} of {runs} runs"
        return f"{said}; cards of another setting: {outdated}" if outdated else said

    @property
    def command(self) -> str:
        """What makes the cards."""
        return f"rope-lab sweep {self.asked.name} --rung {self.asked.rung}"


def experiment_cards(*, root: str | Path | None = None) -> list[ExperimentCards]:
    """Every experiment at every rung that it has, with the cards in ``root`` (default: those of the book).

    Args:
        root: The folder that holds EXPERIMENT/RUNG/. Default: the cards that come with the package.

    Returns:
        One entry for each experiment and rung, also where there is no card.

    Raises:
        CardError: If a card cannot be read.

    >>> [found.asked.rung for found in experiment_cards() if found.asked.name == "placements"]
    ['cpu', 'colab', 'paper']
    """
    return [
        ExperimentCards(each, tuple(cards.load_all(each.name, each.rung, root=root))) for each in every_experiment()
    ]
