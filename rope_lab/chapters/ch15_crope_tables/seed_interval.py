"""The opener of chapter 15: three paired differences, and the interval that so many seeds give."""

import numpy as np
from traitlets import Int

from rope_lab.chapters.ch15_crope_tables.exercises import GAPS
from rope_lab.show.widgets.kit import Widget, constant, state
from rope_lab.show.widgets.runs import quantiles

__all__ = ["SeedInterval"]

MOST = 12  # seeds


class SeedInterval(Widget):
    r"""The 95 % interval of paired differences, as the number of seeds grows while mean and spread stay.

    $\bar d \pm t_{0.975,\,n-1}\, s / \sqrt n$ with the mean and the standard deviation of three differences. State: the
    number n of ``seeds``.

    >>> [SeedInterval.compute(SeedInterval(seeds=n).state())["sign"] for n in (3, 4)]
    [False, True]
    """

    title = "Three differences, and what so many seeds can say"
    seeds = state(Int(3, min=2, max=MOST))
    gaps = constant(GAPS.tolist())
    t = constant(quantiles(MOST))

    @staticmethod
    def compute(state: dict) -> dict:
        n, mean = state["seeds"], float(GAPS.mean())
        half = float(quantiles(n)[n] * GAPS.std(ddof=1) / np.sqrt(n))
        return {"mean": mean, "low": mean - half, "high": mean + half, "sign": mean - half > 0}

    def fallback(self) -> str:
        values = self.compute(self.state())
        return (
            f"Interactive figure: {len(GAPS)} paired differences, {', '.join(f'{gap:+.3f}' for gap in GAPS)}. Their "
            f"95 % interval goes from {values['low']:.3f} to {values['high']:.3f}; with more seeds of the same mean "
            "and spread it would be shorter."
        )
