"""The order of nine placements: judged by the cards, and by planted cards that say something else."""

from dataclasses import replace

import pytest

from rope_lab.algebra import rankings, rotation
from rope_lab.chapters.ch16_nine_placements import claims_book as own
from rope_lab.chapters.ch16_nine_placements import claims_su19 as nine
from rope_lab.chapters.ch16_nine_placements.claims_su19 import JUDGED
from rope_lab.chapters.ch16_nine_placements.experiments_rates import FIRST
from rope_lab.claims import load, verify
from rope_lab.training.results import cards, intervals


def plant(monkeypatch, losses, *, seeds=5):
    real, noise = cards.load_all(JUDGED, nine.RUNG)[0], (0.001, -0.002, 0.0, 0.002, -0.001)
    made = [
        replace(real, variant=v, seed=s, final=real.final | {"loss": loss + (1 if v in ("QK", "K") else -1) * noise[s]})
        for v, loss in losses.items()
        for s in range(seeds)
    ]
    monkeypatch.setattr(cards, "load_all", lambda *_, **__: made)


def outcome(name):
    return next(iter(verify(name))).outcome


AS_PRINTED = {
    "QK": 2.71,
    "QKVO": 2.71,
    "K": 2.77,
    "VO": 2.77,
    "QKV": 2.783,
    "NoPE": 2.795,
    "O": 2.841,
    "Q": 2.851,
    "V": 2.856,
}


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
    found = cards.load_all(JUDGED, nine.RUNG)
    assert len(found) == 9 * 5  # nine placements, five seeds each
    for better, worse in (("QKV", "K"), ("QKV", "VO"), ("QKVO", "QK"), ("VO", "NoPE"), ("QK", "VO"), ("Q", "NoPE")):
        gap = intervals.paired(found, worse, better)
        assert gap.decided, (better, worse)
        assert gap.mean > 0
    assert not intervals.paired(found, "O", "NoPE").decided
    assert not intervals.paired(found, "V", "NoPE").decided
    assert outcome("su19.chain") == outcome("su19.vo-vs-nope-qk") == "not reproduced"


def test_every_kind_of_judgement(monkeypatch):
    plant(monkeypatch, AS_PRINTED)
    found = cards.load_all(JUDGED, nine.RUNG)
    assert nine.judge(found, "QK", "VO")[1] == "as said"
    assert nine.judge(found, "VO", "QK")[1] == "the other way"
    assert nine.judge(found, "QK", "QKVO")[1] == "undecided"
    assert nine.judge(found, "QK", "QKVO", "about")[1] == "as said"
    assert nine.judge(found, "QK", "VO", "about")[1] == "told apart"
    assert nine.judge(found, "QK", "QKO") == (None, "no runs")


def test_a_single_published_loss_is_only_read():
    table = [entry for name, entry in load().items() if name.startswith("su19.table.")]
    assert len(table) == 9
    assert {entry.evidence for entry in table} == {"read"}
    assert load()["su19.table.qk"].statement.startswith("The loss of QK is 2.712")


# --- the book's own claims ---


@pytest.mark.parametrize(
    ("name", "broken", "claims"),
    [
        ("exchanges", lambda a, b: sum(a[k] != b[k] for k in a), {"book.kendall-exchanges", "book.kendall-counts"}),
        ("orders_at", lambda n: (1,) * (n * (n - 1) // 2 + 1), {"book.kendall-counts"}),
        (
            "spearman_rho",
            lambda a, b: 1 - 6 * sum(abs(a[k] - b[k]) for k in a) / (len(a) ** 3 - len(a)),
            {"book.spearman"},
        ),
        ("paired_p", lambda _: 0.04, {"book.paired-p"}),
        ("holm", lambda p, *, level: [k for k in p if p[k] <= level / 2], {"book.holm"}),
    ],
)
def test_control_broken_rankings_are_seen_by_name(monkeypatch, name, broken, claims):
    monkeypatch.setattr(rankings, name, broken)
    ours = ["book.kendall-exchanges", "book.kendall-counts", "book.spearman", "book.paired-p", "book.holm"]
    assert {one for one in ours if next(iter(verify(one))).failed} == claims


def test_control_another_schedule_wraps_elsewhere(monkeypatch):
    real = rotation.frequencies
    monkeypatch.setattr(rotation, "frequencies", lambda d, *, base: real(d, base=base * 2))
    assert next(iter(verify("book.wrapping-planes"))).failed


def test_what_is_said_of_the_base():
    gap = own.base_gap("V")
    assert gap.n == 3
    assert gap.mean < 0
    assert not gap.decided
    assert outcome("book.base-and-v") == "not reproduced"
    assert outcome("book.nope-has-no-base") == "reproduced"


def plant_shift(monkeypatch, change):
    """The real cards, with the losses of shifted windows changed by ``change(variant, seed, measured)``."""
    real = cards.load_all(JUDGED, "cpu")
    made = [
        replace(c, measured=c.measured | {"shift 8": change(c.variant, c.seed, dict(c.measured["shift 8"]))})
        for c in real
    ]
    monkeypatch.setattr(cards, "load_all", lambda *_, **__: made)


def test_what_is_said_of_windows_that_begin_elsewhere():
    assert outcome("book.shift-keeps-relative") == outcome("book.shift-and-qkv") == "reproduced"


@pytest.mark.parametrize(
    ("variant", "loss", "still", "place"),
    [
        ("QK", lambda m: m["from 0"] + 1e-5, "not reproduced", "reproduced"),  # a relative one that moves
        ("K", lambda m: m["from 0"], "not reproduced", "reproduced"),  # an absolute one that does not
        ("QKV", lambda m: m["from 0"] + 0.5, "reproduced", "not reproduced"),  # QKV is not the last
    ],
)
def test_control_one_seed_that_disagrees_is_seen(monkeypatch, variant, loss, still, place):
    def change(name, seed, m):
        return m | {"loss": loss(m)} if (name, seed) == (variant, 2) else m

    plant_shift(monkeypatch, change)
    assert outcome("book.shift-keeps-relative") == still
    assert outcome("book.shift-and-qkv") == place


def test_what_is_said_of_training_anywhere():
    assert outcome("book.trained-anywhere") == "reproduced"


@pytest.mark.parametrize(
    ("variant", "seed", "loss"),
    [
        ("QKV", 3, lambda nope, _own: nope - 0.001),  # one of the five ahead of NoPE in one seed
        ("QK", 1, lambda _nope, own: own + 0.01),  # a control that moved
    ],
)
def test_control_one_run_trained_anywhere_that_disagrees_is_seen(monkeypatch, variant, seed, loss):
    real = {name: cards.load_all(name, "cpu") for name in (JUDGED, "placements-anywhere")}
    nope, own = (next(c for c in real[JUDGED] if (c.variant, c.seed) == (v, seed)) for v in ("NoPE", "QK"))
    changed = {"loss": loss(nope.loss(), own.loss())}
    real["placements-anywhere"] = [
        replace(c, measured={"shift 8": c.measured["shift 8"] | changed})
        if (c.variant, c.seed) == (variant, seed)
        else c
        for c in real["placements-anywhere"]
    ]
    monkeypatch.setattr(cards, "load_all", lambda name, *_: real[name])
    assert outcome("book.trained-anywhere") == "not reproduced"


@pytest.mark.parametrize(
    ("variant", "seed", "rates", "by", "said"),
    [
        ("K", 0, {}, 0, "reproduced"),  # nothing is changed
        ("K", 1, {0.008}, -0.2, "not reproduced"),  # one run ends ahead of NoPE
        ("QKV", 2, {0.002}, -0.15, "not reproduced"),  # one run ends ahead of a run of K
        ("QKVO", 2, {0.002, 0.00283, 0.004, 0.00566, 0.008}, -0.1, "not reproduced"),  # never behind QK
    ],
)
def test_what_is_said_of_five_rates(monkeypatch, variant, seed, rates, by, said):
    found = [
        replace(c, measured={"shift 8": {"loss": c.measured["shift 8"]["loss"] + by}})
        if (c.variant, c.seed) == (variant, seed) and c.config["lr"] in rates
        else c
        for c in cards.load_all("placements-rates", "cpu")
    ]
    monkeypatch.setattr(cards, "load_all", lambda *_: found)
    assert outcome("book.placements-over-rates") == said
    beyond = [c for c in found if c.config["lr"] not in FIRST]
    found[:] = [c for c in found if c not in beyond]
    assert {c.variant for c in beyond} == {"QKV"}
    assert outcome("book.placements-over-rates") == said  # it speaks of five rates
    found.pop()
    assert outcome("book.placements-over-rates") == "not attempted"


def test_no_cards_are_no_attempt_at_our_own_claims_either(monkeypatch):
    monkeypatch.setattr(cards, "load_all", lambda *_, **__: [])
    for name in (
        "book.nope-has-no-base",
        "book.base-and-v",
        "book.one-cache-loss",
        "book.shift-keeps-relative",
        "book.shift-and-qkv",
        "book.trained-anywhere",
        "book.placements-over-rates",
    ):
        assert outcome(name) == "not attempted"


@pytest.mark.parametrize(("shared", "said"), [(3.1, "reproduced"), (3.2, "not reproduced"), (3.15, "not reproduced")])
def test_planted_caches_are_compared(monkeypatch, shared, said):
    real, noise = cards.load_all("placements", "cpu")[0], (0.001, -0.002, 0.001)
    made = [
        replace(real, variant=v, seed=s, final=real.final | {"loss": loss})
        for s in range(3)
        for v, loss in (("shared latent", shared + noise[s]), ("spliced latent", 3.15))
    ]
    monkeypatch.setattr(cards, "load_all", lambda *_, **__: made)
    assert outcome("book.one-cache-loss") == said
