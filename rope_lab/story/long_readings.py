"""The published small model beyond its window of 512, and in a stream through a short one; each read within some 15 s.

>>> len(story_stream())
13618
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import torch
from jaxtyping import Int
from torch import Tensor

from rope_lab.nn.gpt import GPT
from rope_lab.nn.long_texts import losses_by_bin, schedules
from rope_lab.nn.streams import stream_losses, ways
from rope_lab.story.shipped import CONFIG, story_texts, story_tokenizer

__all__ = ["beyond_window", "story_stream", "through_window"]


@cache
def story_stream() -> Int[Tensor, " N"]:
    """The tokens of all stories of `story_texts`, one after the other as in training, each behind its ``<s>``."""
    tokenizer = story_tokenizer()
    return torch.tensor([token for story in story_texts() for token in tokenizer.encode(story)])


def beyond_window(
    model: GPT, *, names: Sequence[str] | None = None, factor: int = 4, width: int = 256, n_tokens: int = 6144
) -> dict[str, list[float]]:
    """Mean loss by bins of positions in texts of several windows, under each schedule; every bin reads the same text.

    Args:
        model: From `load_story`.
        names: Of schedules, as `rope_lab.nn.schedules` has them; None: all.
        factor: Of the schedules, and the length of a text in windows of 512.
        width: Positions in a bin.
        n_tokens: How much of the stories is read.

    Returns:
        Under each name the losses in nats for each token, from the first bin to the last.

    Raises:
        KeyError: If there is no such schedule.
        ValueError: If so few tokens do not reach through every bin.
    """
    known = schedules(CONFIG.seq_len, factor=factor)
    losses_by_name = {}
    for name in known if names is None else names:
        schedule, keys = known[name]
        losses = losses_by_bin(
            model,
            story_stream()[:n_tokens],
            length=factor * CONFIG.seq_len,
            width=width,
            schedule=schedule,
            keys=keys,
            step=CONFIG.seq_len,
        )
        losses_by_name[name] = losses.tolist()
    return losses_by_name


def through_window(
    model: GPT, *, window: int = 128, names: Sequence[str] | None = None, streams: int = 3, n_windows: int = 6
) -> dict[str, list[float]]:
    """Mean loss along streams that are read token by token through a short cache, for each way to move its keys.

    Args:
        model: From `load_story`.
        window: Tokens in the cache.
        names: Of ways, as `rope_lab.nn.ways` has them; None: all.
        streams: How many texts are read side by side.
        n_windows: The length of each, in windows.

    Returns:
        Under each name the losses in nats for each token, a mean for each window of steps; in the first one the cache
        fills up.

    Raises:
        KeyError: If there is no such way.
        ValueError: If the stories have fewer tokens, or as `rope_lab.nn.stream_losses` raises it.
    """
    length, held = n_windows * window + 1, len(story_stream())
    if streams * length > held:
        raise ValueError(
            f"expected up to {held} tokens in all, got {streams} streams of {length}; take fewer or shorter ones"
        )
    texts = story_stream()[: streams * length].view(streams, length)
    known = ways(window)
    return {
        name: stream_losses(model, texts, window=window, way=known[name])
        .double()
        .view(streams, n_windows, window)
        .mean((0, 2))
        .tolist()
        for name in (known if names is None else names)
    }
