"""Which learning rate each variant is worth, by the rule of the plan (``book/plan.md``): nobody picks it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping

from rope_lab.errors import RopeLabError
from rope_lab.training.results.cards import Card

Losses = dict[str, dict[float, dict[int, float]]]  # variant -> rate -> seed -> final loss


class UndecidedError(RopeLabError, ValueError):
    """The cards do not decide a rate yet. The message says what is missing."""


def losses_by_rate(cards: Iterable[Card], *, loss: Callable[[Card], float] = Card.loss) -> Losses:
    """The loss of each card, by variant, rate and seed.

    Args:
        cards: Cards of one corpus, with rates in their configurations.
        loss: What is read from a card. Default: the final validation loss.

    Returns:
        Nested dictionaries: the variant, the rate, the seed; the loss in nats per token.
    """
    losses: Losses = {}
    for card in cards:
        losses.setdefault(card.variant, {}).setdefault(float(card.config["lr"]), {})[card.seed] = loss(card)
    return losses


def lowest(losses: Mapping[float, Mapping[int, float]], *, seeds: Collection[int]) -> float:
    """The rate with the lowest mean over the seeds; of equal ones the lower. No infinite mean is chosen.

    Args:
        losses: Of one variant, by rate and seed; each rate has all seeds.
        seeds: The seeds that choose.

    Returns:
        The rate, wherever in the grid it lies.

    Raises:
        UndecidedError: If no rate has finite losses.
    """
    means = {rate: statistics.fmean(of[seed] for seed in seeds) for rate, of in losses.items()}
    finite = {rate: mean for rate, mean in means.items() if math.isfinite(mean)}
    if not finite:
        raise UndecidedError("expected a rate at which all seeds end with a finite loss, found none")
    return min(finite, key=lambda rate: (finite[rate], rate))


def best_rates(
    cards: Iterable[Card], *, variants: Collection[str], rates: Collection[float], seeds: Collection[int]
) -> Mapping[str, float]:
    r"""For each variant the rate with the lowest mean of the final loss over the seeds; of equal ones the lower.

    A rate at which a seed does not end with a finite loss is not chosen, but closes the grid on its side.

    Args:
        cards: The cards of the sweep over rates.
        variants: The variants that need a rate.
        rates: The grid, each a factor of two from the next.
        seeds: The seeds that choose.

    Returns:
        The rate of each variant.

    Raises:
        UndecidedError: If a card is missing, if no rate of a variant has finite losses, or if a best rate lies at an
            edge of the grid: then the grid must be extended there by a factor of two, for all variants.
    """
    losses, grid = losses_by_rate(cards), sorted(rates)
    missing = sum(seed not in losses.get(v, {}).get(rate, {}) for v in variants for rate in grid for seed in seeds)
    if missing:
        whole = len(variants) * len(grid) * len(seeds)
        raise UndecidedError(f"expected a card for each variant, rate and seed, {whole} in all; {missing} are missing")
    chosen = {}
    for variant in variants:
        try:
            chosen[variant] = lowest({rate: losses[variant][rate] for rate in grid}, seeds=seeds)
        except UndecidedError as error:
            raise UndecidedError(f"{variant}: {error}") from None
    edges = {variant: rate for variant, rate in chosen.items() if rate in (grid[0], grid[-1])}
    if edges:
        raise UndecidedError(
            f"expected the best rate of each variant inside the grid {grid[0]:g} to {grid[-1]:g}, found at its edge: "
            + ", ".join(f"{variant} at {rate:g}" for variant, rate in edges.items())
            + "; extend the grid there by a factor of two, for all variants"
        )
    return chosen


def at_rates_of_others(
    losses: Mapping[str, Mapping[float, Mapping[int, float]]], *, slack: float = 0.0
) -> dict[str, dict[int, float]]:
    """For each variant the loss of every seed at the rate that the other seeds choose: no seed chooses for itself.

    Args:
        losses: By variant, rate and seed. Rates at which a seed is missing cannot be chosen.
        slack: The nats by which the highest or the lowest rate may be ahead of the next one and be chosen.

    Returns:
        The losses, by variant and seed.

    Raises:
        UndecidedError: If a choice lies at an edge of the grid, further ahead than that.

    >>> at_rates_of_others({"RoPE": {1.0: {0: 3.0, 1: 4.0}, 2.0: {0: 2.0, 1: 5.0}}}, slack=math.inf)
    {'RoPE': {0: 3.0, 1: 5.0}}
    """
    judged: dict[str, dict[int, float]] = {}
    for variant, tried in losses.items():
        seeds = sorted(set().union(*tried.values()))
        whole = {rate: of for rate, of in sorted(tried.items()) if set(of) == set(seeds)}
        for seed in seeds:
            others = [other for other in seeds if other != seed]
            rate = lowest(whole, seeds=others)
            means = {each: statistics.fmean(whole[each][other] for other in others) for each in whole}
            if min(list(means.values())[1:-1], default=math.inf) - means[rate] > slack:
                raise UndecidedError(f"{variant}: expected a best rate inside the grid, found {rate:g} at its edge")
            judged.setdefault(variant, {})[seed] = whole[rate][seed]
    return judged
