"""The experiments of the plan (``book/plan.md``) as data: the first finds the learning rates, the second compares."""

from __future__ import annotations

from typing import Any

from rope_lab.chapters.ch15_crope_tables.experiments import SCHEMES, TABLE1_CPU
from rope_lab.training.experiments.catalogue import GPT2, Experiment, NotYetError, make_runs
from rope_lab.training.experiments.rate_choice import UndecidedError, best_rates
from rope_lab.training.results.cards import load_all
from rope_lab.training.run.config import RunConfig

RATES = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016)  # a factor of two apart; 0.016 by the plan's rule for edges
RATE_SEEDS = (0, 1, 2)  # they choose a rate; the plan's conclusions are drawn from others
SEEDS = (3, 4, 5, 6, 7, 8, 9, 10)
BETWEEN = (0.0057, 0.0113)  # halfway between 0.004, 0.008 and 0.016, as factors go


def narrower(projections: int) -> dict[str, int]:
    """The MLP that saves what CRoPE saves in that many projections: d_model / 4 hidden units for each.

    A tied projection saves d_model^2 / 2 weights, a hidden unit has 2 d_model.

    >>> narrower(4)
    {'mlp_width': 384}
    """
    width = GPT2["d_model"]
    return {"mlp_width": 4 * width - projections * width // 4}


VARIANTS: dict[str, dict[str, Any]] = {
    "RoPE": SCHEMES["RoPE"],
    "CRoPE QKV": SCHEMES["CRoPE QKV"],
    "CRoPE QKVO": SCHEMES["CRoPE QKVO"],
    "RoPE, size of QKV": {**SCHEMES["RoPE"], **narrower(3)},
    "RoPE, size of QKVO": {**SCHEMES["RoPE"], **narrower(4)},
    "absolute scaled": SCHEMES["absolute scaled"],
}


SHARED: dict[str, Any] = {**TABLE1_CPU, "corpus": "wikitext-2", "precision": "float32"}


def rates(rung: str) -> Experiment | None:
    """Every variant of the plan's comparisons at every rate, in the setting of ``crope-table1`` but in float32."""
    if rung != "cpu":
        return None
    name = "crope-rates"
    settings = dict(map(_at_rate, RATES))
    runs = make_runs(name, rung, VARIANTS, seeds=RATE_SEEDS, settings=settings, model=GPT2, **SHARED)
    about = "The best learning rate of each variant: rates a factor of two apart, from both sides of the best"
    limits = "Three seeds choose a rate. What the variants are worth at their rates is for other seeds to say."
    return Experiment(name, rung, about, limits, "RoPE", runs)


def confirm(rung: str) -> Experiment | None:
    """The variants with eight other seeds, each at its own best rate and at that of RoPE, by the cards of ``rates``."""
    if rung != "cpu":
        return None
    name = "crope-confirm"
    try:
        own = best_rates(load_all("crope-rates", rung), variants=VARIANTS, rates=RATES, seeds=RATE_SEEDS)
    except UndecidedError as error:
        raise NotYetError(f"experiment {name!r}: its rates come from the cards of crope-rates, and {error}") from None
    asked = [
        own,
        {variant: own["RoPE"] for variant in VARIANTS if own[variant] != own["RoPE"]},
    ]  # the primary runs first
    runs = [
        run
        for rate_of in asked
        for seed in SEEDS
        for variant, rate in rate_of.items()
        for run in _at_rates(name, variant, seed, rate)
    ]
    about = "The variants at their own best rates and at that of RoPE, with seeds that chose nothing"
    limits = "One small model and one corpus. The plan says which comparisons are primary and what counts as an answer."
    return Experiment(name, rung, about, limits, "RoPE", tuple(runs))


def between(rung: str) -> Experiment | None:
    """The runs that ``confirm`` lacks: rotated variants between the two best rates of the grid, and RoPE at the higher.

    With the cards of ``confirm`` each of the five then has the rates 0.004, 0.0057 and 0.008, with the same seeds. The
    tied ones are at their best at 0.008, so they have one more.
    """
    if rung != "cpu":
        return None
    name = "crope-between"
    rotated = [variant for variant in VARIANTS if variant != "absolute scaled"]
    asked = [(BETWEEN[0], variant) for variant in rotated] + [(0.008, "RoPE")]
    asked += [(BETWEEN[1], variant) for variant in rotated if variant.startswith("CRoPE")]
    runs = [run for seed in SEEDS for rate, variant in asked for run in _at_rates(name, variant, seed, rate)]
    about = "Is the grid of rates too coarse? The five rotated variants at a rate between the two best"
    limits = "Exploratory, and named after the answers of crope-confirm had been seen: it cannot change them."
    return Experiment(name, rung, about, limits, "RoPE", tuple(runs))


def control(rung: str) -> Experiment | None:
    """Half width, which should lose a little, at the close rates; and CRoPE QKVO at its best, on the same processor."""
    if rung != "cpu":
        return None
    name, asked = "crope-control", {"half width": (0.004, BETWEEN[0], 0.008, BETWEEN[1]), "CRoPE QKVO": (0.008,)}
    runs = [run for seed in SEEDS for variant, tried in asked.items() for run in _at_rates(name, variant, seed, *tried)]
    about = "The control of the close rates: heads of half the width; and CRoPE QKVO once more, on their processor"
    limits = "Exploratory. RoPE, its rival, ran on an AMD EPYC (crope-between): another kind of processor will not do."
    return Experiment(name, rung, about, limits, "half width", tuple(runs))


def _at_rates(name: str, variant: str, seed: int, *rates: float) -> tuple[RunConfig, ...]:
    """The runs of one variant and one seed, on the cpu rung."""
    of, settings = {variant: {**SCHEMES, **VARIANTS}[variant]}, dict(map(_at_rate, rates))
    return make_runs(name, "cpu", of, seeds=(seed,), settings=settings, model=GPT2, **SHARED)


def _at_rate(rate: float) -> tuple[str, dict[str, float]]:
    """A setting's name and what it changes."""
    return f"WikiText-2, rate {rate:g}", {"lr": rate}


EXPERIMENTS = {"crope-rates": rates, "crope-confirm": confirm, "crope-between": between, "crope-control": control}
