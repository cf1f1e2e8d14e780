"""A rate between the two best, and what checks it: the real cards, and planted ones that turn each claim."""

from dataclasses import replace

import pytest

from rope_lab.chapters.ch15_crope_tables import plan_answers
from rope_lab.training.results import cards
from tests.chapters.ch15_crope_tables.test_claims import outcome

PROCESSORS, CLOSE = "book.two-processors", "book.close-rates"


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


CHECKS = (
    "book.narrower-at-close-rates",
    "book.judged-by-the-eighth",
    "book.close-rates-on-parabolas",
    "book.close-rates-on-one-processor",
)


def test_the_checks(plant):
    assert [outcome(name) for name in CHECKS] == ["reproduced"] * 4
    plant("crope-between", lambda card: None if (card.variant, card.seed) == ("RoPE", 7) else card)
    assert [outcome(name) for name in CHECKS] == ["not attempted"] * 4


@pytest.mark.parametrize(
    ("variant", "rate", "seed", "by", "turned"),
    [
        ("RoPE", 0.0057, None, 0.012, CHECKS[0]),  # the narrowed models are ahead, and one of the two too far
        ("RoPE", 0.004, 5, -0.24, CHECKS[1]),  # one seed alone turns the choice
        ("CRoPE QKV", 0.0057, None, -0.03, CHECKS[2]),
        ("RoPE, size of QKVO", 0.0057, None, 0.0025, CHECKS[2]),  # the four with a tied model stay level
    ],
)
def test_control_the_checks(plant, variant, rate, seed, by, turned):
    where = "crope-confirm-lengths" if rate == 0.004 else "crope-between"
    plant(where, lambda c: higher(c, by * ((c.variant, c.config["lr"], seed or c.seed) == (variant, rate, c.seed))))
    assert outcome(turned) == "not reproduced"


def test_control_another_processor_on_one_side(plant):
    plant("crope-control", lambda card: None if (card.variant, card.seed) == ("CRoPE QKVO", 7) else card)
    assert outcome(CHECKS[3]) == "not reproduced"  # its copy ran elsewhere


def test_a_parabola_is_read_at_the_lowest_point_of_the_means():
    own = {
        rate: {s: (place - 1.25) ** 2 + s * place for s in plan_answers.SEEDS} for place, rate in enumerate((1, 2, 4))
    }
    found = plan_answers._at_the_bottom(
        {r: {s: x - 6.5 * p for s, x in of.items()} for p, (r, of) in enumerate(own.items())}
    )
    assert found == pytest.approx({s: (s - 6.5) * 1.25 for s in plan_answers.SEEDS})


@pytest.mark.parametrize(
    ("by", "says"), [(0, "reproduced"), (-0.02, "not reproduced"), (None, "not attempted")]
)  # a lower loss of the control, or one of its runs gone
def test_the_control_is_seen(plant, by, says):
    plant("crope-control", lambda c: higher(c, by) if by is not None else None if c.seed == 5 else c)
    assert outcome("book.control-at-close-rates") == says
