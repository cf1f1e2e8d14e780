"""The experiment of chapter 13 as data, and what runs it: one head looks ahead by as much as its word says.

``python -m rope_lab.training.experiments.offsets`` makes the cards again, in some three minutes on one core.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import statistics
import time
from pathlib import Path
from typing import Any

import torch

from rope_lab.nn import offset_head
from rope_lab.training.results import cards
from rope_lab.training.run import environment

EXPERIMENT, RUNG = "one-head", "cpu"
LENGTHS = (32, 64, 128, 256, 512)  # of the test sentences; training sees the first only
# What differs: the scheme, and below which position a training sentence may begin.
VARIANTS: dict[str, tuple[offset_head.Scheme, int]] = {
    "RoPE": ("rope", 1),
    "CRoPE": ("crope", 1),
    "absolute": ("absolute", 1),
    "absolute, moved": ("absolute", LENGTHS[-1] - LENGTHS[0] + 1),
}
SEEDS = range(5)
CONFIG: dict[str, Any] = {
    "task": "the content one or two places on, as the token says",
    "width": 64,
    "length": LENGTHS[0],
    "steps": 800,
    "batch": 32,
    "rate": 0.01,
    "optimizer": "Adam, cosine to zero",
    "lengths": list(LENGTHS),
    "sentences": 16,
}


def run(variant: str, seed: int) -> cards.Card:
    """Train one head and test it at every length. Within a seed all variants see the same sentences."""
    scheme, starts = VARIANTS[variant]
    config = CONFIG | {"variant": variant, "seed": seed, "starts": starts}
    model = offset_head.OffsetHead(scheme, width=config["width"], seed=seed)
    begin = time.monotonic()
    losses = offset_head.train(
        model,
        steps=config["steps"],
        length=config["length"],
        rate=config["rate"],
        batch=config["batch"],
        starts=starts,
        seed=seed,
    )
    wall = time.monotonic() - begin
    found = {"step": config["steps"], **_validate(model, config["length"])}
    shown = range(0, config["steps"], 20)
    return cards.Card(
        experiment=EXPERIMENT,
        rung=RUNG,
        variant=variant,
        seed=seed,
        config=config,
        config_hash=hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()[:16],
        data={
            "corpus": "next and next-next",
            "tokenizer": "none",
            "vocab_size": 2 * offset_head.CONTENTS,
            "hashes": {},
        },
        parameters={name: p.numel() for name, p in model.named_parameters()}
        | {"total": sum(p.numel() for p in model.parameters())},
        curve={"step": [step + 1 for step in shown], "train_loss": [round(losses[step], 5) for step in shown]},
        final=found,
        best=found,
        measured={"length": list(LENGTHS), "accuracy": [offset_head.accuracy(model, length=T) for T in LENGTHS]},
        volatile={
            "commit": environment.commit(),
            "date": dt.datetime.now(dt.UTC).isoformat("T", "seconds"),
            "device": environment.processor(),
            "versions": environment.versions(),
            "tokens_per_s": config["steps"] * config["batch"] * config["length"] / wall,
            "wall_s": wall,
            "threads": torch.get_num_threads(),
        },
    )


def _validate(model: offset_head.OffsetHead, length: int) -> dict[str, Any]:
    """Loss on sentences of the training length that training has not seen, a batch at a time."""
    generator, losses = torch.Generator().manual_seed(20_000), []
    with torch.no_grad():
        for _ in range(16):
            tokens, answers = offset_head.sentences(32, length=length, generator=generator)
            logits = model(tokens).flatten(0, 1)
            losses.append(
                torch.nn.functional.cross_entropy(logits, answers.flatten(), ignore_index=offset_head.NO_ANSWER).item()
            )
    return {"loss": statistics.fmean(losses), "sd": statistics.stdev(losses), "batches": len(losses)}


def main(folder: Path = cards.RESULTS / EXPERIMENT / RUNG) -> None:
    """All runs, seed by seed."""
    torch.set_num_threads(1)
    for seed in SEEDS:
        for variant in VARIANTS:
            card = run(variant, seed)
            cards.write(card, folder)
            shares = ", ".join(f"{share:.3f}" for share in card.measured["accuracy"])
            print(f"{variant}, seed {seed}: loss {card.loss():.4f}, right {shares}", flush=True)


if __name__ == "__main__":
    main()
