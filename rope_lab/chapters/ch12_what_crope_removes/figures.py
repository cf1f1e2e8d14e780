"""Chapter 12's static figures: three halves in squares, and the free numbers of a matrix of small rank."""

import numpy as np
from matplotlib.patches import Rectangle

from rope_lab.chapters.ch12_what_crope_removes.half_of_what import COUNTS
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["free_numbers", "three_halves"]


def three_halves(head_dim: int = 2, width: int = 2) -> Picture:
    """One square for each dimension of a head: weights, the form at one offset, the family; what stays is filled.

    Args:
        head_dim: Width of the head, even.
        width: Width of the stream, even.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    counts = [[count(head_dim=head_dim, width=width, complex_linear=c) for c in (False, True)] for count in COUNTS]
    names = ("weights", "one offset", "all offsets")
    said = ", ".join(f"{name} {kept} of {whole}" for name, (whole, kept) in zip(names, counts, strict=True))
    desc = f"Three rows of squares, one for each dimension. What complex-linear weights keep is filled: {said}."
    with figure(title="Half of what?", desc=desc, size=(4.4, 1.35)) as fig:
        axes = fig.subplots()
        most = max(whole for whole, _ in counts)
        axes.set(xlim=(-3.4, most + 2.4), ylim=(-3.1, 0.7), aspect="equal")
        axes.axis("off")
        for row, (name, (whole, kept)) in enumerate(zip(names, counts, strict=True)):
            axes.text(-0.3, -1.2 * row, name, ha="right", va="center", fontsize=12)
            for i in range(whole):
                stays, at = i < kept, (i + 0.07, -1.2 * row - 0.43)
                hue, fill, dash = ("linear", LIGHT["linear"], "-") if stays else ("conjugate", "none", (0, (3, 2)))
                axes.add_patch(Rectangle(at, 0.86, 0.86, lw=1.2, facecolor=fill, edgecolor=LIGHT[hue], ls=dash))
            axes.text(whole + 0.3, -1.2 * row, f"{kept} of {whole}", ha="left", va="center", fontsize=12)
    return fig.picture


def free_numbers(size: int = 6, rank: int = 2) -> Picture:
    """The free numbers of two square matrices, as filled squares: of this rank, and of rank one.

    Args:
        size: Rows and columns of both.
        rank: Rank of the first, smaller than its size.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    desc = "Two square matrices. " + " ".join(
        f"Of rank {r}: filled are whole columns, {r} in number, and as many squares of each other column."
        for r in (rank, 1)
    )
    with figure(title="How many free numbers a matrix of small rank has", desc=desc, size=(4.4, 2.1)) as fig:
        for axes, r in zip(fig.subplots(1, 2), (rank, 1), strict=True):
            axes.set(xlim=(0, size), ylim=(size, -1.2), aspect="equal")
            axes.axis("off")
            axes.text(size / 2, -0.3, f"rank {r}: {r * (2 * size - r)} of {size**2}", ha="center", fontsize=12)
            for row, column in np.ndindex(size, size):
                at, free = (column + 0.07, row + 0.07), column < r or row < r
                fill = LIGHT["one" if column < r else "two"] if free else "none"
                axes.add_patch(Rectangle(at, 0.86, 0.86, lw=0 if free else 1, fc=fill, edgecolor=LIGHT["muted"]))
    return fig.picture
