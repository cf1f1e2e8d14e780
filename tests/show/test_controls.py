"""Controls above a picture: it follows them, stands there without a kernel's help, and an error is seen."""

import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

from rope_lab.show import controls, play


@pytest.fixture
def outputs():
    """What a running IPython is asked to show."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.display_pub = CapturingDisplayPublisher()
    yield shell.display_pub.outputs
    InteractiveShell.clear_instance()


def slider(monkeypatch):
    """The controls of the next `play`, by name, as it makes them."""
    made = {}

    def box(children):
        made.update({widget.description: widget for widget in children})
        return tuple(children)

    monkeypatch.setattr(controls, "VBox", box)
    return made


def test_the_picture_follows_its_controls(outputs, monkeypatch):
    made = slider(monkeypatch)
    play(lambda base, far_out: 100 / base + far_out, base=(0, 10), far_out=[0.5, 7.0])
    assert list(made) == ["base", "far out"]
    assert [output["data"]["text/plain"] for output in outputs[1:]] == ["20.5"]
    made["far out"].value = 7.0
    assert (outputs[-1]["data"]["text/plain"], outputs[-1]["update"]) == ("27.0", True)
    assert outputs[-1]["transient"] == outputs[1]["transient"]


def test_an_error_is_shown_where_the_picture_stood(outputs, monkeypatch):
    made = slider(monkeypatch)
    play(lambda base: 100 / base, base=(0, 10))
    made["base"].value = 0
    assert outputs[-1]["data"]["text/plain"] == "ZeroDivisionError: division by zero"
    made["base"].value = 1
    assert outputs[-1]["data"]["text/plain"] == "100.0"


def test_what_is_no_control_is_refused():
    with pytest.raises(ValueError, match=r"a list, a truth value or a widget, got base=None"):
        play(lambda base: base, base=None)
