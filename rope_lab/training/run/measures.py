"""What a finished run's weights show beside its loss. The run's ``measure`` names it, the card's ``measured`` holds it.

``length 512``: the loss in windows longer than those of training. ``shift 8``: the loss in windows of training's length
that begin at random positions, up to eight windows on. ``halves`` and ``projected``: see
projection_shares.py. ``longer texts`` and ``stream``: see long_contexts.py.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from rope_lab.errors import ArgumentError
from rope_lab.nn.gpt import GPT, GPTConfig
from rope_lab.training.run import long_contexts, projection_shares
from rope_lab.training.run.config import RunConfig
from rope_lab.training.run.learner import Learner
from rope_lab.training.run.validation import IGNORED, validation_batches

NAMES = ("halves", "projected", "longer texts", "stream")  # beside "length N" and "shift N"
TOKENS = 2048  # in a batch of a longer window: the memory of a training step


def expect_measures(config: RunConfig, model: GPTConfig, *, tokens: int) -> None:
    """Refuse a measure that cannot be taken before the run is trained, not after; ``tokens`` are those of validation.

    Raises:
        ArgumentError: a measure of another name, or one that this model or this stream does not allow.

    >>> expect_measures(RunConfig(measure=("length 512", "halves")), GPTConfig(), tokens=100_000)
    """
    read = min(tokens, config.eval_tokens or tokens)
    for name in config.measure:
        if name not in NAMES and not re.fullmatch(r"(length|shift) [1-9][0-9]*", name):
            raise ArgumentError(f"measure: expected 'length N', 'shift N', {', '.join(map(repr, NAMES))}, got {name!r}")
        if name in ("longer texts", "stream"):
            _expect_long_contexts(config, model, name, tokens=tokens)
        elif name.startswith("length"):
            if int(name.split()[1]) >= read:
                raise ArgumentError(
                    f"measure: expected 'length N' with N below the {read} tokens that are validated, got "
                    f"{name!r}: no window is that long. Shorten it, or raise eval_tokens"
                )
        elif name.startswith("shift"):
            continue  # any model that reads a window reads it elsewhere
        elif model.complex_linear:
            raise ArgumentError(
                f"measure: expected dense projections for {name!r}, got complex_linear="
                f"{model.complex_linear!r}: leave one of the two out"
            )
        elif model.d_latent is not None or model.n_kv_heads not in (None, model.n_heads):
            raise ArgumentError(
                f"measure: expected as many heads of keys as of queries for {name!r}, got d_latent="
                f"{model.d_latent}, n_kv_heads={model.n_kv_heads}: leave one of the two out"
            )
        elif model.d_model % 2 or model.width % 2:
            raise ArgumentError(
                f"measure: expected even widths for {name!r}, got d_model={model.d_model} and heads of "
                f"{model.width}: a plane takes two coordinates"
            )


def _expect_long_contexts(config: RunConfig, model: GPTConfig, name: str, *, tokens: int) -> None:
    known = ("rotary",) if name == "stream" else ("rotary", "none")
    if model.positions not in known or model.d_latent is not None or model.rotated != "qk" or config.bos:
        raise ArgumentError(
            f"measure: expected positions of {' or '.join(known)}, rotated='qk', no latent and no bos for {name!r}, "
            f"got {model.positions!r}, {model.rotated!r}, d_latent={model.d_latent}, bos={config.bos}: leave one of "
            "the two out"
        )
    needed = long_contexts.tokens_needed(name, config.seq_len)
    if config.seq_len % 2 or needed > tokens:
        raise ArgumentError(
            f"measure: expected an even seq_len and at least {needed} tokens of validation for {name!r}, got "
            f"{config.seq_len} and {tokens}: shorten the window"
        )


def measure(config: RunConfig, learner: Learner, corpus: Any) -> dict[str, Any]:
    """Everything that the run asks for, by name; an empty dictionary where it asks for nothing."""
    found = {}
    for name in config.measure:
        if name == "halves":
            found[name] = projection_shares.linear_shares(learner.model, seed=config.seed)
        elif name == "projected":
            found[name] = projection_shares.projected(config, learner, corpus)
        elif name == "longer texts":
            found[name] = long_contexts.longer_texts(config, learner, corpus)
        elif name == "stream":
            found[name] = long_contexts.stream(config, learner, corpus)
        elif name.startswith("shift"):
            found[name] = shifted_windows(config, learner, corpus, windows=int(name.split()[1]))
        else:
            found[name] = longer_windows(config, learner, corpus, length=int(name.split()[1]))
    return found


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
    """The same weights in a model that reads windows of ``seq_len``: positions beyond training get their own angles."""
    longer = GPT(dataclasses.replace(model.config, seq_len=seq_len))
    longer.load_state_dict(copy.deepcopy(model.state_dict()))
    return longer


def _nats_by_place(logits: Tensor, targets: Tensor) -> Tensor:
    nats = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="none")
    return nats.view(targets.shape).sum(0, dtype=torch.float64)
