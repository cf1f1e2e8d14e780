"""The witnesses of chapter 11, computed again by hand, and what a broken piece of algebra makes fail."""

import numpy as np

from rope_lab.algebra import rotation, widely_linear
from rope_lab.claims import verify


def failing():
    return {result.claim.id for result in verify("ch11") if result.failed}


def test_eq2_as_printed():
    weights = np.exp([1, 2]) / (1 + 2)
    assert weights.round(3).tolist() == [0.906, 2.463]
    assert round(weights.sum(), 2) == 3.37
    assert 1 + -1 == 0  # the other witness divides by this


def test_eq11_to_13_as_printed():
    q = k = 1j
    assert (q * k).real == -1
    assert (q.conjugate() * k).real == 1


def test_a_mirror_tells_a_common_phase():
    mirror, quarter = np.diag([1, -1]), np.array([[0, -1], [1, 0]])
    word = np.array([1, 0])
    assert (mirror @ word) @ word == 1
    assert (mirror @ quarter @ word) @ (quarter @ word) == -1


def test_the_block_of_one_two_three_four():
    one, mirror, turn, flip = (
        np.array(s) for s in ([[1, 0], [0, 1]], [[0, 1], [1, 0]], [[0, -1], [1, 0]], [[1, 0], [0, -1]])
    )
    assert (2.5 * one + 2.5 * mirror + 0.5 * turn - 1.5 * flip == [[1, 2], [3, 4]]).all()
    assert (flip @ turn == -turn @ flip).all()


def test_three_one_is_eight_and_two():
    A, B = (3 + 1) / 2, (3 - 1) / 2
    assert (2 * A**2, 2 * B**2) == (8, 2)
    assert (A + B, A - B, A**2 - B**2) == (3, 1, 3)  # the half axes and the determinant of diag(3, 1)


def test_an_expected_half_of_gaussian_energy():
    W = np.random.default_rng(0).normal(size=(400, 8, 8))
    linear, conjugate = np.transpose([widely_linear.energies(w) for w in W])
    assert abs(conjugate.sum() / (linear + conjugate).sum() - 0.5) < 0.01


def test_a_lost_sign_in_the_split(monkeypatch):
    right = widely_linear.split
    monkeypatch.setattr(widely_linear, "split", lambda W, **where: right(W, **where)[::-1])
    assert {"book.split", "book.nearest-linear", "crope.eq13-not-equivalent"} <= failing()


def test_the_conjugate_of_the_parts(monkeypatch):
    right = widely_linear.complex_parts
    monkeypatch.setattr(widely_linear, "complex_parts", lambda W, **where: [p.conj() for p in right(W, **where)])
    assert {"book.block-parts", "crope.sigma.basis", "crope.eq13"} <= failing()


def test_the_parts_of_the_other_layout(monkeypatch):
    right = widely_linear.to_complex
    monkeypatch.setattr(widely_linear, "to_complex", lambda x, **_: right(x, layout="half"))
    assert {"crope.eq8-9", "crope.eq13", "book.literal-eq13"} <= failing()


def test_the_mirrors_exchanged(monkeypatch):
    monkeypatch.setattr(widely_linear, "SIGMA", widely_linear.SIGMA[[0, 3, 2, 1]])
    assert {"crope.sigma.basis", "crope.sigma.geometry", "book.literal-transpose"} <= failing()


def test_a_turn_the_other_way(monkeypatch):
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: right(-np.asarray(angle)))
    assert {"crope.eq7", "crope.eq10", "crope.eq12", "book.transpose-sum", "book.dagger-offset"} <= failing()
