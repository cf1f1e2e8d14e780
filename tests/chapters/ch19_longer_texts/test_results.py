"""What cards of long contexts say: planted losses come out as they went in, by seed and in the plan's order."""

from dataclasses import replace

import numpy as np
import pytest

from rope_lab.algebra import frequencies
from rope_lab.chapters.ch19_longer_texts import results as long_contexts
from rope_lab.claims import verify
from rope_lab.nn.long_texts import schedules
from rope_lab.training.experiments.catalogue import experiment
from rope_lab.training.results import cards, interval
from tests.training.tiny import card

FIXED = [name for name in schedules(128, factor=8) if not name.startswith("dynamic")]


def long_card(variant, seed, **losses):
    """A card whose inside is 1 and whose beyond is ``before`` or ``after``; other schedules lie one higher each."""
    read = {
        when: {name: [9.0, 1.0 + k, *[losses[when] + k] * 14] for k, name in enumerate(FIXED)}
        for when in ("before", "after")
    }
    return card(
        variant, seed, config={"seq_len": 128}, measured={"longer texts": {"length": 1024, "width": 64, **read}}
    )


FOUND = [long_card(v, s, before=3.0 + s, after=2.0) for v in ("RoPE", "NoPE", "small base") for s in (0, 1)]


@pytest.mark.parametrize(("name", "new"), [("Llama 3", True), ("YaRN", True), ("linear", False)])
def test_whether_offsets_beyond_are_half_a_radian_off_every_combination_of_the_training(name, new):
    used = schedules(128, factor=8)[name][0].frequencies(32, base=10_000.0)
    turned, had = (
        np.exp(1j * np.outer(np.arange(*ends), theta))
        for ends, theta in (((128, 1020), used), ((128,), frequencies(32)))
    )
    off = np.abs(np.angle(turned[:, None] / had)).max(axis=-1).min(axis=1)
    assert set(off > 0.5 + 1e-9) == {new}


def test_inside_is_the_last_bin_of_the_window_and_beyond_the_mean_of_those_after():
    assert long_contexts.inside(FOUND) == {0: 1.0, 1: 1.0}
    assert long_contexts.beyond(FOUND) == {0: 3.0, 1: 4.0}
    assert long_contexts.beyond(FOUND, "linear", variant="NoPE", when="after") == {0: 3.0, 1: 3.0}
    assert long_contexts.middles(FOUND[0])[:2] == [32.0, 96.0]


def test_the_gaps_have_their_sign_and_order():
    gaps = long_contexts.beyond_gaps(FOUND)
    assert list(gaps.values()) == [
        {0: 2.0, 1: 3.0},  # beyond minus inside
        {0: 1.0, 1: 1.0},  # NTK-aware stands behind linear in the list
        {0: 1.0, 1: 1.0},  # YaRN behind YaRN without its factor
        {0: 1.0, 1: 1.0},
        {0: 2.0, 1: 3.0},
        {0: 2.0, 1: 3.0},
    ]
    assert len(long_contexts.beyond_gaps(FOUND[:2])) == 4  # no card of a control: no control
    assert long_contexts.beyond_gaps(FOUND[2:4]).keys() == {"no positions: beyond minus inside"}


def test_a_seed_that_one_side_lacks_is_left_out():
    assert long_contexts.minus({0: 2.0, 3: 1.0}, {0: 1.0, 2: 9.0}) == {0: 1.0}


def test_streams_are_compared_over_their_second_half():
    ways = {name: [0.0, 0.0, 1.0 + k, 3.0 + k] for k, name in enumerate(("recomputed", "re-turned"))}
    ways |= {f"{name}, bfloat16": [0.0, 0.0, 5.0, 7.0] for name in ("re-turned", "unturned", "by blocks")}
    ways |= {name: [9.0, 9.0, 5.0, 6.0] for name in ("unturned", "by blocks")}
    found = [card("RoPE", seed, measured={"stream": {"window": 128, "streams": 4, "ways": ways}}) for seed in (1, 0)]
    assert long_contexts.later_half(found, "recomputed") == {0: 2.0, 1: 2.0}
    assert [gaps[1] for gaps in long_contexts.stream_gaps(found).values()] == [3.0, 1.0, 2.5, 0.5, 0.5]
    assert long_contexts.stream_gaps([]) == {}


@pytest.mark.parametrize("name", ["longer-texts", "cache-stream"])
def test_every_committed_card_is_of_a_run_that_the_experiment_asks_for(name):
    asked = {run.digest for run in experiment(name).runs}
    found = cards.load_all(name, "cpu")
    assert {card.config_hash for card in found} <= asked
    assert found


def test_the_committed_schedules_are_those_of_the_measure():
    found = cards.load_all("longer-texts", "cpu")
    assert long_contexts.schemes(found) == long_contexts.schemes(found[:2]) or len(found) < 9
    rope = [c for c in found if c.variant == "RoPE"]
    assert long_contexts.schemes(rope) == list(schedules(128, factor=8))
    assert long_contexts.schemes(rope, when="after") == FIXED


def test_the_unturned_store_is_the_re_turned_one_in_every_seed():
    """The control of the stream, and planted noise that it would see."""
    found = cards.load_all("cache-stream", "cpu")
    exact = "unturned in float32 minus re-turned in float32"
    assert max(abs(gap) for gap in long_contexts.stream_gaps(found)[exact].values()) < 2e-5
    ways = {
        name: [loss + 1e-3 * (name == "unturned") for loss in row]
        for name, row in found[0].measured["stream"]["ways"].items()
    }
    planted = replace(found[0], measured={"stream": {**found[0].measured["stream"], "ways": ways}})
    assert interval(long_contexts.stream_gaps([planted])[exact].values()).mean > 5e-4


def test_the_streamed_models_are_those_that_read_longer_texts():
    longer = {card.seed: card for card in cards.load_all("longer-texts", "cpu") if card.variant == "RoPE"}
    for streamed in cards.load_all("cache-stream", "cpu"):
        assert streamed.final == longer[streamed.seed].final


def test_what_stretching_and_rounding_cost_is_compared_when_all_runs_are_made(monkeypatch):
    made = []
    for variant, more in (("RoPE", 0.0), ("CRoPE QKV", 0.5)):
        for seed in range(5):
            own = long_card(variant, seed, before=2.0, after=3.0 + more + 0.001 * seed)
            bits = {"whole": 1.0, "8 bits": 1.0, "4 bits": 1.25 - more + 0.001 * seed}
            made.append(replace(own, measured={**own.measured, "rounded": bits}))
    assert long_contexts.stretched(made[:-1]) == {}
    found = long_contexts.stretched(made)
    assert [each.outcome for each in found["stretched"]] == ["worse"] * 3
    assert [each.outcome for each in found["rounded"]] == ["equivalent", "better"]
    assert found["rounded"][1].interval.mean == pytest.approx(-0.5)
    for own, outcome in ((made[:-1], "not attempted"), (made, "not reproduced")):  # and so say the two claims
        monkeypatch.setattr(cards, "load_all", lambda *_, own=own: own)
        assert {each.outcome for each in verify("book.crope-[sr]*ed")} == {outcome}
