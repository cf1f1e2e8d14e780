"""What learns: the model with its optimizer and arithmetic, and one step of it."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from rope_lab.errors import ArgumentError, checking_arguments
from rope_lab.nn.gpt import GPT, GPTConfig
from rope_lab.training.run.config import RunConfig
from rope_lab.training.run.distributed import Processes
from rope_lab.training.run.environment import why_not_compile
from rope_lab.training.run.validation import IGNORED

COMPILE_PAYS = 300  # steps from which compiling, half a minute the first time, is won back
MEMORY = 2 * 2**30  # bytes that a step's activations may take on a CPU: 16 x 1024 at 50k then stays below 8 GB


def model_config(config: RunConfig, *, vocab_size: int) -> GPTConfig:
    """The model of a run over a tokenizer of that size: with BOS one token more, padded as the run says.

    Raises:
        ArgumentError: a field that GPTConfig does not have, a value that it refuses, a size that the run decides, or
            one that no memory here holds.
    """
    known = {f.name for f in dataclasses.fields(GPTConfig)}
    if unknown := set(config.model) - known:
        raise ArgumentError(f"model: expected fields of GPTConfig ({', '.join(sorted(known))}), got {sorted(unknown)}")
    used, multiple = vocab_size + config.bos, config.vocab_multiple
    derived = {"vocab_size": -(-used // multiple) * multiple, "seq_len": config.seq_len + config.starts - 1}
    for name, value in derived.items():
        if (got := config.model.get(name, value)) != value:
            raise ArgumentError(f"model: expected {name}={value}, which the run decides, got {got}: leave it out")
    with checking_arguments():
        model = expect_memory(GPTConfig(**{**config.model, **derived}))  # before the tables of its angles are made
        _ = model.attention  # its shapes are checked where it is made
        return model


def micro_batch(model: GPTConfig, *, rows: int, memory: float) -> int:
    """The largest divisor of ``rows`` whose activations fit into ``memory`` bytes, at least 1.

    Counted for each token: logits, their gradient and softmax in float32, and what each block keeps for backward.
    """
    kept = 14 * model.d_model + 6 * model.hidden + 4 * model.n_heads * model.width
    row = model.seq_len * (16 * model.vocab_size + 4 * model.n_layers * kept)
    small = [n for n in range(1, math.isqrt(rows) + 1) if rows % n == 0]  # each divisor, or what it leaves, is small
    return max(n for each in small for n in (each, rows // each) if n * row <= memory or n == 1)


def expect_memory(model: GPTConfig, *, run: RunConfig | None = None, device: torch.device | None = None) -> GPTConfig:
    """Return ``model`` if its weights fit into this machine's memory, and with a ``run`` also what training adds.

    The count is a rough one, from below: what it refuses cannot be computed here.

    Raises:
        ArgumentError: it does not fit.
    """
    memory = _memory(device)
    matrices = 4 * model.d_model * model.n_heads * model.width + 2 * model.d_model * model.hidden
    count = model.vocab_size * model.d_model + model.n_layers * (matrices if model.d_latent is None else 1)
    tables = 8 * model.seq_len * (model.width if model.positions == "rotary" else model.d_model)
    for what, size in {
        f"about {count:.3g} parameters": count * (4 if run is None else 16),  # weight, gradient and two moments
        f"positions up to {model.seq_len:.3g}": tables,
        "the logits of one window of validation": 0 if run is None else 8 * run.seq_len * model.vocab_size,
        "the logits of a batch of validation": 0
        if run is None
        else 4 * (run.eval_batch_size or run.batch_size) * run.seq_len * model.vocab_size,
    }.items():
        if size > memory:
            raise ArgumentError(
                f"expected a run that fits into the {memory / 2**30:.3g} GiB of memory here, got {what}, which take "
                f"{size / 2**30:.3g}: choose smaller sizes (model, vocab_multiple, seq_len, starts, eval_batch_size)"
            )
    return model


def _memory(device: torch.device | None) -> float:
    if device is not None and device.type != "cpu":
        return torch.cuda.get_device_properties(device).total_memory
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows does not say
        return 2.0**42


class NextTokenLoss(nn.Module):
    """Mean cross entropy of the next token in nats; its log-softmax is float32 whatever autocast says."""

    def __init__(self, model: GPT) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensor, targets: Tensor, *, offset: int = 0) -> Tensor:
        return F.cross_entropy(self.model(inputs, offset=offset).float().flatten(0, 1), targets.flatten())


class Learner:
    """Model, optimizer and scaler of a run: ``step`` is one update, ``tensors`` and ``load`` move the state."""

    def __init__(self, config: RunConfig, model: GPTConfig, group: Processes, *, notice: Callable[[str], None]) -> None:
        self.config, self.group = config, group
        self.model = GPT(model, seed=config.seed).to(group.device)
        self.optimizer = _adamw(config, self.model)
        self.scaler = torch.amp.GradScaler(group.device.type, enabled=config.precision == "float16")
        memory = (
            MEMORY if group.device.type == "cpu" else 0.5 * torch.cuda.get_device_properties(group.device).total_memory
        )
        window = dataclasses.replace(model, seq_len=config.seq_len)  # what a step reads, wherever it stands
        self.rows = micro_batch(window, rows=config.batch_size // group.world, memory=memory)
        self.compiled = _compiles(config, group.device.type, notice)
        self.loss: Any = NextTokenLoss(self.model)  # or what wraps it
        if group.world > 1:
            self.loss = DistributedDataParallel(self.loss)
        if self.compiled:
            anywhere = config.starts > 1  # one program for all first positions: neither a graph nor a shape for each
            alone = group.device.type == "cuda" and group.world == 1 and self.rows == config.batch_size
            graphs = alone and not anywhere
            self.loss = torch.compile(
                self.loss, dynamic=None if anywhere else False, mode="reduce-overhead" if graphs else None
            )

    def step(self, inputs: Tensor, targets: Tensor, *, lr: float, offset: int = 0) -> Tensor:
        """One update from one batch, in as many micro-batches as memory asks for. The mean loss, left on the device.

        ``offset`` is the position of the first token of each window.
        """
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = lr
        parts = list(zip(inputs.split(self.rows), targets.split(self.rows), strict=True))
        total = torch.zeros((), device=self.group.device)
        for i, (x, y) in enumerate(parts):
            wait = self.group.world > 1 and i + 1 < len(parts)  # gradients travel once, with the last part
            with self.loss.no_sync() if wait else contextlib.nullcontext():
                with self.autocast():
                    loss = self.loss(x, y, offset=offset) / len(parts)
                self.scaler.scale(loss).backward()
            total += loss.detach()
        self.scaler.unscale_(self.optimizer)
        if self.config.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip, foreach=True)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        return total

    @torch.no_grad()
    def nats(self, inputs: Tensor, targets: Tensor, *, model: GPT | None = None) -> Tensor:
        """The summed loss of a batch over the targets that are tokens. Never compiled: it is the same for all runs.

        ``model``: another one, judged in the same arithmetic.
        """
        with self.autocast():
            logits = (model or self.model)(inputs.to(self.group.device))
        targets = targets.to(self.group.device).flatten()
        return F.cross_entropy(logits.float().flatten(0, 1), targets, ignore_index=IGNORED, reduction="sum")

    def autocast(self) -> Any:
        """The precision of the matrix products."""
        dtype = getattr(torch, self.config.precision)
        return torch.autocast(self.group.device.type, dtype=dtype, enabled=dtype != torch.float32)

    def tensors(self, *, resumable: bool = True) -> dict[str, Tensor]:
        """The parameters by name and, to go on from there, the optimizer's moments and step count of each."""
        tensors: dict[str, Tensor] = {f"model.{name}": p for name, p in self.model.named_parameters()}
        for name, p in self.model.named_parameters() if resumable else ():
            tensors |= {f"adamw.{key}.{name}": value for key, value in self.optimizer.state[p].items()}
        return tensors

    @torch.no_grad()
    def load(self, tensors: dict[str, Tensor], scaler: dict[str, Any]) -> None:
        """Take up the state that ``tensors`` and the scaler gave."""
        self.scaler.load_state_dict(scaler)
        for name, p in self.model.named_parameters():
            p.copy_(tensors[f"model.{name}"])
            keys = [key for key in ("step", "exp_avg", "exp_avg_sq") if f"adamw.{key}.{name}" in tensors]
            self.optimizer.state[p] = {key: tensors[f"adamw.{key}.{name}"].to(p.device) for key in keys}


def _adamw(config: RunConfig, model: nn.Module) -> torch.optim.AdamW:
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    groups = [{"params": matrices, "weight_decay": config.weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=config.lr, betas=config.betas, eps=config.eps, fused=True)


def _compiles(config: RunConfig, device: str, notice: Callable[[str], None]) -> bool:
    if config.compile == "never" or (config.compile == "auto" and config.steps < COMPILE_PAYS):
        return False
    if (reason := why_not_compile(device)) is None:
        return True
    if config.compile == "always":
        raise ArgumentError(
            f"compile: expected torch.compile to work, found {reason}: install it, or set compile to 'auto'"
        )
    notice(f"not compiled: {reason}. The run is slower, and the same to within rounding")
    return False
