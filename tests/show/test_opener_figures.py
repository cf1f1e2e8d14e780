"""The figures of the openers give the answers of the predictions under which they stand."""

import math

import pytest

from rope_lab.chapters.ch14_tiny_gpt.seed_spread import RUNS
from rope_lab.chapters.ch16_nine_placements.nine_equals import TRIALS
from rope_lab.exercises import exercise
from rope_lab.show.widgets import BudgetCalculator, NineEquals, SeedInterval, SeedSpread, ShiftTest
from rope_lab.training.results import cards


def answer(name):
    """The place of the right choice."""
    return "ABCD".index(exercise(name).answer)


def test_one_pair_of_maps_leaves_the_logit_alone():
    stays = ShiftTest.compute(ShiftTest(shift=1).state())["stays"]
    assert stays == [i == answer("ch04.predict-two-maps") for i in range(4)]


def test_the_share_of_a_block_is_the_one_that_the_prediction_asks_for():
    shares = [1 / 2, 3 / 8, 1 / 4, 1 / 8]
    assert BudgetCalculator.compute(BudgetCalculator().state())["share"][2] == shares[answer("ch12.predict-block")]


def test_the_runs_of_one_model_are_as_far_apart_as_the_variants_of_the_stake():
    plain = [card for card in cards.load_all("crope-confirm", "cpu") if card.variant == "RoPE"]
    assert len({card.seed for card in plain}) == len(plain) == RUNS
    assert len({str(card.config | {"seed": 0}) for card in plain}) == 1
    assert all(3 < card.loss() < 4 for card in plain)  # as the question says
    apart = SeedSpread.compute(SeedSpread(runs=RUNS).state())["apart"]
    guesses = [0.0002, 0.002, 0.02, 0.2]
    assert min(guesses, key=lambda guess: abs(math.log(guess / apart))) == guesses[answer("ch14.predict-spread")]
    assert apart > 0.02  # the two variants of the stake are less far apart
    without = [card for card in cards.load_all("crope-table1-readings", "cpu") if card.variant in ("RoPE", "NoPE")]
    losses = {(card.variant, card.seed): card.loss() for card in without}
    behind = [losses["NoPE", seed] - losses["RoPE", seed] for name, seed in losses if name == "RoPE"]
    assert all(0.2 / math.sqrt(10) < gap < 0.2 * math.sqrt(10) for gap in behind)


def test_the_first_loss_is_near_the_logarithm_of_the_vocabulary():
    plain = [card for card in cards.load_all("crope-table1-readings", "cpu") if card.variant == "RoPE"]
    assert {card.config["tokenizer"] for card in plain} == {"bpe-1024"}
    first = min(card.curve["train_loss"][0] for card in plain)
    guesses = [0, 0.5, 7, 500]
    assert min(guesses, key=lambda guess: abs(guess - first)) == guesses[answer("ch14.predict-first-loss")]
    assert first < math.log(1024)


@pytest.mark.parametrize(("seeds", "sign"), [(2, False), (3, False), (4, True)])
def test_three_seeds_do_not_give_a_sign(seeds, sign):
    assert SeedInterval.compute(SeedInterval(seeds=seeds).state())["sign"] is sign
    assert exercise("ch15.predict-three-seeds").answer == "C"


def test_two_of_36_equal_pairs_are_declared_different():
    mean = NineEquals.compute(NineEquals(trials=TRIALS).state())["mean"]
    guesses = [0, 2, 9, 18]
    assert min(guesses, key=lambda guess: abs(guess - mean)) == guesses[answer("ch16.predict-false")]


def test_every_other_convention_passes_the_shift_test_and_a_lost_minus_does_not():
    stays = ShiftTest.compute(ShiftTest(family="codes", shift=40).state())["stays"]
    assert stays == [True] * 5 + [False]
    assert exercise("ch17.predict-shift-test").answer == "D"
