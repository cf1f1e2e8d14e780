"""Chapter 19's second widget: the published lower bound for the base, and the islands of the bases that pass it."""

import json
from pathlib import Path

import numpy as np
from traitlets import Enum, Float

from rope_lab.algebra.longer_texts import lowest_decay
from rope_lab.algebra.rotation import frequencies
from rope_lab.show.widgets.kit import Widget, base_of, constant, state

__all__ = ["BaseBound", "islands"]

HEAD_DIM = 128
LOW, HIGH, STEP = 4.0, 6.6, 0.01  # the bases of the strip, as powers of ten
WINDOWS = ("4096", "8192", "32768")
FILE = Path(__file__).with_name("base_bound.json")


def islands(window: int, *, every: int = 1) -> str:
    """A letter for each base of the strip: ``o`` where the decay is negative nowhere in the window, ``.`` elsewhere.

    Args:
        window: How many offsets.
        every: Take only each so-many-th base.

    Returns:
        The letters, from the smallest base to the largest.

    >>> islands(4096, every=52)
    '..oooo'
    """
    grid = LOW + STEP * np.arange(round((HIGH - LOW) / STEP) + 1)[::every]
    lists = (frequencies(HEAD_DIM, base=base_of(x)) for x in grid)
    return "".join("o" if lowest_decay(window, theta=theta).value >= 0 else "." for theta in lists)


class BaseBound(Widget):
    r"""The decay $f(r) = \frac1p \sum_i \cos r\theta_i$ of one base along a window, and the bases with $f \ge 0$.

    State: ``log_base``, whose power of ten, rounded to two digits, is the base; ``window``.

    >>> values = BaseBound.compute(BaseBound(log_base=6.0, window="32768").state())
    >>> values["offset"], round(values["lowest"], 4), values["passes"]
    (28259, -0.0121, False)
    """

    title = "The published lower bound for the base, and its islands"
    log_base = state(Float(5.7, min=LOW, max=HIGH))
    window = state(Enum(list(WINDOWS), default_value="8192"))
    head_dim = constant(HEAD_DIM)
    islands = constant(json.loads(FILE.read_text(encoding="utf-8")))

    @staticmethod
    def compute(state: dict) -> dict:
        base = base_of(state["log_base"])
        low = lowest_decay(int(state["window"]), theta=frequencies(state["head_dim"], base=base))
        return {"base": base, "lowest": low.value, "offset": low.offset, "passes": low.value >= 0}

    def fallback(self) -> str:
        values = self.compute(self.state())
        return (
            f"Interactive figure: the decay of a head of {self.head_dim} along {int(self.window):,} tokens. With base "
            f"{values['base']:,.0f} its lowest value is {values['lowest']:.4f}, at offset {values['offset']:,}. Below, "
            "a strip of bases from 10,000 to 4,000,000: those that are never negative form islands, with gaps above "
            "the first of them."
        )
