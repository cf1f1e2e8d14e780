"""Chapter 3's widget: the half-split matrix becomes the interleaved one, row by row and then column by column."""

from math import floor

from traitlets import Enum, Float, Int

from rope_lab.algebra import layouts
from rope_lab.algebra.rotation import layout_permutation
from rope_lab.show.widgets.kit import Widget, state

__all__ = ["LayoutBoard"]


class LayoutBoard(Widget):
    r"""Carry the half-split matrix of head_dim ``d`` over to the interleaved one, ``by`` moves or by swaps.

    The first half of the steps concerns rows, the second half columns. ``rows[j]`` is the place of the row that the
    interleaved layout calls j, ``columns[j]`` likewise; between two whole steps they glide. ``sign`` is the
    determinant, by the parity of rows and columns together.

    >>> done = LayoutBoard.compute(LayoutBoard(d=6, step=4).state())
    >>> done["rows"], done["total"], done["sign"]
    ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 4, 1)
    """

    title = "Layout board: from half-split to interleaved"
    d = state(Int(8, min=2, max=16))
    by = state(Enum(["moves", "swaps"], "moves"))
    step = state(Float(0, min=0, max=22))

    @staticmethod
    def compute(state: dict) -> dict:
        half = layout_permutation(state["d"])
        each = layouts.row_moves(half) if state["by"] == "moves" else layouts.row_swaps(half)
        at = min(max(state["step"], 0), 2 * len(each))
        whole = min(floor(at), 2 * len(each) - 1) if each else 0
        share = at - whole
        carried = [
            _carried(half.tolist(), each, min(max(at_least, 0), len(each)), state["by"])
            for at_least in (whole, whole + 1, whole - len(each), whole + 1 - len(each))
        ]
        places = [[order.index(name) for name in range(state["d"])] for order in carried]
        rows = [a + (b - a) * share for a, b in zip(places[0], places[1], strict=True)]
        columns = [a + (b - a) * share for a, b in zip(places[2], places[3], strict=True)]
        now = (1, 3) if share == 1 else (0, 2)
        sign = layouts.parity(carried[now[0]]) * layouts.parity(carried[now[1]])
        return {
            "rows": rows,
            "columns": columns,
            "total": 2 * len(each),
            "done": at,
            "sign": sign,
            "moves": layouts.minimal_moves(half),
            "swaps": layouts.minimal_swaps(half),
            "cycles": layouts.cycles(half),
        }

    @staticmethod
    def random_state(rng) -> dict:
        return {
            "d": 2 * int(rng.integers(1, 9)),
            "by": str(rng.choice(["moves", "swaps"])),
            "step": float(rng.choice([rng.integers(0, 23), rng.uniform(0, 22)])),
        }

    def fallback(self) -> str:
        values = self.compute(self.state())
        return (
            f"Interactive figure: the half-split rotation matrix for d = {self.d} becomes the interleaved one. "
            f"It takes {values['moves']} moves of rows (take one out, insert it elsewhere) or {values['swaps']} swaps, "
            "and then the same for the columns. Rows and columns together leave the determinant at 1."
        )


def _carried(order: list[int], steps: list[tuple[int, int]], count: int, by: str) -> list[int]:
    """The order after the first ``count`` steps."""
    order = list(order)
    for a, b in steps[:count]:
        if by == "moves":
            order.insert(b, order.pop(a))
        else:
            order[a], order[b] = order[b], order[a]
    return order
