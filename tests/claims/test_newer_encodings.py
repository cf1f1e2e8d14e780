"""Break what the claims on newer encodings are made of, and they notice."""

import numpy as np

from rope_lab.algebra import finite_width, generators, grid_positions, recurrence, rotation, widely_linear
from tests.claims.broken import holding


def test_a_rank_that_stops_early_is_noticed(monkeypatch):
    right = finite_width._rank
    monkeypatch.setattr(finite_width, "_rank", lambda rows, tolerance: min(right(rows, tolerance), 7))
    assert holding({"book.width-infinite", "book.width-window"}) == set()
    monkeypatch.setattr(finite_width, "_rank", lambda rows, tolerance: right(rows, 0 * tolerance))  # noise counts
    assert holding({"book.width-list"}) == set()


def test_features_that_step_the_wrong_way_are_noticed(monkeypatch):
    right = finite_width.relative_features

    def backwards(values, *, width):
        query, step, key = right(values, width=width)
        return finite_width.RelativeFeatures(query, np.linalg.inv(step), key)

    monkeypatch.setattr(finite_width, "relative_features", backwards)
    assert holding({"book.width-rank"}) == set()


def test_an_exponential_without_its_sign_is_noticed(monkeypatch):
    right = generators.exponential
    monkeypatch.setattr(generators, "exponential", lambda A: right(np.abs(A)))
    assert holding({"book.boost-two-decays", "book.boost-one-family"}) == set()


def test_a_turn_the_wrong_way_is_noticed(monkeypatch):
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: right(-np.asarray(angle)))
    hit = {"book.width-jordan", "book.boost-two-decays", "book.polar-logit"}
    assert holding(hit) == set()


def test_pieces_that_are_exchanged_are_noticed(monkeypatch):
    monkeypatch.setattr(widely_linear, "times_i", lambda d, layout="interleaved": np.eye(d))  # noqa: ARG005
    turn = grid_positions.grid_turn
    monkeypatch.setattr(grid_positions, "grid_turn", lambda x, y, **more: turn(x * x, y, **more))
    monkeypatch.setattr(recurrence, "recurrent", lambda v, **more: np.abs(more["state"] + v) ** 2)
    monkeypatch.setattr(rotation, "logits", lambda q, k, **more: np.abs(q @ k.T))  # noqa: ARG005
    hit = {"book.query-times-i", "book.grid-one-direction", "book.input-fixed", "book.polar-peak", "book.input-sum"}
    assert holding(hit) == set()
