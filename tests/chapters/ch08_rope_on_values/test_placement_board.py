"""The verdicts of the placement board are the theorem."""

from rope_lab.algebra.placements import is_relative
from rope_lab.chapters.ch08_rope_on_values.placement_board import COLUMNS, ROWS, PlacementBoard


def test_the_verdicts_are_the_theorem():
    board = PlacementBoard.compute(PlacementBoard().state())["board"]
    for row, line in zip(ROWS, board, strict=True):
        for column, verdict in zip(COLUMNS, line, strict=True):
            assert (verdict == "same") == is_relative(row + column)
            assert (verdict == "weights") == (row in ("q", "k"))


def test_control_an_output_that_turns_onward_leaves_two():
    board = PlacementBoard.compute(PlacementBoard(turn="on").state())["board"]
    assert sum(line.count("same") for line in board) == 2
