"""The numbers on the sigma board against the algebra of real maps."""

import numpy as np

from rope_lab.algebra import widely_linear
from rope_lab.show.widgets.sigma_board import SigmaBoard


def states(count=20):
    rng = np.random.default_rng(11)
    return [SigmaBoard.random_state(rng) for _ in range(count)]


def whole_map(state):
    return np.tensordot([state[f"a{k}"] for k in range(4)], widely_linear.SIGMA, axes=1)


def test_the_matrix_shown_is_the_map_or_one_half_of_it():
    for state in states():
        M = whole_map(state)
        linear, conjugate = widely_linear.split(M)
        want = {"whole": M, "linear": linear, "conjugate": conjugate}
        for half, matrix in want.items():
            values = SigmaBoard.compute(state | {"half": half})
            assert np.allclose(np.reshape(values["matrix"], (2, 2)), matrix)
            assert np.isclose(values["determinant"], np.linalg.det(matrix))
            assert np.allclose(values["axes"], np.linalg.svd(matrix, compute_uv=False))
        assert not np.allclose(linear, conjugate)  # control: the views differ


def test_the_energies_are_those_of_the_whole_map_in_every_view():
    for state in states():
        values = SigmaBoard.compute(state)
        assert np.allclose((values["linear"], values["conjugate"]), widely_linear.energies(whole_map(state)))
        assert np.isclose(values["linear"] + values["conjugate"], (whole_map(state) ** 2).sum())


def test_the_words_name_the_share():
    assert "85% is complex-linear" in SigmaBoard().fallback()
    assert "none is complex-linear" in SigmaBoard(a0=0.0, a1=0.0, a2=0.0, a3=0.0).fallback()
