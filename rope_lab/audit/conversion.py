"""A whole state dict carried from one layout into the other: q and k projections, their biases and their norms.

>>> state = {"layers.0.q_proj.weight": np.arange(8.0)[:, None], "layers.0.v_proj.weight": np.ones((4, 1))}
>>> moved = permute_state(state, n_heads=2, n_kv_heads=1, layout_from="half", layout_to="interleaved")
>>> moved["layers.0.q_proj.weight"].ravel()
array([0., 2., 1., 3., 4., 6., 5., 7.])
>>> moved["layers.0.v_proj.weight"] is state["layers.0.v_proj.weight"]
True
"""

from collections.abc import Mapping
from typing import Any

import numpy as np  # noqa: F401 - for the example

from rope_lab.audit.permutation import permute_rotary

PARTS = ("q_proj", "k_proj", "q_norm", "k_norm")


def permute_state(
    state: Mapping[str, Any],
    *,
    n_heads: int,
    n_kv_heads: int | None = None,
    layout_from: str,
    layout_to: str,
    rotary_dim: int | None = None,
    parts: tuple[str, str, str, str] = PARTS,
) -> dict[str, Any]:
    r"""`permute_rotary` for every query and key projection of a model; the other entries are handed on as they are.

    ``state``: names and arrays, as ``model.state_dict()`` or a safetensors file gives them; ``n_kv_heads``: heads of k
    with grouped queries; ``parts``: what the projections of q and k, and the norms on q and k, are called. A norm that
    all heads share has head_dim entries. After it the model must run a rotation in layout_to. ValueError where no name
    fits. Claim ``blog.same-effects``.
    """
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    heads = dict(zip(parts, (n_heads, n_kv_heads, n_heads, n_kv_heads), strict=True))
    found = {name: part for name in state for part in parts if part in name.split(".")}
    if not any(part in parts[:2] for part in found.values()):
        raise ValueError(
            f"state: expected names with {parts[0]!r} and {parts[1]!r}, got {list(state)[:4]}; say with parts= what "
            "they are called (one projection for q, k and v together must be split before)"
        )
    head_dim = next(state[name].shape[0] // heads[part] for name, part in found.items() if part in parts[:2])
    moved = dict(state)
    for name, part in found.items():
        count = 1 if state[name].shape[0] == head_dim else heads[part]  # a norm shared by the heads
        moved[name] = permute_rotary(
            state[name], n_heads=count, layout_from=layout_from, layout_to=layout_to, rotary_dim=rotary_dim
        )
    return moved
