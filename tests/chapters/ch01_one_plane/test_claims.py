"""Break one sign of the algebra, and the ledger names the claims it hits."""

import numpy as np
import pytest
import sympy as sp

from rope_lab.algebra import rotation, symbolic
from rope_lab.claims import select
from tests.claims.broken import failing, holding

UNTOUCHED = {"blog.output-sum"}  # about weights and values: nothing turns


def everything() -> set[str]:
    return {entry.id for entry in select("ch1")}


def test_a_minus_lost_in_the_reference(monkeypatch):
    def broken(angle):
        cos, sin = np.cos(angle), np.sin(angle)
        return np.moveaxis(np.array([[cos, sin], [sin, cos]]), (0, 1), (-2, -1))

    monkeypatch.setattr(rotation, "rotation_2d", broken)
    hit = failing("ch1")
    # Attention by its definition: it is checked at position 0, and on whatever logits there are.
    assert everything() - hit == UNTOUCHED | {"su19.attn-def", "blog.attn-def"}


def test_the_reference_turning_clockwise(monkeypatch):
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: right(-np.asarray(angle)))
    exact = {entry.id for entry in select("ch1") if entry.evidence == "exact"} - UNTOUCHED
    # The numeric laws hold for either direction of turning; only these say which is meant.
    assert failing("ch1") == exact | {"blog.angle", "book.polar-peak"}


def test_a_minus_lost_in_the_exact_form(monkeypatch):
    monkeypatch.setattr(symbolic, "rotation_2d", lambda a: sp.Matrix([[sp.cos(a), sp.sin(a)], [sp.sin(a), sp.cos(a)]]))
    assert failing("ch1") == {entry.id for entry in select("ch1") if entry.evidence == "exact"} - UNTOUCHED


@pytest.mark.parametrize("scale", [1 + 1e-6, -1.0])
def test_a_scaled_rotation(monkeypatch, scale):
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: scale * right(angle))
    assert holding({"blog.props", "book.rotation-length", "book.rotation-at-zero"}) == set()
