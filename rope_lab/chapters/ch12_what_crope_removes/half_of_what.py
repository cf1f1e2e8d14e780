"""The opener of chapter 12: what complex weights leave of a head's weights, and of its logits."""

from traitlets import Int

from rope_lab.algebra import dimension_counts
from rope_lab.show.widgets.kit import Widget, state

__all__ = ["COUNTS", "HalfOfWhat"]

COUNTS = (dimension_counts.weight_dimension, dimension_counts.form_dimension, dimension_counts.family_dimension)


class HalfOfWhat(Widget):
    """Three rows of squares for a head of width 2: its weights, its logits at one offset, its logits at all of them.

    State: how many ``pairs`` of coordinates a word has. Values: the dimensions of each row, and those that are left.

    >>> HalfOfWhat.compute({"pairs": 1})
    {'whole': [8, 4, 6], 'left': [4, 2, 2]}
    """

    title = "Half of what? A head of width 2, and words that grow"
    pairs = state(Int(1, min=1, max=6))

    @staticmethod
    def compute(state: dict) -> dict:
        width = 2 * state["pairs"]
        whole, left = ([count(head_dim=2, width=width, complex_linear=c) for count in COUNTS] for c in (False, True))
        return {"whole": whole, "left": left}

    def fallback(self) -> str:
        weights, one, every = (f"{a} of {b}" for b, a in zip(*self.compute(self.state()).values(), strict=True))
        return (
            f"Interactive figure: a head of width 2 reads words of {2 * self.pairs} coordinates. Complex weights leave "
            f"{weights} weights, {one} dimensions of the logits at one offset, and {every} of those at all offsets."
        )
