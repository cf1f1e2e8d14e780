"""A card that breaks the schema is refused and its field named; intervals are Student's, and pairing is by seed."""

import ast
import dataclasses
import json
import math
import statistics
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rope_lab.training.results import cards
from rope_lab.training.results.cards import CardError, interval, paired
from tests.training.tiny import card


def test_a_card_comes_back_as_it_was_written(tmp_path):
    path = cards.write(card(), tmp_path)
    assert cards.read(path) == card()
    assert [p.name for p in tmp_path.iterdir()] == ["rope-seed0.json"]
    assert path.stat().st_size < 20_000


def test_the_module_needs_the_standard_library_alone():
    tree = ast.parse(Path(cards.__file__).read_text(encoding="utf-8"))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= set(sys.stdlib_module_names)


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


@pytest.mark.parametrize("field", cards.SHAPE)
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


def test_every_committed_card_follows_the_schema():
    for path in cards.RESULTS.rglob("*.json"):
        found = cards.read(path)
        assert path == cards.RESULTS / found.experiment / found.rung / found.file_name
        assert path.stat().st_size < 20_000


@given(probability=st.floats(0.5, 0.999), freedom=st.integers(1, 60))
def test_the_quantile_is_scipy_s(probability, freedom):
    expected = stats.t.ppf(probability, freedom)
    assert cards.t_quantile(probability, freedom) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(values=st.lists(st.floats(-5, 5), min_size=2, max_size=8, unique=True))
def test_the_interval_is_scipy_s(values):
    if statistics.stdev(values) < 1e-6:
        return
    found = interval(values)
    low, high = stats.t.interval(0.95, len(values) - 1, statistics.fmean(values), stats.sem(values))
    assert (found.mean - found.half, found.mean + found.half) == pytest.approx((low, high), rel=1e-6, abs=1e-9)


def test_one_seed_decides_nothing():
    assert interval([0.5]) == cards.Interval(0.5, math.inf, 1)
    assert not interval([0.5]).decided
    assert str(interval([0.5])) == "+0.500 (one seed)"
    with pytest.raises(ValueError, match="at least one value"):
        interval([])


@pytest.mark.parametrize("stranger", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("others", [[], [1.0], [math.inf, 1.0]])
def test_what_is_no_number_has_no_interval(stranger, others):
    with pytest.raises(ValueError, match=r"values: expected finite numbers, one for each seed, got .*; look at"):
        interval([*others, stranger])


@given(levels=st.lists(st.floats(1, 9), min_size=2, max_size=5), gap=st.floats(0.01, 1))
def test_pairing_removes_what_a_seed_does_to_every_variant(levels, gap):
    found = [card(v, s, level + gap * (v == "b")) for s, level in enumerate(levels) for v in ("a", "b")]
    difference = paired(found, "b", "a")
    assert difference.mean == pytest.approx(gap)
    assert difference.half < 1e-9
    assert difference.decided


def test_only_seeds_that_both_have_are_paired():
    found = [card("a", 0, 1.0), card("a", 1, 2.0), card("b", 1, 2.5), card("b", 2, 9.0)]
    assert paired(found, "b", "a").mean == 0.5


def test_settings_are_not_mixed():
    found = [card("a", 0, config={"setting": s}) for s in ("PTB", "PG-19")]
    with pytest.raises(ValueError, match=r"expected the cards of one setting.*filter by card\.setting"):
        paired(found, "a", "a")
    assert found[0].file_name == "ptb-a-seed0.json"


def test_published_numbers_come_by_setting_and_variant():
    printed = cards.published("crope-table1")
    assert printed["losses"]["PTB"]["RoPE"][0] == 4.0212
    assert cards.published("demo") == {}


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("metric", ["worst", "curve", None])
def test_a_metric_that_no_card_has_is_refused(metric):
    with pytest.raises(ValueError, match="metric: expected one of final, best, got"):
        card().loss(metric)
