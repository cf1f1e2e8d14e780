"""A card that breaks the schema is refused and its field named; a committed one is the run it says."""

import dataclasses
import hashlib
import json
import math
import os
from pathlib import Path

import pytest

from rope_lab.errors import ArgumentError
from rope_lab.reading import MOST
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
    ("measured", 3),
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


NO_CARDS = {
    "empty": (b"", "expected JSON"),
    "torn": (b'{"schema": 1', "expected JSON"),
    "a list": (b"[]", "expected a JSON object, got list"),
    "no text": (b"\xff\xfe", "expected JSON"),
    "too deep": (b"[" * 100_000, "expected JSON, got JSON with more than 200 brackets"),
    "5,000 digits": (
        b'{"seed": ' + b"1" * 5000 + b"}",
        "expected JSON, got JSON with a number of more than 4,300 digits",
    ),
    "too large": (b" " * (MOST + 1), "got more than 16,000,000 bytes"),
}


@pytest.mark.parametrize(("data", "said"), NO_CARDS.values(), ids=NO_CARDS)
def test_what_is_no_card_is_named(tmp_path, data, said):
    (tmp_path / "bad.json").write_bytes(data)
    with pytest.raises(CardError, match=rf"bad\.json: .*{said}"):
        cards.read(tmp_path / "bad.json")


def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", tmp_path, Path("/dev/zero")):
        with pytest.raises(CardError, match="got what is no file: a folder, a pipe or a device"):
            cards.read(path)
    with pytest.raises(CardError, match="File name too long"):
        cards.read(tmp_path / ("x" * 5000))


def test_the_training_loss_is_the_mean_over_the_last_tenth():
    curve = {"step": list(range(1, 29)), "train_loss": [*map(float, range(27)), None], "valid_loss": [None] * 28}
    assert card(curve=curve).train_loss == 25.5


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


LINES = sorted(cards.RESULTS.glob("*/*.jsonl"))


@pytest.mark.deep(keep=10)
@pytest.mark.parametrize("path", LINES, ids=[f"{path.parent.name}-{path.stem}" for path in LINES])
def test_the_committed_cards_are_lines_by_name_and_each_comes_back_to_the_byte(path, tmp_path):
    found = [cards.parsed(where, data) for where, data in cards.texts(path)]
    names = [each.file_name for each in found]
    assert names == sorted(set(names))
    assert {(each.experiment, each.rung) for each in found} == {(path.parent.name, path.stem)}
    assert cards.write_all(reversed(found), tmp_path / path.name).read_bytes() == path.read_bytes()
    for each in found:  # as one file a card, and read from there
        own = cards.write(each, tmp_path)
        assert cards.read(own) == each
        assert own.read_text(encoding="utf-8") == cards.text(each)
        assert own.stat().st_size < 20_000


def test_nothing_else_lies_among_the_committed_cards():
    assert [path for path in cards.RESULTS.rglob("*") if path.is_file() and path not in LINES] == []
    assert len(cards.load_every()) == sum(len(cards.texts(path)) for path in LINES) >= 1140


def test_control_another_digit_or_order_is_another_line(tmp_path):
    one, other = card("a", 0), card("a", 0, loss=card().loss() + 1e-15)
    assert cards.line(one) != cards.line(other)
    assert json.loads(cards.line(one)) == json.loads(cards.text(one))
    shuffled = dict(reversed(vars(one).items()))
    assert cards.line(cards.parsed("x", json.dumps(shuffled).encode())) == cards.line(one)  # the form is one
    cards.write_all([one, card("b", 0)], tmp_path / "cpu.jsonl")
    assert (tmp_path / "cpu.jsonl").read_text().count("\n") == 2


def test_cards_lie_in_one_file_or_in_one_each_or_in_both(tmp_path):
    both = [card("a", 0), card("b", 0)]
    folder, lines = cards.places("demo", "cpu", root=tmp_path)
    for each in both:
        cards.write(each, folder)
    assert cards.load_all("demo", "cpu", root=tmp_path) == both
    cards.write_all(both[:1], lines)
    assert cards.load_all("demo", "cpu", root=tmp_path) == cards.load_every(root=tmp_path) == both
    cards.write_all([card("b", 0, loss=1.0)], lines)
    with pytest.raises(CardError, match=r"got a second b-seed0\.json with other content; take one of them away"):
        cards.load_all("demo", "cpu", root=tmp_path)
    lines.write_bytes(lines.read_bytes()[:-9])
    with pytest.raises(CardError, match=r"cpu\.jsonl:1: expected JSON, got "):
        cards.load_all("demo", "cpu", root=tmp_path)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "x" * 101, "a\x1b[2J"])
def test_a_name_that_leads_elsewhere_is_no_folder(name, tmp_path):
    for names in ((name, "cpu"), ("demo", name)):
        with pytest.raises(ArgumentError, match=r"(experiment|rung): expected the name of a folder.*; got "):
            cards.load_all(*names, root=tmp_path)
    for field in ("experiment", "rung"):
        with pytest.raises(ArgumentError, match=f"RunConfig.{field}: expected the name of a folder"):
            RunConfig(**{field: name})


def config_hash(config):
    """What names a run: RunConfig's digest, or for a small task the hash of its config's JSON."""
    if set(config) <= set(FIELDS):
        return RunConfig.from_json(config).digest
    return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()[:16]


@pytest.mark.parametrize("path", LINES, ids=[f"{path.parent.name}-{path.stem}" for path in LINES])
def test_every_committed_card_is_named_by_its_config(path):
    """So no change of a field, of a default or of the digest has renamed a run: a sweep still finds each card."""
    for found in cards.load_all(path.parent.name, path.stem):
        assert config_hash(found.config) == found.config_hash, found.file_name


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
