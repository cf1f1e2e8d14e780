"""From a config to a result card: train, validate, save, stop and resume."""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, Protocol, overload, runtime_checkable

import numpy as np
import torch
from tqdm.auto import tqdm

from rope_lab.errors import ArgumentError, RopeLabError, printable
from rope_lab.nn.counts import count_parameters
from rope_lab.nn.gpt import GPT
from rope_lab.training.data import corpora
from rope_lab.training.data.batches import Batches
from rope_lab.training.data.tokenizers import Tokenizer, byte_pairs
from rope_lab.training.fields import is_whole
from rope_lab.training.files import clear_partials, exclusive
from rope_lab.training.results import cards
from rope_lab.training.run import checkpoint
from rope_lab.training.run.config import RunConfig
from rope_lab.training.run.distributed import Processes, processes
from rope_lab.training.run.environment import expect_threads
from rope_lab.training.run.learner import Learner, expect_memory, model_config
from rope_lab.training.run.measures import expect_measures, measure
from rope_lab.training.run.run_record import Record
from rope_lab.training.run.signals import stop_requests
from rope_lab.training.run.validation import validate


@runtime_checkable
class TokenStreams(Protocol):
    """What a run needs of a corpus: `rope_lab.training.data.corpora.load` gives one."""

    @property
    def train(self) -> np.ndarray: ...

    @property
    def valid(self) -> np.ndarray: ...

    @property
    def vocab_size(self) -> int: ...

    @property
    def hashes(self) -> Mapping[str, str]: ...


class NonFiniteLossError(RopeLabError, RuntimeError):
    """The loss became infinite or not a number. The message names the step and the config."""


@dataclass(frozen=True)
class RunOutcome:
    """How far a call to :func:`train` came."""

    reason: str  # "finished" | "time": the budget ran out | "interrupted": Ctrl-C or a request to terminate
    step: int  # updates made
    folder: Path  # where the checkpoint, and the card of a finished run, are
    card: cards.Card | None  # of a finished run

    @property
    def finished(self) -> bool:
        """Whether the run has its card."""
        return self.reason == "finished"


def train(
    config: RunConfig,
    *,
    out: str | Path,
    corpus: TokenStreams | None = None,
    device: str | None = None,
    threads: int | None = None,
    checkpoint_every: int = 200,
    time_budget_s: float | None = None,
    progress: bool = True,
) -> RunOutcome:
    """Train what ``config`` describes, in the folder ``out``, and write its result card there.

    A folder that holds a part of the same run is resumed, and ends with the losses, curve and weights that an unbroken
    run would have had: bit for bit on one CPU with the same threads and versions, while a GPU adds in no fixed order. A
    finished run returns its card. Ctrl-C stops cleanly after the step, a second one at once. Under ``torchrun`` the
    batch is shared by the processes. Apart from ``config``, no argument changes a result.

    Args:
        config: the run.
        out: the folder of its checkpoints and its card, for this run alone.
        corpus: its token streams; default: those of ``config.corpus``.
        device: "cpu" or "cuda"; default: a GPU where there is one.
        threads: those of torch; default: torch's own choice.
        checkpoint_every: steps between checkpoints.
        time_budget_s: seconds until a clean stop; default: no limit.
        progress: show a progress bar.

    Returns:
        How far the run came, and its card if it came to the end.

    Raises:
        CheckpointError: a full disk, an unwritable folder, another run's folder, or another process in it.
        NonFiniteLossError: the loss is infinite or not a number. What was saved before stays.
        ArgumentError: a config or an argument that cannot be used.
        CorpusError: a corpus that is absent or damaged.
    """
    if threads is not None:
        expect_threads(threads)
        torch.set_num_threads(threads)
    streams = corpora.load(config.corpus, tokenizer=config.tokenizer) if corpus is None else corpus
    if checkpoint_every < 1:
        raise ArgumentError(f"checkpoint_every: expected at least 1 step, got {checkpoint_every}")
    with processes(device) as group:
        return Run(config, Path(out), streams, group, progress).go(checkpoint_every, time_budget_s)


@overload
def load_model(folder: str | Path, *, tokenizer: Literal[False] = False) -> GPT: ...
@overload
def load_model(folder: str | Path, *, tokenizer: Literal[True]) -> tuple[GPT, Tokenizer]: ...
def load_model(folder: str | Path, *, tokenizer: bool = False) -> GPT | tuple[GPT, Tokenizer]:
    """The model of a run, with the weights that lie in its folder.

    Args:
        folder: The folder that the run was trained in, its `out`.
        tokenizer: Whether the run's tokenizer is wanted, too. One at word level is made from the run's corpus.

    Returns:
        The model on the CPU, with the weights of the run's last checkpoint; with ``tokenizer=True`` both.

    Raises:
        CheckpointError: If there is no run in the folder, or a damaged one.
        ArgumentError: If the run's config is not one that this version reads.
        CorpusError: If the tokenizer needs a corpus that is not here.
    """
    run, model = load_run(folder)
    return (model, tokenizer_of(run)) if tokenizer else model


def tokenizer_of(run: RunConfig) -> Tokenizer:
    """The tokenizer of a run; one at word level is made from the run's corpus."""
    return byte_pairs(run.tokenizer) or corpora.load(run.corpus, tokenizer=run.tokenizer).tokenizer


def load_run(folder: str | Path) -> tuple[RunConfig, GPT]:
    """The config of a run and its model, as `load_model` loads it."""
    if not isinstance(folder, str | os.PathLike):
        raise ArgumentError(f"folder: expected the folder of a run, got {type(folder).__name__}; give its path")
    saved = checkpoint.load(Path(folder), fields=("config", "vocab_size"))
    if saved is None:
        raise checkpoint.CheckpointError(
            f"{str(folder)!r}: expected a run, got no checkpoint there; train it there first"
        )
    run = RunConfig.from_json(saved.state["config"])
    size = saved.state["vocab_size"]
    if not is_whole(size) or not 1 <= size < 2**31:
        raise checkpoint.CheckpointError(f"{folder}: expected the size of a vocabulary, got {size!r:.80}")
    model = GPT(model_config(run, vocab_size=size), seed=run.seed)
    weights = {name.removeprefix("model."): t for name, t in saved.tensors.items() if name.startswith("model.")}
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise checkpoint.CheckpointError(f"{folder}: expected the weights of its config, got {error}") from error
    return run, model


class Run:
    """One run on its way. All that a checkpoint must hold is the learner, the record and the ``recent`` losses."""

    def __init__(self, config: RunConfig, out: Path, corpus: TokenStreams, group: Processes, progress: bool) -> None:
        model = expect_memory(model_config(config, vocab_size=corpus.vocab_size), run=config, device=group.device)
        expect_measures(config, model, tokens=len(corpus.valid))
        if config.batch_size % group.world:
            raise ArgumentError(f"expected a batch_size divisible by {group.world} processes, got {config.batch_size}")
        self.config, self.out, self.corpus, self.group = config, out, corpus, group
        self.card_file = cards.file_name(config.setting, config.variant, config.seed)
        self.hidden = not (progress and group.first)
        self.bos = corpus.vocab_size if config.bos else None
        # losses since the last point of the curve
        self.recent = torch.zeros(min(config.log_every, config.steps), device=group.device)
        self.starts = np.random.default_rng((config.seed, 1)).integers(config.starts, size=config.steps)
        self.batches = Batches(
            corpus.train,
            seq_len=config.seq_len,
            batch_size=config.batch_size,
            steps=config.steps,
            seed=config.seed,
            bos=self.bos,
            device=group.device,
            rank=group.rank,
            world=group.world,
        )

    def go(self, checkpoint_every: int, time_budget_s: float | None) -> RunOutcome:
        """Resume or begin, train to the end or to the first reason to stop, save."""
        with exclusive(self.out) if self.group.first else contextlib.nullcontext():
            return self._go(checkpoint_every, time_budget_s)

    def _go(self, checkpoint_every: int, time_budget_s: float | None) -> RunOutcome:
        deadline = math.inf if time_budget_s is None else time.monotonic() + time_budget_s
        saved = self._saved()
        if saved is not None and saved.state["card"] is not None:
            return self._finished(cards.Card(**saved.state["card"]))
        model = model_config(self.config, vocab_size=self.corpus.vocab_size)
        self.learner = Learner(
            self.config, model, self.group, notice=tqdm.write if self.group.first else lambda _: None
        )
        self.record = Record(self.config, None if saved is None else saved.state["record"])
        if saved is not None:
            self.learner.load(saved.tensors, saved.state["scaler"])
            self.recent.copy_(saved.tensors["recent"][: len(self.recent)])  # earlier versions kept log_every of them
        self._save()  # an unwritable folder is found out before the work, not after it
        steps = {"total": self.config.steps, "initial": self.record.step, "unit": "step"}
        with (
            stop_requests() as stop,
            tqdm(**steps, desc=printable(self.config.variant), disable=self.hidden) as self.bar,
        ):
            stopped = self._steps(checkpoint_every, stop.is_set, deadline)
            card = None if stopped else self._card()
            self._save(card)
        return self._finished(card) if card else RunOutcome(stopped, self.record.step, self.out, None)

    def _steps(self, checkpoint_every: int, stop: Callable[[], bool], deadline: float) -> str:
        """Train to the end, or to the first reason to stop, which is returned; "" at the end."""
        config, group, record = self.config, self.group, self.record
        for step in range(record.step, config.steps):
            with record.stopwatch:
                inputs, targets = self.batches[step]
                rate = config.learning_rate(step)
                loss = self.learner.step(inputs, targets, lr=rate, offset=int(self.starts[step]))
                self.recent[step % config.log_every] = loss
                record.step = done = step + 1
                end = done == config.steps
                log, save = end or done % config.log_every == 0, done % checkpoint_every == 0
                look = log or save or group.device.type == "cpu"  # elsewhere looking at a loss waits for the device
                if look:
                    self._require_finite()
            if log:
                self._log()
            self.bar.update()
            if end or (config.eval_every and done % config.eval_every == 0):
                self._validate()
            if save and not end:
                self._save()
            if look and not end and group.any(stop() or time.monotonic() > deadline):
                return "interrupted" if group.any(stop()) else "time"
        return ""

    def _require_finite(self) -> None:
        done = self.record.step
        losses = self.recent[: (done - 1) % self.config.log_every + 1].tolist()
        for step, loss in enumerate(losses, start=done - len(losses) + 1):
            if not math.isfinite(loss):
                raise NonFiniteLossError(self._not_finite(loss, f"at step {step}"))

    def _not_finite(self, loss: float, where: str) -> str:
        return (
            f"expected a finite loss, got {loss} {where} of {self.config.steps}; a smaller lr or a clip may help. "
            f"The config: {json.dumps(self.config.to_dict())}"
        )

    def _log(self) -> None:
        """Record a point of the training curve: the mean over the steps since the last one and over all processes."""
        count = (self.record.step - 1) % self.config.log_every + 1
        mean = (self.group.sum(self.recent[:count].double().mean()) / self.group.world).item()
        self.record.train_loss(mean)
        self.bar.set_postfix_str(f"loss {mean:.3f}, {self.record.tokens_per_s:,.0f} tokens/s", refresh=False)

    def _validate(self) -> None:
        config = self.config
        validation = validate(
            self.learner.nats,
            self.corpus.valid[: config.eval_tokens or None],
            seq_len=config.seq_len,
            batch_size=config.eval_batch_size or config.batch_size,
            bos=self.bos,
            group=self.group,
            report=lambda i, n: self.bar.set_postfix_str(f"validating {i}/{n}", refresh=i % 20 == 0),
        )
        if not math.isfinite(validation.loss):
            raise NonFiniteLossError(self._not_finite(validation.loss, f"in validation after step {self.record.step}"))
        self.record.validation(validation)

    def _card(self) -> cards.Card:
        config, learner = self.config, self.learner
        data = {
            "corpus": config.corpus,
            "tokenizer": config.tokenizer,
            "vocab_size": self.corpus.vocab_size,
            "hashes": dict(self.corpus.hashes),
        }
        how = {"processes": self.group.world, "compiled": learner.compiled, "micro_batch": learner.rows}
        parameters, measured = count_parameters(learner.model), measure(config, learner, self.corpus)
        return self.record.card(data=data, parameters=parameters, device=self.group.device, how=how, measured=measured)

    def _saved(self) -> checkpoint.Checkpoint | None:
        checkpoint.expect_free(self.out, card=self.card_file)
        saved = checkpoint.load(self.out, fields=("config", "vocab_size", "record", "scaler", "card"))
        if saved is not None and (got := RunConfig.from_json(saved.state["config"]).digest) != self.config.digest:
            raise checkpoint.CheckpointError(
                f"expected the run {self.config.digest} in {self.out}, found {got}: give each run a folder of its own"
            )
        self._expect_no_other_card()
        return saved

    def _expect_no_other_card(self) -> None:
        """Refuse a file under the name of the card to come that is not this run's card: it would be lost."""
        place = self.out / self.card_file
        try:
            other = os.path.lexists(place) and cards.read(place).config_hash != self.config.digest
        except cards.CardError:
            other = True
        if other:
            raise checkpoint.CheckpointError(
                f"{place}: expected the card of this run or no file, got another: move it aside, and start again"
            )

    def _save(self, card: cards.Card | None = None) -> None:
        """Save a checkpoint, or with a card the end of the run: weights alone, since nothing is left to resume."""
        if self.group.first:
            state = {
                "step": self.record.step,
                "config": self.config.to_dict(),
                "vocab_size": self.corpus.vocab_size,
                "record": self.record.to_dict(),
                "scaler": self.learner.scaler.state_dict(),
                "card": None if card is None else asdict(card),
            }
            tensors = self.learner.tensors(resumable=card is None)
            checkpoint.save(self.out, tensors=tensors | {"recent": self.recent}, state=state)
        self.group.wait()

    def _finished(self, card: cards.Card) -> RunOutcome:
        """Write the card; also of a run that was finished before, whose card's file may be gone."""
        if self.group.first:
            self._expect_no_other_card()
            checkpoint.clear(self.out)
            clear_partials(self.out / card.file_name)
            cards.write(card, self.out)
        return RunOutcome("finished", self.config.steps, self.out, card)
