"""Student's intervals for a mean over seeds, and the difference of two variants, paired by seed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from scipy.special import stdtrit

from rope_lab.training.results import cards
from rope_lab.training.results.cards import Card, Metric


def t_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t with so many degrees of freedom.

    Args:
        probability: From 0 to 1: how much of the distribution lies below the quantile.
        freedom: Degrees of freedom, 1 or more; for a mean over n seeds n - 1.

    Returns:
        A float, as a multiple of the standard error; NaN where an argument is out of its range.

    >>> round(t_quantile(0.975, 2), 3)
    4.303
    """
    return float(stdtrit(freedom, probability))


@dataclass(frozen=True)
class Interval:
    """A mean over ``n`` seeds with ``half`` the width of its Student t interval (95 % by default; infinite for one)."""

    mean: float
    half: float
    n: int

    @property
    def decided(self) -> bool:
        """Whether the interval leaves zero out."""
        return abs(self.mean) > self.half

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.half:.3f}" if self.n > 1 else f"{self.mean:+.3f} (one seed)"


def interval(values: Iterable[float], *, level: float = 0.95) -> Interval:
    r"""The mean of one value for each seed, with its interval.

    $\bar x \pm t_{(1 + \mathrm{level})/2,\, n-1} \cdot s / \sqrt n$; one value alone decides nothing, so its half
    width is infinite.

    Args:
        values: One number for each seed, in any unit.
        level: How often such intervals hold the mean, between 0 and 1.

    Returns:
        Mean and half width as floats, in the unit of the values, and their number.

    Raises:
        ValueError: If there are no values, or NaN or infinity is among them.
    """
    values = list(values)
    if not values:
        raise ValueError("expected at least one value, got none: no seed has a card for this")
    if not all(map(math.isfinite, values)):
        raise ValueError(
            f"values: expected finite numbers, one for each seed, got {values}; look at the run that gave no number"
        )
    n, mean = len(values), statistics.fmean(values)
    if n == 1:
        return Interval(mean, math.inf, 1)
    return Interval(mean, t_quantile((1 + level) / 2, n - 1) * statistics.stdev(values) / math.sqrt(n), n)


def paired(cards: Iterable[Card], variant: str, reference: str, *, metric: Metric = "final") -> Interval:
    """Loss of ``variant`` minus loss of ``reference``, seed by seed, over the seeds that have both.

    Runs of one seed share initial parameters and data order, so the difference has far less noise than either loss.

    Args:
        cards: Cards of one setting; those of other variants are left out.
        variant: The variant whose loss comes first.
        reference: The variant whose loss is subtracted.
        metric: "final", the loss at the end, or "best", the lowest of the run.

    Returns:
        The mean difference with its 95 % interval, in nats per token.

    Raises:
        ValueError: If no seed has both variants, the variant has cards of more than one setting, or the metric is
            unknown.
    """
    cards = list(cards)
    of, to = ({(c.setting, c.seed): c.loss(metric) for c in cards if c.variant == v} for v in (variant, reference))
    if len({setting for setting, _ in of}) > 1:
        raise ValueError(f"expected the cards of one setting, got {sorted({s for s, _ in of})}; filter by card.setting")
    return interval(of[key] - to[key] for key in sorted(of.keys() & to.keys()))


@dataclass(frozen=True)
class Gaps:
    """Validation loss of ``variant`` and of ``reference`` at ``steps``, seeds that have both only: {seed: [nats]}."""

    steps: list[int]
    variant: dict[int, list[float]]
    reference: dict[int, list[float]]

    @property
    def by_seed(self) -> dict[int, list[float]]:
        """Loss of the variant minus that of the reference, {seed: [nats at every step]}."""
        pairs = ((seed, zip(losses, self.reference[seed], strict=True)) for seed, losses in self.variant.items())
        return {seed: [ours - theirs for ours, theirs in pair] for seed, pair in pairs}

    @property
    def at_each_step(self) -> list[Interval]:
        """The paired difference at every step, in nats."""
        return [interval(gaps) for gaps in zip(*self.by_seed.values(), strict=True)]

    @property
    def change(self) -> Interval:
        """Mean gap of the second half of the validations minus that of the first, in nats; a middle one is left out."""
        half = len(self.steps) // 2
        return interval(statistics.fmean(g[-half:]) - statistics.fmean(g[:half]) for g in self.by_seed.values())


def along(found: Iterable[cards.Card], variant: str, reference: str) -> Gaps:
    """The gaps of two variants among cards of one setting, at the steps where every run of them was validated.

    Args:
        found: Cards of one setting; those of other variants are left out.
        variant: The variant whose loss comes first.
        reference: The variant whose loss is subtracted.

    Returns:
        Both losses at these steps, in nats per token, for the seeds that have both variants; empty if no seed has.

    Raises:
        ValueError: If the cards have more than one setting.
        KeyError: If a card's curve has no validation losses.
    """
    found = [c for c in found if c.variant in (variant, reference)]
    if len(settings := {c.setting for c in found}) > 1:
        raise ValueError(f"expected the cards of one setting, got {sorted(settings)}; filter by card.setting")
    curves = {(c.variant, c.seed): _validations(c) for c in found}
    seeds = sorted(seed for name, seed in curves if name == variant and (reference, seed) in curves)
    used = [curves[name, seed] for name in (variant, reference) for seed in seeds]
    steps = sorted(set.intersection(*map(set, used))) if used else []
    ours, theirs = ({seed: [curves[name, seed][s] for s in steps] for seed in seeds} for name in (variant, reference))
    return Gaps(steps, ours, theirs)


def _validations(card: cards.Card) -> dict[int, float]:
    rows = zip(card.curve["step"], card.curve["valid_loss"], strict=True)
    return {step: loss for step, loss in rows if loss is not None}
