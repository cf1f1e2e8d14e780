"""A corpus and a run small enough to train in a blink, for the tests of the loop, and a small card."""

from dataclasses import dataclass, field

import numpy as np

from rope_lab.training.results.cards import Card
from rope_lab.training.run.config import RunConfig


@dataclass(frozen=True)
class TinyCorpus:
    """A noisy cycle through 29 tokens: something to learn, and never quite learned."""

    vocab_size: int = 29
    hashes: dict = field(default_factory=lambda: {"train": "tiny"})

    def _stream(self, length, seed):
        rng = np.random.default_rng(seed)
        steps = np.where(rng.random(length) < 0.8, 3, rng.integers(1, 29, length))
        return (np.cumsum(steps) % 29).astype(np.uint16)

    @property
    def train(self):
        return self._stream(2000, 0)

    @property
    def valid(self):
        return self._stream(301, 1)


MODEL = {"n_layers": 2, "n_heads": 2, "d_model": 16}


def tiny(**fields):
    """A run of 40 steps that validates and logs out of step with each other."""
    given = {"steps": 40, "seq_len": 16, "batch_size": 4, "lr": 3e-3, "log_every": 7, "eval_every": 15, "model": MODEL}
    return RunConfig(**{**given, **fields})


def found(outcome):
    """All that a card says of a run, apart from where and when it ran."""
    card = dict(outcome.card.__dict__)
    card.pop("volatile")
    return card


def weights(folder):
    """The bytes of the one tensor file in a run's folder."""
    (path,) = folder.glob("*.safetensors")
    return path.read_bytes()


def card(variant="RoPE", seed=0, loss=3.5, **changes):
    """A small whole card."""
    end = {"step": 20, "loss": loss, "sd": 0.1, "batches": 4}
    blocks = {
        "experiment": "demo",
        "rung": "cpu",
        "variant": variant,
        "seed": seed,
        "config": {"steps": 20, "seed": seed},
        "config_hash": "0123456789abcdef",
        "parameters": {"embedding": 3, "total": 3},
        "final": end,
        "best": dict(end),
        "data": {"corpus": "hands", "tokenizer": "word", "vocab_size": 7, "hashes": {"train": "ab"}},
        "curve": {"step": [10, 20], "train_loss": [4.0, 3.6], "valid_loss": [None, loss]},
        "volatile": {
            "commit": "",
            "date": "2026-01-01",
            "device": "cpu",
            "versions": {},
            "tokens_per_s": 1.0,
            "wall_s": 2.0,
            "threads": 1,
        },
    }
    return Card(**{**blocks, **changes})
