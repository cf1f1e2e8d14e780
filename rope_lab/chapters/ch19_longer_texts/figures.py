"""Figures and tables of the cards of ``longer-texts`` (chapter 19) and ``cache-stream`` (chapter 20).

They read the committed cards and nothing else; where there is none, each raises, so a page asks `cards.load_all` first.
The two of the published small model show what `beyond_window` and `through_window` of `rope_lab.story` have measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from matplotlib.axes import Axes

from rope_lab.algebra.rankings import holm, paired_p
from rope_lab.chapters.ch19_longer_texts import results as long_contexts
from rope_lab.chapters.ch19_longer_texts.results import When
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure, line
from rope_lab.show.tables import Table
from rope_lab.training.results import cards
from rope_lab.training.results.cards import Card
from rope_lab.training.results.intervals import Interval, interval

__all__ = [
    "along_the_stream",
    "longer_text_controls",
    "longer_text_schedules",
    "longer_texts_table",
    "longer_texts_verdicts",
    "story_beyond_table",
    "story_stream_table",
    "stream_table",
    "stream_verdicts",
]

ROLES: dict[When, str] = {"before": "one", "after": "two"}
CALLED = {"as trained": "no schedule", "linear": "interpolation", "YaRN, no factor": "YaRN without\nattention factor"}
STREAMED = {  # what is drawn of the stream, and how
    "recomputed": "one",
    "re-turned, bfloat16": "wrong",
    "unturned, bfloat16": "two",
}


def longer_text_schedules() -> Picture:
    """Loss along a text of eight windows under every schedule, before and after tuning: a panel for each schedule."""
    runs = _cards("longer-texts")
    names = long_contexts.schemes(runs)
    courses = "; ".join(f"{CALLED.get(name, name)} {_course(runs, name)}" for name in names)
    desc = (
        "A panel for each schedule: mean loss against the position in the text, trained up to "
        f"{_window(runs)}. Thin lines are seeds. First bin, end of the trained window, last bin: {courses}."
    )
    with figure(title="Eight windows long: every schedule", desc=desc, heights=(5.2, 5.6)) as fig:
        grid = fig.subplots(-(-len(names) // 3), 3, sharex=True, sharey=True, squeeze=False)
        for axes, name in zip(grid.flat, names, strict=False):
            _panel(axes, runs, name, "RoPE", title=CALLED.get(name, name))
        for axes in grid.flat[len(names) :]:
            axes.set_axis_off()
        _finish(fig, grid, runs)
    return fig.picture


def longer_text_controls() -> Picture:
    """Loss along a text of eight windows, no schedule: RoPE and two controls, no positions and a small base."""
    runs = _cards("longer-texts")
    names = {"RoPE": "RoPE, base 10,000", "small base": "small base", "NoPE": "no positions"}
    names = {variant: title for variant, title in names.items() if long_contexts.bins(runs, variant=variant)}
    courses = "; ".join(f"{title} {_course(runs, 'as trained', variant)}" for variant, title in names.items())
    desc = (
        "A panel for each model, none with a schedule: mean loss against the position in the text, trained up to "
        f"{_window(runs)}. Thin lines are seeds. First bin, end of the trained window, last bin: {courses}."
    )
    with figure(title="Eight windows long: three models without a schedule", desc=desc, heights=(2.6, 2.6)) as fig:
        grid = fig.subplots(1, len(names), sharex=True, sharey=True, squeeze=False)
        for axes, (variant, title) in zip(grid.flat, names.items(), strict=True):
            _panel(axes, runs, "as trained", variant, title=title)
        _finish(fig, grid, runs)
    return fig.picture


def longer_texts_table() -> Table:
    """Loss inside the trained window and beyond it under every schedule: means over the seeds."""
    runs = _cards("longer-texts")
    headings, rows = ["model and schedule", "seeds", "inside", "beyond", "inside, tuned", "beyond, tuned"], []
    for variant in dict.fromkeys(card.variant for card in runs):
        for name in long_contexts.schemes([card for card in runs if card.variant == variant]):
            seeds = len(long_contexts.bins(runs, name, variant=variant))
            cells = [f"{variant}, {CALLED.get(name, name)}", str(seeds)]
            for when in ("before", "after"):
                for part in (long_contexts.inside, long_contexts.beyond):
                    losses = part(runs, name, variant=variant, when=when).values()
                    cells.append(f"{fmean(losses):.3f}" if losses else "")
            rows.append(cells)
    return Table(headings, rows, caption="Loss in nats per character, inside and beyond", right=headings[1:])


def longer_texts_verdicts() -> Table:
    """The primary comparisons of ``longer-texts``, each with its interval over the seeds."""
    return _verdicts(long_contexts.beyond_gaps(_cards("longer-texts")), "The plan's comparisons, in nats", digits=2)


def along_the_stream() -> Picture:
    """Loss along the streams, minus that of keys that are turned anew in float32, in thousandths of a nat."""
    runs = _cards("cache-stream")
    reference, window = long_contexts.along(runs, "re-turned"), runs[0].measured["stream"]["window"]
    desc = (
        "Loss against steps of the stream, minus the loss with keys that are turned anew in float32. Thin lines are "
        f"seeds. Mean over the second half: {'; '.join(f'{way} {_later(runs, way)}' for way in STREAMED)}."
    )
    with figure(title="A stream through a short cache", desc=desc, heights=(3.2, 3.4)) as fig:
        axes = fig.subplots()
        for way, role in STREAMED.items():
            rows = [
                [1000 * (a - b) for a, b in zip(row, reference[seed], strict=True)]
                for seed, row in long_contexts.along(runs, way).items()
            ]
            at = [(k + 0.5) * window for k in range(len(rows[0]))]
            for row in rows:
                axes.plot(at, row, color=LIGHT[role], lw=0.8, alpha=0.35)
            axes.plot(at, [fmean(column) for column in zip(*rows, strict=True)], **line(role), label=way)
        axes.hlines(0, 0, at[-1], color=LIGHT["muted"], lw=1)  # not through the names at the lines' ends
        axes.set(xlabel="step of the stream", ylabel="thousandths of a nat")
        fig.name_lines(axes)
    return fig.picture


def stream_table() -> Table:
    """Loss of every way over the first window, in which the cache fills, and over both halves of the streams."""
    runs = _cards("cache-stream")
    headings = ["way", "seeds", "while it fills", "first half", "second half"]
    rows = []
    for way in long_contexts.ways(runs):
        read = long_contexts.along(runs, way)
        parts = ([r[0] for r in read.values()], [fmean(r[: len(r) // 2]) for r in read.values()])
        later = list(long_contexts.later_half(runs, way).values())
        rows.append([way, str(len(read)), *(f"{fmean(part):.4f}" for part in (*parts, later))])
    return Table(headings, rows, caption="Loss in nats per character along the streams", right=headings[1:])


def stream_verdicts() -> Table:
    """The comparisons of ``cache-stream``, each with its interval over the seeds, in thousandths of a nat."""
    gaps = long_contexts.stream_gaps(_cards("cache-stream"))
    thousandths = {name: {seed: 1000 * gap for seed, gap in row.items()} for name, row in gaps.items()}
    return _verdicts(
        thousandths, "The plan's comparisons, over the second half of each stream, in thousandths of a nat", digits=2
    )


def story_beyond_table(read: Mapping[str, Sequence[float]], *, width: int = 256) -> Table:
    """Loss of the published small model by bins of positions, a row for each schedule.

    Args:
        read: From `rope_lab.story.beyond_window`.
        width: Positions in a bin, as it was read.

    Returns:
        The table; its columns are named by the last position of their bin, counted from 1.
    """
    bins = len(next(iter(read.values())))
    headings = ["schedule", *(f"to {(k + 1) * width:,}" for k in range(bins))]
    rows = [[name, *(f"{loss:.2f}" for loss in losses)] for name, losses in read.items()]
    caption = "The published small model: nats for each token"
    return Table(headings, rows, caption=caption, right=headings[1:])


def story_stream_table(read: Mapping[str, Sequence[float]]) -> Table:
    """Loss of the published small model in a stream: while the cache fills, and later.

    Args:
        read: From `rope_lab.story.through_window`, with the way "re-turned".
    """
    headings = ["way", "while it fills", "later", "minus re-turned, thousandths"]
    reference = fmean(read["re-turned"][1:])
    rows = [
        [way, f"{row[0]:.4f}", f"{fmean(row[1:]):.4f}", f"{1000 * (fmean(row[1:]) - reference):+.2f}"]
        for way, row in read.items()
    ]
    return Table(headings, rows, caption="The published small model: nats for each token", right=headings[1:])


def _mean(part: Callable[..., long_contexts.BySeed], scheme: str = "as trained", **which: str) -> float:
    return fmean(part(_cards("longer-texts"), scheme, **which).values())


def _lost(variant: str = "RoPE", scheme: str = "as trained") -> Interval:
    """The loss beyond minus the loss inside, untuned."""
    which = (_cards("longer-texts"), scheme)
    ends = (part(*which, variant=variant) for part in (long_contexts.beyond, long_contexts.inside))
    return interval(long_contexts.minus(*ends).values())


def _decided() -> tuple[int, int]:
    """The plan's comparisons that Holm's rule keeps, and those that their own intervals decide."""
    gaps = {name: list(row.values()) for name, row in long_contexts.beyond_gaps(_cards("longer-texts")).items()}
    alone = [name for name, row in gaps.items() if interval(row).decided]
    return len(holm({name: paired_p(row) for name, row in gaps.items()})), len(alone)


def _gained() -> Interval:
    tuned = (long_contexts.beyond(_cards("longer-texts"), name, when="after") for name in ("as trained", "YaRN"))
    return interval(long_contexts.minus(*tuned).values())


MEASURED = {
    "tuned": lambda: tuple(_mean(long_contexts.beyond, when=when) for when in ROLES),
    "gained": lambda: _gained().mean,
    "gained half": lambda: _gained().half,
    "kept": _decided,
    "lost": lambda: _lost().mean,
    "lost by controls": lambda: tuple(_lost(variant).mean for variant in ("NoPE", "small base")),
    "lost untuned": lambda: tuple(_lost(scheme=name).mean for name in ("Llama 3", "YaRN")),
    "lost untuned half": lambda: tuple(_lost(scheme=name).half for name in ("Llama 3", "YaRN")),
}


def _later(runs: Sequence[Card], way: str) -> str:
    """Mean of the second half, minus that of keys turned anew in float32, in words."""
    halves = (long_contexts.later_half(runs, name) for name in (way, "re-turned"))
    return f"{1000 * fmean(long_contexts.minus(*halves).values()):+.2f} thousandths"


def _cards(name: str) -> list[Card]:
    runs = cards.load_all(name, "cpu")
    if not runs:
        raise ValueError(f"expected cards of {name}, found none; `rope-lab sweep {name} --rung cpu` makes them")
    return runs


def _window(runs: Sequence[Card]) -> int:
    return runs[0].config["seq_len"]


def _course(runs: Sequence[Card], scheme: str, variant: str = "RoPE") -> str:
    """Three numbers of a curve before the tuning and after it, in words."""
    known, parts = _window(runs) // runs[0].measured["longer texts"]["width"] - 1, []
    for when in ("before", "after"):
        rows = long_contexts.bins(runs, scheme, variant=variant, when=when).values()
        if rows:
            means = [fmean(column) for column in zip(*rows, strict=True)]
            parts.append(f"{when} tuning {means[0]:.2f}, {means[known]:.2f}, {means[-1]:.2f}")
    return ", ".join(parts)


def _panel(axes: Axes, runs: Sequence[Card], scheme: str, variant: str, *, title: str) -> None:
    at = long_contexts.middles(runs[0])
    axes.axvspan(0, _window(runs), color=LIGHT["hair"], alpha=0.5, lw=0)
    for when, role in ROLES.items():
        rows = list(long_contexts.bins(runs, scheme, variant=variant, when=when).values())
        for row in rows:
            axes.plot(at, row, color=LIGHT[role], lw=0.8, alpha=0.35)
        if rows:
            axes.plot(at, [fmean(column) for column in zip(*rows, strict=True)], **line(role), label=f"{when} tuning")
    axes.set_title(title.replace(", ", ",\n"), fontsize=11)


def _finish(fig, grid, runs: Sequence[Card]) -> None:
    length = runs[0].measured["longer texts"]["length"]
    fig.get_layout_engine().set(wspace=0.08)  # or 1024 and the 0 of the next panel read as one number
    for axes in grid.flat:
        axes.set(xlim=(0, length), xticks=[0, length // 2, length])
    for axes in grid[:, 0]:
        axes.set_ylabel("loss, nats")
    for axes in grid[-1]:
        axes.set_xlabel("position")
    handles, labels = grid.flat[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper center", ncols=2)
    fig.on_phone = lambda: grid.flat[0].set_xticks([0, length])


def _verdicts(differences: dict[str, dict[int, float]], caption: str, *, digits: int) -> Table:
    """The differences of each seed, their mean and its interval, and whether that leaves zero out."""
    headings = ["comparison", "each seed", "mean, 95 %", "verdict"]
    rows = []
    for name, gaps in differences.items():
        span = interval(gaps.values())
        half = f" ± {span.half:.{digits}f}" if span.n > 1 else ""
        word = ("above zero" if span.mean > 0 else "below zero") if span.decided else "undecided"
        word = word if any(round(gap, digits) for gap in gaps.values()) else "0 in each seed"
        each = " ".join(f"{gap:+.{digits}f}" for gap in gaps.values())
        rows.append([name, each.replace("-", "\N{MINUS SIGN}"), f"{span.mean:+.{digits}f}{half}", word])
    return Table(headings, rows, caption=caption, right=headings[1:3])
