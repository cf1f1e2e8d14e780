"""Chapter 12's static figures: a weight in blocks, three halves, free numbers of a matrix, what a width buys."""

import numpy as np
from matplotlib.patches import Rectangle

from rope_lab.algebra import widely_linear
from rope_lab.chapters.ch12_what_crope_removes.half_of_what import COUNTS
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["free_numbers", "three_halves", "two_planes", "what_width_buys"]


def two_planes() -> Picture:
    """A weight of two planes by two, real and complex: its free numbers, filled, and those that repeat them.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    desc = (
        "Two tables of 4 by 4 numbers, each in four blocks of 2 by 2. On the left all 16 are filled. On the right the "
        "first column of a block is filled, with a and b, say, and the second column repeats them: minus b and a."
    )
    with figure(title="A real weight of two planes, and a complex one", desc=desc, size=(4.4, 2.3)) as fig:
        for axes, name, free in zip(fig.subplots(1, 2), ("real: 16", "complex: 8"), (2, 1), strict=True):
            axes.set(xlim=(-0.1, 4.4), ylim=(4.4, -1), aspect="equal")
            axes.axis("off")
            axes.text(2.15, -0.3, name, ha="center", fontsize=12)
            for row, column in np.ndindex(4, 4):
                x, y, full = column + 0.3 * (column // 2), row + 0.3 * (row // 2), column % 2 < free
                fill, ink, edge = (LIGHT["linear"], "paper", "linear") if full else ("none", "muted", "muted")
                axes.add_patch(Rectangle((x, y), 0.9, 0.9, facecolor=fill, edgecolor=LIGHT[edge]))
                a, b = ("ab", "cd", "ef", "gh")[2 * (row // 2) + column // 2]  # of the block
                letter = (a, f"\u2212{b}", b, a)[2 * (row % 2) + column % 2] if free == 1 else ""
                axes.text(x + 0.45, y + 0.48, letter, ha="center", va="center", fontsize=11, color=LIGHT[ink])
    return fig.picture


def three_halves() -> Picture:
    """One square for each dimension of the smallest head: weights, form at one offset, family; what stays is filled.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    counts = [[count(head_dim=2, width=2, complex_linear=c) for c in (False, True)] for count in COUNTS]
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


def free_numbers() -> Picture:
    """The free numbers of two square matrices, as filled squares: of rank two, and of rank one.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    desc = "Two square matrices. " + " ".join(
        f"Of rank {r}: filled are whole columns, {r} in number, and as many squares of each other column."
        for r in (2, 1)
    )
    with figure(title="How many free numbers a matrix of small rank has", desc=desc, size=(4.4, 2.1)) as fig:
        for axes, r in zip(fig.subplots(1, 2), (2, 1), strict=True):
            axes.set(xlim=(0, size := 6), ylim=(size, -1.2), aspect="equal")
            axes.axis("off")
            axes.text(size / 2, -0.3, f"rank {r}: {r * (2 * size - r)} of {size**2}", ha="center", fontsize=12)
            for row, column in np.ndindex(size, size):
                at, free = (column + 0.07, row + 0.07), column < r or row < r
                fill = LIGHT["one" if column < r else "two"] if free else "none"
                axes.add_patch(Rectangle(at, 0.86, 0.86, lw=0 if free else 1, fc=fill, edgecolor=LIGHT["muted"]))
    return fig.picture


def what_width_buys() -> Picture:
    """The share of a random form's length that heads of growing width miss, with real and with complex-linear weights.

    At the offset 0 real weights of width d give every form of rank at most d, and complex-linear ones those of them
    that commute with J. What the nearest one misses is in the singular values (Eckart and Young).

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    form = np.random.default_rng(0).normal(size=(width := 8, width))
    linear, rest = widely_linear.split(form)
    wide = np.arange(0, 2 * width + 1, 2)

    def missed(matrix: np.ndarray, besides: float = 0.0) -> list[float]:
        values = np.linalg.svd(matrix, compute_uv=False) ** 2
        return [float(np.sqrt((values[d:].sum() + besides) / (form**2).sum())) for d in wide]

    real, tied = missed(form), missed(linear, float((rest**2).sum()))
    desc = (
        f"The share of the length of a form of {width} by {width} numbers that the nearest head misses, against the "
        f"width of the head. With real weights it falls to 0 at width {width}. With complex-linear weights it falls to "
        f"{tied[-1]:.2f} and stays there, however wide the head is."
    )
    with figure(title="A complex-linear head misses a part, however wide it is", desc=desc, size=(4.4, 2.4)) as fig:
        axes = fig.subplots()
        axes.plot(wide, tied, "o-", color=LIGHT["linear"])
        axes.plot(wide, real, "s--", color=LIGHT["muted"])
        axes.text(wide[-1], tied[-1] + 0.05, "complex-linear", ha="right", color=LIGHT["linear"])
        axes.text(wide[-1], 0.05, "real", ha="right", color=LIGHT["muted"])
        axes.set(xlabel="width of the head", ylabel="missed, in length", ylim=(-0.03, 1.05), xticks=wide[::2])
    return fig.picture
