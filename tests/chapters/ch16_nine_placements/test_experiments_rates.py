"""Nine placements at their own rates: how many runs, how a grid grows, when rates are there, and the plan's answers."""

import re
from itertools import pairwise
from math import isnan
from pathlib import Path

import checked_numbers
import pytest

from rope_lab.chapters.ch16_nine_placements import experiments_rates as planned
from rope_lab.chapters.ch16_nine_placements import figures, rate_answers
from rope_lab.chapters.ch16_nine_placements.experiments import PLACEMENTS
from rope_lab.chapters.ch16_nine_placements.experiments_rates import FIRST, LADDER, RATE_SEEDS, SEEDS
from rope_lab.training.experiments.catalogue import NotYetError, experiment, names, rungs
from rope_lab.training.results import cards
from rope_lab.training.results.equivalence import Finding
from tests.training.tiny import card

OWN = dict.fromkeys(PLACEMENTS, 0.004) | {"Q": 0.00283, "V": 0.0113, "O": 0.00141}  # the last two lie beyond the edges


@pytest.fixture
def held(monkeypatch):
    """The cards of ``placements-rates``, as a list to fill."""
    found = []
    monkeypatch.setattr(planned, "load_all", lambda *_: found)
    return found


def measured(run, best):
    """A run's card: the loss of windows begun anywhere says ``best``, that from position 0 says another rate."""
    far = abs(LADDER.index(run.lr) - LADDER.index(best))
    return card(run.variant, run.seed, 9 - far, config=run.to_dict(), measured={"shift 8": {"loss": 3 + 0.1 * far}})


def sweep(held, own):
    """Do the sweep until nothing is left; how many runs each call did."""
    done = []
    while True:
        known = {(c.variant, c.config["lr"], c.seed) for c in held}
        runs = experiment("placements-rates").runs
        todo = [run for run in runs if (run.variant, run.lr, run.seed) not in known]
        if not todo:
            return done
        held += [measured(run, own[run.variant]) for run in todo]
        done.append(len(todo))


@pytest.mark.usefixtures("held")
def test_the_first_grid_is_nine_placements_at_five_rates_with_three_seeds():
    runs = experiment("placements-rates").runs
    assert len(runs) == 9 * 5 * 3
    assert {(r.variant, r.lr, r.seed) for r in runs} == {
        (v, x, s) for v in PLACEMENTS for x in FIRST for s in RATE_SEEDS
    }
    assert FIRST == (0.002, 0.00283, 0.004, 0.00566, 0.008)
    assert all(high / low == pytest.approx(2**0.5, rel=0.01) for low, high in pairwise(LADDER))
    assert {run.seed for run in runs[:45]} == {0}  # whole seeds early
    some = cards.load_all("placements", "cpu")[0]
    made = (vars(some) | {"variant": r.variant, "seed": r.seed, "config": r.to_dict()} for r in runs)
    assert len({cards.Card(**fields).file_name for fields in made}) == len(runs)


@pytest.mark.usefixtures("held")
def test_a_run_is_that_of_placements_anywhere_but_for_its_rate():
    old = {(r.variant, r.seed): r for r in experiment("placements-anywhere").runs}
    but = {"experiment": "", "setting": "", "lr": 0}
    for run in experiment("placements-rates").runs:
        assert run.starts == 8 * 64 + 1
        if (run.variant, run.seed) in old:
            assert run.to_dict() | but == old[run.variant, run.seed].to_dict() | but


def test_a_grid_grows_where_its_best_lies_at_an_edge_until_it_does_not(held):
    assert sweep(held, OWN) == [135, 2 * 3, 2 * 3]  # V and O: the best, and one step beyond it
    tried = {v: {c.config["lr"] for c in held if c.variant == v} for v in PLACEMENTS}
    assert tried["V"] == {*FIRST, 0.0113, 0.016}
    assert tried["O"] == {*FIRST, 0.00141, 0.001}
    assert all(tried[v] == {*FIRST} for v in PLACEMENTS if v not in "VO")
    assert planned.own_rates() == OWN


def test_the_comparison_has_each_placement_at_its_own_rate_and_seeds_that_chose_nothing(held):
    sweep(held, OWN)
    runs = experiment("placements-confirm").runs
    assert {(r.variant, r.lr, r.seed) for r in runs} == {(v, OWN[v], s) for v in PLACEMENTS for s in SEEDS}
    assert len(runs) == 45
    known = {run.seed for name in ("placements-shifted", "placements-anywhere") for run in experiment(name).runs}
    assert not set(SEEDS) & (known | {*RATE_SEEDS})
    like = {"experiment": "", "seed": 0}
    step1 = {(r.variant, r.lr): r.to_dict() | like for r in experiment("placements-rates").runs}
    assert all(r.to_dict() | like == step1[r.variant, r.lr] for r in runs)


def test_while_a_card_is_missing_the_grid_waits_and_the_comparison_has_no_runs(held):
    held += [measured(run, OWN[run.variant]) for run in experiment("placements-rates").runs]
    held.remove(next(c for c in held if c.variant == "V"))
    assert {run.lr for run in experiment("placements-rates").runs if run.variant == "V"} == {*FIRST}
    with pytest.raises(NotYetError, match=r"cards of placements-rates, and .* missing of V, O$"):
        experiment("placements-confirm")
    assert "placements-confirm" in names()
    assert rungs("placements-confirm") == []


def test_a_best_rate_at_the_end_of_the_ladder_is_no_answer(held):
    sweep(held, OWN | {"K": LADDER[-1]})
    with pytest.raises(NotYetError, match=r"found K at 0\.032; write a new entry in the plan"):
        experiment("placements-confirm")


def test_a_rate_without_a_finite_loss_is_not_chosen_and_closes_its_side(held, monkeypatch):
    monkeypatch.setattr(planned, "DIVERGED", frozenset({("V", 0.0113)}))
    sweep(held, OWN)
    assert 0.0113 not in {c.config["lr"] for c in held if c.variant == "V"}
    assert planned.own_rates() == OWN | {"V": 0.008}


# The analysis, on planted cards

ENDS = {"QK": 2.7, "QKVO": 2.7, "VO": 2.9, "NoPE": 3.0, "K": 3.1, "QKV": 3.2, "O": 3.3, "Q": 3.15, "V": 3.3}


def judged(changes=()):
    """Cards of the comparison; each seed has its own level, and each placement a noise of a thousandth."""
    ends = ENDS | dict(changes)
    return [
        card(r.variant, r.seed, 9, config=r.to_dict(), measured={"shift 8": {"loss": ends[r.variant] + r.seed + noise}})
        for r in experiment("placements-confirm").runs
        for noise in [0.001 * (r.seed * (2 + list(ENDS).index(r.variant)) % 3)]
    ]


@pytest.fixture
def ended(held, monkeypatch):
    """Both lists: that of the rates is whole."""
    sweep(held, OWN)
    for c in held:
        c.measured["shift 8"]["loss"] += ENDS[c.variant] + c.seed + 0.001 * (c.seed * len(c.variant) % 3)
    both = {"placements-rates": held, "placements-confirm": judged()}
    monkeypatch.setattr(cards, "load_all", lambda name, _rung: both[name])
    return both


def words(findings):
    return {found.name: found.outcome for found in findings}


def test_eleven_comparisons_paired_by_seed_answer_as_planted(ended):
    said = words(rate_answers.answers())
    better = {f"{name} minus NoPE": "better" for name in ("QK", "QKVO", "VO")}
    worse = {f"{name} minus NoPE": "worse" for name in ("K", "QKV", "O", "Q", "V")}
    between = {"QKVO minus QK": "equivalent", "VO minus QK": "worse", "QKV minus K": "worse"}
    assert said == better | worse | between
    ended["placements-confirm"] = judged({"QKV": 3.0})  # control
    assert words(rate_answers.answers())["QKV minus K"] == "better"


def test_nothing_is_said_while_a_card_is_missing(ended):
    del ended["placements-confirm"][-1]
    assert rate_answers.answers() == rate_answers.with_rates_of_others() == []


@pytest.mark.parametrize("made", [0, 1, 44])
def test_while_a_run_is_missing_the_page_counts_and_has_no_outcome(ended, made):
    ended["placements-confirm"] = ended["placements-confirm"][:made]
    chose = len(ended["placements-rates"])
    assert figures.MEASURED["plan-runs"]() == (chose + made, chose + 45)
    assert figures.MEASURED["still-to-run"]() == 45 - made
    assert figures.MEASURED["open-minutes"]() == pytest.approx((45 - made) * 2 / 60)  # two seconds each
    assert sum(int(row[-1].removesuffix(" of 5")) for row in figures.rates_and_runs().rows) == made
    asked = [list(row) for row in zip(words(rate_answers.at_one_rate()), rate_answers.PRINTED, strict=True)]
    assert figures.primary().rows == [[*row, "open"] for row in asked]
    plan = (Path(__file__).parents[3] / "book" / "plan.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| \d+ \| (\w+ minus \w+) \|.*\| (\w+) \|$", plan, re.MULTILINE)
    assert asked == [[*row] for row in table]


def test_when_all_have_run_the_page_has_the_outcomes_and_its_count_asks_for_another_sentence(ended):
    table = figures.primary()
    column = table.headings.index("outcome")
    near = {"QKVO minus QK": "equivalent"}
    expected = {name: f"{word} by more than the margin" for name, word in words(rate_answers.answers()).items()} | near
    assert {row[0]: row[column] for row in table.rows} == expected
    assert {row[column + 1] for row in table.rows} == {"0 of 6"}
    assert all(row[1].count(",") == 4 for row in table.rows)
    assert {row[-1] for row in figures.rates_and_runs().rows} == {"5 of 5"}
    with pytest.raises(ValueError, match="write the sentence anew"):
        checked_numbers.said(figures.MEASURED["still-to-run"](), ".0f")
    for c in ended["placements-rates"]:  # control: the three that chose are far on the other side
        if c.variant == "QKV":
            c.measured["shift 8"]["loss"] -= 2
    turned = {row[0]: row[column : column + 2] for row in figures.primary().rows if row[column + 1] != "0 of 6"}
    assert turned == {name: ["it turns", "1 of 6"] for name in ("QKV minus NoPE", "QKV minus K")}


def test_a_mean_with_the_other_sign_or_beyond_the_margin_turns_an_answer():
    def found(values, outcome):
        return Finding("", tuple(values), outcome, 0, 0, 0.02)

    low, high = found([-0.1] * 8, "better"), found([0.1] * 8, "worse")
    assert rate_answers.turned(found([0.3, 0.01, -0.02, 0.0, 0.0], "worse"), high) == 1  # without the first seed
    assert rate_answers.turned(found([0.1] * 5, "worse"), low) == 1
    assert rate_answers.turned(found([-0.1] * 5, "better"), high) == 1
    assert rate_answers.turned(found([0.001] * 5, "equivalent"), high) == 1
    assert [rate_answers.turned(found([0.1] * 5, word), high) for word in ("worse", "undecided")] == [0, 0]


def test_a_choosing_seed_is_judged_at_the_rates_of_the_two_others(ended):
    for c in ended["placements-rates"]:  # seed 2 alone would have K at 0.00566, by much: the mean of all three too
        if (c.variant, c.config["lr"], c.seed) == ("K", 0.00566, 2):
            c.measured["shift 8"]["loss"] -= 1
    assert planned.own_rates()["K"] == 0.00566
    assert {pair: of["K"] for pair, of in rate_answers.rates_of_pairs().items()} == {
        (0, 1): 0.004,
        (0, 2): 0.00566,
        (1, 2): 0.00566,
    }
    ended["placements-confirm"] = judged()
    k = next(found for found in rate_answers.with_rates_of_others() if found.name == "K minus NoPE").differences
    assert len(k) == 8
    assert k[:3] == pytest.approx([0.2, 0.2, 0.1], abs=0.01)  # seed 2 has no profit from its own lucky rate
    alone = [found.differences for found in rate_answers.of_choosing_seeds()]
    assert alone == [found.differences[:3] for found in rate_answers.with_rates_of_others()]


def test_while_a_grid_grows_its_placement_has_no_numbers_and_counts_in_the_family(held, monkeypatch):
    held += [measured(run, OWN[run.variant]) for run in experiment("placements-rates").runs]
    monkeypatch.setattr(cards, "load_all", lambda *_: held)
    assert {(run.variant, run.lr) for run in rate_answers.missing()} == {("V", 0.0113), ("O", 0.00141)}
    numbers = {found.name: found.differences for found in rate_answers.of_choosing_seeds()}
    assert len(numbers) == 11
    assert [name for name, own in numbers.items() if isnan(own[0])] == ["O minus NoPE", "V minus NoPE"]
    held.pop()
    assert rate_answers.of_choosing_seeds() == []


@pytest.mark.usefixtures("ended")
def test_at_one_rate_the_choosing_seeds_are_compared():
    found = rate_answers.at_one_rate()
    assert [len(each.differences) for each in found] == [3] * 11
    assert rate_answers.at_one_rate(0.0113) == []  # V alone has been there
