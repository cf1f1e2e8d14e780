"""How far a list of frequencies reaches, and the lowest value of its decay."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra import schedule
from rope_lab.algebra.longer_texts import decay_along, lowest_decay, reach
from rope_lab.algebra.rotation import frequencies


@given(length=st.integers(1, 300), planes=st.integers(1, 8), base=st.floats(2, 1e6))
def test_the_decay_along_a_window_is_the_decay_at_each_offset(length, planes, base):
    theta = frequencies(2 * planes, base=base)
    one_by_one = [schedule.decay(r, theta=theta) for r in range(length)]
    np.testing.assert_allclose(decay_along(length, theta=theta), one_by_one, atol=1e-11)
    low = lowest_decay(length, theta=theta)
    assert low.value == pytest.approx(min(one_by_one), abs=1e-11)
    assert one_by_one[low.offset] == pytest.approx(low.value, abs=1e-11)


@given(window=st.integers(10, 500), factor=st.floats(1, 16))
def test_up_to_its_reach_no_plane_is_beyond_its_training(window, factor):
    trained = frequencies(16, base=1000.0)
    used = trained / np.linspace(1, factor, 8)
    far = reach(used, trained=trained, window=window)
    slow = window * trained < 2 * np.pi
    if not slow.any():
        assert far == np.inf
        return
    assert (far * used[slow] <= window * trained[slow] * (1 + 1e-12)).all()
    assert (1.001 * far * used[slow] > window * trained[slow]).any()  # and no further


def test_what_cannot_be_asked_is_said():
    theta = frequencies(8)
    with pytest.raises(ValueError, match="theta: expected 4 planes, as in training, got 3"):
        reach(theta[:3], trained=theta, window=10)
    with pytest.raises(ValueError, match="length"):
        decay_along(0, theta=theta)
    with pytest.raises(ValueError, match="window"):
        reach(theta, trained=theta, window=0)
