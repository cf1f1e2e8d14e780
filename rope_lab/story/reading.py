"""The small model with an altered rotation: its logits, its losses and its text under `Knobs`.

>>> from rope_lab.story import load_story, story_tokenizer
>>> model, tokenizer = load_story(), story_tokenizer()
>>> print(tell(model, tokenizer, "Once upon a time", n_tokens=23, knobs=Knobs(layout="half")))
Once upon a time, there was a little goth mist fearddownely thing
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from rope_lab.algebra.frequency_schedules import NTK, Linear, Schedule, Yarn
from rope_lab.algebra.half_precision import round_to
from rope_lab.nn.attention import CausalAttention
from rope_lab.nn.cache import KVCache
from rope_lab.nn.gpt import GPT
from rope_lab.nn.rotary import RotaryConfig, RotaryTable, rotate
from rope_lab.nn.tensor_arguments import working_dtype
from rope_lab.story.knobs import LONGEST, Knobs, Rounded
from rope_lab.story.pieces import BOS, PieceTokenizer
from rope_lab.story.shipped import CONFIG

__all__ = ["greedy", "logits", "losses", "tell", "turned"]

AS_TRAINED = Knobs()


def logits(model: GPT, tokens: Int[Tensor, "batch T"], *, knobs: Knobs = AS_TRAINED) -> Float[Tensor, "batch T vocab"]:
    """Logits of the token after each of T tokens, read with the rotation that the knobs say.

    Args:
        model: From `load_story`.
        tokens: (batch, T), T up to 8192: the window of the training is no limit here.
        knobs: What is altered. With a ``window`` the tokens are read one by one.

    Returns:
        (batch, T, vocab), in the dtype of the weights.

    Raises:
        ValueError: If there are more tokens, or if float16 has no number for a position or an angle.
    """
    other = turned(model, knobs)
    if not knobs.window:
        return other(tokens)
    caches = _caches(model, knobs)
    return torch.cat([other(token, caches=caches) for token in tokens.split(1, dim=1)], dim=1)


def losses(model: GPT, tokens: Int[Tensor, "batch T"], *, knobs: Knobs = AS_TRAINED) -> Float[Tensor, "batch T-1"]:
    """The loss of each token after the first: minus the logarithm of its probability, in nats.

    Args:
        model, tokens, knobs: As in `logits`; T at least 2.

    Returns:
        (batch, T - 1), in the dtype of the weights.
    """
    seen = logits(model, tokens[:, :-1], knobs=knobs)
    return nn.functional.cross_entropy(seen.transpose(1, 2), tokens[:, 1:], reduction="none")


def tell(
    model: GPT, tokenizer: PieceTokenizer, prompt: str = "", *, n_tokens: int = 64, knobs: Knobs = AS_TRAINED
) -> str:
    """The prompt and the ``n_tokens`` likeliest tokens after it, one after the other; the end of a story ends it.

    Args:
        model: From `load_story`.
        tokenizer: From `story_tokenizer`.
        prompt: How the text begins; "" for a story from its first word.
        n_tokens: How many tokens to add.
        knobs: What is altered in the rotation, while the prompt is read too.

    Raises:
        ValueError: If the text would be longer than 8192 tokens, or as `logits` raises it.
    """
    return tokenizer.decode(greedy(model, tokenizer.encode(prompt), n_tokens=n_tokens, knobs=knobs))


def greedy(model: GPT, tokens: Sequence[int], *, n_tokens: int, knobs: Knobs = AS_TRAINED) -> list[int]:
    """The tokens of `tell`: those given and up to ``n_tokens`` more, always the likeliest, until a story ends.

    Args:
        model, n_tokens, knobs: As in `tell`.
        tokens: At least one, from `PieceTokenizer.encode`.
    """
    other, caches = turned(model, knobs), _caches(model, knobs)
    tokens, unread = list(tokens), list(tokens)
    for _ in range(n_tokens):
        # A cache that drops tokens reads one by one; one that keeps all reads what is new at once.
        parts = torch.tensor([unread]).split(1 if knobs.window else len(unread), dim=1)
        likeliest = int([other(part, caches=caches) for part in parts][-1][0, -1].argmax())
        if likeliest == BOS:  # the next story would begin
            break
        tokens, unread = [*tokens, likeliest], [likeliest]
    return tokens


def turned(model: GPT, knobs: Knobs) -> GPT:
    """The model with the rotation that the knobs say: a copy that shares every weight with it.

    It reads up to 8192 tokens. A cache of its own, for ``window``, `logits` and `tell` give it.

    Raises:
        ValueError: If the heads of the model are not those of the small one.
    """
    if (got := model.config.width) != CONFIG.width or model.config.positions != "rotary":
        raise ValueError(f"model: expected the one of load_story, with turning heads of {CONFIG.width}, got {got}")
    other = copy.deepcopy(model, memo={id(p): p for p in model.parameters()})
    other.config = replace(model.config, seq_len=LONGEST)
    rotary = TurnedRotary(knobs)  # one for all layers: they turn alike
    for layer in other.modules():
        if isinstance(layer, CausalAttention):
            layer.rotary = rotary  # type: ignore[assignment]  # called as a Rotary is
    return other


class TurnedRotary(nn.Module):
    """In the place of `Rotary`: turns the token at place n by the angles that the knobs give it."""

    def __init__(self, knobs: Knobs) -> None:
        super().__init__()
        self.knobs, self.config = knobs, RotaryConfig(CONFIG.width, layout=knobs.layout)
        self.turns = np.zeros((0, 2, CONFIG.width // 2))  # cosine and sine of each angle, float64; grows with the text

    def forward(self, x: Tensor, *, offset: int = 0, inverse: bool = False) -> Tensor:
        """Turn the rows of x, (..., T, 8), which stand at the places from ``offset`` on, or undo that turn."""
        if (stop := offset + x.shape[-2]) > len(self.turns):
            self.turns = turns(np.arange(1 << (stop - 1).bit_length()), self.knobs)
        cos, sin = torch.from_numpy(self.turns[offset:stop]).to(x.device, working_dtype(x)).unbind(-2)
        if inverse:  # an attention factor is undone too
            size = cos**2 + sin**2
            cos, sin = cos / size, -sin / size
        return rotate(x, RotaryTable(cos, sin, self.config))


def turns(places: np.ndarray, knobs: Knobs) -> np.ndarray:
    """Cosine and sine of the angles of each plane at each place, (places, 2, planes), as the knobs say."""
    positions = _rounded(knobs.stretch * places + knobs.shift, knobs.round_positions, name="round_positions")
    theta, size = _frequencies(knobs)
    angles = _rounded(positions[:, None] * theta, knobs.round_angles, name="round_angles")
    return size * np.stack((np.cos(angles), np.sin(angles)), axis=1)


def _frequencies(knobs: Knobs) -> tuple[np.ndarray, float]:
    """The frequencies, and what cosines and sines are multiplied by."""
    width = CONFIG.width
    if knobs.none:
        return np.zeros(width // 2), 1.0
    window = CONFIG.seq_len
    schedule = {
        "none": Schedule(),
        "linear": Linear(knobs.factor),
        "ntk": NTK(knobs.factor),
        "yarn": Yarn(knobs.factor, window),
    }[knobs.scaling]
    theta = knobs.direction * schedule.frequencies(width, base=knobs.base)
    theta[[plane - 1 for plane in knobs.frozen]] = 0.0
    return theta, schedule.attention_factor


def _rounded(numbers: np.ndarray, dtype: Rounded, *, name: str) -> np.ndarray:
    if dtype == "none":
        return numbers
    rounded = round_to(numbers, dtype=dtype)
    if not np.isfinite(rounded).all():
        raise ValueError(
            f"{name}: expected numbers up to 65,504, the largest of float16, got {numbers.max():,.0f}; shift less"
        )
    return rounded


def _caches(model: GPT, knobs: Knobs) -> Sequence[KVCache]:
    return [DroppingCache(knobs) if knobs.window else KVCache() for _ in model.blocks]


class DroppingCache(KVCache):
    """A cache of ``window`` tokens, which drops the oldest behind the first ``sinks``; read one token at a time."""

    def __init__(self, knobs: Knobs) -> None:
        super().__init__()
        self.knobs, self.rotary, self.dropped = knobs, TurnedRotary(knobs), 0

    @property
    def position(self) -> int:
        """The position of the next token: in the text, or in the cache if keys turn anew."""
        full = self.seen == self.knobs.window  # then one is dropped first
        return self.seen - full if self.knobs.returned else self.seen + self.dropped

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Drop a token if there is no room, add one, and return what is held."""
        place = self.position
        if self.knobs.returned:  # what is held is as it was before any turn
            k = self.rotary(k, offset=place, inverse=True)
        if self.k is not None and self.v is not None and self.seen == self.knobs.window:
            kept = [row for row in range(self.seen) if row != self.knobs.sinks]
            self.k, self.v = self.k[..., kept, :], self.v[..., kept, :]
            self.dropped += 1
        k, v = super().extend(k, v)
        return (self.rotary(k) if self.knobs.returned else k), v
