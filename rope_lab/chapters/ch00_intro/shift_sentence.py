"""The landing page's second widget: move a whole sentence along, with positions rotated in and with positions added."""

import numpy as np
from traitlets import Float, Int, List, Unicode

from rope_lab.algebra.rotation import rotate
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["ShiftSentence"]

# One plane of a query and a key for each word; the two "the" are the same word, told apart by position alone.
_QUERIES = {"the": [0.6, 0.25], "cat": [0.85, -0.2], "sat": [0.5, 0.7], "on": [-0.35, 0.65], "mat": [0.85, 0.25]}
_KEYS = {"the": [0.3, -0.55], "cat": [0.7, 0.5], "sat": [-0.2, 0.85], "on": [0.65, -0.15], "mat": [0.6, 0.6]}
_WORDS = ["the", "cat", "sat", "on", "the", "mat"]


class ShiftSentence(Widget):
    r"""Logits of a sentence that starts at position ``shift``, once with positions rotated in and once added on.

    Rotated, word $m$ has the query $R_m q$ and the key $R_m k$; added, it has $q + p_m$ and $k + p_m$ with
    $p_m = a(\cos m\theta, \sin m\theta)$. The words are those that the reader ``typed``, if there are two or more; a
    word has the vectors ``q`` and ``k`` of the place where it stands first, so equal words are equal. For each of the
    two ways, ``logits`` lists the pairs (later, earlier) row by row, ``home`` the same at shift 0, ``change`` the
    largest difference.

    >>> values = ShiftSentence.compute(ShiftSentence(shift=9).state())
    >>> round(values["rotated"]["change"], 12), values["added"]["change"] > 0.3
    (0.0, True)
    """

    title = "A sentence moves along: every hand turns"
    # The shift stays short of a whole turn (2 pi / theta is 18): with one frequency, added positions come round again.
    shift = state(Int(0, min=0, max=14))
    theta = state(Float(0.35))
    amplitude = state(Float(0.4))
    typed = state(Unicode(" ".join(_WORDS)))
    example = constant(_WORDS)
    q = state(List([_QUERIES[word] for word in _WORDS]))
    k = state(List([_KEYS[word] for word in _WORDS]))

    @staticmethod
    def compute(state: dict) -> dict:
        places = len(state["q"])
        words = [word for word in state["typed"].split(" ") if word][:places]
        if len(words) < 2:
            words = state["example"][:places]
        own = {kind: [state[kind][words.index(word)] for word in words] for kind in ("q", "k")}
        rows = {way: _row({**state, **own}, way) for way in ("rotated", "added")}
        return {"words": words, **own, **rows}

    def fallback(self) -> str:
        state = {**self.state(), "shift": self.shift or 9}
        values = self.compute(state)
        rotated, added = (values[way]["change"] for way in ("rotated", "added"))
        return (
            f"Interactive figure: the sentence “{' '.join(values['words'])}” moves along by {state['shift']} "
            "positions. With rotary positions every query and key turns, and the largest change of any score of two "
            f"words, a logit, is {rotated:.3f}; with positions added to the vectors it is {added:.3f}."
        )


def _row(state: dict, way: str) -> dict:
    """One way to give a word its position: queries and keys in their places, and what became of the logits."""
    queries, keys, logits = _sentence(state, state["shift"], way)
    _, _, home = _sentence(state, 0, way)
    return {
        "q_placed": queries.tolist(),
        "k_placed": keys.tolist(),
        "logits": logits.tolist(),
        "home": home.tolist(),
        "change": float(np.abs(logits - home).max()),
    }


def _sentence(state: dict, shift: float, way: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Queries and keys in their places, and the logits of the pairs (later, earlier)."""
    at = shift + np.arange(len(state["q"]))
    if way == "rotated":
        queries, keys = (rotate(state[kind], at, theta=state["theta"]) for kind in ("q", "k"))
    else:
        places = state["amplitude"] * rotate([1.0, 0.0], at, theta=state["theta"])
        queries, keys = (state[kind] + places for kind in ("q", "k"))
    return queries, keys, (queries @ keys.T)[np.tril_indices(len(at), -1)]
