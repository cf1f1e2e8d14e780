"""A model read beyond the window of its training: the same weights, another schedule of frequencies.

>>> from rope_lab.algebra import Linear
>>> from rope_lab.nn.gpt import GPTConfig
>>> model = GPT(GPTConfig(vocab_size=10, seq_len=8, n_layers=1, n_heads=1, d_model=8))
>>> rescheduled(model, Linear(factor=4), seq_len=32).config.seq_len
32
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from rope_lab.algebra.arguments import expect_one_of
from rope_lab.algebra.frequency_schedules import NTK, ByParts, DynamicNTK, Linear, Llama3, Schedule, Yarn
from rope_lab.nn.attention import CausalAttention
from rope_lab.nn.cache import KVCache
from rope_lab.nn.gpt import GPT
from rope_lab.nn.rotary import Rotary
from rope_lab.nn.tensor_arguments import expect_count

__all__ = ["Keys", "losses_by_bin", "read_long", "rescheduled", "schedules"]

Keys = Literal["recomputed", "kept"]
TOKENS = 8192  # read at once, of all windows together: what a small cache of the processor likes


def schedules(window: int, *, factor: int) -> dict[str, tuple[Schedule, Keys]]:
    """Every schedule that stretches a window by a factor, and what becomes of keys, by the names that cards have.

    Dynamic NTK has the factor 1 of its own: it then asks NTK-aware scaling for the length of the text in windows.

    Args:
        window: The length that the model was trained with.
        factor: How many windows long the text is.

    >>> schedules(128, factor=8)["linear"]
    (Linear(factor=8), 'recomputed')
    """
    fixed = {
        "as trained": Schedule(),
        "linear": Linear(factor),
        "NTK-aware": NTK(factor),
        "by parts": ByParts(factor, window),
        "Llama 3": Llama3(factor, window),
        "YaRN, no factor": Yarn(factor, window, given=1.0),
        "YaRN": Yarn(factor, window),
    }
    return {name: (schedule, "recomputed") for name, schedule in fixed.items()} | {
        "dynamic NTK": (DynamicNTK(1.0, window), "recomputed"),
        "dynamic NTK, keys kept": (DynamicNTK(1.0, window), "kept"),
    }


def rescheduled(model: GPT, schedule: Schedule, *, seq_len: int) -> GPT:
    """The model with the frequencies that a schedule makes of its own: a copy that shares every weight with it.

    Args:
        model: With turning queries and keys, or with no positions, which no schedule changes.
        schedule: One that depends on no length: `Schedule.at` makes one of a schedule that does.
        seq_len: The longest text that the copy reads.

    Raises:
        ValueError: If the model adds its positions to the embedding or keeps a latent, or if the schedule depends on
            the length of the text.

    >>> from rope_lab.nn.gpt import GPTConfig
    >>> model = GPT(GPTConfig(vocab_size=10, seq_len=8, n_layers=1, n_heads=1, d_model=8))
    >>> other = rescheduled(model, NTK(factor=2), seq_len=16)
    >>> other.embedding.weight is model.embedding.weight
    True
    """
    if model.config.positions == "absolute" or model.config.d_latent is not None:
        raise ValueError(
            "model: expected turning queries and keys, or no positions, got "
            f"positions={model.config.positions!r}, d_latent={model.config.d_latent}; a schedule says nothing of it"
        )
    other = copy.deepcopy(model, memo={id(p): p for p in model.parameters()})
    reschedule(other, schedule, seq_len=seq_len)
    return other


def reschedule(model: GPT, schedule: Schedule, *, seq_len: int) -> None:
    """`rescheduled` in place: for a model that is to be tuned."""
    model.config = replace(model.config, seq_len=expect_count(seq_len, name="seq_len"))
    for layer in model.modules():
        if isinstance(layer, CausalAttention) and layer.rotary is not None:
            layer.rotary = layer.rotary_vo = Rotary(replace(layer.rotary.config, schedule=schedule), length=seq_len)


def read_long(
    model: GPT,
    tokens: Int[Tensor, "batch T"],
    *,
    schedule: Schedule = Schedule(),  # noqa: B008  # frozen
    keys: Keys = "recomputed",
    step: int = 64,
) -> Float[Tensor, "batch T vocab"]:
    """Logits of the token after each of T tokens, however many there are.

    A schedule that depends on the length of the text is asked anew every ``step`` tokens, for the length that is then
    reached. Either all keys are computed again with the new frequencies, or those of earlier tokens are kept in a cache
    as they were turned, and only the new ones follow the new frequencies.

    Args:
        model: As in `rescheduled`.
        tokens: (batch, T).
        schedule: Of the frequencies.
        keys: "recomputed" or "kept", where the schedule depends on the length; else both are one.
        step: So many tokens are read with one list of frequencies, where they depend on the length.

    Returns:
        (batch, T, vocab), in the dtype of the weights.

    Raises:
        ValueError: If ``keys`` is another word, or as `rescheduled` raises it.
    """
    expect_one_of(keys, get_args(Keys), name="keys")
    length = tokens.shape[1]
    if not schedule.by_length:
        return rescheduled(model, schedule, seq_len=length)(tokens)
    caches = [KVCache() for _ in model.blocks]
    parts = []
    for start in range(0, length, step):
        stop = min(start + step, length)
        at_length = rescheduled(model, schedule.at(stop), seq_len=stop)
        if keys == "kept":
            parts.append(at_length(tokens[:, start:stop], caches=caches))
        else:
            parts.append(at_length(tokens[:, :stop])[:, start:])
    return torch.cat(parts, 1)


@torch.no_grad()
def losses_by_bin(
    model: GPT,
    stream: Int[Tensor, " N"],
    *,
    length: int,
    width: int,
    schedule: Schedule = Schedule(),  # noqa: B008  # frozen
    keys: Keys = "recomputed",
    step: int = 64,
) -> Float[Tensor, " bins"]:
    """Mean loss in each bin of positions, in windows of ``length`` tokens; every bin reads the same text.

    Windows begin every ``width`` tokens. So a piece of ``width`` tokens stands in the first bin of one window, in the
    second of the window before it, and so on. The pieces that have stood in every bin are counted, and no others: what
    differs between bins is how far from the start of its window the same text is read.

    Args:
        model, schedule, keys, step: As in `read_long`.
        stream: Token ids, (N,), of one long text.
        length: Tokens in a window, a multiple of ``width``.
        width: Positions in a bin.

    Returns:
        (length / width,), float64: nats for each token.

    Raises:
        ValueError: If the length is no multiple of the width, or the stream has not one window for each bin.
    """
    bins, rest = divmod(expect_count(length, name="length"), expect_count(width, name="width"))
    windows = (len(stream) - 1 - length) // width + 1
    if rest or windows < bins:
        raise ValueError(
            f"expected a length that is a multiple of the bins' width and at least {2 * length - width + 1} tokens, "
            f"got {length}, {width} and {len(stream)} tokens; take shorter windows"
        )
    losses = torch.cat(
        [
            F.cross_entropy(
                read_long(model, batch[:, :-1], schedule=schedule, keys=keys, step=step).transpose(1, 2),
                batch[:, 1:],
                reduction="none",
            )
            for batch in _windows(stream, length=length, width=width)
        ]
    )  # (windows, length)
    by_bin = losses.double().view(windows, bins, width).mean(2)
    return torch.stack([by_bin[bins - 1 - k : windows - k, k].mean() for k in range(bins)])


def _windows(stream: Tensor, *, length: int, width: int) -> Iterator[Tensor]:
    """Windows with the target of their last token, (batch, length + 1), every ``width`` tokens."""
    return iter(stream.unfold(0, length + 1, width).split(max(1, TOKENS // length)))
