"""A rate between the two best, and two processors: the real cards, and planted ones that turn each claim."""

from dataclasses import replace

import pytest

from rope_lab.chapters.ch15_crope_tables import plan_answers
from rope_lab.claims import verify
from rope_lab.training.results import cards

PROCESSORS, CLOSE = "book.two-processors", "book.close-rates"


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


def test_at_close_rates_all_are_level(plant):
    assert outcome(CLOSE) == "reproduced"
    plant("crope-between", lambda card: None if (card.variant, card.seed) == ("CRoPE QKVO", 7) else card)
    assert outcome(CLOSE) == "not attempted"


@pytest.mark.parametrize(("variant", "by"), [("CRoPE QKV", -0.05), ("RoPE", -0.05), ("RoPE, size of QKVO", 0.05)])
def test_control_another_end_between_the_rates(plant, variant, by):
    plant("crope-between", lambda card: higher(card, by * (card.variant == variant)))
    assert outcome(CLOSE) == "not reproduced"


def test_the_tied_models_are_best_where_they_were():
    means = plan_answers.means_at_close_rates()
    assert {min(own, key=own.get) for name, own in means.items() if name.startswith("CRoPE")} == {0.008}
