"""Four lengths in chapter 15: the real cards, and planted ones that turn each claim."""

from dataclasses import replace

import pytest

from rope_lab.chapters.ch15_crope_tables.run_lengths import PLAIN, TIED
from rope_lab.claims import verify
from rope_lab.training.results import cards

BY_LENGTH, IN_STEPS, DOUBLING = NAMES = ("book.tied-by-length", "book.tied-in-steps", "book.doubling-the-run")


def outcome_of(name):
    return next(iter(verify(name))).outcome


@pytest.fixture
def plant(monkeypatch):
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
    assert outcome_of(name) == "reproduced"


@pytest.mark.parametrize(
    ("steps", "by"), [(250, -0.03), (250, 0.06), (500, 0.03), (1000, -0.04), (1000, 0.04), (2000, 0.03), (2000, -0.012)]
)
def test_control_another_end_of_the_tied_model(plant, steps, by):
    plant(moved(TIED, steps, by))
    assert outcome_of(BY_LENGTH) == "not reproduced"


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize(
    ("steps", "by"), [(250, -0.03), (500, 0.03), (500, -0.02), (1000, 0.02), (2000, -0.02), (2000, 0.02)]
)
def test_control_another_share_of_steps(plant, steps, by):
    plant(moved(TIED, steps, by))
    assert outcome_of(IN_STEPS) == "not reproduced"


@pytest.mark.parametrize(("steps", "by"), [(250, -0.1), (1000, 0.1), (2000, 0.1)])
def test_control_a_doubling_that_gains_less(plant, steps, by):
    plant(moved(PLAIN, steps, by))
    assert outcome_of(DOUBLING) == "not reproduced"


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_card_is_no_attempt(plant, name):
    plant(lambda card: None if (card.variant, card.seed, card.config["steps"]) == (PLAIN, 7, 1000) else card)
    assert outcome_of(name) == "not attempted"
