"""The experiments on which of Q, K, V, O to rotate, as data."""

from __future__ import annotations

from typing import Any

from rope_lab.training.experiments.catalogue import Experiment, make_runs

PLACEMENTS: dict[str, dict[str, Any]] = {
    "NoPE": {"positions": "none"},
    **{letters: {"rotated": letters.lower()} for letters in ("Q", "K", "V", "O", "QK", "VO", "QKV", "QKVO")},
}
LLAMA = {"block": "llama", "n_layers": 4, "n_heads": 4, "d_model": 64, "base": 100.0}
_COSINE = {"schedule": "cosine", "betas": (0.9, 0.95), "clip": 1.0, "bos": True}
_WINDOW = 64
_PLACEMENTS_CPU = {
    "corpus": "wikitext-2",
    "tokenizer": "bpe-1024",
    "seq_len": _WINDOW,
    "batch_size": 16,
    "steps": 2000,
    "lr": 4e-3,
    "warmup": 50,
    "precision": "float32",
    "eval_every": 400,
    "eval_tokens": 131_072,
    "eval_batch_size": 64,
    "log_every": 20,
    **_COSINE,
}
_SHIFT = 8
ANYWHERE: dict[str, Any] = {  # windows begin anywhere, in training and where "shift 8" validates
    **_PLACEMENTS_CPU,
    "starts": _SHIFT * _WINDOW + 1,  # 0 and what the measure draws
    "measure": (f"shift {_SHIFT}",),
}
_PLACEMENTS_COLAB = {
    "corpus": "pg19-large",
    "tokenizer": "bpe-4096",
    "seq_len": 512,
    "batch_size": 32,
    "steps": 2000,
    "lr": 1e-3,
    "warmup": 100,
    "precision": "float16",
    "eval_every": 200,
    "log_every": 20,
    **_COSINE,
}
_PLACEMENTS_PAPER = {
    "corpus": "pg19-large",
    "tokenizer": "bpe-4096",
    "seq_len": 1024,
    "batch_size": 32,
    "steps": 1400,
    "lr": 6e-4,
    "warmup": 100,
    "eval_every": 100,
    "log_every": 20,
    **_COSINE,
}
_ALONE: dict[str, dict[str, Any]] = {"": {}}


def placements(rung: str) -> Experiment:
    shared, model, seeds = {
        "cpu": (_PLACEMENTS_CPU, LLAMA, range(5)),
        "colab": (_PLACEMENTS_COLAB, {"block": "llama", "n_layers": 8, "n_heads": 8, "d_model": 512}, (0,)),
        "paper": (_PLACEMENTS_PAPER, {"block": "llama", "n_layers": 12, "n_heads": 12, "d_model": 768}, range(3)),
    }[rung]
    limits = {
        "cpu": "A window of 64 tokens with base 100, both chosen, like the BOS token, after a first look at one seed. "
        "VO against K, and O and Q against NoPE, may stay undecided.",
        "colab": "One seed: an ordering without intervals.",
        "paper": "A tenth of the source's parameters, and one pass over 46 million tokens.",
    }[rung]
    runs = make_runs("placements", rung, PLACEMENTS, seeds=seeds, settings=_ALONE, model=model, **shared)
    return Experiment("placements", rung, "Rotation on which of Q, K, V, O: nine placements", limits, "NoPE", runs)


def placements_shifted(rung: str) -> Experiment | None:
    """The runs of ``placements`` again, validated also elsewhere than at the start: the plan's last list."""
    if rung != "cpu":
        return None
    name, measure = "placements-shifted", ("shift 8", "length 128", "length 256")
    shared = {**_PLACEMENTS_CPU, "measure": measure}
    runs = make_runs(name, rung, PLACEMENTS, seeds=range(5), settings=_ALONE, model=LLAMA, **shared)
    about = "Nine placements, validated also in windows that begin at random positions, and in longer windows"
    limits = "The setting of placements at this rung. All five seeds of placements are here again."
    return Experiment(name, rung, about, limits, "NoPE", runs)


def placements_anywhere(rung: str) -> Experiment | None:
    """The five placements that are not relative, trained where ``placements-shifted`` validates: anywhere.

    A relative placement learns the same from windows that begin elsewhere, but for rounding. QK stands for those four.
    """
    if rung != "cpu":
        return None
    name = "placements-anywhere"
    chosen = {variant: PLACEMENTS[variant] for variant in ("QK", "Q", "K", "V", "O", "QKV")}
    runs = make_runs(name, rung, chosen, seeds=range(5), settings=_ALONE, model=LLAMA, **ANYWHERE)
    about = "The placements that a shift changes, trained in windows that begin at random positions"
    limits = "The setting of placements-shifted, with its seeds, starts and texts. QK is the control: nothing changes."
    return Experiment(name, rung, about, limits, "QK", runs)


def placements_base(rung: str) -> Experiment | None:
    if rung != "cpu":
        return None
    chosen = {variant: PLACEMENTS[variant] for variant in ("NoPE", "V", "VO", "QK")}
    name, model = "placements-base1e4", {**LLAMA, "base": 1e4}
    runs = make_runs(name, rung, chosen, seeds=range(3), settings=_ALONE, model=model, **_PLACEMENTS_CPU)
    about = "The usual base 1e4 in a window of 64 tokens, where five of eight planes stay below half a turn"
    return Experiment(name, rung, about, "A foil to placements, for one question: V's sign.", "NoPE", runs)


def one_cache(rung: str) -> Experiment | None:
    """Chapter 9's two forms over a latent, and MQA, at 32 cached numbers for each token and layer; MHA caches 128."""
    if rung != "cpu":
        return None
    variants = {
        "MHA": {},
        "MQA": {"n_kv_heads": 1},  # a key and a value of 16 numbers
        "shared latent": {"d_latent": 32},  # key and value at once, turned and turned back
        "spliced latent": {"d_latent": 24, "d_rope": 8},  # without positions, and a rotary key beside it
    }
    runs = make_runs("one-cache", rung, variants, seeds=range(3), settings=_ALONE, model=LLAMA, **_PLACEMENTS_CPU)
    about = "What is cached: a shared latent whose output turns back, against MLA's splice, at equal cache bytes"
    limits = "Very small models, whose weights differ in number: the parameters stand beside the losses."
    return Experiment("one-cache", rung, about, limits, "spliced latent", runs)


EXPERIMENTS = {
    "placements": placements,
    "placements-shifted": placements_shifted,
    "placements-anywhere": placements_anywhere,
    "placements-base1e4": placements_base,
    "one-cache": one_cache,
}
