"""Chapter 4's widget: the proof of the relative law, line by line, with the matrices' numbers under each line."""

from itertools import pairwise

import numpy as np
from traitlets import Enum, Float, Int

from rope_lab.algebra.rotation import rotation_matrix
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["ProofStepper"]

SLOWER = 0.4  # the second plane's frequency, as a share of the first's
VARIANTS = ("proof", "transpose", "sign", "layouts", "square")
LINES = 6


class ProofStepper(Widget):
    r"""Six lines from $\mathcal R_m^\top \mathcal R_n$ to $\mathcal R_{n-m}$, two planes, each line evaluated.

    State: the ``line`` looked at (0 to 5), positions ``m`` and ``n``, the first plane's angle per position ``theta``
    (radians; the second plane has 0.4 of it), and the ``variant``: the proof, or one of four ways to break it.

    >>> ProofStepper.compute(ProofStepper().state())["breaks"]
    -1
    >>> ProofStepper.compute(ProofStepper(variant="layouts").state())["breaks"]
    3
    """

    title = "Proof stepper: the relative law line by line, with its numbers"
    line = state(Int(0, min=0, max=LINES - 1))
    variant = state(Enum(VARIANTS, default_value="proof"))
    m = state(Int(5, min=-8, max=8))
    n = state(Int(2, min=-8, max=8))
    theta = state(Float(0.6, min=0.0, max=1.5))
    slower = constant(SLOWER)

    @staticmethod
    def compute(state: dict) -> dict:
        variant, m, n = state["variant"], state["m"], state["n"]

        def turn(position, layout="interleaved"):
            stretched = position * abs(position) if variant == "square" else position
            R = rotation_matrix(stretched, theta=[state["theta"], SLOWER * state["theta"]], layout=layout)
            return np.tril(R) + np.tril(R, -1).T if variant == "sign" else R

        key = turn(n, "half") if variant == "layouts" else turn(n)
        first = turn(m) if variant == "transpose" else turn(m).T
        values = [
            first @ key,  # the two matrices, whole
            turn(m).T @ key,  # each block of the first one transposed
            turn(-m) @ key,  # each block turned back
            turn(-m) @ turn(n),  # block times block, in the planes of the first matrix
            turn(n - m),  # the angles added, block by block
            turn(n - m),  # the blocks collected
        ]
        gaps = [0.0, *(float(np.abs(after - before).max()) for before, after in pairwise(values))]
        return {
            "factors": [first.tolist(), key.tolist()],
            "values": [value.tolist() for value in values],
            "gaps": gaps,
            "breaks": next((i for i, gap in enumerate(gaps) if gap > 1e-9), -1),
        }

    def fallback(self) -> str:
        gaps = {v: self.compute(self.state() | {"variant": v})["breaks"] for v in VARIANTS[1:]}
        where = ", ".join(f"{v} at line {line + 1}" for v, line in gaps.items())
        return (
            "Interactive figure: the proof that the transpose of the rotation for m, times the rotation for n, is the "
            f"rotation for n - m, in six lines with the numbers of both sides. At m = {self.m}, n = {self.n} all six "
            f"agree. Broken on purpose, the proof fails: {where}."
        )
