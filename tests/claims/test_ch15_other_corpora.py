"""Rates on three corpora in chapter 15: the real cards, and planted ones that turn each claim."""

from dataclasses import replace

import pytest

from rope_lab.claims import verify
from rope_lab.claims.book.ch15_other_corpora import LISTS, PLAIN, TIED
from rope_lab.training.experiments import planned, planned_more
from rope_lab.training.results import cards

NAMES = ("book.sign-turns-on-three-corpora", "book.level-on-two-corpora")
REAL = {name: cards.load_all(name, "cpu") for name in LISTS.values()}


def outcomes():
    return [next(iter(verify(name))).outcome for name in NAMES]


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


def test_penn_treebank_s_eight_seeds(monkeypatch):
    def outcome():
        return next(iter(verify("book.tied-on-penn-treebank"))).outcome

    assert outcome() == "reproduced"
    real = cards.load_all

    def planted(by):
        def load(name, rung):
            found = real(name, rung)
            if name != "crope-confirm-ptb":
                return found
            return [
                c if c.variant != TIED else replace(c, final=c.final | {"loss": c.final["loss"] + by}) for c in found
            ]

        return load

    monkeypatch.setattr(cards, "load_all", planted(0.03))
    assert outcome() == "not reproduced"
    monkeypatch.setattr(cards, "load_all", lambda name, rung: [] if name == "crope-confirm-ptb" else real(name, rung))
    assert outcome() == "not attempted"
