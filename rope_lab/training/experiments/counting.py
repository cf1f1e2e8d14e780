"""The experiment of chapter 10 as data, and what runs it: three kinds of decay of one size learn to count a bell.

``python -m rope_lab.training.experiments.counting`` makes the cards again, in about a minute and a half on one core.
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

from rope_lab.nn import diagonal_rnn
from rope_lab.training.results import cards
from rope_lab.training.run import environment

EXPERIMENT, RUNG = "complex-rnn", "cpu"
VARIANTS: dict[str, diagonal_rnn.Decay] = {"complex decay": "complex", "real decay": "real", "signed decay": "signed"}
SEEDS = range(5)
CONFIG: dict[str, Any] = {
    "task": "steps since the bell, modulo 7",
    "state": 16,
    "length": 128,
    "steps": 400,
    "batch": 16,
    "rate": 0.02,
    "optimizer": "Adam, cosine to zero",
    "places": 16,
}


def run(variant: str, seed: int) -> cards.Card:
    """Train one model and say what it found. Within a seed all variants see the same bells."""
    config = CONFIG | {"variant": variant, "seed": seed}
    model = diagonal_rnn.DiagonalRNN(1, config["state"], diagonal_rnn.MODULUS, decay=VARIANTS[variant], seed=seed)
    begin = time.monotonic()
    losses = diagonal_rnn.train(
        model, steps=config["steps"], length=config["length"], rate=config["rate"], batch=config["batch"], seed=seed
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
        data={"corpus": "bell", "tokenizer": "none", "vocab_size": diagonal_rnn.MODULUS, "hashes": {}},
        parameters={name: p.numel() for name, p in model.named_parameters()}
        | {"total": sum(p.numel() for p in model.parameters())},
        curve={"step": [step + 1 for step in shown], "train_loss": [round(losses[step], 5) for step in shown]},
        final=found,
        best=found,
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


def _validate(model: diagonal_rnn.DiagonalRNN, length: int) -> dict[str, Any]:
    """Loss and accuracy with the bell at each of its places."""
    since = torch.arange(length) - torch.arange(CONFIG["places"])[:, None]
    answers = torch.where(since < 0, diagonal_rnn.QUIET, since % diagonal_rnn.MODULUS)
    with torch.no_grad():
        logits = model((since == 0).float()[..., None])
    losses = [
        torch.nn.functional.cross_entropy(x, y, ignore_index=diagonal_rnn.QUIET).item()
        for x, y in zip(logits, answers, strict=True)
    ]
    return {
        "loss": statistics.fmean(losses),
        "sd": statistics.stdev(losses),
        "batches": len(losses),
        "accuracy": diagonal_rnn.accuracy(model, length=length),
    }


def main(folder: Path = cards.RESULTS / EXPERIMENT / RUNG) -> None:
    """All runs, seed by seed."""
    torch.set_num_threads(1)
    for seed in SEEDS:
        for variant in VARIANTS:
            card = run(variant, seed)
            cards.write(card, folder)
            print(f"{variant}, seed {seed}: loss {card.loss():.3f}, accuracy {card.final['accuracy']:.3f}")


if __name__ == "__main__":
    main()
