"""Chapter 12's static figures: three halves in squares, and one map seen over many pairings of its input."""

import numpy as np
from matplotlib.patches import Rectangle

from rope_lab.algebra import dimension_counts, pairing
from rope_lab.algebra.widely_linear import times_i
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["many_pairings", "three_halves"]


def three_halves(head_dim: int = 2, width: int = 2) -> Picture:
    """One square for each dimension of a head: weights, the form at one offset, the family; what stays is filled.

    Args:
        head_dim: Width of the head, even.
        width: Width of the stream, even.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    of = (dimension_counts.weight_dimension, dimension_counts.form_dimension, dimension_counts.family_dimension)
    counts = [[count(head_dim=head_dim, width=width, complex_linear=c) for c in (False, True)] for count in of]
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
                fill = {"facecolor": LIGHT["linear"]} if i < kept else {"facecolor": "none", "ls": (0, (3, 2))}
                axes.add_patch(
                    Rectangle(
                        (i + 0.07, -1.2 * row - 0.43),
                        0.86,
                        0.86,
                        lw=1.2,
                        **fill,
                        edgecolor=LIGHT["linear" if i < kept else "conjugate"],
                    )
                )
            axes.text(whole + 0.3, -1.2 * row, f"{kept} of {whole}", ha="left", va="center", fontsize=12)
    return fig.picture


def many_pairings(size: int = 64, drawn: int = 200, *, seed: int = 0) -> Picture:
    """Shares of a complex-linear map and of a random one: over random pairings, the given one, and the best.

    Args:
        size: Rows and columns of both maps, even.
        drawn: Number of random pairings.
        seed: Seed of the maps and the pairings.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(size, size))
    maps = {"complex-linear": pairing.linear_part(dense, times_i(size)), "random": dense}
    others = [pairing.random_pairing(size, rng) for _ in range(drawn)]
    rows = []
    for name, W in maps.items():
        pairings = (times_i(size), pairing.best_pairing(W))
        given, best = (pairing.linear_share(W, J) for J in pairings)
        rows.append((name, np.array([pairing.linear_share(W, J) for J in others]), given, best))
    desc = "Two rows of marks between a share of 0.4 and of 1. " + ". ".join(
        f"The {name} map: {shares.min():.2f} to {shares.max():.2f} over random pairings, {given:.2f} over the given "
        f"pairing, {best:.2f} over the best"
        for name, shares, given, best in rows
    )
    with figure(title="One map over many pairings", desc=desc + ".", size=(4.4, 2.2)) as fig:
        axes = fig.subplots()
        for row, (name, shares, given, best) in enumerate(rows):
            jitter = rng.uniform(-0.14, 0.14, drawn)
            axes.plot(shares, jitter - row, ls="", marker=".", ms=3, color=LIGHT["muted"])
            axes.plot([given], [-row], ls="", marker="s", ms=12, mfc="none", mew=1.6, color=LIGHT["two"])
            axes.plot([best], [-row], ls="", marker="P", ms=7, color=LIGHT["linear"])
            axes.text(0.4, 0.3 - row, name, ha="left", va="bottom", fontsize=11)
        axes.set(xlim=(0.39, 1.03), ylim=(-1.4, 0.75), xlabel="complex-linear share", yticks=[])
        axes.spines["left"].set_visible(False)
    return fig.picture
