"""The plan's analysis (``book/plan.md``): is there a difference, is it too small to matter, does the answer turn?"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from scipy.special import stdtr

from rope_lab.algebra.rankings import holm, paired_p
from rope_lab.training.experiments.rate_choice import at_rates_of_others, losses_by_rate
from rope_lab.training.results import cards
from rope_lab.training.results.intervals import Interval, interval

Outcome = Literal["equivalent", "worse", "better", "undecided"]


@dataclass(frozen=True)
class Finding:
    """One comparison of a family: the differences by seed and what the family's correction lets them say."""

    name: str
    differences: tuple[float, ...]  # one for each seed, in nats per token
    outcome: Outcome
    p_difference: float  # two sides, before the correction
    p_equivalence: float  # the larger of two one-sided tests, before the correction
    margin: float

    @property
    def interval(self) -> Interval:
        """The mean with its 95 % interval."""
        return interval(self.differences)

    @property
    def wide(self) -> Interval:
        """The mean with its 99 % interval: five of these hold together with at least 95 %."""
        return interval(self.differences, level=0.99)

    @property
    def beyond_margin(self) -> bool:
        """Whether the whole 99 % interval lies outside the margin."""
        return abs(self.wide.mean) - self.wide.half > self.margin

    def left_out(self, count: int = 3) -> tuple[int, int, int]:
        """The answer asked again for every way to leave ``count`` seeds out.

        Args:
            count: How many seeds are left out at a time; at least two must stay.

        Returns:
            How many ways there are; in how many of them the answer turns (the mean has the other sign, or lies
            outside the margin where the answer was "equivalent"); and in how many the 95 % interval of those that
            stay still leaves zero out (for "equivalent": still lies inside the margin). "Undecided" cannot turn.
        """
        kept = [interval(some) for some in itertools.combinations(self.differences, len(self.differences) - count)]
        if self.outcome == "equivalent":
            turned = [abs(each.mean) >= self.margin for each in kept]
            holds = [abs(each.mean) + each.half < self.margin for each in kept]
        else:
            sign = {"worse": 1, "better": -1, "undecided": 0}[self.outcome]
            turned = [sign * each.mean < 0 for each in kept]
            holds = [each.decided for each in kept]
        return len(kept), sum(turned), sum(holds)


def family(differences: Mapping[str, Sequence[float]], *, margin: float = 0.02, level: float = 0.05) -> list[Finding]:
    r"""Every comparison of a family, with Holm's correction over the family for each of the two questions.

    $t = \bar x / (s / \sqrt n)$ asks whether there is a difference; $t_\pm = (\bar x \mp \mathrm{margin}) / (s /
    \sqrt n)$ ask on one side each whether it lies inside the margin. A comparison that is not equivalent is worse or
    better where the first question says that there is a difference.

    Args:
        differences: For each comparison its differences, paired by seed; two seeds or more. One that is not finite
            makes its comparison undecided; it still counts in the correction.
        margin: What is too small to matter, in nats per token.
        level: The error that the family may make in each question.

    Returns:
        The findings, in the order given.

    Raises:
        ValueError: If a comparison has fewer than two seeds, or the margin is not positive.

    Source: Holm 1979 for the correction, Lakens 2017 for the two one-sided tests.

    >>> [each.outcome for each in family({"a": [0.05, 0.06, 0.055, 0.052], "b": [0.001, -0.002, 0.0, 0.001]})]
    ['worse', 'equivalent']
    """
    if not margin > 0:
        raise ValueError(f"margin: expected a positive number of nats per token, got {margin}")
    for name, values in differences.items():
        if len(values) < 2:
            raise ValueError(f"{name}: expected differences of two seeds or more, got {len(values)}")
    finite = {name: values for name, values in differences.items() if all(map(math.isfinite, values))}
    p_two, p_inside = (dict.fromkeys(differences, 1.0) for _ in range(2))
    p_two |= {name: paired_p(values) for name, values in finite.items()}
    p_inside |= {name: _inside(values, margin) for name, values in finite.items()}
    apart, inside = holm(p_two, level=level), holm(p_inside, level=level)
    findings = []
    for name, values in differences.items():
        outcome: Outcome = "undecided"
        if name in inside:
            outcome = "equivalent"
        elif name in apart:
            outcome = "worse" if statistics.fmean(values) > 0 else "better"
        findings.append(Finding(name, tuple(values), outcome, p_two[name], p_inside[name], margin))
    return findings


def _t(values: Sequence[float], shift: float) -> float:
    """Student's t of the values against a shift; infinite where they do not vary."""
    mean, error = statistics.fmean(values) - shift, statistics.stdev(values) / math.sqrt(len(values))
    return mean / error if error else math.copysign(math.inf, mean) if mean else 0.0


def _inside(values: Sequence[float], margin: float) -> float:
    freedom = len(values) - 1
    return max(float(stdtr(freedom, _t(values, margin))), float(stdtr(freedom, -_t(values, -margin))))


def small_task(
    experiment: str, comparisons: Iterable[tuple[str, str]], *, seeds: int = 8, margin: float = 0.02
) -> list[Finding]:
    """Compare models of a small task that ran at several rates, paired by seed, each seed at rates that others choose.

    Args:
        experiment: Its name; its variants are called by a model and a rate, as in "relu, 0.01".
        comparisons: Pairs such as ("relu, two matrices", "relu, none"); the loss of the second is subtracted.
        seeds: How many the plan has.
        margin: What is too small to matter, in nats.

    Returns:
        One family of findings, in the order of the comparisons; empty while a card is missing.

    Raises:
        UndecidedError: If a chosen rate lies at the edge of the grid, ahead by more than the margin.
    """
    pairs, found = list(comparisons), cards.load_all(experiment, "cpu")
    losses = losses_by_rate(replace(card, variant=card.variant.rpartition(", ")[0]) for card in found)
    asked = [losses.get(model, {}) for pair in pairs for model in pair]
    if not all(asked) or any(len(of) < seeds for tried in asked for of in tried.values()):
        return []
    at = at_rates_of_others(losses, slack=margin)
    gaps = {}
    for one, other in pairs:
        about, _, model = one.rpartition(", ")
        name = f"{about}: {model} minus {other.removeprefix(about).removeprefix(', ')}"
        gaps[name] = [at[one][seed] - at[other][seed] for seed in at[one]]
    return family(gaps, margin=margin)
