"""Chapter 14's static figures: the model as one stream with branches, and what is left of the luck of a seed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import correlation, fmean, stdev

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from rope_lab.chapters.ch14_tiny_gpt.exercises import same_model
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure
from rope_lab.training.results import cards
from rope_lab.training.results.intervals import Interval, paired, t_quantile

__all__ = ["paired_seeds", "stream"]

_OVER = 1.3  # how far beside the stream the branches run


def stream() -> Picture:
    """Token ids, embedding, blocks of attention and MLP along the residual stream, head, loss."""
    title = "A GPT is one stream with two kinds of branch"
    desc = (
        "From top to bottom: token ids enter through the embedding; a stream of numbers for each position runs to the "
        "head, which gives probabilities for the next token. Along it, repeated in every block, attention reads the "
        "stream, looks at earlier positions and adds its result; then an MLP reads and adds, position by position. "
        "Queries and keys are rotated inside the attention, and nowhere else does a position enter."
    )
    with figure(title=title, desc=desc, size=(4.6, 5.6)) as fig:
        axes = fig.subplots()
        axes.set(xlim=(-0.8, 3.8), ylim=(5.5, 0.0))
        axes.axis("off")
        _draw(axes)
    return fig.picture


def _draw(axes: Axes) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (-0.6, 1.2), 4.2, 3.0, boxstyle="round,pad=0.05,rounding_size=0.18", fill=False, color=LIGHT["hair"], lw=1.2
        )
    )
    axes.text(3.5, 4.02, "one block; the next follows", ha="right", va="center", color=LIGHT["muted"])
    axes.annotate("", (0, 4.55), (0, 0.9), arrowprops={"arrowstyle": "-|>", "color": LIGHT["ink"], "lw": 2.4}, zorder=1)
    _box(axes, 0, 0.75, "embedding")
    _box(axes, 0, 4.75, "norm, head")
    axes.text(0, 0.1, "token ids", ha="center", va="center", color=LIGHT["muted"])
    axes.text(0, 5.4, "next token?", ha="center", va="center", color=LIGHT["muted"])
    for start, end in ((0.22, 0.56), (4.94, 5.28)):
        axes.annotate(
            "",
            (0, end),
            (0, start),
            arrowprops={"arrowstyle": "-|>", "color": LIGHT["muted"], "lw": 1, "shrinkA": 0, "shrinkB": 0},
        )
    _branch(axes, 1.4, 2.6, "norm, attention")
    _branch(axes, 2.85, 3.7, "norm, MLP")
    for y, note in ((1.75, "looks at earlier\npositions"), (3.26, "each position\nalone")):
        axes.text(2.15, y, note, va="center", color=LIGHT["muted"], linespacing=1.3)
    axes.text(2.2, 2.12, "$q$", color=LIGHT["query"], fontsize=15, ha="center", va="center")
    axes.text(2.3, 2.12, "and", color=LIGHT["ink"], ha="left", va="center")
    axes.text(2.7, 2.12, "$k$", color=LIGHT["key"], fontsize=15, ha="center", va="center")
    axes.text(2.8, 2.12, "turned", color=LIGHT["ink"], ha="left", va="center")
    axes.text(2.15, 2.34, "by position", color=LIGHT["ink"], ha="left", va="center")


def _branch(axes: Axes, start: float, end: float, name: str) -> None:
    middle = (start + end) / 2
    arrow = {"arrowstyle": "-|>", "color": LIGHT["ink"], "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
    axes.plot([0, _OVER, _OVER], [start, start, end], color=LIGHT["ink"], lw=1.2, solid_joinstyle="round")
    axes.annotate("", (0.1, end), (_OVER, end), arrowprops=arrow)
    _box(axes, _OVER, middle, name)
    axes.plot(0, end, "o", ms=13, color=LIGHT["paper"], markeredgecolor=LIGHT["ink"], zorder=3)
    axes.text(0, end + 0.01, "+", ha="center", va="center", fontsize=12, zorder=4)


def _box(axes: Axes, x: float, y: float, name: str) -> None:
    width, height = 1.4, 0.3
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0.04,rounding_size=0.1",
            facecolor=LIGHT["paper"],
            edgecolor=LIGHT["ink"],
            lw=1.2,
            zorder=3,
        )
    )
    axes.text(x, y, name, ha="center", va="center", zorder=4)


def _unit() -> Interval:
    """The loss with positions of amplitude one on small embeddings, minus that of RoPE."""
    return paired(cards.load_all("crope-table1-readings", "cpu"), "absolute unit", "RoPE")


def _luck(name: str, setting: str) -> tuple[float, float, float]:
    """Over the seeds of added sinusoids and RoPE: correlation, and half of the gap's interval, paired and not."""
    runs = sorted((c for c in cards.load_all(name, "cpu") if c.setting == setting), key=lambda card: card.seed)
    one, other = ([c.loss() for c in runs if c.variant == v] for v in ("absolute scaled", "RoPE"))
    apart = t_quantile(0.975, 2 * len(one) - 2) * ((stdev(one) ** 2 + stdev(other) ** 2) / len(one)) ** 0.5
    return correlation(one, other), paired(runs, "absolute scaled", "RoPE").half, apart


MEASURED = {
    "unit": lambda: _unit().mean,
    "unit-in-halves": lambda: _unit().mean / _unit().half,
    "correlation": lambda: _luck("crope-table1", "WikiText-2")[0],
    "halves": lambda: _luck("crope-table1", "WikiText-2")[1:],
    "correlation-15": lambda: _luck("crope-confirm", "WikiText-2, rate 0.004")[0],
    "halves-15": lambda: _luck("crope-confirm", "WikiText-2, rate 0.004")[1:],
    "same": lambda: tuple(same_model().values()),
    "same-s": lambda: stdev(same_model().values()),
    "two-apart": lambda: fmean(abs(a - b) for a, b in combinations(same_model().values(), 2)),
    "far-pairs": lambda: sum(abs(a - b) > 0.02 for a, b in combinations(same_model().values(), 2)),
}


def paired_seeds(one: Sequence[float], other: Sequence[float], *, names: tuple[str, str]) -> Picture:
    """Losses of two variants and their paired differences, each row around its own mean, on one scale.

    Args:
        one: Losses of the first variant in nats, by seed.
        other: Losses of the second variant, for the same seeds in the same order.
        names: What the two are called.

    Returns:
        A `Picture`: inline SVG with title and description.

    Raises:
        ValueError: If the two have different numbers of seeds.
    """
    rows = {
        names[0]: (one, "one"),
        names[1]: (other, "two"),
        "difference": ([a - b for a, b in zip(one, other, strict=True)], "ink"),
    }
    spreads = "; ".join(f"{name} {stdev(values):.4f}" for name, (values, _) in rows.items())
    desc = f"Three rows of {len(one)} marks around the row's mean; a line joins the two of a seed. Spreads: {spreads}."
    with figure(title="What two variants of a seed share cancels", desc=desc, heights=(2.1, 2.1)) as fig:
        axes = fig.subplots()
        axes.axvline(0, color=LIGHT["muted"], lw=1)
        for height, (values, ink) in enumerate(rows.values()):
            mean = fmean(values)
            axes.plot([x - mean for x in values], [height] * len(values), "o", ms=7, color=LIGHT[ink], alpha=0.75)
        axes.plot([[x - fmean(v) for x in v] for v in (one, other)], [0, 1], color=LIGHT["muted"], lw=0.8, zorder=0)
        axes.set(yticks=range(3), yticklabels=[*rows], ylim=(2.5, -0.5), xlabel="loss minus the mean of its row, nats")
        axes.locator_params(axis="x", nbins=4)
    return fig.picture
