"""A rate between the two best, and two processors: the real cards, and planted ones that turn each claim."""

from dataclasses import replace

import pytest

from rope_lab.claims import verify
from rope_lab.training.results import cards

PROCESSORS = "book.two-processors"


def outcome(name):
    return next(iter(verify(name))).outcome


@pytest.fixture
def plant(monkeypatch):
    real = cards.load_all

    def planted(experiment, of):
        """The cards of an experiment as ``of(card)`` changes them; None takes a card out."""

        def load(name, rung):
            found = real(name, rung)
            return [c for c in map(of, found) if c is not None] if name == experiment else found

        monkeypatch.setattr(cards, "load_all", load)

    return planted


def higher(card, by):
    return replace(card, final=card.final | {"loss": card.final["loss"] + by})


def test_two_processors_end_alike(plant):
    assert outcome(PROCESSORS) == "reproduced"
    plant("crope-confirm", lambda card: None if card.seed == 5 else card)
    assert outcome(PROCESSORS) == "not attempted"


def test_control_a_run_that_ends_elsewhere(plant):
    plant("crope-confirm-lengths", lambda card: higher(card, 0.01 * (card.seed == 4)))
    assert outcome(PROCESSORS) == "not reproduced"


def test_control_one_processor(plant):
    device = cards.load_all("crope-confirm-lengths", "cpu")[0].volatile["device"]
    plant("crope-confirm", lambda card: replace(card, volatile=card.volatile | {"device": device}))
    assert outcome(PROCESSORS) == "not reproduced"
