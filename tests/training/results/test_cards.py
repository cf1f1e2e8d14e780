"""A card that breaks the schema is refused and its field named; a committed one is the run it says."""

import dataclasses
import hashlib
import json
import math
from pathlib import Path

import pytest

from rope_lab.training.results import cards
from rope_lab.training.results.cards import CardError
from rope_lab.training.run.config import FIELDS, RunConfig
from tests.training.tiny import card


def test_a_card_comes_back_as_it_was_written(tmp_path):
    path = cards.write(card(), tmp_path)
    assert cards.read(path) == card()
    assert [p.name for p in tmp_path.iterdir()] == ["rope-seed0.json"]
    assert path.stat().st_size < 20_000


DAMAGE = [
    ("schema", 2),
    ("seed", -1),
    ("seed", True),
    ("variant", ""),
    ("final.loss", math.nan),
    ("final.loss", "3.5"),
    ("best.step", 1.5),
    ("curve", {"step": [1, 2], "train_loss": [1.0]}),
    ("curve", {"step": "ab"}),
    ("data.hashes", []),
    ("parameters", {"total": 3.5}),
    ("volatile.tokens_per_s", math.inf),
    ("volatile", None),
]


@pytest.mark.parametrize(("field", "value"), DAMAGE, ids=[f"{field}={value!r}"[:40] for field, value in DAMAGE])
def test_a_damaged_field_is_named(tmp_path, field, value):
    blocks = dataclasses.asdict(card())
    *above, last = field.split(".")
    block = blocks
    for key in above:
        block = block[key]
    block[last] = value
    (tmp_path / "bad.json").write_text(json.dumps(blocks))
    with pytest.raises(CardError, match=rf"bad\.json: field '{field}': expected .* got"):
        cards.read(tmp_path / "bad.json")


REQUIRED = [name for name, _, _ in cards._values(dataclasses.asdict(card())) if name not in cards.OPTIONAL]


@pytest.mark.parametrize("field", REQUIRED)
def test_a_missing_field_is_named(tmp_path, field):
    blocks = dataclasses.asdict(card())
    block, *below = field.split(".")
    (blocks[block] if below else blocks).pop(below[0] if below else block)
    (tmp_path / "bad.json").write_text(json.dumps(blocks))
    got = "None" if field == "schema" else "nothing"
    with pytest.raises(CardError, match=rf"field '{field}': expected .*, got {got}"):
        cards.read(tmp_path / "bad.json")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 1'])
def test_what_is_no_card_is_named(tmp_path, text):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(CardError, match=r"bad\.json: expected"):
        cards.read(tmp_path / "bad.json")


def test_bytes_that_are_no_text_are_no_card(tmp_path):
    (tmp_path / "bad.json").write_bytes(b"\xff\xfe")
    with pytest.raises(CardError, match=r"bad\.json: expected JSON"):
        cards.read(tmp_path / "bad.json")


def test_a_field_of_a_newer_version_is_refused(tmp_path):
    (tmp_path / "new.json").write_text(json.dumps({**dataclasses.asdict(card()), "mood": "good"}))
    with pytest.raises(CardError, match="field 'mood' is not in schema"):
        cards.read(tmp_path / "new.json")


def test_a_failed_write_leaves_the_old_card(tmp_path, monkeypatch):
    cards.write(card(loss=1.0), tmp_path)
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        cards.write(card(loss=2.0), tmp_path)
    assert [cards.read(path).loss() for path in tmp_path.iterdir()] == [1.0]


def test_all_cards_of_an_experiment_come_in_order(tmp_path):
    for seed in (1, 0):
        for variant in ("b", "a"):
            cards.write(card(variant, seed), tmp_path / "demo" / "cpu")
    assert [(c.seed, c.variant) for c in cards.load_all("demo", "cpu", root=tmp_path)] == [
        (0, "a"),
        (0, "b"),
        (1, "a"),
        (1, "b"),
    ]
    assert cards.load_all("other", "cpu", root=tmp_path) == []


def test_a_card_in_another_experiments_folder_is_refused(tmp_path):
    cards.write(card("a", 0), tmp_path / "placements" / "cpu")
    with pytest.raises(cards.CardError, match="expected a card of placements at the rung cpu, got one of demo at cpu"):
        cards.load_all("placements", "cpu", root=tmp_path)


def test_every_committed_card_follows_the_schema():
    for path in cards.RESULTS.rglob("*.json"):
        found = cards.read(path)
        assert path == cards.RESULTS / found.experiment / found.rung / found.file_name
        assert path.stat().st_size < 20_000


def config_hash(config):
    """What names a run: RunConfig's digest, or for a small task the hash of its config's JSON."""
    if set(config) <= set(FIELDS):
        return RunConfig.from_json(config).digest
    return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()[:16]


COMMITTED = {path.relative_to(cards.RESULTS).as_posix(): path for path in sorted(cards.RESULTS.rglob("*.json"))}


@pytest.mark.parametrize("experiment", sorted({name.partition("/")[0] for name in COMMITTED}))
def test_every_committed_card_is_named_by_its_config(experiment):
    """So no change of a field, of a default or of the digest has renamed a run: a sweep still finds each card."""
    for name, path in COMMITTED.items():
        if name.startswith(f"{experiment}/"):
            found = cards.read(path)
            assert config_hash(found.config) == found.config_hash, name


@pytest.mark.parametrize("experiment", ["crope-table1", "complex-rnn"])
def test_control_another_config_has_another_name(experiment):
    found = cards.load_all(experiment, "cpu")[0]
    assert config_hash({**found.config, "steps": 7}) != found.config_hash


def test_published_numbers_come_by_setting_and_variant():
    printed = cards.published("crope-table1")
    assert printed["losses"]["PTB"]["RoPE"][0] == 4.0212
    assert cards.published("demo") == {}


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("metric", ["worst", "curve", None])
def test_a_metric_that_no_card_has_is_refused(metric):
    with pytest.raises(ValueError, match="metric: expected one of final, best, got"):
        card().loss(metric)
