"""Chapter 13's small task: the content of the token one or two places ahead, as the word at hand says.

``python -m rope_lab.chapters.ch13_one_head.task`` makes the cards again, in some three minutes on one core.

>>> tokens, answers = sentences(2, length=6, generator=torch.Generator().manual_seed(0))
>>> tokens[0].tolist(), answers[0].tolist()
([12, 15, 5, 0, 3, 11], [5, 0, 0, 3, 3, -100])
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from rope_lab.chapters.ch13_one_head.offset_head import CONTENTS, OffsetHead, PositionScheme
from rope_lab.training.experiments.small_tasks import NO_ANSWER, SmallTask, fit, losses_of, share_right, write_cards

LENGTHS = (32, 64, 128, 256, 512)  # of the test sentences; training sees the first only
SCHEMES: dict[str, PositionScheme] = {
    "RoPE": "rope",
    "CRoPE": "crope",
    "absolute": "absolute",
    "absolute, moved": "absolute",
}


def sentences(
    count: int, *, length: int, generator: torch.Generator
) -> tuple[Int[Tensor, "count length"], Int[Tensor, "count length"]]:
    """Random tokens, and for each of them the content of the token one or two places on: NO_ANSWER past the end.

    Args:
        count: How many sentences.
        length: Tokens of each sentence.
        generator: Draws the tokens.

    Returns:
        The tokens, (count, length), int64, from 0 to 15: 0 to 7 ask for the next token, 8 to 15 for the one after.
        The answers, of the same shape and dtype, from 0 to 7, and NO_ANSWER (-100) where that token is missing.
    """
    tokens = torch.randint(2 * CONTENTS, (count, length), generator=generator)
    target = torch.arange(length) + 1 + tokens // CONTENTS
    content = (tokens % CONTENTS).gather(1, target.clamp(max=length - 1))
    return tokens, torch.where(target < length, content, NO_ANSWER)


def train_offsets(
    model: nn.Module, *, steps: int, length: int, rate: float = 0.003, batch: int = 32, starts: int = 1, seed: int = 0
) -> list[float]:
    """Train on fresh sentences of ``length`` tokens, ``batch`` at a time; returns the loss of every step, in nats.

    Args:
        model: From tokens, (batch, length), and `start`, the position of the first one, to logits, (batch, length, 8).
            It is trained in place.
        steps: Updates.
        length: Tokens of each sentence.
        rate: Adam's learning rate at the start; it falls to zero along a cosine.
        batch: Sentences for each update.
        starts: Each step's sentences begin at one position below this, drawn at random; 1 means that they begin at 0.
        seed: Of the sentences and of the positions where they begin.

    Returns:
        One float for each update: the mean loss in nats for each answer.
    """
    words, places = (torch.Generator().manual_seed(seed + 1000 * extra) for extra in (0, 1))

    def ask() -> tuple[Tensor, Tensor]:
        tokens, answers = sentences(batch, length=length, generator=words)
        return model(tokens, start=int(torch.randint(starts, (), generator=places))), answers

    return fit(model, ask, steps=steps, rate=rate)


@torch.no_grad()
def offset_accuracy(model: nn.Module, *, length: int, count: int = 16) -> float:
    """The share of right answers on fresh sentences, the same ones at every call.

    Args:
        model: From tokens, (count, length), to logits, (count, length, 8).
        length: Tokens of each sentence.
        count: How many sentences.

    Returns:
        A float from 0 to 1.
    """
    tokens, answers = sentences(count, length=length, generator=torch.Generator().manual_seed(10_000 + length))
    return share_right(model(tokens), answers)


@torch.no_grad()
def _validate(model: nn.Module, config: dict[str, Any]) -> dict[str, Any]:
    """Loss on sentences of the training length that training has not seen, a batch at a time."""
    generator = torch.Generator().manual_seed(20_000)
    batches = (sentences(32, length=config["length"], generator=generator) for _ in range(16))
    return losses_of((model(tokens), answers) for tokens, answers in batches)


TASK = SmallTask(
    experiment="one-head",
    corpus="next and next-next",
    classes=2 * CONTENTS,
    config={
        "task": "the content one or two places on, as the token says",
        "width": 64,
        "length": LENGTHS[0],
        "steps": 800,
        "batch": 32,
        "rate": 0.01,
        "optimizer": "Adam, cosine to zero",
        "lengths": list(LENGTHS),
        "sentences": 16,
    },
    # Below which position a training sentence may begin: "moved" sees every position of the longest test.
    variants={name: {"starts": 1} for name in SCHEMES} | {"absolute, moved": {"starts": LENGTHS[-1] - LENGTHS[0] + 1}},
    seeds=range(5),
    build=lambda variant, seed: OffsetHead(SCHEMES[variant], width=64, seed=seed),
    train=lambda model, config: train_offsets(
        model, **{name: config[name] for name in ("steps", "length", "rate", "batch", "starts", "seed")}
    ),
    validate=_validate,
    measure=lambda model: {"length": list(LENGTHS), "accuracy": [offset_accuracy(model, length=T) for T in LENGTHS]},
)

if __name__ == "__main__":
    write_cards(TASK)
