"""Chapter 21's figure: the way of a key with gains before the turn, and after it."""

import numpy as np
from matplotlib.axes import Axes

from rope_lab.algebra.rotation import rotate
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["circle_or_ellipse"]

GAINS, ANGLES = np.array([1.5, 0.6]), (0.0, np.pi / 2)
QUERY, KEY = (np.array([np.cos(angle), np.sin(angle)]) for angle in (0.9, 0.2))


def circle_or_ellipse() -> Picture:
    """One pair of words at two places, with the gains of a norm before the turn and after it."""
    desc = (
        "Two panels. Each shows a query hand and a key hand twice: at one place, and a quarter turn further on. On the "
        "left the gains stand before the turn: the key's tip runs on a circle, and the dot product is the same at both "
        "places. On the right they stand after it: the tip runs on an ellipse, and the two dot products differ."
    )
    with figure(title="Gains before the turn, and after it", desc=desc, size=(4.9, 2.9)) as fig:
        left, right = fig.subplots(1, 2)
        _panel(left, "gains before the turn", lambda angle: rotate(GAINS * KEY, angle, theta=1.0))
        _panel(right, "gains after the turn", lambda angle: GAINS * rotate(KEY, angle, theta=1.0))
    return fig.picture


def _panel(axes: Axes, title: str, key_at) -> None:
    axes.set(xlim=(-1.75, 1.75), ylim=(-2.1, 1.75), aspect="equal")
    axes.axis("off")
    axes.set_title(title, fontsize=12)
    axes.plot(*np.array([key_at(angle) for angle in np.linspace(0, 2 * np.pi, 121)]).T, color=LIGHT["key"], lw=1)
    logits = []
    for angle, alpha, place in zip(ANGLES, (1.0, 0.5), ("here", "there"), strict=True):
        query, key = rotate(QUERY, angle, theta=1.0), key_at(angle)
        logits.append(f"{place} {query @ key:.2f}".replace("-", "\N{MINUS SIGN}"))
        for hand, role, dash in ((query, "query", "-"), (key, "key", (0, (4, 2)))):
            axes.plot(*np.array([[0, 0], hand]).T, color=LIGHT[role], lw=2.4, alpha=alpha, ls=dash)
            axes.plot(*hand, "o" if role == "query" else "s", color=LIGHT[role], ms=5, alpha=alpha)
            if not angle:
                axes.annotate(
                    role,
                    (hand[0], hand[1]),
                    xytext=(-21, 6) if role == "query" else (6, 2),
                    textcoords="offset points",
                    fontsize=11,
                    color=LIGHT[role],
                )
    axes.plot(0, 0, "o", color=LIGHT["ink"], ms=2.5)
    axes.text(0, -2.0, "logit: " + ", ".join(logits), ha="center", fontsize=11)
