"""The two measures of long contexts: what a card holds, which models are read how, what is refused before training."""

import numpy as np
import pytest
import torch

from rope_lab.algebra.frequency_schedules import Linear, Schedule
from rope_lab.chapters.ch19_longer_texts import measures as long_contexts
from rope_lab.nn.gpt import GPTConfig
from rope_lab.nn.long_texts import schedules
from rope_lab.training.run.distributed import processes
from rope_lab.training.run.learner import Learner, model_config
from rope_lab.training.run.loop import load_model, train
from tests.training.tiny import MODEL, TinyCorpus, tiny

CLEAR = {**MODEL, "std": 0.3}  # weights so large that an untrained model attends to something


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_contexts, "TUNING", 1)
        config = tiny(steps=3, measure=("longer texts", "stream"), precision="float32", model=CLEAR)
        return train(config, out=tmp_path_factory.mktemp("run"), corpus=TinyCorpus(), progress=False)


@pytest.mark.deep
def test_every_schedule_has_its_bins_before_and_every_fixed_one_after_the_tuning(run):
    found = run.card.measured["longer texts"]
    assert (found["length"], found["width"]) == (128, 8)
    assert list(found["before"]) == list(schedules(16, factor=8))
    assert list(found["after"]) == [name for name in found["before"] if not name.startswith("dynamic")]
    for losses in (*found["before"].values(), *found["after"].values()):
        assert len(losses) == 16
        assert np.isfinite(losses).all()


@pytest.mark.deep
def test_within_the_first_window_dynamic_ntk_is_the_trained_model_and_others_are_not(run):
    before = run.card.measured["longer texts"]["before"]
    for name in ("dynamic NTK", "dynamic NTK, keys kept"):
        assert before[name][:2] == before["as trained"][:2]
        assert before[name][2:] != before["as trained"][2:]
    assert before["linear"][:2] != before["as trained"][:2]


def test_a_tuning_starts_from_the_finished_weights_and_changes_them(run):
    found = run.card.measured["longer texts"]
    for name, losses in found["after"].items():
        assert 0 < np.abs(np.subtract(losses, found["before"][name])).max() < 0.5


def test_a_tuning_reads_long_texts_under_its_schedule(monkeypatch):
    monkeypatch.setattr(long_contexts, "TUNING", 1)
    config, corpus = tiny(precision="float32", model=CLEAR), TinyCorpus()
    with processes("cpu") as group:
        learner = Learner(config, model_config(config, vocab_size=corpus.vocab_size), group, notice=print)
        one, other = (long_contexts._tuned(config, learner, corpus, s) for s in (Linear(8), Schedule()))
    assert {block.attention.rotary.config.schedule for block in one.blocks} == {Linear(8)}
    assert one.config.seq_len == 128
    assert not torch.equal(one.blocks[0].attention.q.weight, other.blocks[0].attention.q.weight)


@pytest.mark.deep
def test_the_weights_of_the_run_are_those_without_the_measure(run, tmp_path):
    plain = train(tiny(steps=3, precision="float32", model=CLEAR), out=tmp_path, corpus=TinyCorpus(), progress=False)
    for a, b in zip(load_model(run.folder).parameters(), load_model(plain.folder).parameters(), strict=True):
        assert torch.equal(a, b)


def test_a_stream_has_one_bin_a_window_for_each_way(run):
    found = run.card.measured["stream"]
    assert (found["window"], found["streams"]) == (16, 4)
    assert {len(losses) for losses in found["ways"].values()} == {4}  # 75 tokens each: four windows and one target
    assert found["ways"]["re-turned"] == pytest.approx(found["ways"]["unturned"], abs=2e-5)
    assert found["ways"]["re-turned"][1:] != found["ways"]["recomputed"][1:]


@pytest.mark.parametrize("changes", [{"positions": "none"}, {"base": 1.2}])
def test_a_model_without_slow_planes_is_read_as_it_was_trained(tmp_path, monkeypatch, changes):
    monkeypatch.setattr(long_contexts, "TUNING", 1)
    config = tiny(steps=1, measure=("longer texts",), precision="float32", model={**MODEL, **changes})
    found = train(config, out=tmp_path, corpus=TinyCorpus(), progress=False).card.measured["longer texts"]
    assert list(found["before"]) == list(found["after"]) == ["as trained"]


def test_the_dynamic_schedule_asks_for_as_much_as_the_text_is_long():
    schedule, keys = schedules(128, factor=8)["dynamic NTK"]
    fixed = schedules(128, factor=8)["NTK-aware"][0]
    assert (schedule.at(128).factor, schedule.at(1024), keys) == (1, fixed, "recomputed")


def test_slow_planes_are_those_that_have_not_turned_once():
    """16 planes of base 20 in 128 positions: the slowest makes 1.2 turns; of base 30, 0.84."""
    shape = {"vocab_size": 9, "seq_len": 128, "d_model": 64, "n_heads": 2}
    assert not long_contexts._has_slow_planes(GPTConfig(**shape, base=20.0))
    assert long_contexts._has_slow_planes(GPTConfig(**shape, base=30.0))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"measure": ("stream",), "model": {**MODEL, "positions": "none"}},
            "expected positions of rotary,.*got 'none'",
        ),
        ({"measure": ("longer texts",), "model": {**MODEL, "positions": "absolute"}}, "got 'absolute'"),
        ({"measure": ("longer texts",), "model": {**MODEL, "rotated": "qkvo"}}, "got 'rotary', 'qkvo'"),
        ({"measure": ("stream",), "model": {**MODEL, "d_latent": 6}}, "d_latent=6"),
        ({"measure": ("stream",), "bos": True}, "bos=True"),
        ({"measure": ("longer texts",), "seq_len": 20}, "at least 311 tokens .* got 20 and 301"),
        ({"measure": ("longer texts",), "seq_len": 15}, "an even seq_len"),
        ({"measure": ("stream",), "seq_len": 80}, "at least 324 tokens"),
    ],
)
def test_what_could_not_be_measured_in_the_end_stops_before_training(tmp_path, fields, said):
    with pytest.raises(ValueError, match=said):
        train(tiny(**fields), out=tmp_path, corpus=TinyCorpus(), progress=False)
    assert not list(tmp_path.iterdir())
