"""Chapter 18's widget: one position, one place to round, and the hand of the clock that comes out."""

from math import isfinite

from traitlets import Enum, Float

from rope_lab.algebra.half_precision import Rounding, bit_pattern, round_to, rounded_turns, spacing, turn_errors
from rope_lab.algebra.rotation import frequencies, rotate
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["BASE", "HEAD_DIM", "REACH", "BfPositions"]

REACH = 131072  # positions
BASE, HEAD_DIM = 500000.0, 128
FORMATS = ["bfloat16", "float16", "float32"]
PLACES = ["position", "theta", "angle", "table"]


class BfPositions(Widget):
    r"""A position ``n`` on its way to a rotation, rounded to ``dtype`` at one ``place``, seen in one ``plane``.

    State: ``n`` (rounded to an integer), ``dtype``, ``place`` and the number of the ``plane`` out of 64. The query
    stands at ``n``, an equal key at the word before; their dot product is ``logit``, or ``logit_seen`` after the cast.

    >>> values = BfPositions.compute(BfPositions(n=257.0).state())
    >>> values["rounded"], values["bits"], round(values["error"], 3)
    (256.0, '0100001110000000', 0.792)
    >>> round(values["logit"], 3), round(values["logit_seen"], 3)
    (0.686, 1.0)
    """

    title = "Rounding bench: from a position to a hand, with one cast on the way"
    n = state(Float(257.0, min=0.0, max=float(REACH)))
    dtype = state(Enum(FORMATS, default_value="bfloat16"))
    place = state(Enum(PLACES, default_value="position"))
    plane = state(Float(1.0, min=0.0, max=63.0))
    base = constant(BASE)
    head_dim = constant(HEAD_DIM)

    @staticmethod
    def compute(state: dict) -> dict:
        n, plane, dtype = float(int(state["n"] + 0.5)), int(state["plane"] + 0.5), state["dtype"]
        theta, rounding = frequencies(HEAD_DIM, base=BASE)[[plane]], Rounding(**{state["place"]: dtype})
        before = max(0.0, n - 1.0)
        seen, error = (turn(n, theta=theta, rounding=rounding)[0] for turn in (rounded_turns, turn_errors))
        earlier = rounded_turns(before, theta=theta, rounding=rounding)[0]
        hand, key = (rotate([1.0, 0.0], at, theta=theta) for at in (n, before))
        logit_seen = float((seen * earlier.conjugate()).real)
        rounded = float(round_to(n, dtype=dtype))
        return {
            "rounded": rounded if isfinite(rounded) else None,
            "step": max(1.0, float(spacing(n, dtype=dtype))),
            "bits": "" if dtype == "float32" else format(int(bit_pattern(n, dtype=dtype)), "016b"),
            "hand": hand.tolist(),
            "key": key.tolist(),
            "logit": float(hand @ key),
            "seen": [seen.real, seen.imag] if isfinite(error) else None,
            "error": float(error) if isfinite(error) else None,
            "key_seen": [earlier.real, earlier.imag] if isfinite(earlier.real) else None,
            "logit_seen": logit_seen if isfinite(logit_seen) else None,
        }

    def fallback(self) -> str:
        values = self.compute(self.state())
        rounded = "infinity" if values["rounded"] is None else f"{values['rounded']:,.0f}"
        miss = "is not a number" if values["error"] is None else f"misses by {values['error']:.4f} of its length"
        return (
            f"Interactive figure: a position goes through a rotation with one cast on the way. In {self.dtype} the "
            f"position {self.n:,.0f} is {rounded}. With the {self.place} rounded, the hand of plane {self.plane:.0f} "
            f"{miss}. A curve shows that miss for all positions up to {REACH:,}."
        )
