"""Figures and tables of long contexts say what the cards say, and need cards; the islands of the base are computed."""

import re

import pytest

from rope_lab.chapters.ch19_longer_texts import figures as own
from rope_lab.chapters.ch19_longer_texts import results as long_contexts
from rope_lab.chapters.ch19_longer_texts.base_bound import WINDOWS, BaseBound, islands
from rope_lab.show import figures
from rope_lab.training.results import cards

PICTURES = ["longer_text_schedules", "longer_text_controls", "along_the_stream"]
TABLES = ["longer_texts_table", "longer_texts_verdicts", "stream_table", "stream_verdicts"]


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_says_its_numbers_in_words(name):
    picture = getattr(figures, name)()
    assert "<svg" in picture.svg
    assert "Thin lines are seeds" in picture.desc


@pytest.mark.deep
def test_the_first_and_the_last_bin_stand_in_the_description():
    found = cards.load_all("longer-texts", "cpu")
    rows = long_contexts.bins(found, "YaRN").values()
    mean = sum(row[-1] for row in rows) / len(rows)
    assert f"YaRN before tuning {sum(r[0] for r in rows) / len(rows):.2f}" in figures.longer_text_schedules().desc
    assert f"{mean:.2f}" in figures.longer_text_schedules().desc


def test_the_verdicts_are_those_of_the_intervals(monkeypatch):
    table = figures.longer_texts_verdicts()
    gaps = long_contexts.beyond_gaps(cards.load_all("longer-texts", "cpu"))
    assert [row[0] for row in table.rows] == list(gaps)
    monkeypatch.setattr(own.long_contexts, "beyond_gaps", lambda _: {"up": {0: 1.0, 1: 1.1}, "wide": {0: 1.0, 1: -1.0}})
    assert [row[-1] for row in figures.longer_texts_verdicts().rows] == ["above zero", "undecided"]


def test_every_schedule_and_every_way_has_its_row():
    found = cards.load_all("cache-stream", "cpu")
    assert [row[0] for row in figures.stream_table().rows] == long_contexts.ways(found)
    rope = [row[0] for row in figures.longer_texts_table().rows if row[0].startswith("RoPE, ")]
    schemes = long_contexts.schemes([c for c in cards.load_all("longer-texts", "cpu") if c.variant == "RoPE"])
    assert rope == [f"RoPE, {own.CALLED.get(name, name)}" for name in schemes]


def test_the_story_s_tables_name_positions_and_differences():
    table = figures.story_beyond_table({"linear": [2.0, 2.5]}, width=256)
    assert (table.headings, table.rows) == (["schedule", "to 256", "to 512"], [["linear", "2.00", "2.50"]])
    table = figures.story_stream_table({"recomputed": [3.0, 2.0, 2.002], "re-turned": [3.0, 2.0, 2.0]})
    assert [row[2:] for row in table.rows] == [["2.0010", "+1.00"], ["2.0000", "+0.00"]]


@pytest.mark.parametrize("name", PICTURES + TABLES)
def test_without_cards_the_command_is_named(name, monkeypatch):
    monkeypatch.setattr(own.cards, "load_all", lambda *_: [])
    with pytest.raises(ValueError, match=r"rope-lab sweep (longer-texts|cache-stream) --rung cpu"):
        getattr(figures, name)()


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("window", WINDOWS)
def test_the_islands_are_computed(window):
    shipped = BaseBound().islands[window]
    assert shipped == islands(int(window))
    assert len(re.findall("o+", shipped)) > 1  # so the smallest base that passes is no lower bound
