"""Chapter 6's widget: an orbit in four dimensions, in the coordinates given and in a basis that turns towards P."""

import numpy as np
from traitlets import Float

from rope_lab.algebra.generators import power_4d, skew_4d
from rope_lab.algebra.normal_form import skew_normal_form
from rope_lab.algebra.rotation import rotation_2d
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["FallingApart"]

NAMES = ("b12", "b13", "b14", "b23", "b24", "b34")
REST = (0.6, -0.5)  # the start's coordinates 2 and 3


class FallingApart(Widget):
    r"""The point $x(t) = e^{tB} x(0)$ for a skew B, and the same point in the basis S, which goes from I to P.

    State: the time ``t``; ``s``, how far the basis has turned from the given one (0) to P (1); the start's first two
    coordinates ``x1``, ``x2``; the six entries of B above its diagonal. The basis is found in closed form.

    >>> values = FallingApart.compute(FallingApart(s=1.0).state())
    >>> round(values["outside"], 12), [round(speed, 3) for speed in values["theta"]]
    (0.0, [1.315, 0.547])
    """

    title = "Falling apart: one orbit, two bases"
    t = state(Float(20.0, min=0.0, max=40.0))
    s = state(Float(0.0, min=0.0, max=1.0))
    x1 = state(Float(0.8, min=-1.0, max=1.0))
    x2 = state(Float(0.6, min=-1.0, max=1.0))
    rest = constant(list(REST))
    b12 = state(Float(-0.9, min=-1.5, max=1.5))
    b13 = state(Float(-0.3, min=-1.5, max=1.5))
    b14 = state(Float(0.2, min=-1.5, max=1.5))
    b23 = state(Float(-0.3, min=-1.5, max=1.5))
    b24 = state(Float(0.8, min=-1.5, max=1.5))
    b34 = state(Float(-0.6, min=-1.5, max=1.5))

    @staticmethod
    def compute(state: dict) -> dict:
        b12, b13, b14, b23, b24, b34 = (state[name] for name in NAMES)
        B = -skew_4d([b12, b13, b14, b23, b24, b34])  # its entries stand below the diagonal
        P, theta = _planes(B)
        S = _on_the_way(P, state["s"])
        x0 = np.array([state["x1"], state["x2"], *REST])
        x, start, seen = power_4d(B, state["t"]) @ x0, P.T @ x0, S.T @ B @ S
        return {
            "theta": theta.tolist(),
            "P": P.tolist(),
            "S": S.tolist(),
            "seen": seen.tolist(),
            "outside": float(np.abs(seen[:2, 2:]).max()),
            "x": x.tolist(),
            "y": (S.T @ x).tolist(),
            "start": start.tolist(),
            "radii": np.hypot(start[0::2], start[1::2]).tolist(),
        }

    def fallback(self) -> str:
        values = self.compute(self.state())
        fast, slow = (abs(speed) for speed in values["theta"])
        r, q = values["radii"]
        return (
            "Interactive figure: the orbit of a point under a skew matrix in four dimensions, drawn in the coordinates "
            "0, 1 and 2, 3. In the given coordinates it is a tangle. A slider turns the basis to P, and there it is "
            f"two circles: radius {r:.2f} at {fast:.2f} radians per position, radius {q:.2f} at {slow:.2f}."
        )


def _planes(B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The normal form with determinant 1: the second speed may run backwards. At equal speeds the first axis leads."""
    P, theta = skew_normal_form(B)
    if theta[0] ** 2 - theta[1] ** 2 < 1e-6 * (theta @ theta) and theta[0] > 1e-9:
        P = _led_by_the_first_axis(B / theta[0])
    P, theta = P.copy(), theta.copy()
    if np.linalg.det(P) < 0:
        P[:, 3], theta[1] = -P[:, 3], -theta[1]
    return P, theta


def _led_by_the_first_axis(J: np.ndarray) -> np.ndarray:
    """Two planes of a map that turns every vector by a quarter: any vector and its image make one."""
    first = np.column_stack([np.eye(4)[0], J[:, 0]])
    rest = np.eye(4) - first @ first.T
    reach = rest.diagonal()
    axis = int(np.argmax(reach > (1 - 1e-6) * reach.max()))
    w = rest[axis] / np.linalg.norm(rest[axis])
    return np.column_stack([first, w, J @ w])


def _on_the_way(P: np.ndarray, s: float) -> np.ndarray:
    """P as a product of six turns of coordinate planes, each done to the share s."""
    left, S, turns = P.copy(), np.eye(4), []
    for column in range(3):
        for row in range(3, column, -1):
            angle = float(np.arctan2(left[row, column], left[row - 1, column]))
            left[[row - 1, row]] = rotation_2d(-angle) @ left[[row - 1, row]]
            turns.append((row, angle))
    for row, angle in reversed(turns):
        S[[row - 1, row]] = rotation_2d(s * angle) @ S[[row - 1, row]]
    return S
