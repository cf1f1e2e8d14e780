"""Chapter 21's widget: query and key of one plane, with a norm and its gains before the turn or after it."""

import numpy as np
from traitlets import Enum, Float, Int

from rope_lab.algebra.rotation import rotate
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["NormAroundTurn"]

CONTENT = {"query": [0.8, 0.5], "key": [0.94, 0.34]}
THETA, REACH = 0.2, 40


class NormAroundTurn(Widget):
    r"""A query and a key of one plane; the key's norm has gains, and stands before the turn or after it.

    State: ``shift``, by how many positions both words move; the ``offset`` $n-m$; the gains ``first`` and ``second``
    of the two components, which are the products of gains, as the query has none; the ``place`` of the norm, "before"
    or "after" the turn. Values: ``query``, ``key`` and ``logit`` now, and the ``logits`` of all shifts.

    >>> before, after = (NormAroundTurn.compute(NormAroundTurn(place=p).state())["logits"] for p in ("before", "after"))
    >>> round(max(before) - min(before), 9), round(max(after) - min(after), 2)
    (0.0, 1.6)
    """

    title = "A norm with gains, before the turn and after it"
    shift = state(Int(0, min=0, max=REACH))
    offset = state(Int(-3, min=-12, max=0))
    first = state(Float(1.6, min=0.4, max=2.0))
    second = state(Float(0.8, min=0.4, max=2.0))
    place = state(Enum(["before", "after"], "after"))
    content = constant(CONTENT)
    theta = constant(THETA)
    reach = constant(REACH)

    @staticmethod
    def compute(state: dict) -> dict:
        gains, theta = np.array([state["first"], state["second"]]), state["theta"]
        query, key = (np.array(state["content"][word]) for word in ("query", "key"))

        def normed(x: np.ndarray) -> np.ndarray:
            return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True))

        at = np.array([state["shift"], *range(state["reach"] + 1)])
        queries = rotate(normed(query), at - state["offset"], theta=theta)
        if state["place"] == "before":
            keys = rotate(gains * normed(key), at, theta=theta)
        else:
            keys = gains * normed(rotate(key, at, theta=theta))
        logit, *logits = np.sum(queries * keys, axis=-1).tolist()
        return {"query": queries[0].tolist(), "key": keys[0].tolist(), "logit": logit, "logits": logits}

    def fallback(self) -> str:
        spread = {}
        for place in ("before", "after"):
            logits = self.compute(self.state() | {"place": place})["logits"]
            spread[place] = max(logits) - min(logits)
        return (
            f"Interactive figure: one plane, a query and a key {abs(self.offset)} places before it, with the gains "
            f"{self.first:g} and {self.second:g}. While both words move along, the logit changes by up to "
            f"{spread['before']:.2f} if the norm stands before the turn, and by up to {spread['after']:.2f} if it "
            "stands after it."
        )
