"""Chapter 10's small task: how long ago did the bell ring, counted modulo seven? Three kinds of decay learn it.

``python -m rope_lab.chapters.ch10_complex_rnn.task`` makes the cards again, in about a minute and a half on one core.

>>> bells, answers = ring(4, length=20, generator=torch.Generator().manual_seed(0))
>>> tuple(bells.shape), tuple(answers.shape), int(answers.max())
((4, 20, 1), (4, 20), 6)
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from rope_lab.chapters.ch10_complex_rnn.diagonal_rnn import Decay, DiagonalRNN
from rope_lab.training.experiments.small_tasks import NO_ANSWER, SmallTask, fit, losses_of, share_right, write_cards

MODULUS = 7
PLACES = 16  # the bell rings at one of so many first steps
DECAYS: dict[str, Decay] = {"complex decay": "complex", "real decay": "real", "signed decay": "signed"}


def ring(
    count: int, *, length: int, generator: torch.Generator
) -> tuple[Float[Tensor, "count length 1"], Int[Tensor, "count length"]]:
    r"""Sequences with one 1 among zeros, in the first 16 places; the answers count the steps since then, modulo 7.

    $\text{answer}_t = (t - \text{when}) \bmod 7$ for $t \ge \text{when}$, and NO_ANSWER (-100) before.

    Args:
        count: How many sequences.
        length: Steps of each sequence.
        generator: Draws the place of each 1.

    Returns:
        The sequences, (count, length, 1), float32; the answers, (count, length), int64.
    """
    return _rung(torch.randint(min(PLACES, length), (count, 1), generator=generator), length)


def train_counting(
    model: nn.Module, *, steps: int, length: int, rate: float = 0.01, batch: int = 16, seed: int = 0
) -> list[float]:
    """Train on fresh sequences of ``length`` steps, ``batch`` at a time; returns the loss of every step, in nats.

    Args:
        model: From (batch, length, 1) to logits, (batch, length, 7). It is trained in place.
        steps: Updates.
        length: Steps of each sequence.
        rate: Adam's learning rate at the start; it falls to zero along a cosine.
        batch: Sequences for each update.
        seed: Of the sequences.

    Returns:
        One float for each update: the mean loss in nats for each answer.
    """
    generator = torch.Generator().manual_seed(seed)

    def ask() -> tuple[Tensor, Tensor]:
        bells, answers = ring(batch, length=length, generator=generator)
        return model(bells), answers

    return fit(model, ask, steps=steps, rate=rate)


@torch.no_grad()
def counting_accuracy(model: nn.Module, *, length: int, start: int = 0) -> float:
    """The share of right answers over every place of the bell, from ``start`` steps after it on.

    Args:
        model: From (16, length, 1) to logits, (16, length, 7); one sequence for each place of the bell.
        length: Steps of each sequence.
        start: How many steps after the bell the first counted answer stands; 0 counts all of them.

    Returns:
        A float from 0 to 1; NaN if no answer is left to count.
    """
    bells, answers = _rung(torch.arange(PLACES)[:, None], length, start=start)
    return share_right(model(bells), answers)


def _rung(when: Tensor, length: int, *, start: int = 0) -> tuple[Tensor, Tensor]:
    since = torch.arange(length) - when
    return (since == 0).float()[..., None], torch.where(since < start, NO_ANSWER, since % MODULUS)


@torch.no_grad()
def _validate(model: nn.Module, config: dict[str, Any]) -> dict[str, Any]:
    """Loss and accuracy with the bell at each of its places."""
    bells, answers = _rung(torch.arange(config["places"])[:, None], config["length"])
    losses = losses_of(zip(model(bells), answers, strict=True))
    return losses | {"accuracy": counting_accuracy(model, length=config["length"])}


TASK = SmallTask(
    experiment="complex-rnn",
    corpus="bell",
    classes=MODULUS,
    config={
        "task": "steps since the bell, modulo 7",
        "state": 16,
        "length": 128,
        "steps": 400,
        "batch": 16,
        "rate": 0.02,
        "optimizer": "Adam, cosine to zero",
        "places": PLACES,
    },
    variants={variant: {} for variant in DECAYS},
    seeds=range(5),
    build=lambda variant, seed: DiagonalRNN(1, 16, MODULUS, decay=DECAYS[variant], seed=seed),
    train=lambda model, config: train_counting(
        model, **{name: config[name] for name in ("steps", "length", "rate", "batch", "seed")}
    ),
    validate=_validate,
)

if __name__ == "__main__":
    write_cards(TASK)
