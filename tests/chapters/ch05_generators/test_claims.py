"""Break the algebra of generators and see which claims fall."""

import numpy as np
import pytest

from rope_lab.algebra import bch, generators, rotation
from tests.claims.broken import failing, holding


def test_the_exponential_entry_by_entry(monkeypatch):
    monkeypatch.setattr(generators, "exponential", np.exp)
    hit = {"su6.bch-implies-skew", "su6.exp-orth", "su6.exp-power", "book.witness-ellipse", "book.mixed-planes"}
    assert holding(hit | {"book.plane-generators", "book.slow-skew"}) == set()


def test_a_generator_that_turns_clockwise(monkeypatch):
    right = generators.generator_2d
    monkeypatch.setattr(generators, "generator_2d", lambda theta: -right(theta))  # generator_matrix is made of it
    assert holding({"su6.rtheta-exp", "su6.blockdiag-exp", "book.mixed-planes"}) == set()


def test_a_rotation_that_turns_clockwise(monkeypatch):
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: right(-np.asarray(angle)))
    hit = {"su6.rtheta-exp", "su6.blockdiag-exp", "book.witness-ellipse", "book.mixed-planes", "unsaid.aliasing"}
    assert holding(hit) == set()


def test_halves_with_a_sign_lost(monkeypatch):
    def broken(B):
        six = B[[1, 2, 3, 2, 3, 3], [0, 0, 0, 1, 1, 2]]
        return generators.skew_4d((six + six[::-1]) / 2), generators.skew_4d((six - six[::-1]) / 2)

    monkeypatch.setattr(generators, "halves_4d", broken)
    assert failing("ch5") == {"book.four-halves", "book.four-angles"}


def test_a_commutator_with_a_plus(monkeypatch):
    monkeypatch.setattr(bch, "commutator", lambda A, B: (A * B + B * A).expand())
    assert failing("ch5") == {"su6.bch-order2", "book.bch-four"}


@pytest.mark.parametrize("modulus", [np.pi, 4 * np.pi])
def test_another_modulus(monkeypatch, modulus):
    monkeypatch.setattr(generators, "alias", lambda theta: np.sort(np.mod(theta, modulus))[::-1])
    assert failing("ch5") == {"book.alias-classes"}
