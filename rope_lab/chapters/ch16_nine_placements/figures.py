"""Chapter 16's static figures and tables: five differences for each placement, and what each relation came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import fmean, median
from typing import Any

from matplotlib.ticker import MultipleLocator

from rope_lab.algebra import rankings
from rope_lab.chapters.ch16_nine_placements import experiments_rates as planned
from rope_lab.chapters.ch16_nine_placements import rate_answers
from rope_lab.chapters.ch16_nine_placements.claims_book import base_gap
from rope_lab.chapters.ch16_nine_placements.claims_su19 import BETWEEN, CHAIN, JUDGED
from rope_lab.show.style import LIGHT, RESERVED
from rope_lab.show.svg import Picture, figure, two_rows
from rope_lab.show.tables import Table
from rope_lab.training.results import cards, intervals
from rope_lab.training.results.cards import Card
from rope_lab.training.results.equivalence import Finding
from rope_lab.training.results.intervals import along

__all__ = [
    "against_nope",
    "base_and_plane",
    "begun_elsewhere",
    "by_rate",
    "crossing",
    "every_pair",
    "longer_windows",
    "one_cache_table",
    "primary",
    "rates_and_runs",
    "relations",
    "seeds_that_choose",
]


def against_nope() -> Picture:
    """Every placement minus NoPE: five seeds, mean and interval, and the published difference."""
    runs, printed = cards.load_all(JUDGED, "cpu"), cards.published("placements")["losses"][""]
    names = [name for name in printed if name != "NoPE" and any(c.variant == name for c in runs)]
    nope = {c.seed: c.loss() for c in runs if c.variant == "NoPE"}
    own = {name: [c.loss() - nope[c.seed] for c in runs if c.variant == name and c.seed in nope] for name in names}
    spans = {name: intervals.interval(own[name]) for name in names}
    listed = "; ".join(f"{name} {spans[name]}, published {printed[name] - printed['NoPE']:+.3f}" for name in names)
    desc = f"Loss minus the loss of NoPE, in nats per token, below zero is better. {listed}."
    with figure(title="The loss of eight placements, minus that of NoPE", desc=desc, heights=(4.0, 4.4)) as fig:
        axes = fig.subplots()
        axes.set(xlabel="loss minus the loss of NoPE", ylim=(len(names) - 0.4, -0.9))
        axes.set_yticks(range(len(names)), names)
        axes.xaxis.set_major_locator(MultipleLocator(0.1))
        axes.axvline(0, color=LIGHT["muted"], lw=1)
        for row, name in enumerate(names):
            span = spans[name]
            axes.plot(own[name], [row - 0.13] * len(own[name]), "o", ms=4, mew=0, color=LIGHT["ink"], alpha=0.5)
            axes.plot([span.mean - span.half, span.mean + span.half], [row + 0.12] * 2, color=LIGHT["two"], lw=2)
            axes.plot(span.mean, row + 0.12, "D", ms=5, color=LIGHT["two"])
            axes.plot(printed[name] - printed["NoPE"], row, "|", ms=15, mew=2, color=LIGHT["one"])
        first = spans[names[0]]
        for x, high, side, words, ink in (
            (first.mean, -0.55, "center", "each seed", "ink"),
            (first.mean + first.half + 0.01, 0.12, "left", "mean, 95 %", "two"),
            (printed[names[0]] - printed["NoPE"], -0.55, "center", "published", "one"),
        ):
            axes.text(x, high, words, ha=side, va="center", color=LIGHT[ink])
    return fig.picture


def every_pair() -> Picture:
    """The board of all pairs, in the published order: for paper, where the widget that hides it cannot be opened.

    Of a pair the one that was published as better has the column, the other the row.
    """
    runs, printed = cards.load_all(JUDGED, "cpu"), cards.published("placements")["losses"][""]
    names = sorted({c.variant for c in runs}, key=lambda name: printed[name])
    marks: dict[str, dict[str, Any]] = {
        "as published": {"marker": "o", "ms": 8, "color": LIGHT["ink"]},
        "the other way": {"marker": "x", "ms": 8, "mew": 2.5, "color": LIGHT["two"]},
        "undecided": {"marker": "o", "ms": 7, "mfc": "none", "color": LIGHT["muted"]},
    }
    words = {}
    for column, row in combinations(range(len(names)), 2):
        span = intervals.paired(runs, names[row], names[column])
        words[column, row] = "undecided" if not span.decided else "as published" if span.mean > 0 else "the other way"
    listed = "; ".join(f"{names[row]} minus {names[column]} {word}" for (column, row), word in words.items())
    with figure(title="Every pair, the row minus the column, in five seeds", desc=f"{listed}.", size=(4.2, 3.8)) as fig:
        axes = fig.subplots()
        axes.set(xlim=(-0.5, len(names) - 1.5), ylim=(len(names) - 0.5, 0.5), aspect="equal")
        axes.set_xticks(range(len(names) - 1), names[:-1], rotation=45)
        axes.set_yticks(range(1, len(names)), names[1:])
        for (column, row), word in words.items():
            axes.plot(column, row, ls="none", **marks[word])
        for word, mark in marks.items():
            axes.plot([], [], ls="none", label=word, **mark)
        axes.legend(loc="upper right")
    return fig.picture


def begun_elsewhere() -> Picture:
    """Each placement's loss where windows begin at 0, where they begin anywhere, and after training anywhere.

    Rows stand in the order of the first; small dots are seeds, marks are means.
    """
    runs = cards.load_all(JUDGED, "cpu")
    trained = cards.load_all("placements-anywhere", "cpu")
    at_0 = {name: [c.loss() for c in runs if c.variant == name] for name in {c.variant for c in runs}}
    shifted = {name: [c.measured["shift 8"]["loss"] for c in runs if c.variant == name] for name in at_0}
    anywhere = {name: [c.measured["shift 8"]["loss"] for c in trained if c.variant == name] for name in at_0}
    names = sorted(at_0, key=lambda name: fmean(at_0[name]))
    listed = "; ".join(
        f"{name} {fmean(at_0[name]):.3f}, {fmean(shifted[name]):.3f}"
        + (f", trained anywhere {fmean(anywhere[name]):.3f}" if anywhere[name] else "")
        for name in names
    )
    desc = f"Mean loss in windows that begin at 0, and in windows that begin anywhere, in nats per token. {listed}."
    marks = (
        (at_0, "trained and read from 0", "o", LIGHT["ink"], 0.0),
        (shifted, "trained from 0, read anywhere", "D", LIGHT["two"], 0.0),
        (anywhere, "trained and read anywhere", "s", LIGHT["linear"], 0.28),
    )
    with figure(title="Losses in windows that begin at 0, or anywhere", desc=desc, heights=(4.2, 4.8)) as fig:
        axes = fig.subplots()
        axes.set(xlabel="loss, nats per token", ylim=(len(names) - 0.3, -0.7))
        axes.set_yticks(range(len(names)), names)
        axes.xaxis.set_major_locator(MultipleLocator(0.2))
        axes.axvline(nothing := fmean(at_0["NoPE"]), color=LIGHT["muted"], lw=1, ls="--")
        axes.text(nothing + 0.015, -0.45, "nothing rotated", color=LIGHT["muted"], va="center")
        for row, name in enumerate(names):
            axes.plot([fmean(at_0[name]), fmean(shifted[name])], [row, row], color=LIGHT["muted"], lw=1)
            for losses, _, mark, colour, low in marks:
                axes.plot(losses[name], [row + low] * len(losses[name]), "o", ms=4, mew=0, color=colour, alpha=0.5)
                if losses[name]:
                    axes.plot(fmean(losses[name]), row + low, mark, ms=6, color=colour)
        for losses, label, mark, colour, _ in marks:
            if any(losses.values()):
                axes.plot([], [], mark, ms=6, color=colour, label=label)
        fig.legend(loc="outside upper left", ncols=3)

        def one_column() -> None:
            fig.legends[0].remove()
            fig.legend(loc="outside upper left")

        fig.on_phone = one_column
    return fig.picture


def by_rate() -> Picture:
    """Loss against the rate where windows begin anywhere; the chosen rate of each placement has a large mark."""
    losses, chosen = rate_answers.losses_of_rates(), planned.own_rates()
    means = {name: {rate: fmean(of.values()) for rate, of in sorted(at.items())} for name, at in losses.items()}
    listed = "; ".join(f"{name} {at[chosen[name]]:.3f} at {chosen[name]:g}" for name, at in means.items())
    desc = f"Loss over a logarithmic axis of rates. The lowest means: {listed}."
    rates = sorted({rate for at in means.values() for rate in at})
    runs = f"three seeds that choose, {cards.load_all('placements-rates', 'cpu')[0].config['steps']:,} steps"
    with figure(title=f"Loss in windows from anywhere at several rates: {runs}", desc=desc, heights=(5.0, 5.6)) as fig:
        axes = fig.subplots()
        axes.set(xscale="log", xlabel="learning rate", ylabel="loss, nats", xlim=(rates[0] / 1.08, rates[-1] * 1.08))
        axes.margins(y=0.12)  # or the names of the upper lines stand above the frame
        for name, at in means.items():
            ink = LIGHT[{"NoPE": "muted", "QKV": "ink", **dict(zip("QKVO", RESERVED, strict=True))}.get(name, "two")]
            axes.plot(list(at), list(at.values()), color=ink, lw=1.4, label=name)
            for rate, of in losses[name].items():
                axes.plot([rate] * len(of), list(of.values()), "o", ms=4, mew=0, color=ink, alpha=0.6)
            axes.plot(chosen[name], at[chosen[name]], "o", ms=7, color=ink)
        fig.name_lines(axes)
        axes.set_xticks(rates, [f"{rate:g}" for rate in rates])
        axes.minorticks_off()
        fig.on_phone = lambda: two_rows(axes)
    return fig.picture


def rates_and_runs() -> Table:
    """The chosen rate of each placement, the rates that two of the three seeds choose, and its runs that judge."""
    missing = Counter(run.variant for run in rate_answers.missing("placements-confirm"))
    rows = []
    for name, rate in planned.own_rates().items():
        pairs = ", ".join(f"{of[name]:g}" for of in rate_answers.rates_of_pairs().values())
        rows.append([name, f"{rate:g}", pairs, f"{len(planned.SEEDS) - missing[name]} of {len(planned.SEEDS)}"])
    headings = ["placement", "rate", "by seeds 0 and 1, 0 and 2, 1 and 2", "judging runs made"]
    caption = "The rate with the lowest mean over three seeds, and over each two; runs made of the seeds that judge"
    return Table(headings, rows, caption=caption, right=["rate"])


def primary() -> Table:
    """The second plan's eleven primary comparisons: each is open while a card is missing, and then has its outcome."""
    asked = [f"{one} minus {other}" for pairs in rate_answers.FAMILIES for one, other in pairs]
    if not (found := rate_answers.answers()):
        rows = [[*row, "open"] for row in zip(asked, rate_answers.PRINTED, strict=True)]
        return Table(["comparison", "as in the article", "outcome"], rows, caption="The plan's primary comparisons")
    rows = []
    for said, five, eight in zip(rate_answers.PRINTED, found, rate_answers.with_rates_of_others(), strict=True):
        turn, far = rate_answers.turned(five, eight), " by more than the margin" * five.beyond_margin
        word = "it turns" if turn else five.outcome + far * (five.outcome in ("better", "worse"))
        each = ", ".join(f"{gap:+.3f}" for gap in five.differences)
        rows.append([five.name, each, str(five.interval), str(five.wide), said, word, f"{turn} of 6", eight.outcome])
    headings = ["comparison", "five seeds", "95 %", "99 %", "as in the article", "outcome", "turned", "with eight"]
    caption = "Primary comparisons, in nats, below zero the first is better; margin 0.02. Turned: of six means, five "
    caption += "without a judging seed, one of eight seeds; in those, a seed that chose is at rates of the two others"
    return Table(headings, rows, caption=caption, right=["95 %", "99 %"])


def seeds_that_choose() -> Table:
    """The second plan's comparisons in the seeds that choose: at one rate for all, and at rates of the two others."""
    pairs = zip(rate_answers.at_one_rate(), rate_answers.of_choosing_seeds(), strict=True)
    rows = [[a.name, str(a.interval), str(b.interval)] for a, b in pairs]
    headings = ["comparison", "0.004 for all, 95 %", "rates that the two other seeds choose, 95 %"]
    caption = "The same in three seeds that choose, in nats, below zero the first is better. Exploratory: no verdicts"
    return Table(headings, rows, caption=caption, right=headings[1:])


def longer_windows() -> Table:
    """Each placement in windows two and four times as long as those of training: at known places, and beyond them."""
    runs = cards.load_all(JUDGED, "cpu")
    lengths = (128, 256)

    def mean(name: str, length: int, part: str) -> float:
        return fmean(c.measured[f"length {length}"][part] for c in runs if c.variant == name)

    names = sorted({c.variant for c in runs}, key=lambda name: mean(name, lengths[0], "beyond"))
    parts = ((lengths[0], "inside"), *((length, "beyond") for length in lengths))
    rows = [[name, *(f"{mean(name, *part):.3f}" for part in parts)] for name in names]
    headings = ["rotated", "tokens 1 to 64", *(f"tokens 65 to {length}" for length in lengths)]
    caption = "Loss at the tokens of longer windows, mean of five seeds"
    return Table(headings, rows, caption=caption, right=headings[1:])


def base_and_plane(*, window: int = 64, head_dim: int = 16) -> Picture:
    """The turns of each plane of a head within the window, for two bases.

    Args:
        window: Positions that a model sees.
        head_dim: Width of the head, even.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    planes = list(range(head_dim // 2))
    turned = {base: [window * base ** (-2 * i / head_dim) / 6.283185307179586 for i in planes] for base in (1e2, 1e4)}
    counted = " ".join(
        f"With base {base:,.0f}, {sum(t > 0.5 for t in row)} of {len(planes)} turn by more than half a turn."
        for base, row in turned.items()
    )
    desc = f"Turns of each plane within {window} positions, on a logarithmic axis. {counted}"
    with figure(title="How far the planes turn in a short window", desc=desc, size=(4.7, 3.0)) as fig:
        axes = fig.subplots()
        axes.set(yscale="log", xlabel="plane", ylabel=f"turns in {window} positions")
        axes.axhline(0.5, color=LIGHT["muted"], lw=1)
        axes.text(planes[-1] + 0.2, 0.55, "half a turn", ha="right", va="bottom", color=LIGHT["muted"])
        for base, role, mark in ((1e2, "one", "o-"), (1e4, "two", "s--")):
            axes.plot(planes, turned[base], mark, color=LIGHT[role], ms=5, label=f"base {base:,.0f}")
        axes.set_yticks([10, 1, 0.1, 0.01], ["10", "1", "0.1", "0.01"])
        axes.minorticks_off()
        axes.legend(loc="lower left")
    return fig.picture


def relations() -> Table:
    """Each relation of the article's chain, the two gaps, what the runs say, and what Holm's rule keeps of all 36.

    Where the article says "about equal", a decided gap is "told apart".
    """
    runs, printed = cards.load_all(JUDGED, "cpu"), cards.published("placements")["losses"][""]
    loss = {name: {card.seed: card.loss() for card in runs if card.variant == name} for name in printed}
    pairs = {frozenset(two): [loss[two[0]][s] - loss[two[1]][s] for s in loss[two[0]]] for two in combinations(loss, 2)}
    kept = rankings.holm({pair: rankings.paired_p(gaps) for pair, gaps in pairs.items()})
    rows = []
    for one, other, *about in dict.fromkeys((*CHAIN, *BETWEEN)):
        there, sign = printed[other] - printed[one], "about equal to" if about else "better than"
        gap = intervals.paired(runs, other, one)
        decided = "told apart" if about else "as said" if gap.mean * there > 0 else "the other way"
        word = decided if gap.decided else "undecided"
        still = "–" if not gap.decided else "kept" if frozenset((one, other)) in kept else "not kept"
        rows.append([f"{one} {sign} {other}", f"{there:+.3f}", str(gap), word, still])
    headings = ["the article says", "its gap", "our gap, 95 %", "verdict", "of 36, by Holm"]
    caption = "The article's relations: its gaps in its unit, ours in nats. Above zero the second loses, by so much. "
    caption += "Each verdict is for its relation alone; the last column counts all 36 pairs, by Holm's rule (below)"
    return Table(headings, rows, caption=caption, right=headings[1:3])


def crossing(one: str, other: str) -> Picture:
    """The paired difference of two placements at every validation, with its interval over the seeds.

    Args:
        one: The placement whose loss comes first.
        other: The placement whose loss is subtracted.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    gaps = along(cards.load_all(JUDGED, "cpu"), one, other)
    spans = gaps.at_each_step
    read = "; ".join(f"step {step} {span}" for step, span in zip(gaps.steps, spans, strict=True))
    desc = f"{one} minus {other}, mean and 95 % interval over {spans[0].n} seeds: {read}."
    with figure(title="A lead that shrinks during training", desc=desc, heights=(2.5, 2.5)) as fig:
        axes = fig.subplots()
        axes.axhline(0, color=LIGHT["muted"], lw=1)
        means, halves = [span.mean for span in spans], [span.half for span in spans]
        axes.errorbar(gaps.steps, means, yerr=halves, fmt="o-", color=LIGHT["two"], capsize=4, lw=2, ms=5)
        axes.set(xlabel="step", ylabel=f"{one} minus {other}, nats")
        axes.set_xticks(gaps.steps)
    return fig.picture


def one_cache_table(found: Sequence[Card]) -> Table:
    """Loss, parameters and cached numbers of the four ways to keep a cache; the reference is the spliced latent.

    Args:
        found: Result cards of one experiment.

    Returns:
        A `Table` with one row for each variant. Losses are means over the seeds, in nats per token.
    """
    rows, reference = [], "spliced latent"
    for name in dict.fromkeys(card.variant for card in found):
        own = [card for card in found if card.variant == name]
        both = {c.seed for c in own} & {c.seed for c in found if c.variant == reference}
        gap = "reference" if name == reference else str(intervals.paired(found, name, reference)) if both else "no pair"
        total, loss = own[0].parameters["total"], fmean(card.loss() for card in own)
        rows.append([name, str(_cached(own[0])), f"{total:,}", str(len(own)), f"{loss:.3f}", gap])
    headings = ["variant", "cached numbers", "parameters", "seeds", "loss", f"minus {reference}"]
    return Table(headings, rows, caption="Four ways to keep a cache, and their mean loss in nats", right=headings[1:])


def _older() -> float:
    """The largest difference of a run's loss in the two lists."""
    loss = {(card.variant, card.seed): card.loss() for card in cards.load_all(JUDGED, "cpu")}
    return max(abs(loss[card.variant, card.seed] - card.loss()) for card in cards.load_all("placements", "cpu"))


def _shifted() -> float:
    """The least that a run of the five absolute placements loses where windows begin elsewhere."""
    runs = [card for card in cards.load_all(JUDGED, "cpu") if card.variant in ("Q", "K", "V", "O", "QKV")]
    return min(card.measured["shift 8"]["loss"] - card.loss() for card in runs)


def _same_places() -> int:
    """Count the places of the order that one placement holds in all seeds."""
    runs = sorted(cards.load_all(JUDGED, "cpu"), key=Card.loss)
    orders = [[c.variant for c in runs if c.seed == seed] for seed in {c.seed for c in runs}]
    return sum(len(set(place)) == 1 for place in zip(*orders, strict=True))


def _hangs() -> int:
    """Count the seeds without which the interval of QKVO minus QK holds zero."""
    runs = cards.load_all(JUDGED, "cpu")
    left = ([card for card in runs if card.seed != seed] for seed in {card.seed for card in runs})
    return sum(not intervals.paired(four, "QKVO", "QK").decided for four in left)


def _lead_shrinks() -> tuple[float, float]:
    """The ends of the interval of what V minus NoPE gains within a seed from the first validation to the last."""
    gaps = along(cards.load_all(JUDGED, "cpu"), "V", "NoPE").by_seed.values()
    change = intervals.interval(own[-1] - own[0] for own in gaps)
    return change.mean - change.half, change.mean + change.half


def _gain() -> float:
    """The largest mean gain from 0.004 to a placement's own rate, in the seeds that chose it."""
    losses, chosen = rate_answers.losses_of_rates(), planned.own_rates()
    return max(fmean(at[0.004].values()) - fmean(at[chosen[name]].values()) for name, at in losses.items())


def _kept(found: list[Finding]) -> tuple[int, int]:
    """Count the comparisons that Holm's rule over the plan's families keeps, and all."""
    return sum(f.outcome in ("better", "worse") for f in found), len(found)


def _plan_runs() -> tuple[int, int]:
    """Count the runs of the second plan that are made, and all that it asks for."""
    made = sum(len(cards.load_all(name, "cpu")) for name in planned.EXPERIMENTS)
    return made, made + _still_to_run()


def _still_to_run() -> int:
    """Count the runs that the second plan asks for and has not; at none the page's sentence on them is refused."""
    return sum(len(rate_answers.missing(name)) for name in planned.EXPERIMENTS)


def _minutes_to_run() -> float:
    """The minutes of the runs that the second plan has not, by the median of its cards."""
    return _still_to_run() * median(c.volatile["wall_s"] for c in cards.load_all("placements-rates", "cpu")) / 60


def _chance() -> float:
    """The chance that a random order comes as near to the article's as ours does."""
    runs, printed = cards.load_all(JUDGED, "cpu"), cards.published("placements")["losses"][""]
    return float(rankings.kendall_p({n: fmean(c.loss() for c in runs if c.variant == n) for n in printed}, printed))


def _reach(name: str, one: str, other: str, *, loss: Callable[[Card], float] = Card.loss) -> float:
    """The upper end of the 95 % interval of a paired difference."""
    of = {(card.variant, card.seed): loss(card) for card in cards.load_all(name, "cpu")}
    both = sorted(seed for variant, seed in of if variant == one and (other, seed) in of)
    gap = intervals.interval(of[one, seed] - of[other, seed] for seed in both)
    return gap.mean + gap.half


MEASURED = {
    "chance": _chance,
    "older-list": _older,
    "shifted": _shifted,
    "same-places": _same_places,
    "hangs": _hangs,
    "harm-left": lambda: tuple(_reach(JUDGED, name, "NoPE") for name in "VO"),
    "cache-room": lambda: _reach("one-cache", "shared latent", "spliced latent"),
    "v-above-o": lambda: (-_reach(JUDGED, "O", "V"), _reach(JUDGED, "V", "O")),
    "qkv-and-v": lambda: _reach("placements-anywhere", "V", "QKV", loss=lambda c: c.measured["shift 8"]["loss"]),
    "plan-runs": _plan_runs,
    "rates-gain": _gain,
    "kept-at-one-rate": lambda: _kept(rate_answers.at_one_rate()),
    "kept-at-others": lambda: _kept(rate_answers.of_choosing_seeds()),
    "still-to-run": _still_to_run,
    "open-minutes": _minutes_to_run,
    "base-room": lambda: max(abs(gap.mean) + gap.half for gap in map(base_gap, ("QK", "VO")) if gap),
    "lead-shrinks": _lead_shrinks,
}


def _cached(card: Card) -> int:
    """Numbers that one layer keeps for one token."""
    model = card.config["model"]
    if latent := model.get("d_latent"):
        return latent + model.get("d_rope", 0)
    heads = model["n_heads"]
    return 2 * model.get("n_kv_heads", heads) * (model["d_model"] // heads)
