"""Student's intervals for a mean over seeds, and the difference of two variants, paired by seed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from scipy.special import stdtrit

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
        """The interval leaves zero out."""
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
