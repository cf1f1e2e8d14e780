"""Chapter 6's static figure: a skew matrix in two bases; and the table of its small task."""

import numpy as np
from matplotlib.patches import Rectangle

from rope_lab.algebra.normal_form import skew_normal_form
from rope_lab.chapters.ch06_block_diagonalisation import results
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure
from rope_lab.show.tables import Table, findings_table

__all__ = ["two_bases", "two_matrices"]


def two_bases(*, d: int = 8, seed: int = 6) -> Picture:
    """A random B and its normal form, entry by entry: the darker a square, the larger the entry.

    Args:
        d: Size of the matrix, even.
        seed: Seed of the random matrix.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    A = np.random.default_rng(seed).normal(size=(d, d))
    B = (A - A.T) / 2
    form = skew_normal_form(B)
    desc = (
        f"Two squares of {d} by {d} entries. The left one, B, is filled everywhere but on the diagonal. The right one, "
        f"the same matrix in the basis P, has {d // 2} 2 x 2 blocks along the diagonal and zeros elsewhere. Their "
        f"speeds fall from {form.theta[0]:.1f} to {form.theta[-1]:.1f} radians per position."
    )
    with figure(title="One matrix in two bases: full, and in blocks", desc=desc, size=(4.9, 2.6)) as fig:
        axes = fig.subplots()
        axes.set(xlim=(-0.2, 2 * d + 3.2), ylim=(-0.4, d + 1.4), aspect="equal")
        axes.axis("off")
        most = np.abs(form.blocks).max()
        panels = ((0, B, "$B$", "one"), (d + 3, form.blocks, r"$\Lambda = P^\top B P$", "two"))
        for left, matrix, name, role in panels:
            axes.add_patch(Rectangle((left, 0), d, d, fill=False, edgecolor=LIGHT["muted"], lw=1))
            for (i, j), value in np.ndenumerate(matrix):
                if abs(value) > 1e-9:
                    shade = 0.1 + 0.4 * abs(value) / most
                    square = Rectangle((left + j + 0.04, d - 1 - i + 0.04), 0.92, 0.92, color=LIGHT[role], alpha=shade)
                    square.set_linewidth(0)
                    axes.add_patch(square)
                    sign = "+" if value > 0 else "\N{MINUS SIGN}"
                    axes.text(left + j + 0.5, d - 0.5 - i, sign, ha="center", va="center", color=LIGHT["ink"])
            axes.text(left + d / 2, d + 0.55, name, ha="center", va="center", fontsize=15, color=LIGHT[role])
        axes.text(d + 1.5, d / 2, r"$\longrightarrow$", ha="center", va="center", fontsize=18)
    return fig.picture


def two_matrices() -> Table:
    """The plan's comparisons of ``linear-attention``: two matrices behind the feature maps, minus none."""
    caption = (
        "Loss on new text with two matrices minus without, in nats per character. Eight seeds; the seven others choose "
        "the learning rate of each. Better, or equivalent within 0.02 nats: by Holm's rule (chapter 16)"
    )
    return findings_table(results.two_matrices(), caption=caption)
