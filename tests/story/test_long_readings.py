"""The published model beyond its window and in a stream: read as the plain model is, where the two are one."""

import pytest
import torch

from rope_lab.algebra.frequency_schedules import NTK
from rope_lab.nn.long_texts import rescheduled
from rope_lab.nn.streams import ways
from rope_lab.story import Knobs, beyond_window, load_story, losses, story_stream, through_window


@pytest.fixture(scope="module")
def model():
    return load_story()


def test_another_base_is_another_base_whichever_way_it_is_asked(model):
    """NTK-aware scaling by a schedule, and by the knob of the story."""
    tokens = story_stream()[None, :200]
    knob = losses(model, tokens, knobs=Knobs(scaling="ntk", factor=4.0))
    scaled = rescheduled(model, NTK(4.0), seq_len=200)(tokens[:, :-1])
    there = torch.nn.functional.cross_entropy(scaled.transpose(1, 2), tokens[:, 1:], reduction="none")
    torch.testing.assert_close(there, knob, atol=1e-4, rtol=0)


@pytest.mark.deep
def test_each_schedule_has_its_bins_and_linear_scaling_costs_most(model):
    found = beyond_window(model, names=("as trained", "linear"), factor=2, width=256, n_tokens=2100)
    assert {name: len(row) for name, row in found.items()} == {"as trained": 4, "linear": 4}
    assert all(linear > plain for plain, linear in zip(found["as trained"], found["linear"], strict=True))


def test_a_stream_while_the_cache_fills_is_the_plain_text(model):
    found = through_window(model, window=16, names=("recomputed", "re-turned"), streams=2, n_windows=3)
    plain = losses(model, story_stream()[: 2 * 49].view(2, 49)[:, :17]).double().mean().item()
    assert found["recomputed"][0] == pytest.approx(plain, abs=1e-5)
    assert found["re-turned"][0] == pytest.approx(plain, abs=1e-5)
    assert found["re-turned"][1] != pytest.approx(found["recomputed"][1], abs=1e-5)


def test_re_turned_keys_are_those_of_the_knobs(model):
    """The drop of one token at a time is also a knob of the story: the same losses."""
    found = through_window(model, window=16, names=("re-turned",), streams=1, n_windows=3)
    knob = losses(model, story_stream()[None, :49], knobs=Knobs(window=16, returned=True))
    assert found["re-turned"] == pytest.approx(knob.double().view(3, 16).mean(1).tolist(), abs=1e-4)


def test_the_names_are_those_of_the_ways_and_too_much_text_is_refused(model):
    assert list(through_window(model, window=4, streams=1, n_windows=1)) == list(ways(4))
    with pytest.raises(ValueError, match="expected up to 13618 tokens in all, got 9 streams of 2049"):
        through_window(model, streams=9, n_windows=16)
    with pytest.raises(KeyError, match="cubic"):
        beyond_window(model, names=("cubic",))
