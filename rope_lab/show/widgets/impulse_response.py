"""Chapter 10's widget: what a plane answers to a single 1, as a spiral and over time, beside a sum of real decays."""

from itertools import pairwise
from math import cos, pi, sin, sqrt

from traitlets import Enum, Float

from rope_lab.show.widgets.kit import Widget, state

__all__ = ["RATES", "STEPS", "ImpulseResponse"]

STEPS = 48  # the script has the same numbers
RATES = (1.0, 0.8, 0.5)  # the real decays are these times gamma


class ImpulseResponse(Widget):
    r"""The kernel $(\gamma e^{-\mathrm i\theta})^n$, and the best sum of one to three real decays for its real part.

    State: the decay ``gamma``, the turn ``theta`` in radians per step, and how many real ``decays`` try to follow, as
    text. The real decays are gamma, 0.8 gamma and 0.5 gamma; their weights are fitted by least squares over 48 steps.

    >>> values = ImpulseResponse.compute(ImpulseResponse().state())
    >>> values["changes"], values["fit_changes"]
    (9, 2)
    """

    title = "Impulse response: a decay that turns, beside decays that do not"
    gamma = state(Float(0.95, min=0.5, max=1.0))
    theta = state(Float(0.6, min=0.0, max=pi))
    decays = state(Enum(["1", "2", "3"], default_value="3"))

    @staticmethod
    def compute(state: dict) -> dict:
        gamma, theta = state["gamma"], state["theta"]
        spiral = [[gamma**n * cos(n * theta), -(gamma**n) * sin(n * theta)] for n in range(STEPS)]
        kernel = [point[0] for point in spiral]
        rates = [gamma * rate for rate in RATES[: int(state["decays"])]]
        powers = [[rate**n for n in range(STEPS)] for rate in rates]
        weights = _solve([[_dot(a, b) for b in powers] for a in powers], [_dot(a, kernel) for a in powers])
        fit = [sum(w * p[n] for w, p in zip(weights, powers, strict=True)) for n in range(STEPS)]
        missed = [k - f for k, f in zip(kernel, fit, strict=True)]
        return {
            "spiral": spiral,
            "fit": fit,
            "changes": _changes(kernel),
            "fit_changes": _changes(fit),
            "missed": sqrt(_dot(missed, missed) / _dot(kernel, kernel)),
        }

    @staticmethod
    def random_state(rng) -> dict:
        return {
            "gamma": float(rng.uniform(0.5, 1)),
            "theta": float(rng.uniform(0, pi)),
            "decays": str(rng.choice(["1", "2", "3"])),
        }

    def fallback(self) -> str:
        values = self.compute(self.state())
        return (
            f"Interactive figure: the powers of a complex decay with gamma {self.gamma:g} and theta {self.theta:g} as "
            f"a spiral that winds clockwise into the origin, and its real part over {STEPS} steps. It changes sign "
            f"{values['changes']} times. The best sum of {self.decays} real decays changes sign "
            f"{values['fit_changes']} times and misses {values['missed']:.0%} of it."
        )


def _dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _changes(values: list[float]) -> int:
    signs = [value > 0 for value in values if abs(value) > 1e-12]
    return sum(a != b for a, b in pairwise(signs))


def _solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Elimination without pivots: the matrix is positive definite and at most 3 x 3."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i, pivot in enumerate(rows):
        for row in rows[i + 1 :]:
            factor = row[i] / pivot[i]
            for k in range(i, len(row)):
                row[k] -= factor * pivot[k]
    found = [0.0] * len(rows)
    for i in reversed(range(len(rows))):
        known = sum(rows[i][k] * found[k] for k in range(i + 1, len(rows)))
        found[i] = (rows[i][-1] - known) / rows[i][i]
    return found
