"""The table explorer: its numbers are those of the cards, its verdicts those of the margin."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.chapters.ch15_crope_tables import plan_answers
from rope_lab.chapters.ch15_crope_tables.table_explorer import TableExplorer, at_own_rates, panels_of, verdict
from rope_lab.training.results import cards, intervals
from tests.training.tiny import card

FOUND = cards.load_all("crope-table1", "cpu")
_small = st.floats(-0.2, 0.2)
_sizes = st.floats(0, 0.2)


def compute(found, **state):
    return TableExplorer.compute(TableExplorer(panels=panels_of(found), **state).state())


@pytest.mark.parametrize("metric", ["final", "best"])
def test_differences_are_those_of_the_cards(metric):
    values = compute(FOUND, metric=metric)
    assert values["reference"] == "RoPE"
    for row in values["rows"]:
        expected = intervals.paired(FOUND, row["variant"], "RoPE", metric=metric)
        assert row["difference"] == pytest.approx(expected.mean, abs=2e-6)
        assert row["half"] == pytest.approx(expected.half, abs=1e-5)
        assert row["n"] == len(row["pairs"]) == expected.n


def test_the_published_differences_stand_beside_them():
    rows = {row["variant"]: row for row in compute(FOUND)["rows"]}
    assert rows["CRoPE QKV"]["published"] == pytest.approx(0.0086)
    assert rows["CRoPE QKV"]["spread"] == pytest.approx(0.0378, abs=1e-4)
    assert rows["absolute scaled"]["published"] == rows["absolute vaswani"]["published"] == pytest.approx(0.3842)
    assert rows["half width"]["published"] is None
    turned = compute(FOUND, reference="absolute scaled")["rows"]
    assert next(r for r in turned if r["variant"] == "absolute vaswani")["published"] is None  # one printed number


@given(_small, _sizes, _sizes)
def test_a_verdict_is_one_of_four_and_turns_with_the_sign(difference, half, margin):
    mirrored = {"worse": "better", "better": "worse", "within": "within", "open": "open"}
    assert verdict(-difference, half, margin) == mirrored[verdict(difference, half, margin)]


@given(_small, _sizes, _sizes)
def test_a_margin_as_large_as_the_interval_s_end_is_enough(difference, half, more):
    assert verdict(difference, half, abs(difference) + half + more + 1e-12) == "within"


def test_no_interval_no_verdict():
    one = [card for card in FOUND if card.seed == 0]
    assert {row["verdict"] for row in compute(one)["rows"]} == {"one seed"}
    apart = [replace(c, seed=c.seed + 10 * (c.variant == "RoPE")) for c in FOUND]
    assert {row["verdict"] for row in compute(apart)["rows"]} == {"no shared seed"}
    assert compute([])["rows"] == []
    assert compute([card for card in FOUND if card.variant == "NoPE"])["panel"] == ""


def test_a_panel_has_each_model_at_its_own_rate():
    rates = {"RoPE": (4e-3,), "tied": (4e-3, 8e-3), "absolute": (4e-3,)}
    made = [
        card(name, seed, 3 + seed + rate, config={"lr": rate, "setting": f"rate {rate}"})
        for name, some in rates.items()
        for rate in some
        for seed in range(3)
    ]
    own = {"RoPE": 4e-3, "tied": 8e-3}
    (panel,) = at_own_rates(made, own, named="each at its own")
    assert panel["key"] == "demo cpu each at its own"
    assert {(run["variant"], round(run["final"] % 1, 4)) for run in panel["runs"]} == set(own.items())
    assert len(panel["runs"]) == 6
    assert at_own_rates(made, own, named="own", experiment="two lists")[0]["key"] == "two lists cpu own"
    assert at_own_rates(made, {"RoPE": 1.0}, named="none") == []


def test_five_tables_of_the_chapter():
    panels = {panel["key"]: len(panel["runs"]) for panel in TableExplorer().panels}
    assert panels == {"close rates": 40, "coarse grid": 48, "2,000 steps": 16, "one rate": 18, "the paper's setting": 9}
    gaps = [finding.interval for finding in plan_answers.at_best_of_close_rates()[:2]]
    rows = {row["variant"]: row for row in TableExplorer.compute(TableExplorer().state())["rows"]}
    for name, gap in zip(("CRoPE QKV", "CRoPE QKVO"), gaps, strict=True):
        assert (rows[name]["difference"], rows[name]["half"]) == pytest.approx((gap.mean, gap.half), abs=1e-5)
