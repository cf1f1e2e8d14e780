"""Chapter 1's static figure: shift the query and the key together, and the angle between them stays."""

from math import atan2, cos, pi, sin

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Arc, Circle, Wedge

from rope_lab.algebra.rotation import rotate
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure, line

__all__ = ["same_offset"]

_Q, _K, _THETA = np.array([0.88, 0.28]), np.array([0.82, -0.3]), 0.35


def same_offset(*, m: int = 1, n: int = 5, shift: int = 7) -> Picture:
    """Two clock faces: (m, n) on the left, both moved by ``shift`` on the right; the same angle, the same logit.

    Args:
        m: Position of the query.
        n: Position of the key.
        shift: How many positions both move.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    logits = [_turned(_Q, m + s) @ _turned(_K, n + s) for s in (0, shift)]
    desc = (
        f"Left: query at position {m}, key at position {n}. Right: both moved {shift} places along. Both hands have "
        f"turned by the same further angle; the angle between them and the logit, {logits[0]:.2f}, are as before."
    )
    title = "Shifting query and key together turns the picture and nothing else"
    with figure(title=title, desc=desc, size=(5.0, 3.1)) as fig:
        for axes, s, logit in zip(fig.subplots(1, 2), (0, shift), logits, strict=True):
            _clock(axes, m + s, n + s, logit)
    return fig.picture


def _turned(vector: np.ndarray, position: int) -> np.ndarray:
    return rotate(vector[None, :], np.array([position]), theta=np.array([_THETA]))[0]


def _clock(axes: Axes, m: int, n: int, logit: float) -> None:
    axes.set(xlim=(-1.4, 1.4), ylim=(-1.85, 1.45), aspect="equal")
    axes.axis("off")
    axes.add_patch(Circle((0, 0), 1, fill=False, color=LIGHT["hair"], lw=1))
    q, k = _turned(_Q, m), _turned(_K, n)
    start, end = atan2(q[1], q[0]), atan2(k[1], k[0])
    end += 2 * pi if end < start else 0
    degrees = {"theta1": np.degrees(start), "theta2": np.degrees(end)}
    axes.add_patch(Wedge((0, 0), 0.42, **degrees, color=LIGHT["ink"], alpha=0.1, lw=0))
    axes.add_patch(Arc((0, 0), 0.84, 0.84, **degrees, color=LIGHT["ink"], lw=1.3))
    middle = (start + end) / 2
    axes.text(0.67 * cos(middle), 0.67 * sin(middle), f"{end - start:.2f}", ha="center", va="center", fontsize=10)
    for vector, name, role, position in ((q, "q", "query", m), (k, "k", "key", n)):
        _hand(axes, vector, role)
        x, y = 1.34 * vector / np.hypot(*vector)
        axes.text(x, y, rf"$R_{{{position}}}{name}$", color=LIGHT[role], ha="center", va="center", fontsize=15)
    axes.plot(0, 0, "o", color=LIGHT["ink"], ms=5)
    axes.text(0, -1.5, rf"$m={m},\quad n={n}$", ha="center", va="center", fontsize=14)
    axes.text(0, -1.76, f"logit {logit:.2f}", ha="center", va="center", fontsize=12)


def _hand(axes: Axes, tip: np.ndarray, role: str) -> None:
    along = tip / np.hypot(*tip)
    across = np.array([-along[1], along[0]])
    base = tip - 0.11 * along
    axes.plot([0, base[0]], [0, base[1]], **line(role) | {"lw": 2.6}, solid_capstyle="butt", dash_capstyle="butt")
    axes.fill(*np.stack([tip, base + 0.04 * across, base - 0.04 * across]).T, color=LIGHT[role], lw=0)
