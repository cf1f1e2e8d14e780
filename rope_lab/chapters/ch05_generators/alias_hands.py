"""Chapter 5's first widget: two hands that whole positions cannot tell apart, and squeezed positions can."""

from math import pi

import numpy as np
from traitlets import Float, Int

from rope_lab.algebra.rotation import rotate
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["AliasHands"]

TOKENS = 6


class AliasHands(Widget):
    r"""Hands at $\theta$ and at $\theta + 2\pi w$ radians per position, for tokens at the positions $0, s, 2s, \ldots$

    State: ``scale``, the distance s of two tokens; ``turns``, the whole turns w that the second hand makes more from
    one position to the next; ``theta``. ``apart`` is the angle between the hands at each token, from 0 to pi.

    >>> together = AliasHands.compute(AliasHands().state())["apart"]
    >>> squeezed = AliasHands.compute(AliasHands(scale=0.5).state())["apart"]
    >>> round(max(together), 9), np.round(np.array(squeezed) / pi, 9).tolist()
    (0.0, [0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    """

    title = "Two hands that whole positions cannot tell apart"
    scale = state(Float(1.0, min=0.25, max=1.0))
    turns = state(Int(1, min=0, max=3))
    theta = state(Float(1.0, min=0.0, max=pi))
    tokens = constant(TOKENS)

    @staticmethod
    def compute(state: dict) -> dict:
        at = state["scale"] * np.arange(state["tokens"])
        slow, fast = (
            rotate([1.0, 0.0], at, theta=speed) for speed in (state["theta"], state["theta"] + 2 * pi * state["turns"])
        )
        cosine = np.sum(slow * fast, axis=-1)
        sine = slow[:, 0] * fast[:, 1] - slow[:, 1] * fast[:, 0]
        return {"slow": slow.tolist(), "fast": fast.tolist(), "apart": np.abs(np.arctan2(sine, cosine)).tolist()}

    def fallback(self) -> str:
        whole, half = (self.compute({**self.state(), "scale": scale})["apart"] for scale in (1.0, 0.5))
        return (
            f"Interactive figure: two hands for each of {TOKENS} tokens. The second makes {self.turns} whole turn more "
            f"from one position to the next. At whole positions they are at most {max(whole):.2f} radians apart; with "
            f"positions divided by two, at most {max(half):.2f}."
        )
