"""Chapter 5's widget: the six entries of a generator of four dimensions, its two speeds, and the orbit of one point."""

import numpy as np
from traitlets import Float

from rope_lab.algebra.generators import angles_4d, halves_4d, power_4d, skew_4d
from rope_lab.show.widgets.kit import Widget, state

__all__ = ["So4Explorer"]

ENTRIES = ("b21", "b31", "b41", "b32", "b42", "b43")
LONGEST = 40.0  # positions


class So4Explorer(Widget):
    r"""A point of four dimensions moves along $e^{tB} x$, with $x = (1, 0, 1, 0)/\sqrt 2$ at the start.

    State: the six entries of B below its diagonal, radians per position; the position ``t``; and ``view``, the angle
    from which the first three coordinates are looked at, in radians.

    >>> values = So4Explorer.compute(So4Explorer().state())
    >>> [round(angle, 2) for angle in values["angles"]]
    [1.0, 0.3]
    """

    title = "Four dimensions: six entries, two speeds, one orbit"
    b21 = state(Float(1.0, min=-2.0, max=2.0))
    b31 = state(Float(0.0, min=-2.0, max=2.0))
    b41 = state(Float(0.0, min=-2.0, max=2.0))
    b32 = state(Float(0.0, min=-2.0, max=2.0))
    b42 = state(Float(0.0, min=-2.0, max=2.0))
    b43 = state(Float(0.3, min=-2.0, max=2.0))
    t = state(Float(12.0, min=0.0, max=LONGEST))
    view = state(Float(0.6, min=-3.14, max=3.14))

    @staticmethod
    def compute(state: dict) -> dict:
        B = skew_4d([state[name] for name in ENTRIES])
        R = power_4d(B, state["t"])
        start = np.array([1.0, 0.0, 1.0, 0.0]) / np.sqrt(2)
        point = R @ start
        return {
            "angles": angles_4d(B).tolist(),
            "halves": [float(np.linalg.norm(half)) for half in halves_4d(B)],
            "matrix": R.tolist(),
            "point": point.tolist(),
            "logit": float(start @ point),
        }

    def fallback(self) -> str:
        values = self.compute(self.state())
        first, second = values["angles"]
        return (
            "Interactive figure: six sliders for the entries of a skew matrix B of four dimensions, the orbit of one "
            f"point under exp(tB), in three of its four coordinates. These entries make the two speeds {first:.2f} and "
            f"{second:.2f} radians per position; at t = {self.t:g} an equal query and key have the logit "
            f"{values['logit']:.2f}."
        )
