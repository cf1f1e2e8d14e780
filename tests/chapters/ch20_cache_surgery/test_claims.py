"""Break an operation on the cache or its rounding, and the claims of chapter 20 notice."""

import numpy as np

from rope_lab.algebra import half_precision, rotation
from rope_lab.nn import cache_surgery
from tests.claims.broken import holding


def test_a_turn_the_wrong_way_is_noticed(monkeypatch):
    right = cache_surgery._turn_on
    monkeypatch.setattr(cache_surgery, "_turn_on", lambda x, rotary, by: right(x, rotary, -by))
    hit = {"book.cache-shift-all", "book.cache-drop", "book.cache-splice", "book.cache-values", "book.cache-latent"}
    assert holding(hit | {"book.cache-factor"}) == set()


def test_a_rotation_without_its_place_is_noticed(monkeypatch):
    right = rotation.rotation_matrix
    monkeypatch.setattr(
        rotation, "rotation_matrix", lambda positions, **more: right(np.asarray(positions) ** 2, **more)
    )
    assert holding({"book.cache-packing", "book.cache-padding", "book.cache-other-list"}) == set()


def test_a_rounding_that_cuts_is_noticed(monkeypatch):
    def cut(x, form):
        h = half_precision._spacing(np.where(np.isfinite(x), x, 0.0), form)
        return np.where(np.isfinite(x), np.trunc(x / h) * h, x)

    monkeypatch.setattr(half_precision, "_nearest", cut)
    assert holding({"book.cache-frozen", "book.cache-lag", "book.cache-one-turn"}) == set()
