"""What chapter 5's widget shows of whole turns that are added to the angle."""

import numpy as np

from rope_lab.chapters.ch05_generators.powers_of_o import PowersOfO


def test_whole_turns_are_seen_between_whole_powers_only():
    def matrix(n, wraps):
        return np.array(PowersOfO.compute(PowersOfO(n=n, wraps=wraps).state())["matrix"])

    np.testing.assert_allclose(matrix(3.0, 0), matrix(3.0, 1), atol=1e-12)
    assert np.abs(matrix(2.5, 0) - matrix(2.5, 1)).max() > 0.5  # control
