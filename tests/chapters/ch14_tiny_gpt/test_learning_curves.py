"""The learning-curve explorer: its numbers are those of the cards, and few or no cards are no error."""

import json
from dataclasses import replace

import pytest

from rope_lab.chapters.ch14_tiny_gpt.learning_curves import LearningCurves, panels_of
from rope_lab.training.experiments.small_tasks import small_tasks
from rope_lab.training.results import cards, intervals

FOUND = cards.load_all("crope-table1", "cpu")


def compute(panels, **state):
    return LearningCurves.compute(LearningCurves(panels=panels, **state).state())


def moved(card, seed, by):
    """The same card under another seed, every loss moved by a number."""
    curve = {k: v if k == "step" else [x if x is None else x + by for x in v] for k, v in card.curve.items()}
    final = {**card.final, "loss": card.final["loss"] + by}
    return replace(card, seed=seed, curve=curve, final=final, best=final)


def test_at_the_end_the_difference_is_that_of_the_cards():
    rope = next(c for c in FOUND if c.variant == "RoPE")
    other = replace(rope, variant="CRoPE QKV")
    made = [moved(rope, s, x) for s, x in enumerate((0.0, 0.02, 0.05))]
    made += [moved(other, s, x) for s, x in enumerate((0.03, 0.04, 0.09))]
    made.append(moved(other, 9, 5.0))  # a seed that the reference lacks: in the mean, in no pair
    values = compute(panels_of(made))
    row = next(row for row in values["rows"] if row["variant"] == "CRoPE QKV")
    expected = intervals.paired(made, "CRoPE QKV", "RoPE")
    assert (row["n"], row["seeds"]) == (3, 4)
    assert row["difference"] == pytest.approx(expected.mean, abs=2e-5)
    assert row["half"] == pytest.approx(expected.half, abs=1e-4)
    assert values["differences"][-1] == {k: row[k] for k in ("n", "difference", "half")}


def test_the_committed_cards_are_all_there_and_light():
    widget = LearningCurves()
    committed = cards.load_every()
    elsewhere = ("crope-between", "crope-confirm-lengths", "crope-control", "crope-rates", "crope-table2-again")
    elsewhere += ("placements-confirm", "placements-rates", "placements-shifted")
    shown = [card for card in committed if "valid_loss" in card.curve and not card.experiment.startswith(elsewhere)]
    assert sum(len(panel["runs"]) for panel in widget.panels) == len(shown) > 0
    left_out = {card.experiment for card in committed} - {card.experiment for card in shown}
    assert {name for name in left_out if not name.startswith(elsewhere)} == {*small_tasks()}
    assert len(json.dumps(widget.panels)) < 300_000
    for panel in widget.panels:
        values = compute(widget.panels, panel=panel["key"])
        assert values["reference"] in panel["names"]
        assert (values["variant"] == "") == (len(panel["names"]) == 1)


def test_runs_logged_at_other_steps_stand_in_a_panel_of_their_own():
    card = FOUND[0]
    short = replace(card, seed=5, curve={k: v[-20:] for k, v in card.curve.items()})
    assert [panel["key"] for panel in panels_of([card, short])] == [
        f"crope-table1 cpu {card.setting}",
        f"crope-table1 cpu {card.setting} (2)",
    ]


def test_long_curves_are_thinned_and_keep_their_end():
    card, steps = FOUND[0], list(range(1, 1001))
    long = replace(card, curve={"step": steps, "train_loss": [float(s) for s in steps], "valid_loss": [3.0] * 1000})
    (panel,) = panels_of([long])
    assert len(panel["training_steps"]) <= 60
    assert panel["training_steps"][-1] == panel["runs"][0]["training"][-1] == 1000


def test_no_cards_no_curves():
    assert compute([])["rows"] == []
    assert compute(panels_of(FOUND[:1]))["differences"] == []
