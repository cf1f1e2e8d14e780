"""Chapter 1's widget: a query and a key as two hands of one clock, and the logit that sees only their offset."""

from cmath import phase
from math import pi

from traitlets import Float, Int

from rope_lab.algebra.rotation import rotate
from rope_lab.show.widgets.kit import Widget, state

__all__ = ["TwoHands"]


class TwoHands(Widget):
    r"""Turn a query by $m\theta$ and a key by $n\theta$: their dot product depends on $n-m$ alone.

    State: positions ``m`` (query) and ``n`` (key), a ``shift`` added to both, the angle ``theta`` per position
    (radians), and the two vectors before they are turned, by length and angle.

    >>> round(TwoHands.compute(TwoHands(m=3, n=7).state())["logit"], 9) == round(
    ...     TwoHands.compute(TwoHands(m=3, n=7, shift=20).state())["logit"], 9)
    True
    """

    title = "Two hands: a query and a key turned by their positions"
    m = state(Int(2, min=0, max=16))
    n = state(Int(7, min=0, max=16))
    shift = state(Int(0, min=0, max=24))
    theta = state(Float(0.3, min=0.0, max=1.0))
    q_length = state(Float(0.95, min=0.1, max=1.0))
    q_angle = state(Float(0.5, min=-pi, max=pi))
    k_length = state(Float(0.8, min=0.1, max=1.0))
    k_angle = state(Float(0.0, min=-pi, max=pi))

    @staticmethod
    def compute(state: dict) -> dict:
        offset, turn = state["n"] - state["m"], {"theta": state["theta"]}
        q, k = (rotate([state[f"{hand}_length"], 0.0], state[f"{hand}_angle"], theta=1.0) for hand in ("q", "k"))
        q, k = rotate(q, state["m"] + state["shift"], **turn), rotate(k, state["n"] + state["shift"], **turn)
        both = complex(*q).conjugate() * complex(*k)
        return {
            "q": q.tolist(),
            "k": k.tolist(),
            "offset": offset,
            "between": phase(both),
            "logit": both.real,
            "reach": abs(both),
        }

    def fallback(self) -> str:
        values = self.compute(self.state())
        return (
            "Interactive figure: a query q and a key k drawn as two hands of a clock. Each step along the sequence "
            f"turns a hand by {self.theta:g} radians. With q at position {self.m} and k at position {self.n} their dot "
            f"product is {values['logit']:.3f}, and it is the same with q at {self.m + 10} and k at {self.n + 10}."
        )
