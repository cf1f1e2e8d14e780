"""Break a piece of the algebra, and the claims of chapter 12 notice; a rank by another road."""

import numpy as np
import pytest

from rope_lab.algebra import budget, complex_forms, dimension_counts, pairing, rotation, widely_linear
from tests.claims.broken import holding


@pytest.mark.parametrize(("complex_linear", "dimension"), [(False, 44), (True, 20)])
def test_a_rank_in_float64(complex_linear, dimension):
    """The same rank by another road: finite differences of real weights, and singular values."""
    rng = np.random.default_rng(0)
    theta = np.array([1.0, 0.3])
    basis = np.eye(24).reshape(-1, 4, 6)
    if complex_linear:
        basis = np.array([widely_linear.split(E)[0] for E in basis])
    W_q, W_k = (np.tensordot(rng.normal(size=24), basis, 1) for _ in "qk")
    turns = [rotation.rotation_matrix(at, theta=theta) for at in range(6)]
    rows = [np.concatenate([(E.T @ R @ W_k).ravel() for R in turns]) for E in basis]
    rows += [np.concatenate([(W_q.T @ R @ E).ravel() for R in turns]) for E in basis]
    singular = np.linalg.svd(np.array(rows), compute_uv=False)
    assert singular[dimension - 1] > 1e-3 > 1e-9 > singular[dimension]


def test_a_weight_that_only_its_own_layout_accepts():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))
    W, half = widely_linear.join(A, 0 * A), widely_linear.times_i(8, layout="half")
    assert np.linalg.norm(W @ half - half @ W) / np.linalg.norm(W) > 0.3


def test_a_lost_half_in_the_budget(monkeypatch):
    right = budget.parameters
    monkeypatch.setattr(budget, "parameters", lambda shape, *_: right(shape, "dense"))
    hit = {"crope.abs.savings50", "crope.savings.qkvo", "crope.savings.block", "crope.model-5.1-conflict"}
    assert holding(hit | {"crope.intro.remains-significant", "unsaid.crope-flops"}) == set()


def test_a_family_counted_as_half(monkeypatch):
    def halved(*, complex_linear, theta=None, **shape):
        return right(complex_linear=False, theta=theta, **shape) // (2 if complex_linear else 1)

    right = dimension_counts.family_dimension
    monkeypatch.setattr(dimension_counts, "family_dimension", halved)
    assert holding({"crope.half-function-space", "crope.model-5.1-conflict", "unsaid.crope-degenerate"}) == set()


def test_a_rank_that_is_too_small(monkeypatch):
    right = dimension_counts.jacobian_rank
    monkeypatch.setattr(dimension_counts, "jacobian_rank", lambda **shape: right(**shape) - 1)
    assert holding({"crope.abs.redundancy", "crope.eq13-dof-argument", "crope.sec4.more-dims", "book.gauge"}) == set()


def test_a_conjugate_lost_in_the_gauge(monkeypatch):
    def lost(W_q, W_k, factors):
        return right(W_q, W_k, np.conj(factors))[0], right(W_q, W_k, factors)[1]

    right = complex_forms.gauge
    monkeypatch.setattr(complex_forms, "gauge", lost)
    assert holding({"book.gauge"}) == set()


def test_the_wrong_half_of_a_form(monkeypatch):
    monkeypatch.setattr(complex_forms, "phase_average", lambda F: widely_linear.split(F)[1])
    assert holding({"book.more-head-planes"}) == set()


def test_a_pairing_turned_backwards(monkeypatch):
    right = pairing.best_pairing
    monkeypatch.setattr(pairing, "best_pairing", lambda *maps: -right(*maps))
    assert holding({"book.best-pairing"}) == set()


def test_the_imaginary_row_lost(monkeypatch):
    right = complex_forms.widen
    monkeypatch.setattr(complex_forms, "widen", lambda W: right(np.abs(W)))
    assert holding({"unsaid.crope-width"}) == set()
