"""The widget of the page on newer encodings: how often two keys change their order in a longer and longer text."""

import numpy as np
from traitlets import Int

from rope_lab.algebra.rotation import frequencies
from rope_lab.chapters.ch04_relative_identity import key_order
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["OrderFlips"]

HEAD_DIM, DOUBLINGS = 128, 17


class OrderFlips(Widget):
    r"""The probability that two keys change their order between two random places, in windows of 8 to 131,072 tokens.

    State: ``base_step``, three steps for each power of ten: 100, 200, 500, 1000, ...; ``rest``, how many of the planes
    stand still, the slowest first. Values: the ``base``; the ``flips`` of windows that grow by the root of 2, and their
    ``limit``.

    >>> values = OrderFlips.compute(OrderFlips(rest=32).state())
    >>> values["base"], round(values["flips"][-1], 3), round(values["limit"], 3)
    (500000, 0.333, 0.333)
    """

    title = "Two keys that change their order in a longer text"
    base_step = state(Int(17, min=6, max=24))
    rest = state(Int(0, min=0, max=48))
    head_dim = constant(HEAD_DIM)
    doublings = constant(DOUBLINGS)

    @staticmethod
    def compute(state: dict) -> dict:
        planes, doublings = state["head_dim"] // 2, state["doublings"]
        base = (1, 2, 5)[state["base_step"] % 3] * 10 ** (state["base_step"] // 3)
        theta = frequencies(state["head_dim"], base=base)
        theta[planes - state["rest"] :] = 0
        windows = np.floor(2 ** (np.arange(6, 2 * doublings + 1) / 2)).astype(int)
        flips = key_order.order_flips(2**doublings, theta=theta)[windows - 1].tolist()
        return {"base": base, "flips": flips, "limit": key_order.resting_limit(state["rest"] / planes)}

    def fallback(self) -> str:
        values = self.compute(self.state())
        return (
            f"Interactive figure: a head of {self.head_dim} with base {values['base']:,} and {self.rest} of its planes "
            f"at rest. The probability that two keys change their order between two random places grows with the "
            f"text, to {values['flips'][-1]:.2f} in {2**self.doublings:,} tokens. In the end it is "
            f"{values['limit']:.2f}."
        )
