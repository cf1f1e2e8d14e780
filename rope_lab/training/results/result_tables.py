"""What an experiment's cards say together: means over seeds, paired differences with intervals, published numbers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rope_lab.errors import ArgumentError, near, printable
from rope_lab.training.experiments.catalogue import Experiment, every_experiment, experiment
from rope_lab.training.results import cards
from rope_lab.training.results.cards import Card, Metric
from rope_lab.training.results.intervals import Interval, paired


@dataclass(frozen=True)
class Row:
    """One variant in one setting."""

    setting: str
    variant: str
    seeds: int
    mean: float  # validation loss in nats per token, over seeds
    sd: float | None  # over seeds; None for one
    difference: Interval | None  # variant minus reference, paired by seed; None for the reference
    published: float | None  # the source's loss: of another corpus, vocabulary or size at the lower rungs
    published_difference: float | None
    parameters: int
    reference: str  # the variant that the difference is taken to

    @property
    def verdict(self) -> str:
        """Say whether the interval settles the sign, and how that sign stands to the published one."""
        if self.difference is None:
            return "reference" if self.variant == self.reference else ""
        if math.isinf(self.difference.half):
            return "one seed"
        if not self.difference.decided:
            return "undecided"
        side = "worse" if self.difference.mean > 0 else "better"
        if self.published_difference is None:
            return side
        agrees = (self.published_difference > 0) == (self.difference.mean > 0)
        return f"{side}, {'as' if agrees else 'not as'} published"


def rows(found: Sequence[Card], *, reference: str, losses: dict[str, Any], metric: Metric = "final") -> list[Row]:
    """A row for each setting and variant, best first; ``losses`` are the published ones by setting and variant.

    Args:
        found: The cards, of one experiment at one rung.
        reference: The variant that differences are taken to.
        losses: The part "losses" of `published`; may be empty.
        metric: "final", the loss at the end, or "best", the lowest of the run.

    Returns:
        The rows by setting, and within a setting by mean loss; losses in nats per token.

    Raises:
        ValueError: If the metric is unknown.
    """
    table_rows = []
    for setting in dict.fromkeys(card.setting for card in found):
        here = [card for card in found if card.setting == setting]
        printed = losses.get(setting, {})
        for variant in dict.fromkeys(card.variant for card in here):
            own = [card for card in here if card.variant == variant]
            values = [card.loss(metric) for card in own]
            alone = variant == reference or not _shares_seed(here, variant, reference)
            printed_loss, base = _printed(printed, variant), _printed(printed, reference)
            table_rows.append(
                Row(
                    setting,
                    variant,
                    len(values),
                    statistics.fmean(values),
                    statistics.stdev(values) if len(values) > 1 else None,
                    None if alone else paired(here, variant, reference, metric=metric),
                    printed_loss,
                    None if printed_loss is None or base is None else printed_loss - base,
                    own[0].parameters["total"],
                    reference,
                )
            )
    return sorted(table_rows, key=lambda row: (row.setting, row.mean))


def _shares_seed(runs: Sequence[Card], variant: str, reference: str) -> bool:
    one, other = ({card.seed for card in runs if card.variant == name} for name in (variant, reference))
    return bool(one & other)


def _printed(losses: dict[str, Any], variant: str) -> float | None:
    """The published loss; the source's one "absolute" stands beside each of our readings of it."""
    value = losses.get(variant, losses.get("absolute") if variant.startswith("absolute") else None)
    return value[0] if isinstance(value, list) else value


def summary(
    name: str, rung: str, *, root: str | Path | None = None, reference: str | None = None, metric: Metric = "final"
) -> dict[str, Any]:
    """Everything the table shows, as plain values for ``--json``; ``rows`` holds the `Row` objects.

    Raises:
        ArgumentError: no such experiment, rung or reference, or no card yet; the message names the command that makes
            them.
    """
    asked = experiment(name, rung)
    runs = cards.load_all(name, rung, root=root)
    if not runs:
        raise ArgumentError(
            f"expected cards of {name} at the rung {rung} in {Path(root or cards.RESULTS)}, found none; "
            f"`rope-lab sweep {name} --rung {rung}` makes them"
        )
    variants = sorted({card.variant for card in runs})
    if reference is not None and reference not in variants:
        there = f"{', '.join(variants)}, got {reference!r:.80}{near(reference, variants)}"
        raise ArgumentError(printable(f"reference: expected one of {there}"))
    reference = reference or asked.reference  # where a sweep has not come to it yet, differences are left out
    printed = cards.published(name)
    wanted = {config.digest for config in asked.runs}
    return {
        "experiment": name,
        "rung": rung,
        "about": asked.about,
        "limits": asked.limits,
        "reference": reference,
        "metric": metric,
        "cards": len(runs),
        "runs": len(asked.runs),
        "outdated": sum(card.config_hash not in wanted for card in runs),
        "source": printed.get("source", ""),
        "rows": rows(runs, reference=reference, losses=printed.get("losses", {}), metric=metric),
    }


def table(found: dict[str, Any]) -> Any:
    """The summary as a table of rich, for the terminal."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown = Table(
        title=f"{found['about']} ({found['experiment']}, {found['rung']}: {found['cards']} of {found['runs']} runs)",
        caption="\n".join(filter(None, (found["limits"], found["source"]))),
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    shown.add_column("variant", no_wrap=True)
    for column in ("seeds", "loss    sd", f"minus {found['reference']}, 95 %", "published"):
        shown.add_column(Text(printable(column)), justify="right", no_wrap=True)
    shown.add_column("verdict")
    setting = ""
    for row in found["rows"]:
        if row.setting != setting:
            setting = row.setting
            shown.add_section()
            shown.add_row(Text(printable(setting), style="bold"))
        difference = "" if row.difference is None else str(row.difference).removesuffix(" (one seed)")
        printed = row.published_difference if row.difference else None  # beside a difference, the published one
        shown.add_row(
            Text(printable(row.variant)),
            str(row.seeds),
            f"{row.mean:.3f} {_number(row.sd, '.3f') or '     '}",
            difference,
            _number(printed, "+.3f"),
            row.verdict,
        )
    return shown


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


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
        asked = {run.digest for run in self.asked.runs}
        outdated = sum(card.config_hash not in asked for card in self.cards)
        said = f"all {runs} runs" if self.done == runs else f"{self.done} of {runs} runs"
        return f"{said}; cards of another setting: {outdated}" if outdated else said

    @property
    def command(self) -> str:
        """The command that makes the cards."""
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
