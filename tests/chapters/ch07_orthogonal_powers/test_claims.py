"""Break the algebra of orthogonal powers, and the claims of chapter 7 notice."""

import numpy as np
import pytest
import sympy as sp

from rope_lab.algebra import grid_positions, linear_attention, orthogonal_powers, symbolic
from tests.claims.broken import holding


def test_a_mirror_that_flips_nothing(monkeypatch):
    monkeypatch.setattr(orthogonal_powers, "mirror", lambda axis: np.eye(len(axis)))
    hit = {
        "book.mirror-powers",
        "book.mirror-commutes",
        "book.mirror-split",
        "book.parity-wider",
        "su6.det-minus-factor",
        "su6.det-minus-power",
        "su6.det-minus-conclusion",
    }
    assert holding(hit) == set()


@pytest.mark.parametrize("wrong", [lambda B: -B, lambda B: B / 2])
def test_a_wrong_logarithm(monkeypatch, wrong):
    right = orthogonal_powers.skew_logarithm
    monkeypatch.setattr(orthogonal_powers, "skew_logarithm", lambda turn: wrong(right(turn)))
    assert holding({"su6.det1-converse", "book.parity-wider"}) == set()


def test_the_wrong_eigenvector(monkeypatch):
    monkeypatch.setattr(orthogonal_powers, "adapted_axis", lambda turn: np.eye(len(turn))[0])
    names = ("book.minus-one-eigenvalue", "su6.det-minus-conclusion")
    assert holding(names) == set()


def test_the_parity_forgotten_in_the_power(monkeypatch):
    right = orthogonal_powers.orthogonal_power
    monkeypatch.setattr(orthogonal_powers, "orthogonal_power", lambda turn, n: right(turn, 2 * n))
    names = {"su6.det-minus-conclusion", "book.parity-wider", "book.parity-form"}
    assert holding(names) == set()


def test_a_relu_that_is_linear(monkeypatch):
    monkeypatch.setattr(linear_attention, "relu", lambda x: np.asarray(x, dtype=float))
    assert holding({"book.relu-monomial"}) == set()


def test_a_witness_that_is_no_witness(monkeypatch):
    monkeypatch.setattr(linear_attention, "relu_blocks", lambda *_: True)
    assert holding({"su6.linattn-not-absorbable"}) == set()


def test_the_kernel_transposed(monkeypatch):
    monkeypatch.setattr(linear_attention, "kernel", lambda q, k, R, feature: float(feature(q) @ R.T @ feature(k)))
    assert holding({"su6.linattn-identity"}) == set()


def test_the_second_coordinate_turned_back(monkeypatch):
    right = grid_positions.grid_turn
    monkeypatch.setattr(grid_positions, "grid_turn", lambda x, y, **B: right(x, -y, **B))
    assert holding({"book.grid-planes"}) == set()


def test_a_minus_lost_in_the_exact_form(monkeypatch):
    monkeypatch.setattr(symbolic, "rotation_2d", lambda a: sp.Matrix([[sp.cos(a), sp.sin(a)], [sp.sin(a), sp.cos(a)]]))
    names = {
        "su6.det-exp",
        "su6.broader",
        "su6.det-minus-power",
        "su6.linattn-not-absorbable",
        "book.mirror-powers",
        "book.mirror-commutes",
        "book.parity-logit",
        "book.grid-witness",
        "unsaid.linattn-normaliser",
    }
    assert holding(names) == set()
