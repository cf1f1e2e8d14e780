"""The head with absolute positions does the task on its window, and its tilt is as wide as the theorem says."""

import numpy as np
import pytest

from rope_lab.algebra.additive_head import least_tilt_range, parabola_head, sinusoid_head
from rope_lab.algebra.rotation import frequencies


def lead(head, *, m, kind, contents=None):
    """How far the wanted key stands above every other."""
    logits, wanted = head.logits(m=m, kind=kind, contents=contents), m + 1 + kind
    return logits[wanted] - np.delete(logits, wanted).max()


@pytest.mark.parametrize("build", [parabola_head, sinusoid_head])
@pytest.mark.parametrize("window", [4, 33, 200])
def test_one_or_two_ahead_everywhere_in_the_window(build, window):
    head = build(window)
    rng = np.random.default_rng(window)
    least = min(
        lead(head, m=m, kind=kind, contents=100 * rng.normal(size=(window, 3)))
        for m in range(0, window - 2, max(1, window // 10))
        for kind in (0, 1)
    )
    assert least >= (5.0 if build is parabola_head else 12.0) - 1e-6
    assert np.ptp(head.tilt()) >= least_tilt_range(window, margin=least) - 1e-6


def test_the_logit_by_definition():
    head, rng = sinusoid_head(20), np.random.default_rng(0)
    contents = rng.normal(size=(20, 3))
    m, n = 4, 9
    direct = (head.W_q @ head.embed(1, m)) @ (head.W_k @ head.embed(0, n, contents[n]))
    assert head.logits(m=m, kind=1, contents=contents)[n] == pytest.approx(direct)


def test_the_parabola():
    head, n = parabola_head(12, steepness=2.0), np.arange(12)
    np.testing.assert_allclose(head.logits(m=5, kind=1), -2 * (n - 7.0) ** 2 + 2 * 49)


def test_the_sinusoids_are_a_peak_between_the_two_keys_and_a_slow_plane_that_tips_it():
    window, m, n, theta = 64, 20, np.arange(64), frequencies(128)
    head = sinusoid_head(window, content=0)
    peak, tip = np.hypot(*head.W_q[0, 2:4]), head.W_q[-1, 1]
    slow = theta[np.argmax(theta * window <= 1)]
    between = peak * np.cos(np.outer(n - m - 1.5, theta)).sum(axis=1)
    for kind, sign in ((0, -1), (1, 1)):
        said = between + sign * tip * np.sin((n - (window - 1) / 2) * slow)
        np.testing.assert_allclose(head.logits(m=m, kind=kind), said, atol=1e-9)
        assert np.abs(head.logits(m=m, kind=1 - kind) - said).max() > 12  # control: the other kind of token


def test_control_without_a_position_in_the_query_nothing_is_singled_out():
    head = parabola_head(30)
    head.W_q[:, -3:] = 0  # equation 26 taken at its word
    assert max(lead(head, m=m, kind=0) for m in range(3, 28)) < 0


@pytest.mark.usefixtures("untyped")
def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="window: expected 2 to 8659 positions"):
        sinusoid_head(10_000)
    with pytest.raises(ValueError, match="window: expected a whole number of at least 2, got 1"):
        least_tilt_range(1, margin=1.0)


@pytest.mark.parametrize("window", [4, 33, 200])
def test_the_plane_that_tips_the_balance_is_the_fastest_below_a_radian(window):
    theta, tilt_row = frequencies(128), sinusoid_head(window, content=0).W_k[-1, 2:]
    (plane,) = set(np.flatnonzero(tilt_row) // 2)
    assert theta[plane] * window <= 1 < theta[plane - 1] * window


def test_the_tilt_gives_the_margin_and_hardly_more():
    head = sinusoid_head(33)
    assert 12.0 <= min(lead(head, m=m, kind=kind) for m in range(31) for kind in (0, 1)) < 12.2
