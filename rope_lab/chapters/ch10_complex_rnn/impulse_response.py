"""Chapter 10's widget: what a plane answers to a single 1, as a spiral and over time, with a sum of positive decays."""

from math import pi

import numpy as np
from traitlets import Enum, Float, Int

from rope_lab.algebra import recurrence
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["RATES", "STEPS", "ImpulseResponse"]

STEPS = 48
RATES = (1.0, 0.8, 0.5)  # the positive decays are these times gamma


class ImpulseResponse(Widget):
    r"""The kernel $(\gamma e^{-\mathrm i\theta})^n$, and the best sum of one to three real decays for its real part.

    State: the decay ``gamma``, the turn ``theta`` in radians per step, how many real ``decays`` try to follow, as text,
    and the step ``n`` at which an arrow shows what is left (``now``) of the 1. The real decays are gamma, 0.8 gamma and
    0.5 gamma; their weights are fitted by least squares over 48 steps.

    >>> values = ImpulseResponse.compute(ImpulseResponse().state())
    >>> values["changes"], values["fit_changes"]
    (9, 2)
    """

    title = "Impulse response: a decay that turns, beside decays that do not"
    gamma = state(Float(0.95, min=0.5, max=1.0))
    theta = state(Float(0.6, min=0.0, max=pi))
    decays = state(Enum(["1", "2", "3"], default_value="3"))
    n = state(Int(0, min=0, max=STEPS - 1))
    steps = constant(STEPS)
    rates = constant(list(RATES))

    @staticmethod
    def compute(state: dict) -> dict:
        gamma, theta = state["gamma"], state["theta"]
        response = recurrence.impulse_response(STEPS, gamma=gamma, theta=theta)[:, 0]
        rates = gamma * np.array(RATES[: int(state["decays"])])
        powers = recurrence.impulse_response(STEPS, gamma=rates, theta=0.0).real
        fit = powers @ np.linalg.lstsq(powers, response.real, rcond=None)[0]
        return {
            "spiral": np.column_stack([response.real, response.imag]).tolist(),
            "now": [float(response[state["n"]].real), float(response[state["n"]].imag)],
            "fit": fit.tolist(),
            "changes": _changes(response.real),
            "fit_changes": _changes(fit),
            "missed": float(np.linalg.norm(response.real - fit) / np.linalg.norm(response.real)),
        }

    def fallback(self) -> str:
        values = self.compute(self.state())
        return (
            f"Interactive figure: the powers of a complex decay with gamma {self.gamma:g} and theta {self.theta:g} as "
            f"a spiral that winds clockwise into the origin, and its real part over {STEPS} steps. It changes sign "
            f"{values['changes']} times. The best sum of {self.decays} positive decays changes sign "
            f"{values['fit_changes']} times and misses {values['missed']:.0%} of it."
        )


def _changes(values: np.ndarray) -> int:
    """The changes of sign that are no rounding."""
    return recurrence.sign_changes(values[np.abs(values) > 1e-12])
