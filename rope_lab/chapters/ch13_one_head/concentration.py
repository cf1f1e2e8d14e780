"""Chapter 13's widget: one head that looks for the next token or the one after, its logits and its softmax."""

from math import log10

import numpy as np
from traitlets import Enum, Float, Int

from rope_lab.algebra.latent import softmax
from rope_lab.algebra.one_head import neighbour_gap, offset_logits
from rope_lab.algebra.rotation import frequencies
from rope_lab.algebra.schedule import decay
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["WINDOW", "Concentration"]

WINDOW = 32  # keys on either side of the query


class Concentration(Widget):
    r"""A query at 0 and keys around it: the logit of the key at offset r is $c \sum_i \cos((r - s)\theta_i)$.

    State: ``kind`` (the token says "next", s = 1, or "next-next", s = 2), ``head_dim`` as text, ``log_base`` and
    ``log_amplitude`` (powers of ten; c is the amplitude), and ``key``, the offset of the key that is looked at.

    >>> values = Concentration.compute(Concentration(head_dim="512").state())
    >>> round(values["ratio"], 3), round(values["weight"], 3)
    (0.973, 0.998)
    """

    title = "One head: the logits stay close, the softmax chooses"
    kind = state(Enum(["next", "next-next"], default_value="next"))
    head_dim = state(Enum(["8", "32", "128", "512", "2048"], default_value="32"))
    log_base = state(Float(4.0, min=1.0, max=6.0))
    log_amplitude = state(Float(0.0, min=-1.5, max=2.0))
    key = state(Int(6, min=-WINDOW, max=WINDOW))
    reach = constant(WINDOW)

    @staticmethod
    def compute(state: dict) -> dict:
        d, base, c = int(state["head_dim"]), 10.0 ** state["log_base"], 10.0 ** state["log_amplitude"]
        wanted = 1 if state["kind"] == "next" else 2
        theta, offsets = frequencies(d, base=base), np.arange(-WINDOW, WINDOW + 1)
        logits = offset_logits(offsets, offset=wanted, theta=theta)
        shares, weights = logits / len(theta), softmax(c * logits)
        here = state["key"] + WINDOW
        return {
            "wanted": wanted,
            "shares": shares.tolist(),
            "weights": weights.tolist(),
            "ratio": float(decay(1, theta=theta)),
            "lead": c * neighbour_gap(theta),
            "weight": float(weights[wanted + WINDOW]),
            "scaled": -log10(d) / 2,
            "key_share": float(shares[here]),
            "key_weight": float(weights[here]),
        }

    def fallback(self) -> str:
        values = self.compute(self.state())
        return (
            f"Interactive figure: the logits of one head over {2 * WINDOW + 1} keys around its query, and below them "
            f"their softmax. The token says {self.kind}, so the key {values['wanted']} ahead is wanted. With "
            f"{self.head_dim} dimensions and base {10**self.log_base:,.0f} the neighbours of the wanted key have "
            f"{values['ratio']:.3f} of its logit, and the wanted key gets the softmax weight {values['weight']:.3f}."
        )
