"""Chapter 15's figures of the plan: loss against the learning rate, a difference against it, and the five answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from matplotlib.transforms import blended_transform_factory

from rope_lab.chapters.ch15_crope_tables import plan_answers, run_lengths
from rope_lab.chapters.ch15_crope_tables.plan_answers import MARGIN, gaps_by_rate
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure, two_rows
from rope_lab.show.tables import Table
from rope_lab.training.experiments.rate_choice import losses_by_rate
from rope_lab.training.results.cards import Card, load_all
from rope_lab.training.results.equivalence import Finding
from rope_lab.training.results.intervals import interval, paired

__all__ = ["answer_table", "difference_by_rate", "five_answers", "four_lengths", "loss_by_rate", "rows_by_rate"]

_LOOK = {  # name: ink, line, marker
    "RoPE": ("ink", "-", "o"),
    "CRoPE QKV": ("linear", "--", "s"),
    "CRoPE QKVO": ("linear", ":", "D"),
    "RoPE, size of QKV": ("two", "--", "v"),
    "RoPE, size of QKVO": ("two", ":", "^"),
    "absolute scaled": ("conjugate", "-.", "X"),
}
_CORPORA = (("two", "D"), ("linear", "s"), ("conjugate", "o"))  # ink, marker
NBSP = "\N{NO-BREAK SPACE}"
_Losses = Mapping[str, Mapping[float, Mapping[int, float]]]  # variant, rate (or steps), seed


def loss_by_rate(found: Iterable[Card]) -> Picture:
    """Final loss against the learning rate: three models at all rates, and all but the absolute one near their best.

    Args:
        found: Cards of a sweep over rates.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    losses = losses_by_rate(found)
    near = {name: {rate: own for rate, own in of.items() if 0.002 <= rate <= 0.008} for name, of in losses.items()}
    close: _Losses = {name: near[name] for name in _LOOK if name in near and name != "absolute scaled"}
    whole: _Losses = {name: losses[name] for name in ("absolute scaled", "RoPE", "CRoPE QKV") if name in losses}
    desc = f"Curves over a logarithmic axis of rates, each with one lowest point. The lowest means: {_best(losses)}."
    with figure(title="Final loss against the learning rate", desc=desc, heights=(5.8, 6.4)) as fig:
        both = fig.subplots(2, 1)
        for axes, of in zip(both, (whole, close), strict=True):
            _curves(axes, of)
            axes.set(ylabel="final loss, nats")
        both[1].set_xlabel("learning rate")
        _legend(fig, *both)
        fig.on_phone = lambda: two_rows(both[0])
    return fig.picture


def rows_by_rate(found: Iterable[Card], *, rows: Sequence[str]) -> Picture:
    """Final loss against the learning rate, a panel for each row of a table.

    Args:
        found: Cards of a sweep over rates, in settings named "ROW, rate RATE".
        rows: The rows, in the order of their panels.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    of: dict[str, list[Card]] = {}
    for card in found:
        of.setdefault(card.setting.rpartition(", rate ")[0], []).append(card)
    panels = {row: losses_by_rate(of[row]) for row in rows}
    best = "; ".join(f"{row}: {_best(losses)}" for row, losses in panels.items())
    desc = f"For each row of the table, curves over a logarithmic axis of rates. The lowest means: {best}."
    title, high = f"Final loss against the learning rate: {'; '.join(rows)}", 1.0 + 2.3 * len(rows)
    with figure(title=title, desc=desc, heights=(high, high)) as fig:
        column = fig.subplots(len(rows), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (row, losses) in zip(column, panels.items(), strict=True):
            _curves(axes, {name: losses[name] for name in _LOOK if name in losses})
            low = min(fmean(of.values()) for rates in losses.values() for of in rates.values())
            axes.set(ylabel="final loss, nats", ylim=(low - 0.03, low + 0.37))
            bar, beside = (low - MARGIN, low), blended_transform_factory(axes.transAxes, axes.transData)
            axes.plot([0.98] * 2, bar, color=LIGHT["ink"], lw=4, solid_capstyle="butt", transform=beside)
            axes.text(0.965, fmean(bar), f"{MARGIN:g}", ha="right", va="center", transform=beside)
            axes.set_title(row, loc="left")
        axes.set_xlabel("learning rate")
        _legend(fig, *column)
    return fig.picture


def _legend(fig: Any, *panels: Any) -> None:
    """One legend, above, with the marks of all panels."""
    known = {name: mark for axes in panels for mark, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    names = [name for name in _LOOK if name in known]
    fig.legend([known[name] for name in names], names, loc="outside upper left", ncols=2)


def _best(losses: _Losses) -> str:
    """The lowest mean of each model and its rate, in words."""
    means = {name: {rate: fmean(of.values()) for rate, of in sorted(rates.items())} for name, rates in losses.items()}
    return ", ".join(f"{name} {min(of.values()):.3f} at {min(of, key=of.__getitem__):g}" for name, of in means.items())


def _curves(axes: Any, losses: _Losses) -> None:
    """A line through the means of each model, and beside it a dot for each seed: two models do not hide each other."""
    for place, (name, at) in enumerate(losses.items()):
        ink, dash, marker = _LOOK[name]
        rates = sorted(at)
        means = [fmean(at[rate].values()) for rate in rates]
        axes.plot(rates, means, dash, color=LIGHT[ink], marker=marker, ms=5, lw=1.6, label=name)
        aside = (rates[-1] / rates[0]) ** (0.012 * (place - (len(losses) - 1) / 2))
        for rate in rates:
            own = list(at[rate].values())
            axes.plot([rate * aside] * len(own), own, "o", ms=4, mew=0, color=LIGHT[ink], alpha=0.55)
    tried = sorted({rate for at in losses.values() for rate in at})
    axes.set(xscale="log")
    axes.set_xticks(tried, [f"{rate:g}" for rate in tried])
    axes.minorticks_off()


def four_lengths(ends: _Losses, more: Mapping[int, Sequence[float]]) -> Picture:
    """The final losses of two models after runs of several lengths, and how many more steps the second needs.

    Args:
        ends: Final losses in nats per token, by model, steps and seed; the first model's are joined by lines.
        more: By steps, the share of steps more for each seed: 0.1 is ten per cent.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    shares = {steps: interval(100 * share for share in own) for steps, own in more.items()}
    read = "; ".join(f"{steps:,} steps: {each.mean:+.1f} ± {each.half:.1f} %" for steps, each in shares.items())
    first, second = ends
    desc = f"Above, the final losses of {first} and {second}. Below, how many more steps {second} needs: {read}."
    with figure(title="Four lengths of the run", desc=desc, heights=(4.4, 4.4)) as fig:
        above, below = fig.subplots(2, 1, sharex=True)
        _curves(above, ends)
        above.set(ylabel="final loss, nats")
        fig.name_lines(above, gap=20)
        below.axhline(0, color=LIGHT["ink"], lw=1.2)
        for steps, each in shares.items():
            own = [100 * share for share in more[steps]]
            below.plot([steps] * len(own), own, "o", ms=4, mew=0, color=LIGHT["ink"], alpha=0.5)
            below.errorbar(steps, each.mean, each.half, fmt="_", ms=16, mew=2.5, color=LIGHT["linear"], lw=2)
        below.set(xlabel="steps of the run", ylabel="more steps, %")
        below.set_xticks(list(shares), [f"{steps:,}" for steps in shares])
    return fig.picture


def difference_by_rate(
    found: Iterable[Card], *, close: Iterable[Card], variant: str = "CRoPE QKV", reference: str = "RoPE"
) -> Picture:
    """The paired difference of two models at each common rate: a mark for each seed, and the mean.

    Args:
        found: Cards of a sweep over rates.
        close: Cards of other seeds, some of them at rates between; a rate that one of the models lacks is left out.
        variant: The variant whose loss comes first.
        reference: The variant whose loss is subtracted.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    gaps, others = (gaps_by_rate(losses_by_rate(runs), variant, reference) for runs in (found, close))
    read = "; ".join(
        f"{rate:g}: " + " ".join(f"{gap:+.3f}" for gap in own) for each in (gaps, others) for rate, own in each.items()
    )
    desc = f"{variant} minus {reference} at each rate, one number for each seed. {read}."
    with figure(title="The sign of a difference turns with the rate", desc=desc, heights=(3.2, 3.4)) as fig:
        axes = fig.subplots()
        axes.axhspan(-MARGIN, MARGIN, color=LIGHT["hair"], alpha=0.6, lw=0)
        axes.axhline(0, color=LIGHT["ink"], lw=1.2)
        axes.axhspan(-2 * MARGIN, 2 * MARGIN, fc="none", ec=LIGHT["muted"], lw=0.6)  # where the scale changes
        for each, aside, fill, wide, name in (
            (gaps, 0.94, LIGHT["ink"], 13, "three seeds"),
            (others, 1.06, "none", 8, "eight others"),
        ):
            for rate, own in each.items():
                x = rate * (aside if rate in gaps and rate in others else 1)
                axes.plot([x] * len(own), own, "o", ms=5, color=LIGHT["ink"], mfc=fill, alpha=0.5)
                axes.plot(x, fmean(own), "_", ms=wide, mew=2.5, color=LIGHT["two"])
            axes.plot([], [], "o", ms=5, color=LIGHT["ink"], mfc=fill, alpha=0.5, label=name)
        axes.set(xscale="log", xlabel="learning rate, the same for both", ylabel=f"{variant} minus {reference}, nats")
        axes.set_yscale("symlog", linthresh=2 * MARGIN)
        axes.set_yticks(ticks := [-0.5, -0.1, -0.02, 0, 0.02, 0.1], [f"{tick:+g}" if tick else "0" for tick in ticks])
        between = others.keys() - gaps.keys()
        marked = sorted({*gaps, *between})
        axes.set_xticks(marked, [f"\n{rate:g}" if rate in between else f"{rate:g}" for rate in marked])
        axes.minorticks_off()
        axes.legend(loc="lower left")
    return fig.picture


def five_answers(corpora: Mapping[str, Sequence[Finding]], *, far: float = 0.1) -> Picture:
    """Each comparison on each corpus: its seeds, its 95 and 99 % intervals, and the margin around zero.

    Args:
        corpora: Comparisons of one family, by the corpus that they were made on; the same family for each.
        far: Comparisons whose mean is farther from zero than this on a corpus are left out.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    every = [finding for own in corpora.values() for finding in own]
    distant = {finding.name for finding in every if abs(finding.interval.mean) > far}
    names = [name for name in dict.fromkeys(finding.name for finding in every) if name not in distant]
    read = "; ".join(f"{corpus}, {f.name} {f.interval}" for corpus, own in corpora.items() for f in own)
    desc = f"Differences of final losses in nats per token, mean and 95 % interval over the seeds: {read}."
    margin, step = every[0].margin, len(corpora) + 1.2
    high = 0.6 + 0.32 * step * len(names)
    with figure(title="The planned comparisons", desc=desc, heights=(high, high)) as fig:
        axes = fig.subplots()
        axes.axvspan(-margin, margin, color=LIGHT["hair"], alpha=0.6, lw=0)
        axes.axvline(0, color=LIGHT["ink"], lw=1.2)
        for place, ((ink, marker), own) in enumerate(zip(_CORPORA, corpora.values(), strict=False)):
            near = {finding.name: finding for finding in own}
            rows = [step * group + place for group in range(len(names))]
            for row, finding in zip(rows, (near[name] for name in names), strict=True):
                seeds = finding.differences
                axes.plot(seeds, [row - 0.3] * len(seeds), "o", ms=4, mew=0, color=LIGHT["ink"], alpha=0.5)
                for span, width in ((finding.wide, 1.2), (finding.interval, 3.2)):
                    axes.plot([span.mean - span.half, span.mean + span.half], [row] * 2, color=LIGHT[ink], lw=width)
            means = [near[name].interval.mean for name in names]
            axes.plot(means, rows, marker, ms=6, color=LIGHT[ink])
        for group, name in enumerate(names):
            left = blended_transform_factory(fig.transFigure, axes.transData)
            said = name.replace(" minus ", " − ")
            axes.text(0.01, step * group - 0.9, said, transform=left, va="center", in_layout=False)
        places = [step * group + place for group in range(len(names)) for place in range(len(corpora))]
        axes.set_yticks(places, [*corpora] * len(names))
        axes.tick_params(axis="y", length=0)
        axes.spines.left.set_visible(False)
        axes.set(ylim=(places[-1] + 0.6, -1.5), xlabel="difference of losses, nats")
    return fig.picture


def answer_table(findings: Sequence[Finding], *, caption: str, outcomes: bool = True) -> Table:
    """The comparisons as a table: mean, both intervals, the outcome, and whether three seeds can turn it.

    Args:
        findings: Comparisons of one family.
        caption: The table's caption.
        outcomes: Print the outcome and what leaving seeds out does; not for exploratory comparisons.

    Returns:
        A `Table`.
    """
    numbers, rows = ["mean", "95 %", "99 %"], []
    for finding in findings:
        plain, wide = finding.interval, finding.wide
        row = [finding.name, f"{plain.mean:+.4f}", f"±{NBSP}{plain.half:.4f}", f"±{NBSP}{wide.half:.4f}"]
        if outcomes:
            ways, turned, holds = finding.left_out(3)
            turns = "–" if finding.outcome == "undecided" else f"{turned}{NBSP}of{NBSP}{ways}"
            row += [f"{finding.p_difference:.4f}", finding.outcome, turns, f"{holds}{NBSP}of{NBSP}{ways}"]
        rows.append(row)
    said = ["p", "outcome", "turns", "decided by five"] if outcomes else []
    return Table(["comparison", *numbers, *said], rows, caption=caption, right=[*numbers, *said[:1], *said[2:]])


def every_list() -> Table:
    """CRoPE QKV minus its two rivals in every list of the chapter; where eight seeds judge, with the words of the page.

    Returns:
        A `Table`; without a list that lacks a card. A list whose plan promised no word has none.
    """
    corpora, close = plan_answers.by_corpus(), (*plan_answers.ROTATED, *plan_answers.NARROWED)
    lengths = list(run_lengths.compared().values())
    families = {
        ("coarse grid", "a factor of two apart"): corpora.get("WikiText-2", []),
        ("close rates", "closer; judges choose"): plan_answers.at_best_of_close_rates(close),
        ("1,000 steps", "twice as long"): lengths[2:3],
        ("2,000 steps", "four times as long"): lengths[3:],
        ("Penn Treebank", "another corpus"): corpora.get("Penn Treebank", []),
        ("PG-19", "another corpus"): corpora.get("PG-19", []),
    }
    pairs = [f"CRoPE QKV minus {rival}" for rival in ("RoPE", "RoPE, size of QKV")]
    lines = []
    for name, found in families.items():
        asked = [one for at, one in enumerate(found) if at == 0 or one.name == pairs[1]]
        said = [f"{one.interval}, {one.outcome.replace('equivalent', 'level')}" for one in asked]
        lines += [[*name, *said, *["–"] * (2 - len(said))]] if found else []
    rows = plan_answers.table2()
    for at, row in enumerate([*rows.values()][:3], 2):  # the plan promised no word
        new = "PG-19, width 64" if at == 4 else "PG-19, 4,000 steps"
        lines.append([f"small batches: row {at}", new, str(row.interval), "–"])
    first, last = (
        [name, f"{gap.n} seeds, {what}", str(gap), "–"]
        for rung, name, what in (("cpu", "one rate", "no plan"), ("paper", "the paper's setting", "10,000 steps"))
        for gap in [
            paired((c for c in load_all("crope-table1", rung) if c.setting == "WikiText-2"), "CRoPE QKV", "RoPE")
        ]
    )
    head = ["list", "what is new in it", *pairs]
    caption = "Difference of final losses in nats per token, 95 %, eight seeds where not three; words by Holm's rule"
    return Table(head, [first, *lines, last], caption=caption)
