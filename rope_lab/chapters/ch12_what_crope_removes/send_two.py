"""Chapter 12's second widget: two vectors, two places for them, and one map that may or may not take both there."""

import numpy as np
from traitlets import Enum, Float

from rope_lab.algebra.widely_linear import to_real
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["SOURCES", "SendTwo"]

REACH = 1.5  # of every target's coordinates
SOURCES = (complex(1.0, 0.0), complex(0.25, 0.8))


class SendTwo(Widget):
    r"""Two fixed vectors, two targets, and the best map of a kind: every real one, complex- or conjugate-linear.

    The best $A$ in $z \mapsto Az$ is $\sum \bar z_k w_k / \sum |z_k|^2$; the best $B$ in $z \mapsto B\bar z$ is
    $\sum z_k w_k / \sum |z_k|^2$. State: the targets' coordinates and ``kind``. Values: both images, by coordinates,
    and by how much they miss.

    >>> values = SendTwo.compute(SendTwo(kind="whole").state())
    >>> [round(miss, 12) for miss in values["miss"]]
    [0.0, 0.0]
    """

    title = "Can one map send two vectors?"
    u1 = state(Float(-0.4, min=-REACH, max=REACH))
    v1 = state(Float(1.0, min=-REACH, max=REACH))
    u2 = state(Float(-0.9, min=-REACH, max=REACH))
    v2 = state(Float(-0.6, min=-REACH, max=REACH))
    sources = constant([[z.real, z.imag] for z in SOURCES])
    kind = state(Enum(["whole", "linear", "conjugate"], default_value="linear"))

    @staticmethod
    def compute(state: dict) -> dict:
        targets = np.array([complex(state["u1"], state["v1"]), complex(state["u2"], state["v2"])])
        seen = np.conj(SOURCES) if state["kind"] == "conjugate" else np.array(SOURCES)
        columns = [seen, np.conj(seen)] if state["kind"] == "whole" else [seen]  # every real map is A z + B conj(z)
        best = np.column_stack(columns)
        images = best @ np.linalg.lstsq(best, targets, rcond=None)[0]
        return {"images": to_real(images).tolist(), "miss": np.abs(targets - images).tolist()}

    def fallback(self) -> str:
        misses = {kind: sum(self.compute({**self.state(), "kind": kind})["miss"]) for kind in ("linear", "conjugate")}
        return (
            "Interactive figure: two vectors and the places where they should go. A real map takes both there. The "
            f"best complex-linear map misses by {misses['linear']:.2f} in all, and the best conjugate-linear one by "
            f"{misses['conjugate']:.2f}."
        )
