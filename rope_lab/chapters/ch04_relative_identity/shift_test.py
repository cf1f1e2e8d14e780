"""The openers of chapters 4 and 17: both words move along the text, and each logit stays or changes."""

import numpy as np
from traitlets import Enum, Int

from rope_lab.algebra.arguments import Layout
from rope_lab.algebra.rotation import frequencies, rotate
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["ShiftTest"]

QUERY = (0.9, -0.4, 0.7, 0.8, -0.6, 1.0, 0.5, -0.3)
KEY = (0.6, 0.8, -0.2, 0.9, 0.7, 0.5, -0.4, 0.6)
AT = (8, 3)  # positions of query and key before they move
GAMMA, OTHER_BASE, REACH = 0.95, 500000.0, 40

# Each case: what its query and its key have that plain RoPE with base 10,000 has not.
FAMILIES: dict[str, list[tuple[dict, dict]]] = {
    "maps": [
        ({"power": 1}, {"power": 1}),
        ({"power": 1}, {"power": -1}),
        ({}, {"power": 1}),
        ({}, {"base": OTHER_BASE}),
    ],
    "codes": [
        ({}, {}),
        ({"base": OTHER_BASE}, {"base": OTHER_BASE}),
        ({"layout": "half"}, {"layout": "half"}),
        ({"way": -1}, {"way": -1}),
        ({"way": 0}, {"way": 0}),
        ({"lost": True}, {"lost": True}),
    ],
}


def _mapped(
    x: np.ndarray,
    n: int,
    *,
    base: float = 10000.0,
    layout: Layout = "interleaved",
    way: int = 1,
    power: int = 0,
    lost: bool = False,
) -> np.ndarray:
    """x at position n: turned, multiplied by a power of gamma, or with the minus of its sines lost."""
    theta = way * frequencies(len(x), base=base)
    if lost:
        c, s = np.cos(n * theta), np.sin(n * theta)
        a, b = x[0::2], x[1::2]
        turned = np.stack([c * a + s * b, s * a + c * b], axis=-1).reshape(-1)
    else:
        turned = rotate(x, n, theta=theta, layout=layout)
    return GAMMA ** (power * n) * turned


class ShiftTest(Widget):
    r"""Logits of one query and one key while both move by ``shift``, under several pairs of maps.

    State: ``shift`` (0 to 40 positions) and the ``family``: the four ``maps`` that the prediction of chapter 4 asks
    about, with $\gamma = 0.95$, or the six ``codes`` of chapter 17. Values: each logit at every shift, and whether it
    has stayed where it was until now.

    >>> ShiftTest.compute(ShiftTest(shift=5).state())["stays"]
    [False, True, False, False]
    >>> ShiftTest.compute(ShiftTest(family="codes", shift=5).state())["stays"]
    [True, True, True, True, True, False]
    """

    title = "Shift test: which logits know where the two words stand"
    family = state(Enum(list(FAMILIES), default_value="maps"))
    shift = state(Int(0, min=0, max=REACH))
    query = constant(list(QUERY))
    key = constant(list(KEY))
    at = constant(list(AT))
    gamma = constant(GAMMA)
    other_base = constant(OTHER_BASE)

    @staticmethod
    def compute(state: dict) -> dict:
        q, k, (m, n) = np.array(QUERY), np.array(KEY), AT
        logits = [
            [float(_mapped(q, m + by, **of_query) @ _mapped(k, n + by, **of_key)) for by in range(REACH + 1)]
            for of_query, of_key in FAMILIES[state["family"]]
        ]
        until = state["shift"] + 1
        return {"logits": logits, "stays": [all(abs(logit - own[0]) < 1e-9 for logit in own[:until]) for own in logits]}

    def fallback(self) -> str:
        stays = self.compute(self.state() | {"shift": REACH})["stays"]
        return (
            f"Interactive figure: a query and a key move along the text together, up to {REACH} positions, under "
            f"{len(stays)} pairs of maps. {sum(stays)} of the {len(stays)} logits stay where they were."
        )
