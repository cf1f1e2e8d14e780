"""The order of nine placements: judged by the cards, and by planted cards that say something else."""

from dataclasses import replace

import pytest

from rope_lab.claims import load, verify
from rope_lab.claims.su19 import ch16_nine_placements as nine
from rope_lab.training import cards


def plant(monkeypatch, losses, *, seeds=5):
    real, noise = cards.load_all("placements", nine.RUNG)[0], (0.001, -0.002, 0.0, 0.002, -0.001)
    made = [
        replace(real, variant=v, seed=s, final=real.final | {"loss": loss + (1 if v in ("QK", "K") else -1) * noise[s]})
        for v, loss in losses.items()
        for s in range(seeds)
    ]
    monkeypatch.setattr(cards, "load_all", lambda *_, **__: made)


def outcome(name):
    return next(iter(verify(name))).outcome


AS_PRINTED = {"QK": 2.71, "QKVO": 2.71, "K": 2.77, "VO": 2.77, "QKV": 2.783, "NoPE": 2.795, "O": 2.841, "Q": 2.851,
              "V": 2.856}  # fmt: skip


def test_planted_cards_in_the_printed_order_reproduce_it(monkeypatch):
    plant(monkeypatch, AS_PRINTED)
    assert outcome("su19.chain") == outcome("su19.vo-vs-nope-qk") == "reproduced"


@pytest.mark.parametrize("changed", [{"V": 2.79}, {"QKV": 2.76}, {"QKVO": 2.69}, {"O": 2.795}])
def test_control_one_relation_off_and_it_is_not(monkeypatch, changed):
    plant(monkeypatch, AS_PRINTED | changed)
    assert outcome("su19.chain") == "not reproduced"


def test_two_seeds_are_no_attempt(monkeypatch):
    plant(monkeypatch, AS_PRINTED, seeds=2)
    assert outcome("su19.chain") == "not attempted"


def test_no_runs_are_no_attempt(monkeypatch):
    monkeypatch.setattr(cards, "load_all", lambda *_, **__: [])
    assert outcome("su19.vo-vs-nope-qk") == "not attempted"


def test_what_the_corrections_say_of_our_runs():
    found = cards.load_all("placements", nine.RUNG)
    assert len(found) == 9 * 5  # nine placements, five seeds each
    for better, worse in (("QKV", "K"), ("QKV", "VO"), ("QKVO", "QK"), ("VO", "NoPE"), ("QK", "VO")):
        gap = cards.paired(found, worse, better)
        assert gap.decided, (better, worse)
        assert gap.mean > 0
    assert outcome("su19.chain") == outcome("su19.vo-vs-nope-qk") == "not reproduced"


def test_a_single_published_loss_is_not_attempted():
    table = [entry for name, entry in load().items() if name.startswith("su19.table.")]
    assert len(table) == 9
    assert all(entry.check() == "not attempted" for entry in table)
    assert load()["su19.table.qk"].statement.startswith("The loss of QK is 2.712")


def test_the_gaps_of_the_table():
    assert round(2.719 - 2.712, 3) == 0.007
    assert round(2.795 - 2.783, 3) == 0.012
    assert round(2.856 - 2.841, 3) == 0.015
