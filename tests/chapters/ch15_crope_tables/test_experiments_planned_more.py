"""The plan's exploratory lists: grids around the rates that were found, settings that differ by what they name."""

import pytest

from rope_lab.chapters.ch15_crope_tables import experiments_planned as planned
from rope_lab.chapters.ch15_crope_tables import experiments_planned_more as planned_more
from rope_lab.chapters.ch15_crope_tables.experiments_planned import RATE_SEEDS, RATES, SEEDS, VARIANTS
from rope_lab.training.experiments.catalogue import NotYetError, experiment
from tests.training.tiny import card

OWN = {name: 0.004 if name in ("RoPE", "absolute scaled") else 0.008 for name in VARIANTS}
APART = ("experiment", "setting", "seed", "lr")


def best_at(runs, best):
    """A card for each run, best where ``best`` says for its variant."""
    return [
        card(run.variant, run.seed, 3 + abs(run.lr - best[run.variant]), config={"lr": run.lr, "setting": run.setting})
        for run in runs
    ]


@pytest.fixture
def held(monkeypatch):
    scanned = [
        card(name, seed, 3 + abs(RATES.index(rate) - RATES.index(OWN[name])), config={"lr": rate})
        for name in VARIANTS
        for rate in RATES
        for seed in RATE_SEEDS
    ]
    found = {"crope-rates": scanned}
    monkeypatch.setattr(planned_more, "load_all", lambda name, _rung: found.get(name, []))
    return found


def same(run, other, *but):
    one, two = ({k: v for k, v in r.to_dict().items() if k not in (*APART, *but)} for r in (run, other))
    return one == two


@pytest.mark.parametrize(("corpus", "more"), [("ptb", (0.002, 0.016)), ("pg19", (0.001, 0.002))])
def test_another_corpus_differs_by_the_corpus_alone(held, corpus, more):
    runs = experiment(f"crope-rates-{corpus}").runs
    rates = {variant: {OWN[variant] * by for by in (0.5, 1, 2)} | set(more) for variant in VARIANTS}
    assert {(r.variant, r.lr) for r in runs} == {(v, rate) for v in VARIANTS for rate in rates[v]}
    assert len(runs) == 3 * sum(map(len, rates.values()))
    assert {r.corpus for r in runs} == {corpus}
    wikitext = {run.variant: run for run in planned.rates("cpu").runs}
    assert all(same(run, wikitext[run.variant], "corpus") for run in runs)
    held[f"crope-rates-{corpus}"] = best_at(runs, OWN)
    again = experiment(f"crope-confirm-{corpus}").runs
    assert {(r.variant, r.lr, r.seed) for r in again} == {(v, OWN[v], seed) for v in VARIANTS for seed in SEEDS}


def test_table_2_differs_from_the_old_list_by_rate_and_precision_alone(held):
    runs = experiment("crope-rates-table2").runs
    assert len(runs) == (3 * 3 * 4 + 2) * 3  # at 0.002 the two narrow models were still best
    rows = {"width 128, decay every 800": "row 2", "width 128, decay every 400": "row 3"}
    rows["width 64, decay every 400"] = "row 4"
    old = {(r.setting, r.variant): r for r in experiment("crope-table2").runs}
    for run in runs:
        assert same(run, old[rows[run.setting.rpartition(", rate")[0]], run.variant], "precision")
        assert run.precision == "float32"
    best = dict.fromkeys(VARIANTS, 0.001)
    held["crope-rates-table2"] = best_at(runs, best)
    again = experiment("crope-confirm-table2").runs
    assert len(again) == 3 * 3 * 8
    assert {r.lr for r in again} == {0.001}


def test_lengths_stretch_the_decay_and_keep_the_warm_up(held):
    runs = experiment("crope-rates-lengths").runs
    assert {(r.steps, r.decay_every, r.warmup) for r in runs} == {(n, n // 10, 50) for n in (250, 500, 1000, 2000)}
    tried = {}
    for run in runs:
        tried.setdefault((run.variant, run.steps), set()).add(run.lr)
    beside = {name: {OWN[name] / 2, OWN[name], OWN[name] * 2} for name in ("RoPE", "CRoPE QKV")}
    more = {("RoPE", 250): {0.016}, ("CRoPE QKV", 2000): {0.002}}  # best rates lay at edges
    assert tried == {(v, n): beside[v] | more.get((v, n), set()) for v in beside for n in (250, 500, 1000, 2000)}
    assert len(runs) == 3 * sum(map(len, tried.values()))
    wikitext = {run.variant: run for run in planned.rates("cpu").runs}
    assert all(same(r, wikitext[r.variant], "steps", "decay_every", "eval_every") for r in runs)
    held["crope-rates-lengths"] = best_at(runs, OWN)
    assert len(experiment("crope-confirm-lengths").runs) == 2 * 4 * 8


def test_a_best_rate_at_an_edge_asks_for_a_longer_grid(held):
    runs = experiment("crope-rates-ptb").runs
    held["crope-rates-ptb"] = best_at(runs, {**OWN, "RoPE": 0.002})
    with pytest.raises(NotYetError, match=r"found at its edge: RoPE at 0\.002"):
        experiment("crope-confirm-ptb")


def test_without_the_cards_of_the_first_list_there_is_no_grid(held):
    held["crope-rates"] = []
    with pytest.raises(NotYetError, match="its grid comes from the cards of crope-rates"):
        experiment("crope-rates-ptb")


def test_shifted_placements_are_the_old_runs_with_more_asked_of_them():
    old = {(r.variant, r.seed): r for r in experiment("placements").runs}
    runs = experiment("placements-shifted").runs
    assert len(runs) == len(old)
    assert all(same(run, old[run.variant, run.seed], "measure") for run in runs)
    assert {run.measure for run in runs} == {("shift 8", "length 128", "length 256")}


def test_the_five_absolute_placements_are_trained_where_a_shift_validates_them():
    shifted = {(r.variant, r.seed): r for r in experiment("placements-shifted").runs}
    runs = experiment("placements-anywhere").runs
    assert len(runs) == 6 * 5
    assert all(same(run, shifted[run.variant, run.seed], "measure", "starts") for run in runs)
    assert {run.starts for run in runs} == {8 * 64 + 1}
