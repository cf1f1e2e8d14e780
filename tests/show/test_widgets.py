"""Every widget in Python: its state, its words, and its script."""

import html
from pathlib import Path

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.show import widgets
from rope_lab.show.widgets import kit
from rope_lab.show.widgets.impulse_response import ImpulseResponse
from rope_lab.show.widgets.kit import Widget, catalogue, join, state
from rope_lab.show.widgets.shift_sentence import ShiftSentence
from rope_lab.show.widgets.two_hands import TwoHands

WIDGETS = catalogue()
FOLDER = Path(widgets.__file__).parent


def test_catalogue_finds_the_widgets():
    assert {TwoHands, ShiftSentence} <= set(WIDGETS)


@pytest.mark.parametrize("cls", WIDGETS, ids=lambda cls: cls.slug)
class TestEach:
    def test_random_states_are_states(self, cls):
        rng = np.random.default_rng(0)
        for _ in range(5):
            drawn = cls.random_state(rng)
            assert set(drawn) == set(cls.state_names())
            assert {name: value for name, value in cls(**drawn).state().items() if name in drawn} == drawn

    def test_words(self, cls):
        widget = cls()
        assert len(widget.title.split()) >= 3
        assert len(widget.fallback().split()) >= 15
        assert widget.fallback() in repr(widget._repr_mimebundle_())

    def test_a_page_without_scripts_still_says_it(self, cls, monkeypatch):
        shown = []
        monkeypatch.setattr(kit, "display", lambda data, **_: shown.append(data))
        cls()._ipython_display_()
        assert shown[0]["text/html"].startswith("<noscript>")
        assert html.escape(cls().fallback()) in shown[0]["text/html"]
        assert "application/vnd.jupyter.widget-view+json" in shown[1]
        assert shown[1]["text/plain"] == cls().fallback()

    def test_script_is_one_module_and_small(self, cls):
        script = join(FOLDER / f"{cls.slug}.js")
        assert "import " not in script
        assert script.count("export default") == 1
        assert len(script) + len(cls._css) < 72_000

    def test_unknown_state_is_refused(self, cls):
        with pytest.raises(TypeError, match="has no state 'nonsense'; it has: "):
            cls(nonsense=1)


def test_a_name_that_ipywidgets_has_is_refused():
    with pytest.raises(TypeError, match="the state cannot be named 'keys'"):

        class Bad(Widget):
            keys = state(traitlets.List())

            @staticmethod
            def compute(state):
                return state


def test_a_constant_goes_to_the_script_and_cannot_be_set():
    assert ImpulseResponse()._initial["steps"] == 48
    with pytest.raises(TypeError, match="has no state 'steps'"):
        ImpulseResponse(steps=3)


def test_sliders_get_the_limits_of_the_state():
    assert TwoHands()._limits["m"] == [0, 16]


def test_a_value_out_of_range_is_refused():
    with pytest.raises(traitlets.TraitError):
        TwoHands(m=99)


@given(seed=st.integers(0, 2**32 - 1))
def test_rotated_positions_do_not_see_the_shift(seed):
    drawn = ShiftSentence.random_state(np.random.default_rng(seed))
    assert ShiftSentence.compute(drawn)["rotated"]["change"] < 1e-11


def test_control_added_positions_do_see_the_shift():
    assert ShiftSentence.compute(ShiftSentence(shift=9).state())["added"]["change"] > 0.1
