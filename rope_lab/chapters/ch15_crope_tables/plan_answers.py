"""The comparisons of the plan (``book/plan.md``) with the cards that its runs left, and again at closer rates."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import log
from statistics import fmean

import numpy as np

from rope_lab.chapters.ch15_crope_tables import experiments_planned_more as planned_more
from rope_lab.chapters.ch15_crope_tables.experiments_planned import BETWEEN, RATE_SEEDS, RATES, SEEDS, VARIANTS
from rope_lab.training.experiments.catalogue import NotYetError
from rope_lab.training.experiments.rate_choice import Losses, UndecidedError, best_rates, losses_by_rate
from rope_lab.training.results import cards
from rope_lab.training.results.cards import Card
from rope_lab.training.results.equivalence import Finding, family
from rope_lab.training.results.intervals import Interval

MARGIN = 0.02  # nats per token: what the plan calls too small to matter
PRIMARY = (  # (variant, reference): the plan's five
    ("CRoPE QKV", "RoPE"),
    ("CRoPE QKVO", "RoPE"),
    ("CRoPE QKV", "RoPE, size of QKV"),
    ("CRoPE QKVO", "RoPE, size of QKVO"),
    ("absolute scaled", "RoPE"),
)
ROTATED = PRIMARY[:4]
NARROWED = (("RoPE, size of QKV", "RoPE"), ("RoPE, size of QKVO", "RoPE"))  # one more, exploratory
TABLE2_ROWS = ("width 128, decay every 800", "width 128, decay every 400", "width 64, decay every 400")
TABLE2_MODELS = ("RoPE", "CRoPE QKV", "absolute scaled")
_ELSEWHERE = {"Penn Treebank": ("ptb", "PTB"), "PG-19": ("pg19", "PG-19")}  # corpus: question, setting

Comparisons = Collection[tuple[str, str]]
Model = tuple[str, str]  # a variant in a setting


def verdict(difference: float | None, half: float | None, margin: float) -> str:
    """The verdict of the interval ``difference ± half`` on differences larger than ``margin``.

    >>> verdict(0.024, 0.025, 0.02), verdict(0.024, 0.025, 0.05), verdict(0.253, 0.002, 0.05)
    ('open', 'within', 'worse')
    """
    if difference is None:
        return "no shared seed"
    if half is None:
        return "one seed"
    low, high = difference - half, difference + half
    if low > margin:
        return "worse"
    if high < -margin:
        return "better"
    return "within" if -margin <= low and high <= margin else "open"


def smallest_margin(gap: Interval) -> float:
    """Return how far the farther end of an interval is from zero: no smaller margin holds the whole of it.

    >>> smallest_margin(Interval(-5, 1, 8))
    6
    """
    return abs(gap.mean) + gap.half


def own_rates() -> Mapping[str, float]:
    """Each variant's best rate, by the plan's rule and the cards of ``crope-rates``.

    Returns:
        The rate of each variant.

    Raises:
        UndecidedError: If the cards do not decide a rate; the message says what is missing.
    """
    return best_rates(cards.load_all("crope-rates", "cpu"), variants=VARIANTS, rates=RATES, seeds=RATE_SEEDS)


def tried(name: str) -> Losses:
    """The final losses of a list of rates, by variant, rate and seed.

    Args:
        name: An experiment whose variants have one setting and several rates, such as "crope-rates-ptb".

    Returns:
        Nested dictionaries: the variant, the rate, the seed; the loss in nats per token.
    """
    return losses_by_rate(cards.load_all(name, "cpu"))


def tried_in_table2() -> dict[str, Losses]:
    """The final losses of Table 2's list of rates, by row, variant, rate and seed."""
    found = cards.load_all("crope-rates-table2", "cpu")
    return {row: losses_by_rate(c for c in found if c.setting.startswith(f"{row}, rate ")) for row in TABLE2_ROWS}


def gaps_by_rate(losses: Losses, one: str = "CRoPE QKV", other: str = "RoPE") -> dict[float, list[float]]:
    """The differences of two models at each rate that both have, one for each seed that both have there."""
    a, b = losses.get(one, {}), losses.get(other, {})
    both = {rate: sorted(a[rate].keys() & b[rate].keys()) for rate in sorted(a.keys() & b.keys())}
    return {rate: [a[rate][seed] - b[rate][seed] for seed in seeds] for rate, seeds in both.items()}


def rates_elsewhere(question: str) -> dict[Model, float]:
    """The best rate of each variant in each setting of an exploratory question; empty while the cards do not decide.

    Args:
        question: "ptb", "pg19", "table2" or "lengths".

    Returns:
        The rate, by variant and setting.
    """
    try:
        return planned_more.own_rates(question)
    except (NotYetError, UndecidedError):
        return {}


def differences(
    found: Iterable[Card], comparisons: Comparisons, *, rates: Mapping[str, float], seeds: Collection[int] = SEEDS
) -> dict[str, list[float]]:
    """Final loss of a variant minus that of its reference, paired by seed, each at the rate that ``rates`` gives it.

    Args:
        found: Cards of one corpus, with rates in their configurations.
        comparisons: Pairs of a variant and its reference.
        rates: The rate of each variant.
        seeds: The seeds that are compared.

    Returns:
        For each comparison, named "VARIANT minus REFERENCE", one difference a seed, in nats per token.

    Raises:
        KeyError: If a run has no card; the message names variant, rate and seed.
    """
    losses = losses_by_rate(found)

    def loss(variant: str, seed: int) -> float:
        try:
            return losses[variant][rates[variant]][seed]
        except KeyError:
            raise KeyError(
                f"expected a card of {variant} at rate {rates[variant]:g}, seed {seed}, found none"
            ) from None

    return {f"{one} minus {other}": [loss(one, s) - loss(other, s) for s in seeds] for one, other in comparisons}


def answers(comparisons: Comparisons = PRIMARY, *, rate: float | None = None) -> list[Finding]:
    """The family of comparisons with the cards of ``crope-confirm``.

    Args:
        comparisons: Pairs of a variant and its reference.
        rate: One rate for all. Default: each variant at its own best, which is what the plan calls primary.

    Returns:
        The findings, in the order of the comparisons; empty while a card is missing.

    Raises:
        UndecidedError: If the cards of ``crope-rates`` do not decide a rate.
    """
    rates = own_rates() if rate is None else dict.fromkeys(VARIANTS, rate)
    try:
        found = differences(cards.load_all("crope-confirm", "cpu"), comparisons, rates=rates)
    except KeyError:
        return []
    return family(found, margin=MARGIN)


def close_cards() -> list[Card]:
    """The cards of the eight judging seeds at close rates; of two copies of a run, that on its rivals' processor."""
    again = [card for card in cards.load_all("crope-confirm-lengths", "cpu") if card.config["steps"] == 500]
    later = [*again, *cards.load_all("crope-between", "cpu"), *cards.load_all("crope-control", "cpu")]
    found = {(c.variant, c.config["lr"], c.seed): c for c in (*cards.load_all("crope-confirm", "cpu"), *later)}
    return [*found.values()]


def _close_losses() -> Losses:
    """The final losses of each rotated model at its close rates, in nats per token; empty while a card is missing."""
    found = losses_by_rate(close_cards())
    rotated = [variant for variant in VARIANTS if variant != "absolute scaled"]
    close = {v: (0.004, BETWEEN[0], 0.008, *(BETWEEN[1:] if v.startswith("CRoPE") else ())) for v in rotated}
    try:
        return {v: {rate: {seed: found[v][rate][seed] for seed in SEEDS} for rate in close[v]} for v in rotated}
    except KeyError:
        return {}


def means_at_close_rates(seeds: Collection[int] = SEEDS) -> dict[str, dict[float, float]]:
    """The mean final loss of each rotated variant at rates that are closer than the grid.

    Args:
        seeds: The seeds over which the mean is taken. Default: all eight.

    Returns:
        Nats per token, by variant and rate; empty while a card is missing.
    """
    return {v: {rate: fmean(at[s] for s in seeds) for rate, at in own.items()} for v, own in _close_losses().items()}


def best_of_close_rates(seeds: Collection[int] = SEEDS) -> dict[str, float]:
    """The best of the close rates over some seeds, by variant: the lowest mean loss; empty while a card is missing."""
    return {variant: min(own, key=own.__getitem__) for variant, own in means_at_close_rates(seeds).items()}


def at_best_of_close_rates(comparisons: Comparisons = ROTATED) -> list[Finding]:
    """The comparisons of rotated models, each at the best of the close rates on the very seeds that judge.

    Args:
        comparisons: Pairs of a variant and its reference.

    Returns:
        The exploratory findings, in the order of the comparisons; empty while a card is missing.
    """
    rates = best_of_close_rates()
    return family(differences(close_cards(), comparisons, rates=rates), margin=MARGIN) if rates else []


def control_at_close_rates() -> list[Finding]:
    """Half width minus RoPE, each at the best of its close rates on the eight seeds, both on one kind of processor.

    Returns:
        The one finding; empty while a card is missing, or where two kinds of processor ran or the best is an edge.
    """
    half = losses_by_rate(runs := close_cards()).get("half width", {})
    if not (rates := best_of_close_rates()) or len(half) < 4 or any(set(own) != set(SEEDS) for own in half.values()):
        return []
    at = {"half width": min(half, key=lambda rate: fmean(half[rate].values())), "RoPE": rates["RoPE"]}
    used = [card for card in runs if card.config["lr"] == at.get(card.variant)]
    if at["half width"] in (min(half), max(half)) or len({card.volatile["device"] for card in used}) > 1:
        return []
    return family(differences(used, (("half width", "RoPE"),), rates=at), margin=MARGIN)


def judged_by_the_eighth() -> list[Finding]:
    """The four comparisons, each seed judged at the rates that the seven others choose."""
    if not best_of_close_rates():
        return []
    rates = {seed: best_of_close_rates(set(SEEDS) - {seed}) for seed in SEEDS}
    folds = [differences(close_cards(), ROTATED, rates=own, seeds=(seed,)) for seed, own in rates.items()]
    return family({name: [fold[name][0] for fold in folds] for name in folds[0]}, margin=MARGIN)


def on_parabolas(comparisons: Comparisons = ROTATED) -> list[Finding]:
    """Comparisons of rotated models at the lowest points of parabolas, in the logarithm of the rate.

    Each model has one parabola through its three means around the best rate, which says where the lowest point is, and
    one through the three losses of each seed, which is read there.

    Args:
        comparisons: Pairs of a variant and its reference.

    Returns:
        The exploratory findings, in the order of the comparisons; empty while a card is missing.
    """
    lowest = {variant: _at_the_bottom(own) for variant, own in _close_losses().items()}
    pairs = {f"{one} minus {other}": (lowest[one], lowest[other]) for one, other in comparisons} if lowest else {}
    return family({name: [a[s] - b[s] for s in SEEDS] for name, (a, b) in pairs.items()}, margin=MARGIN)


def _at_the_bottom(own: Mapping[float, Mapping[int, float]]) -> dict[int, float]:
    """Each seed's parabola where the parabola of the means is lowest."""
    means = {rate: fmean(at.values()) for rate, at in sorted(own.items())}
    place = list(means).index(min(means, key=means.__getitem__))
    three = list(means)[place - 1 : place + 2]
    x = [log(rate) for rate in three]
    a, b, _ = np.polyfit(x, [means[rate] for rate in three], 2)
    return {s: float(np.polyval(np.polyfit(x, [own[rate][s] for rate in three], 2), -b / (2 * a))) for s in SEEDS}


def on_two_processors(step: str = "confirm") -> list[tuple[Card, Card]]:
    """The runs of 500 steps that a step of the plan ("rates", "confirm") and its list of lengths have, as pairs."""
    first, second = (
        {(c.variant, c.config["lr"], c.seed): c for c in cards.load_all(name, "cpu") if c.config["steps"] == 500}
        for name in (f"crope-{step}", f"crope-{step}-lengths")
    )
    return [(first[run], second[run]) for run in first.keys() & second.keys()]


def losses_elsewhere(question: str, models: Iterable[Model]) -> dict[tuple[Model, int], float]:
    """The final losses of an exploratory question, each model at its own best rate, with the seeds that chose nothing.

    Args:
        question: "ptb", "pg19", "table2" or "lengths".
        models: Pairs of a variant and a setting.

    Returns:
        Nats per token, by model and seed; empty while a rate or a card is missing.
    """
    rates = rates_elsewhere(question)
    if not rates:
        return {}
    held = {
        (card.variant, card.setting, card.seed): card.loss()
        for card in cards.load_all(f"crope-confirm-{question}", "cpu")
    }
    asked = {(m, s): (m[0], f"{m[1]}, rate {rates[m]:g}", s) for m in models for s in SEEDS}
    return {key: held[at] for key, at in asked.items()} if set(asked.values()) <= held.keys() else {}


def exploratory(question: str, comparisons: Mapping[str, tuple[Model, Model]]) -> list[Finding]:
    """A family of exploratory comparisons, each model at its own best rate, with the seeds that chose nothing.

    Args:
        question: "ptb", "pg19", "table2" or "lengths".
        comparisons: By name, the model whose loss comes first and the one whose loss is subtracted.

    Returns:
        The findings, in the order of the comparisons, paired by seed; empty while a rate or a card is missing.
    """
    loss = losses_elsewhere(question, {model for pair in comparisons.values() for model in pair})
    if not loss:
        return []
    found = {name: [loss[one, s] - loss[other, s] for s in SEEDS] for name, (one, other) in comparisons.items()}
    return family(found, margin=MARGIN)


def by_corpus(comparisons: Comparisons = PRIMARY) -> dict[str, list[Finding]]:
    """The family of comparisons on each corpus of the plan; those of Penn Treebank and PG-19 are exploratory.

    Args:
        comparisons: Pairs of a variant and its reference.

    Returns:
        The findings by corpus, each model at its own best rate there; without a corpus that lacks a card.

    Raises:
        UndecidedError: If the cards of ``crope-rates`` do not decide a rate.
    """
    findings = {"WikiText-2": answers(comparisons)}
    for corpus, (question, setting) in _ELSEWHERE.items():
        named = {f"{one} minus {other}": ((one, setting), (other, setting)) for one, other in comparisons}
        findings[corpus] = exploratory(question, named)
    return {corpus: own for corpus, own in findings.items() if own}


def table2() -> dict[str, Finding]:
    """Table 2's rows, each model at its own best rate: tied minus plain in each row, and width 64 minus width 128.

    Returns:
        The exploratory findings by name; empty while a rate or a card is missing.
    """
    _, wide, narrow = TABLE2_ROWS
    tied = {f"CRoPE QKV minus RoPE, {row}": (("CRoPE QKV", row), ("RoPE", row)) for row in TABLE2_ROWS}
    width = {f"width 64 minus 128, {model}": ((model, narrow), (model, wide)) for model in TABLE2_MODELS}
    return {finding.name: finding for finding in exploratory("table2", {**tied, **width})}
