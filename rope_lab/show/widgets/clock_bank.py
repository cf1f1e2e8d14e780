"""Chapter 2's widget: one clock for each plane of a head, and what all of them together do to the logit."""

import numpy as np
from traitlets import Enum, Float

from rope_lab.algebra import schedule
from rope_lab.algebra.rotation import frequencies, rotate
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["WINDOW", "ClockBank"]

WINDOW = 4096  # positions


class ClockBank(Widget):
    r"""A query stands at position 0, an equal key at position ``n``: plane i lies $n\theta_i$ between them.

    State: the key's position ``n`` (any real number up to 4096), ``log_base`` (the base is ten to that power) and
    ``head_dim``, as text.

    >>> values = ClockBank.compute(ClockBank(n=100).state())
    >>> values["never"], round(values["logit"], 2), round(values["law"], 2)
    (18, 0.48, 0.44)
    """

    title = "Clock bank: every plane of a head at its own speed"
    n = state(Float(24.0, min=0.0, max=float(WINDOW)))
    log_base = state(Float(4.0, min=1.0, max=7.0))
    head_dim = state(Enum(["8", "32", "128"], default_value="128"))
    reach = constant(WINDOW)

    @staticmethod
    def compute(state: dict) -> dict:
        n, d, base = state["n"], int(state["head_dim"]), 10.0 ** state["log_base"]
        theta = frequencies(d, base=base)
        turns, unit = schedule.turns(n, theta=theta), np.eye(d) / d  # the moments of a unit vector of any direction
        return {
            "wavelengths": schedule.wavelengths(d, base=base).tolist(),
            "hands": rotate(np.tile([1.0, 0.0], d // 2), n, theta=theta).reshape(-1, 2).tolist(),
            "turns": turns.tolist(),
            "once": int((turns >= 1).sum()),
            "never": int((schedule.turns(WINDOW, theta=theta) < 1).sum()),
            "logit": float(schedule.decay(n, theta=theta)),
            "law": float(schedule.log_law(n, base=base)) if n > 0 else 1,
            "spread": float(np.sqrt(schedule.logit_variance(n, theta=theta, q_moments=unit, k_moments=unit))),
        }

    @staticmethod
    def random_state(rng) -> dict:
        return {
            "n": float(rng.uniform(0, WINDOW)),
            "log_base": float(rng.uniform(1, 7)),
            "head_dim": str(rng.choice(["8", "32", "128"])),
        }

    def fallback(self) -> str:
        values = self.compute(self.state())
        planes = len(values["turns"])
        return (
            f"Interactive figure: {planes} clocks, one for each plane of a head with base {10**self.log_base:,.0f}. "
            f"With the key {self.n:g} positions after the query, {values['once']} of them have turned at least once; "
            f"{values['never']} never will within {WINDOW} positions. Below, the logit of an equal query and key "
            f"against their offset: it falls like a logarithm, and roughly; it is {values['logit']:.3f} here."
        )
