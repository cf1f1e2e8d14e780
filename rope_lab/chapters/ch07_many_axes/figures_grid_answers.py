"""The figure and the table of the cards of ``grid-question`` (chapter 7); both need the committed cards."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Literal

from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure
from rope_lab.show.tables import Table
from rope_lab.training.results import cards
from rope_lab.training.results.cards import Card
from rope_lab.training.results.intervals import interval

__all__ = ["grid_question", "grid_question_verdicts"]

Asks = Literal["columns", "rows"]
ASKS: tuple[Asks, ...] = ("rows", "columns")
ORDER = (
    "sections",
    "interleaved",
    "axial",
    "mixed",
    "one axis",
    "no positions",
    "sections, longer",
    "interleaved, longer",
)
GAPS = {  # in the order of the plan, primary ones first
    "interleaved minus sections": ("interleaved", "sections"),
    "axial minus interleaved": ("axial", "interleaved"),
    "mixed minus interleaved": ("mixed", "interleaved"),
    "one axis minus interleaved": ("one axis", "interleaved"),
    "longer, interleaved minus sections (observed)": ("interleaved, longer", "sections, longer"),
}


def grid_question() -> Picture:
    """Share of right answers under each table of frequencies: a mark for each seed, a stroke for the mean, a bar."""
    runs = _cards()
    variants = {card.variant for card in runs}
    names, sizes = [name for name in ORDER if name in variants], runs[0].config["sizes"]
    looks = {sizes[0]: ("one", "o", -0.16), sizes[1]: ("two", "s", 0.16)}
    shares_by_name = ". ".join(f"{name}: {'; '.join(_told(runs, name, asks) for asks in ASKS)}" for name in names)
    desc = (
        f"Share of right answers on grids of {sizes[0]}, the trained size, and of {sizes[1]}; marks are seeds, strokes "
        f"means, bars 95 % intervals of the mean; the line is a guess. Means at both sizes: {shares_by_name}."
    )
    with figure(title="What stands so many rows below, or columns to the right?", desc=desc, size=(4.9, 3.8)) as fig:
        panels = fig.subplots(1, 2, sharex=True, sharey=True)
        for axes, asks in zip(panels, ASKS, strict=True):
            axes.axvline(1 / runs[0].data["vocab_size"], color=LIGHT["muted"], lw=0.8)
            for size, (ink, marker, lower) in looks.items():
                for at, name in enumerate(names):
                    y, shares = at + lower, _shares(runs, name, asks, size)
                    mean, half = (span := interval(shares)).mean, span.half
                    axes.hlines(y, max(mean - half, 0), min(mean + half, 1), color=LIGHT[ink], lw=1.2)
                    axes.plot(mean, y, "|", ms=9, color=LIGHT[ink])
                    label = f"{size} × {size}" + (", as trained" if size == sizes[0] else "")
                    look = {"ms": 5, "mew": 0, "alpha": 0.7, "color": LIGHT[ink], "label": None if at else label}
                    axes.plot(shares, [y] * len(shares), marker, **look)
            axes.set(title=asks, xlim=(-0.03, 1.05), xlabel="share right")
        panels[0].set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        panels[0].set_yticks(range(len(names)), names)
        panels[0].invert_yaxis()
        fig.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig.picture


def grid_question_verdicts() -> Table:
    """The comparisons of the plan, and the observed one: shares of right answers for columns, paired by seed."""
    runs = _cards()
    size, rows = runs[0].config["sizes"][0], []
    for name, pair in GAPS.items():
        one, other = ({c.seed: _share(c, "columns", size) for c in runs if c.variant == variant} for variant in pair)
        gaps = [one[seed] - other[seed] for seed in sorted(one.keys() & other.keys())]
        if gaps:
            span = interval(gaps)
            word = ("above zero" if span.mean > 0 else "below zero") if span.decided else "undecided"
            each = " ".join(f"{gap:+.2f}" for gap in gaps).replace("-", "\N{MINUS SIGN}")
            rows.append([name, each, f"{span.mean:+.2f} ± {span.half:.2f}".replace("-", "\N{MINUS SIGN}"), word])
    headings = ["comparison", "each seed", "mean, 95 %", "verdict"]
    return Table(headings, rows, caption="Share right for columns, at the trained size", right=headings[1:3])


def _longer(table: str) -> list[float]:
    """Shares of right answers after five times the training: every seed, question and size."""
    runs = [card for card in _cards() if card.variant == f"{table}, longer"]
    return [_share(card, asks, size) for card in runs for asks in ASKS for size in card.config["sizes"]]


MEASURED = {"longer": lambda: min(_longer("interleaved")), "longer sections": lambda: max(_longer("sections"))}


def _cards() -> list[Card]:
    runs = cards.load_all("grid-question", "cpu")
    if not runs:
        raise ValueError(
            "expected cards of grid-question, found none; `python -m rope_lab.chapters.ch07_many_axes.task` makes them"
        )
    return runs


def _told(runs: Sequence[Card], name: str, asks: Asks) -> str:
    means = [fmean(_shares(runs, name, asks, size)) for size in runs[0].config["sizes"]]
    return f"{asks} {means[0]:.2f} and {means[1]:.2f}"


def _share(card: Card, asks: Asks, size: int) -> float:
    return card.measured[asks][str(size)]


def _shares(runs: Sequence[Card], variant: str, asks: Asks, size: int) -> list[float]:
    return [_share(card, asks, size) for card in sorted(runs, key=lambda card: card.seed) if card.variant == variant]
