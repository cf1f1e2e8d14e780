"""Chapter 5's widget: the six entries of a generator of four dimensions, its two speeds, and the orbit of one point."""

from math import cos, hypot, sin, sqrt

from traitlets import Float

from rope_lab.show.widgets.kit import Widget, state

__all__ = ["So4Explorer"]

ENTRIES = ("b21", "b31", "b41", "b32", "b42", "b43")
LONGEST = 40.0  # positions; the script has the same number


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
        b21, b31, b41, b32, b42, b43 = (state[name] for name in ENTRIES)
        u = [b21 + b43, b31 - b42, b41 + b32]  # twice the self-dual half
        v = [b21 - b43, b31 + b42, b41 - b32]  # twice the anti-self-dual half
        plus, minus = hypot(*u), hypot(*v)

        def skew(x, y, z, sign):
            """Half of x, y, z in the pattern of one half: sign +1 is self-dual, -1 anti-self-dual."""
            return [
                [0, -x / 2, -y / 2, -z / 2],
                [x / 2, 0, -sign * z / 2, sign * y / 2],
                [y / 2, sign * z / 2, 0, -sign * x / 2],
                [z / 2, -sign * y / 2, sign * x / 2, 0],
            ]

        def half(matrix, speed, t):
            """exp(t times one half), whose square is minus speed^2 times the identity."""
            c, s = cos(speed * t), sin(speed * t) / speed if speed > 1e-12 else t
            return [[c * (i == j) + s * matrix[i][j] for j in range(4)] for i in range(4)]

        S, A = half(skew(*u, 1), plus / 2, state["t"]), half(skew(*v, -1), minus / 2, state["t"])
        R = [[sum(S[i][k] * A[k][j] for k in range(4)) for j in range(4)] for i in range(4)]
        point = [(row[0] + row[2]) / sqrt(2) for row in R]
        return {
            "angles": [(plus + minus) / 2, abs(plus - minus) / 2],
            "halves": [plus, minus],
            "matrix": R,
            "point": point,
            "logit": (point[0] + point[2]) / sqrt(2),
        }

    @staticmethod
    def random_state(rng) -> dict:
        entries = {name: float(rng.uniform(-2, 2)) for name in ENTRIES}
        if rng.random() < 0.3:  # one half or both vanish, the angles meet
            entries |= dict.fromkeys(("b31", "b41", "b32", "b42"), 0.0)
            entries["b43"] = entries["b21"] * float(rng.choice([-1, 0, 1]))
        return entries | {"t": float(rng.uniform(0, LONGEST)), "view": float(rng.uniform(-3.14, 3.14))}

    def fallback(self) -> str:
        values = self.compute(self.state())
        first, second = values["angles"]
        return (
            "Interactive figure: six sliders for the entries of a skew matrix B of four dimensions, the orbit of one "
            f"point under exp(tB), in three of its four coordinates. These entries make the two speeds {first:.2f} and "
            f"{second:.2f} radians per position; at t = {self.t:g} an equal query and key have the logit "
            f"{values['logit']:.2f}."
        )
