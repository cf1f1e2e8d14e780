"""Chapter 4's static figures: how a block joins the others, every solution in the plane, and three steps of a key."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from rope_lab.algebra.rotation import rotation_2d
from rope_lab.algebra.solutions import solution
from rope_lab.show.style import FLAG, LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["every_solution", "one_more_plane", "opposite_steps", "three_steps"]

_SLANT = rotation_2d(0.5)  # the basis U of the solutions that are not orthogonal


def every_solution() -> Picture:
    """The letter F under $R_0$, $R_1$ and $R_2$, for the five kinds of solution that the plane has."""
    empty = np.zeros((0, 0))
    kinds = (
        ("a rotation", solution(rotation_2d(0.7), basis=np.eye(2))),
        ("a reflection", solution(_SLANT @ np.diag([1.0, -1.0]) @ _SLANT.T, basis=np.eye(2))),
        ("a line,\nkept", solution([[1.0]], basis=_SLANT)),
        ("a line,\nflipped", solution([[-1.0]], basis=_SLANT)),
        ("nothing", solution(empty, basis=np.eye(2))),
    )
    desc = (
        "Five columns, one for each kind of solution, and three rows for positions 0, 1 and 2. A rotation "
        "turns the letter F by the same angle at each step. A reflection mirrors it and mirrors it back. The "
        "third squashes it onto a line and leaves it there; the fourth does the same and flips it along the "
        "line at each step; the fifth sends it to a point."
    )
    with figure(title="All solutions of the law in the plane", desc=desc, size=(4.7, 3.5)) as fig:
        grid = fig.subplots(3, 5)
        for column, (name, family) in enumerate(kinds):
            grid[0, column].set_title(name, fontsize=11)
            for n in range(3):
                _letter(grid[n, column], np.asarray(family(n)))
                for part in [*grid[n, column].lines[2:], *grid[n, column].patches]:
                    if n:
                        turn = 0.7 if column == 0 else 0.0
                        fig.plays(part, turn=turn, appear=True, begin=1.2 * n - 0.7, seconds=0.9)
        for n in range(3):
            grid[n, 0].text(-1.5, 0, rf"$R_{n}$", fontsize=15, ha="right", va="center")
    return fig.picture


def _letter(axes: Axes, matrix: np.ndarray) -> None:
    axes.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal")
    axes.axis("off")
    for x, y in (([-1.2, 1.2], [0.0, 0.0]), ([0.0, 0.0], [-1.2, 1.2])):
        axes.plot(x, y, color=LIGHT["hair"], lw=0.8)
    image = FLAG @ matrix.T
    spread = np.linalg.svd(image - image.mean(0), compute_uv=False)
    if spread[0] < 1e-9:
        axes.plot(0, 0, "o", color=LIGHT["one"], ms=6)
    elif spread[1] < 1e-9:
        axes.plot(*image.T, color=LIGHT["one"], lw=3.5, solid_capstyle="round")
        far = image[np.argmax(np.abs(image @ _SLANT[:, 0]))]
        axes.plot(*far, "o", color=LIGHT["one"], ms=6)
    else:
        axes.fill(*image.T, facecolor=LIGHT["one"], alpha=0.22, lw=0)
        axes.plot(*np.vstack([image, image[:1]]).T, color=LIGHT["one"], lw=1.6)
    axes.plot(0, 0, "o", color=LIGHT["ink"], ms=2.5)


def one_more_plane() -> Picture:
    """Block times block: the large block by hypothesis, the new one by the base case, zeros elsewhere."""
    desc = (
        "Three square matrices in a row, each with a large block above on the left, a small block below on "
        "the right and zeros elsewhere. The first has the transposed blocks for m, the second the blocks for "
        "n. In their product the large block is the large one for n minus m, and the small block the rotation"
        " for n minus m."
    )
    blocks = (
        (r"$X_m^\top$", r"$R_m^\top$", "one", r"$\cdot$"),
        (r"$X_n$", r"$R_n$", "two", "="),
        (r"$X_{n{-}m}$", r"$R_{n{-}m}$", "ink", ""),
    )
    with figure(title="One more plane: blocks multiply with their own kind", desc=desc, size=(4.9, 1.6)) as fig:
        axes = fig.subplots()
        axes.set(xlim=(-0.05, 11.25), ylim=(-0.1, 3.4), aspect="equal")
        axes.axis("off")
        for i, (large, small, role, sign) in enumerate(blocks):
            left = 3.95 * i
            axes.add_patch(Rectangle((left, 0), 3.3, 3.3, fill=False, edgecolor=LIGHT["muted"], lw=1))
            axes.add_patch(Rectangle((left + 0.08, 1.48), 1.74, 1.74, color=LIGHT[role], alpha=0.16, lw=0))
            axes.add_patch(Rectangle((left + 1.9, 0.08), 1.32, 1.32, color=LIGHT[role], alpha=0.16, lw=0))
            axes.text(left + 0.95, 2.35, large, color=LIGHT[role], ha="center", va="center", fontsize=18)
            axes.text(left + 2.56, 0.74, small, color=LIGHT[role], ha="center", va="center", fontsize=14)
            for x, y in ((2.56, 2.35), (0.95, 0.74)):
                axes.text(left + x, y, "0", color=LIGHT["muted"], ha="center", va="center", fontsize=12)
            axes.text(left + 3.625, 1.65, sign, ha="center", va="center", fontsize=20)
    return fig.picture


def three_steps() -> Picture:
    """The letter F under M^0, M^1 and M^2, and the logit of a key further and further back, for three steps M."""
    kinds = (  # with the axis along which the key points; the query points along the first
        ("a turn\n(RoPE)", rotation_2d(0.7), 0),
        ("a turn that\ngrows (xPos)", rotation_2d(0.7) / 0.8, 0),
        ("a shear\n(ALiBi)", np.array([[1.0, 0.6], [0.0, 1.0]]), 1),
    )
    desc = (
        "Three columns, one for each step M, and three rows for M to the power 0, 1 and 2. A turn rotates the letter F "
        "by the same angle at each step. A turn that grows rotates it and makes it larger by the same factor at each "
        "step. A shear leans it over, by the same amount at each step, and its base stays where it is. A fourth row "
        "shows the logit while the key moves 12 words back: under the turn it swings, under the turn that grows it "
        "swings and fades, under the shear it falls along a straight line."
    )
    with figure(title="Three steps that a key may take, and the logit", desc=desc, size=(3.6, 5.0)) as fig:
        grid = fig.subplots(4, 3)
        for column, (name, step, axis) in enumerate(kinds):
            logits = [np.linalg.matrix_power(step, -back)[0, axis] for back in range(13)]
            grid[3, column].plot(logits, "o-", color=LIGHT["two"], ms=3, lw=1.4, clip_on=False)
            grid[3, column].axhline(0, color=LIGHT["hair"], lw=0.8)
            grid[3, column].set(xlim=(-2, 14))
            grid[3, column].axis("off")
            grid[0, column].set_title(name, fontsize=11)
            for n in range(3):
                _letter(grid[n, column], np.linalg.matrix_power(step, n))
                grid[n, column].set(xlim=(-1.75, 1.75), ylim=(-1.75, 1.75))
        for n, name in enumerate(("$I$", "$M$", "$M^2$")):
            grid[n, 0].text(-2.0, 0, name, fontsize=15, ha="right", va="center")
        grid[3, 0].text(-3.0, 0, "logit", fontsize=11, ha="right", va="center")
        below = {"transform": grid[3, 1].transAxes, "ha": "center", "va": "top", "color": LIGHT["muted"]}
        grid[3, 1].text(0.5, -0.06, r"words back $\rightarrow$", **below)
    return fig.picture


def opposite_steps() -> Picture:
    """Positions in a row: keys take the step $M$ to the next, queries its inverse transposed; between: $M^{n-m}$."""
    desc = (
        "Positions 0 to 5 in a row. Above them an arrow leads from each position to the next: a key takes the step M. "
        "Below them the arrows of the query, each with the step M to the power minus 1, transposed. A key at "
        "position 1 and a query at position 4 are marked, and between them stands M to the power of the offset, -3."
    )
    with figure(title="A step for keys, its inverse transposed for queries", desc=desc, size=(3.6, 2.3)) as fig:
        axes = fig.subplots()
        axes.set(xlim=(-0.5, 5.5), ylim=(-1.75, 2.1), aspect="equal")
        axes.axis("off")
        for n in range(6):
            role = {1: "key", 4: "query"}.get(n)
            axes.text(n, 0, f"${n}$", ha="center", va="center", fontsize=13, color=LIGHT[role or "muted"])
        for side, role in ((1, "key"), (-1, "query")):
            for n in range(5):
                way = {"arrowstyle": "-|>", "color": LIGHT[role], "lw": 1.4, "mutation_scale": 9}
                way |= {"connectionstyle": f"arc3,rad={-0.55 * side}", "ls": "-" if role == "query" else (0, (4, 2))}
                axes.annotate("", (n + 0.9, 0.3 * side), (n + 0.1, 0.3 * side), arrowprops=way)
        axes.text(2.5, 0.86, "keys: $M$", ha="center", va="center", color=LIGHT["key"])
        axes.text(2.5, -0.95, r"queries: $(M^{-1})^\top$", ha="center", va="center", color=LIGHT["query"])
        axes.plot([1, 1, 4, 4], [1.25, 1.45, 1.45, 1.25], color=LIGHT["ink"], lw=1)
        axes.text(2.5, 1.8, "$M^{n-m} = M^{-3}$", ha="center", va="center", fontsize=13)
    return fig.picture
