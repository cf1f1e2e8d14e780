"""Every widget in Python: its state, its words, and its script."""

import html
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.chapters.ch00_intro.shift_sentence import ShiftSentence
from rope_lab.chapters.ch01_one_plane.ride import Ride
from rope_lab.chapters.ch01_one_plane.two_hands import TwoHands
from rope_lab.chapters.ch10_complex_rnn.impulse_response import ImpulseResponse
from rope_lab.show.widgets import kit
from rope_lab.show.widgets.kit import Widget, join, state
from tests.show.drawn import catalogue, random_state

WIDGETS = catalogue()


def test_catalogue_finds_the_widgets():
    assert {TwoHands, ShiftSentence} <= set(WIDGETS)


@pytest.mark.parametrize("cls", WIDGETS, ids=lambda cls: cls.slug)
class TestEach:
    def test_random_states_are_states(self, cls):
        rng = np.random.default_rng(0)
        for _ in range(5):
            drawn = random_state(cls, rng)
            assert set(drawn) == set(cls.state_names())
            assert {name: value for name, value in cls(**drawn).state().items() if name in drawn} == drawn

    @pytest.mark.deep(keep=12)
    def test_words(self, cls):
        widget = cls()
        assert len(widget.title.split()) >= 3
        assert len(widget.fallback().split()) >= 15
        assert widget.fallback() in repr(widget._repr_mimebundle_())

    @pytest.mark.deep(keep=4)
    def test_a_page_without_scripts_still_says_it(self, cls, monkeypatch):
        shown = []
        monkeypatch.setattr(kit, "display", lambda data, **_: shown.append(data))
        cls()._ipython_display_()
        assert shown[0]["text/html"].startswith("<noscript>")
        assert html.escape(cls().fallback()) in shown[0]["text/html"]
        assert "application/vnd.jupyter.widget-view+json" in shown[1]
        assert shown[1]["text/plain"] == cls().fallback()

    def test_script_is_one_module_and_small(self, cls):
        script = join(Path(inspect.getfile(cls)).with_suffix(".js"))
        assert "import " not in script
        assert script.count("export default") == 1
        data = sum(map(len, re.findall(r"^const \w+ = \{\".*\};$", script, re.MULTILINE)))  # JSON that stands in it
        assert len(script) - data + len(cls._css) < 98_500
        assert data < 60_000

    def test_no_name_stands_twice_in_a_script(self, cls, monkeypatch):  # no browser would start it
        monkeypatch.setattr(kit, "_INDENT", re.compile("(?!)"))
        script = join(Path(inspect.getfile(cls)).with_suffix(".js"))
        names = re.findall(r"^(?:const|let|class|(?:async )?function\*?) (\w+)", script, re.MULTILINE)
        assert len(names) > 20
        assert [name for name in names if names.count(name) > 1] == []

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


def test_a_file_of_json_stands_in_the_script(tmp_path):
    (tmp_path / "data.json").write_text('{"a": [1, 2],\n "é": "\\n</script>"}', encoding="utf-8")
    for name, text in {
        "part.js": 'import DATA from "./data.json";\nexport const one = DATA.a[0];\n',
        "own.js": "one;\n",
    }.items():
        (tmp_path / name).write_text('import { one } from "./part.js";\n' * (name == "own.js") + text, encoding="utf-8")
    assert join(tmp_path / "own.js").endswith(
        'const DATA = {"a":[1,2],"\\u00e9":"\\n</script>"};\nconst one = DATA.a[0];\none;\n'
    )


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
    drawn = random_state(ShiftSentence, np.random.default_rng(seed))
    assert ShiftSentence.compute(ShiftSentence(**drawn).state())["rotated"]["change"] < 1e-11


def test_control_added_positions_do_see_the_shift():
    assert ShiftSentence.compute(ShiftSentence(shift=9).state())["added"]["change"] > 0.1


def test_a_hero_is_a_second_view_of_the_same_model(monkeypatch):
    shown = []
    monkeypatch.setattr(kit, "display", lambda data, **_: shown.append(data))
    widget = TwoHands()
    widget.hero(control="n", readout="logit")
    widget._ipython_display_()
    small, whole = shown[0][kit._VIEW], shown[2][kit._VIEW]
    assert small["hero"] == {"control": "n", "readout": "logit", "figure": 0}
    assert small["model_id"] == whole["model_id"]
    assert "hero" not in whole
    assert "<noscript>" not in str(shown[0])  # the whole figure says it, and after the prediction


def test_a_hero_controls_a_state():
    with pytest.raises(ValueError, match="TwoHands has no state 'angle' to control; it has: k_angle, k_length, m, n, "):
        TwoHands().hero(control="angle", readout="logit")


@given(seed=st.integers(0, 2**32 - 1))
def test_from_the_seat_of_the_query_nothing_moves(seed):
    drawn = random_state(Ride, np.random.default_rng(seed)) | {"placed": 1, "forgot": False}
    seat, ground = (Ride.compute(Ride(**drawn | {"ride": ride}).state()) for ride in (1, 0))
    assert max(seat["hands_moved"], seat["output_moved"], seat["logits_moved"], ground["logits_moved"]) < 1e-11
    assert np.allclose(np.hypot(*np.reshape(seat["query"], (-1, 2)).T), 1)


def test_control_the_ground_a_lost_transpose_and_words_that_are_not_turned_move_something():
    here = {"shift": 5, "theta": 0.5}
    assert Ride.compute(Ride(**here).state())["hands_moved"] > 0.5
    lost = Ride.compute(Ride(**here, ride=1, forgot=True).state())
    assert min(lost["hands_moved"], lost["logits_moved"], lost["output_moved"]) > 0.1
    assert Ride.compute(Ride(**here, placed=0).state())["logits_moved"] > 0.1


def test_a_lost_transpose_turns_the_scene_twice_as_far():
    start, ground, lost = (
        np.array(Ride.compute(Ride(shift=shift, ride=ride, forgot=forgot, theta=0.1).state())["seen"]) @ [1, 1j]
        for shift, ride, forgot in ((0, 0, False), (6, 0, False), (6, 1, True))
    )
    by = np.angle(ground / start)
    back = np.array(Ride.compute(Ride(shift=0, ride=1, forgot=True, theta=0.1).state())["seen"]) @ [1, 1j]
    assert np.allclose(np.angle(lost / back), 2 * by)
