"""The second plan's comparisons (``book/plan.md``), with the cards that its runs left."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

from rope_lab.chapters.ch16_nine_placements import experiments_rates as planned
from rope_lab.chapters.ch16_nine_placements.experiments import PLACEMENTS
from rope_lab.training.experiments.rate_choice import Losses, at_rates_of_others, losses_by_rate, lowest
from rope_lab.training.results import cards
from rope_lab.training.results.equivalence import Finding, family
from rope_lab.training.run.config import RunConfig

MARGIN = 0.02  # nats per token: within it two placements are called level
LEVEL = 0.025  # of each family, so that both together have 5 %
FAMILIES = (  # (placement, reference)
    tuple((name, "NoPE") for name in ("QK", "QKVO", "VO", "K", "QKV", "O", "Q", "V")),
    (("QKVO", "QK"), ("VO", "QK"), ("QKV", "K")),
)
PRINTED = ("better",) * 5 + ("worse",) * 3 + ("equivalent", "worse", "worse")  # what would agree with the article

BySeed = Mapping[str, Mapping[int, float]]  # placement -> seed -> loss, each at the rate that the plan gives it there


def answers() -> list[Finding]:
    """The eleven primary comparisons, in the plan's order, with the five seeds that judge.

    Returns:
        The findings; empty while a card of ``placements-confirm`` is missing.

    Raises:
        UndecidedError: If the cards of ``placements-rates`` do not decide a rate.
    """
    losses = _at_own_rates()
    return _compared(losses) if losses else []


def with_rates_of_others() -> list[Finding]:
    """The comparisons with eight seeds, each at rates that it had no voice in: the plan's check of its answers.

    A seed that chose is judged at the rates that the two others choose, with its cards of ``placements-rates``.

    Returns:
        The findings; empty while a card of ``placements-confirm`` is missing.

    Raises:
        UndecidedError: If the cards of ``placements-rates`` do not decide a rate.
    """
    losses = _at_own_rates()
    return _compared({name: of | _at_rates_of_others()[name] for name, of in losses.items()}) if losses else []


def turned(answer: Finding, eight: Finding) -> int:
    """Count the means that turn an answer: of six, one without each judging seed, and that of the eight differences."""
    return answer.left_out(1)[1] + replace(eight, outcome=answer.outcome).left_out(0)[1]


def missing(name: str = "placements-rates") -> list[RunConfig]:
    """List the runs of one of the plan's two experiments that it asks for so far, and that have no card."""
    asked = planned.EXPERIMENTS[name]("cpu")
    held = {(card.variant, card.config["lr"], card.seed) for card in cards.load_all(name, "cpu")}
    return [run for run in (asked.runs if asked else ()) if (run.variant, run.lr, run.seed) not in held]


def of_choosing_seeds() -> list[Finding]:
    """The comparisons with the choosing seeds alone, each at rates that the two others choose: exploratory.

    They are empty while a card of the first grid is missing. While a placement's grid grows, its differences are no
    numbers: its comparisons are undecided, and count in Holm's correction.
    """
    waiting = missing()
    if any(run.lr in planned.FIRST for run in waiting):
        return []
    no_rate = {run.variant: dict.fromkeys(planned.RATE_SEEDS, math.nan) for run in waiting}
    return _compared(_at_rates_of_others() | no_rate)


def rates_of_pairs() -> dict[tuple[int, ...], dict[str, float]]:
    """The rates that each two of the three choosing seeds choose, in the grids that all three led to.

    Returns:
        The rate of each placement, by pair of seeds. It may lie at an edge.
    """
    tried = losses_of_rates()
    pairs = combinations(planned.RATE_SEEDS, 2)
    return {pair: {name: lowest(_whole(tried[name]), seeds=pair) for name in PLACEMENTS} for pair in pairs}


def at_one_rate(rate: float = 0.004) -> list[Finding]:
    """The comparisons at one rate for all, with the seeds that choose: exploratory, beside the primary answers.

    Args:
        rate: A rate that all nine have cards at.

    Returns:
        The findings; empty while a card is missing.
    """
    tried = losses_of_rates()
    losses = {name: tried.get(name, {}).get(rate, {}) for name in PLACEMENTS}
    whole = all(set(of) == set(planned.RATE_SEEDS) for of in losses.values())
    return _compared(losses) if whole else []


def _at_rates_of_others() -> dict[str, dict[int, float]]:
    """The choosing seeds' losses, each at the rate that the two others choose."""
    tried = losses_of_rates()
    return at_rates_of_others({name: _whole(tried[name]) for name in PLACEMENTS}, slack=math.inf)


def losses_of_rates() -> Losses:
    """The losses of ``placements-rates``, by placement, rate and seed."""
    return losses_by_rate(cards.load_all("placements-rates", "cpu"), loss=planned.loss_anywhere)


def _whole(tried: Mapping[float, Mapping[int, float]]) -> dict[float, Mapping[int, float]]:
    """The rates at which every choosing seed ended: the others cannot be chosen."""
    return {rate: of for rate, of in tried.items() if set(of) == set(planned.RATE_SEEDS)}


def _at_own_rates() -> dict[str, dict[int, float]]:
    """The judging seeds' losses, each placement at its own rate; empty while a card is missing."""
    rates = planned.own_rates()
    held = losses_by_rate(cards.load_all("placements-confirm", "cpu"), loss=planned.loss_anywhere)
    losses = {name: dict(held.get(name, {}).get(rate, {})) for name, rate in rates.items()}
    return losses if all(set(of) == set(planned.SEEDS) for of in losses.values()) else {}


def _compared(losses: BySeed) -> list[Finding]:
    return [
        finding
        for pairs in FAMILIES
        for finding in family(
            {f"{a} minus {b}": [losses[a][seed] - losses[b][seed] for seed in sorted(losses[a])] for a, b in pairs},
            margin=MARGIN,
            level=LEVEL,
        )
    ]
