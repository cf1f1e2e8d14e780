"""Chapter 7's static figures: powers of a turn and of a mirror, and two coordinates on clocks or on a ball."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from rope_lab.algebra.grid_positions import grid_turn
from rope_lab.algebra.orthogonal_powers import orthogonal_power, split_off
from rope_lab.algebra.rotation import rotation_2d
from rope_lab.show.style import FLAG, LIGHT
from rope_lab.show.svg import Picture, figure, line

__all__ = ["three_powers", "two_routes"]


def three_powers(*, angle: float = 0.7, last: int = 4, rows: int = 3) -> Picture:
    """The letter F under the powers of a turn, of a mirror and then this turn, and under what part 6 prints for it.

    Args:
        angle: The turn of one step, in radians.
        last: The highest power.
        rows: How many of the three to draw.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    turn = rotation_2d(angle)
    O = turn @ np.diag([1.0, -1.0])  # noqa: E741 - the book's letter
    O_plus, I_minus = split_off(O, axis=[0.0, 1.0])
    every = (
        ("a turn", "one", lambda n: orthogonal_power(turn, n)),
        ("mirror,\nturn", "two", lambda n: orthogonal_power(O, n)),
        ("a printed\nformula", "wrong", lambda n: orthogonal_power(I_minus, n) @ orthogonal_power(O_plus, n)),
    )
    desc = (
        f"Rows of the letter F, for powers 0 to {last}. First row: a turn goes round step by step. Second row: a "
        "mirror followed by the same turn gives the same mirror image at every odd power and the upright letter at "
        "every even one."
    )
    if rows == len(every):
        desc += " Third row: what part 6 prints for the second row agrees with it at power 0 only."
    with figure(title="Powers of a turn, and of a mirror and a turn", desc=desc, size=(5.0, 0.3 + rows)) as fig:
        grid = fig.subplots(rows, last + 1)
        for row, (name, role, power) in zip(grid, every[:rows], strict=True):
            for n, axes in enumerate(row):
                _letter(axes, power(n), role)
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
