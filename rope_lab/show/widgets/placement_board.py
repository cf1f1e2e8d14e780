"""Chapter 8's widget: rotate any of q, k, v, o, move the sentence along, and see what moves with it."""

from math import cos, exp, hypot, sin

from traitlets import Bool, Enum, Float, List

from rope_lab.show.widgets.kit import Widget, state

__all__ = ["PlacementBoard"]

ROWS = ("", "qk", "q", "k")  # what turns in the logits
COLUMNS = ("", "vo", "v", "o")  # what turns on the way of the values
SHIFTS = range(1, 13)  # the test behind the verdict
_KEYS = [[0.9, 0.4], [-0.3, 1.1], [0.5, -0.8], [1.0, 0.2], [-0.6, -0.5]]
_VALUES = [[0.9, 0.5], [-0.4, 0.9], [0.8, -0.7], [0.2, 1.0], [1.0, 0.1]]


class PlacementBoard(Widget):
    r"""One head in one plane: the last word's weights over five words, and its output, at ``shift`` and at 0.

    ``arrived`` are the summands $a_{mn}\,\rho_o(m)^\top \rho_v(n)\,v_n$ of the output; with ``turn`` "on" the output
    turns by $R_m$ where it should turn by $R_m^\top$. ``board`` holds what twelve shifts do to each of the sixteen
    placements: "same", "turned" (the length of the output stays), or "weights" (they move).

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
    theta = state(Float(0.35))
    query = state(List([1.2, 0.7]))
    content_k = state(List(_KEYS))
    content_v = state(List(_VALUES))

    @staticmethod
    def compute(state: dict) -> dict:
        here = "".join(role for role in "qkvo" if state[role])
        home, now = _head(state, here, 0), _head(state, here, state["shift"])
        board = [[_verdict(state, row + column) for column in COLUMNS] for row in ROWS]
        return {
            "weights": now["weights"],
            "home_weights": home["weights"],
            "arrived": now["arrived"],
            "output": now["output"],
            "home_output": home["output"],
            **_moved(home, now),
            "verdict": _verdict(state, here),
            "board": board,
        }

    @staticmethod
    def random_state(rng) -> dict:
        T = int(rng.integers(1, 7))
        return {
            **{role: bool(rng.integers(2)) for role in "qkvo"},
            "shift": float(rng.choice([rng.integers(0, 13), rng.uniform(0, 12)])),
            "turn": str(rng.choice(["back", "on"])),
            "theta": float(rng.uniform(0.1, 0.5)),
            "query": rng.uniform(-1.5, 1.5, 2).tolist(),
            "content_k": rng.uniform(-1.5, 1.5, (T, 2)).tolist(),
            "content_v": rng.uniform(-1.5, 1.5, (T, 2)).tolist(),
        }

    def fallback(self) -> str:
        board = self.compute(self.state())["board"]
        found = [
            (row + column).upper() or "none"
            for row, line in zip(ROWS, board, strict=True)
            for column, verdict in zip(COLUMNS, line, strict=True)
            if verdict == "same"
        ]
        return (
            "Interactive figure: rotate any of queries, keys, values, outputs; move a sentence of five words along. "
            f"Of the sixteen placements, {len(found)} give the same output after every shift: {', '.join(found)}. "
            "Four more keep the weights and turn the output; in the other eight the weights move."
        )


def _head(state: dict, rotated: str, shift: float) -> dict:
    """The last word's weights, the summands of its output, and the output, with the first word at ``shift``."""
    T, theta = len(state["content_k"]), state["theta"]
    m = shift + T - 1
    query = _turned(state["query"], m * theta if "q" in rotated else 0)
    back = (-m if state["turn"] == "back" else m) * theta if "o" in rotated else 0
    logits, placed = [], []
    for n, (key, value) in enumerate(zip(state["content_k"], state["content_v"], strict=True)):
        x, y = _turned(key, (shift + n) * theta if "k" in rotated else 0)
        logits.append(query[0] * x + query[1] * y)
        placed.append(_turned(value, ((shift + n) * theta if "v" in rotated else 0) + back))
    top = max(logits)
    share = [exp(logit - top) for logit in logits]
    weights = [each / sum(share) for each in share]
    arrived = [[weight * x, weight * y] for weight, (x, y) in zip(weights, placed, strict=True)]
    return {"weights": weights, "arrived": arrived, "output": [sum(x for x, _ in arrived), sum(y for _, y in arrived)]}


def _turned(vector: list[float], angle: float) -> list[float]:
    (x, y), c, s = vector, cos(angle), sin(angle)
    return [x * c - y * s, x * s + y * c]


def _moved(home: dict, now: dict) -> dict:
    (x, y), (u, v) = home["output"], now["output"]
    return {
        "weights_moved": max(abs(a - b) for a, b in zip(home["weights"], now["weights"], strict=True)),
        "output_moved": hypot(u - x, v - y),
        "length_moved": abs(hypot(u, v) - hypot(x, y)),
    }


def _verdict(state: dict, rotated: str) -> str:
    """What the numbers of the shift test say of one placement."""
    home = _head(state, rotated, 0)
    tests = [_moved(home, _head(state, rotated, shift)) for shift in SHIFTS]
    if max(test["weights_moved"] for test in tests) > 1e-9:
        return "weights"
    return "turned" if max(test["output_moved"] for test in tests) > 1e-9 else "same"
