"""Two measures of a finished model: ``longer texts``, eight windows long, and ``stream``, through one window.

What is primary in them stands in `rope_lab.chapters.ch19_longer_texts.experiments`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from rope_lab.algebra.frequency_schedules import Schedule
from rope_lab.algebra.schedule import turns
from rope_lab.errors import ArgumentError
from rope_lab.nn.gpt import GPT, GPTConfig
from rope_lab.nn.long_texts import Keys, losses_by_bin, reschedule, schedules
from rope_lab.nn.streams import stream_losses, ways
from rope_lab.training.data.batches import Batches
from rope_lab.training.run.config import RunConfig
from rope_lab.training.run.learner import Learner
from rope_lab.training.run.measures import Measure

FACTOR = 8  # the text is so many windows of the training long
PIECES = 112  # of half a window each are read; 81 of them stand in every bin
TUNING = 64  # steps
STREAMS = 4  # texts that are read side by side
BINS = 32  # of a stream: one window each
DIGITS = 5  # of a loss in a card


def tokens_needed(name: str, seq_len: int) -> int:
    """The fewest tokens of validation with which the measure of that name can be taken.

    >>> tokens_needed("longer texts", 128), tokens_needed("stream", 128)
    (1985, 516)
    """
    return (2 * FACTOR * seq_len - seq_len // 2 + 1) if name == "longer texts" else STREAMS * (seq_len + 1)


def longer_texts(config: RunConfig, learner: Learner, corpus: Any) -> dict[str, Any]:
    """Loss by bins of half a window, in texts of eight windows: under every schedule, before and after a tuning.

    Dynamic NTK is asked anew after each window of the training. A model whose planes have all turned fully in its
    window, or that has none, is read as it was trained only: no schedule would slow a plane for it. A tuning has texts
    of one length, for which dynamic NTK is NTK-aware; so it is left out there.
    """
    chosen = schedules(config.seq_len, factor=FACTOR)
    if not _has_slow_planes(learner.model.config):
        chosen = {"as trained": chosen["as trained"]}
    before = {name: _bins(config, learner.model, corpus, *chosen[name]) for name in chosen}
    after = {}
    for name, (schedule, keys) in chosen.items():
        if not schedule.by_length:
            after[name] = _bins(config, _tuned(config, learner, corpus, schedule), corpus, schedule, keys)
    return {"length": FACTOR * config.seq_len, "width": config.seq_len // 2, "before": before, "after": after}


def stream(config: RunConfig, learner: Learner, corpus: Any) -> dict[str, Any]:
    """Loss along a stream, by bins of one window, for each way in which keys get to their new places."""
    window = config.seq_len
    bins = min(BINS, (len(corpus.valid) // STREAMS - 1) // window)
    texts = _tensor(corpus.valid[: STREAMS * (bins * window + 1)]).view(STREAMS, -1)
    losses_by_way = {}
    for name, way in ways(window).items():
        losses = stream_losses(learner.model, texts, window=window, way=way)
        losses_by_way[name] = _rounded(losses.double().view(STREAMS, bins, window).mean((0, 2)))
    return {"window": window, "streams": STREAMS, "ways": losses_by_way}


def _has_slow_planes(model: GPTConfig) -> bool:
    """Whether a plane has not turned fully in the window of the training."""
    if model.positions != "rotary":
        return False
    theta = Schedule().frequencies(model.width, base=model.base)
    return bool(turns(model.seq_len, theta=theta).min() < 1)


def _bins(config: RunConfig, model: GPT, corpus: Any, schedule: Schedule, keys: Keys) -> list[float]:
    window, width = config.seq_len, config.seq_len // 2
    read = _tensor(corpus.valid[: PIECES * width])
    return _rounded(
        losses_by_bin(model, read, length=FACTOR * window, width=width, schedule=schedule, keys=keys, step=window)
    )


def _tuned(config: RunConfig, learner: Learner, corpus: Any, schedule: Schedule) -> GPT:
    """The model after more steps at the run's last rate, in long texts, with as many tokens in a step."""
    rate = config.learning_rate(config.steps - 1)
    longer = replace(
        config, seq_len=FACTOR * config.seq_len, batch_size=max(1, config.batch_size // FACTOR), compile="never"
    )
    tuner = Learner(longer, replace(learner.model.config, seq_len=longer.seq_len), learner.group, notice=lambda _: None)
    tuner.model.load_state_dict(learner.model.state_dict())
    reschedule(tuner.model, schedule, seq_len=longer.seq_len)
    batches = Batches(
        corpus.train,
        seq_len=longer.seq_len,
        batch_size=longer.batch_size,
        steps=TUNING,
        seed=config.seed + 2_000_003,
        device=learner.group.device,
    )
    for step in range(TUNING):
        tuner.step(*batches[step], lr=rate)
    return tuner.model


def _tensor(stream: Any) -> torch.Tensor:
    return torch.from_numpy(stream.astype("int64"))


def _rounded(losses: torch.Tensor) -> list[float]:
    return [round(loss, DIGITS) for loss in losses.tolist()]


def _expect(config: RunConfig, model: GPTConfig, name: str, *, tokens: int) -> None:
    known = ("rotary",) if name == "stream" else ("rotary", "none")
    if model.positions not in known or model.d_latent is not None or model.rotated != "qk" or config.bos:
        raise ArgumentError(
            f"measure: expected positions of {' or '.join(known)}, rotated='qk', no latent and no bos for {name!r}, "
            f"got {model.positions!r}, {model.rotated!r}, d_latent={model.d_latent}, bos={config.bos}: leave one of "
            "the two out"
        )
    needed = tokens_needed(name, config.seq_len)
    if config.seq_len % 2 or needed > tokens:
        raise ArgumentError(
            f"measure: expected an even seq_len and at least {needed} tokens of validation for {name!r}, got "
            f"{config.seq_len} and {tokens}: shorten the window"
        )


MEASURES = {"longer texts": Measure(longer_texts, _expect), "stream": Measure(stream, _expect)}
