"""The experiments of chapters 19 and 20 as data, with the plan that was written before their runs.

A comparison is *primary* when a sentence of a chapter rests on it; everything else that the cards hold is
*exploratory*: it may raise a question, and decides nothing alone. All differences are paired by seed, with a 95 %
Student interval over three seeds; a difference whose interval holds zero is called undecided.

``longer-texts``: a small model of characters is trained in windows of 128 and read in windows of 1024. Every bin of 64
positions reads the same text, so bins differ in what stands before the text and in nothing else. *Inside* is the loss
at the positions 64 to 127, *beyond* the mean over the bins from position 128 on. Each schedule has the factor 8. Then
each is tuned for 64 steps in windows of 1024, at the last rate of the training and with as many tokens a step. A text
of the tuning has one length, for which dynamic NTK is NTK-aware, so dynamic NTK is read untuned only; and the two
controls are read as they were trained, since no schedule would slow a plane of theirs.

Primary, all of it the loss beyond:

1. RoPE as it was trained, minus its own loss inside. Expected above zero.
2. NTK-aware minus linear, before the tuning. Expected below zero.
3. YaRN with its attention factor minus YaRN without, before the tuning. No expectation.
4. NTK-aware minus linear, after the tuning. No expectation.
5. Two controls, each its loss beyond minus its loss inside: a model without positions, and RoPE with a base so small
   that every plane has turned fully within 128. No expectation for either; the second has met every angle, but no such
   offset.

Exploratory: all other schedules, dynamic NTK with keys that are kept as they were turned, and single bins.

``cache-stream``: the same RoPE models read four streams of 4,096 characters through a cache of 128, token by token; the
oldest token is dropped, and the keys move down. The ways differ in how the keys get to their new places, and all but
one keep what their deeper layers had read of dropped words.

Primary, all of it the mean loss over the second half of the streams:

1. keys turned anew at every step and stored in bfloat16, minus the same in float32. Expected above zero, and small: a
   key of this stream is turned at most 127 times before it is dropped.
2. keys turned anew in float32, minus everything recomputed from the last 128 characters. No expectation: the first has
   read words that the second has not.

Controls: a store of unturned keys must give the loss of the re-turned keys in float32 to its rounding; unturned keys in
bfloat16 show what rounding once costs; the ways by blocks of 64 hold fewer characters on average, so bfloat16 by blocks
is compared with float32 by blocks alone. Exploratory: the course of the loss along the stream.

``crope-stretched``, dated 2026-11-29 and written before its runs: RoPE and CRoPE QKV as in ``longer-texts``, at its one
rate, which was tuned for neither, five seeds. Primary, in nats per character, by the analysis of ``book/plan.md`` with
its margin of 0.02 and Holm's rule within each family; no expectation for any:

1. Stretched: what a text eight windows long costs after the tuning, the loss beyond minus the model's own loss inside
   as it was trained; CRoPE QKV minus RoPE, under linear, NTK-aware and YaRN.
2. Rounded: what W_q, W_k and W_v in 8 and in 4 bits cost, with one scale for each output (for a complex-linear
   projection each complex output): the loss minus that of the whole weights; CRoPE QKV minus RoPE, at 8 and at 4.

*Equivalent*, *better* or *worse* of all comparisons of a family is its answer; otherwise it is open. Exploratory: the
other schedules, and both losses inside.

Changed after the plan's first commit and before anything was read: 1,000 steps in place of 2,000, four streams in place
of one, and less text for the bins. The committed cards of ``cache-stream`` began at step 800 of the ``longer-texts``
runs of their seeds, whose training is the same; two such runs of seed 0 had agreed in every bit. All committed cards
were made before a rebase of the branch: each names the commit that has the same code and, beside it, the one that ran.
"""

from __future__ import annotations

from typing import Any

from rope_lab.training.experiments.catalogue import Experiment, make_runs

MODEL: dict[str, Any] = {"block": "llama", "n_layers": 4, "n_heads": 2, "d_model": 64}  # heads of 16 planes
SMALL_BASE = 20.0  # the slowest of 16 planes makes 1.2 turns in 128 positions
VARIANTS: dict[str, dict[str, Any]] = {"RoPE": {}, "NoPE": {"positions": "none"}, "small base": {"base": SMALL_BASE}}
TRAINED: dict[str, Any] = {
    "corpus": "tinyshakespeare",
    "tokenizer": "bpe-256",  # bytes: the text is ASCII, so characters
    "seq_len": 128,
    "batch_size": 16,
    "steps": 1000,
    "lr": 4e-3,
    "warmup": 50,
    "schedule": "cosine",
    "betas": (0.9, 0.95),
    "precision": "float32",
    "compile": "never",
    "eval_every": 250,
    "log_every": 20,
}
SEEDS = range(3)
_ALONE: dict[str, dict[str, Any]] = {"": {}}
_LIMITS = "Two hundred thousand parameters, two million characters, three seeds: "


def longer_texts(rung: str) -> Experiment | None:
    """RoPE, no positions, and a base so small that every plane turns: trained at 128, read at 1024."""
    if rung != "cpu":
        return None
    name = "longer-texts"
    runs = make_runs(
        name, rung, VARIANTS, seeds=SEEDS, settings=_ALONE, model=MODEL, measure=("longer texts",), **TRAINED
    )
    limits = _LIMITS + (
        "what it gains from a character a thousand places back is close to nothing, so it shows what a schedule "
        "spoils, hardly what a longer text is worth. Nothing follows for large models or factors above 8."
    )
    about = "Trained in a window of 128, read at 1024: every schedule of frequencies, before and after a short tuning"
    return Experiment(name, rung, about, limits, "RoPE", runs)


def cache_stream(rung: str) -> Experiment | None:
    """The RoPE runs of `longer_texts`, which then read a stream through a cache of one window."""
    if rung != "cpu":
        return None
    name = "cache-stream"
    runs = make_runs(
        name, rung, {"RoPE": {}}, seeds=SEEDS, settings=_ALONE, model=MODEL, measure=("stream",), **TRAINED
    )
    limits = _LIMITS + (
        "a key lives for 127 steps, so errors of turning cannot grow along the stream. Where keys live longer, or "
        "where a model leans on offsets more than this one, a rounded cache can cost more."
    )
    about = "Four streams of 4,096 characters through a cache of 128: how the keys get to their new places"
    return Experiment(name, rung, about, limits, "RoPE", runs)


def crope_stretched(rung: str) -> Experiment | None:
    """RoPE and CRoPE QKV of `longer_texts`, stretched in the same way; and their q, k and v in eight and four bits."""
    if rung != "cpu":
        return None
    name = "crope-stretched"
    schemes = {"RoPE": {}, "CRoPE QKV": {"complex_linear": "qkv"}}
    measure = ("longer texts", "rounded")
    runs = make_runs(name, rung, schemes, seeds=range(5), settings=_ALONE, model=MODEL, measure=measure, **TRAINED)
    limits = _LIMITS.replace("three", "five") + "one rate, tuned for neither; weights are rounded, not what they read."
    about = (
        "A trained CRoPE and a trained RoPE, read eight windows far after a short tuning, or with rounded projections"
    )
    return Experiment(name, rung, about, limits, "RoPE", runs)


EXPERIMENTS = {"longer-texts": longer_texts, "cache-stream": cache_stream, "crope-stretched": crope_stretched}
