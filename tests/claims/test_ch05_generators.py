"""Break the algebra of generators and see which claims fall; and the witnesses once more, by hand."""

import numpy as np
import pytest

from rope_lab.algebra import bch, generators, rotation
from rope_lab.claims import select, verify


def failing() -> set[str]:
    return {result.claim.id for result in verify("ch5") if result.failed}


def test_nothing_fails_as_it_is():
    assert failing() == set()
    assert len(select("ch5")) >= 16


def test_the_exponential_entry_by_entry(monkeypatch):
    monkeypatch.setattr(generators, "exponential", np.exp)
    hit = {"su6.bch-implies-skew", "su6.exp-orth", "su6.exp-power", "book.witness-ellipse", "book.mixed-planes"}
    assert failing() >= hit | {"book.plane-generators", "book.slow-skew"}


def test_a_generator_that_turns_clockwise(monkeypatch):
    right = generators.generator_2d
    monkeypatch.setattr(generators, "generator_2d", lambda theta: -right(theta))  # generator_matrix is made of it
    assert failing() >= {"su6.rtheta-exp", "su6.blockdiag-exp", "book.mixed-planes"}


def test_a_rotation_that_turns_clockwise(monkeypatch):
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: right(-np.asarray(angle)))
    hit = {"su6.rtheta-exp", "su6.blockdiag-exp", "book.witness-ellipse", "book.mixed-planes", "unsaid.aliasing"}
    assert failing() >= hit


def test_halves_with_a_sign_lost(monkeypatch):
    def broken(B):
        six = B[[1, 2, 3, 2, 3, 3], [0, 0, 0, 1, 1, 2]]
        return generators.skew_4d((six + six[::-1]) / 2), generators.skew_4d((six - six[::-1]) / 2)

    monkeypatch.setattr(generators, "halves_4d", broken)
    assert failing() == {"book.four-halves", "book.four-angles"}


def test_a_commutator_with_a_plus(monkeypatch):
    monkeypatch.setattr(bch, "commutator", lambda A, B: (A * B + B * A).expand())
    assert failing() == {"su6.bch-order2", "book.bch-four"}


@pytest.mark.parametrize("modulus", [np.pi, 4 * np.pi])
def test_another_modulus(monkeypatch, modulus):
    monkeypatch.setattr(generators, "alias", lambda theta: np.sort(np.mod(theta, modulus))[::-1])
    assert failing() == {"book.alias-classes"}


# --- by hand: nothing below calls the package ---


def test_the_witness():
    B = np.array([[0, -4 * np.pi], [np.pi, 0]])
    np.testing.assert_allclose(B @ B, -((2 * np.pi) ** 2) * np.eye(2), rtol=1e-14)

    def power(t):  # from the line above: cosine and sine of 2 pi t
        return np.cos(2 * np.pi * t) * np.eye(2) + np.sin(2 * np.pi * t) / (2 * np.pi) * B

    for whole in range(-3, 4):
        np.testing.assert_allclose(power(whole), np.eye(2), atol=1e-13)
    np.testing.assert_allclose(power(0.25), [[0, -2], [0.5, 0]], atol=1e-15)
    assert np.abs(power(0.25).T @ power(0.25) - np.eye(2)).max() > 2
    assert np.abs(B + B.T).max() > 9


def test_half_the_witness_is_a_half_turn():
    B = np.array([[0, -2 * np.pi], [np.pi / 2, 0]])
    np.testing.assert_allclose(np.linalg.eigvals(B).imag, [np.pi, -np.pi])
    np.testing.assert_allclose(B @ B, -(np.pi**2) * np.eye(2), rtol=1e-14)  # so e^B = cos(pi) I


def test_angles_three_and_one():
    B = np.zeros((4, 4))
    B[1, 0], B[3, 2] = 3, 1
    B -= B.T
    assert sorted(np.linalg.eigvals(B).imag.round(9)) == [-3, -1, 1, 3]
    assert ((3 + 1) + (3 - 1)) / 2 == 3
    assert ((3 + 1) - (3 - 1)) / 2 == 1


def test_five_radians_are_a_mirror_image():
    n = np.arange(5)
    np.testing.assert_allclose(np.cos(5 * n), np.cos((2 * np.pi - 5) * n))
    np.testing.assert_allclose(np.sin(5 * n), -np.sin((2 * np.pi - 5) * n), atol=1e-13)
