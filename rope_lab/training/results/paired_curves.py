"""The difference of two variants along their runs: at every validation, seed by seed."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from rope_lab.training.results import cards
from rope_lab.training.results.intervals import Interval, interval


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
