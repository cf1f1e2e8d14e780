"""What a finished run's weights show beside its loss. The run's ``measure`` names it, the card's ``measured`` holds it.

``length 512``: the loss in windows longer than those of training. ``shift 8``: the loss in windows of training's length
that begin at random positions, up to eight windows on. The others stand in the ``measures.py`` of the chapters' rooms.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from rope_lab import chapters
from rope_lab.errors import ArgumentError
from rope_lab.nn.gpt import GPT, GPTConfig
from rope_lab.training.run.config import RunConfig
from rope_lab.training.run.learner import Learner
from rope_lab.training.run.validation import IGNORED, validation_batches

TOKENS = 2048  # in a batch of a longer window: the memory of a training step


@dataclasses.dataclass(frozen=True)
class Measure:
    """A measure that a chapter owns."""

    take: Callable[[RunConfig, Learner, Any], dict[str, Any]]  # of a trained model, with its corpus
    expect: Callable[..., None]  # (config, model, name, *, tokens): refuses what it cannot be taken of


def of_chapters() -> dict[str, Measure]:
    """The measures of the chapters, by name: the ``MEASURES`` of their rooms, in their order."""
    return {name: each for module in chapters.modules("measures") for name, each in module.MEASURES.items()}


def expect_measures(config: RunConfig, model: GPTConfig, *, tokens: int) -> None:
    """Refuse a measure that cannot be taken before the run is trained, not after; ``tokens`` are those of validation.

    Raises:
        ArgumentError: a measure of another name, or one that this model or this stream does not allow.

    >>> expect_measures(RunConfig(measure=("length 512", "halves")), GPTConfig(), tokens=100_000)
    """
    read = min(tokens, config.eval_tokens or tokens)
    for name in config.measure:
        if re.fullmatch(r"(length|shift) [1-9][0-9]*", name):
            if name.startswith("length") and int(name.split()[1]) >= read:  # shifted windows can always be read
                raise ArgumentError(
                    f"measure: expected 'length N' with N below the {read} tokens that are validated, got "
                    f"{name!r}: no window is that long. Shorten it, or raise eval_tokens"
                )
        elif name in (known := of_chapters()):
            known[name].expect(config, model, name, tokens=tokens)
        else:
            raise ArgumentError(f"measure: expected 'length N', 'shift N', {', '.join(map(repr, known))}, got {name!r}")


def measure(config: RunConfig, learner: Learner, corpus: Any) -> dict[str, Any]:
    """Everything that the run asks for, by name; an empty dictionary where it asks for nothing."""
    values = {}
    for name in config.measure:
        if name.startswith("shift "):
            values[name] = shifted_windows(config, learner, corpus, windows=int(name.split()[1]))
        elif name.startswith("length "):
            values[name] = longer_windows(config, learner, corpus, length=int(name.split()[1]))
        else:
            values[name] = of_chapters()[name].take(config, learner, corpus)
    return values


@torch.no_grad()
def longer_windows(config: RunConfig, learner: Learner, corpus: Any, *, length: int) -> dict[str, float]:
    """Mean loss in windows of ``length`` tokens: at the places that training knew, at those beyond, and over all."""
    model = stretched(learner.model, seq_len=length).to(learner.group.device)
    stream = corpus.valid[: config.eval_tokens or None]
    bos = corpus.vocab_size if config.bos else None
    sums, counts = torch.zeros(length, dtype=torch.float64), torch.zeros(length, dtype=torch.float64)
    for inputs, targets in validation_batches(stream, seq_len=length, batch_size=max(1, TOKENS // length), bos=bos):
        with learner.autocast():
            logits = model(inputs.to(learner.group.device))
        sums += _nats_by_place(logits.cpu(), targets)
        counts += (targets != IGNORED).sum(0)
    inside, beyond = slice(None, config.seq_len), slice(config.seq_len, None)
    places = {"inside": inside, "beyond": beyond} if length > config.seq_len else {"inside": inside}
    means = {name: (sums[part].sum() / counts[part].sum()).item() for name, part in places.items()}
    return {"loss": (sums.sum() / counts.sum()).item(), **means}


@torch.no_grad()
def shifted_windows(config: RunConfig, learner: Learner, corpus: Any, *, windows: int) -> dict[str, float]:
    """Mean loss where each batch of windows begins at a random position, and where the same windows begin at 0.

    The positions are drawn from 1 to ``windows`` times the window, by the seed of the run; each batch has its own. A
    model whose scores know only differences of positions has the same loss twice, but for rounding.
    """
    model = stretched(learner.model, seq_len=(windows + 1) * config.seq_len).to(learner.group.device)
    stream = corpus.valid[: config.eval_tokens or None]
    bos = corpus.vocab_size if config.bos else None
    batches = validation_batches(stream, seq_len=config.seq_len, batch_size=max(1, TOKENS // config.seq_len), bos=bos)
    draw = np.random.default_rng(config.seed)
    sums, count = {"loss": 0.0, "from 0": 0.0}, 0
    for inputs, targets in batches:
        begin = {"loss": int(draw.integers(1, windows * config.seq_len + 1)), "from 0": 0}
        for name, offset in begin.items():
            with learner.autocast():
                logits = model(inputs.to(learner.group.device), offset=offset)
            sums[name] += _nats_by_place(logits.cpu(), targets).sum().item()
        count += int((targets != IGNORED).sum())
    return {name: total / count for name, total in sums.items()}


def stretched(model: GPT, *, seq_len: int) -> GPT:
    """Copy the model for windows of ``seq_len``: positions beyond training get their own angles."""
    longer = GPT(dataclasses.replace(model.config, seq_len=seq_len))
    longer.load_state_dict(copy.deepcopy(model.state_dict()))
    return longer


def _nats_by_place(logits: Tensor, targets: Tensor) -> Tensor:
    nats = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="none")
    return nats.view(targets.shape).sum(0, dtype=torch.float64)
