"""The series of Baker, Campbell and Hausdorff: exact where matrices are nilpotent, and the right slope where not."""

import time
from fractions import Fraction
from math import factorial

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm, logm

from rope_lab.algebra import bch
from rope_lab.algebra.bch import X, Y, coefficients, commutator, exponent, series

m, n = sp.symbols("m n")


def nilpotent(seed, d=7):
    return np.triu(np.random.default_rng(seed).integers(-3, 4, size=(d, d)), 1).astype(object)


def exact_exponential(N):
    """Of a matrix whose d-th power is zero: the series ends."""
    total, term = sp.eye(len(N)), sp.eye(len(N))
    for k in range(1, len(N)):
        term = term * sp.Matrix(N)
        total += term / factorial(k)
    return total


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_exact_for_nilpotent_matrices(one, other):
    """In five dimensions every product of five strictly upper triangular matrices is zero: order 4 is everything."""
    A, B = nilpotent(one, 5), nilpotent(other, 5)
    Z = exponent(A.astype(float), B.astype(float), order=4)
    rational = sp.Matrix(5, 5, lambda i, j: sp.nsimplify(Fraction(Z[i, j]).limit_denominator(1000)))
    assert exact_exponential(A) * exact_exponential(B) == exact_exponential(rational.tolist())


def test_order_six_exactly_and_in_time():
    start = time.process_time()
    S = series(6, m=m, n=n)
    assert time.process_time() - start < 10
    A, B = sp.Matrix(nilpotent(1)), sp.Matrix(nilpotent(2))
    Z = sp.zeros(7, 7)
    for word, value in coefficients(6).items():
        product = sp.Rational(value.numerator, value.denominator) * sp.eye(7)
        for letter in word:
            product = product * (A if letter == "X" else B)
        Z += product
    assert exact_exponential(A.tolist()) * exact_exponential(B.tolist()) == exact_exponential(Z.tolist())
    assert sp.Poly(S.subs({X: 1, Y: 1}), m, n).total_degree() <= 6


def test_the_first_terms_are_commutators():
    XY = commutator(X, Y)
    by_hand = (
        m * X
        + n * Y
        + m * n * XY / 2
        + m**2 * n * commutator(X, XY) / 12
        - m * n**2 * commutator(Y, XY) / 12
        - m**2 * n**2 * commutator(Y, commutator(X, XY)) / 24
    )
    assert sp.expand(series(4, m=m, n=n) - by_hand) == 0


@pytest.mark.parametrize("order", range(1, 7))
def test_nothing_is_left_when_letters_commute(order):
    a, b = sp.symbols("a b")
    assert sp.expand(series(order, m=m, n=n).subs({X: a, Y: b})) == m * a + n * b


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_the_remainder_has_the_next_power(order):
    A, B = np.random.default_rng(5).normal(size=(2, 3, 3)) / 4
    sizes = np.array([0.2, 0.1])
    misses = [np.linalg.norm(logm(expm(t * A) @ expm(t * B)) - exponent(t * A, t * B, order=order)) for t in sizes]
    slope = np.log(misses[0] / misses[1]) / np.log(2)
    assert abs(slope - (order + 1)) < 0.35


@pytest.mark.usefixtures("untyped")
def test_refusals():
    with pytest.raises(ValueError, match="order: expected a whole number from 1 to 8, got 9"):
        coefficients(9)
    with pytest.raises(ValueError, match="two matrices of one size"):
        exponent(np.eye(2), np.eye(3), order=2)


def test_control_a_wrong_sign_is_seen(monkeypatch):
    right = bch._times
    monkeypatch.setattr(bch, "_times", lambda one, other, order: {w: -v for w, v in right(one, other, order).items()})
    assert sp.expand(series(2) - X - Y - commutator(X, Y) / 2) != 0
