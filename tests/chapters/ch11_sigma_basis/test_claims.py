"""An expected half of the energy, and the words of the sigma board."""

import numpy as np

from rope_lab.algebra import widely_linear
from rope_lab.chapters.ch11_sigma_basis.sigma_board import SigmaBoard


def test_an_expected_half_of_gaussian_energy():
    W = np.random.default_rng(0).normal(size=(400, 8, 8))
    linear, conjugate = np.transpose([widely_linear.energies(w) for w in W])
    assert abs(conjugate.sum() / (linear + conjugate).sum() - 0.5) < 0.01


def test_the_words_of_the_board_name_the_share():
    assert "85% is complex-linear" in SigmaBoard().fallback()
    assert "none is complex-linear" in SigmaBoard(a0=0.0, a1=0.0, a2=0.0, a3=0.0).fallback()
