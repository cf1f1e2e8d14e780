"""The cover's widget: every plane of a head at every position, and the key as the query sees it."""

import numpy as np
from traitlets import Bool, Enum, Float, Int

from rope_lab.algebra import schedule
from rope_lab.algebra.frequency_schedules import NTK, Linear, Llama3, Schedule, Yarn
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["COLUMNS", "MODELS", "SCALINGS", "Tapestry", "frequencies_of"]

COLUMNS = 160  # positions that are in view
SCALINGS = ("none", "linear", "ntk", "yarn", "llama3")


def _model(
    head_dim: int,
    base: float,
    window: int,
    *,
    rotary: int = 0,
    scaling: str = "none",
    factor: float = 1.0,
    low: float = 1.0,
    high: float = 4.0,
) -> dict:
    given = {"head_dim": head_dim, "rotary": rotary or head_dim, "base": base, "window": window}
    return given | {"scaling": scaling, "factor": factor, "low": low, "high": high, "whole": True}


# As their published configurations have it. The window is that of the training before any stretch.
MODELS = {
    "Llama 3 8B": _model(128, 500000.0, 8192),
    "Llama 3.1 8B": _model(128, 500000.0, 8192, scaling="llama3", factor=8.0),
    "Llama 2 7B": _model(128, 10000.0, 4096),
    "Qwen 2.5 7B": _model(128, 1000000.0, 32768),
    "Mistral 7B v0.1": _model(128, 10000.0, 8192),
    "GPT-J 6B": _model(256, 10000.0, 2048, rotary=64),
    "GPT-NeoX 20B": _model(96, 10000.0, 2048, rotary=24),
}


def frequencies_of(
    *,
    head_dim: int,
    rotary: int,
    base: float,
    window: int,
    scaling: str = "none",
    factor: float = 1.0,
    low: float = 1.0,
    high: float = 4.0,
    whole: bool = True,
) -> np.ndarray:
    """The frequencies of all planes of a head as a model's configuration asks for them; planes that stand still are 0.

    ``scaling`` names one of the schedules of `rope_lab.algebra`; ``low`` and ``high`` are its ``slow`` and ``fast``,
    and ``whole`` is that of YaRN.

    >>> frequencies_of(head_dim=8, rotary=4, base=100.0, window=64)
    array([1. , 0.1, 0. , 0. ])
    """
    if head_dim % 2 or rotary > head_dim:
        raise ValueError(f"expected an even head_dim with room for {rotary} coordinates, got {head_dim}; take more")
    made = {
        "linear": lambda: Linear(factor),
        "ntk": lambda: NTK(factor) if rotary > 2 else Schedule(),  # one plane has no base to change
        "yarn": lambda: Yarn(factor, window, low, high, whole=whole),
        "llama3": lambda: Llama3(factor, window, low, high),
    }.get(scaling, Schedule)()
    return np.pad(made.frequencies(rotary, base=base), (0, (head_dim - rotary) // 2))


class Tapestry(Widget):
    r"""A query in column m and an equal key in column n of a cloth of positions that begins at ``shift``.

    ``strip`` is what the query sees of the key, $\cos((n-m)\theta_i)$ for each plane, ``logit`` its mean. ``never``
    counts the planes that turn, and not once round within the window of training.
    "yours" is a model that a reader brings: the numbers of its ``config.json`` are part of the state.

    >>> one, other = (Tapestry.compute(Tapestry(m=20, n=44, shift=far).state()) for far in (0, 90000))
    >>> one["logit"] == other["logit"]
    True
    >>> one["never"], one["planes"]
    (29, 64)
    """

    title = "Tapestry: every plane of a head at every position"
    m = state(Int(36, min=0, max=COLUMNS - 1))
    n = state(Int(60, min=0, max=COLUMNS - 1))
    shift = state(Int(0, min=0, max=131072))
    model = state(Enum([*MODELS, "yours"], default_value="Llama 3 8B"))
    head_dim = state(Int(128, min=2, max=1024))
    rotary = state(Int(128, min=2, max=1024))
    base = state(Float(10000.0, min=1.5, max=1e12))
    window = state(Int(4096, min=8, max=100_000_000))
    scaling = state(Enum(SCALINGS, default_value="none"))
    factor = state(Float(1.0, min=1.0, max=10000.0))
    low = state(Float(1.0, min=0.01, max=1000.0))
    high = state(Float(32.0, min=0.02, max=10000.0))
    whole = state(Bool(True))
    models = constant(MODELS)
    columns = constant(COLUMNS)

    @staticmethod
    def compute(state: dict) -> dict:
        own = MODELS.get(state["model"]) or {name: state[name] for name in MODELS["Llama 3 8B"]}
        theta, offset = frequencies_of(**own), state["n"] - state["m"]
        closed = schedule.turns(own["window"], theta=theta) >= 1
        return {
            "theta": theta.tolist(),
            "planes": len(theta),
            "turning": own["rotary"] // 2,
            "window": own["window"],
            "closed": int(closed.sum()),
            "never": int((~closed & (theta > 0)).sum()),
            "offset": offset,
            "strip": np.cos(offset * theta).tolist(),
            "logit": float(schedule.decay(offset, theta=theta)),
        }

    def fallback(self) -> str:
        values = self.compute(self.state())
        return (
            f"Interactive figure: a cloth of ink. Each column is a position in a text, each of the {values['planes']} "
            f"rows is one plane of a head of {self.model}, the fastest at the top. Where one points backwards there "
            f"is ink. {values['never']} planes do not turn round once in {values['window']:,} positions. Beside it "
            f"stands the key as the query sees it, {values['offset']} positions on: the mean of that strip, "
            f"{values['logit']:.3f}, is the score of two equal words. It stays the same when both words move along."
        )
