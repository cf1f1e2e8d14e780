"""Rates on three corpora in chapter 15: the real cards, and planted ones that turn each claim."""

from dataclasses import replace

import pytest

from rope_lab.chapters.ch15_crope_tables import experiments_planned as planned
from rope_lab.chapters.ch15_crope_tables import experiments_planned_more as planned_more
from rope_lab.chapters.ch15_crope_tables.claims_book_other_corpora import LISTS, NARROWEST, PLAIN, TIED
from rope_lab.training.results import cards
from tests.chapters.ch15_crope_tables.test_claims import outcome

NAMES = ("book.sign-turns-on-three-corpora", "book.level-on-two-corpora")
REAL = {name: cards.load_all(name, "cpu") for name in LISTS.values()}


def outcomes():
    return [outcome(name) for name in NAMES]


@pytest.fixture
def change(monkeypatch):
    def changed(of):
        """Every list with each card's loss as ``of(list, variant, rate, seed, loss)`` says; None takes the card out."""
        held = {}
        for name, found in REAL.items():
            losses = [(c, of(name, c.variant, c.config["lr"], c.seed, c.loss())) for c in found]
            held[name] = [replace(c, final=c.final | {"loss": x}) for c, x in losses if x is not None]
        for module in (cards, planned, planned_more):
            monkeypatch.setattr(module, "load_all", lambda name, _rung: held[name])

    return changed


def test_what_the_page_says_of_three_corpora():
    assert outcomes() == ["reproduced"] * 2
    assert planned_more.own_rates("ptb")[PLAIN, "PTB"] == planned_more.own_rates("ptb")[TIED, "PTB"] == 0.008
    on_pg19 = planned_more.own_rates("pg19")
    assert {on_pg19[model, "PG-19"] for model in planned.VARIANTS if model != "absolute scaled"} == {0.004}


@pytest.mark.parametrize("name", LISTS.values())
@pytest.mark.parametrize("rate", [0.002, 0.008, 0.016])
def test_control_one_seed_on_the_other_side(change, name, rate):
    real = {(c.config["lr"], c.seed): c.loss() for c in REAL[name] if c.variant == PLAIN}
    asked = rate == 0.002 or rate == max(r for r, _ in real)
    aside = -0.001 if rate == 0.002 else 0.001

    def of(where, variant, at, seed, loss):
        here = (where, variant, at, seed) == (name, TIED, rate, 1)
        return real[at, seed] + aside if here and (at, seed) in real else loss

    change(of)
    assert outcomes()[0] == ("not reproduced" if asked else "reproduced")


@pytest.mark.parametrize("name", ["crope-rates-ptb", "crope-rates-pg19"])
def test_control_one_seed_beyond_the_margin(change, name):
    def of(where, variant, _rate, seed, loss):
        return loss + 0.04 if (where, variant, seed) == (name, TIED, 0) else loss

    change(of)
    assert outcomes()[1] == "not reproduced"


def test_a_missing_card_is_no_attempt(change):
    change(lambda _list, variant, rate, seed, loss: None if (variant, rate, seed) == (PLAIN, 0.002, 2) else loss)
    assert outcomes() == ["not attempted"] * 2


@pytest.fixture
def plant(monkeypatch):
    real = cards.load_all

    def planted(where, of):
        """The cards of one list as ``of(card)`` changes them; None takes a card out."""

        def load(name, rung):
            found = real(name, rung)
            return found if name != where else [changed for changed in map(of, found) if changed is not None]

        monkeypatch.setattr(cards, "load_all", load)

    return planted


def moved(card, by):
    return replace(card, final=card.final | {"loss": card.final["loss"] + by})


def test_penn_treebank_s_eight_seeds(plant):
    name, where = "book.tied-on-penn-treebank", "crope-confirm-ptb"
    assert outcome(name) == "reproduced"
    plant(where, lambda card: moved(card, 0.03) if card.variant == TIED else card)
    assert outcome(name) == "not reproduced"
    plant(where, lambda _: None)
    assert outcome(name) == "not attempted"


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(("variant", "by"), [(TIED, -0.1), ("CRoPE QKVO", 0.2), ("absolute scaled", -0.28)])
def test_pg19_s_eight_seeds(plant, variant, by):
    name, where = "book.open-on-pg19", "crope-confirm-pg19"
    assert outcome(name) == "reproduced"
    plant(where, lambda card: moved(card, by) if card.variant == variant else card)
    assert outcome(name) == "not reproduced"
    plant(where, lambda card: None if card.seed == 7 else card)
    assert outcome(name) == "not attempted"


def lifted(card, by, *, step):
    """A card whose validations from a step on are higher, the last one with them."""
    at = zip(card.curve["step"], card.curve["valid_loss"], strict=True)
    losses = [loss if loss is None or s < step else loss + by for s, loss in at]
    return replace(moved(card, by), curve=card.curve | {"valid_loss": losses})


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    ("variant", "seed", "by", "step"),
    [
        (PLAIN, 9, 0.05, 500),  # not so far below its neighbours
        (PLAIN, 9, -0.05, 500),  # farther
        (NARROWEST, 5, -0.05, 500),
        (PLAIN, 4, -0.1, 200),  # another one is there at step 200, and back in the end
    ],
)
def test_control_a_run_on_pg19_that_does_not_stand_apart(plant, variant, seed, by, step):
    name, where = "book.pg19-stands-apart", "crope-confirm-pg19"
    assert outcome(name) == "reproduced"

    def of(card):
        if (card.variant, card.seed) != (variant, seed):
            return card
        return lifted(card, by, step=step) if step == 500 else lifted(lifted(card, by, step=200), -by, step=300)

    plant(where, of)
    assert outcome(name) == "not reproduced"


def test_control_runs_on_wikitext_that_scatter_as_far(plant):
    name = "book.pg19-stands-apart"
    plant("crope-confirm", lambda card: moved(card, 0.05) if card.seed == 3 else card)
    assert outcome(name) == "not reproduced"
    plant("crope-confirm", lambda card: None if card.seed == 3 else card)
    assert outcome(name) == "not attempted"
