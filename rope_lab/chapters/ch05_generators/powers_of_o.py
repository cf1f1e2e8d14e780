"""Chapter 5's widget: the powers of a turn and of a mirror, what lies between whole powers, and the printed step."""

from math import pi

import numpy as np
from traitlets import Bool, Float, Int

from rope_lab.algebra.orthogonal_powers import orthogonal_power, split_off
from rope_lab.algebra.rotation import rotation_2d
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["PowersOfO"]

SPAN = 6  # powers from -6 to 6


class PowersOfO(Widget):
    r"""The letter F under $O^n$, where O is a turn by $\theta$, or a mirror and then this turn.

    State: the angle ``theta`` per step (radians), whole turns added to it (``wraps``), the power ``n`` (in quarters),
    whether O has a ``mirror``, and whether to show what part 6 ``printed`` for it.

    >>> values = PowersOfO.compute(PowersOfO(mirror=True, n=2.0).state())
    >>> np.allclose(values["matrix"], np.eye(2)), round(values["gap"], 3)
    (True, 0.985)
    >>> PowersOfO.compute(PowersOfO(mirror=True, n=0.5).state())["exists"]
    False
    """

    title = "Powers of O: a turn goes round, a mirror goes back and forth"
    theta = state(Float(0.7, min=-pi, max=pi))
    n = state(Float(3.0, min=-SPAN, max=SPAN))
    mirror = state(Bool(False))
    wraps = state(Int(0, min=-2, max=2))
    printed = state(Bool(False))
    span = constant(SPAN)

    @staticmethod
    def compute(state: dict) -> dict:
        n, mirrored, angle = state["n"], state["mirror"], state["theta"] + 2 * pi * state["wraps"]
        O_plus = rotation_2d(angle)
        O, M = split_off(O_plus, axis=[0.0, 1.0])  # noqa: E741 - the book's letter; the mirror first, then the turn
        whole = n == round(n)
        exists = whole or not mirrored
        if not mirrored:  # between whole powers with the added turns, which orthogonal_power cannot see
            matrix = claimed = rotation_2d(n * angle)
        elif whole:
            matrix, claimed = orthogonal_power(O, n), orthogonal_power(M, n) @ rotation_2d(n * angle)
        else:
            matrix = claimed = np.zeros((2, 2))
        powers = (orthogonal_power(O if mirrored else O_plus, k) for k in range(-SPAN, SPAN + 1))
        return {
            "exists": exists,
            "matrix": matrix.tolist(),
            "claimed": claimed.tolist(),
            "gap": float(np.abs(matrix - claimed).max()),
            "det": float(np.linalg.det(matrix)),
            "tips": [power[:, 0].tolist() for power in powers],
        }

    def fallback(self) -> str:
        gap = self.compute(self.state() | {"mirror": True, "n": 2.0})["gap"]
        return (
            f"Interactive figure: the letter F under the powers of an orthogonal matrix O. A turn by {self.theta:g} "
            "radians goes round, also by half steps. With a mirror before the turn, every even power is the identity, "
            "every odd one is the same mirror image, and between whole powers there is nothing. The power that part 6 "
            f"prints misses the true one by {gap:.2f} at n = 2."
        )
