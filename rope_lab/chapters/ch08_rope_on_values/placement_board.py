"""Chapter 8's widget: choose one of sixteen placements, move the sentence along, and see what moves with it."""

from collections.abc import Sequence

import numpy as np
from traitlets import Bool, Enum, Float, Int, List

from rope_lab.algebra.placements import attention_weights
from rope_lab.algebra.rotation import rotate
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["PlacementBoard"]

ROWS = ("", "qk", "q", "k")  # what turns in the logits
COLUMNS = ("", "vo", "v", "o")  # what turns on the way of the values
SHIFTS = range(13)  # the test behind the verdict
_KEYS = [[0.9, 0.4], [-0.3, 1.1], [0.5, -0.8], [1.0, 0.2], [-0.6, -0.5]]
_VALUES = [[0.9, 0.5], [-0.4, 0.9], [0.8, -0.7], [0.2, 1.0], [1.0, 0.1]]


class PlacementBoard(Widget):
    r"""One head in one plane: the last word's weights over five words, and its output, at ``shift`` and at 0.

    ``arrived`` are the summands $a_{mn}\,\rho_o(m)^\top \rho_v(n)\,v_n$ of the output; with ``turn`` "on" the output
    turns by $R_m$ where it should turn by $R_m^\top$. ``board`` holds what twelve shifts do to each of the sixteen
    placements: "same", "turned" (the length of the output stays), or "weights" (they move). A cell of the board says it
    only when its placement was tried: ``tried`` has one bit for each, in the order of the rows.

    >>> found = PlacementBoard.compute(PlacementBoard(v=True, o=True, shift=9.0).state())
    >>> round(found["weights_moved"], 9), round(found["output_moved"], 9), found["verdict"]
    (0.0, 0.0, 'same')
    >>> [row.count("same") for row in found["board"]]
    [2, 2, 0, 0]
    """

    title = "Placement board: what does a shift move?"
    q = state(Bool(False))
    k = state(Bool(False))
    v = state(Bool(True))
    o = state(Bool(False))
    shift = state(Float(0, min=0, max=12))
    turn = state(Enum(["back", "on"], "back"))
    tried = state(Int(0, min=0, max=2 ** (len(ROWS) * len(COLUMNS)) - 1))
    theta = state(Float(0.35))
    last = constant(SHIFTS[-1])
    query = state(List([1.2, 0.7]))
    content_k = state(List(_KEYS))
    content_v = state(List(_VALUES))

    @staticmethod
    def compute(state: dict) -> dict:
        weights = {row: _weights(state, row, SHIFTS) for row in ROWS}
        placed = {column: _placed(state, column, SHIFTS) for column in COLUMNS}
        board = [[_verdict(weights[row], placed[column]) for column in COLUMNS] for row in ROWS]
        row, column = ("".join(role for role in pair if state[role]) for pair in ("qk", "vo"))
        both = [0.0, state["shift"]]
        here = _weights(state, row, both)
        arrived = here[..., None] * _placed(state, column, both)
        (home_weights, now_weights), (home, now) = here, arrived.sum(axis=1)
        return {
            "weights": now_weights.tolist(),
            "home_weights": home_weights.tolist(),
            "arrived": arrived[1].tolist(),
            "output": now.tolist(),
            "home_output": home.tolist(),
            "weights_moved": float(np.abs(now_weights - home_weights).max()),
            "output_moved": float(np.linalg.norm(now - home)),
            "length_moved": float(abs(np.linalg.norm(now) - np.linalg.norm(home))),
            "verdict": board[ROWS.index(row)][COLUMNS.index(column)],
            "board": board,
        }

    def fallback(self) -> str:
        return (
            "Interactive figure: a board with the sixteen ways to rotate some of queries, keys, values and outputs. "
            f"Choose one, move a sentence of {len(self.content_k)} words along, and see whether the weights and the "
            "output of its last word stay. A cell of the board says it once you have tried it."
        )


def _weights(state: dict, rotated: str, shifts: Sequence[float]) -> np.ndarray:
    """The last word's weights, (shifts, words), with the first word at each shift."""
    q = np.sqrt(2) * np.array([state["query"]])  # the board leaves the divisor out

    def at(n: np.ndarray) -> np.ndarray:
        k, theta = state["content_k"], state["theta"]
        return attention_weights(q, k, q_positions=n[-1:], k_positions=n, rotated=rotated, theta=theta)[0]

    return np.stack([at(shift + np.arange(len(state["content_k"]), dtype=float)) for shift in shifts])


def _placed(state: dict, rotated: str, shifts: Sequence[float]) -> np.ndarray:
    """The vector that each word hands over for a weight of 1, (shifts, words, 2)."""
    at = np.add.outer(shifts, np.arange(len(state["content_v"]), dtype=float))
    angle = at if "v" in rotated else np.zeros_like(at)
    if "o" in rotated:
        angle = angle + (-at[:, -1:] if state["turn"] == "back" else at[:, -1:])
    return rotate(np.tile(state["content_v"], (len(at), 1, 1)), angle, theta=state["theta"])


def _verdict(weights: np.ndarray, placed: np.ndarray) -> str:
    """The verdict of the shift test's numbers on one placement."""
    if np.abs(weights - weights[0]).max() > 1e-9:
        return "weights"
    outputs = (weights[..., None] * placed).sum(axis=1)
    return "turned" if np.abs(outputs - outputs[0]).max() > 1e-9 else "same"
