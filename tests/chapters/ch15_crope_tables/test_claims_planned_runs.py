"""The plan's runs in chapter 15: planted cards that turn each claim, and the sentences of the page."""

import pytest

from rope_lab.chapters.ch15_crope_tables import plan_answers
from rope_lab.chapters.ch15_crope_tables.experiments_planned import RATE_SEEDS, RATES, SEEDS, VARIANTS
from rope_lab.training.results import cards
from tests.chapters.ch15_crope_tables.test_claims import outcome
from tests.training.tiny import card

OWN = {name: 0.004 if name in ("RoPE", "absolute scaled") else 0.008 for name in VARIANTS}


def scanned(best=OWN, gap=None):
    """Cards of the sweep: each model is best where ``best`` says; ``gap`` gives CRoPE QKV minus RoPE at each rate."""
    made = []
    for name in VARIANTS:
        for place, rate in enumerate(RATES):
            for seed in RATE_SEEDS:
                of = "RoPE" if gap and name == "CRoPE QKV" else name
                loss = 3 + 0.3 * abs(place - RATES.index(best[of])) + 0.01 * seed
                made.append(card(name, seed, loss + (gap[place] if of != name else 0), config={"lr": rate}))
    return made


def plant(monkeypatch, **held):
    monkeypatch.setattr(cards, "load_all", lambda name, _rung: held[name.replace("crope-", "")])


def test_best_rates(monkeypatch):
    assert outcome("book.best-rates") == "reproduced"
    plant(monkeypatch, rates=scanned())
    assert outcome("book.best-rates") == "reproduced"


@pytest.mark.parametrize("moved", [{"RoPE": 0.008}, {"CRoPE QKVO": 0.004}, {"absolute scaled": 0.002}])
def test_control_best_rates(monkeypatch, moved):
    plant(monkeypatch, rates=scanned({**OWN, **moved}))
    assert outcome("book.best-rates") == "not reproduced"


def test_a_best_rate_at_an_edge_decides_nothing(monkeypatch):
    plant(monkeypatch, rates=scanned({**OWN, "RoPE": 0.016}))
    assert outcome("book.best-rates") == "not attempted"


TURNS = (0.03, 0.02, 0.03, 0.001, -0.03, -0.3)


def test_the_sign_turns(monkeypatch):
    assert outcome("book.sign-turns-with-the-rate") == "reproduced"
    plant(monkeypatch, rates=scanned(gap=TURNS))
    assert outcome("book.sign-turns-with-the-rate") == "reproduced"
    plant(monkeypatch, rates=scanned(gap=TURNS)[:-19])
    assert outcome("book.best-rates") == "not attempted"


@pytest.mark.parametrize(("place", "gap"), [(0, -0.01), (3, 0.01), (5, 0.01)])
def test_control_the_sign_turns(monkeypatch, place, gap):
    plant(monkeypatch, rates=scanned(gap=[*TURNS[:place], gap, *TURNS[place + 1 :]]))
    assert outcome("book.sign-turns-with-the-rate") == "not reproduced"


def confirmed(above, rates=OWN):
    """Cards of the comparison: each model above RoPE by what is given, and a thousandth of noise."""
    return [
        card(name, seed, 3 + seed + above[name] + 0.001 * ((seed * (2 + place)) % 3), config={"lr": rates[name]})
        for place, name in enumerate(VARIANTS)
        for seed in SEEDS
    ]


PLANNED = ("book.tied-at-own-rates", "book.tied-against-narrower", "book.absolute-at-own-rates")
AS_FOUND = {
    "RoPE": 0.0,
    "CRoPE QKV": -0.03,
    "CRoPE QKVO": -0.03,
    "RoPE, size of QKV": -0.003,
    "RoPE, size of QKVO": 0.003,
    "absolute scaled": 0.3,
}


def outcomes():
    return [outcome(name) for name in PLANNED]


def test_the_planned_answers(monkeypatch):
    plant(monkeypatch, rates=scanned(), confirm=confirmed(AS_FOUND))
    assert outcomes() == ["reproduced"] * 3
    plant(monkeypatch, rates=scanned(), confirm=confirmed(AS_FOUND)[:-1])
    assert outcomes() == ["not attempted"] * 3


@pytest.mark.parametrize(
    ("moved", "turned"),
    [
        ({"CRoPE QKV": 0.03}, PLANNED[:2]),
        ({"CRoPE QKVO": 0.0}, PLANNED[:2]),
        ({"RoPE, size of QKVO": -0.035}, PLANNED[1:2]),
        ({"absolute scaled": 0.015}, PLANNED[2:]),
        ({"absolute scaled": -0.3}, PLANNED[2:]),
    ],
)
def test_control_the_planned_answers(monkeypatch, moved, turned):
    plant(monkeypatch, rates=scanned(), confirm=confirmed({**AS_FOUND, **moved}))
    assert {name for name, found in zip(PLANNED, outcomes(), strict=True) if found == "not reproduced"} == set(turned)


ONE_RATE = {**AS_FOUND, "CRoPE QKV": 0.01, "CRoPE QKVO": 0.01, "RoPE, size of QKVO": -0.003}
AT_ONE_RATE = dict.fromkeys(VARIANTS, 0.004)


def test_one_rate_for_all(monkeypatch):
    assert outcome("book.tied-at-one-rate") == "reproduced"
    plant(monkeypatch, rates=scanned(), confirm=confirmed(ONE_RATE, AT_ONE_RATE))
    assert outcome("book.tied-at-one-rate") == "reproduced"
    plant(monkeypatch, rates=scanned(), confirm=confirmed(ONE_RATE, AT_ONE_RATE)[1:])
    assert outcome("book.tied-at-one-rate") == "not attempted"


@pytest.mark.parametrize(
    "moved", [{"CRoPE QKV": -0.01}, {"CRoPE QKVO": 0.0195}, {"RoPE, size of QKV": 0.02, "CRoPE QKV": 0.01}]
)
def test_control_one_rate_for_all(monkeypatch, moved):
    plant(monkeypatch, rates=scanned(), confirm=confirmed({**ONE_RATE, **moved}, AT_ONE_RATE))
    assert outcome("book.tied-at-one-rate") == "not reproduced"


def test_what_the_page_says_of_the_plan():
    assert outcomes() == ["reproduced"] * 3
    primary = {f.name: f for f in plan_answers.answers()}
    for name in ("CRoPE QKV minus RoPE", "CRoPE QKVO minus RoPE"):
        assert primary[name].beyond_margin
    assert primary["CRoPE QKV minus RoPE, size of QKV"].interval.half > primary["CRoPE QKV minus RoPE"].interval.half
    for finding in plan_answers.answers(plan_answers.NARROWED):
        assert not finding.interval.decided  # the narrower MLP is level with RoPE, as far as the seeds can tell
    assert all(f.left_out(3)[1] == 0 for f in primary.values())
