"""The claims of the sources are all there, and those that make an erratum say so."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from rope_lab.claims import LEDGER, SOURCES, load
from rope_lab.claims.errata import errata_items, erratum_of

INVENTORY = Path(__file__).with_name("source_claims.txt").read_text(encoding="utf-8").split()
NAMED = [claim.id for _, claims in errata_items() for claim in claims]


def test_every_claim_of_the_sources_is_entered():
    assert len(INVENTORY) == 193
    assert sorted(name for name, entry in load().items() if entry.source != "book") == INVENTORY


def test_items():
    items = [item for item, _ in errata_items()]
    assert [item.number for item in items] == list(range(1, 17))
    assert len({item.id for item in items}) == len({item.title for item in items}) == 16
    assert [item.id.partition("-")[0] for item in items] == sorted(
        (item.id.partition("-")[0] for item in items), key=list(SOURCES).index
    )


def test_a_claim_belongs_to_one_item_and_is_of_a_source():
    assert len(NAMED) == len(set(NAMED))
    assert set(NAMED) <= set(INVENTORY)


@pytest.mark.parametrize("name", NAMED)
def test_what_an_item_shows_is_in_the_entry(name):
    entry = load()[name]
    assert entry.correction
    assert entry.witness
    assert entry.verdict != "empirical"


LAYOUT = {"quad", "text", "mathrm", "bigl", "bigr", "textstyle"}


def signs(text):
    """The words, letters, commands and digits of a text, but for what only sets it."""
    return {sign.lstrip("\\") for sign in re.findall(r"\\[A-Za-z]+|[A-Za-z]+|\d", text)} - LAYOUT


@pytest.mark.parametrize("name", [name for name, entry in load().items() if entry.mend])
def test_what_is_struck_was_said_and_what_is_read_instead_is_the_correction(name):
    entry = load()[name]
    struck, read = re.findall(r"\[-(.+?)-\]", entry.mend), re.findall(r"\[\+(.+?)\+\]", entry.mend)
    assert signs(" ".join(struck)) <= signs(entry.statement)
    assert signs(" ".join(read)) <= signs(entry.correction)


def test_every_slip_that_was_checked_shows_its_formula():
    checked = {name for name in NAMED if load()[name].verdict == "false" and load()[name].evidence != "read"}
    assert all(load()[name].mend for name in checked)


def test_no_slip_is_forgotten():
    """A slip, or a step that fails, is an erratum. Not so a slip of the Chinese text that changes no mathematics."""
    wrong = {name for name, entry in load().items() if entry.verdict == "false" and entry.source != "book"}
    assert wrong - {"su19.zh-double-negative"} <= set(NAMED)


def test_a_claim_in_no_item():
    assert erratum_of("blog.props") is None


@pytest.mark.usefixtures("ledger")
def test_an_item_is_shown_with_its_first_claim():
    LEDGER["blog.output-sum"] = replace(LEDGER["blog.output-sum"], erratum=None)
    assert erratum_of("blog.output-sum") is None
    assert len(errata_items()) == 15
