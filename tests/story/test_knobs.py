"""The knobs as values: which are altered, and what is refused."""

import pytest

from rope_lab.story import Knobs


def test_the_defaults_alter_nothing():
    assert Knobs().altered == ()
    assert Knobs(shift=3, frozen=(2,)).altered == ("shift", "frozen")


WRONG = {
    "shift": [-1, 100_001, 1.5, True],
    "layout": ["halves"],
    "direction": [0, 2, True],
    "base": [1, 0, -5, float("nan"), float("inf"), "10", True],
    "frozen": [(0,), (5,), (1, 1)],
    "stretch": [-1, 11, float("nan")],
    "none": [1],
    "round_angles": ["float32"],
    "round_positions": ["half"],
    "scaling": ["dynamic"],
    "factor": [0.5, 65, float("nan")],
    "window": [-1, 1, 8193],
    "sinks": [-1, 65],
    "returned": [0],
}


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_what_is_out_of_range_is_refused_by_name(name, value):
    with pytest.raises((ValueError, TypeError), match=rf"^{name}: expected .*, got"):
        Knobs(**{name: value})


def test_the_window_has_room_beside_the_first_tokens():
    with pytest.raises(ValueError, match="at least 6 tokens with sinks=4, got 5"):
        Knobs(window=5, sinks=4)
    assert Knobs(window=6, sinks=4).altered == ("window", "sinks")
