"""Attention that keeps one latent for each token: the shared form, turned once and undone, and MLA's splice.

>>> layer = SharedLatentAttention(LatentConfig(d_model=16, n_heads=4, head_dim=8, d_latent=12))
>>> cache = LatentCache()
>>> _ = layer(torch.zeros(1, 3, 16), cache=cache)
>>> tuple(cache.held.shape)  # one tensor: key and value of all heads
(1, 3, 12)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from rope_lab.algebra.arguments import expect_even
from rope_lab.nn.cache import LatentCache, places
from rope_lab.nn.heads import HeadsConfig, expect_sizes
from rope_lab.nn.rotary import Rotary, RotaryConfig
from rope_lab.nn.tensor_arguments import expect_mask, expect_stream


@dataclass(frozen=True)
class LatentConfig(HeadsConfig):
    """The shape of one layer that caches a latent. A head's width is that of its query, before it meets the latent."""

    d_latent: int = 64  # width of the latent that is cached
    d_rope: int = 0  # width of MLA's separate rotary key; 0: the shared form, which has none
    base: float = RotaryConfig.base
    rotary_dim: int | None = None  # shared form: turn only the first coordinates of the latent; None: all of them
    length: int = 0  # positions whose angles are made at once

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_sizes(self, "d_latent")
        if self.d_rope != 0 or isinstance(self.d_rope, bool):
            expect_even(self.d_rope, name="d_rope")


class _OnLatent(nn.Module):
    """What the two forms have in common: queries, one latent for each token, and heads that read it."""

    def __init__(self, config: LatentConfig) -> None:
        super().__init__()
        inner, up = config.n_heads * config.width, (config.n_heads, config.width, config.d_latent)
        self.config = config
        self.q = nn.Linear(config.d_model, inner, bias=False)
        self.c = nn.Linear(config.d_model, config.d_latent, bias=False)
        self.up_k = nn.Parameter(torch.randn(up) / config.d_latent**0.5)  # W_k and W_v of each head
        self.up_v = nn.Parameter(torch.randn(up) / config.d_latent**0.5)
        self.o = nn.Linear(inner, config.d_model, bias=False)

    def _places(
        self, x: Tensor, mask: Tensor | None, *, cache: LatentCache | None, **said: Any
    ) -> tuple[dict[str, Any], Tensor | None]:
        """Return where the tokens of x stand, and the mask; what cannot be attended over is refused here."""
        expect_stream(x, self.q.weight, d_model=self.config.d_model)
        if mask is not None:
            held = cache.seen if isinstance(cache, LatentCache) else 0
            mask = expect_mask(mask, x.shape[:-1], keys=x.shape[-2] + held)
        return places(x.shape[:-1], cache=cache, kind=LatentCache, **said), mask

    def _queries(self, x: Tensor) -> Tensor:
        return self.q(x).unflatten(-1, (self.config.n_heads, -1)).transpose(-3, -2)  # (..., H, T, hd)

    def _mix(self, y: Tensor) -> Tensor:
        return self.o(y.transpose(-3, -2).flatten(-2))  # (..., T, d_model)


class SharedLatentAttention(_OnLatent):
    r"""One cached tensor, turned once, is key and value of every head; the output is turned back.

    With $c_n = W_c x_n$ and, in each head, $q_m = W_q x_m$:
    $$ y_m = W_v\, \mathcal R_m^\top \sum_{n \le m} \mathrm{softmax}_n\!\left(
       \frac{(\mathcal R_m W_k^\top q_m)^\top \mathcal R_n c_n}{\sqrt{\mathrm{head\_dim}}}\right) \mathcal R_n c_n $$
    and $x'_m = W_o y_m$ over all heads. The cache holds $\mathcal R_n c_n$ and nothing else. The output turns back on
    the latent, before $W_v$: after a general $W_v$ no rotation can do it.

    Args:
        config: with d_rope 0.

    Raises:
        ValueError: if the latent, or its rotary_dim, is odd, or if there is a d_rope.

    Claims:
        `su19.mla-vo-shared`, `su19.mla-training`

    >>> layer = SharedLatentAttention(LatentConfig(d_model=8, n_heads=2, head_dim=4, d_latent=6))
    >>> layer(torch.zeros(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(self, config: LatentConfig) -> None:
        if config.d_rope:
            raise ValueError(f"d_rope: expected 0 for the shared form, got {config.d_rope}; the latent itself turns")
        expect_even(config.d_latent, name="d_latent")
        if config.rotary_dim is not None and expect_even(config.rotary_dim, name="rotary_dim") > config.d_latent:
            raise ValueError(
                f"rotary_dim: expected at most d_latent = {config.d_latent}, got {config.rotary_dim}; leave it out to "
                "turn the whole latent"
            )
        super().__init__(config)
        turns = RotaryConfig(config.d_latent, base=config.base, layout=config.layout, rotary_dim=config.rotary_dim)
        self.rotary = Rotary(turns, length=config.length)

    def forward(
        self,
        x: Float[Tensor, "*batch T d_model"],
        *,
        offset: int = 0,
        cache: LatentCache | None = None,
        positions: Any = None,
        mask: Tensor | None = None,
    ) -> Float[Tensor, "*batch T d_model"]:
        """Attend as `CausalAttention.forward` does, with a `LatentCache`: it takes, gives and refuses the same."""
        where, mask = self._places(x, mask, offset=offset, cache=cache, positions=positions)
        q = self.rotary(self._queries(x) @ self.up_k, **where)  # (..., H, T, d_latent): W_k^T q, turned
        c = self.rotary(self.c(x), **where)  # (..., T, d_latent): turned once, here
        held = cache.extend(c) if cache is not None else c
        y = _attend(q, held.unsqueeze(-3), held.unsqueeze(-3), width=self.config.width, mask=mask)
        y = self.rotary(y, **where, inverse=True)  # before W_v
        return self._mix(y @ self.up_v.transpose(-1, -2))


class SplicedLatentAttention(_OnLatent):
    r"""MLA's form: the latent without positions, and a small rotary key beside it that all heads share.

    $$ s_{mn} = \frac{q_m^\top W_k c_n + (\mathcal R_m q^r_m)^\top \mathcal R_n k^r_n}
       {\sqrt{\mathrm{head\_dim} + \mathrm{d\_rope}}}, $$
    $$ y_m = W_v \sum_{n \le m} a_{mn}\, c_n . $$
    The cache holds $(c_n, \mathcal R_n k^r_n)$, and the values are a part of the keys. Without a cache each head makes
    its own keys and values, which is cheaper for many queries at once; with one, all heads read the latents.
    The two are equal.

    Args:
        config: with a d_rope.

    Raises:
        ValueError: if there is no d_rope.

    Claims:
        `book.latent-splice`

    >>> layer = SplicedLatentAttention(LatentConfig(d_model=8, n_heads=2, head_dim=4, d_latent=6, d_rope=2))
    >>> layer(torch.zeros(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(self, config: LatentConfig) -> None:
        if not config.d_rope:
            raise ValueError("d_rope: expected the width of the rotary key, an even number, got 0; DeepSeek took 64")
        if config.rotary_dim is not None:
            raise ValueError(f"rotary_dim: expected None, got {config.rotary_dim}; here d_rope says how much turns")
        super().__init__(config)
        self.q_rope = nn.Linear(config.d_model, config.n_heads * config.d_rope, bias=False)
        self.k_rope = nn.Linear(config.d_model, config.d_rope, bias=False)
        turns = RotaryConfig(config.d_rope, base=config.base, layout=config.layout)
        self.rotary = Rotary(turns, length=config.length)

    def forward(
        self,
        x: Float[Tensor, "*batch T d_model"],
        *,
        offset: int = 0,
        cache: LatentCache | None = None,
        positions: Any = None,
        mask: Tensor | None = None,
    ) -> Float[Tensor, "*batch T d_model"]:
        """Attend as `CausalAttention.forward` does, with a `LatentCache`: it takes, gives and refuses the same."""
        config = self.config
        where, mask = self._places(x, mask, offset=offset, cache=cache, positions=positions)
        q, c, width = self._queries(x), self.c(x), self.config.width + self.config.d_rope
        q_rope = self.q_rope(x).unflatten(-1, (config.n_heads, -1)).transpose(-3, -2)  # (..., H, T, d_rope)
        q_rope, k_rope = self.rotary(q_rope, **where), self.rotary(self.k_rope(x), **where)
        if cache is None:
            k = c.unsqueeze(-3) @ self.up_k.transpose(-1, -2)  # (..., H, T, hd)
            v = c.unsqueeze(-3) @ self.up_v.transpose(-1, -2)
            keys = torch.cat((k, k_rope.unsqueeze(-3).expand(*k.shape[:-1], -1)), -1)
            return self._mix(_attend(torch.cat((q, q_rope), -1), keys, v, width=width, mask=mask))
        held = cache.extend(torch.cat((c, k_rope), -1)).unsqueeze(-3)  # (..., 1, seen, d_latent + d_rope)
        y = _attend(torch.cat((q @ self.up_k, q_rope), -1), held, held[..., : config.d_latent], width=width, mask=mask)
        return self._mix(y @ self.up_v.transpose(-1, -2))


def _attend(q: Tensor, k: Tensor, v: Tensor, *, width: int, mask: Tensor | None) -> Tensor:
    """Attention of the last T of S tokens, causal where no mask is given; k and v may serve all heads.

    Scores are divided by the root of ``width``.
    """
    T, S = q.shape[-2], k.shape[-2]
    k, v = (x.expand(*q.shape[:-2], *x.shape[-2:]) for x in (k, v))
    seen = torch.ones(T, S, dtype=torch.bool, device=q.device).tril(S - T) if mask is None else mask
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen, scale=width**-0.5)
