"""Break a piece of the algebra, and the claims of chapter 3 notice."""

import numpy as np

from rope_lab.algebra import layouts, rotation
from tests.claims.broken import failing, holding


def test_the_layouts_mixed_up(monkeypatch):
    right = rotation.layout_permutation
    monkeypatch.setattr(rotation, "layout_permutation", lambda d: np.argsort(right(d)))
    # Counts, cycles and signs are those of the inverse; for d = 2 and 4 the two are the same.
    assert holding({"blog.half-matrix", "blog.same-effects", "unsaid.layouts", "book.layout-shuffle"}) == set()


def test_a_minus_lost_in_the_fast_form(monkeypatch):
    right = layouts.quarter_turn
    monkeypatch.setattr(layouts, "quarter_turn", lambda x, **kind: np.abs(right(x, **kind)))
    assert failing("ch3") == {"blog.efficient-interleaved", "blog.half-efficient"}
