"""Chapter 17's widget: a rotary embedding that does not say what it is, and what its answers give away."""

from collections.abc import Callable
from functools import partial

import numpy as np
from traitlets import Bool, Enum, Float, Int

from rope_lab.algebra.arguments import Layout
from rope_lab.algebra.layouts import quarter_turn
from rope_lab.algebra.rotation import frequencies, planes
from rope_lab.show.widgets.kit import Widget, state

__all__ = ["FingerprintPlayground"]

D = 8  # coordinates of the head
FAR = 12  # the last position
PAIRINGS: tuple[Layout, ...] = ("interleaved", "half")
DIRECTIONS, TURNING = ("counter", "clock"), ("2", "4", "6", "8")
FAULTS = ("none", "nothing", "tables", "signs", "leak", "rounded", "from_one")
PUZZLES = 60
LAWS = ("lengths", "zero", "steps", "offset", "turns")
EPS = 1e-9


def _answers(state: dict, n: int) -> np.ndarray:
    """Row a is the answer to the unit vector e_a at position n."""
    r, fault = int(state["turning"]), state["fault"]
    pairing: Layout = state["pairing"]
    other: Layout = "half" if pairing == "interleaved" else "interleaved"
    theta = frequencies(r, base=10.0 ** state["log_base"]) * (1 if state["direction"] == "counter" else -1)
    at = {"from_one": n + 1, "rounded": n if n <= 4 else 2 * (n // 2), "nothing": 0}.get(fault, n)
    angle = np.empty(r)  # of each coordinate
    angle[planes(r, layout=other if fault == "tables" else pairing)] = at * theta[:, None]
    second = quarter_turn(np.eye(r), layout=pairing)
    answers = np.eye(D)
    answers[:r, :r] = np.cos(angle) * np.eye(r) + np.sin(angle) * (np.abs(second) if fault == "signs" else second)
    return answers * (0.97**n if fault == "leak" else 1.0)


def _puzzle(n: int) -> dict:
    """The settings behind the n-th puzzle: every combination once, neighbours unlike each other."""
    k = 37 * n % PUZZLES
    return {
        "pairing": PAIRINGS[k % 2],
        "direction": DIRECTIONS[k // 2 % 2],
        "turning": ("4", "6", "8")[k // 4 % 3],
        "log_base": (1.0, 1.5, 2.0, 3.0, 4.0)[k // 12],
    }


def _right(state: dict, fingerprint: dict) -> int:
    """Count those of the three guesses that agree with the fingerprint."""
    way = {1: "counter", -1: "clock"}.get(fingerprint["direction"])
    pairing = state["guess_pairing"]
    return sum(
        [
            bool(pairing) and fingerprint["pairing"] in (pairing, "either"),
            bool(way) and state["guess_direction"] == way,
            state["guess_turning"] == str(2 * len(fingerprint["pairs"])),
        ]
    )


def _gap(one: np.ndarray, two: np.ndarray) -> float:
    return float(np.abs(one - two).max())


def _fingerprint(ask: Callable[[int], np.ndarray]) -> dict:
    """The fingerprint from the answers alone."""
    F = {n: ask(n) for n in (0, 1, 2, 3, 5, 7, 9, 12)}
    unit, apart = np.eye(D), np.abs(F[1]) * (1 - np.eye(D))
    partner = np.where(apart.max(axis=1) > EPS, apart.argmax(axis=1), -1)
    pairs = [[a, int(b)] for a, b in enumerate(partner) if b > a and partner[b] == a]
    angles, r = np.array([np.arctan2(F[1][a, b], F[1][a, a]) for a, b in pairs]), 2 * len(pairs)
    fits = [name for name in PAIRINGS if r and pairs == planes(r, layout=name).tolist()]
    directions = {1 if angle > 0 else -1 for angle in angles}
    base = 0.0
    if r > 2:
        u, logs = np.arange(0, r, 2) / r, np.log(np.abs(angles))
        slope = -(u @ logs) / (u @ u)
        base = float(np.exp(slope)) if _gap(logs, -slope * u) < EPS else 0.0
    dots = {(m, n): F[m] @ F[n].T for m, n in [(0, 1), (2, 3), (1, 3), (7, 9), (0, 5), (7, 12)]}
    misses = {
        "lengths": max(_gap(F[n] @ F[n].T, unit) for n in (1, 3, 7)),
        "zero": _gap(F[0], unit),
        "steps": max(_gap(F[1] @ F[1], F[2]), _gap(F[3] @ F[2], F[5])),
        "offset": max(_gap(dots[0, 1], dots[2, 3]), _gap(dots[1, 3], dots[7, 9]), _gap(dots[0, 5], dots[7, 12])),
    }
    return {
        "partner": partner.tolist(),
        "pairs": pairs,
        "pairing": "none" if not r else "either" if len(fits) == 2 else fits[0] if fits else "other",
        "direction": directions.pop() if len(directions) == 1 else 0,
        "angles": angles.tolist(),
        "base": base,
        "laws": {name: miss < EPS for name, miss in misses.items()} | {"turns": _gap(F[1], unit) > EPS},
    }


class FingerprintPlayground(Widget):
    r"""Eight unit vectors go in at position n; the answers come out, and from them the fingerprint.

    State: what the embedding is (``pairing``, ``direction``, ``turning`` coordinates, ``log_base`` as a power of ten, a
    ``fault``), the position ``n`` asked, whether all this is ``shown``, and the reader's three guesses. A ``puzzle`` is
    a number from 1 on that stands for one choice of settings; an address that ends in ``?puzzle=17`` opens the 17th.
    ``points`` of three times ``answered`` are the reader's score, ``counted`` says that this puzzle is in it.

    >>> found = FingerprintPlayground.compute(FingerprintPlayground().state())["found"]
    >>> found["pairing"], found["direction"], round(found["base"])
    ('half', -1, 100)
    """

    title = "Fingerprint playground: what the answers of a rotary embedding give away"
    n = state(Int(1, min=0, max=FAR))
    pairing = state(Enum(PAIRINGS, default_value="half"))
    direction = state(Enum(DIRECTIONS, default_value="clock"))
    turning = state(Enum(TURNING, default_value="6"))
    log_base = state(Float(2.0, min=0.5, max=5.0))
    fault = state(Enum(FAULTS, default_value="none"))
    shown = state(Bool(False))
    guess_pairing = state(Enum(("", *PAIRINGS), default_value=""))
    guess_direction = state(Enum(("", *DIRECTIONS), default_value=""))
    guess_turning = state(Enum(("", *TURNING), default_value=""))
    puzzle = state(Int(0, min=0, max=PUZZLES))
    points = state(Int(0, min=0))
    answered = state(Int(0, min=0))
    counted = state(Bool(False))

    @staticmethod
    def compute(state: dict) -> dict:
        answers = partial(_answers, state)
        fingerprint = _fingerprint(answers)
        return {
            "answers": answers(state["n"]).tolist(),
            "found": fingerprint,
            "right": _right(state, fingerprint),
            "setting": _puzzle(state["puzzle"]),
        }

    def fallback(self) -> str:
        fingerprint = self.compute(self.state())["found"]
        way = {1: "counter-clockwise", -1: "clockwise", 0: "no one way"}[fingerprint["direction"]]
        together = ", ".join(f"{a} with {b}" for a, b in fingerprint["pairs"])
        return (
            f"Interactive figure: the answers of a rotary embedding to {D} unit vectors, as clocks and as a table of "
            f"discs, with settings to guess. Here the answers at position 1 say: {together}; {way}; base "
            f"{fingerprint['base']:.0f}; {2 * len(fingerprint['pairs'])} of {D} coordinates turn."
        )
