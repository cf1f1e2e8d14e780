"""Causal attention with the rotation on any subset of queries, keys, values and outputs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from rope_lab.nn.cache import KVCache
from rope_lab.nn.complex_linear import LAYOUTS, ComplexLinear
from rope_lab.nn.rotary import Rotary, RotaryConfig
from rope_lab.nn.tensor_arguments import expect_heads, expect_stream

__all__ = ["ROLES", "AttentionConfig", "CausalAttention", "KVCache", "attend", "roles"]

ROLES = "qkvo"


def roles(subset: str, *, name: str) -> str:
    """A subset of q, k, v, o in that order; ``ValueError`` for any other letter or one said twice, ``TypeError`` else.

    >>> roles("KQ", name="rotated")
    'qk'
    """
    if not isinstance(subset, str):
        raise TypeError(f"{name}: expected letters such as 'qk', got {subset!r}; \"\" for none")
    letters = subset.lower()
    if set(letters) - set(ROLES) or len(set(letters)) != len(letters):
        raise ValueError(f"{name}: expected some of the letters q, k, v, o, each once, got {subset!r}")
    return "".join(role for role in ROLES if role in letters)


@dataclass(frozen=True)
class AttentionConfig:
    """The shape of one attention layer."""

    d_model: int = 128  # width of the residual stream
    n_heads: int = 4
    head_dim: int = 32  # width of a head; d_model / n_heads is usual, and half of it halves the projections
    rotated: str = "qk"  # which of q, k, v, o turn with their position; "" for none
    rotary: RotaryConfig | None = None  # how they turn; its head_dim is the one above
    complex_linear: str = ""  # which projections are complex-linear: half the weights
    layout: str = "half"  # which coordinates of a complex-linear projection form a plane
    bias: bool = False  # a bias in each projection
    length: int = 0  # positions whose angles are made at once; longer inputs add theirs when they come
    rotary_vo: RotaryConfig | None = None  # how v and o turn; None: as q and k do
    n_kv_heads: int | None = None  # heads of k and v, each read by n_heads / n_kv_heads queries; None: n_heads, 1: MQA

    def __post_init__(self) -> None:
        object.__setattr__(self, "rotated", roles(self.rotated, name="rotated"))
        object.__setattr__(self, "complex_linear", roles(self.complex_linear, name="complex_linear"))
        for name in ("d_model", "n_heads", "head_dim"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name}: expected a whole number of at least 1, got {value!r}")
        if self.layout not in LAYOUTS:
            raise ValueError(f"layout: expected one of {', '.join(LAYOUTS)}, got {self.layout!r}")
        kv_heads = self.kv_heads
        if isinstance(kv_heads, bool) or not isinstance(kv_heads, int) or kv_heads < 1 or self.n_heads % kv_heads:
            raise ValueError(
                f"n_kv_heads: expected a divisor of n_heads = {self.n_heads}, got {self.n_kv_heads!r}: "
                "each head of keys and values serves the same number of queries"
            )
        for role in self.rotated:
            self._expect_rotation(role, self.turning(role))

    def turning(self, role: str) -> RotaryConfig | None:
        """How ``role`` turns: v and o by ``rotary_vo`` where it is given, everything else by ``rotary``."""
        return self.rotary_vo if role in "vo" and self.rotary_vo is not None else self.rotary

    @property
    def kv_heads(self) -> int:
        """How many heads keys and values have."""
        return self.n_heads if self.n_kv_heads is None else self.n_kv_heads

    def heads(self, role: str) -> int:
        """How many heads ``role`` has: those of keys and values may be fewer."""
        return self.kv_heads if role in "kv" else self.n_heads

    def _expect_rotation(self, role: str, rotary: RotaryConfig | None) -> None:
        if rotary is None:
            raise ValueError(f"expected a RotaryConfig to rotate {role!r} with, got none: pass rotary=")
        if rotary.head_dim != self.head_dim:
            raise ValueError(f"expected a rotation of head_dim {self.head_dim}, got {rotary.head_dim}")
        if not self.complex_linear:
            return
        if rotary.layout != self.layout:
            raise ValueError(
                f"expected one layout for projection and rotation, got {self.layout!r} and {rotary.layout!r}: the "
                "projection would be complex-linear over planes that the rotation does not turn. Give both the same"
            )
        if rotary.rotary_dim not in (None, self.head_dim):
            raise ValueError(
                f"expected a rotation of whole heads ({self.head_dim}), got rotary_dim={rotary.rotary_dim}: "
                "the planes of a part of a head are not the planes of the head. Leave rotary_dim at None"
            )


class CausalAttention(nn.Module):
    r"""Causal multi-head attention with rotary positions on any subset of q, k, v, o.

    With $\rho_x(n) = R_n$ where x is rotated and $I$ where it is not, for each head:
    $$ y_m = \rho_o(m)^\top \sum_{n \le m} \mathrm{softmax}_n\!\left(
       \frac{(\rho_q(m)\,q_m)^\top \rho_k(n)\,k_n}{\sqrt{\mathrm{head\_dim}}}\right) \rho_v(n)\,v_n, \qquad
       x'_m = W_o\, y_m . $$
    The output turns back on each head, *before* $W_o$: that is the only place where it can undo the values' rotation.
    x is (..., T, d_model). Only {}, {q,k}, {v,o} and {q,k,v,o} depend on relative position alone; v and o may turn at
    frequencies of their own (``rotary_vo``). With fewer heads of keys and values, neighbouring heads of queries share
    one. Slow definition: `rope_lab.algebra.placements.attention`. Source: ``su19``, claim ``book.four-of-sixteen``.

    >>> layer = CausalAttention(AttentionConfig(d_model=8, n_heads=2, head_dim=4, rotated=""))
    >>> layer(torch.zeros(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(self, config: AttentionConfig) -> None:
        super().__init__()
        self.config = config
        self.q, self.k, self.v, self.o = (self._projection(role) for role in ROLES)
        # One table where all turn alike: a table of its own for v and o only where they turn otherwise.
        own = config.rotary_vo is not None and bool(set(config.rotated) & set("vo"))
        shared = set(config.rotated) - set("vo" if own else "")
        self.rotary = Rotary(config.rotary, length=config.length) if shared else None
        self.rotary_vo = Rotary(config.rotary_vo, length=config.length) if own else self.rotary

    def _projection(self, role: str) -> nn.Module:
        config, inner = self.config, self.config.heads(role) * self.config.head_dim
        shape = (inner, config.d_model) if role == "o" else (config.d_model, inner)
        if role not in config.complex_linear:
            return nn.Linear(*shape, bias=config.bias)
        side = "in_heads" if role == "o" else "out_heads"  # the side whose planes lie head by head
        return ComplexLinear(*shape, layout=config.layout, bias=config.bias, **{side: config.heads(role)})

    def forward(
        self, x: Float[Tensor, "*batch T d_model"], *, offset: int = 0, cache: KVCache | None = None
    ) -> Float[Tensor, "*batch T d_model"]:
        """Attend over x, whose first token stands at position ``offset``.

        With a cache, x continues what the cache has seen, and its keys and values, rotated, are added there. Then the
        cache knows the position: ``ValueError`` for an offset beside it. ``ValueError`` for another shape of x,
        ``TypeError`` for another dtype than the weights' (autocast may bring them together) and for no `KVCache`.
        """
        expect_stream(x, next(self.q.parameters()), d_model=self.config.d_model)
        if cache is not None and not isinstance(cache, KVCache):
            raise TypeError(f"cache: expected a KVCache, got {type(cache).__name__}; each layer takes one of its own")
        if cache is not None and offset:
            raise ValueError(f"offset: expected 0 beside a cache, got {offset}; say it once: KVCache(offset={offset})")
        start = offset if cache is None else cache.position
        q, k, v = (self._turn(role, self._heads(role, getattr(self, role)(x)), start) for role in "qkv")
        if cache is not None:
            k, v = cache.extend(k, v)  # (..., kv_heads, seen, hd)
        y = self._turn("o", attend(q, k, v), start)  # (..., H, T, hd)
        return self.o(y.transpose(-3, -2).flatten(-2))  # (..., T, d_model)

    def _heads(self, role: str, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.config.heads(role), self.config.head_dim)).transpose(-3, -2)  # (..., H, T, hd)

    def _turn(self, role: str, x: Tensor, start: int) -> Tensor:
        if role not in self.config.rotated:
            return x
        rotary = self.rotary_vo if role in "vo" else self.rotary
        return rotary(x, offset=start, inverse=role == "o")  # o turns back


def attend(
    q: Float[Tensor, "*heads T head_dim"], k: Float[Tensor, "*kv_heads S head_dim"], v: Float[Tensor, "*kv_heads S hd"]
) -> Float[Tensor, "*heads T hd"]:
    """Scaled dot-product attention of the last T of S tokens, each to the tokens up to itself; in the dtype of q.

    Heads stand before T. Where q has g times as many as k and v, each of these serves g neighbouring heads of q.
    ``ValueError`` for shapes that do not fit, ``TypeError`` for what is no floating tensor or not in one dtype.

    On a CPU half types attend in float32: their backward pass takes up to five times as long in short windows.
    """
    expect_heads(q, k, v)
    if q.device.type == "cpu" and q.dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", enabled=False):
            return attend(q.float(), k.float(), v.float()).to(q.dtype)
    T, past = q.shape[-2], k.shape[-2] - q.shape[-2]
    shared = {} if q.shape[:-2] == k.shape[:-2] else {"enable_gqa": True}  # fewer heads of k and v: no copies of them
    if past == 0:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, **shared)
    seen = None if T == 1 else torch.ones(T, past + T, dtype=torch.bool, device=q.device).tril(past)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen, **shared)  # one query at the end sees everything
