"""All cards to take away: each committed file has its row and its entry, and comes back as the same card."""

import csv
import json
from types import SimpleNamespace

import card_files
import pytest

from rope_lab.training.results.cards import Card, load_all, load_every
from rope_lab.training.results.flat_cards import COLUMNS, as_csv


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    (out / "_static").mkdir()
    card_files.write(SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=out), None)
    return out / "_static"


@pytest.mark.deep
def test_each_card_comes_back(written):
    found = [Card(**blocks) for blocks in json.loads((written / "cards.json").read_text("utf-8"))]
    committed = load_every()
    key = lambda card: (card.experiment, card.rung, card.setting, card.variant, card.seed)  # noqa: E731
    assert sorted(found, key=key) == sorted(committed, key=key)


@pytest.mark.deep
def test_the_table_has_a_row_for_each(written):
    rows = list(csv.DictReader((written / "cards.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == len(load_every())
    assert tuple(rows[0]) == COLUMNS
    one = next(
        row for row in rows if row["experiment"] == "placements" and row["variant"] == "QK" and row["seed"] == "0"
    )
    (card,) = (card for card in load_all("placements", "cpu") if card.file_name == "qk-seed0.json")
    assert float(one["final_loss"]) == card.loss()
    assert one["lr"] == str(card.config["lr"])


def test_a_field_that_a_config_lacks_is_empty():
    card = load_all("complex-rnn", "cpu")[0]
    assert next(csv.DictReader(as_csv([card]).splitlines()))["seq_len"] == ""


@pytest.mark.parametrize(("fault", "builder"), [(ValueError("a warning"), "html"), (None, "latex")])
def test_nothing_is_written_without_a_site(fault, builder, tmp_path):
    card_files.write(SimpleNamespace(builder=SimpleNamespace(format=builder), outdir=tmp_path), fault)
    assert not list(tmp_path.iterdir())
