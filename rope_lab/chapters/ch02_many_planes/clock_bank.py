"""Chapter 2's widget: one clock for each plane of a head, and what becomes of them in a text longer than the window."""

from math import log10

import numpy as np
from traitlets import Enum, Float

from rope_lab.algebra import schedule
from rope_lab.algebra.rotation import frequencies, rotate
from rope_lab.show.widgets.kit import Widget, base_of, constant, state

__all__ = ["FARTHEST", "MANY_TURNS", "WINDOW", "ClockBank", "stretched"]

WINDOW = 8192  # positions in training
FARTHEST = 65536  # positions that the key can reach
MANY_TURNS = 32  # by parts: a plane with so many turns in the window keeps its speed; one with a single turn is slowed


def stretched(theta: np.ndarray, *, head_dim: int, base: float, factor: float, way: str) -> np.ndarray:
    r"""The frequencies after a stretch by ``factor``.

    $\theta_i / s$ for "squeeze"; those of the base $\mathrm{base}\, s^{d/(d-2)}$ for "base"; for "parts" a mixture of
    $\theta_i$ and $\theta_i / s$, whose share of $\theta_i$ grows from 0 at one turn in the window to 1 at 32.
    """
    if way == "squeeze":
        return theta / factor
    if way == "base":
        return frequencies(head_dim, base=base * factor ** (head_dim / (head_dim - 2)))
    if way == "parts":
        kept = np.clip((schedule.turns(WINDOW, theta=theta) - 1) / (MANY_TURNS - 1), 0, 1)
        return kept * theta + (1 - kept) * theta / factor
    return theta


class ClockBank(Widget):
    r"""A query stands at position 0, an equal key at position n: plane i lies $n\theta_i$ between them.

    State: ``log_n`` (n + 1 is ten to that power), ``log_base`` (so is the base, rounded), ``head_dim`` as text, and the
    ``way`` in which a longer text is made to fit, with ``log_factor`` (the factor is two to that power).

    >>> values = ClockBank.compute(ClockBank(way="leave").state())
    >>> values["never"], values["strange"]
    (29, 0)
    >>> ClockBank.compute(ClockBank(log_n=4.51, way="leave").state())["strange"]
    29
    """

    title = "Clock bank: every plane of a head at its own speed"
    log_n = state(Float(1.4, min=0.0, max=log10(FARTHEST + 1)))
    log_base = state(Float(5.7, min=2.0, max=7.0))
    log_factor = state(Float(2.0, min=0.0, max=3.0))
    way = state(Enum(["leave", "squeeze", "base", "parts"], default_value="leave"))
    head_dim = state(Enum(["8", "32", "128"], default_value="128"))
    reach = constant(WINDOW)
    farthest = constant(FARTHEST)
    many = constant(MANY_TURNS)

    @staticmethod
    def compute(state: dict) -> dict:
        n, d = 10.0 ** state["log_n"] - 1, int(state["head_dim"])
        base, factor = base_of(state["log_base"]), 2.0 ** state["log_factor"]
        trained = frequencies(d, base=base)
        theta = stretched(trained, head_dim=d, base=base, factor=factor, way=state["way"])
        unmet = schedule.turns(WINDOW, theta=trained) < 1  # not all angles occurred
        return {
            "n": n,
            "base": base,
            "wavelengths": (2 * np.pi / theta).tolist(),
            "hands": rotate(np.tile([1.0, 0.0], d // 2), n, theta=theta).reshape(-1, 2).tolist(),
            "turns": schedule.turns(n, theta=theta).tolist(),
            "unmet": unmet.tolist(),
            "never": int(unmet.sum()),
            "strange": int((unmet & (n * theta > WINDOW * trained * (1 + 1e-9))).sum()),
            "neighbours": float(theta[0]),
            "logit": float(schedule.decay(n, theta=theta)),
            "law": float(schedule.log_law(n, base=base)) if n > 0 else 1,
            "spread": float(
                np.sqrt(schedule.logit_variance(n, theta=theta, q_moments=np.eye(d) / d, k_moments=np.eye(d) / d))
            ),
        }

    def fallback(self) -> str:
        values = self.compute(self.state())
        planes = len(values["turns"])
        return (
            f"Interactive figure: {planes} clocks, one for each plane of a head with base {values['base']:,.0f}. "
            f"{values['never']} of them complete no turn in the {WINDOW} positions of training. With the key "
            f"{values['n']:,.0f} positions after the query, {values['strange']} clocks have turned farther than in "
            f"training. Squeezed positions, a larger base or a stretch by parts bring them back. Below, the logit of "
            f"an equal query and key against their offset: it falls roughly like a logarithm, and it is "
            f"{values['logit']:.3f} here."
        )
