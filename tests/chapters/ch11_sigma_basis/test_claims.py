"""Break a piece of the algebra, and the claims of chapter 11 notice; what the sigma board says in words."""

import numpy as np

from rope_lab.algebra import rotation, widely_linear
from rope_lab.chapters.ch11_sigma_basis.sigma_board import SigmaBoard
from tests.claims.broken import holding


def test_an_expected_half_of_gaussian_energy():
    W = np.random.default_rng(0).normal(size=(400, 8, 8))
    linear, conjugate = np.transpose([widely_linear.energies(w) for w in W])
    assert abs(conjugate.sum() / (linear + conjugate).sum() - 0.5) < 0.01


def test_a_lost_sign_in_the_split(monkeypatch):
    right = widely_linear.split
    monkeypatch.setattr(widely_linear, "split", lambda W, **where: right(W, **where)[::-1])
    assert holding({"book.split", "book.nearest-linear", "crope.eq13-not-equivalent"}) == set()


def test_the_conjugate_of_the_parts(monkeypatch):
    right = widely_linear.complex_parts
    monkeypatch.setattr(widely_linear, "complex_parts", lambda W, **where: [p.conj() for p in right(W, **where)])
    assert holding({"book.block-parts", "crope.sigma.basis", "crope.eq13"}) == set()


def test_the_parts_of_the_other_layout(monkeypatch):
    right = widely_linear.to_complex
    monkeypatch.setattr(widely_linear, "to_complex", lambda x, **_: right(x, layout="half"))
    assert holding({"crope.eq8-9", "crope.eq13", "book.literal-eq13"}) == set()


def test_the_mirrors_exchanged(monkeypatch):
    monkeypatch.setattr(widely_linear, "SIGMA", widely_linear.SIGMA[[0, 3, 2, 1]])
    assert holding({"crope.sigma.basis", "crope.sigma.geometry", "book.literal-transpose"}) == set()


def test_a_turn_the_other_way(monkeypatch):
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: right(-np.asarray(angle)))
    assert holding({"crope.eq7", "crope.eq10", "crope.eq12", "book.transpose-sum", "book.dagger-offset"}) == set()


def test_the_words_of_the_board_name_the_share():
    assert "85% is complex-linear" in SigmaBoard().fallback()
    assert "none is complex-linear" in SigmaBoard(a0=0.0, a1=0.0, a2=0.0, a3=0.0).fallback()
