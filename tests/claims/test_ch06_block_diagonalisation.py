"""The witnesses of chapter 6, computed again by hand; then the algebra is broken, and the ledger notices."""

import math

import numpy as np
import pytest

from rope_lab.algebra import absorption, normal_form, rotation
from rope_lab.claims import load, run

J = np.array([[0.0, -1.0], [1.0, 0.0]])


def outcome(claim_id):
    return run(load()[claim_id])


def test_a_fixed_frequency():
    assert math.cos(0) + math.cos(4) - 2 * math.cos(1) * math.cos(2) == pytest.approx(0.796, abs=5e-4)
    for r in range(4):
        assert math.cos(r) + math.cos(r + 2) - 2 * math.cos(1) * math.cos(r + 1) == pytest.approx(0)


def test_a_lone_minus_one():
    logits = [1 * 1 + 2 * 1 * (-1) ** r for r in range(4)]
    assert logits == [3, -1, 3, -1]
    assert (logits[0] + logits[2]) / (2 * logits[1]) == -3  # the cosine that one plane would need
    turns = [np.diag([1, 1, (-1) ** r, (-1) ** r]) for r in range(4)]  # four dimensions, angles 0 and pi
    assert [np.array([1, 0, 2, 0]) @ R @ [1, 0, 1, 0] for R in turns] == logits


def test_sum_and_difference_of_two_angles():
    assert (math.sqrt(10 + 6), math.sqrt(10 - 6)) == (3 + 1, 3 - 1)
    B = np.zeros((4, 4))
    B[0, 1], B[2, 3] = 3, 1
    assert np.allclose(sorted(np.abs(np.linalg.eigvals(B - B.T).imag)), [1, 1, 3, 3])


def test_gains_do_not_commute_with_a_quarter_turn():
    gains, u = np.array([1, 2]), np.array([1, 0])
    assert (J.T @ (gains * u)).tolist() == [0, -1]
    assert (gains * (J.T @ u)).tolist() == [0, -2]


def test_commuting_with_equal_angles():
    mix = np.kron([[0, 1], [1, 0]], np.eye(2))  # exchanges the two planes
    assert np.array_equal(mix @ np.kron(np.eye(2), J), np.kron(np.eye(2), J) @ mix)
    assert not np.array_equal(mix @ np.kron(np.diag([2, 1]), J), np.kron(np.diag([2, 1]), J) @ mix)


def test_the_sign_of_the_blocks_is_noticed(monkeypatch):
    right = normal_form.generator_2d
    monkeypatch.setattr(normal_form, "generator_2d", lambda theta: -right(theta))
    hit = [
        name
        for name in ("su6.skew-normal-form", "book.absorb-shared-keys", "book.orthogonal-normal-form")
        if outcome(name).failed
    ]
    assert hit == ["su6.skew-normal-form"]


def test_a_lost_transpose_in_the_absorption_is_noticed(monkeypatch):
    def without(W_q, W_k, *, P):
        W_q, W_k, group = absorption._heads(W_q, W_k)
        P = absorption._per_key_head(P, W_k, name="P")
        return absorption.Weights(np.repeat(P, group, axis=0) @ W_q, np.linalg.solve(P, W_k))

    monkeypatch.setattr(absorption, "absorb", without)
    assert all(outcome(name).failed for name in ("su6.absorb-identity", "su6.absorb-no-loss", "book.absorb-norm"))


def test_planes_left_unsorted_by_sign_are_noticed(monkeypatch):
    """A basis whose columns stand in the wrong order turns the planes backwards."""
    monkeypatch.setattr(normal_form, "_upright", lambda plane: plane[:, ::-1])
    assert outcome("su6.skew-normal-form").failed
    assert outcome("book.orthogonal-normal-form").failed


def test_the_sign_of_the_rotation_is_noticed(monkeypatch):
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: np.swapaxes(right(angle), -1, -2))
    for name in ("su6.exp-similar", "su6.absorb-no-loss", "book.fixed-schedule", "book.freedom-of-basis"):
        assert outcome(name).failed, name


def test_half_the_angle_is_noticed(monkeypatch):
    """A turn by pi has no sign to lose; a factor it has."""
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: right(np.asarray(angle) / 2))
    assert outcome("su19.iso-rotation").failed
