"""The small model's figure in Python: its texts before a script runs, and its weights for a notebook."""

import zlib

import pytest

from rope_lab.show.widgets.story import Story, weights
from rope_lab.story import Knobs, published_text


def test_both_texts_stand_there_without_a_script():
    widget = Story(knobs=("pairing",), pairing="half")
    assert "layout" in Knobs(layout="half").altered
    published = " ".join(published_text()[:100].split())
    assert f"As it was trained: “{published}" in widget.fallback()
    assert "(layout): “Once upon a time, there was a little goth mist" in widget.fallback()


@pytest.mark.deep
def test_the_texts_are_in_the_state_when_it_is_shown(monkeypatch):
    monkeypatch.setattr("rope_lab.show.widgets.kit.display", lambda *_, **__: None)
    widget = Story(shift=1000)
    assert widget._transcript == {}
    widget._ipython_display_()
    told = widget._transcript
    assert told["trained"] == told["altered"]
    assert len(told["trained"]) == told["prompt"] + widget.n_tokens == len(told["losses"]["altered"]) + 1
    assert told["change"] < 1e-9


@pytest.mark.deep
def test_a_story_goes_on_after_its_end():
    told = Story(n_tokens=300, pairing="half")._texts()
    assert len(told["trained"]) == len(told["altered"]) == told["prompt"] + 300


def test_a_draw_cannot_stand_there_before_the_script():
    with pytest.raises(ValueError, match=r"expected 0 at the start, got 0\.5"):
        Story(temperature=0.5).fallback()


def test_a_notebook_gets_the_weights_when_its_script_asks(monkeypatch):
    widget, sent = Story(), []
    monkeypatch.setattr(widget, "send", lambda *message: sent.append(message))
    widget._handle_custom_msg("something else", [])
    assert sent == []
    widget._handle_custom_msg("weights", [])
    assert sent == [("weights", [weights()])]
    assert widget._check_sum == zlib.crc32(weights())
