"""The witnesses of chapter 7 by hand, and what happens to its claims when the algebra is broken."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from rope_lab.algebra import grid_positions, linear_attention, orthogonal_powers, symbolic
from rope_lab.claims import select, verify

SWAP = np.array([[0, 1], [1, 0]])
TURN, FLIP = np.array([[0, -1], [1, 0]]), np.diag([1, -1])


def failing(*names) -> set[str]:
    return {result.claim.id for name in names for result in verify(name) if result.failed}


# --- by hand: nothing here calls the package ---


def test_the_printed_power_and_the_true_one():
    assert (TURN @ FLIP == SWAP).all()
    assert (FLIP @ TURN == -SWAP).all()  # printed, n = 1
    assert (-np.eye(2) == FLIP @ FLIP @ TURN @ TURN).all()  # printed, n = 2
    assert (np.eye(2) == SWAP @ SWAP).all()
    M = np.eye(2) - np.array([[1, -1], [-1, 1]])  # along (1, -1)
    assert (M == SWAP).all()  # so O_+ = I: the repair says O^n = M^n, which is so


def test_the_hadamard_witness():
    P = [[Fraction(x, 2) for x in row] for row in ([1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1])]
    N = [[0] * 4 for _ in range(4)]
    for at, c, s in ((0, Fraction(3, 5), Fraction(4, 5)), (2, Fraction(5, 13), Fraction(12, 13))):
        N[at][at], N[at][at + 1], N[at + 1][at], N[at + 1][at + 1] = c, -s, s, c

    def times(A, B):
        return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*B, strict=True)] for row in A]

    O = times(times(P, N), P)  # noqa: E741 - P is its own transpose
    assert times(O, [list(c) for c in zip(*O, strict=True)]) == [[int(i == j) for j in range(4)] for i in range(4)]
    assert all(entry != 0 for row in O for entry in row)
    assert O[0] == [Fraction(32, 65), Fraction(56, 65), Fraction(7, 65), Fraction(-4, 65)]


def test_a_normaliser_of_zero():
    assert np.cos(0) + np.cos(np.pi) == 0


def test_the_order_of_two_turns():
    about_3 = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    about_1 = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    assert (about_1 @ about_3 @ [1, 0, 0] == [0, 0, 1]).all()
    assert (about_3 @ about_1 @ [1, 0, 0] == [0, 1, 0]).all()


# --- broken on purpose ---


def test_nothing_fails_as_it_is():
    mine = [entry.id for entry in select("ch7")]
    assert len(mine) == 23
    assert failing("ch7") == set()


def test_a_mirror_that_flips_nothing(monkeypatch):
    monkeypatch.setattr(orthogonal_powers, "mirror", lambda axis: np.eye(len(axis)))
    hit = failing("book.mirror-*", "book.parity-wider", "su6.det-minus-*")
    assert hit == {
        "book.mirror-powers",
        "book.mirror-commutes",
        "book.mirror-split",
        "book.parity-wider",
        "su6.det-minus-factor",
        "su6.det-minus-power",
        "su6.det-minus-conclusion",
    }


@pytest.mark.parametrize("wrong", [lambda B: -B, lambda B: B / 2])
def test_a_wrong_logarithm(monkeypatch, wrong):
    right = orthogonal_powers.skew_logarithm
    monkeypatch.setattr(orthogonal_powers, "skew_logarithm", lambda turn: wrong(right(turn)))
    assert {"su6.det1-converse", "book.parity-wider"} <= failing("su6.det1-converse", "book.parity-wider")


def test_the_wrong_eigenvector(monkeypatch):
    monkeypatch.setattr(orthogonal_powers, "adapted_axis", lambda turn: np.eye(len(turn))[0])
    names = ("book.minus-one-eigenvalue", "su6.det-minus-conclusion")
    assert failing(*names) == set(names)


def test_the_parity_forgotten_in_the_power(monkeypatch):
    right = orthogonal_powers.orthogonal_power
    monkeypatch.setattr(orthogonal_powers, "orthogonal_power", lambda turn, n: right(turn, 2 * n))
    names = {"su6.det-minus-conclusion", "book.parity-wider", "book.parity-form"}
    assert failing(*names) == names


def test_a_relu_that_is_linear(monkeypatch):
    monkeypatch.setattr(linear_attention, "relu", lambda x: np.asarray(x, dtype=float))
    assert failing("book.relu-monomial") == {"book.relu-monomial"}


def test_a_witness_that_is_no_witness(monkeypatch):
    monkeypatch.setattr(linear_attention, "relu_blocks", lambda *_: True)
    assert failing("su6.linattn-not-absorbable") == {"su6.linattn-not-absorbable"}


def test_the_kernel_transposed(monkeypatch):
    monkeypatch.setattr(linear_attention, "kernel", lambda q, k, R, feature: float(feature(q) @ R.T @ feature(k)))
    assert failing("su6.linattn-identity") == {"su6.linattn-identity"}


def test_the_second_coordinate_turned_back(monkeypatch):
    right = grid_positions.grid_turn
    monkeypatch.setattr(grid_positions, "grid_turn", lambda x, y, **B: right(x, -y, **B))
    assert failing("book.grid-planes") == {"book.grid-planes"}


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
    assert failing(*names) == names
