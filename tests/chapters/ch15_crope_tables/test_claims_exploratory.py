"""Table 2 at tuned rates, and four lengths: planted cards that turn each claim, and the sentences of the pages."""

from dataclasses import replace

import pytest

from rope_lab.chapters.ch15_crope_tables import experiments_planned_more as planned_more
from rope_lab.chapters.ch15_crope_tables import plan_answers
from rope_lab.chapters.ch15_crope_tables.claims_book_exploratory import FAST, MODELS, NARROW, RATES, SLOW
from rope_lab.chapters.ch15_crope_tables.experiments_planned import RATE_SEEDS, SEEDS
from rope_lab.chapters.ch15_crope_tables.run_lengths import PLAIN, TIED
from rope_lab.claims import verify
from rope_lab.training.results import cards
from tests.training.tiny import card

ROWS = (SLOW, FAST, NARROW)
OWN = {
    (model, row): {SLOW: 0.001, FAST: 0.001, NARROW: 0.002 if model != "absolute scaled" else 0.001}[row]
    for model in MODELS
    for row in ROWS
}
BEFORE = ("book.table2-old-rate", "book.table2-sign-turns")
AFTER = ("book.table2-wide-is-ahead", "book.table2-tied-gains-nothing")


def outcomes(names):
    return [next(iter(verify(name))).outcome for name in names]


def at(model, row, rate, seed, loss):
    return card(model, seed, loss, config={"lr": rate, "setting": f"{row}, rate {rate:g}"})


def tried(best=OWN, tied_low=0.02, tied_high=-0.1):
    """Each model best where ``best`` says; CRoPE QKV minus RoPE in the wide rows as given below and above 0.001."""
    made = []
    for (model, row), own in best.items():
        for rate in (*RATES, 0.004) if row == NARROW and model != "absolute scaled" else RATES:
            loss = 4.5 + 0.4 * abs(rate - own) / 0.001
            if model == "CRoPE QKV" and row != NARROW:
                loss += tied_low if rate < 0.001 else tied_high if rate > 0.001 else 0
            made += [at(model, row, rate, seed, loss + 0.01 * seed) for seed in RATE_SEEDS]
    return made


def confirmed(tied=(0.03, 0.0, -0.05), spread=(0.032, 0.01, 0.1), narrow=0.2):
    """CRoPE QKV above RoPE by ``tied`` in each row, with noise of a size; width 64 above width 128 by ``narrow``."""
    made = []
    for (model, row), rate in OWN.items():
        place = ROWS.index(row)
        for seed in SEEDS:
            loss = 4.5 + (narrow if row == NARROW else 0) + (0.15 if model == "absolute scaled" else 0)
            if model == "CRoPE QKV":
                loss += tied[place] + spread[place] * (seed % 3 - 1)
            made.append(at(model, row, rate, seed, loss))
    return made


@pytest.fixture
def plant(monkeypatch):
    def hold(rates, confirm=()):
        held = {"crope-rates-table2": list(rates), "crope-confirm-table2": list(confirm)}
        for module in (cards, planned_more):
            monkeypatch.setattr(module, "load_all", lambda name, _rung: held[name])

    return hold


def test_the_rates(plant):
    assert outcomes(BEFORE) == ["reproduced"] * 2
    plant(tried())
    assert outcomes(BEFORE) == ["reproduced"] * 2
    plant(tried()[1:])
    assert outcomes(BEFORE) == ["not attempted"] * 2


@pytest.mark.parametrize(
    ("changed", "turned"),
    [
        ({"best": {**OWN, ("RoPE", SLOW): 0.002}}, BEFORE[:1]),
        ({"best": {**OWN, ("RoPE", NARROW): 0.001}}, BEFORE[:1]),
        ({"tied_low": -0.02}, BEFORE[1:]),
        ({"tied_high": 0.02}, BEFORE[1:]),
    ],
)
def test_control_the_rates(plant, changed, turned):
    plant(tried(**changed))
    found = dict(zip(BEFORE, outcomes(BEFORE), strict=True))
    assert all(found[name] == "not reproduced" for name in turned)


def test_the_eight_seeds(plant):
    assert outcomes(AFTER) == ["reproduced"] * 2
    plant(tried(), confirmed())
    assert outcomes(AFTER) == ["reproduced"] * 2
    plant(tried(), confirmed()[:-1])
    assert outcomes(AFTER) == ["not attempted"] * 2


@pytest.mark.parametrize(
    ("changed", "turned"),
    [
        ({"narrow": -0.2}, AFTER[:1]),
        ({"tied": (0.001, 0.0, -0.05)}, AFTER[1:]),
        ({"tied": (0.03, 0.03, -0.05)}, AFTER[1:]),
        ({"tied": (0.03, -0.03, -0.05)}, AFTER[1:]),
        ({"tied": (0.03, 0.0, 0.15)}, AFTER[1:]),
    ],
)
def test_control_the_eight_seeds(plant, changed, turned):
    plant(tried(), confirmed(**changed))
    found = outcomes(AFTER)
    assert [name for name, word in zip(AFTER, found, strict=True) if word == "not reproduced"] == list(turned)


def losses(name):
    return {(c.setting, c.variant, c.seed): c.loss() for c in cards.load_all(name, "cpu")}


def test_what_the_page_says_of_the_repetition():
    old = losses("crope-table2")
    assert losses("crope-table2-again") == {where: loss for where, loss in old.items() if where[0] == "row 4"}


def test_what_the_page_says_of_each_rate():
    own = planned_more.own_rates("table2")
    assert {own[model, row] for model in MODELS for row in (SLOW, FAST)} == {0.0005, 0.001}
    assert {own[model, NARROW] for model in MODELS} == {0.001, 0.002}


def test_what_the_page_says_of_the_runs_that_stand_apart():
    old, of = losses("crope-table2"), losses("crope-rates-table2")
    new = losses("crope-confirm-table2")
    coarse = [old["row 4", "RoPE", s] for s in RATE_SEEDS]
    assert coarse[0] - max(coarse[1:]) > 0.2
    fine = [of[f"{NARROW}, rate 0.002", "RoPE", s] for s in RATE_SEEDS]
    assert max(fine) - min(fine) < 0.05
    eight = {s: new[f"{NARROW}, rate 0.002", "RoPE", s] for s in SEEDS}
    others = [loss for s, loss in eight.items() if s not in (4, 5)]
    assert min(eight[4], eight[5]) - max(others) > 0.15
    assert max(others) - min(others) < 0.1


def test_what_the_page_says_of_the_eight_seeds():
    found = plan_answers.table2()
    assert min(f.interval.mean for name, f in found.items() if name.startswith("width")) > 0.1
    assert all(f.left_out(3)[1] == 0 for name, f in found.items() if name.startswith("width"))


BY_LENGTH, MORE, IN_STEPS, DOUBLING = NAMES = (
    "book.tied-by-length",
    "book.tied-after-more-steps",
    "book.tied-in-steps",
    "book.doubling-the-run",
)


@pytest.fixture
def plant_lengths(monkeypatch):
    real = cards.load_all

    def planted(of):
        """The cards of the comparison as ``of(card)`` changes them; None takes a card out."""

        def load(name, rung):
            found = real(name, rung)
            if name != "crope-confirm-lengths":
                return found
            return [changed for changed in map(of, found) if changed is not None]

        monkeypatch.setattr(cards, "load_all", load)

    return planted


def moved(variant, steps, by):
    """All seeds of a model at one length, or one of them, end elsewhere."""

    def of(card):
        here = card.variant == variant and card.config["steps"] == steps
        return replace(card, final=card.final | {"loss": card.final["loss"] + by}) if here else card

    return of


@pytest.mark.parametrize("name", NAMES)
def test_what_the_page_says_of_four_lengths(name):
    assert outcomes([name])[0] == "reproduced"


@pytest.mark.parametrize(
    ("steps", "by"), [(250, -0.03), (250, 0.06), (500, 0.03), (1000, -0.04), (1000, 0.04), (2000, 0.03), (2000, -0.012)]
)
def test_control_another_end_of_the_tied_model(plant_lengths, steps, by):
    plant_lengths(moved(TIED, steps, by))
    assert outcomes([BY_LENGTH])[0] == "not reproduced"


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize(
    ("steps", "by"), [(250, -0.03), (500, 0.03), (500, -0.02), (1000, 0.02), (2000, -0.02), (2000, 0.02)]
)
def test_control_another_share_of_steps(plant_lengths, steps, by):
    plant_lengths(moved(TIED, steps, by))
    assert outcomes([IN_STEPS])[0] == "not reproduced"


@pytest.mark.parametrize(("steps", "by"), [(250, -0.1), (1000, 0.1), (2000, 0.1)])
def test_control_a_doubling_that_gains_less(plant_lengths, steps, by):
    plant_lengths(moved(PLAIN, steps, by))
    assert outcomes([DOUBLING])[0] == "not reproduced"


@pytest.mark.parametrize(("steps", "by"), [(500, 0.04), (1000, 0.02), (2000, -0.0015), (2000, -0.02)])
def test_control_more_steps_that_change_nothing(plant_lengths, steps, by):
    plant_lengths(moved(TIED, steps, by))
    assert outcomes([MORE]) == ["not reproduced"]


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_card_is_no_attempt(plant_lengths, name):
    plant_lengths(lambda card: None if (card.variant, card.seed, card.config["steps"]) == (PLAIN, 7, 1000) else card)
    assert outcomes([name])[0] == "not attempted"
