"""Chapter 7's widget against the algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_lab.algebra.orthogonal_powers import orthogonal_power, split_off
from rope_lab.algebra.rotation import rotation_2d
from rope_lab.show.widgets.powers_of_o import SPAN, PowersOfO


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_widget_is_the_algebra(seed):
    drawn = PowersOfO.random_state(np.random.default_rng(seed))
    found, n = PowersOfO.compute(drawn), drawn["n"]
    angle = drawn["theta"] + 2 * np.pi * drawn["wraps"]
    O = rotation_2d(angle) @ np.diag([1.0, -1.0 if drawn["mirror"] else 1.0])  # noqa: E741
    for k in range(-SPAN, SPAN + 1):
        np.testing.assert_allclose(found["tips"][k + SPAN], orthogonal_power(O, k)[:, 0], atol=1e-9)
    if not drawn["mirror"]:  # between whole powers: the one with the added turns, which is not the shortest
        np.testing.assert_allclose(found["matrix"], rotation_2d(n * angle), atol=1e-12)
    elif n % 1:
        assert not found["exists"]
        with pytest.raises(ValueError, match="a mirror cannot be done in part"):
            orthogonal_power(O, n)
    else:
        O_plus, M = split_off(O, axis=[0.0, 1.0])
        np.testing.assert_allclose(found["matrix"], orthogonal_power(O, n), atol=1e-9)
        np.testing.assert_allclose(found["claimed"], orthogonal_power(M, n) @ orthogonal_power(O_plus, n), atol=1e-8)


def test_whole_turns_are_seen_between_whole_powers_only():
    def matrix(n, wraps):
        return np.array(PowersOfO.compute(PowersOfO(n=n, wraps=wraps).state())["matrix"])

    np.testing.assert_allclose(matrix(3.0, 0), matrix(3.0, 1), atol=1e-12)
    assert np.abs(matrix(2.5, 0) - matrix(2.5, 1)).max() > 0.5  # control
