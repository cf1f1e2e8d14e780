"""What one attention layer remembers while a text grows, and where in the text it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rope_lab.nn.tensor_arguments import expect_count, expect_standing, expect_vectors


class Cache:
    """The tokens that one layer has seen so far: what it keeps of them, and the position of the first.

    Place, slot and order are three numbers. The place turns a token; it is counted here from ``offset`` on, unless it
    is given with each call. The slot is the row in which the token is held, and the order, which the mask goes by, is
    that of the rows unless a mask is given. The caller's tensors are copied; those handed out are for reading.
    """

    def __init__(self, *, offset: int = 0) -> None:
        self.offset = expect_count(offset, name="offset")
        self.given_from: int | None = None  # the first row whose place was given, and is not offset + row

    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors held, each (..., seen, width); nothing before the first token."""
        raise NotImplementedError

    def hold(self, tensors: Sequence[Tensor]) -> None:
        """Hold these tensors in the place of `tensors`; none: hold nothing."""
        raise NotImplementedError

    def cut(self, seen: int) -> None:
        """Keep the first ``seen`` tokens alone, as when a draft is rejected. Nothing has to be turned.

        Raises:
            TypeError, ValueError: If ``seen`` is not a whole number, or more than are held.

        >>> cache = LatentCache()
        >>> _ = cache.extend(torch.ones(2, 5, 12))
        >>> cache.cut(3)
        >>> cache.seen, cache.position
        (3, 3)
        """
        if expect_count(seen, name="seen") > self.seen:
            raise ValueError(f"seen: expected at most {self.seen}, the tokens held, got {seen}; say how many stay")
        self.hold([x[..., :seen, :].clone() for x in self.tensors()] if seen else [])

    @property
    def counts(self) -> bool:
        """Whether the tokens held stand one after the other from ``offset`` on, so that the next place is known."""
        return self.given_from is None or self.seen <= self.given_from

    @property
    def seen(self) -> int:
        """The number of tokens held."""
        return next((x.shape[-2] for x in self.tensors()), 0)

    @property
    def position(self) -> int:
        """The position of the next token, where the cache counts."""
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

    def hold(self, tensors: Sequence[Tensor]) -> None:
        """Hold these keys and values, or nothing."""
        self.k, self.v = tensors or (None, None)

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
            self.k, self.v = k.clone(), v.clone()  # else a change of the caller's tensor would change what is held
            return self.k, self.v
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

    def hold(self, tensors: Sequence[Tensor]) -> None:
        """Hold this one tensor, or nothing."""
        (self.held,) = tensors or (None,)

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
        self.held = new.clone() if held is None else torch.cat((held, new), -2)
        return self.held


def places(
    shape: Sequence[int],
    *,
    offset: int,
    cache: Cache | None,
    positions: Any,
    kind: type[Cache],
    axes: int | None = None,
) -> dict[str, Any]:
    """Say where new tokens of ``shape`` (..., T) stand, as a `Rotary` takes it: ``positions=``, or ``offset=``.

    The positions given say it; else the cache knows the first; else ``offset`` is it.

    Raises:
        TypeError: if the cache is not of the ``kind`` that the layer fills, or positions are no real numbers.
        ValueError: if two of the three say it, if an offset is not a whole number of at least 0, if there is not one
            position for each token, or if the cache holds tokens at places that were given and now there are none.
    """
    offset = expect_count(offset, name="offset")
    if cache is not None and not isinstance(cache, kind):
        raise TypeError(
            f"cache: expected a {kind.__name__}, got {type(cache).__name__}; each layer takes one of its own"
        )
    if offset and positions is not None:
        raise ValueError(f"offset: expected 0 beside positions, got {offset}; add it to the positions")
    if offset and cache is not None:
        raise ValueError(
            f"offset: expected 0 beside a cache, got {offset}; say it once: {kind.__name__}(offset={offset})"
        )
    if positions is not None:
        positions = expect_standing(positions, shape, axes=axes)
    if cache is None:
        return {"offset": offset} if positions is None else {"positions": positions}
    expect_counting(cache, positions)
    if cache.counts:
        cache.given_from = None if _go_on(positions, cache.position, axes) else cache.seen
    return {"offset": cache.position} if positions is None else {"positions": positions}


def expect_counting(cache: Cache, positions: Any = None) -> None:
    """Refuse to count on behind tokens whose places were given."""
    if positions is None and not cache.counts:
        raise ValueError(
            f"positions: expected some, got none: the tokens held from row {cache.given_from} on stand at places that "
            "were given, so where the next one stands is not known; write positions="
        )


def _go_on(positions: Tensor | None, start: int, axes: int | None) -> bool:
    """Whether the positions are those that the cache would count."""
    if positions is None:
        return True
    if axes is not None or torch.compiler.is_compiling():  # a compiled graph cannot look at values
        return False
    return bool((positions == torch.arange(start, start + positions.shape[-1], device=positions.device)).all())
