"""Chapter 20's widget: a strip of cached keys, each a row of clocks, that drops a token and closes the gap."""

import numpy as np
from traitlets import Enum, Float

from rope_lab.algebra.rounded_cache import turned_again
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["CachedKeys"]

FREQUENCIES = [0.05, 0.01, 0.0022, 0.0005, 0.0001]  # radians per place, one for each plane of the strip
# The pair of each token in each plane, before its first turn: (tokens, planes, 2).
_PAIRS = np.random.default_rng(20).uniform(0.6, 1.4, size=(6, len(FREQUENCIES), 2)).round(2).tolist()


class CachedKeys(Widget):
    """Six keys that are held after ``moves`` tokens were dropped in front of them, one by one or all at once.

    State: ``moves``, how many places the keys were moved down; ``store``, what the cache holds; ``way``, a turn by one
    place after each token or one turn for all.

    >>> values = CachedKeys.compute(CachedKeys(moves=1000.0, store="bfloat16").state())
    >>> values["still"], round(values["miss"][4], 3)  # the slowest plane has not moved: it lacks 0.1 radians
    (2, 0.1)
    """

    title = "A strip of cached keys that moves down one place at a time"
    moves = state(Float(0.0, min=0.0, max=2000.0))
    store = state(Enum(["float32", "float16", "bfloat16"], default_value="bfloat16"))
    way = state(Enum(["steps", "once"], default_value="steps"))
    frequencies = constant(FREQUENCIES)
    pairs = constant(_PAIRS)

    @staticmethod
    def compute(state: dict) -> dict:
        moves, theta = int(state["moves"] + 0.5), np.array(state["frequencies"])
        keys = np.array(state["pairs"])
        tokens = keys.reshape(len(keys), -1)
        held = turned_again(tokens, theta=theta, steps=0, store=state["store"])
        steps = (moves, -1.0) if state["way"] == "steps" else (min(moves, 1), -float(moves))
        after = turned_again(held, theta=theta, steps=steps[0], by=steps[1], store=state["store"])
        z, right = _complex(after), _complex(held) * np.exp(-1j * moves * theta)
        miss = np.abs(z - right) / np.abs(right)  # (tokens, planes)
        stuck = (after == held).reshape(keys.shape).all(axis=(0, 2)) & (moves > 0)
        return {
            "hands": after.reshape(keys.shape).tolist(),
            "right": np.stack((right.real, right.imag), -1).tolist(),
            "miss": miss.max(axis=0).tolist(),
            "still": int(stuck.sum()),
            "worst": float(miss.max()),
        }

    def fallback(self) -> str:
        shown = {**self.state(), "moves": self.moves or 1000.0, "way": "steps"}
        values = self.compute(shown)
        return (
            f"Interactive figure: six cached keys, each with {len(self.frequencies)} clocks from fast to slow, are "
            f"moved down by {shown['moves']:,.0f} places in {self.store}. Turned by one place at a time, "
            f"{values['still']} of the clocks stand still in every key, and the worst hand misses its place by "
            f"{values['worst']:.2f} of its length. Turned once, all hands arrive."
        )


def _complex(keys):
    return keys[..., ::2] + 1j * keys[..., 1::2]
