"""Laws of the head that looks ahead: where its top is, how it concentrates, and that it comes back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from rope_lab.algebra import one_head, rotation, schedule, widely_linear

THETA = rotation.frequencies(64)


@given(offset=st.integers(-20, 20), head_dim=st.integers(1, 40).map(lambda p: 2 * p))
def test_the_logits_are_a_sum_of_cosines_with_their_top_at_the_offset(offset, head_dim):
    theta, keys = rotation.frequencies(head_dim), np.arange(-25, 26)
    found = one_head.offset_logits(keys, offset=offset, theta=theta)
    np.testing.assert_allclose(found, np.cos(np.outer(keys - offset, theta)).sum(axis=1), atol=1e-10)
    assert keys[found.argmax()] == offset


def test_the_complex_form_of_the_query():
    z = widely_linear.to_complex(one_head.offset_query(2, theta=THETA))
    np.testing.assert_allclose(z, np.exp(2j * THETA), atol=1e-14)


def test_control_the_other_sign_looks_back():
    keys = np.arange(-5, 6)
    assert keys[one_head.offset_logits(keys, offset=-1, theta=THETA).argmax()] == -1


@given(a=st.floats(0.1, 5), kind=st.integers(0, 1))
def test_the_projection_gives_each_kind_its_query(a, kind):
    W = one_head.token_projection([1, 2], theta=THETA, width=6)
    x = np.zeros(6)
    x[kind::2] = a * np.array([0.5, 0.7, -0.2])
    np.testing.assert_allclose(W @ x, a * np.exp(1j * (kind + 1) * THETA), atol=1e-12)


def test_the_weight_is_the_softmax_of_the_logits():
    keys = np.arange(-10, 11)
    weights = np.exp(3 * one_head.offset_logits(keys, offset=0, theta=THETA))
    expected = weights[10] / weights.sum()
    assert one_head.target_weight(10, theta=THETA, amplitude=3) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("base", [100.0, 1e4, 1e6])
def test_the_limit_of_the_gap_as_an_integral(base):
    lost = quad(lambda t: (1 - np.cos(t)) / t, 1 / base, 1)[0] / np.log(base)
    assert 1 - schedule.dense_decay(1.0, base=base) == pytest.approx(lost, abs=1e-10)
    planes = rotation.frequencies(4096, base=base)
    gap = 2048 * lost + (np.cos(1 / base) - np.cos(1)) / 2
    assert one_head.neighbour_gap(planes) == pytest.approx(gap, abs=1e-3)
    assert one_head.leak_law(4096, base=base) == pytest.approx(2 * np.exp(-gap))


def test_control_the_logits_themselves_do_not_concentrate():
    shares = [schedule.decay(1, theta=rotation.frequencies(d)) for d in (32, 512, 8192)]
    assert min(shares) > 0.95
    weights = [one_head.target_weight(64, theta=rotation.frequencies(d)) for d in (32, 512, 8192)]
    assert weights[0] < 0.4 < 0.99 < weights[1] < weights[2]


def test_returns_are_records():
    found = one_head.returns([1.0, 0.3], above=0.9, until=5000)
    values = schedule.decay(found, theta=[1.0, 0.3])
    assert (np.diff(values) > 0).all()
    assert values[0] > 0.9


@pytest.mark.usefixtures("untyped")
def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="width: expected a multiple of the 2 kinds"):
        one_head.token_projection([1, 2], theta=THETA, width=5)
    with pytest.raises(ValueError, match="window: expected a whole number of at least 0, got -1"):
        one_head.target_weight(-1, theta=THETA)
    with pytest.raises(ValueError, match="base: expected a number above 1"):
        one_head.leak_law(64, base=1.0)
    with pytest.raises(ValueError, match="until: expected a whole number of at least 1, got 0"):
        one_head.returns(THETA, above=0.9, until=0)
    with pytest.raises(ValueError, match="theta: expected one frequency for each plane"):
        one_head.neighbour_gap(np.ones((2, 2)))


def test_the_window_ends_where_it_says():
    # Of a plane that turns by half a turn each second neighbour is as good as the wanted key: nothing is negligible.
    assert one_head.target_weight(2, theta=[np.pi]) == pytest.approx(1 / (3 + 2 * np.exp(-2)))
    assert one_head.target_weight(0, theta=[np.pi]) == 1.0
