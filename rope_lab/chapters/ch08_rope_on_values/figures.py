"""Chapter 8's static figures: how values arrive, and how fast equal values cancel; and the table of its small task."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from rope_lab.algebra.rotation import frequencies, rotate
from rope_lab.chapters.ch08_rope_on_values import results
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure
from rope_lab.show.tables import Table, findings_table

__all__ = ["arrivals", "fading", "how_long_ago"]

_VALUES = rotate([[1.0, 0.0]] * 5, [1.2, 0.2, 2.4, 0.7, 1.6], theta=[1.0])  # five words, five directions
_THETA = [0.5]


def arrivals(*, shift: int = 3) -> Picture:
    """Five values as V and as VO bring them to the last word, with the sentence at 0 and moved along.

    Args:
        shift: How many positions the sentence moves.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    desc = (
        f"Four rows of five dials, labelled V and VO, starts at 0 and starts at {shift}, with the same five values as "
        "hands, dotted before their turn. First pair of rows, V: values turned and nothing "
        f"more: after the sentence has moved by {shift}, every hand points elsewhere. Second pair, turned back by the "
        "position of the last word, VO: the rows are alike, and the last hand is not turned at all."
    )
    with figure(title="Values on their way to the last word", desc=desc, size=(4.6, 3.7)) as fig:
        axes = fig.subplots()
        axes.set(xlim=(-3.1, 6.4), ylim=(-6.9, 0.75), aspect="equal")
        axes.axis("off")
        for top, name, back in ((0.0, "V", False), (-4.0, "VO", True)):
            for row, start in enumerate((0, shift)):
                axes.text(-3.0, top - 1.75 * row + 0.22, name, fontsize=13, va="center")
                axes.text(-3.0, top - 1.75 * row - 0.28, f"starts at {start}", va="center")
                here = start + np.arange(5)
                placed = rotate(_VALUES, here - (here[-1] if back else 0), theta=_THETA)
                for i, (hand, n) in enumerate(zip(placed, here, strict=True)):
                    _dial(axes, (1.42 * i, top - 1.75 * row), hand, f"{n}", plain=_VALUES[i])
    return fig.picture


def _dial(axes: Axes, at: tuple[float, float], hand: np.ndarray, label: str, *, plain: np.ndarray) -> None:
    x, y = at
    axes.add_patch(Circle(at, 0.6, fill=False, edgecolor=LIGHT["hair"], lw=1))
    axes.plot([x, x + 0.58 * plain[0]], [y, y + 0.58 * plain[1]], ":", color=LIGHT["muted"], lw=1.5)
    axes.annotate(
        "",
        xy=(x + 0.58 * hand[0], y + 0.58 * hand[1]),
        xytext=at,
        arrowprops={"arrowstyle": "-|>", "color": LIGHT["value"], "lw": 1.8, "shrinkA": 0, "shrinkB": 0},
    )
    axes.plot(x, y, "o", color=LIGHT["ink"], ms=2.5)
    axes.text(x, y - 0.66, label, ha="center", va="top", color=LIGHT["muted"])


def fading(*, head_dim: int = 64, longest: int = 1000) -> Picture:
    """The length left of one value that stands at the last T positions, all weighted alike, plane by plane.

    Args:
        head_dim: Width of the head, even.
        longest: The largest T, in positions.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    theta, T = frequencies(head_dim), np.unique(np.geomspace(1, longest, 400).round())
    desc = (
        "Length that is left, from 1 down to 0, against the number of equal values on a logarithmic axis, for three "
        "planes of a head. In the fastest plane less than a quarter is left after ten positions; the middle one "
        "follows before a hundred; the slowest stays at one throughout."
    )
    with figure(title="Equal values, weighted alike, under VO", desc=desc, size=(4.8, 3.2)) as fig:
        axes = fig.subplots()
        axes.set(xscale="log", xlabel="number of positions $T$", ylabel="length that is left", ylim=(0, 1.06))
        axes.set_xlim(1, longest * 1.02)
        axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
        axes.minorticks_off()
        for plane, dash in ((0, "-"), (len(theta) // 4, (0, (5, 2))), (len(theta) - 1, (0, (1, 1.6)))):
            left = np.abs(np.exp(1j * theta[plane] * np.arange(longest)).cumsum()[T.astype(int) - 1]) / T
            axes.plot(T, left, color=LIGHT["one"], linestyle=dash, lw=1.8, label=f"plane {plane}")
        axes.legend(loc="center right", bbox_to_anchor=(1.0, 0.62))
    return fig.picture


def how_long_ago() -> Table:
    """The plan's comparisons of ``how-long-ago``: turned values against none, for each question."""
    plain = results.best_losses()
    caption = (
        "Loss with turned values minus without, in nats per answer. Eight seeds, each at the learning rates that are "
        "best for the seven others. Better, or equivalent within 0.02 nats: by Holm's rule (chapter 16). At its best "
        f"rate, asked how long ago, NoPE ends at {plain['elapsed, nothing']:.2f} and QK at {plain['elapsed, QK']:.2f}"
    )
    return findings_table(results.turned_values(), caption=caption)
