"""The numbers that chapter 15 says in sentences, from its result cards; the role ``measured`` prints them.

In nats per token, unless they are ratios. Each is above zero as long as its sentence names the right side.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from statistics import fmean, stdev

import numpy as np

from rope_lab.chapters.ch15_crope_tables import plan_answers, run_lengths
from rope_lab.training.results import cards
from rope_lab.training.results.equivalence import Finding, family
from rope_lab.training.results.intervals import Interval, interval, paired

_ROTATED = ("RoPE", "RoPE, size of QKV", "RoPE, size of QKVO")
_SMALL = ("WikiText-2", "PTB")  # the corpora that the paper's setting reads many times
_ABSOLUTE, _TIED = "absolute scaled", "CRoPE QKV"


def _gap(name: str, one: str, other: str = "RoPE", *, setting: str = "", rung: str = "cpu", **more) -> float:
    return paired([c for c in cards.load_all(name, rung) if setting in ("", c.setting)], one, other, **more).mean


_paper = partial(_gap, "crope-table1", rung="paper")


def _leads() -> tuple[float, ...]:
    """The leads of the tied models over RoPE by the plan: QKV, QKVO."""
    return tuple(-finding.interval.mean for finding in plan_answers.answers()[:2])


def _between(*variants: str) -> tuple[float, ...]:
    """The gains of some models at the rate between the two of the grid than at either; RoPE than at its own."""
    means = plan_answers.means_at_close_rates()
    return tuple(means[name][rate] - means[name][0.0057] for name in variants for rate in (0.004, 0.008))


def _close_steps() -> tuple[float, ...]:
    """The larger of the two rises of a model's mean loss from its best close rate to a neighbour."""
    found = [[own[rate] for rate in sorted(own)] for own in plan_answers.means_at_close_rates().values()]
    return tuple(max(own[(at := own.index(min(own))) - 1], own[at + 1]) - min(own) for own in found)


def _parabola_misses() -> tuple[float, ...]:
    """The misses of the parabolas through the close rates of QKVO and QKV: from the mean losses at the rate 0.004."""
    own = (sorted(plan_answers.means_at_close_rates()[variant].items()) for variant in ("CRoPE QKVO", _TIED))
    both = [np.array([(np.log(rate / at[0][0]), loss - at[0][1]) for rate, loss in at[1:]]) for at in own]
    return tuple(abs(float(np.polyfit(three[:, 0], three[:, 1], 2)[-1])) for three in both)


def _six() -> list[Finding]:
    """The six comparisons at close rates, as one family."""
    return plan_answers.at_best_of_close_rates((*plan_answers.ROTATED, *plan_answers.NARROWED))


def _margins() -> list[float]:
    """The smallest margins of the six comparisons at close rates, in order."""
    return sorted(plan_answers.smallest_margin(finding.interval) for finding in _six())


def _at_half() -> list[Finding]:
    """The six comparisons at close rates, as one family that is judged by half of the margin."""
    return family({finding.name: finding.differences for finding in _six()}, margin=plan_answers.MARGIN / 2)


def _ends(gap: Interval) -> tuple[float, float]:
    return gap.mean - gap.half, gap.mean + gap.half


def _zero_inside() -> tuple[int, int]:
    """In how many of all ways the interval of five seeds holds zero, for QKV beside the narrower MLP."""
    ways, _, leaves_out = plan_answers.answers()[2].left_out(3)
    return ways - leaves_out, ways


def _steps(side: int) -> float:
    """The half widths of the four intervals of the share of steps."""
    spans = [interval(shares) for shares in run_lengths.more_steps().values()]
    return max(side * span.mean + span.half for span in spans)


def _in_s(experiment: str) -> tuple[float, ...]:
    """Absolute minus RoPE as printed, in units of s: Table 1, or rows 2 to 4 of Table 2."""
    printed = cards.published(experiment)["losses"]
    rows = [printed[row] for row in printed if row != "row 1"]
    return tuple((x - y) / (s**2 + t**2) ** 0.5 for row in rows for (x, s), (y, t) in [(row["absolute"], row["RoPE"])])


def _best_steps() -> tuple[float, ...]:
    """The steps at which the paper's runs on WikiText-2 are best."""
    return tuple(float(c.best["step"]) for c in cards.load_all("crope-table1", "paper") if c.setting == "WikiText-2")


def _ended(corpus: str, model: str = "RoPE", metric: cards.Metric = "final") -> float:
    runs = cards.load_all("crope-table1", "paper")
    return fmean(c.loss(metric) for c in runs if (c.setting, c.variant) == (corpus, model))


def _not_training(corpus: str) -> float:
    """The share of time that runs of the paper's setting spent on something else than steps."""
    runs = [card for card in cards.load_all("crope-table1", "paper") if card.setting == corpus]
    return 1 - fmean(16 * 1024 * 10_000 / c.volatile["tokens_per_s"] / c.volatile["wall_s"] for c in runs)


def _above_best(rate: float) -> float:
    means = {at: fmean(of.values()) for at, of in plan_answers.tried("crope-rates")["RoPE"].items()}
    return means[rate] - min(means.values())


def _on_pg19(variant: str) -> list[float]:
    """The eight losses of a model at its own rate, in order."""
    found = plan_answers.losses_elsewhere("pg19", [(variant, "PG-19")])
    return sorted(found.values())


def _scatter() -> float:
    rate = plan_answers.own_rates()["RoPE"]
    return stdev(_on_pg19("RoPE")) / stdev(plan_answers.tried("crope-confirm")["RoPE"][rate].values())


def _old_table2(one: str, row: str, other: str, beside: str) -> float:
    """A model in a row minus a model in a row, in the old list of Table 2, on the mean."""
    runs = cards.load_all("crope-table2", "cpu")
    means = [fmean(c.loss() for c in runs if (c.variant, c.setting) == at) for at in ((one, row), (other, beside))]
    return means[0] - means[1]


def _table2_costs() -> list[float]:
    """The price of the old rate for each wide model of Table 2, beside its best rate."""
    of_rows = plan_answers.tried_in_table2()
    wide = [
        {rate: fmean(x.values()) for rate, x in of.items()}
        for row in plan_answers.TABLE2_ROWS[:2]
        for of in of_rows[row].values()
    ]
    return [means[0.002] - min(means.values()) for means in wide]


def _stand_apart() -> float:
    """The distances of seeds 4 and 5 of RoPE above the mean of the six others, at half the width."""
    at = f"{plan_answers.TABLE2_ROWS[2]}, rate 0.002"
    runs = [c for c in cards.load_all("crope-confirm-table2", "cpu") if (c.setting, c.variant) == (at, "RoPE")]
    far, near = ([c.loss() for c in runs if (c.seed in (4, 5)) is apart] for apart in (True, False))
    return fmean(far) - fmean(near)


def _laid_out() -> tuple[float, ...]:
    """The mean complex-linear share of trained queries and keys over the pairing as laid out, seed by seed."""
    found = cards.load_all("crope-afterwards", "cpu")
    own = [card.measured["halves"]["trained"]["laid out"] for card in found if card.variant == "RoPE"]
    return tuple(fmean(share for role in "qk" for share in roles[role]) for roles in own)


def _healed() -> tuple[float, ...]:
    """The share of the damage of a projection that a short fine-tune undoes, over either pairing."""
    own = [c.measured["projected"] for c in cards.load_all("crope-afterwards", "cpu") if c.variant == "RoPE"]

    def damage(name: str, end: str = "") -> float:
        return fmean(m[name + end] - m["whole" + end] for m in own)

    return tuple(1 - damage(name, ", tuned") / damage(name) for name in ("qkv, laid out", "qkv, best"))


MEASURED: dict[str, Callable[[], float | tuple[float, ...]]] = {
    "lead": _leads,
    "qkv-lead": lambda: _leads()[0],
    "between": lambda: _between("RoPE")[0],
    "chosen": lambda: _between("RoPE")[0] - _between("RoPE")[1],
    "missing-rate": lambda: _between("RoPE")[1],
    "between-grid": lambda: _between(*_ROTATED),
    "p-at-half": lambda: min(finding.p_equivalence for finding in _at_half()),
    "undecided-at-half": lambda: ([finding.outcome for finding in _at_half()].count("undecided"), len(_at_half())),
    "ptb-lead": lambda: -plan_answers.by_corpus()["Penn Treebank"][2].interval.mean,
    "least-room": lambda: plan_answers.MARGIN - _margins()[-1],
    "close-step": _close_steps,
    "parabola-misses": _parabola_misses,
    "zero-inside": _zero_inside,
    "fewer-steps": lambda: _steps(-1),
    "more-steps": lambda: _steps(1),
    "absolute-in-s": lambda: _in_s("crope-table2"),
    "table1-in-s": lambda: min(_in_s("crope-table1")),
    "absolute-ends": lambda: tuple(-_paper(_ABSOLUTE, setting=corpus) for corpus in _SMALL),
    "absolute-best": lambda: tuple(_paper(_ABSOLUTE, setting=corpus, metric="best") for corpus in _SMALL),
    "absolute-gain": lambda: tuple(_paper(_ABSOLUTE, setting=c) / _paper(_TIED, setting=c) for c in _SMALL),
    "best-steps": _best_steps,
    "wikitext-final": lambda: (_ended("WikiText-2"), _ended("WikiText-2", _ABSOLUTE)),
    "ptb-final": lambda: _ended("PTB"),
    "ptb-best": lambda: _ended("PTB", metric="best"),
    "ptb-apart": lambda: _ended("PTB") - cards.published("crope-table1")["losses"]["PTB"]["RoPE"][0],
    "ptb-validating": lambda: _not_training("PTB"),
    "pg19-validating": lambda: _not_training("PG-19"),
    "paper-minutes": lambda: sum(c.volatile["wall_s"] for c in cards.load_all("crope-table1", "paper")) / 3 / 60,
    "old-rate": lambda: _above_best(0.002),
    "rope-fails": lambda: _above_best(0.016),
    "old-rate-in-margins": lambda: _above_best(0.002) / plan_answers.MARGIN,
    "pg19-scatter": _scatter,
    "pg19-below": lambda: _on_pg19("RoPE")[1] - _on_pg19("RoPE")[0],
    "pg19-above": lambda: _on_pg19("RoPE, size of QKVO")[-1] - _on_pg19("RoPE, size of QKVO")[-2],
    "processors": lambda: max(abs(one.loss() - two.loss()) for one, two in plan_answers.on_two_processors()),
    "copies": lambda: max(abs(one.loss() - two.loss()) for one, two in plan_answers.on_two_processors("rates")),
    "table2-lead": lambda: tuple(
        -_old_table2(_TIED, row, "RoPE", row) / _gap("crope-table1", _TIED) for row in ("row 2", "row 3", "row 4")
    ),
    "half-width-lead": lambda: min(_old_table2(m, "row 3", m, "row 4") for m in plan_answers.TABLE2_MODELS),
    "table2-old-rate": lambda: min(_table2_costs()),
    "control": lambda: _ends(plan_answers.control_at_close_rates()[0].interval),
    "stand-apart": _stand_apart,
    "doubling": lambda: min(
        before - after for before, after in pairwise(fmean(x.values()) for x in run_lengths.ends("RoPE").values())
    ),
    "longer-gap": lambda: _gap("crope-longer", _TIED) / _gap("crope-table1", _TIED),
    "laid-out": _laid_out,
    "healed": _healed,
}
