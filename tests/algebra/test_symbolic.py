"""The symbolic rotations are the float64 ones, and `same` decides without guessing."""

import numpy as np
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra import rotation
from rope_lab.algebra.symbolic import K, rotation_2d, rotation_matrix, same

angles = st.floats(-10, 10)
a, b, m, n = sp.symbols("a b m n", real=True)


def as_floats(matrix: sp.Matrix) -> np.ndarray:
    return np.array(matrix.evalf(), dtype=float)


@given(angles)
def test_one_plane_equals_the_reference(angle):
    assert np.allclose(as_floats(rotation_2d(angle)), rotation.rotation_2d(angle), rtol=0, atol=1e-12)


@given(st.floats(-100, 100), st.lists(st.floats(0.001, 1), min_size=1, max_size=4))
def test_many_planes_equal_the_reference(position, theta):
    exact = as_floats(rotation_matrix(position, theta=theta))
    assert np.allclose(exact, rotation.rotation_matrix(position, theta=theta), rtol=0, atol=1e-10)


def test_same_knows_the_addition_theorems_and_what_they_are_not():
    assert same(sp.cos(a + b), sp.cos(a) * sp.cos(b) - sp.sin(a) * sp.sin(b))
    assert not same(sp.cos(a + b), sp.cos(a) * sp.cos(b) + sp.sin(a) * sp.sin(b))
    assert same(sp.cos((n - m) * a), sp.cos(n * a - m * a))
    assert same(sp.cos(a) ** 3, (3 * sp.cos(a) + sp.cos(3 * a)) / 4)
    assert not same(sp.cos(a), sp.cos(2 * a))


def test_same_compares_every_entry():
    wrong = rotation_2d(a + b).copy()
    wrong[1, 0] = -wrong[1, 0]
    assert same(rotation_2d(a) * rotation_2d(b), rotation_2d(a + b))
    assert not same(rotation_2d(a) * rotation_2d(b), wrong)


def test_the_size_of_the_first_block_is_any_positive_whole_number():
    assert K.is_positive
    assert K.is_integer
    assert K.is_number is False
