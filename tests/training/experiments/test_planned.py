"""The plan's runs: sizes that are equal where the plan says so, rates that are seen in every name, seeds kept apart."""

from itertools import pairwise

from rope_lab.nn.counts import count_parameters
from rope_lab.nn.gpt import GPT, GPTConfig
from rope_lab.training.experiments.catalogue import experiment
from rope_lab.training.experiments.planned import RATE_SEEDS, RATES, VARIANTS
from rope_lab.training.results import cards

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
    some = cards.read(next(cards.RESULTS.rglob("*.json")))
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
