"""Nine placements at their own rates (``book/plan.md``, the plan of 2026-11-26): three seeds choose, five others judge.

The grid of rates grows by the cards that ``placements-rates`` has in the package: do the sweep again after it ended,
until nothing is left to do. Then ``placements-confirm`` has its runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from rope_lab.chapters.ch16_nine_placements.experiments import ANYWHERE, LLAMA, PLACEMENTS
from rope_lab.training.experiments.catalogue import Experiment, NotYetError, make_runs
from rope_lab.training.experiments.rate_choice import UndecidedError, losses_by_rate, lowest
from rope_lab.training.results.cards import Card, load_all
from rope_lab.training.run.config import RunConfig

LADDER = (0.0005, 0.00071, 0.001, 0.00141, 0.002, 0.00283, 0.004, 0.00566, 0.008, 0.0113, 0.016, 0.0226, 0.032)
FIRST = LADDER[4:9]  # two steps to each side of the one rate that all nine had before; a step is the root of two
RATE_SEEDS = (0, 1, 2)  # they choose a rate; their losses at 0.004 were known before
SEEDS = (5, 6, 7, 8, 9)  # no placement was trained with them before
DIVERGED: frozenset[tuple[str, float]] = frozenset()
"""The placements and rates at which a run of a choosing seed did not end with a finite loss: such a run has no card."""
_SHARED = {key: value for key, value in ANYWHERE.items() if key != "lr"}


def loss_anywhere(card: Card) -> float:
    """The validation loss in windows that begin at random positions, in nats per token: it chooses, and it judges."""
    return float(card.measured["shift 8"]["loss"])


def grid(tried: Mapping[float, Mapping[int, float]], *, diverged: frozenset[float] = frozenset()) -> tuple[float, ...]:
    """The rates that the plan asks for so far: while the best is the highest or the lowest, one step more there.

    Args:
        tried: The losses of one placement, by rate and seed.
        diverged: Its rates that cannot be chosen. They close the grid on their side.

    Returns:
        The rates in rising order. Nothing is added while a loss of a choosing seed is missing, nor at the ladder's end.
    """
    low, high = LADDER.index(FIRST[0]), LADDER.index(FIRST[-1])
    while True:
        rates = LADDER[low : high + 1]
        best = _best(tried, rates, diverged)
        if best == rates[0] and low > 0:
            low -= 1
        elif best == rates[-1] and high < len(LADDER) - 1:
            high += 1
        else:
            return rates


def own_rates() -> dict[str, float]:
    """Each placement's best rate, by the plan's rule and the cards of ``placements-rates``.

    Returns:
        The rate of each placement.

    Raises:
        UndecidedError: If a card is missing, or a best rate is the first or the last of the ladder.
    """
    losses = losses_by_rate(load_all("placements-rates", "cpu"), loss=loss_anywhere)
    chosen, missing, ends = {}, [], []
    for variant in PLACEMENTS:
        tried, diverged = losses.get(variant, {}), _diverged(variant)
        rates = grid(tried, diverged=diverged)
        best = _best(tried, rates, diverged)
        if best is None:
            missing.append(variant)
        elif best in (rates[0], rates[-1]):
            ends.append(f"{variant} at {best:g}")
        else:
            chosen[variant] = best
    if missing:
        raise UndecidedError(f"expected a card for each rate and seed; some are missing of {', '.join(missing)}")
    if ends:
        raise UndecidedError(
            f"expected best rates between {LADDER[0]:g} and {LADDER[-1]:g}, found {', '.join(ends)}; "
            "write a new entry in the plan before the ladder is made longer"
        )
    return chosen


def rates(rung: str) -> Experiment | None:
    """Every placement at every rate of its grid, which grows by the cards that are there."""
    if rung != "cpu":
        return None
    name = "placements-rates"
    losses = losses_by_rate(load_all(name, rung), loss=loss_anywhere)
    grids = {v: grid(losses.get(v, {}), diverged=_diverged(v)) for v in PLACEMENTS}
    runs = tuple(
        _run(name, variant, rate, seed)
        for seed in RATE_SEEDS
        for rate in LADDER
        for variant in PLACEMENTS
        if rate in grids[variant] and (variant, rate) not in DIVERGED
    )
    about = "The best learning rate of each placement, trained and read in windows that begin anywhere"
    limits = "Three seeds choose a rate. What the placements are worth at their rates is for other seeds to say."
    return Experiment(name, rung, about, limits, "NoPE", runs)


def confirm(rung: str) -> Experiment | None:
    """The nine with five other seeds, each at its own best rate, by the cards of ``rates``."""
    if rung != "cpu":
        return None
    name = "placements-confirm"
    try:
        own = own_rates()
    except UndecidedError as error:
        raise NotYetError(
            f"experiment {name!r}: its rates come from the cards of placements-rates, and {error}"
        ) from None
    runs = tuple(_run(name, variant, rate, seed) for seed in SEEDS for variant, rate in own.items())
    about = "Nine placements, each at its own best rate, in windows that begin anywhere, with seeds that chose nothing"
    limits = "One small model and one corpus. The plan says which comparisons are primary and what counts as an answer."
    return Experiment(name, rung, about, limits, "NoPE", runs)


def _run(name: str, variant: str, rate: float, seed: int) -> RunConfig:
    setting = {f"rate {rate:g}": {"lr": rate}}
    one = {variant: PLACEMENTS[variant]}
    return make_runs(name, "cpu", one, seeds=(seed,), settings=setting, model=LLAMA, **_SHARED)[0]


def _best(
    tried: Mapping[float, Mapping[int, float]], rates: tuple[float, ...], diverged: frozenset[float]
) -> float | None:
    """The best of these rates; none while a loss is missing."""
    whole = {rate: dict.fromkeys(RATE_SEEDS, math.inf) if rate in diverged else tried.get(rate, {}) for rate in rates}
    if not all(seed in of for of in whole.values() for seed in RATE_SEEDS):
        return None
    return lowest(whole, seeds=RATE_SEEDS)


def _diverged(variant: str) -> frozenset[float]:
    return frozenset(rate for name, rate in DIVERGED if name == variant)


EXPERIMENTS = {"placements-rates": rates, "placements-confirm": confirm}
