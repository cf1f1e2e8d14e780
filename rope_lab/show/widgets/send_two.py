"""Chapter 12's second widget: two vectors, two places for them, and one map that may or may not take both there."""

from math import hypot

from traitlets import Enum, Float

from rope_lab.show.widgets.kit import Widget, state

__all__ = ["SOURCES", "SendTwo"]

REACH = 1.5  # of every target's coordinates; the script has the same numbers
SOURCES = (complex(1.0, 0.0), complex(0.25, 0.8))


class SendTwo(Widget):
    r"""Two fixed vectors, two targets, and the best map of a kind: every real one, complex- or conjugate-linear.

    The best $A$ in $z \mapsto Az$ is $\sum \bar z_k w_k / \sum |z_k|^2$; the best $B$ in $z \mapsto B\bar z$ is
    $\sum z_k w_k / \sum |z_k|^2$. State: the targets' coordinates and ``kind``. Values: both images, by coordinates,
    and by how much they miss.

    >>> values = SendTwo.compute(SendTwo(kind="whole").state())
    >>> values["miss"]
    [0.0, 0.0]
    """

    title = "Can one map send two vectors?"
    u1 = state(Float(-0.4, min=-REACH, max=REACH))
    v1 = state(Float(1.0, min=-REACH, max=REACH))
    u2 = state(Float(-0.9, min=-REACH, max=REACH))
    v2 = state(Float(-0.6, min=-REACH, max=REACH))
    kind = state(Enum(["whole", "linear", "conjugate"], default_value="linear"))

    @staticmethod
    def compute(state: dict) -> dict:
        targets = (complex(state["u1"], state["v1"]), complex(state["u2"], state["v2"]))
        if state["kind"] == "whole":
            images = targets
        else:
            seen = SOURCES if state["kind"] == "linear" else tuple(z.conjugate() for z in SOURCES)
            factor = sum(z.conjugate() * w for z, w in zip(seen, targets, strict=True)) / sum(abs(z) ** 2 for z in seen)
            images = tuple(factor * z for z in seen)
        gaps = [w - image for w, image in zip(targets, images, strict=True)]
        return {
            "images": [part for image in images for part in (image.real, image.imag)],
            "miss": [hypot(gap.real, gap.imag) for gap in gaps],
        }

    @staticmethod
    def random_state(rng) -> dict:
        numbers = {name: float(rng.uniform(-REACH, REACH)) for name in ("u1", "v1", "u2", "v2")}
        return {**numbers, "kind": str(rng.choice(["whole", "linear", "conjugate"]))}

    def fallback(self) -> str:
        misses = {kind: sum(self.compute({**self.state(), "kind": kind})["miss"]) for kind in ("linear", "conjugate")}
        return (
            "Interactive figure: two vectors and the places where they should go. A real map takes both there. The "
            f"best complex-linear map misses by {misses['linear']:.2f} in all, and the best conjugate-linear one by "
            f"{misses['conjugate']:.2f}."
        )
