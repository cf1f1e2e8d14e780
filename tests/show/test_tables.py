"""Tables made by a cell: what they show, how they escape, what they refuse; and one row for each card."""

from xml.etree import ElementTree as ET

import pytest

from rope_lab.show.tables import Table, card_table
from rope_lab.training.results import cards

FOLDERS = sorted(cards.RESULTS.glob("*/*"))
FOUND = [card for folder in FOLDERS for card in cards.load_all(folder.parent.name, folder.name)]


def cells(table: Table) -> list[list[str]]:
    body = ET.fromstring(f"<div>{table._repr_html_()}</div>").find(".//tbody")
    return [["".join(cell.itertext()) for cell in row] for row in body]


def test_cells_come_back_escaped_and_code_is_code():
    table = Table(["a", "b"], [["x < y & z", "`rope-lab`"]], caption='The "caption" of `a`', right=["b"])
    assert cells(table) == [["x < y & z", "rope-lab"]]
    assert "<code>rope-lab</code>" in table._repr_html_()
    assert "`" not in repr(table)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"caption": " "}, "a caption in words"),
        ({"rows": [["1"]]}, "2 cells in each row, got 1"),
        ({"right": ["c"]}, "some of a, b, got 'c'"),
    ],
)
def test_what_a_table_refuses(changes, says):
    with pytest.raises(ValueError, match=says):
        Table(**{"headings": ["a", "b"], "rows": [["1", "2"]], "caption": "Numbers", **changes})


def test_every_card_has_its_row_and_its_own_numbers():
    table = card_table(FOUND, caption="All cards")
    rows = cells(table)
    assert len(rows) == len(FOUND) > 0
    for row, card in zip(rows, FOUND, strict=True):
        under = dict(zip(table.headings, row, strict=True))
        assert (under["variant"], under["seed"]) == (card.variant, str(card.seed))
        assert float(under["final"]) == pytest.approx(card.final["loss"], abs=5e-5)
        assert int(under["parameters"].replace(",", "")) == card.parameters["total"]
        made = (under["commit"], under["date"], under["device"])
        assert made == (card.volatile["commit"][:8], card.volatile["date"][:10], card.volatile["device"])


def test_no_cards_no_rows():
    assert cells(card_table([], caption="None yet")) == []
