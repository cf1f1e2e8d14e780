"""Chapters 1, 8 and 9: a sentence of hands, seen from the ground or from the seat of the query that reads it."""

import numpy as np
from traitlets import Bool, Enum, Float, Int

from rope_lab.algebra.latent import softmax
from rope_lab.algebra.rotation import frequencies, rotate
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["Ride"]

_WORDS = ("the", "cat", "sat", "on", "the", "mat")
_PLANES = 4


def _hands(lengths: list[float], angles: list[list[float]]) -> list[list[float]]:
    """One vector for each word, from its length and its angle in each plane."""
    return [
        [length * part for angle in row for part in (float(np.cos(angle)), float(np.sin(angle)))]
        for length, row in zip(lengths, angles, strict=True)
    ]


_QUERIES = _hands(
    [1.0] * 6,
    [[0.4, 2.2, 1.0, 3.0], [1.1, 0.3, 2.6, 0.9], [1.9, 1.2, 0.2, 2.1], [2.8, 2.9, 1.7, 0.5], [0.3, 0.8, 3.1, 1.6],
     [1.5, 1.8, 0.6, 2.4]],
)  # fmt: skip
_KEYS = _hands(
    [0.8, 0.95, 1.0, 0.7, 0.75, 0.9],
    [[-1.0, 0.5, 2.0, 1.2], [0.7, 2.4, 0.1, 3.0], [2.1, 1.1, 1.6, 0.4], [0.9, -0.6, 2.8, 2.2], [0.35, 1.9, 0.9, 1.7],
     [2.4, 0.2, 1.3, 2.7]],
)  # fmt: skip
_VALUES = _hands(
    [0.9, 0.8, 1.0, 0.85, 0.7, 0.95],
    [[0.6, 1.4, 2.9, 0.3], [1.7, 0.2, 1.1, 2.5], [-0.5, 2.0, 0.7, 1.3], [2.3, 0.9, 1.9, 3.0], [0.1, 2.7, 2.2, 0.8],
     [1.2, 1.6, 0.4, 2.0]],
)  # fmt: skip


class Ride(Widget):
    r"""Six words, each with its key (or value) turned by $R_n$; one of them reads, with its query turned by $R_m$.

    From the reader's seat everything is turned by $R_m^\top$ as well, so a word shows $R_{n-m} k$. State: ``shift``,
    the position of the first word; ``reader``, counted from 0; ``ride``, the share of $R_m^\top$ that is applied to the
    scene; ``placed``, the share of $R_n$ that is applied to the words; ``hands``, keys or values; ``many``, four planes
    for one; ``forgot``, $R_m$ in the place of $R_m^\top$.

    The ``logits`` are $q^\top R_m^\top R_n k$, and ``output`` is the sum of the values by their softmax, as it looks
    from there. What ends in ``moved`` is the largest distance of a hand, or change of a logit, since shift 0.

    >>> riding = Ride.compute(Ride(shift=17, ride=1).state())
    >>> round(riding["hands_moved"], 12), round(riding["logits_moved"], 12)
    (0.0, 0.0)
    >>> standing = Ride.compute(Ride(shift=17).state())
    >>> standing["hands_moved"] > 1, round(standing["logits_moved"], 12)
    (True, 0.0)
    """

    title = "Ride on the query: one sentence, seen from two places"
    shift = state(Int(0, min=0, max=24))
    reader = state(Int(3, min=1, max=len(_WORDS) - 1))
    ride = state(Int(0, min=0, max=1))
    placed = state(Int(1, min=0, max=1))
    hands = state(Enum(["keys", "values"], "keys"))
    many = state(Bool(False))
    forgot = state(Bool(False))
    theta = state(Float(0.5))
    words = constant(list(_WORDS))
    q = constant(_QUERIES)
    k = constant(_KEYS)
    v = constant(_VALUES)

    @staticmethod
    def compute(state: dict) -> dict:
        now, home = _scene(state, state["shift"]), _scene(state, 0)
        moved = {
            "hands_moved": float(_lengths(now["seen"] - home["seen"]).max()),
            "logits_moved": float(np.abs(now["logits"] - home["logits"]).max()),
            "output_moved": float(_lengths(now["output"] - home["output"]).max()),
        }
        return {name: value.tolist() for name, value in now.items()} | moved

    def fallback(self) -> str:
        state = {**self.state(), "shift": self.shift or 9}
        ground, seat = (self.compute({**state, "ride": ride}) for ride in (0, 1))
        return (
            f"Interactive figure: the sentence “{' '.join(self.words)}” moves along by {state['shift']} positions. "
            f"Seen from the ground its hands move by up to {ground['hands_moved']:.2f}; seen from the query, by "
            f"{seat['hands_moved']:.2f}. The logits change by {ground['logits_moved']:.2f}."
        )


def _lengths(hands: np.ndarray) -> np.ndarray:
    """The length of each vector within each plane."""
    return np.linalg.norm(hands.reshape(-1, 2), axis=-1)


def _scene(state: dict, shift: float) -> dict[str, np.ndarray]:
    """The scene with the first word at this position: hands, query, logits, weights, output."""
    planes, reader = _PLANES if state["many"] else 1, state["reader"]
    theta = state["theta"] * frequencies(2 * planes, base=100)
    q, k, v = (np.array(state[name])[:, : 2 * planes] for name in "qkv")
    m, back = shift + reader, 1 if state["forgot"] else -1
    turn = state["placed"] * (shift + np.arange(len(k)))  # R_n
    keys, values = (rotate(each, turn, theta=theta) for each in (k, v))

    def seen(hands: np.ndarray) -> np.ndarray:
        return rotate(hands, back * state["ride"] * m, theta=theta)

    logits = rotate(keys[:reader], back * m, theta=theta) @ q[reader] / planes
    weights = softmax(logits)
    return {
        "seen": seen(values if state["hands"] == "values" else keys),
        "query": seen(rotate(q[reader], m, theta=theta)),
        "logits": logits,
        "weights": weights,
        "output": seen(weights @ values[:reader]),
        "frame": back * state["ride"] * m * theta,
    }
