"""Chapter 7's static figures: clocks or a ball, how far each table turns an axis, three kinds of interleaving."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from rope_lab.algebra.grid_positions import grid_turn
from rope_lab.chapters.ch07_many_axes.patch_grid import TABLES
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure, line

__all__ = ["three_interleavings", "turns_of_tables", "two_routes"]

STEPS = 64
AXES = ("time", "height", "width")
MARKERS = ("s", "^", "o")


def turns_of_tables() -> Picture:
    """The turn of every plane of a head of 128 along each axis across 64 patches, for four tables."""
    far = {name: [float(np.abs(column).max() * STEPS) for column in table.T] for name, table in TABLES.items()}
    desc = (
        f"Four rows of dots, one dot for each plane and axis; to the right, the turn across {STEPS} steps on a "
        "logarithmic scale, with a line at a whole turn. The fastest plane of height and of width: "
        + "; ".join(f"{name} {h:.2g} and {w:.2g} radians" for name, (_, h, w) in far.items())
        + ". By sections all dots of the width lie far to the left of a whole turn."
    )
    with figure(title=f"How far each axis turns across {STEPS} steps", desc=desc, size=(4.8, 4.9)) as fig:
        axes = fig.subplots()
        axes.set(xscale="log", xlim=(4e-6, 300), ylim=(17.2, -2.2), xlabel="turn, in radians")
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.axvline(2 * np.pi, color=LIGHT["muted"], lw=1, dashes=(4, 3))
        axes.text(5, -1.6, "a whole turn", ha="right", color=LIGHT["muted"])
        for row, (name, table) in enumerate(TABLES.items()):
            top = 4.4 * row
            axes.text(5e-6, top - 1.0, name, fontsize=11, va="center", weight="bold")
            for a, (axis, marker) in enumerate(zip(AXES, MARKERS, strict=True)):
                column = np.abs(table[:, a])
                column = column[column > 0] * STEPS
                if len(column):
                    axes.plot(column, np.full(len(column), top + a), marker, ms=3, mew=0, color=LIGHT["ink"], alpha=0.7)
                    axes.text(330, top + a, axis, va="center", clip_on=False)
    return fig.picture


def three_interleavings() -> Picture:
    """Pairs of coordinates, axes over the planes, and layers without rotation: three meanings of one word."""
    desc = (
        "Three rows. Coordinates: eight cells in a row, neighbours joined by a bow to one plane, which is the "
        "interleaved layout. Planes: eight discs in a row with the letters t, h, w, t, h, w, t, t, which are "
        "interleaved axes. Layers: eight bars in a row, every fourth one empty, which are interleaved layers without "
        "rotation."
    )
    with figure(title="Three things that are called interleaved", desc=desc, size=(4.8, 3.6)) as fig:
        axes = fig.subplots()
        axes.axis("off")
        axes.set(xlim=(-0.7, 7.7), ylim=(-0.9, 6.9))
        ink, paper = LIGHT["ink"], LIGHT["paper"]
        titles = ("pairs of components: a layout", "axes over the planes: a table", "layers without rotation: a list")
        for y, words in zip((6.2, 3.7, 1.2), titles, strict=True):
            axes.text(-0.45, y, words, fontsize=11, va="center")
        for i in range(8):
            axes.plot(i, 5.0, "s", ms=19, mec=ink, mfc=paper, mew=1.2)
            axes.text(i, 5.0, str(i), ha="center", va="center", fontsize=11)
            axes.plot(i, 2.5, "o", ms=20, mec=ink, mfc=paper, mew=1.2)
            axes.text(i, 2.5, "thwthwtt"[i], ha="center", va="center", fontsize=11)
            rests = i % 4 == 3
            axes.bar(i, 1.0, 0.62, -0.5, ec=ink, fc=paper if rests else ink, lw=1.2)
        for i in range(0, 8, 2):
            bow = np.linspace(0, np.pi, 20)
            axes.plot(i + 0.5 - 0.5 * np.cos(bow), 5.45 + 0.3 * np.sin(bow), color=ink, lw=1.4)
    return fig.picture


def two_routes(*, x: float = 1.1, y: float = 1.1) -> Picture:
    """Left: two clocks, one for each coordinate. Right: on a ball, x first and y first end in different places.

    Args:
        x: The first coordinate: radians on the first clock, and about the vertical axis of the ball.
        y: The second one: radians on the second clock, and about the other axis.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    B_1 = np.zeros((3, 3))
    B_2 = np.zeros((3, 3))
    B_1[1, 0], B_1[0, 1] = 1.0, -1.0  # about the vertical axis
    B_2[1, 2], B_2[2, 1] = 1.0, -1.0  # about the axis to the right
    desc = (
        "Left: two clocks. The hand of the first shows x and the hand of the second shows y; in which order one walks "
        "does not matter. Right: a ball with two routes from one point. Both turn it about the vertical axis and about "
        "another one, by the same two angles, in different order; the routes end in two places."
    )
    with figure(title="Two coordinates: on two clocks, and on a ball", desc=desc, size=(4.9, 2.7)) as fig:
        clocks, ball = fig.subplots(1, 2)
        for axes in (clocks, ball):
            axes.set_aspect("equal")
            axes.axis("off")
        for n, (hand, middle, angle) in enumerate(_clocks(clocks, (x, y))):
            fig.plays(hand, turn=angle, about=(middle, 0.0), begin=2 * n, seconds=2)
        for end, way in _ball(ball, B_1, B_2, x, y):
            fig.plays(end, along=np.vstack([way[:-1:4], way[-1:]]), seconds=4)
        clocks.set_title("$B_1$ and $B_2$ commute", fontsize=14)
        ball.set_title("they do not", fontsize=14)
    return fig.picture


def _clocks(axes: Axes, angles: tuple[float, float]) -> list[tuple[Line2D, float, float]]:
    circle, hands = np.linspace(0, 2 * np.pi, 80), []
    for middle, angle, role, name in zip((-1.25, 1.25), angles, ("one", "two"), ("x", "y"), strict=True):
        axes.plot(middle + np.cos(circle), np.sin(circle), color=LIGHT["muted"], lw=0.8)
        (hand,) = axes.plot([middle, middle + np.cos(angle)], [0, np.sin(angle)], lw=2.2, **line(role))
        hands.append((hand, middle, angle))
        arc = np.linspace(0, angle, 30)
        axes.plot(middle + 0.4 * np.cos(arc), 0.4 * np.sin(arc), color=LIGHT[role], lw=1)
        axes.text(middle, -1.45, f"turned by ${name}$", color=LIGHT[role], ha="center", fontsize=11)
    axes.set(xlim=(-2.5, 2.5), ylim=(-2.3, 2.3))
    return hands


def _ball(axes: Axes, B_1: np.ndarray, B_2: np.ndarray, x: float, y: float) -> list[tuple[Line2D, np.ndarray]]:
    view = np.array([[1.0, 0.0, 0.0], [0.0, 0.35, 0.94]])  # seen from in front and a little above
    start = np.array([-0.15, -0.9, -0.5])
    start /= np.linalg.norm(start)
    circle = np.linspace(0, 2 * np.pi, 80)
    axes.plot(np.cos(circle), np.sin(circle), color=LIGHT["muted"], lw=0.8)
    steps, ends = np.linspace(0, 1, 40), []

    def route(first, second):
        one = [grid_turn(x * s * first[0], y * s * first[1], B_1=B_1, B_2=B_2) @ start for s in steps]
        two = [grid_turn(x * s * second[0], y * s * second[1], B_1=B_1, B_2=B_2) @ one[-1] for s in steps]
        return np.array(one + two) @ view.T

    for role, first, second, name, shift in (
        ("one", (1, 0), (0, 1), "$x$ first", (-0.08, -0.05)),
        ("two", (0, 1), (1, 0), "$y$ first", (0.05, 0.1)),
    ):
        way = route(first, second)
        axes.plot(*way.T, lw=2, **line(role))
        (end,) = axes.plot(*way[-1], "o", color=LIGHT[role], ms=6)
        ends.append((end, way))
        at = way[-1] + shift
        axes.text(at[0], at[1], name, color=LIGHT[role], fontsize=11, ha="right")
    axes.plot(*(view @ start), "o", color=LIGHT["ink"], ms=5)
    axes.set(xlim=(-1.2, 1.2), ylim=(-1.104, 1.104))
    return ends
