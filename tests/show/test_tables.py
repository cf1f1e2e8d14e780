"""Tables made by a cell: what they show, how they escape, what they refuse; and one row for each card."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from rope_lab.show.tables import Table, card_table, means_table, settings_table
from rope_lab.training.results import cards

FOUND = cards.load_every()


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


def test_a_negative_number_has_a_minus_sign_and_a_name_its_hyphen():
    found = cells(Table(["gap"], [["-0.031 ± 0.004"], ["2026-01-02"], ["`crope-1`"], ["K-V"]], caption="Signs"))
    assert [row[0] for row in found] == ["−0.031 ± 0.004", "2026-01-02", "crope-1", "K-V"]


def test_points_of_a_column_stand_below_each_other():
    table = Table(["gap", "seed"], [["-0.5", "-1"], ["12.125", "0.5"], ["1,000", ""]], caption="Points", right=["gap"])
    assert [row[0] for row in cells(table)] == ["−0.5\u2007\u2007", "12.125", "1,000\u2007\u2007\u2007\u2008"]
    assert [row[1] for row in cells(table)] == ["−1", "0.5", ""]
    assert "tabular-nums" in table._repr_html_()


def test_every_card_has_its_row_and_its_own_numbers():
    table = card_table(FOUND, caption="All cards")
    rows = cells(table)
    assert len(rows) == len(FOUND) > 0
    for row, card in zip(rows, FOUND, strict=True):
        under = dict(zip(table.headings, row, strict=True))
        assert (under["variant"], under["seed"]) == (card.variant, str(card.seed))
        assert float(under["final"]) == pytest.approx(card.final["loss"], abs=5e-5)
        assert (under["date"], under["device"]) == (card.volatile["date"][:10], card.volatile["device"])
        assert under["commit"] == card.volatile["commit"][:8]
    changed = replace(FOUND[0], volatile=FOUND[0].volatile | {"commit": "0123456789+"})
    assert "01234567, changed" in cells(card_table([FOUND[0], changed], caption="Two"))[1]
    bare = replace(FOUND[0], volatile=FOUND[0].volatile | {"commit": ""})
    alone = card_table([replace(bare, config=bare.config | {"setting": "PTB"})], caption="One")
    assert cells(alone)[0][-1] == "none"
    assert alone.caption == f"One, PTB, {bare.volatile['date'][:10]}, {bare.volatile['device']}"


LEARNT = [card for card in FOUND if "schedule" in card.config]  # the small tasks have another kind of config


def test_a_mean_is_that_of_its_cards():
    own = cards.load_all("crope-table2", "cpu")
    table = means_table(own, caption="Means")
    rows = [dict(zip(table.headings, row, strict=True)) for row in cells(table)]
    assert len(rows) == len({(c.setting, c.variant) for c in own}) < len(own)
    for row in rows:
        losses = [c.loss() for c in own if (c.setting, c.variant) == (row["setting"], row["variant"])]
        assert int(row["seeds"]) == len(losses)
        assert float(row["final"]) == pytest.approx(sum(losses) / len(losses), abs=5e-5)
    for setting in {row["setting"] for row in rows}:  # best first
        finals = [float(row["final"]) for row in rows if row["setting"] == setting]
        assert finals == sorted(finals)
    assert [row["sd over seeds"] for row in rows if row["seeds"] == "1"] == []
    alone = means_table(own[:1], caption="One run")
    assert dict(zip(alone.headings, cells(alone)[0], strict=True))["sd over seeds"] == ""


def test_lengths_stand_in_the_order_of_their_numbers():
    table = means_table(cards.load_all("crope-confirm-lengths", "cpu"), caption="Means")
    settings = list(dict.fromkeys(row[0] for row in cells(table)))
    steps = [int(re.search(r"(\d+) steps", setting)[1]) for setting in settings]
    assert steps == sorted(steps)
    assert set(steps) == {250, 500, 1000, 2000}
    settings = [row[0] for row in cells(settings_table(cards.load_all("crope-confirm-lengths", "cpu"), caption="Rows"))]
    assert [int(re.search(r"(\d+) steps", setting)[1]) for setting in settings] == [250, 500, 1000, 2000]


def test_every_setting_has_a_row_with_the_rate_of_its_cards():
    table = settings_table(LEARNT, caption="Settings")
    rows = cells(table)
    settings = {card.setting: re.sub(r"(, )?rate [\d.]+$", "", card.setting) for card in LEARNT}
    assert len(rows) == len({(c.experiment, c.rung, settings[c.setting]) for c in LEARNT})
    under = {tuple(row[:2]): dict(zip(table.headings, row, strict=True)) for row in rows}
    for card in LEARNT:
        row = under[", ".join(filter(None, (card.experiment, settings[card.setting]))), card.rung]
        rates = [float(rate) for rate in re.split(" and | to ", row["rate"])]
        assert rates[0] <= card.config["lr"] <= rates[-1]
        assert card.config["lr"] in rates or " to " in row["rate"]
        assert int(row["steps"].replace(",", "")) == card.config["steps"]
        sizes = [int(size.replace(",", "")) for size in re.split(" and | to ", row["parameters"])]
        assert sizes[0] <= card.parameters["total"] <= sizes[-1]
        assert row["begin at"] == ("0 to 512" if card.config.get("starts") == 513 else "0")
    moved = replace(LEARNT[0], config=LEARNT[0].config | {"starts": 513})
    assert cells(settings_table([moved], caption="Moved", columns=("begin at",)))[0][1] == "0 to 512"
    tried = [replace(LEARNT[0], config=LEARNT[0].config | {"lr": rate}) for rate in (0.004, 0.001, 0.002, 0.001)]
    assert cells(settings_table(tried, caption="Rates", columns=("rate",)))[0][1] == "0.001 to 0.004"
    assert cells(settings_table(tried[:2], caption="Rates", columns=("rate",)))[0][1] == "0.001 and 0.004"
    few = settings_table(LEARNT[:1], caption="Two columns", columns=("rate", "seeds"))
    assert few.headings == ["experiment", "rate", "seeds"]
    with pytest.raises(ValueError, match=r"columns: expected some of .*, got 'speed'"):
        settings_table(LEARNT[:1], caption="Another", columns=("speed",))


def test_no_cards_no_rows():
    for make in (card_table, means_table, settings_table):
        assert cells(make([], caption="None yet")) == []


def test_a_long_head_widens_no_column_of_numbers():
    head = "a head of more than twenty-four letters"
    numbers, words = (Table([head], [["0.1"]], caption="C", right=right)._repr_html_() for right in ([head], []))
    assert '<th scope="col" class="right">' in numbers
    assert '<th scope="col" class="wide">' in words


def test_a_name_alone_does_not_break_and_a_sentence_with_one_does():
    html = Table(["what"], [["`crope-rates`"], ["In `crope-rates` the mean loss is lowest"]], caption="C")._repr_html_()
    assert re.findall(r'<td class="([^"]*)"', html) == ["whole", "wide"]
    assert ".whole {white-space: nowrap}" in html
