"""What the relative law implies, and every family that satisfies it: laws, examples, refusals, controls."""

from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_lab.algebra import rotation
from rope_lab.algebra.solutions import (
    R_T,
    R,
    by_law,
    by_transpose,
    classify,
    law_residual,
    one_dimensional,
    solution,
    transposed,
)
from rope_lab.algebra.symbolic import K, block_sum, induction_step, member

m, n = sp.symbols("m n")
seeds = st.integers(0, 2**32 - 1)


def orthogonal(rng, size):
    return np.linalg.qr(rng.normal(size=(size, size)))[0] if size else np.zeros((0, 0))


# --- words ---


def letters(kinds):
    return st.tuples(st.sampled_from(kinds), st.integers(-4, 4)).map(lambda pair: pair[0](pair[1]))


@given(st.lists(letters([R, R_T]), min_size=1, max_size=5), seeds)
def test_the_rules_say_what_matrices_do(factors, seed):
    family = solution(orthogonal(np.random.default_rng(seed), 2), basis=orthogonal(np.random.default_rng(seed + 1), 3))

    def value(word):
        product = np.eye(3)
        for factor in sp.Mul.make_args(word):
            base, power = factor.as_base_exp()
            matrix = family(int(base.args[0]))
            product = product @ np.linalg.matrix_power(matrix if base.func == R else matrix.T, int(power))
        return product

    word = sp.Mul(*factors)
    np.testing.assert_allclose(value(transposed(word)), value(word).T, atol=1e-9)
    np.testing.assert_allclose(value(by_law(word)), value(word), atol=1e-9)
    np.testing.assert_allclose(value(by_transpose(word)), value(word), atol=1e-9)


def test_the_law_does_not_touch_what_it_does_not_speak_of():
    assert by_law(R(m) * R(n)) == R(m) * R(n)
    assert by_law(R(m) * R_T(n)) == R(m) * R_T(n)
    assert R(m) * R(n) != R(n) * R(m)


def test_repeated_factors_are_counted():
    assert transposed(R(m) ** 2 * R(n)) == R_T(n) * R_T(m) ** 2
    assert by_law(by_transpose(R(m) ** 3)) == R(3 * m)


# --- families ---


@settings(max_examples=30)
@given(d=st.integers(1, 5), data=st.data(), seed=seeds)
def test_built_obeys_and_is_found_again(d, data, seed):
    rank = data.draw(st.integers(0, d))
    rng = np.random.default_rng(seed)
    family = solution(orthogonal(rng, rank), basis=orthogonal(rng, d))
    assert law_residual(family) < 1e-12
    turn, basis = classify(family)
    assert turn.shape == (rank, rank)
    again = solution(turn, basis=basis)
    for position in (-4, 0, 1, 5):
        np.testing.assert_allclose(again(position), family(position), atol=1e-10)


def test_the_rotations_of_a_model_are_a_solution_of_full_rank():
    theta = rotation.frequencies(8)
    turn, _ = classify(lambda n: rotation.rotation_matrix(n, theta=theta, layout="half"))
    assert np.linalg.det(turn) == pytest.approx(1)
    assert turn.shape == (8, 8)


def test_one_dimension_has_three_solutions():
    assert one_dimensional() == {(0,) * 5, (1,) * 5, (1, -1, 1, -1, 1)}


@pytest.mark.parametrize(
    "family",
    [
        lambda _: np.diag([2.0, 1.0]),
        lambda n: np.eye(2) * 1.01**n,
        lambda n: rotation.rotation_2d(n * n),
        lambda n: rotation.rotation_2d(abs(n)),
        lambda _: -np.eye(2),
    ],
)
def test_control_others_are_refused(family):
    assert law_residual(family) > 1e-3
    with pytest.raises(ValueError, match="family: expected R_m"):
        classify(family)


def test_refusals():
    with pytest.raises(ValueError, match="O: expected an orthogonal matrix"):
        solution([[2.0]], basis=np.eye(1))
    with pytest.raises(ValueError, match="basis: expected a square matrix, got shape"):
        solution([[1.0]], basis=np.ones((2, 3)))
    with pytest.raises(ValueError, match="basis: expected at least 2 rows"):
        solution(np.eye(2), basis=np.eye(1))


# --- the induction, with numbers put in for its symbols ---


@given(k=st.integers(1, 4), seed=seeds)
def test_each_line_of_the_step_equals_the_next(k, seed):
    rng = np.random.default_rng(seed)
    A, B = (solution(orthogonal(rng, size), basis=orthogonal(rng, size)) for size in (k, 2))
    values = {}
    for position, label in ((2, m), (5, n), (3, n - m)):
        values[member("A", label, K)] = A(position)
        values[member("R", label, 2)] = B(position)

    def value(line):
        if isinstance(line, sp.MatMul):
            first, *rest = [value(factor) for factor in line.args]
            for factor in rest:
                first = first @ factor
            return first
        if isinstance(line, sp.Transpose):
            return value(line.arg).T
        if isinstance(line, sp.BlockMatrix):
            return np.block([[value(line.blocks[i, j]) for j in range(2)] for i in range(2)])
        if line.is_ZeroMatrix:
            return np.zeros([int(size.subs(K, k)) for size in map(sp.sympify, line.shape)])
        return values[line]

    found = [value(line) for line in induction_step(m, n)]
    for before, after in pairwise(found):
        np.testing.assert_allclose(before, after, atol=1e-12)


def test_block_sum_is_not_square_by_accident():
    block = block_sum(member("A", 1, 3), member("B", 1, 2))
    assert block.shape == (5, 5)
    assert block.as_explicit()[0, 3] == 0


def test_a_basis_that_is_nearly_orthogonal_is_refused():
    with pytest.raises(ValueError, match=r"basis: expected an orthogonal matrix, .* by 2\.0e-06"):
        solution([[1.0]], basis=np.eye(2) * (1 + 1e-6))
