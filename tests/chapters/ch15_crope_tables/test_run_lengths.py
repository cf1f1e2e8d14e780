"""Lengths read as work: a reference that loses a tenth of a nat with each doubling, and a model beside it."""

from math import log2

import pytest

from rope_lab.chapters.ch15_crope_tables import experiments_planned_more as planned_more
from rope_lab.chapters.ch15_crope_tables import plan_answers, run_lengths
from rope_lab.chapters.ch15_crope_tables.experiments_planned import RATE_SEEDS, RATES, SEEDS, VARIANTS
from rope_lab.chapters.ch15_crope_tables.run_lengths import LENGTHS, PLAIN, TIED
from rope_lab.training.results import cards
from tests.training.tiny import card

BEST = {PLAIN: 0.004, TIED: 0.008}


def at(variant, steps, rate, seed, loss):
    return card(variant, seed, loss, config={"lr": rate, "setting": f"WikiText-2, {steps} steps, rate {rate:g}"})


@pytest.fixture
def planted(monkeypatch):
    """RoPE ends at 3 for 1,000 steps; CRoPE QKV ends where RoPE would with a fifth fewer steps."""

    def loss(variant, steps):
        return 3 - 0.1 * log2(steps * (0.8 if variant == TIED else 1) / 1000)

    held = {
        "crope-rates": [
            card(name, seed, 3 + abs(RATES.index(rate) - RATES.index(BEST.get(name, 0.004))), config={"lr": rate})
            for name in VARIANTS
            for rate in RATES
            for seed in RATE_SEEDS
        ],
        "crope-rates-lengths": [
            at(name, steps, rate, seed, 3 + abs(RATES.index(rate) - RATES.index(BEST[name])))
            for name in BEST
            for steps in LENGTHS
            for rate in RATES
            for seed in RATE_SEEDS
        ],
        "crope-confirm-lengths": [
            at(name, steps, BEST[name], seed, loss(name, steps) + 0.01 * seed)
            for name in BEST
            for steps in LENGTHS
            for seed in SEEDS
        ],
    }
    for module in (cards, planned_more):
        monkeypatch.setattr(module, "load_all", lambda name, _rung: held[name])
    return held


@pytest.mark.parametrize(
    ("loss", "steps"), [(4.0, 100), (3.0, 400), (3.5, 200), (2.75, 800), (2.5, 1600), (4.5, 50), (2.25, 3200)]
)
def test_lines_over_the_logarithm_of_the_steps(loss, steps):
    assert run_lengths.steps_for(loss, {400: 3.0, 100: 4.0, 1600: 2.5}) == pytest.approx(steps)


@pytest.mark.parametrize("reference", [{}, {100: 3.0}, {100: 3.0, 200: 3.0}, {100: 4.0, 200: 3.0, 400: 3.1}])
def test_a_reference_that_does_not_fall_says_nothing(reference):
    with pytest.raises(ValueError, match="each below the one before"):
        run_lengths.steps_for(3.0, reference)


@pytest.mark.usefixtures("planted")
def test_a_model_that_ends_where_four_fifths_of_the_steps_would_needs_a_quarter_more():
    found = run_lengths.more_steps()
    assert list(found) == list(LENGTHS)
    for shares in found.values():
        assert shares == pytest.approx([0.25] * len(SEEDS))


@pytest.mark.usefixtures("planted")
def test_the_differences_of_the_four_lengths_are_one_family():
    found = run_lengths.compared()
    assert list(found) == list(LENGTHS)
    assert [finding.interval.mean for finding in found.values()] == pytest.approx([-0.1 * log2(0.8)] * 4)
    assert {finding.outcome for finding in found.values()} == {"worse"}


@pytest.mark.parametrize("name", ["crope-rates-lengths", "crope-confirm-lengths"])
def test_nothing_is_said_while_a_card_is_missing(planted, name):
    assert run_lengths.more_steps()
    assert run_lengths.compared()
    planted[name][:] = [c for c in planted[name] if (c.variant, c.seed, c.config["lr"]) != (PLAIN, *gone(name))]
    assert run_lengths.more_steps() == {}
    assert run_lengths.compared() == {}
    assert run_lengths.ends(PLAIN) == {}


def gone(name):
    return (0, 0.008) if "rates" in name else (5, 0.004)


def test_a_model_s_ends_are_those_of_its_own_best_rate(planted):
    planted["crope-confirm-lengths"] += [at(TIED, steps, 0.004, seed, 9.0) for steps in LENGTHS for seed in SEEDS]
    assert plan_answers.rates_elsewhere("lengths") == {
        (name, f"WikiText-2, {steps} steps"): BEST[name] for name in BEST for steps in LENGTHS
    }
    assert run_lengths.ends(TIED)[1000][3] == pytest.approx(3 - 0.1 * log2(0.8) + 0.03)
