"""The plan's comparisons: paired by seed, each variant at its rate, and nothing said while a card is missing."""

from dataclasses import replace

import pytest

from rope_lab.chapters.ch15_crope_tables import experiments_planned_more as planned_more
from rope_lab.chapters.ch15_crope_tables import plan_answers
from rope_lab.chapters.ch15_crope_tables.experiments_planned import RATE_SEEDS, RATES, SEEDS, VARIANTS
from rope_lab.training.results import cards
from tests.training.tiny import card

OWN = {name: 0.004 if name in ("RoPE", "absolute scaled") else 0.008 for name in VARIANTS}
ABOVE = {"CRoPE QKV": 0.001, "CRoPE QKVO": 0.05, "absolute scaled": 0.3}  # what a variant ends above RoPE by


def scanned():
    """Cards of the sweep over rates, best where ``OWN`` says."""
    return [
        card(name, seed, 3 + 0.1 * abs(RATES.index(rate) - RATES.index(OWN[name])), config={"lr": rate})
        for name in VARIANTS
        for rate in RATES
        for seed in RATE_SEEDS
    ]


def confirmed():
    """Cards of the comparison: a noise of a thousandth that each variant has in another order."""
    return [
        card(name, seed, 3 + seed + ABOVE.get(name, 0) + 0.001 * ((seed * (2 + place)) % 3), config={"lr": rate})
        for place, name in enumerate(VARIANTS)
        for rate in {OWN[name], 0.004}
        for seed in SEEDS
    ]


@pytest.fixture
def planted(monkeypatch):
    held = {"crope-rates": scanned(), "crope-confirm": confirmed()}
    monkeypatch.setattr(cards, "load_all", lambda name, _rung: held.get(name, []))
    return held


@pytest.mark.usefixtures("planted")
def test_the_five_comparisons_of_the_plan_in_its_order():
    found = plan_answers.answers()
    assert [f.name.split(" minus ") for f in found] == [list(pair) for pair in plan_answers.PRIMARY]
    assert [f.outcome for f in found] == ["equivalent", "worse", "equivalent", "worse", "worse"]
    assert {len(f.differences) for f in found} == {len(SEEDS)}
    assert {f.margin for f in found} == {0.02}


def test_rates_come_from_the_cards(planted):
    assert plan_answers.own_rates() == OWN
    planted["crope-rates"] = [c for c in scanned() if c.config["lr"] < 0.016]
    with pytest.raises(ValueError, match="18 are missing"):
        plan_answers.own_rates()


def test_each_at_its_own_rate_or_all_at_one(planted):
    planted["crope-confirm"] += [
        card("CRoPE QKV", seed, 3 + seed + 0.5, config={"lr": 0.004}) for seed in SEEDS
    ]  # the last card of a run counts
    own, common = (plan_answers.answers(rate=rate)[0] for rate in (None, 0.004))
    assert abs(own.interval.mean) < 0.01
    assert common.interval.mean > 0.4


def test_nothing_is_answered_while_a_card_is_missing(planted):
    planted["crope-confirm"].pop()
    assert plan_answers.answers() == []
    with pytest.raises(KeyError, match=r"expected a card of absolute scaled at rate 0\.004, seed 10"):
        plan_answers.differences(planted["crope-confirm"], plan_answers.PRIMARY, rates=OWN)


@pytest.mark.usefixtures("planted")
def test_the_exploratory_comparison():
    found = plan_answers.answers(plan_answers.NARROWED)
    assert [f.outcome for f in found] == ["equivalent", "equivalent"]


CLOSE = (0.004, 0.0057, 0.008)


@pytest.fixture
def close_held(planted):
    """RoPE is lowest between the two rates, by 0.04, and all others at the lower one."""
    rotated = [name for name in VARIANTS if name != "absolute scaled"]
    planted["crope-confirm"] = [
        card(name, s, 3 + s + 0.1 * (rate > 0.004) + 0.001 * (s * k % 3), config={"lr": rate})
        for k, name in enumerate(rotated)
        for rate in (0.004, *([0.008] if name != "RoPE" else []))
        for s in SEEDS
    ]
    planted["crope-between"] = [
        card(name, s, 3 + s + (-0.04 if (name, rate) == ("RoPE", 0.0057) else 0.1), config={"lr": rate})
        for name in rotated
        for rate in (0.0057, 0.0113, *([0.008] if name == "RoPE" else []))
        for s in SEEDS
    ]
    return planted


@pytest.mark.usefixtures("close_held")
def test_each_model_takes_the_best_of_its_close_rates():
    means = plan_answers.means_at_close_rates()
    assert {name: min(own, key=own.get) for name, own in means.items()} == {
        name: 0.0057 if name == "RoPE" else 0.004 for name in VARIANTS if name != "absolute scaled"
    }
    assert all(tuple(own) == (*CLOSE, 0.0113)[: 4 if "CRoPE" in name else 3] for name, own in means.items())
    found = plan_answers.at_best_of_close_rates()
    assert [f.name.split(" minus ") for f in found] == [list(pair) for pair in plan_answers.PRIMARY[:4]]
    assert [f.outcome for f in found] == ["worse", "worse", "equivalent", "equivalent"]


@pytest.mark.parametrize("name", ["crope-confirm", "crope-between"])
def test_no_close_rates_while_a_card_is_missing(close_held, name):
    del close_held[name][0]
    assert plan_answers.means_at_close_rates() == {}
    assert plan_answers.at_best_of_close_rates() == []


def test_the_control_is_read_whole_and_on_one_kind_of_processor(close_held):
    close_held["crope-control"] = half = [
        card("half width", s, 3 + s + 0.01 * (rate != 0.008) + 0.001 * (s % 3), config={"lr": rate})
        for rate in (*CLOSE, 0.0113)
        for s in SEEDS
    ]
    (found,) = plan_answers.control_at_close_rates()
    assert (found.name, found.outcome, round(found.interval.mean, 2)) == ("half width minus RoPE", "worse", 0.04)
    close_held["crope-control"] = [*half[:-1], replace(half[-1], seed=11)]
    assert plan_answers.control_at_close_rates() == []
    elsewhere = [replace(c, volatile={**c.volatile, "device": "another"}) for c in half]
    close_held["crope-control"] = elsewhere
    assert plan_answers.control_at_close_rates() == []


ROWS = ("width 128, decay every 800", "width 128, decay every 400", "width 64, decay every 400")
ROW_RATES = {"RoPE": 0.001, "CRoPE QKV": 0.0005, "absolute scaled": 0.001}
COMPARED = {row: (("CRoPE QKV", row), ("RoPE", row)) for row in ROWS} | {
    "narrow minus wide": (("RoPE", ROWS[2]), ("RoPE", ROWS[1]))
}


def row_card(name, row, rate, seed, loss):
    return card(name, seed, loss, config={"lr": rate, "setting": f"{row}, rate {rate:g}"})


@pytest.fixture
def rows_held(monkeypatch):
    """Table 2: the tied model is ahead by 0.05 in each row, and the narrow row 0.1 behind."""
    rates = (0.00025, 0.0005, 0.001, 0.002, 0.004)
    held = {
        "crope-rates-table2": [
            row_card(name, row, rate, seed, 4 + 0.1 * abs(rates.index(rate) - rates.index(best)))
            for name, best in ROW_RATES.items()
            for row in ROWS
            for rate in rates
            for seed in RATE_SEEDS
        ],
        "crope-confirm-table2": [
            row_card(name, row, rate, s, 4 + s + at * (name != "RoPE") + 0.1 * (row == ROWS[2]) + 0.001 * (s * k % 3))
            for k, (name, rate) in enumerate(ROW_RATES.items())
            for row in ROWS
            for at in [-0.05 if rate == ROW_RATES[name] else 9]
            for s in SEEDS
        ],
    }
    for module in (cards, planned_more):
        monkeypatch.setattr(module, "load_all", lambda name, _rung: held[name])
    return held


def test_exploratory_comparisons_stand_at_own_rates_of_their_settings(rows_held):
    assert planned_more.own_rates("table2") == {(name, row): rate for name, rate in ROW_RATES.items() for row in ROWS}
    rows_held["crope-confirm-table2"] += [row_card("CRoPE QKV", row, 0.001, s, 9.0) for row in ROWS for s in SEEDS]
    found = plan_answers.exploratory("table2", COMPARED)
    assert [f.name for f in found] == list(COMPARED)
    assert [f.outcome for f in found] == ["better"] * 3 + ["worse"]
    assert found[0].interval.mean == pytest.approx(-0.05, abs=2e-3)
    assert found[3].interval.mean == pytest.approx(0.1)


@pytest.mark.parametrize("name", ["crope-rates-table2", "crope-confirm-table2"])
def test_nothing_exploratory_is_said_while_a_card_is_missing(rows_held, name):
    assert plan_answers.exploratory("table2", COMPARED)
    del rows_held[name][0]
    assert plan_answers.exploratory("table2", COMPARED) == []


@pytest.fixture
def corpora_held(monkeypatch):
    """WikiText-2 as above; on PG-19 every model is best at 0.004, and the tied ones are level with RoPE."""
    held = {"crope-rates": scanned(), "crope-confirm": confirmed(), "crope-rates-ptb": [], "crope-confirm-ptb": []}
    held["crope-rates-pg19"] = [
        row_card(name, "PG-19", rate, seed, 4 + 0.1 * abs(RATES.index(rate) - RATES.index(0.004)))
        for name in VARIANTS
        for rate in RATES
        for seed in RATE_SEEDS
    ]
    held["crope-confirm-pg19"] = [
        row_card(name, "PG-19", 0.004, s, 4 + s + 0.3 * name.startswith("absolute") + 0.001 * (s * k % 3))
        for k, name in enumerate(VARIANTS)
        for s in SEEDS
    ]
    for module in (cards, planned_more):
        monkeypatch.setattr(module, "load_all", lambda name, _rung: held[name])
    return held


def test_the_same_family_on_each_corpus_that_has_its_cards(corpora_held):
    found = plan_answers.by_corpus()
    assert list(found) == ["WikiText-2", "PG-19"]
    assert [[f.name for f in own] for own in found.values()] == [[f.name for f in plan_answers.answers()]] * 2
    assert [f.outcome for f in found["PG-19"]] == ["equivalent"] * 4 + ["worse"]
    corpora_held["crope-confirm-pg19"].pop()
    assert list(plan_answers.by_corpus()) == ["WikiText-2"]
