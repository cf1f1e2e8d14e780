"""Causal attention with the rotation on any subset of queries, keys, values and outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from rope_lab.algebra.placements import ROLES
from rope_lab.nn.cache import KVCache, places
from rope_lab.nn.complex_linear import ComplexLinear
from rope_lab.nn.heads import ProjectionConfig
from rope_lab.nn.rotary import Rotary, RotaryConfig
from rope_lab.nn.tensor_arguments import expect_heads, expect_mask, expect_stream

__all__ = ["AttentionConfig", "CausalAttention", "KVCache", "attend"]


@dataclass(frozen=True)
class AttentionConfig(ProjectionConfig):
    """The shape of one attention layer, and how its rotated projections turn.

    ``layout`` concerns complex-linear projections; the rotation has its own, in ``rotary``.
    """

    rotary: RotaryConfig | None = None  # how they turn; its head_dim is the width of a head
    rotary_vo: RotaryConfig | None = None  # how v and o turn; None: as q and k do
    length: int = 0  # positions whose angles are made at once; longer inputs add theirs when they come

    def __post_init__(self) -> None:
        super().__post_init__()
        for role in self.rotated:
            self._expect_rotation(role, self.turning(role))
        if len(axes := {self._axes_of(role) for role in self.rotated}) > 1:
            raise ValueError(f"expected rotations of as many axes, got {axes}: one call gives one place to each token")

    def turning(self, role: str) -> RotaryConfig | None:
        """The rotation of ``role``: ``rotary_vo`` for v and o where it is given, ``rotary`` for everything else."""
        return self.rotary_vo if role in "vo" and self.rotary_vo is not None else self.rotary

    @property
    def axes(self) -> int | None:
        """The number of coordinates of a place; None: a place is one number."""
        return next((self._axes_of(role) for role in self.rotated), None)

    def _axes_of(self, role: str) -> int | None:
        rotary = self.turning(role)
        return None if rotary is None or rotary.vectors is None else rotary.axes

    def _expect_rotation(self, role: str, rotary: RotaryConfig | None) -> None:
        if rotary is None:
            raise ValueError(f"expected a RotaryConfig to rotate {role!r} with, got none: pass rotary=")
        if rotary.head_dim != self.width:
            raise ValueError(f"expected a rotation of head_dim {self.width}, got {rotary.head_dim}")
        if role == "o" and rotary.attention_factor != 1:
            raise ValueError(
                f"expected no attention factor where o turns, got {rotary.attention_factor}: the turn back would "
                "stretch once more. Give values and outputs a rotation of their own, rotary_vo="
            )
        if not self.complex_linear:
            return
        if rotary.layout != self.layout:
            raise ValueError(
                f"expected one layout for projection and rotation, got {self.layout!r} and {rotary.layout!r}: the "
                "projection would be complex-linear over planes that the rotation does not turn. Give both the same"
            )
        if rotary.rotary_dim not in (None, self.width):
            raise ValueError(
                f"expected a rotation of whole heads ({self.width}), got rotary_dim={rotary.rotary_dim}: "
                "the planes of a part of a head are not the planes of the head. Leave rotary_dim at None"
            )


class CausalAttention(nn.Module):
    r"""Causal multi-head attention with rotary positions on any subset of q, k, v, o.

    With $\rho_x(n) = R_n$ where x is rotated and $I$ where it is not, for each head:
    $$ y_m = \rho_o(m)^\top \sum_{n \le m} \mathrm{softmax}_n\!\left(
       \frac{(\rho_q(m)\,q_m)^\top \rho_k(n)\,k_n}{\sqrt{\mathrm{head\_dim}}}\right) \rho_v(n)\,v_n $$
    and $x'_m = W_o\, y_m$ over all heads. The output turns back on each head, *before* $W_o$: that is the only place
    where it can undo the values' rotation.
    x is (..., T, d_model). Only {}, {q,k}, {v,o} and {q,k,v,o} depend on relative position alone; v and o may turn at
    frequencies of their own (``rotary_vo``). With fewer heads of keys and values, neighbouring heads of queries share
    one. Slow definition: `rope_lab.algebra.placements.attention`.

    Claims:
        `book.four-of-sixteen`

    >>> layer = CausalAttention(AttentionConfig(d_model=8, n_heads=2, head_dim=4, rotated=""))
    >>> layer(torch.zeros(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(self, config: AttentionConfig) -> None:
        super().__init__()
        self.config = config
        self.q, self.k, self.v, self.o = (self._projection(role) for role in ROLES)
        # One table where all turn alike: a table of its own for v and o only where they turn otherwise.
        vo = config.rotary_vo if set(config.rotated) & set("vo") else None
        qk = config.rotary if set(config.rotated) - set("vo" if vo else "") else None
        self.rotary = Rotary(qk, length=config.length) if qk else None
        self.rotary_vo = Rotary(vo, length=config.length) if vo else self.rotary

    def _projection(self, role: str) -> nn.Module:
        config, n_heads = self.config, self.config.heads(role)
        inner = n_heads * config.width
        shape = (inner, config.d_model) if role == "o" else (config.d_model, inner)
        if role not in config.complex_linear:
            return nn.Linear(*shape, bias=config.bias)
        in_heads, out_heads = (n_heads, 1) if role == "o" else (1, n_heads)  # only one side's planes lie head by head
        return ComplexLinear(*shape, layout=config.layout, in_heads=in_heads, out_heads=out_heads, bias=config.bias)

    def forward(
        self,
        x: Float[Tensor, "*batch T d_model"],
        *,
        offset: int = 0,
        cache: KVCache | None = None,
        positions: Any = None,
        mask: Tensor | None = None,
    ) -> Float[Tensor, "*batch T d_model"]:
        """Attend over x, the first token of which stands at ``offset``, or continue the text that a cache has seen.

        Positions turn and hide nothing: who sees whom goes by the order of the tokens in cache and x, unless a mask
        says otherwise. A draft tree and texts packed into one row need both.

        Args:
            x: (..., T, d_model), in the dtype of the weights unless autocast is on.
            offset: the position of the first token; 0 beside a cache, which has its own.
            cache: where the rotated keys and values of earlier tokens are, and where these are added.
            positions: where the tokens of x stand, (T,) or (B, T); (T, axes) or (B, T, axes) for a rotation of several
                axes. None: one after the other.
            mask: booleans (T, S) or (batch, T, S), true where a token may look at one of all S tokens, those held
                first. None: each token sees those before it and itself.

        Returns:
            (..., T, d_model), in the dtype of the weights.

        Raises:
            TypeError: if x has another dtype than the weights, the cache is not a `KVCache`, positions are no real
                numbers or in a half type, or the mask is not of booleans.
            ValueError: if x, positions or mask have another shape, if an offset other than 0 stands beside a cache or
                positions, if a token may look at nothing, or if a cache filled with positions is gone on without.
        """
        expect_stream(x, next(self.q.parameters()), d_model=self.config.d_model)
        if mask is not None:
            mask = expect_mask(mask, x.shape[:-1], keys=x.shape[-2] + (cache.seen if isinstance(cache, KVCache) else 0))
        where = places(
            x.shape[:-1], offset=offset, cache=cache, positions=positions, kind=KVCache, axes=self.config.axes
        )
        q, k, v = (self._turn(role, self._heads(role, getattr(self, role)(x)), where) for role in "qkv")
        if cache is not None:
            k, v = cache.extend(k, v)  # (..., kv_heads, seen, hd)
        y = self._turn("o", attend(q, k, v, mask=mask), where)  # (..., H, T, hd)
        return self.o(y.transpose(-3, -2).flatten(-2))  # (..., T, d_model)

    def _heads(self, role: str, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.config.heads(role), self.config.width)).transpose(-3, -2)  # (..., H, T, hd)

    def _turn(self, role: str, x: Tensor, where: dict[str, Any]) -> Tensor:
        rotary = self.rotary_vo if role in "vo" else self.rotary
        if rotary is None or role not in self.config.rotated:
            return x
        return rotary(x, **where, inverse=role == "o")  # o turns back


def attend(
    q: Float[Tensor, "*heads T head_dim"],
    k: Float[Tensor, "*kv_heads S head_dim"],
    v: Float[Tensor, "*kv_heads S hd"],
    *,
    mask: Tensor | None = None,
) -> Float[Tensor, "*heads T hd"]:
    """Scaled dot-product attention of the last T of S tokens, each to the tokens up to itself, or as a mask says.

    On a CPU half types attend in float32: their backward pass takes up to five times as long in short windows.

    Args:
        q: (..., heads, T, head_dim), the queries of the last T tokens.
        k: (..., kv_heads, S, head_dim). Where q has g times as many heads, each of k and v serves g neighbours.
        v: (..., kv_heads, S, hd).
        mask: booleans that broadcast to (..., heads, T, S), true where a query sees a key. None: by order.

    Returns:
        (..., heads, T, hd), in the dtype of q.

    Raises:
        TypeError: if one of them is not a floating-point tensor, or if they differ in dtype.
        ValueError: if their shapes do not fit.
    """
    expect_heads(q, k, v)
    if q.device.type == "cpu" and q.dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", enabled=False):
            return attend(q.float(), k.float(), v.float(), mask=mask).to(q.dtype)
    T, past = q.shape[-2], k.shape[-2] - q.shape[-2]
    # Fewer heads of k and v: no copies of them. torch 2.4 has no such argument.
    shared: dict[str, Any] = {} if q.shape[:-2] == k.shape[:-2] else {"enable_gqa": True}
    if mask is not None:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, **shared)
    if past == 0:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, **shared)
    seen = None if T == 1 else torch.ones(T, past + T, dtype=torch.bool, device=q.device).tril(past)
    # One query at the end sees everything.
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen, **shared)
