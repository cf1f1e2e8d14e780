"""Chapter 7's widget: the powers of a turn and of a mirror, what lies between whole powers, and the printed step."""

from math import cos, pi, sin

from traitlets import Bool, Float, Int

from rope_lab.show.widgets.kit import Widget, state

__all__ = ["PowersOfO"]

SPAN = 6  # powers from -6 to 6; the script has the same number


class PowersOfO(Widget):
    r"""The letter F under $O^n$, where O is a turn by $\theta$, or a mirror and then this turn.

    State: the angle ``theta`` per step (radians), whole turns added to it (``wraps``), the power ``n`` (in quarters),
    whether O has a ``mirror``, and whether to show what part 6 ``printed`` for it.

    >>> values = PowersOfO.compute(PowersOfO(mirror=True, n=2.0).state())
    >>> values["matrix"], round(values["gap"], 3)
    ([[1.0, 0.0], [0.0, 1.0]], 0.985)
    >>> PowersOfO.compute(PowersOfO(mirror=True, n=0.5).state())["exists"]
    False
    """

    title = "Powers of O: a turn goes round, a mirror goes back and forth"
    theta = state(Float(0.7, min=-pi, max=pi))
    n = state(Float(3.0, min=-SPAN, max=SPAN))
    mirror = state(Bool(False))
    wraps = state(Int(0, min=-2, max=2))
    printed = state(Bool(False))

    @staticmethod
    def compute(state: dict) -> dict:
        n, flips = state["n"], state["mirror"]
        angle = state["theta"] + 2 * pi * state["wraps"]
        whole = n == round(n)
        exists = whole or not flips

        def turn(by):
            return [[cos(by), -sin(by)], [sin(by), cos(by)]]

        def power(k):
            if not flips:
                return turn(k * angle)
            return [[cos(angle), sin(angle)], [sin(angle), -cos(angle)]] if k % 2 else [[1.0, 0.0], [0.0, 1.0]]

        def as_printed(k):  # the mirror's power first, then the turn's
            (a, b), (c, d) = turn(k * angle)
            return [[a, b], [-c, -d]] if flips and k % 2 else [[a, b], [c, d]]

        nothing = [[0.0, 0.0], [0.0, 0.0]]
        matrix = power(n) if exists else nothing
        claimed = as_printed(n) if exists else nothing
        return {
            "exists": exists,
            "matrix": matrix,
            "claimed": claimed,
            "gap": max(abs(matrix[i][j] - claimed[i][j]) for i in range(2) for j in range(2)),
            "det": matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0],
            "tips": [[row[0] for row in power(k)] for k in range(-SPAN, SPAN + 1)],
        }

    @staticmethod
    def random_state(rng) -> dict:
        return {
            "theta": float(rng.uniform(-pi, pi)),
            "n": float(rng.integers(-4 * SPAN, 4 * SPAN + 1) / 4),
            "mirror": bool(rng.integers(2)),
            "wraps": int(rng.integers(-2, 3)),
            "printed": bool(rng.integers(2)),
        }

    def fallback(self) -> str:
        gap = self.compute(self.state() | {"mirror": True, "n": 2.0})["gap"]
        return (
            f"Interactive figure: the letter F under the powers of an orthogonal matrix O. A turn by {self.theta:g} "
            "radians goes round, also by half steps. With a mirror before the turn, every even power is the identity, "
            "every odd one is the same mirror image, and between whole powers there is nothing. The power that part 6 "
            f"prints misses the true one by {gap:.2f} at n = 2."
        )
