"""What the plan (``book/plan.md``) calls exploratory, as data: other corpora, Table 2's rows, and other lengths.

Each question has two lists, as step 1 and step 2 have: one finds a rate for each variant in each setting, on seeds 0 to
2, and one compares at these rates on seeds 3 to 10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rope_lab.chapters.ch15_crope_tables.experiments import TABLE1_CPU, table2
from rope_lab.chapters.ch15_crope_tables.experiments_planned import RATE_SEEDS, RATES, SEEDS, SHARED, VARIANTS
from rope_lab.training.experiments.catalogue import GPT2, Experiment, NotYetError, make_runs
from rope_lab.training.experiments.rate_choice import UndecidedError, best_rates
from rope_lab.training.results.cards import load_all
from rope_lab.training.run.config import RunConfig

Grid = tuple[float, ...]
Setting = dict[str, Any]  # what it changes of the run, and under "model" of the model
Grids = Mapping[tuple[str, str], Grid]  # the rates that a variant tries in a setting; longer where the plan's rule asks
Made = Callable[
    [str], tuple[Mapping[str, Setting], Grids, Setting]
]  # of a list's name: settings, grids, what is shared

_LIMITS = "Exploratory: it cannot change the answers of crope-confirm."


def _rate_runs(name: str, settings: Mapping[str, Setting], grids: Grids, shared: Setting) -> tuple[RunConfig, ...]:
    return tuple(
        run
        for seed in RATE_SEEDS
        for (variant, setting), grid in grids.items()
        for rate in grid
        for run in _runs(name, seed, variant, setting, settings[setting], rate, shared)
    )


def _runs(
    name: str, seed: int, variant: str, setting: str, changes: Setting, rate: float, shared: Setting
) -> Iterable[RunConfig]:
    at = {f"{setting}, rate {rate:g}": {**changes, "lr": rate}}
    return make_runs(name, "cpu", {variant: VARIANTS[variant]}, seeds=(seed,), settings=at, model=GPT2, **shared)


def chosen(name: str, grids: Grids) -> dict[tuple[str, str], float]:
    """The best rate of each variant in each setting, by the plan's rule and the cards of a list of rates.

    Args:
        name: The experiment that tried the rates.
        grids: The rates that it tries, by variant and setting.

    Raises:
        UndecidedError: If a card is missing or a best rate lies at an edge of its grid.
    """
    cards = load_all(name, "cpu")
    best = {}
    for (variant, setting), grid in grids.items():
        here = [card for card in cards if card.setting.rpartition(", rate ")[0] == setting]
        best[variant, setting] = best_rates(here, variants=[variant], rates=grid, seeds=RATE_SEEDS)[variant]
    return best


def _confirm_runs(
    name: str, of: str, settings: Mapping[str, Setting], grids: Grids, shared: Setting
) -> tuple[RunConfig, ...]:
    try:
        rates = chosen(of, grids)
    except UndecidedError as error:
        raise NotYetError(f"experiment {name!r}: its rates come from the cards of {of}, and {error}") from None
    return tuple(
        run
        for seed in SEEDS
        for (variant, setting), rate in rates.items()
        for run in _runs(name, seed, variant, setting, settings[setting], rate, shared)
    )


def _beside(rates: Mapping[str, float], settings: Iterable[str], *, ratio: float = 2.0) -> Grids:
    """For each variant its rate and the two beside it."""
    return {(v, s): (rate / ratio, rate, rate * ratio) for s in settings for v, rate in rates.items()}


def _wikitext_rates(name: str) -> Mapping[str, float]:
    try:
        return best_rates(load_all("crope-rates", "cpu"), variants=VARIANTS, rates=RATES, seeds=RATE_SEEDS)
    except UndecidedError as error:
        raise NotYetError(f"experiment {name!r}: its grid comes from the cards of crope-rates, and {error}") from None


def _pair(key: str, about: str, setup: Made) -> dict[str, Callable[[str], Experiment | None]]:
    """The two experiments of one question, by name."""
    first, second = f"crope-rates-{key}", f"crope-confirm-{key}"

    def rates(rung: str) -> Experiment | None:
        if rung != "cpu":
            return None
        settings, grids, shared = setup(first)
        words = f"{about}: the best learning rate of each variant"
        return Experiment(first, rung, words, _LIMITS, "RoPE", _rate_runs(first, settings, grids, shared))

    def confirm(rung: str) -> Experiment | None:
        if rung != "cpu":
            return None
        settings, grids, shared = setup(second)
        words = f"{about}: the variants at their own best rates, with seeds that chose nothing"
        return Experiment(second, rung, words, _LIMITS, "RoPE", _confirm_runs(second, first, settings, grids, shared))

    return {first: rates, second: confirm}


def _corpus(corpus: str, setting: str, *, more: Grid) -> Made:
    """WikiText-2's best rates and their neighbours, and those ``more`` that the plan's rule for edges asked for."""

    def made(name: str) -> tuple[Mapping[str, Setting], Grids, Setting]:
        settings = {setting: {"corpus": corpus}}
        shared = {key: value for key, value in SHARED.items() if key not in ("corpus", "lr")}
        grids = _beside(_wikitext_rates(name), settings)
        return settings, {where: tuple(sorted({*grid, *more})) for where, grid in grids.items()}, shared

    return made


def _table2_rows(_name: str) -> tuple[Mapping[str, Setting], Grids, Setting]:
    """Table 2's three rows named in words; nothing differs from ``crope-table2`` but the rate and the precision."""
    rows: dict[str, Setting] = {
        "width 128, decay every 800": {"decay_every": 800},
        "width 128, decay every 400": {"decay_every": 400},
        "width 64, decay every 400": {"decay_every": 400, "model": {"d_model": 64}},
    }
    old = table2("cpu").runs[0].to_dict()
    kept = (*TABLE1_CPU, "corpus", "decay", "eval_batch_size")
    shared = {key: old[key] for key in kept if key not in ("lr", "decay_every")}
    grid: Grid = (0.00025, 0.0005, 0.001, 0.002)
    grids = {(v, row): grid for row in rows for v in ("RoPE", "CRoPE QKV", "absolute scaled")}
    for variant in ("RoPE", "CRoPE QKV"):
        grids[variant, "width 64, decay every 400"] += (0.004,)  # by the plan's rule for edges: 0.002 was the best
    return rows, grids, {**shared, "precision": "float32"}


def _lengths(name: str) -> tuple[Mapping[str, Setting], Grids, Setting]:
    """Four lengths of the run: the warm-up stays, the decay is stretched with the run."""
    settings = {
        f"WikiText-2, {steps} steps": {"steps": steps, "decay_every": steps // 10, "eval_every": steps // 5}
        for steps in (250, 500, 1000, 2000)
    }
    rates = {variant: rate for variant, rate in _wikitext_rates(name).items() if variant in ("RoPE", "CRoPE QKV")}
    changed = ("lr", "steps", "decay_every", "eval_every")
    shared = {key: value for key, value in SHARED.items() if key not in changed}
    grids = dict(_beside(rates, settings))
    grids["RoPE", "WikiText-2, 250 steps"] += (0.016,)  # by the plan's rule for edges: 0.008 was the best
    grids["CRoPE QKV", "WikiText-2, 2000 steps"] += (0.002,)  # and here 0.004
    return settings, grids, shared


_QUESTIONS: dict[str, tuple[str, Made]] = {
    "ptb": ("Table 1's comparison on Penn Treebank", _corpus("ptb", "PTB", more=(0.002, 0.016))),
    "pg19": ("Table 1's comparison on PG-19", _corpus("pg19", "PG-19", more=(0.001, 0.002))),
    "table2": ("Table 2's rows on PG-19", _table2_rows),
    "lengths": ("RoPE and CRoPE QKV for 250 to 2,000 steps", _lengths),
}
EXPERIMENTS = {name: made for key, question in _QUESTIONS.items() for name, made in _pair(key, *question).items()}


def own_rates(question: str) -> dict[tuple[str, str], float]:
    """The best rate of each variant in each setting of an exploratory question, by the cards of its list of rates.

    Args:
        question: "ptb", "pg19", "table2" or "lengths".

    Returns:
        The rate, by variant and setting.

    Raises:
        NotYetError: If the grid itself waits for cards of ``crope-rates``.
        UndecidedError: If a card is missing or a best rate lies at an edge of its grid.
    """
    name = f"crope-rates-{question}"
    _, grids, _ = _QUESTIONS[question][1](name)
    return chosen(name, grids)
