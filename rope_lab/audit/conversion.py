"""A whole state dict carried from one layout into the other: q and k projections, their biases and their norms.

>>> import numpy as np
>>> state = {f"layers.0.{x}_proj.weight": np.arange(n)[:, None] for x, n in (("q", 8), ("k", 4), ("v", 4))}
>>> moved = permute_state(state, n_heads=2, n_kv_heads=1, layout_from="half", layout_to="interleaved")
>>> moved["layers.0.q_proj.weight"].ravel(), moved["layers.0.k_proj.weight"].ravel()
(array([0, 2, 1, 3, 4, 6, 5, 7]), array([0, 2, 1, 3]))
>>> moved["layers.0.v_proj.weight"] is state["layers.0.v_proj.weight"]
True
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rope_lab.algebra.arguments import expect_whole
from rope_lab.audit.permutation import CONFIGURATION, permute_rotary

PARTS = ("q_proj", "k_proj", "q_norm", "k_norm")


def permute_state(
    state: Mapping[str, Any],
    *,
    n_heads: int,
    n_kv_heads: int | None = None,
    layout_from: str,
    layout_to: str,
    rotary_dim: int | None = None,
    rotary_start: int = 0,
    parts: tuple[str, str, str, str] = PARTS,
) -> dict[str, Any]:
    r"""`permute_rotary` for every query and key projection of a model, with their biases and norms.

    After it the model must run a rotation in layout_to; then it computes the logits that it computed before.

    Args:
        state: Names and arrays, as ``model.state_dict()`` or a safetensors file gives them.
        n_heads: The heads of q.
        n_kv_heads: The heads of k with grouped queries. Default: n_heads.
        layout_from: "interleaved" or "half" ("half-split" means the same).
        layout_to: The layout of the rotation that will run.
        rotary_dim: How many coordinates of a head turn. Default: all of them from rotary_start on.
        rotary_start: The first coordinate of a head that turns.
        parts: The names of the projections of q and k, and of the norms on q and k. A norm that all heads share has
            head_dim entries.

    Returns:
        A dict with the same names. What moves is a new array of the same dtype, everything else is the same object.

    Raises:
        TypeError: If an entry that should move is not an array, or a size is not a whole number.
        ValueError: If no name fits, if a layer has one of the two projections only, if sizes do not fit n_heads and
            n_kv_heads, or if there are adapters or quantised weights, whose rows are not the rows of heads.

    Claims: `blog.same-effects`.
    """
    n_heads = expect_whole(n_heads, name="n_heads", least=1, fix=CONFIGURATION)
    if n_kv_heads is None:
        n_kv_heads = n_heads
    n_kv_heads = expect_whole(n_kv_heads, name="n_kv_heads", least=1, fix=CONFIGURATION)
    if isinstance(parts, str) or len(parts) != len(PARTS):
        raise ValueError(f"parts: expected four names, of q, k, and the norms on both, such as {PARTS}, got {parts!r}")
    heads = dict(zip(parts, (n_heads, n_kv_heads, n_heads, n_kv_heads), strict=True))
    found = _named(state, parts)
    head_dims = _head_dims(state, found, heads)
    usual, moved = next(iter(head_dims.values())), dict(state)
    for name, (layer, part, _) in found.items():
        size, head_dim = state[name].shape[0], head_dims.get(layer, usual)
        count = 1 if part in parts[2:] and size == head_dim else heads[part]  # 1: a norm shared by the heads
        if size != count * head_dim:
            raise ValueError(
                f"state: expected {count} heads of {head_dim} in {name}, got {size} rows; give n_heads and n_kv_heads "
                "from the model's configuration (num_attention_heads, num_key_value_heads)"
            )
        moved[name] = permute_rotary(
            state[name],
            n_heads=count,
            layout_from=layout_from,
            layout_to=layout_to,
            rotary_dim=rotary_dim,
            rotary_start=rotary_start,
        )
    return moved


def _named(state: Mapping[str, Any], parts: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """The names that move, each with its layer, its part, and whether it is a weight or a bias."""
    found = {}
    for name in state:
        words = str(name).split(".")
        at = next((i for i, word in enumerate(words) if word in parts), None)
        if at is None:
            continue
        kind = ".".join(words[at + 1 :])
        if kind not in ("", "weight", "bias"):
            raise ValueError(
                f"state: expected a weight and perhaps a bias of {words[at]}, got {name!r}; merge adapters into the "
                "weights, and take weights that are not quantised"
            )
        if not getattr(state[name], "shape", ()):
            got = type(state[name]).__name__
            raise TypeError(f"state: expected a numpy array or a torch tensor in {name}, got {got}")
        found[name] = (".".join(words[:at]), words[at], kind)
    return found


def _head_dims(state: Mapping[str, Any], found: dict[str, Any], heads: dict[str, int]) -> dict[str, int]:
    """The head_dim of each layer, from its projection of q. Raises ValueError if a layer has only one of q and k."""
    q, k, *_ = heads
    if not any(part in (q, k) for _, part, _ in found.values()):
        raise ValueError(
            f"state: expected names with {q!r} and {k!r}, got {list(state)[:4]}; say with parts= what they are called "
            "(one projection for q, k and v together must be split before)"
        )
    layers = {part: {layer for layer, p, kind in found.values() if p == part and kind != "bias"} for part in (q, k)}
    if alone := sorted(layers[q] ^ layers[k]):
        has, lacks = (q, k) if alone[0] in layers[q] else (k, q)
        raise ValueError(
            f"state: expected {q} and {k} in each layer, got {has} without {lacks} in {alone[0]!r}; say with parts= "
            "what they are called, join the files of a model that is kept in several, or use permute_rotary for one"
        )
    return {layer: state[name].shape[0] // heads[q] for name, (layer, part, _) in found.items() if part == q}
