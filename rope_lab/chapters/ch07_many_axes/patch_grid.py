"""Chapter 7's widget: a patch that is moved over a grid, and rows of clocks for time, height and width."""

import numpy as np
from traitlets import Enum, Float

from rope_lab.algebra.many_axes import (
    axial_frequencies,
    interleaved_frequencies,
    mixed_frequencies,
    section_frequencies,
)
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["PatchGrid"]

WIDTH, SIZE = 128, 8  # of a head, and patches on a side of the window
FIXED = (3.0, 0.0)  # row and column of the marked patch in the window; its frame is 0
SHOWN, FAR = 6, 64.0  # clocks of an axis at most, and the steps of a reading
_SPREAD = np.pi * (np.arange(WIDTH // 4) + 0.5) / (WIDTH // 4)  # a model draws one angle, and learning spreads it


def _vision(table):
    """A table of height and width with a column for time, of which these models know nothing."""
    return np.pad(table, ((0, 0), (1, 0)))


TABLES = {
    "sections": section_frequencies([16, 24, 24], base=1e6),
    "interleaved": interleaved_frequencies([24, 20, 20], base=5e6),
    "axial": _vision(axial_frequencies(WIDTH, base=10000.0)),
    "mixed": _vision(mixed_frequencies(WIDTH, angles=_SPREAD, base=10.0)),
}


class PatchGrid(Widget):
    r"""The turn from the marked patch to the moved one, plane by plane and axis by axis.

    State: ``row``, ``column`` and ``frame`` of the moved patch in the window; ``start``, the row and column of a large
    picture where the window begins; ``stride``, the patches from one cell of the window to the next; ``scheme``.

    >>> values = PatchGrid.compute(PatchGrid(scheme="sections").state())
    >>> values["planes"], round(values["far"][2], 3)  # across 64 patches the width turns by a hundredth of a radian
    ([16, 24, 24], 0.011)
    """

    title = "A patch on a grid, and the clocks of its axes"
    column = state(Float(6.0, min=0.0, max=SIZE - 1.0))
    row = state(Float(5.0, min=0.0, max=SIZE - 1.0))
    frame = state(Float(2.0, min=0.0, max=7.0))
    start = state(Float(0.0, min=0.0, max=100.0))
    stride = state(Float(1.0, min=1.0, max=9.0))
    scheme = state(Enum(list(TABLES), default_value="sections"))
    # (axes, planes) for each scheme, in radians per step; so many digits make less than 1e-9 of a turn here
    tables = constant({name: [[float(f"{x:.12g}") for x in row] for row in table.T] for name, table in TABLES.items()})
    fixed = constant(list(FIXED))

    @staticmethod
    def compute(state: dict) -> dict:
        table = np.array(state["tables"][state["scheme"]])
        one, other = (
            np.array([frame, *(state["start"] + state["stride"] * np.array(cell))])
            for frame, cell in ((0.0, state["fixed"]), (state["frame"], [state["row"], state["column"]]))
        )
        turns = table * (other - one)[:, None]  # (axes, planes)
        between = other @ table - one @ table  # of each plane, by all axes
        own = table * one[:, None]  # of the marked patch
        clocks = [_spread(np.flatnonzero(row)) for row in table]
        fastest = np.abs(table).max(axis=1)
        width = np.abs(table[2][table[2] != 0])
        return {
            "planes": [int(np.count_nonzero(row)) for row in table],
            "clocks": clocks,
            "turns": [[float(turns[a, i]) for i in chosen] for a, chosen in enumerate(clocks)],
            "own": [[float(own[a, i]) for i in chosen] for a, chosen in enumerate(clocks)],
            "between": between.tolist(),
            "far": (FAR * fastest).tolist(),
            "waves": [float(2 * np.pi / width.max()), float(2 * np.pi / width.min())],
            "width": float(fastest[2] * (other - one)[2]),
            "logit": float(np.cos(between).mean()),
        }

    def fallback(self) -> str:
        told = {name: self.compute({**self.state(), "scheme": name}) for name in TABLES}
        words = "; ".join(f"{name}: {_listed(values['far'])} radians" for name, values in told.items())
        return (
            "Interactive figure: one patch of a grid is fixed and one is moved, and rows of clocks show the turn from "
            "the one to the other along time, height and width. The turn of each axis's fastest plane across "
            f"{FAR:.0f} steps, in that order: {words}."
        )


def _spread(planes):
    """At most SHOWN of them, from the first to the last."""
    many = min(SHOWN, len(planes))
    return [int(planes[int(j * (len(planes) - 1) / (many - 1) + 0.5)]) for j in range(many)]


def _listed(values):
    return ", ".join(f"{value:.3g}" for value in values)
