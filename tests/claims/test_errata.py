"""The list of the sources' claims, and the table of errata over it: what is entered, and what still waits."""

import pytest

from rope_lab.claims import SOURCES, load
from rope_lab.claims.errata import ERRATA, erratum_of
from rope_lab.claims.inventory import INVENTORY

NAMED = [name for item in ERRATA for name in item.claims]


def test_what_is_entered_for_a_source_is_on_the_list():
    entered = {name for name, entry in load().items() if entry.source != "book"}
    missing = sorted(INVENTORY - entered)
    print(f"{len(entered)} of {len(INVENTORY)} entered; missing: {' '.join(missing) or 'none'}")
    assert sorted(entered - INVENTORY) == []


def test_the_list():
    assert len(INVENTORY) == 193
    assert {name.partition(".")[0] for name in INVENTORY} == SOURCES.keys() - {"book"}


def test_items():
    assert len(ERRATA) == 16
    assert len({item.id for item in ERRATA}) == len({item.title for item in ERRATA}) == 16
    assert [item.source for item in ERRATA] == sorted((i.source for i in ERRATA), key=list(SOURCES).index)


def test_a_claim_belongs_to_one_item_and_is_on_the_list():
    assert len(NAMED) == len(set(NAMED))
    assert set(NAMED) <= INVENTORY


@pytest.mark.parametrize("name", [name for name in NAMED if name in load()])
def test_what_an_item_shows_is_in_the_entry(name):
    entry = load()[name]
    assert entry.correction
    assert entry.witness
    assert entry.verdict != "empirical"


def test_no_slip_is_forgotten():
    """A slip, or a step that fails, is an erratum. Not so a slip of the Chinese text that changes no mathematics."""
    wrong = {name for name, entry in load().items() if entry.verdict == "false" and entry.source != "book"}
    assert wrong - {"su19.zh-double-negative"} <= set(NAMED)


def test_a_claim_in_no_item():
    assert erratum_of("blog.props") is None
