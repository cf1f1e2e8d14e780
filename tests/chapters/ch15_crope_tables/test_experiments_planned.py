"""The plan's runs: sizes that are equal where the plan says so, rates that are seen in every name, seeds kept apart."""

from itertools import pairwise

import pytest

from rope_lab.chapters.ch15_crope_tables import experiments_planned as planned
from rope_lab.chapters.ch15_crope_tables.experiments_planned import RATE_SEEDS, RATES, SEEDS, VARIANTS
from rope_lab.nn.counts import count_parameters
from rope_lab.nn.gpt import GPT, GPTConfig
from rope_lab.training.experiments.catalogue import NotYetError, experiment, names, rungs
from rope_lab.training.results import cards
from tests.training.tiny import card

RUNS = experiment("crope-rates", "cpu").runs


def size(variant, **changes):
    model = next(run.model for run in RUNS if run.variant == variant)
    return count_parameters(GPT(GPTConfig(**{**model, "vocab_size": 64, "seq_len": 8, **changes})))["total"]


def test_a_narrowed_mlp_has_the_parameters_of_the_tied_model():
    for tied in ("QKV", "QKVO"):
        assert size(f"RoPE, size of {tied}") == size(f"CRoPE {tied}") < size("RoPE")
    assert size("RoPE, size of QKV", mlp_width=415) != size("CRoPE QKV")  # one hidden unit less is seen


def test_every_variant_at_every_rate_and_seed_once():
    found = {(run.variant, run.lr, run.seed) for run in RUNS}
    assert found == {(v, rate, seed) for v in VARIANTS for rate in RATES for seed in RATE_SEEDS}
    assert len(RUNS) == len(found)
    assert all(high == 2 * low for low, high in pairwise(RATES))


def test_the_setting_names_the_rate_and_no_two_runs_share_a_card():
    assert all(run.setting == f"WikiText-2, rate {run.lr}" for run in RUNS)
    some = cards.load_all("placements", "cpu")[0]
    named = {
        cards.Card(**{**vars(some), "variant": run.variant, "seed": run.seed, "config": run.to_dict()}).file_name
        for run in RUNS
    }
    assert len(named) == len(RUNS)


def test_only_rate_and_precision_differ_from_the_first_edition_s_table():
    first = {run.variant: run for run in experiment("crope-table1", "cpu").runs if run.seed == 0}
    for run in RUNS:
        if run.seed == 0 and run.variant in first:
            old = {**first[run.variant].to_dict(), "experiment": "", "setting": "", "lr": 0, "precision": "float32"}
            assert {**run.to_dict(), "experiment": "", "setting": "", "lr": 0} == old


OWN = dict(zip(VARIANTS, (0.002, 0.004, 0.002, 0.001, 0.004, 0.001), strict=True))


def scanned(own):
    """Cards of the sweep over rates whose best rates are ``own``."""
    return [
        card(variant, seed, 3 + 0.01 * seed + abs(RATES.index(rate) - RATES.index(own[variant])), config={"lr": rate})
        for variant in VARIANTS
        for rate in RATES
        for seed in RATE_SEEDS
    ]


def test_the_comparison_takes_its_rates_from_the_cards_and_its_seeds_from_nobody_s_choice(monkeypatch):
    monkeypatch.setattr(planned, "load_all", lambda *_: scanned(OWN))
    found = experiment("crope-confirm").runs
    assert {(run.variant, run.lr, run.seed) for run in found} == {
        (variant, rate, seed) for variant in VARIANTS for rate in {OWN[variant], OWN["RoPE"]} for seed in SEEDS
    }
    assert not set(SEEDS) & set(RATE_SEEDS)
    primary = found[: len(VARIANTS) * len(SEEDS)]  # these come first, all variants of a seed together
    assert all(run.lr == OWN[run.variant] for run in primary)
    for part in (primary, found[len(primary) :]):
        assert [run.seed for run in part] == sorted(run.seed for run in part)
    step1 = {(run.variant, run.lr): run for run in RUNS}
    for run in found:  # nothing but the seed and the experiment's name differs from the run that chose the rate
        like = {"experiment": "", "seed": 0}
        assert {**run.to_dict(), **like} == {**step1[run.variant, run.lr].to_dict(), **like}


def test_while_the_cards_do_not_decide_the_comparison_has_no_runs(monkeypatch):
    monkeypatch.setattr(planned, "load_all", lambda *_: scanned(OWN)[:-1])
    with pytest.raises(NotYetError, match=r"its rates come from the cards of crope-rates, and .*; 1 are missing"):
        experiment("crope-confirm")
    assert "crope-confirm" in names()
    assert rungs("crope-confirm") == []
    monkeypatch.setattr(planned, "load_all", lambda *_: scanned({**OWN, "RoPE": 0.016}))
    with pytest.raises(NotYetError, match=r"found at its edge: RoPE at 0\.016; extend the grid there"):
        experiment("crope-confirm")
