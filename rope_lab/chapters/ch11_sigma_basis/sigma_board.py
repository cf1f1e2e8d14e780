"""Chapter 11's widget: four matrices mixed by four sliders, what they do to a letter, and the two parts of the mix."""

import numpy as np
from traitlets import Enum, Float

from rope_lab.algebra.widely_linear import SIGMA, energies, split
from rope_lab.show.widgets.kit import Widget, state

__all__ = ["SigmaBoard"]

REACH = 1.0  # of every slider


class SigmaBoard(Widget):
    r"""A letter F under $M = a_0\sigma_0 + a_1\sigma_1 + a_2\sigma_2 + a_3\sigma_3$, or under one part of $M$.

    State: the four coordinates, and ``part``: what is shown, the whole map, its complex-linear or its conjugate-linear
    part. Values: the matrix shown by rows, the energies of both parts of the whole map, and the determinant and the
    half axes of the map shown.

    >>> values = SigmaBoard.compute(SigmaBoard(a0=1.0, a1=0.0, a2=0.0, a3=0.5).state())
    >>> values["matrix"], values["linear"], values["conjugate"]
    ([1.5, 0.0, 0.0, 0.5], 2.0, 0.5)
    """

    title = "Sigma board: four matrices, two parts"
    a0 = state(Float(0.85, min=-REACH, max=REACH))
    a1 = state(Float(0.25, min=-REACH, max=REACH))
    a2 = state(Float(0.35, min=-REACH, max=REACH))
    a3 = state(Float(0.3, min=-REACH, max=REACH))
    part = state(Enum(["whole", "linear", "conjugate"], default_value="whole"))

    @staticmethod
    def compute(state: dict) -> dict:
        whole = np.tensordot([state[name] for name in ("a0", "a1", "a2", "a3")], SIGMA, axes=1)
        linear, conjugate = split(whole)
        shown = {"whole": whole, "linear": linear, "conjugate": conjugate}[state["part"]]
        return {
            "matrix": shown.ravel().tolist(),
            **dict(zip(("linear", "conjugate"), energies(whole), strict=True)),
            "determinant": float(np.linalg.det(shown)),
            "axes": np.linalg.svd(shown, compute_uv=False).tolist(),
        }

    def fallback(self) -> str:
        values = self.compute(self.state())
        total = values["linear"] + values["conjugate"]
        share = f"{values['linear'] / total:.0%}" if total else "none"
        return (
            f"Interactive figure: the letter F under {self.a0:g} times the identity, {self.a1:g} times the mirror at "
            f"45 degrees, {self.a2:g} times the quarter turn and {self.a3:g} times the mirror at the first axis. Of "
            f"the energy of this map, {share} is complex-linear. That part alone turns and stretches the letter; the "
            "other part mirrors and stretches it. The images of both basis vectors can be dragged."
        )
