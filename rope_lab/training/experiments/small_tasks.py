"""The runner of small tasks, those of chapters 6, 7, 8, 10 and 13: fresh batches, one optimizer, one kind of card."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from rope_lab import chapters
from rope_lab.training.results import cards
from rope_lab.training.run import environment

SHOWN = 20  # every how many steps a card says the loss
NO_ANSWER = -100  # where nothing is asked: cross_entropy leaves it out
Asked = tuple[Tensor, Tensor]  # a model's logits for a fresh batch, (..., classes), and the answers, (...)


@dataclass(frozen=True)
class SmallTask:
    """An experiment whose runs take seconds: what they share, and what makes, trains and examines one model."""

    experiment: str
    corpus: str
    classes: int  # how many answers there are
    config: dict[str, Any]  # of every run
    variants: Mapping[str, dict[str, Any]]  # and what a variant adds to it
    seeds: range
    build: Callable[[str, int], nn.Module]  # from variant and seed
    train: Callable[[nn.Module, dict[str, Any]], list[float]]  # by a run's config; the loss of every step
    validate: Callable[[nn.Module, dict[str, Any]], dict[str, Any]]  # what the card says in the end
    measure: Callable[[nn.Module], dict[str, Any]] = lambda _: {}

    def run_config(self, variant: str, seed: int) -> dict[str, Any]:
        """The settings that decide a run; the hash of its card is made of them."""
        return self.config | self.variants[variant] | {"variant": variant, "seed": seed}


def small_tasks() -> dict[str, SmallTask]:
    """The small tasks of the book by experiment: the ``TASK`` of the rooms."""
    return {module.TASK.experiment: module.TASK for module in chapters.modules("task")}


def fit(model: nn.Module, ask: Callable[[], Asked], *, steps: int, rate: float) -> list[float]:
    """Train with Adam on what ``ask`` draws at each step, the rate falling to zero along a cosine.

    Returns:
        The loss of every step, in nats.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    for _ in range(steps):
        loss = cross_entropy(*ask())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def cross_entropy(logits: Tensor, answers: Tensor) -> Tensor:
    """Mean loss over the places where something is asked, in nats."""
    return nn.functional.cross_entropy(logits.flatten(0, -2), answers.flatten(), ignore_index=NO_ANSWER)


def share_right(logits: Tensor, answers: Tensor) -> float:
    """The share of right answers among the places where something is asked."""
    return float((logits.argmax(-1) == answers)[answers != NO_ANSWER].float().mean())


def losses_of(asked: Iterable[Asked]) -> dict[str, Any]:
    """The validation loss, its spread over the batches, and their number, as a card says them."""
    losses = [cross_entropy(logits, answers).item() for logits, answers in asked]
    return {"loss": statistics.fmean(losses), "sd": statistics.stdev(losses), "batches": len(losses)}


def config_hash(config: dict[str, Any]) -> str:
    """The hash that a card of this config has."""
    return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()[:16]


def run_task(task: SmallTask, variant: str, seed: int) -> cards.Card:
    """Train one model and say what came of it. Within a seed all variants see the same batches.

    Args:
        task: What the runs share, and how a model is made, trained and measured.
        variant: One of the task's variants.
        seed: Of the parameters and of the batches.

    Returns:
        The card, not yet written; its losses are in nats for each answer.

    Raises:
        KeyError: If the task has no such variant.
    """
    config = task.run_config(variant, seed)
    model = task.build(variant, seed)
    begin = time.monotonic()
    losses = task.train(model, config)
    wall = time.monotonic() - begin
    end = {"step": config["steps"], **task.validate(model, config)}
    shown = range(0, config["steps"], SHOWN)
    sizes = {name: p.numel() for name, p in model.named_parameters()}
    return cards.Card(
        experiment=task.experiment,
        rung="cpu",
        variant=variant,
        seed=seed,
        config=config,
        config_hash=config_hash(config),
        data={"corpus": task.corpus, "tokenizer": "none", "vocab_size": task.classes, "hashes": {}},
        parameters=sizes | {"total": sum(sizes.values())},
        curve={"step": [step + 1 for step in shown], "train_loss": [round(losses[step], 5) for step in shown]},
        final=end,
        best=end,
        measured=task.measure(model),
        volatile={
            "commit": environment.commit(),
            "date": dt.datetime.now(dt.UTC).isoformat("T", "seconds"),
            "device": environment.cpu_name(),
            "versions": environment.versions(),
            "tokens_per_s": config["steps"] * config["batch"] * config["length"] / wall,
            "wall_s": wall,
            "threads": torch.get_num_threads(),
        },
    )


def write_cards(task: SmallTask) -> None:
    """Make every run, seed by seed, on one thread; then its cards take the place of the committed ones."""
    torch.set_num_threads(1)
    new = []
    for seed in task.seeds:
        for variant in task.variants:
            new.append(card := run_task(task, variant, seed))
            print(f"{variant}, seed {seed}: loss {card.loss():.4f}", flush=True)
    cards.write_all(new, cards.places(task.experiment, "cpu")[1])
