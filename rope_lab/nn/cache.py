"""What one attention layer remembers while a text grows: keys and values, as they were attended to."""

from __future__ import annotations

import torch
from torch import Tensor

from rope_lab.nn.tensor_arguments import expect_count, expect_vectors


class KVCache:
    """Keys and values of the tokens so far, already rotated, and the position at which the first of them stood.

    A rotation belongs to the place of its own token, so nothing in here has to be touched when the text grows. That
    holds for each of the sixteen placements: q and o turn with the new token alone. ``KVCache(offset=5)`` is for a text
    whose first token stands at position 5.

    >>> cache = KVCache(offset=5)
    >>> k, v = cache.extend(torch.ones(2, 3, 8), torch.ones(2, 3, 8))  # (heads, tokens, head_dim)
    >>> cache.seen, cache.position
    (3, 8)
    """

    def __init__(self, *, offset: int = 0) -> None:
        self.offset = expect_count(offset, name="offset")
        self.k: Tensor | None = None  # (..., kv_heads, seen, head_dim)
        self.v: Tensor | None = None

    @property
    def seen(self) -> int:
        """The number of tokens held."""
        return 0 if self.k is None else self.k.shape[-2]

    @property
    def position(self) -> int:
        """Where the next token stands."""
        return self.offset + self.seen

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of further tokens; return all of them.

        Raises ``ValueError`` where batch, heads, head_dim or dtype are not those of the tokens held, or where keys and
        values are not as many, and ``TypeError`` for what is no floating tensor; then nothing is added.
        """
        expect_vectors(k, name="k")
        expect_vectors(v, name="v")
        if k.shape[:-1] != v.shape[:-1]:
            raise ValueError(
                f"cache: expected as many values as keys in each head, got keys {tuple(k.shape)} and values "
                f"{tuple(v.shape)}; give both as (..., kv_heads, tokens, head_dim)"
            )
        if self.v is not None and (v.shape[-1], k.dtype, v.dtype) != (self.v.shape[-1], self.k.dtype, self.v.dtype):
            raise ValueError(
                f"cache: expected keys and values like those held, {self.k.dtype}, {self.v.dtype}, values "
                f"{self.v.shape[-1]} wide, got {k.dtype}, {v.dtype}, {v.shape[-1]} wide; start a KVCache anew"
            )
        if self.k is not None and (*k.shape[:-2], k.shape[-1]) != (*self.k.shape[:-2], self.k.shape[-1]):
            raise ValueError(
                f"cache: expected keys like those held, {tuple(self.k.shape)} apart from the tokens, got "
                f"{tuple(k.shape)}; each layer and each batch takes a KVCache of its own"
            )
        self.k = k if self.k is None else torch.cat((self.k, k), -2)
        self.v = v if self.v is None else torch.cat((self.v, v), -2)
        return self.k, self.v
