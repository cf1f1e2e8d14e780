"""What one attention layer remembers while a text grows, and where in the text it stands."""

from __future__ import annotations

import torch
from torch import Tensor

from rope_lab.nn.tensor_arguments import expect_count, expect_vectors


class Cache:
    """The tokens that one layer has seen so far: what it keeps of them, and the position of the first.

    The position of a token has one home, its cache: a layer or a model that is given a cache takes the position from
    there and refuses another one beside it.
    """

    def __init__(self, *, offset: int = 0) -> None:
        self.offset = expect_count(offset, name="offset")

    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors held, each (..., seen, width); nothing before the first token."""
        raise NotImplementedError

    @property
    def seen(self) -> int:
        """The number of tokens held."""
        return next((x.shape[-2] for x in self.tensors()), 0)

    @property
    def position(self) -> int:
        """The position of the next token."""
        return self.offset + self.seen

    @property
    def bytes(self) -> int:
        """The memory that the numbers take."""
        return sum(x.numel() * x.element_size() for x in self.tensors())


class KVCache(Cache):
    """Keys and values of the tokens so far, already rotated.

    A rotation belongs to the place of its own token, so nothing in here has to be touched when the text grows. That
    holds for each of the sixteen placements: q and o turn with the new token alone.

    Args:
        offset: the position at which the first token of the text stands.

    >>> cache = KVCache(offset=5)
    >>> k, v = cache.extend(torch.ones(2, 3, 8), torch.ones(2, 3, 8))  # (heads, tokens, head_dim)
    >>> cache.seen, cache.position
    (3, 8)
    """

    def __init__(self, *, offset: int = 0) -> None:
        super().__init__(offset=offset)
        self.k: Tensor | None = None  # (..., kv_heads, seen, head_dim)
        self.v: Tensor | None = None

    def tensors(self) -> tuple[Tensor, ...]:
        """Keys and values, or nothing."""
        return () if self.k is None or self.v is None else (self.k, self.v)

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of further tokens.

        Args:
            k: (..., kv_heads, tokens, head_dim), rotated.
            v: (..., kv_heads, tokens, width), rotated where values turn.

        Returns:
            The keys and the values of all tokens held, in their dtype.

        Raises:
            TypeError: if k or v is not a floating-point tensor. Then nothing is added.
            ValueError: if batch, heads, head_dim or dtype differ from those of the tokens held, or if there are not as
                many values as keys. Then nothing is added.
        """
        expect_vectors(k, name="k")
        expect_vectors(v, name="v")
        if k.shape[:-1] != v.shape[:-1]:
            raise ValueError(
                f"cache: expected as many values as keys in each head, got keys {tuple(k.shape)} and values "
                f"{tuple(v.shape)}; give both as (..., kv_heads, tokens, head_dim)"
            )
        if self.k is None or self.v is None:
            self.k, self.v = k, v
            return k, v
        if (v.shape[-1], k.dtype, v.dtype) != (self.v.shape[-1], self.k.dtype, self.v.dtype):
            raise ValueError(
                f"cache: expected keys and values like those held, {self.k.dtype}, {self.v.dtype}, values "
                f"{self.v.shape[-1]} wide, got {k.dtype}, {v.dtype}, {v.shape[-1]} wide; start a KVCache anew"
            )
        if (*k.shape[:-2], k.shape[-1]) != (*self.k.shape[:-2], self.k.shape[-1]):
            raise ValueError(
                f"cache: expected keys like those held, {tuple(self.k.shape)} apart from the tokens, got "
                f"{tuple(k.shape)}; each layer and each batch takes a KVCache of its own"
            )
        self.k, self.v = torch.cat((self.k, k), -2), torch.cat((self.v, v), -2)
        return self.k, self.v


class LatentCache(Cache):
    """One latent for each token so far, as it was attended to: a single tensor for the keys and values of all heads.

    Args:
        offset: the position at which the first token of the text stands.

    >>> cache = LatentCache()
    >>> tuple(cache.extend(torch.ones(2, 3, 12)).shape), cache.position  # (batch, tokens, width)
    ((2, 3, 12), 3)
    """

    def __init__(self, *, offset: int = 0) -> None:
        super().__init__(offset=offset)
        self.held: Tensor | None = None  # (..., seen, width)

    def tensors(self) -> tuple[Tensor, ...]:
        """The latents, or nothing."""
        return () if self.held is None else (self.held,)

    def extend(self, new: Tensor) -> Tensor:
        """Add the latents of further tokens.

        Args:
            new: (..., tokens, width).

        Returns:
            The latents of all tokens held, in their dtype.

        Raises:
            TypeError: if ``new`` is not a floating-point tensor. Then nothing is added.
            ValueError: if batch, width or dtype differ from those of the tokens held. Then nothing is added.
        """
        expect_vectors(new, name="new")
        held = self.held
        if held is not None and (*new.shape[:-2], new.shape[-1]) != (*held.shape[:-2], held.shape[-1]):
            raise ValueError(
                f"cache: expected tokens like those held, {tuple(held.shape)} apart from their number, got "
                f"{tuple(new.shape)}; each layer and each batch takes a LatentCache of its own"
            )
        if held is not None and new.dtype != held.dtype:
            raise ValueError(f"cache: expected {held.dtype}, as held, got {new.dtype}; start a LatentCache anew")
        self.held = new if held is None else torch.cat((held, new), -2)
        return self.held


def first_position(offset: int, cache: Cache | None, *, kind: type[Cache]) -> int:
    """The position of the first new token: the cache knows, and ``offset`` says it where there is none.

    Raises:
        TypeError: if the cache is not of the ``kind`` that the layer fills.
        ValueError: if an offset stands beside a cache, or is not a whole number of at least 0.
    """
    offset = expect_count(offset, name="offset")
    if cache is None:
        return offset
    if not isinstance(cache, kind):
        raise TypeError(
            f"cache: expected a {kind.__name__}, got {type(cache).__name__}; each layer takes one of its own"
        )
    if offset:
        raise ValueError(
            f"offset: expected 0 beside a cache, got {offset}; say it once: {kind.__name__}(offset={offset})"
        )
    return cache.position
