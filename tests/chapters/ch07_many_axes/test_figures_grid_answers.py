"""The figure and the table of the grid question say what its cards say, and need cards."""

import re
from statistics import fmean

import pytest

from rope_lab.chapters.ch07_many_axes import figures_grid_answers as grid_answers
from rope_lab.show import figures
from rope_lab.training.results import cards, interval


def test_the_picture_says_the_means_in_words():
    picture, found = figures.grid_question(), cards.load_all("grid-question", "cpu")
    mean = fmean(card.measured["columns"]["8"] for card in found if card.variant == "axial")
    assert re.search(rf"axial: rows [\d.]+ and [\d.]+; columns {mean:.2f} and", picture.desc)
    assert "<svg" in picture.svg


def test_the_verdicts_are_paired_by_seed(monkeypatch):
    found = cards.load_all("grid-question", "cpu")
    shares = {
        v: {c.seed: c.measured["columns"]["8"] for c in found if c.variant == v} for v in ("axial", "interleaved")
    }
    span = interval([shares["axial"][seed] - shares["interleaved"][seed] for seed in sorted(shares["axial"])])
    rows = {row[0]: row for row in figures.grid_question_verdicts().rows}
    assert list(rows) == list(grid_answers.GAPS)
    assert rows["axial minus interleaved"][2] == f"{span.mean:+.2f} ± {span.half:.2f}"
    monkeypatch.setattr(grid_answers.cards, "load_all", lambda *_: [c for c in found if c.variant != "sections"])
    assert "interleaved minus sections" not in {row[0] for row in figures.grid_question_verdicts().rows}


@pytest.mark.parametrize("name", ["grid_question", "grid_question_verdicts"])
def test_without_cards_the_command_is_named(name, monkeypatch):
    monkeypatch.setattr(grid_answers.cards, "load_all", lambda *_: [])
    with pytest.raises(ValueError, match=r"ch07_many_axes\.task"):
        getattr(figures, name)()
