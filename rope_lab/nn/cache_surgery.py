r"""Move, drop and splice in tokens of a filled cache, without reading the text again.

A cache knows where its tokens stand, and not how they turn; a layer knows how they turn, and not where they stand. So
an operation takes both. What it does is $\mathcal R_{n+D}\,k = \mathcal R_D\,(\mathcal R_n k)$: a key that was turned
to one place is turned on to another.

Each operation returns an `Exact`. Positions are always exact, up to one rounding of what turns. Contents are another
matter: from the second layer on, what is held of a token has read the tokens before it, and no rotation undoes that.

>>> from rope_lab.nn import GPTConfig
>>> model = GPT(GPTConfig(vocab_size=20, n_layers=2, n_heads=2, d_model=8, seq_len=16))
>>> caches = [KVCache(), KVCache()]
>>> _ = model(torch.arange(10)[None], caches=caches)
>>> drop_tokens(model, caches, 2, 6), caches[0].position  # the last four move down by four
(Exact(positions=True, layers=1), 6)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from rope_lab.algebra.placements import is_relative
from rope_lab.nn.attention import CausalAttention
from rope_lab.nn.cache import Cache, KVCache, LatentCache
from rope_lab.nn.gpt import GPT
from rope_lab.nn.latent_attention import SharedLatentAttention, SplicedLatentAttention
from rope_lab.nn.rotary import Rotary, RotaryTable, rotary_table, rotate
from rope_lab.nn.tensor_arguments import expect_count, working_dtype

__all__ = ["Exact", "drop_tokens", "shift_tokens", "splice_tokens"]

Layer: TypeAlias = CausalAttention | SharedLatentAttention | SplicedLatentAttention
Caches: TypeAlias = Cache | Sequence[Cache]


class Exact(NamedTuple):
    """What after an operation is as if the text had been read anew in its new form."""

    positions: bool  # everything that turns stands at its new place
    layers: int  # in so many layers, from the first on, the contents are those of a fresh reading


class Piece(NamedTuple):
    """Neighbours in a cache, and how far they move."""

    source: Cache
    start: int
    stop: int
    by: int


def shift_tokens(model: GPT | Layer, caches: Caches, by: int) -> Exact:
    r"""Move all tokens held by ``by`` places: $\mathcal R_n k_n \mapsto \mathcal R_{n+\mathrm{by}}\,k_n$.

    Exact in every layer where the rotation is relative, and then no later token notices. Where it is not (rotated
    keys, say, and queries that do not turn) the contents of later layers depend on the place, and one layer is exact.

    Args:
        model: A model, or one attention layer.
        caches: One for each block of the model, or the layer's.
        by: How many places, negative towards the beginning of the text.

    Returns:
        What is exact now.

    Raises:
        TypeError: If ``by`` is not a whole number, or model and caches do not belong together.
        ValueError: If a token would stand before position 0 or beyond the window, or if positions are a part of what
            is held, as in a model with absolute ones. Then nothing is changed.

    Claims:
        `book.cache-shift`, `book.cache-shift-all`

    >>> from rope_lab.nn import AttentionConfig, RotaryConfig
    >>> layer, cache = CausalAttention(AttentionConfig(d_model=8, n_heads=2, rotary=RotaryConfig(4))), KVCache()
    >>> _ = layer(torch.ones(1, 3, 8), cache=cache)
    >>> shift_tokens(layer, cache, 100), cache.position
    (Exact(positions=True, layers=1), 103)
    """
    pairs = _pairs(model, caches)
    first = pairs[0][1]
    if isinstance(by, bool) or not isinstance(by, int):
        raise TypeError(f"by: expected a whole number of places, got {by!r}; a token stands at a whole place")
    if first.offset + by < 0:
        raise ValueError(
            f"by: expected at least {-first.offset}, got {by}: the first token would stand at {first.offset + by}; "
            "drop tokens to make room at the beginning"
        )
    exact = all(_relative(layer) for layer, _ in pairs)
    _rebuild(model, [(layer, cache, [Piece(cache, 0, cache.seen, by)]) for layer, cache in pairs], by=by)
    return Exact(positions=True, layers=len(pairs) if exact or by == 0 else 1)


def drop_tokens(model: GPT | Layer, caches: Caches, start: int, stop: int) -> Exact:
    """Forget the tokens held in rows ``start`` to ``stop - 1``, and move those behind them down to close the gap.

    Tokens before the gap keep every bit. At the end of the text nothing has read the dropped tokens: then all layers
    are exact, and decoding goes on as if they had never been there.

    Args:
        model, caches: As in `shift_tokens`.
        start, stop: Rows of the cache, not positions: the first token held has row 0.

    Returns:
        What is exact now.

    Raises:
        TypeError: If rows are not whole numbers, or model and caches do not belong together.
        ValueError: If there are no such rows, or as `shift_tokens` raises it. Then nothing is changed.

    Claims:
        `book.cache-drop`, `book.cache-drop-end`

    >>> from rope_lab.nn import AttentionConfig, RotaryConfig
    >>> layer, cache = CausalAttention(AttentionConfig(d_model=8, n_heads=2, rotary=RotaryConfig(4))), KVCache()
    >>> _ = layer(torch.ones(1, 10, 8), cache=cache)
    >>> drop_tokens(layer, cache, 4, 8), cache.seen  # four sinks and the newest two
    (Exact(positions=True, layers=1), 6)
    """
    pairs = _pairs(model, caches)
    start, stop = expect_count(start, name="start"), expect_count(stop, name="stop")
    seen = pairs[0][1].seen
    if not start <= stop <= seen:
        raise ValueError(
            f"start, stop: expected 0 <= start <= stop <= {seen}, the tokens held, got {start} and {stop}; count rows "
            "of the cache, not positions of the text"
        )
    if start < stop < seen:
        _expect_counted(pairs)
    _rebuild(
        model,
        [(layer, cache, [Piece(cache, 0, start, 0), Piece(cache, stop, seen, start - stop)]) for layer, cache in pairs],
    )
    return Exact(positions=True, layers=len(pairs) if stop in (start, seen) else 1)


def splice_tokens(model: GPT | Layer, caches: Caches, chunk: Caches, *, at: int | None = None) -> Exact:
    """Put a chunk that was read on its own in front of row ``at``, turned to its new place; what is behind moves up.

    The chunk's own tokens have not read the text before it, and those behind have not read the chunk.

    Args:
        model, caches: As in `shift_tokens`.
        chunk: What the model held after it had read the chunk alone, from any offset. It stays as it is.
        at: A row of the cache; None: at the end.

    Returns:
        What is exact now.

    Raises:
        TypeError: If ``at`` is not a whole number, or model, caches and chunk do not belong together.
        ValueError: If there is no such row, if the chunk differs in batch, heads, width or dtype, or as `shift_tokens`
            raises it. Then nothing is changed.

    Claims:
        `book.cache-splice`

    >>> from rope_lab.nn import AttentionConfig
    >>> layer, cache, chunk = CausalAttention(AttentionConfig(d_model=8, n_heads=2, rotated="")), KVCache(), KVCache()
    >>> _ = layer(torch.ones(1, 3, 8), cache=cache), layer(torch.ones(1, 5, 8), cache=chunk)
    >>> splice_tokens(layer, cache, chunk), cache.seen
    (Exact(positions=True, layers=1), 8)
    """
    pairs, chunks = _pairs(model, caches), _pairs(model, chunk, name="chunk")
    _expect_counted([*pairs, *chunks])
    others = [cache for _, cache in chunks]
    first, new = pairs[0][1], others[0]
    at = first.seen if at is None else expect_count(at, name="at")
    if at > first.seen:
        raise ValueError(f"at: expected at most {first.seen}, the tokens held, got {at}; None is the end of the text")
    for (_, cache), other in zip(pairs, others, strict=True):
        _expect_alike(cache, other)
    by = first.offset + at - new.offset
    _rebuild(
        model,
        [
            (
                layer,
                cache,
                [Piece(cache, 0, at, 0), Piece(other, 0, new.seen, by), Piece(cache, at, cache.seen, new.seen)],
            )
            for (layer, cache), other in zip(pairs, others, strict=True)
        ],
    )
    whole = first.seen == new.seen or new.seen == 0  # the text is the chunk alone, or the chunk is nothing
    still = by == 0 or all(_relative(layer) for layer, _ in pairs)
    return Exact(positions=True, layers=len(pairs) if whole and still else 1)


def _pairs(model: GPT | Layer, caches: Caches, *, name: str = "caches") -> list[tuple[Layer, Cache]]:
    """Each attention layer with its cache; what does not belong together is refused."""
    layers: list[Any] = [block.attention for block in model.blocks] if isinstance(model, GPT) else [model]
    caches = [caches] if isinstance(caches, Cache) else list(caches)
    if len(caches) != len(layers):
        raise ValueError(f"{name}: expected {len(layers)}, one for each layer, got {len(caches)}; each has its own")
    for layer, cache in zip(layers, caches, strict=True):
        if not isinstance(layer, Layer):
            raise TypeError(
                f"model: expected a GPT or one of its attention layers, got {type(layer).__name__}; only they say "
                "which part of a cache turns"
            )
        kind = KVCache if isinstance(layer, CausalAttention) else LatentCache
        if not isinstance(cache, kind):
            raise TypeError(
                f"{name}: expected a {kind.__name__} for {type(layer).__name__}, got {type(cache).__name__}"
            )
    stands = {(cache.offset, cache.seen) for cache in caches}
    if len(stands) > 1:
        raise ValueError(
            f"{name}: expected all with one offset and as many tokens, got (offset, tokens) {sorted(stands)}; let the "
            "model fill them together"
        )
    return list(zip(layers, caches, strict=True))


def _expect_counted(pairs: list[tuple[Layer, Cache]]) -> None:
    """Refuse to close or open a gap between tokens that do not stand one after the other."""
    for _, cache in pairs:
        if not cache.counts:
            raise ValueError(
                f"caches: expected tokens that stand one after the other, got places that were given from row "
                f"{cache.given_from} on; drop those at the end, or read the text again with the positions you mean"
            )


def _rebuild(model: GPT | Layer, plan: list[tuple[Layer, Cache, list[Piece]]], *, by: int = 0) -> None:
    """Put each cache together from its pieces. Everything is made before anything is changed."""
    offset = plan[0][1].offset + by
    if isinstance(model, GPT):
        end = offset + sum(piece.stop - piece.start for piece in plan[0][2])
        if end > model.config.seq_len:
            raise ValueError(
                f"expected at most {model.config.seq_len} positions of context, got {end}; drop tokens first"
            )
        moves = any(piece.by and piece.stop > piece.start for piece in plan[0][2])
        if moves and model.config.positions == "absolute":
            raise ValueError(
                "model: expected positions that turn, or none, got absolute ones: they were added before the first "
                "layer and cannot be taken out of what is held; read the text again at its new place"
            )
    made = [[_move(layer, piece) for piece in pieces if piece.stop > piece.start] for layer, _, pieces in plan]
    for (_, cache, _), moved in zip(plan, made, strict=True):
        cache.hold([torch.cat(parts, -2) for parts in zip(*moved, strict=True)])
        cache.offset = offset


def _move(layer: Layer, piece: Piece) -> list[Tensor]:
    """The tensors of a piece, turned on where the layer turns them."""
    held = [x[..., piece.start : piece.stop, :] for x in piece.source.tensors()]
    if not piece.by:
        return held
    if isinstance(layer, CausalAttention):
        turns = (("k", layer.rotary), ("v", layer.rotary_vo))
        return [
            _turn_on(x, rotary, piece.by) if rotary is not None and role in layer.config.rotated else x
            for x, (role, rotary) in zip(held, turns, strict=True)
        ]
    if isinstance(layer, SharedLatentAttention):
        return [_turn_on(held[0], layer.rotary, piece.by)]
    latent, key = held[0].split([layer.config.d_latent, layer.config.d_rope], -1)
    return [torch.cat((latent, _turn_on(key, layer.rotary, piece.by)), -1)]


def _turn_on(x: Tensor, rotary: nn.Module, by: int) -> Tensor:
    """R_by x. A stretch by an attention factor came with the first turn, and must not come again."""
    if not isinstance(rotary, Rotary):
        raise TypeError(
            f"model: expected layers that turn with a Rotary, got {type(rotary).__name__}; the angles of "
            "another rotation are not known here"
        )
    config = rotary.config
    cos, sin, _ = rotary_table([by], config, dtype=torch.float64)
    a = config.attention_factor
    row = [(part / a).to(x.device, working_dtype(x)).expand(x.shape[-2], -1) for part in (cos, sin)]
    return rotate(x, RotaryTable(row[0], row[1], config))


def _relative(layer: Layer) -> bool:
    """Whether a text that stands elsewhere is read alike."""
    return not isinstance(layer, CausalAttention) or is_relative(layer.config.rotated)


def _expect_alike(cache: Cache, chunk: Cache) -> None:
    for mine, its in zip(cache.tensors(), chunk.tensors(), strict=False):
        if (mine.shape[:-2], mine.shape[-1], mine.dtype) != (its.shape[:-2], its.shape[-1], its.dtype):
            raise ValueError(
                f"chunk: expected {mine.dtype} {tuple(mine.shape)} apart from the tokens, as held, got {its.dtype} "
                f"{tuple(its.shape)}; read the chunk with the same model and the same batch"
            )
