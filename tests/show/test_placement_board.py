"""The placement board is the algebra, and its verdicts are the theorem."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra.placements import attention, attention_weights, is_relative
from rope_lab.show.widgets.placement_board import COLUMNS, ROWS, PlacementBoard


@given(seed=st.integers(0, 2**32 - 1))
def test_board_is_the_algebra(seed):
    drawn = PlacementBoard.random_state(np.random.default_rng(seed)) | {"turn": "back"}
    found, T = PlacementBoard.compute(drawn), len(drawn["content_k"])
    rotated, n = "".join(role for role in "qkvo" if drawn[role]), drawn["shift"] + np.arange(T)
    here = {"q_positions": n[-1:], "k_positions": n, "rotated": rotated, "theta": [drawn["theta"]]}
    q = np.sqrt(2) * np.array([drawn["query"]])  # the widget leaves the divisor out
    np.testing.assert_allclose(found["weights"], attention_weights(q, drawn["content_k"], **here)[0], atol=1e-12)
    y = attention(q, drawn["content_k"], drawn["content_v"], **here)[0]
    np.testing.assert_allclose(found["output"], y, atol=1e-11)
    np.testing.assert_allclose(np.sum(found["arrived"], axis=0), y, atol=1e-11)


def test_the_verdicts_are_the_theorem():
    board = PlacementBoard.compute(PlacementBoard().state())["board"]
    for row, line in zip(ROWS, board, strict=True):
        for column, verdict in zip(COLUMNS, line, strict=True):
            assert (verdict == "same") == is_relative(row + column)
            assert (verdict == "weights") == (row in ("q", "k"))


def test_control_an_output_that_turns_onward_leaves_two():
    board = PlacementBoard.compute(PlacementBoard(turn="on").state())["board"]
    assert sum(line.count("same") for line in board) == 2
