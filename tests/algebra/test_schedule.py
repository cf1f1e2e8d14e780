"""The schedule against independent computations, each law with a control that must fail."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from rope_lab.algebra import schedule
from rope_lab.algebra.rotation import frequencies, logits

head_dims = st.integers(1, 64).map(lambda n: 2 * n)
bases = st.floats(2.0, 1e7)
seeds = st.integers(0, 2**32 - 1)


@given(d=head_dims, base=bases)
def test_a_wavelength_is_one_turn(d, base):
    waves = schedule.wavelengths(d, base=base)
    for wave, once in zip(
        waves, np.diag([schedule.turns(w, theta=frequencies(d, base=base)) for w in waves]), strict=True
    ):
        assert once == pytest.approx(1)
        assert 2 * np.pi <= wave * (1 + 1e-12)
    assert waves[-1] == pytest.approx(2 * np.pi * base ** (1 - 2 / d))
    if d > 2:
        assert np.allclose(waves[1:] / waves[:-1], base ** (2 / d))


@given(d=head_dims, base=bases, window=st.integers(7, 10**6))
def test_the_planes_that_never_turn(d, base, window):
    counted = int((schedule.turns(window, theta=frequencies(d, base=base)) < 1).sum())
    place = d / 2 * np.log(window / (2 * np.pi)) / np.log(base)
    if abs(place - round(place)) > 1e-9:
        assert counted == max(0, d // 2 - 1 - int(np.floor(place)))


@given(seed=seeds, d=head_dims, r=st.floats(-5000, 5000))
def test_decay_is_the_logit_of_equals(seed, d, r):
    angle = np.random.default_rng(seed).uniform(0, 2 * np.pi, size=d // 2)
    x = np.stack([np.cos(angle), np.sin(angle)], axis=-1).reshape(1, d)  # length 1 in every plane
    theta = frequencies(d)
    s = logits(x, x, q_positions=[3.5], k_positions=[3.5 + r], theta=theta).item()
    assert s / (d // 2) == pytest.approx(schedule.decay(r, theta=theta).item(), abs=1e-9)


def test_decay_shape_and_start():
    theta = frequencies(16)
    assert schedule.decay(0, theta=theta).item() == 1.0
    assert schedule.decay(np.zeros((2, 3)), theta=theta).shape == (2, 3)
    assert schedule.decay(7.0, theta=theta) == schedule.decay(-7.0, theta=theta)


@pytest.mark.parametrize("base", [100.0, 1e4, 5e5])
@pytest.mark.parametrize("r", [0.5, 3.0, 40.0])
def test_the_integral(base, r):
    by_quadrature = quad(lambda u: np.cos(r * base**-u), 0, 1, limit=200)[0]
    assert schedule.dense_decay(r, base=base).item() == pytest.approx(by_quadrature, abs=1e-8)
    many = schedule.decay(r, theta=frequencies(40_000, base=base)).item()
    assert many == pytest.approx(by_quadrature, abs=1e-3)


def test_the_log_law_where_it_holds_and_where_not():
    r = np.geomspace(50, 500, 20)
    assert np.abs(schedule.dense_decay(r) - schedule.log_law(r)).max() < 3e-3
    assert abs(schedule.dense_decay(1.0) - schedule.log_law(1.0)) > 0.03  # not far above 1
    assert abs(schedule.dense_decay(1e5) - schedule.log_law(1e5)) > 0.2  # not below the base


@given(seed=seeds)
def test_variance_of_a_finite_lottery(seed):
    rng = np.random.default_rng(seed)
    theta, r = frequencies(4), rng.uniform(-20, 20)
    q, k = rng.normal(size=(2, 5, 4))  # five equally likely queries, five equally likely keys
    s = logits(q, k, q_positions=np.zeros(5), k_positions=np.full(5, r), theta=theta)
    M_q, M_k = q.T @ q / 5, k.T @ k / 5
    found = schedule.logit_variance(r, theta=theta, q_moments=M_q, k_moments=M_k).item()
    assert found == pytest.approx((s**2).mean())


def test_flat_if_one_is_isotropic_and_not_otherwise():
    theta, r = frequencies(8), np.arange(50)
    A = np.random.default_rng(0).normal(size=(8, 8))
    isotropic = np.diag(np.repeat([1.0, 2.0, 0.5, 3.0], 2))
    flat = schedule.logit_variance(r, theta=theta, q_moments=A @ A.T, k_moments=isotropic)
    assert np.ptp(flat) < 1e-12 * flat[0]
    stretched = np.diag(np.tile([1.9, 0.1], 4))
    wobbling = schedule.logit_variance(r, theta=theta, q_moments=stretched, k_moments=stretched)
    assert np.ptp(wobbling) > 0.3 * wobbling[0]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: schedule.turns(4096, theta=np.ones((2, 2))), "theta: expected one frequency"),
        (lambda: schedule.log_law(0), "offsets: expected numbers above 0"),
        (lambda: schedule.dense_decay(5, base=1.0), "base: expected a number above 1"),
        (
            lambda: schedule.logit_variance(1, theta=[1.0], q_moments=np.eye(4), k_moments=np.eye(2)),
            "q_moments: expected",
        ),
    ],
)
def test_refusals(call, says):
    with pytest.raises(ValueError, match=says):
        call()
