"""The width of a function of the offset: what has one, what has none, and the families made from a few values."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_lab.algebra import hankel_rank, relative_features, rotation_matrix

SIZES = (3, 6, 10, 15)


def ranks(function):
    return [hankel_rank([function(r) for r in range(2 * size - 1)]) for size in SIZES]


@settings(max_examples=20, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(-3, 5), Fraction(2)]),
        st.lists(st.integers(-4, 4), min_size=1, max_size=3).filter(lambda cs: cs[-1] != 0),
        min_size=1,
        max_size=3,
    )
)
def test_an_exponential_polynomial_has_one_number_for_each_power(terms):
    """p(r) lambda^r with p of degree k - 1 costs k, whatever the lower coefficients are; exact in fractions."""

    def g(r):
        return sum(c * r**k * base**r for base, cs in terms.items() for k, c in enumerate(cs))

    width = sum(len(cs) for cs in terms.values())
    assert hankel_rank([g(r) for r in range(2 * 12 - 1)]) == width


def test_a_head_of_rope_has_its_width_and_a_logarithm_has_none():
    thetas = [sp.Rational(1, 10) ** i for i in range(3)]
    assert ranks(lambda r: sum(sp.cos(r * theta) for theta in thetas)) == [3, 6, 6, 6]
    assert ranks(lambda r: sp.log(1 + r)) == list(SIZES)
    assert ranks(lambda r: sp.Rational(1, 1 + r)) == list(SIZES)
    assert ranks(lambda r: int(r < 5)) == [1, 5, 5, 5]
    assert ranks(lambda r: 0) == [0, 0, 0, 0]  # noqa: ARG005


def test_sympy_finds_the_same_rank():
    values = [Fraction(1, 1 + r) + 3 * Fraction(1, 2) ** r for r in range(13)]
    matrix = sp.Matrix(7, 7, lambda i, j: sp.Rational(values[i + j].numerator, values[i + j].denominator))
    assert hankel_rank(values) == matrix.rank() == 7


def test_the_features_are_those_of_rope_in_another_basis():
    theta = np.array([1.0, 0.3])
    query, step, key = relative_features(np.cos(np.outer(np.arange(8), theta)).sum(axis=1), width=4)
    found = np.sort_complex(np.linalg.eigvals(step))
    assert np.allclose(found, np.sort_complex(np.linalg.eigvals(rotation_matrix(1, theta=theta))))
    for m, n in ((0, 30), (17, 2)):
        q = np.linalg.matrix_power(step, -m).T @ query
        k = np.linalg.matrix_power(step, n) @ key
        assert q @ k == pytest.approx(np.cos((n - m) * theta).sum(), abs=1e-6)


def test_features_of_a_logarithm_end_with_the_values_that_were_given():
    g = np.log1p(np.arange(30))
    query, step, key = relative_features(g[:8], width=4)
    here = [query @ np.linalg.matrix_power(step, r) @ key for r in range(30)]
    assert np.allclose(here[:8], g[:8])
    assert abs(here[29] - g[29]) > 0.1


@pytest.mark.usefixtures("untyped")
def test_what_is_refused():
    with pytest.raises(TypeError, match=r"values: expected exact numbers, got 0\.5; .* sympy\.cos\(3\)"):
        hankel_rank([1, 0.5, 1])
    with pytest.raises(ValueError, match=r"an odd number of them, .* got 4; leave out the last one"):
        hankel_rank([1, 2, 3, 4])
    with pytest.raises(ValueError, match=r"values: expected finite real numbers, got I"):
        hankel_rank([sp.I])
    with pytest.raises(ValueError, match=r"values: expected 4 of them for the width 2, got shape \(3,\); give g\(0\)"):
        relative_features([1.0, 2.0, 3.0], width=2)
    with pytest.raises(ValueError, match="width: expected the rank of the Hankel matrix, 1, got 2; give a smaller"):
        relative_features([1.0, 2.0, 4.0, 8.0], width=2)
    with pytest.raises(ValueError, match="a function whose step has an inverse"):
        relative_features([1.0, 1.0, 0.0, 0.0], width=2)
