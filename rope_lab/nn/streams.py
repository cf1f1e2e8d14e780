"""A stream of tokens through a short cache: ways in which the keys held get to their new places.

>>> Way().words
'keys turned anew at every step, float32'
>>> Way(keys="unturned", dtype=torch.bfloat16).words
'keys stored without a turn, bfloat16'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from rope_lab.algebra.arguments import expect_one_of
from rope_lab.nn.attention import CausalAttention
from rope_lab.nn.cache import KVCache
from rope_lab.nn.gpt import GPT
from rope_lab.nn.rotary import RotaryConfig, RotaryTable, rotary_table, rotate
from rope_lab.nn.tensor_arguments import expect_count

__all__ = ["Way", "stream_losses", "ways"]

Keys = Literal["recomputed", "turned", "unturned"]
RECOMPUTED_AT_ONCE = 8192  # tokens: what a small cache of the processor likes


@dataclass(frozen=True)
class Way:
    """How the keys of a full cache get to their new places when its oldest tokens are dropped."""

    keys: Keys = "turned"  # "turned": those held turn back | "unturned": turned when read | "recomputed": no cache
    dtype: torch.dtype = torch.float32  # in which keys are stored; values are not rounded
    block: int = 1  # so many tokens are dropped at once, and the keys held move by so many places

    def __post_init__(self) -> None:
        expect_one_of(self.keys, get_args(Keys), name="keys")
        if expect_count(self.block, name="block") < 1:
            raise ValueError("block: expected at least 1 token to drop, got 0; 1 drops them one by one")
        if self.keys == "recomputed" and (self.block, self.dtype) != (1, torch.float32):
            raise ValueError(
                f"expected no block and no dtype where everything is recomputed, got {self.block} and {self.dtype}: "
                "nothing is stored. Leave them out"
            )

    @property
    def words(self) -> str:
        """What happens to the keys, for a legend."""
        if self.keys == "recomputed":
            return "everything recomputed"
        stored = str(self.dtype).removeprefix("torch.")
        often = "at every step" if self.block == 1 else f"once in {self.block} steps"
        done = f"keys turned anew {often}" if self.keys == "turned" else "keys stored without a turn"
        return f"{done}, {stored}"


def ways(window: int) -> dict[str, Way]:
    """The ways that ``cache-stream`` compares, for a cache of that size: by blocks, half of it is dropped at once.

    >>> [way.block for way in ways(128).values() if way.block > 1]
    [64, 64]
    """
    half = expect_count(window, name="window") // 2
    return {
        "recomputed": Way(keys="recomputed"),
        "re-turned": Way(),
        "re-turned, bfloat16": Way(dtype=torch.bfloat16),
        "by blocks": Way(block=half),
        "by blocks, bfloat16": Way(dtype=torch.bfloat16, block=half),
        "unturned": Way(keys="unturned"),
        "unturned, bfloat16": Way(keys="unturned", dtype=torch.bfloat16),
    }


@torch.no_grad()
def stream_losses(model: GPT, tokens: Int[Tensor, "batch T"], *, window: int, way: Way) -> Float[Tensor, "batch T-1"]:
    """The loss of every token after the first, read one by one with at most ``window`` tokens in sight.

    The token being read is one of them. A cache that is full drops its oldest tokens, and the keys of the others move
    to the places from 0 on; what a deeper layer had read of the dropped tokens stays in its keys and values. Where
    everything is recomputed, nothing of them is left.

    Args:
        model: Of turning queries and keys.
        tokens: (batch, T): texts that are read side by side.
        window: Tokens in the cache, at most those that the model was trained with.
        way: How the keys get to their new places.

    Returns:
        (batch, T - 1), in the dtype of the weights: nats.

    Raises:
        ValueError: If the model turns something else, or if a block is not shorter than the window.

    >>> from rope_lab.nn.gpt import GPTConfig
    >>> model = GPT(GPTConfig(vocab_size=10, seq_len=8, n_layers=1, n_heads=1, d_model=8))
    >>> tuple(stream_losses(model, torch.zeros(1, 20, dtype=torch.long), window=8, way=Way()).shape)
    (1, 19)
    """
    if model.config.positions != "rotary" or model.config.rotated != "qk" or model.config.d_latent is not None:
        raise ValueError(
            f"model: expected turning queries and keys and nothing else that turns, got "
            f"positions={model.config.positions!r}, rotated={model.config.rotated!r}, "
            f"d_latent={model.config.d_latent}; a move of its cache is another one"
        )
    if (factor := _rotation(model).attention_factor) != 1:
        raise ValueError(
            f"model: expected a rotation without an attention factor, got {factor}: every move would stretch"
        )
    if not way.block < window <= model.config.seq_len:
        raise ValueError(
            f"window: expected more than the block of {way.block} and at most the {model.config.seq_len} positions of "
            f"the model, got {window}"
        )
    logits = _recomputed if way.keys == "recomputed" else _streamed
    seen = logits(model, tokens[:, :-1], window, way)
    return F.cross_entropy(seen.transpose(1, 2), tokens[:, 1:], reduction="none")


def _recomputed(model: GPT, tokens: Tensor, window: int, _way: Way) -> Tensor:
    first = model(tokens[:, :window])
    later = tokens.unfold(1, window, 1)[:, 1:].flatten(0, 1)  # one window for each token behind the first window
    last = [model(batch)[:, -1] for batch in later.split(max(1, RECOMPUTED_AT_ONCE // window))]
    return torch.cat((first, torch.cat(last).view(len(tokens), -1, first.shape[-1])), 1) if len(last) else first


def _streamed(model: GPT, tokens: Tensor, window: int, way: Way) -> Tensor:
    rotary, dtype = _rotation(model), model.embedding.weight.dtype
    caches = [SlidingCache(rotary, window=window, way=way, dtype=dtype) for _ in model.blocks]
    return torch.cat([model(token, caches=caches) for token in tokens.split(1, dim=1)], 1)


def _rotation(model: GPT) -> RotaryConfig:
    """How queries and keys turn: in all layers alike."""
    return next(layer.rotary.config for layer in model.modules() if isinstance(layer, CausalAttention) and layer.rotary)


class SlidingCache(KVCache):
    """A cache of at most ``window`` tokens that stand at the places from 0 on; it is filled one token at a time."""

    def __init__(self, config: RotaryConfig, *, window: int, way: Way, dtype: torch.dtype) -> None:
        super().__init__()
        self.window, self.way = window, way
        self.places = rotary_table(torch.arange(window), config, dtype=dtype)
        self.back = rotary_table([-way.block] * (window - way.block), config, dtype=dtype)

    @property
    def position(self) -> int:
        """Where the next token stands: behind those that are left when there is room for it."""
        return self.seen - (self.way.block if self.seen == self.window else 0)

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Make room, add the turned key and the value of one token, and return all that are held, turned."""
        place = self.position
        if self.k is not None and self.v is not None and self.seen == self.window:
            self.k, self.v = self.k[..., self.way.block :, :], self.v[..., self.way.block :, :]
            if self.way.keys == "turned":
                self.k = self._stored(rotate(self.k, self.back))
        if self.way.keys == "turned":
            return super().extend(self._stored(k), v)
        k, v = super().extend(self._stored(rotate(k, self._rows(place, place + 1), inverse=True)), v)
        return rotate(k, self._rows(0, self.seen)), v

    def _rows(self, start: int, stop: int) -> RotaryTable:
        cos, sin, config = self.places
        return RotaryTable(cos[start:stop], sin[start:stop], config)

    def _stored(self, k: Tensor) -> Tensor:
        """What is left of a key in the cache: rounded to its dtype, and read in that of the model."""
        return k.to(self.way.dtype).to(k.dtype)
