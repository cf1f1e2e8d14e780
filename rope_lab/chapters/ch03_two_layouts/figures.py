"""Chapter 3's static figures: one rotation as a matrix in two layouts, and who turns with whom."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Rectangle

from rope_lab.algebra.rotation import layout_permutation, planes
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["two_pairings", "two_patterns"]


def two_patterns(*, head_dim: int = 8) -> Picture:
    """Both matrices: cosines filled, sines in another ink, and a thin frame through the four entries of each plane.

    Args:
        head_dim: Width of the head, even.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    pairs = {layout: planes(head_dim, layout=layout) for layout in ("interleaved", "half")}
    listed = {layout: ", ".join(f"{a} with {b}" for a, b in own.tolist()) for layout, own in pairs.items()}
    desc = (
        f"Above, interleaved: {head_dim // 2} blocks of two by two along the diagonal; components turn in the pairs "
        f"{listed['interleaved']}. Below, half-split: four diagonals, one in each quarter of the matrix; the pairs are "
        f"{listed['half']}. The half-split order of components is {', '.join(map(str, layout_permutation(head_dim)))}."
    )
    title = "One rotation, two layouts: blocks along the diagonal, or four diagonals"
    with figure(title=title, desc=desc, size=(3.5, 7.2)) as fig:
        for axes, (layout, own) in zip(fig.subplots(2, 1), pairs.items(), strict=True):
            _pattern(axes, own, head_dim)
            axes.set_title({"interleaved": "interleaved", "half": "half-split"}[layout])
    return fig.picture


def _pattern(axes: Axes, pairs: np.ndarray, size: int) -> None:
    axes.set(xlim=(-0.6, size - 0.4), ylim=(size - 0.4, -0.6), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.add_patch(Rectangle((-0.5, -0.5), size, size, fill=False, ec=LIGHT["hair"], lw=1))
    for i, (a, b) in enumerate(pairs.tolist()):
        axes.add_patch(Rectangle((a, a), b - a, b - a, fill=False, ec=LIGHT["muted"], lw=0.8, zorder=1))
        for row, column, name in [(a, a, "c"), (b, b, "c"), (b, a, "s"), (a, b, "-s")]:
            ink = LIGHT["one" if name == "c" else "two"]
            open_cell = name == "-s"
            axes.add_patch(
                FancyBboxPatch(
                    (column - 0.42, row - 0.42),
                    0.84,
                    0.84,
                    zorder=2,
                    lw=1.2,
                    ec=ink,
                    boxstyle="round,pad=0,rounding_size=0.12",
                    fc=LIGHT["paper"] if open_cell else ink,
                )
            )
            axes.text(
                column,
                row,
                f"${name}_{i}$",
                ha="center",
                va="center",
                fontsize=11,
                zorder=3,
                color=ink if open_cell else LIGHT["paper"],
            )


def two_pairings(*, head_dim: int = 8) -> Picture:
    """A row of components: arcs above join the pairs of the interleaved layout, arcs below the half-split ones.

    Args:
        head_dim: Width of the head, even.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    above, below = (planes(head_dim, layout=layout).tolist() for layout in ("interleaved", "half"))
    listed = [", ".join(f"{a} with {b}" for a, b in own) for own in (above, below)]
    desc = (
        f"The components 0 to {head_dim - 1} in a row. Short arcs above them, interleaved: {listed[0]}. "
        f"Long arcs below them, half-split: {listed[1]}."
    )
    with figure(title="Which components turn together in each layout", desc=desc, size=(3.6, 2.5)) as fig:
        axes = fig.subplots()
        axes.set(xlim=(-0.5, head_dim - 0.5), ylim=(-2.9, 1.9), aspect="equal")
        axes.axis("off")
        for own, side, ink, name in ((above, 1, "one", "interleaved"), (below, -1, "two", "half-split")):
            for a, b in own:
                turn = np.linspace(0, np.pi, 40)
                height = 0.75 if side > 0 else 1.55
                x, y = (a + b) / 2 + (b - a) / 2 * np.cos(turn), side * (0.38 + height * np.sin(turn))
                axes.plot(x, y, color=LIGHT[ink], lw=1.8, ls="-" if side > 0 else (0, (4, 2)))
            axes.text((head_dim - 1) / 2, 1.55 if side > 0 else -2.6, name, ha="center", va="center", color=LIGHT[ink])
        for j in range(head_dim):
            axes.text(j, 0, f"${j}$", ha="center", va="center", fontsize=13)
    return fig.picture
