"""Chapter 15's figures of rates: a panel for each row, and the lowest means said in words."""

import pytest

from rope_lab.chapters.ch15_crope_tables import figures_planned_comparison as planned_comparison
from rope_lab.training.results.equivalence import family
from tests.training.tiny import card

MEANS = {("wide", "RoPE"): (3.0, 3.2), ("wide", "CRoPE QKV"): (3.1, 2.9), ("narrow", "RoPE"): (3.4, 3.3)}
CARDS = [
    card(model, seed, mean + 0.1 * (seed - 1), config={"lr": rate, "setting": f"{row}, rate {rate:g}"})
    for (row, model), means in MEANS.items()
    for rate, mean in zip((0.001, 0.002), means, strict=True)
    for seed in range(3)
]


def test_each_row_has_a_panel_and_says_where_it_is_lowest():
    said = planned_comparison.rows_by_rate(CARDS, rows=("narrow", "wide")).svg
    assert "narrow: RoPE 3.300 at 0.002; wide: RoPE 3.000 at 0.001, CRoPE QKV 2.900 at 0.002" in said
    assert said.count(">final loss, nats<") == 2
    assert said.index(">narrow<") < said.index(">wide<")
    assert said.count(">CRoPE QKV<") == 1  # one legend


def test_a_row_without_cards_is_no_panel():
    with pytest.raises(KeyError, match="deep"):
        planned_comparison.rows_by_rate(CARDS, rows=("wide", "deep"))


def findings(by):
    seeds = (-0.01, 0.0, 0.01)
    return family({name: [at + x for x in seeds] for name, at in by.items()}, margin=0.02)


def test_a_comparison_has_a_line_for_each_corpus_unless_it_is_far_away_on_one():
    one, other = findings({"a minus b": 0.01, "c minus b": 0.3}), findings({"a minus b": -0.01, "c minus b": 0.02})
    said = planned_comparison.five_answers({"first": one, "second": other}).svg
    assert all(f">{corpus}<" in said for corpus in ("first", "second"))
    assert f"first, a minus b {one[0].interval}; first, c minus b" in said
    assert ">a − b<" in said
    assert ">c − b<" not in said  # it is told in words alone


def test_the_table_of_lists_has_each_list_once_and_no_word_where_no_plan_promised_one():
    lists = {row[0]: row[1:] for row in planned_comparison.every_list().rows}
    corpora = ["Penn Treebank", "PG-19"]
    assert list(lists)[:7] == ["one rate", "coarse grid", "close rates", "1,000 steps", "2,000 steps", *corpora]
    words = {name: [cell.rpartition(", ")[2] for cell in row[1:] if "," in cell] for name, row in lists.items()}
    assert {name for name, said in words.items() if not said} == {"one rate", *list(lists)[7:]}
    assert {name for name, row in lists.items() if row[0].startswith("3 seeds")} == {"one rate", "the paper's setting"}
    assert (words["close rates"], words["Penn Treebank"]) == (["level", "level"], ["better", "better"])
    assert (words["1,000 steps"], words["2,000 steps"]) == (["level"], ["undecided"])


def test_lengths_are_drawn_and_the_shares_said():
    ends = {
        "RoPE": {100: {0: 4.0, 1: 4.2}, 200: {0: 3.0, 1: 3.1}},
        "CRoPE QKV": {100: {0: 3.9, 1: 4.1}, 200: {0: 3.1, 1: 3.2}},
    }
    said = planned_comparison.four_lengths(ends, {100: [-0.1, -0.1], 200: [0.05, 0.15]}).svg
    assert "how many more steps CRoPE QKV needs: 100 steps: -10.0 ± 0.0 %; 200 steps: +10.0 ± 63.5 %" in said
    assert said.count(">200<") == 1  # the two panels share their steps


def test_a_difference_stands_at_each_rate_that_both_models_have():
    scan = [
        card(m, s, 3 + x, config={"lr": r})
        for r, x in ((0.1, 0.0), (0.4, 0.1))
        for m in ("RoPE", "CRoPE QKV")
        for s in range(3)
    ]
    close = [card(m, s, 3 + (m != "RoPE"), config={"lr": 0.2}) for m in ("RoPE", "CRoPE QKV") for s in (3, 4)]
    close += [card("CRoPE QKV", 3, 9.0, config={"lr": 0.8})]
    said = planned_comparison.difference_by_rate(scan, close=close).svg
    assert "0.1: +0.000 +0.000 +0.000; 0.4: +0.000 +0.000 +0.000; 0.2: +1.000 +1.000." in said
    assert ">0.2<" in said
    assert ">0.8<" not in said
