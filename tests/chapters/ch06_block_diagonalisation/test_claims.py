"""Break a piece of the algebra, and the claims of chapter 6 notice."""

import numpy as np

from rope_lab.algebra import absorption, normal_form, rotation
from rope_lab.claims import load, run


def outcome(claim_id):
    return run(load()[claim_id])


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
