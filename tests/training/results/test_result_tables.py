"""How many runs have their cards: none, some, all, and cards that belong to no run any more."""

from dataclasses import replace

import pytest

from rope_lab.training.experiments.catalogue import experiment
from rope_lab.training.experiments.sweeps import is_done
from rope_lab.training.results import cards
from rope_lab.training.results.result_tables import experiment_cards

ASKED = experiment("placements", "colab")


@pytest.fixture
def model_card():
    return cards.load_all("placements", "cpu")[0]


def fill(root, model_card, runs):
    for run in runs:
        made = replace(
            model_card,
            experiment=run.experiment,
            rung=run.rung,
            variant=run.variant,
            seed=run.seed,
            config=run.to_dict(),
            config_hash=run.digest,
        )
        cards.write(made, root / run.experiment / run.rung)


def the_cards(root):
    return next(found for found in experiment_cards(root=root) if found.asked == ASKED)


@pytest.mark.deep
def test_none_some_all(tmp_path, model_card):
    assert the_cards(tmp_path).words == "0 of 9 runs"
    fill(tmp_path, model_card, ASKED.runs[:4])
    assert the_cards(tmp_path).words == "4 of 9 runs"
    fill(tmp_path, model_card, ASKED.runs)
    assert the_cards(tmp_path).words == "all 9 runs"
    assert the_cards(tmp_path).done == sum(is_done(run, tmp_path) for run in ASKED.runs)  # what a sweep would skip


def test_a_card_of_another_setting_is_counted_apart(tmp_path, model_card):
    fill(tmp_path, model_card, [replace(ASKED.runs[0], steps=7), ASKED.runs[1]])
    assert the_cards(tmp_path).words == "1 of 9 runs; cards of another setting: 1"


@pytest.mark.deep
def test_every_experiment_at_every_rung_says_its_command():
    for found in experiment_cards():
        assert experiment(found.asked.name, found.asked.rung).runs
        assert found.command == f"rope-lab sweep {found.asked.name} --rung {found.asked.rung}"
