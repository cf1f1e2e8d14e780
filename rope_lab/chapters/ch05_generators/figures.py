"""Chapter 5's static figures: two winds, two aliases, and the powers of a turn and of a mirror."""

import numpy as np
from matplotlib.axes import Axes

from rope_lab.algebra.generators import exponential, generator_2d
from rope_lab.algebra.orthogonal_powers import orthogonal_power
from rope_lab.algebra.rotation import rotation_2d
from rope_lab.show.style import FLAG, LIGHT
from rope_lab.show.svg import Picture, figure, line

__all__ = ["three_powers", "two_aliases", "two_winds"]

SKEW = generator_2d(2 * np.pi)
WITNESS = np.array([[0.0, -4 * np.pi], [np.pi, 0.0]])


def two_winds() -> Picture:
    """Both generators bring every point back at each whole position; only the skew one keeps lengths between."""
    desc = (
        "Two panels of arrows, each with the path of one point. On the left each arrow is perpendicular to the "
        "line from the centre, and the path is a circle. On the right it is not, and the path is an "
        "ellipse, twice as wide as it is high. In both the point is back at its start at every whole "
        "position; at a quarter and at three quarters of a step the two differ in length."
    )
    with figure(title="Two generators with the same matrices at whole positions", desc=desc, size=(5.6, 2.75)) as fig:
        left, right = fig.subplots(1, 2)
        for axes, B, title in ((left, SKEW, "the distance stays"), (right, WITNESS, "the distance changes")):
            way = _wind(axes, B, title)
            (leaf,) = axes.plot(*way[-1], "D", color=LIGHT["two"], ms=8, mec=LIGHT["paper"])
            fig.plays(leaf, along=way[::4], seconds=4)
    return fig.picture


def _wind(axes: Axes, B: np.ndarray, title: str) -> np.ndarray:
    axes.set(xlim=(-2.75, 2.75), ylim=(-2.25, 2.25), aspect="equal")
    axes.axis("off")
    axes.set_title(title, fontsize=13)
    x, y = np.meshgrid(np.arange(-2.0, 2.1), np.arange(-2.0, 2.1))
    u, v = (0.03 * component for component in np.tensordot(B, np.stack([x, y]), axes=1))
    axes.quiver(
        x, y, u, v, color=LIGHT["muted"], alpha=0.85, angles="xy", scale_units="xy", scale=1, width=0.006, pivot="mid"
    )
    start = np.array([0.0, 1.0])
    path = np.array([exponential(t * B) @ start for t in np.linspace(0, 1, 121)])
    axes.plot(*path.T, color=LIGHT["one"], lw=2)
    # Counter-clockwise from the top: a quarter of a step lies to the left.
    above, left, below, right = (0, 10), (-16, -4), (0, -17), (16, -4)
    for t, name, shift in (
        (0.0, "every whole t", above),
        (0.25, "1/4", left),
        (0.5, "1/2", below),
        (0.75, "3/4", right),
    ):
        at = exponential(t * B) @ start
        axes.plot(*at, "o", color=LIGHT["one"], ms=7 if t == 0 else 5)
        axes.annotate(name, at, xytext=shift, textcoords="offset points", ha="center", fontsize=12.5)
    axes.plot(0, 0, "o", color=LIGHT["ink"], ms=2.5)
    return path


def two_aliases(*, theta: float = 1.0, last: int = 4) -> Picture:
    """The first entry of the rotation against the position, for a frequency and for the same with one more turn.

    Args:
        theta: The slower frequency, in radians per position.
        last: The last position.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    desc = (
        f"Two curves over the positions 0 to {last}: a slow wave and one that turns once more per position. They meet "
        "in a dot at every whole position. At every half position, marked by squares, one is the negative of the other."
    )
    with figure(title="Two frequencies that agree at every whole position", desc=desc, size=(4.9, 2.5)) as fig:
        axes = fig.subplots()
        axes.axhline(0, color=LIGHT["hair"], lw=0.8)
        t, whole, half = np.linspace(0, last, 600), np.arange(last + 1), np.arange(last) + 0.5
        for frequency, role, name in (
            (theta, "one", rf"$\theta = {theta:g}$"),
            (theta + 2 * np.pi, "two", rf"$\theta = {theta:g} + 2\pi$"),
        ):
            axes.plot(t, np.cos(frequency * t), lw=2, label=name, **line(role))
            axes.plot(half, np.cos(frequency * half), "s", color=LIGHT[role], ms=6)
        axes.plot(whole, np.cos(theta * whole), "o", color=LIGHT["ink"], ms=7)
        axes.set(xlim=(-0.1, last + 0.1), ylim=(-1.2, 1.2), xticks=whole, yticks=[-1, 0, 1])
        axes.set_xlabel("position $n$", fontsize=12)
        axes.set_title(r"$\cos(n\theta)$", fontsize=12, loc="left")
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, fontsize=11, borderpad=0)
    return fig.picture


def three_powers(*, angle: float = 0.7, last: int = 4) -> Picture:
    """The letter F under the powers of a turn, and of a mirror and then this turn.

    Args:
        angle: The turn of one step, in radians.
        last: The highest power.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    turn = rotation_2d(angle)
    O = turn @ np.diag([1.0, -1.0])  # noqa: E741 - the book's letter
    rows = (("a turn", "one", turn), ("mirror,\nturn", "two", O))
    desc = (
        f"Two rows of the letter F, for powers 0 to {last}. First row: a turn goes round step by step. Second row: a "
        "mirror followed by the same turn gives the same mirror image at every odd power and the upright letter at "
        "every even one."
    )
    with figure(title="Powers of a turn, and of a mirror and a turn", desc=desc, size=(4.9, 2.3)) as fig:
        grid = fig.subplots(len(rows), last + 1)
        for row, (name, role, step) in zip(grid, rows, strict=True):
            for n, axes in enumerate(row):
                _letter(axes, orthogonal_power(step, n), role)
                for part in [*axes.lines[2:], *axes.patches]:
                    if n:
                        fig.plays(
                            part, turn=angle if name == "a turn" else 0.0, appear=True, begin=n - 0.8, seconds=0.8
                        )
            row[0].text(-1.5, 0, name, ha="right", va="center", fontsize=11)
        for n, axes in enumerate(grid[0]):
            axes.set_title(f"$n = {n}$", fontsize=12)
    return fig.picture


def _letter(axes: Axes, matrix: np.ndarray, role: str) -> None:
    axes.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), aspect="equal")
    axes.axis("off")
    for x, y in (([-1.2, 1.2], [0.0, 0.0]), ([0.0, 0.0], [-1.2, 1.2])):
        axes.plot(x, y, color=LIGHT["hair"], lw=0.8)
    image = FLAG @ matrix.T
    axes.fill(*image.T, facecolor=LIGHT[role], alpha=0.22, lw=0)
    axes.plot(*np.vstack([image, image[:1]]).T, color=LIGHT[role], lw=1.6)
