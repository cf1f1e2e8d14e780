"""The opener of chapter 16: nine equal models, compared again and again, and the pairs that are declared different."""

from itertools import combinations
from statistics import fmean

import numpy as np
from traitlets import Int

from rope_lab.show.widgets.kit import Widget, constant, state
from rope_lab.training.results.intervals import t_quantile

__all__ = ["NineEquals"]

VARIANTS, SEEDS, TRIALS = 9, 5, 200


def _declared() -> list[list[int]]:
    """For every trial, the numbers of the pairs whose 95 % interval leaves zero out; all losses have one law."""
    losses = np.random.default_rng(16).normal(size=(TRIALS, VARIANTS, SEEDS))
    ones, others = np.array(list(combinations(range(VARIANTS), 2))).T
    d = losses[:, others] - losses[:, ones]  # trial, pair, seed
    half = t_quantile(0.975, SEEDS - 1) * d.std(2, ddof=1) / np.sqrt(SEEDS)
    return [np.flatnonzero(row).tolist() for row in np.abs(d.mean(2)) > half]


class NineEquals(Widget):
    """Experiments with nine equal variants and five seeds: the board of the last one, and the mean of all so far.

    State: how many ``trials`` have been made. The trials are drawn once, by a fixed seed.

    >>> NineEquals.compute(NineEquals(trials=200).state())["mean"] < 2.2
    True
    """

    title = "Nine equal models: pairs that an interval declares different"
    trials = state(Int(1, min=1, max=TRIALS))
    declared = constant(_declared())
    variants = constant(VARIANTS)

    @staticmethod
    def compute(state: dict) -> dict:
        counts = [len(pairs) for pairs in state["declared"][: state["trials"]]]
        return {"last": state["declared"][state["trials"] - 1], "counts": counts, "mean": fmean(counts)}

    def fallback(self) -> str:
        mean = self.compute(self.state() | {"trials": TRIALS})["mean"]
        return (
            f"Interactive figure: {TRIALS} experiments with {VARIANTS} equal variants and {SEEDS} seeds. A 95 % "
            f"interval declares {mean:.2f} of the 36 pairs different, on average."
        )
