"""Chapter 11's static figures: a letter under the four matrices, and a map taken apart into its two parts."""

import numpy as np
from matplotlib.axes import Axes

from rope_lab.algebra.widely_linear import SIGMA, energies, split
from rope_lab.show.style import FLAG, LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["four_maps", "two_halves"]

_CIRCLE = np.stack([f(np.linspace(0, 2 * np.pi, 97)) for f in (np.cos, np.sin)], axis=-1)


def four_maps() -> Picture:
    """The letter F under the identity, the quarter turn and the two mirrors."""
    names = (
        (0, r"$\sigma_0$", "identity", "linear", None),
        (2, r"$\sigma_2$", "quarter turn", "linear", None),
        (1, r"$\sigma_1$", "mirror at 45°", "conjugate", np.pi / 4),
        (3, r"$\sigma_3$", "mirror at the first axis", "conjugate", 0.0),
    )
    desc = (
        "Four panels, two by two. The identity leaves the letter F alone; the quarter turn lays it on its back. The "
        "third mirrors it at the line of 45 degrees and the fourth at the horizontal axis: in both it reads backwards."
    )
    with figure(title="Four matrices and the letter F", desc=desc, size=(4.2, 4.3)) as fig:
        for axes, (k, symbol, word, role, line) in zip(fig.subplots(2, 2).flat, names, strict=True):
            _board(axes, 1.25)
            if line is not None:
                end = 1.2 * np.array([np.cos(line), np.sin(line)])
                axes.plot(*np.stack([-end, end], axis=-1), color=LIGHT[role], lw=1.4, ls=(0, (5, 3)))
            _letter(axes, SIGMA[k], role)
            axes.set_title(symbol, fontsize=14, color=LIGHT[role])
            axes.text(0, -1.35, word, ha="center", va="top", fontsize=11)
    return fig.picture


def two_halves(matrix=((1.1, 0.5), (0.2, 0.5))) -> Picture:
    """A real map, its complex-linear half and its conjugate-linear half: they add entry by entry.

    Args:
        matrix: (2, 2), real numbers.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    M = np.asarray(matrix, dtype=float)
    linear, conjugate = split(M)
    share = energies(M)[0] / sum(energies(M))
    desc = (
        "Three panels with the letter F and the image of the unit circle. The map shears and flattens the letter, and "
        "the circle becomes an ellipse. Its complex-linear part only turns and shrinks the letter; its "
        "conjugate-linear part mirrors and shrinks it. In both parts the circle stays a circle. An arrow leads to the "
        "tip of the letter's upper arm in either part; set one after the other, they reach the tip in the whole map. "
        f"The first part has {share:.0%} of the energy."
    )
    tip = FLAG[2]  # of the upper arm: the arrows to its images show that the parts add
    turned, mirrored = linear @ tip, conjugate @ tip
    whole = [((0, 0), turned, "linear"), (turned, mirrored, "conjugate")]
    panels = (
        (M, "$Mz$", "one", whole),
        (linear, "$Az$", "linear", whole[:1]),
        (conjugate, r"$B\bar z$", "conjugate", [((0, 0), mirrored, "conjugate")]),
    )
    with figure(title="A real map is a turn plus a mirror", desc=desc, size=(5.8, 2.3)) as fig:
        for axes, (part, symbol, role, arrows), sign in zip(fig.subplots(1, 3), panels, ("=", "+", ""), strict=True):
            _board(axes, 1.27)
            axes.plot(*(_CIRCLE @ part.T).T, color=LIGHT[role], lw=1.2, ls=(0, (4, 2)))
            _letter(axes, part, role)
            for (x, y), (dx, dy), ink in arrows:
                style = {
                    "arrowstyle": "-|>",
                    "color": LIGHT[ink],
                    "lw": 1.3,
                    "mutation_scale": 7,
                    "shrinkA": 0,
                    "shrinkB": 0,
                }
                axes.annotate("", (x + dx, y + dy), (x, y), arrowprops=style)
            axes.plot(*(part @ tip), "o", ms=3, color=LIGHT[role])
            axes.set_title(symbol, fontsize=14, color=LIGHT[role])
            axes.text(1.6, 0, sign, ha="center", va="center", fontsize=17, clip_on=False)
    return fig.picture


def _board(axes: Axes, reach: float) -> None:
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.axis("off")
    for ends in ([[-reach, reach], [0.0, 0.0]], [[0.0, 0.0], [-reach, reach]]):
        axes.plot(*ends, color=LIGHT["hair"], lw=0.8)


def _letter(axes: Axes, matrix: np.ndarray, role: str) -> None:
    before, image = np.vstack([FLAG, FLAG[:1]]), np.vstack([FLAG, FLAG[:1]]) @ matrix.T
    axes.plot(*before.T, color=LIGHT["muted"], lw=0.9)
    axes.fill(*image.T, facecolor=LIGHT[role], alpha=0.22, lw=0)
    axes.plot(*image.T, color=LIGHT[role], lw=1.8)
