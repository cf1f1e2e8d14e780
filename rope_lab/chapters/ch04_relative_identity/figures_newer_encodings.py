"""The pictures of the page on newer encodings: three kinds of step, and the functions that have a finite width."""

from collections.abc import Callable
from fractions import Fraction
from numbers import Number

import numpy as np
import sympy as sp

from rope_lab.algebra.finite_width import hankel_rank
from rope_lab.algebra.generators import exponential
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["finite_widths", "three_kinds_of_step"]

ROWS = 12
# g(r), what it is called, where its name stands, its marker, its role
LINES: tuple[tuple[Callable[[int], Number | sp.Basic], str, float, str, str], ...] = (
    (lambda r: Fraction(9, 10) ** r, "a decay", 0.95, "D", "one"),
    (sp.cos, "a plane of RoPE", 2.5, "o", "one"),
    (lambda r: r, "ALiBi's bias", 1.75, "v", "one"),
    (lambda r: r * sp.cos(r), "a plane that also shears", 4.0, "s", "one"),
    (lambda r: sum(sp.cos(r * sp.Rational(1, 4) ** i) for i in range(3)), "a head of three planes", 6.0, "^", "one"),
    (lambda r: sp.log(1 + r), "log(1 + r)", 11.3, "x", "two"),
    (lambda r: Fraction(1, 1 + r), "1/(1 + r)", 12.3, "+", "two"),
)


def finite_widths() -> Picture:
    """The number of independent rows of the matrix with the entries g(i + j), for seven functions of the offset."""
    sizes = np.arange(1, ROWS + 1)
    ranks = {name: [hankel_rank([g(r) for r in range(2 * size - 1)]) for size in sizes] for g, name, *_ in LINES}
    level = "; ".join(f"{name} {ranks[name][-1]}" for _, name, _, _, role in LINES if role == "one")
    rising = " and ".join(f"{name}, {ranks[name][-1]}" for _, name, _, _, role in LINES if role == "two")
    desc = (
        f"For matrices of 1 to {ROWS} rows, how many rows are independent. The lines of five functions rise to "
        f"their width and run level from there on: {level}. Two lines rise with every row to the end of the picture: "
        f"{rising}."
    )
    with figure(title="Which functions of the offset have a finite width", desc=desc, size=(4.8, 3.6)) as fig:
        axes = fig.subplots()
        axes.set(xlabel="rows of the matrix", ylabel="independent rows", xlim=(0.5, 20.5), ylim=(0, 12.9))
        axes.spines.bottom.set_bounds(0.5, ROWS)
        axes.set_xticks([1, 4, 8, 12])
        axes.set_yticks([1, 2, 4, 6, 12])
        for _, name, height, marker, role in LINES:
            axes.plot(sizes, ranks[name], marker=marker, ms=5, lw=1.2, color=LIGHT[role])
            axes.text(12.6, height, name, va="center", color=LIGHT[role])
    return fig.picture


def three_kinds_of_step() -> Picture:
    """A vector, and where eight equal steps take its tip: a turn, a shear, a growth with a decay."""
    kinds = (
        ("a turn", "RoPE", [[0, -1], [1, 0]], (1.0, 0.0), 0.7),
        ("a shear", "ALiBi", [[0, 1], [0, 0]], (-1.0, 0.75), 0.3),
        ("growth and decay", "HoPE", [[1, 0], [0, -1]], (0.25, 1.2), 0.2),
    )
    desc = (
        "Three panels, each with a vector and the places of its tip after one to eight equal steps. Under a turn, the "
        "step of RoPE, the tip runs on a circle and comes round. Under a shear, the step of ALiBi, it moves along a "
        "straight line, the same way at each step. Under a growth of one coordinate and a decay of the other, the step "
        "of HoPE, it runs along a hyperbola, away from one axis and towards the other."
    )
    with figure(title="Three kinds of step: where eight of them take a vector", desc=desc, size=(4.8, 2.2)) as fig:
        for axes, (name, who, generator, start, pace) in zip(fig.subplots(1, 3), kinds, strict=True):
            tips = np.array([exponential(n * pace * np.array(generator, dtype=float)) @ start for n in range(9)])
            axes.set(xlim=(-1.3, 1.5), ylim=(-1.15, 1.5), aspect="equal")
            axes.axis("off")
            axes.axhline(0, color=LIGHT["hair"], lw=0.8)
            axes.axvline(0, color=LIGHT["hair"], lw=0.8)
            axes.annotate("", tips[0], (0, 0), arrowprops={"arrowstyle": "-|>", "color": LIGHT["one"], "lw": 1.6})
            axes.plot(*tips.T, "-o", color=LIGHT["one"], lw=0.8, ms=4)
            axes.set_title(f"{name}\n({who})", fontsize=11)
    return fig.picture
