"""CRoPE's experiments as data: its tables, their other readings, and what it did not measure.

This file is longer than most because every setting of these experiments stands here and nowhere else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rope_lab.training.experiments.catalogue import GPT2, Experiment, make_runs

# Model fields of each scheme. The paper calls its baseline "absolute" and does not say at which scale: three readings.
SCHEMES: dict[str, dict[str, Any]] = {
    "RoPE": {},
    "CRoPE QKV": {"complex_linear": "qkv"},  # Eq 30 on Q, K, V: the savings of section 6.1
    "CRoPE QKVO": {"complex_linear": "qkvo"},  # the output projection halved too
    "half width": {"half_width": True},  # section 5.1 to the letter: real projections onto heads of half the width
    "absolute scaled": {"positions": "absolute", "absolute": "embedding"},
    "absolute vaswani": {"positions": "absolute", "absolute": "vaswani"},
    "absolute unit": {"positions": "absolute", "absolute": "unit"},
    "NoPE": {"positions": "none"},
}


def _pick(*chosen: str) -> dict[str, dict[str, Any]]:
    return {name: SCHEMES[name] for name in chosen}


_STEPPED = {"schedule": "step", "decay": 0.8, "weight_decay": 0.01}
# The cheapest setting in which the schemes' differences stand above the noise of the seeds.
TABLE1_CPU: dict[str, Any] = {
    "tokenizer": "bpe-1024",
    "seq_len": 256,
    "batch_size": 8,
    "steps": 500,
    "lr": 2e-3,
    "warmup": 50,
    "clip": 1.0,
    "decay_every": 50,
    "precision": "bfloat16",
    "eval_every": 100,
    "eval_tokens": 131_072,
    **_STEPPED,
}
# A word vocabulary keeps the head small; float16 is what a T4 multiplies fast.
_TABLE1_COLAB = {
    "tokenizer": "word-10000",
    "seq_len": 1024,
    "batch_size": 16,
    "steps": 3000,
    "lr": 1e-3,
    "clip": 1.0,
    "decay_every": 300,
    "precision": "float16",
    "eval_every": 150,
    "log_every": 25,
    **_STEPPED,
}
# What the paper says, and AdamW's defaults where it is silent. Validation is read every 100 steps, not every 20.
_TABLE1_PAPER = {
    "tokenizer": "gpt2",
    "vocab_multiple": 64,
    "seq_len": 1024,
    "batch_size": 16,
    "steps": 10_000,
    "lr": 1e-3,
    "clip": 0.0,
    "decay_every": 1000,
    "precision": "bfloat16",
    "eval_every": 100,
    "log_every": 50,
    **_STEPPED,
}
_WIKITEXT = {"WikiText-2": {"corpus": "wikitext-2"}}
_CORPORA = {**_WIKITEXT, "PTB": {"corpus": "ptb"}, "PG-19": {"corpus": "pg19"}}
_FIVE = _pick("RoPE", "CRoPE QKV", "CRoPE QKVO", "half width", "absolute scaled")


def table1(rung: str) -> Experiment:
    name, seeds, six = "crope-table1", (0, 1, 2), {**_FIVE, **_pick("absolute vaswani")}
    makers = {
        "cpu": lambda: make_runs(name, rung, six, seeds=seeds, settings=_WIKITEXT, model=GPT2, **TABLE1_CPU),
        "colab": lambda: make_runs(name, rung, _FIVE, seeds=seeds, settings=_WIKITEXT, model=GPT2, **_TABLE1_COLAB),
        "paper": lambda: make_runs(
            name, rung, six, seeds=seeds, settings=_CORPORA, model={**GPT2, "bias": True}, **_TABLE1_PAPER
        ),
    }
    limits = {
        "cpu": "One million tokens: an undertrained regime. It orders the schemes; whether CRoPE's gap closes with "
        "training, and PTB and PG-19, it cannot say.",
        "colab": "A word vocabulary and three tenths of the paper's steps, on WikiText-2 alone.",
        "paper": "The paper's subset of PG-19 is unknown, so that row cannot be the paper's to the digit.",
    }
    about = "CRoPE's Table 1: absolute positions, RoPE and CRoPE, final validation loss"
    return Experiment(name, rung, about, limits[rung], "RoPE", makers[rung]())


def table1_readings(rung: str) -> Experiment | None:
    name, readings = "crope-table1-readings", _pick("RoPE", "absolute unit", "NoPE")
    shared = {"cpu": TABLE1_CPU, "paper": _TABLE1_PAPER}.get(rung)
    if shared is None:
        return None
    model = {**GPT2, "bias": True} if rung == "paper" else GPT2
    runs = make_runs(name, rung, readings, seeds=(0, 1, 2), settings=_WIKITEXT, model=model, **shared)
    about = "Table 1's other readings: sinusoids of amplitude 1 on a small embedding, and no positions at all"
    return Experiment(name, rung, about, "The same as crope-table1 at this rung.", "RoPE", runs)


def table2(rung: str) -> Experiment:
    name, schemes = "crope-table2", _pick("RoPE", "CRoPE QKV", "absolute scaled")
    if rung != "cpu":
        schemes |= _pick("absolute vaswani")
    shared, batch, length, unit = {
        "cpu": (TABLE1_CPU, 1, 128, 400),
        "colab": (_TABLE1_COLAB, 2, 512, 300),
        "paper": (_TABLE1_PAPER, 2, 512, 1000),
    }[rung]
    steps = {"cpu": 4000, "colab": 3000, "paper": 10_000}[rung]
    row = {"corpus": "pg19", "batch_size": batch, "seq_len": length, "decay": 0.9}
    narrow = {"d_model": 64}
    settings = {  # row 1 is Table 1's PG-19 row
        "row 2": {**row, "decay_every": 2 * unit},
        "row 3": {**row, "decay_every": unit},
        "row 4": {**row, "decay_every": unit, "model": narrow},
    }
    every = steps // (5 if rung == "cpu" else 20)
    shared = {**shared, "steps": steps, "eval_every": every, "eval_tokens": 131_072, "eval_batch_size": 16}
    if rung == "colab":
        shared["tokenizer"] = "bpe-4096"
    model = {**GPT2, "bias": True} if rung == "paper" else GPT2
    runs = make_runs(name, rung, schemes, seeds=(0, 1, 2), settings=settings, model=model, **shared)
    about = "CRoPE's Table 2: smaller batch and length, slower decay, half the width, on PG-19"
    limits = "The paper does not say how many steps Table 2 took, nor which books it used."
    return Experiment(name, rung, about, limits, "RoPE", runs)


def table2_again(rung: str) -> Experiment | None:
    """Row 4 of `table2` as it was, also in its precision."""
    if rung != "cpu":
        return None
    name = "crope-table2-again"
    runs = tuple(replace(run, experiment=name) for run in table2(rung).runs if run.setting == "row 4")
    about = "Row 4 of Table 2 once more: two runs stood far from their neighbours"
    return Experiment(name, rung, about, "It says whether the two stand there again, not why.", "RoPE", runs)


def equal_parameters(rung: str) -> Experiment | None:
    """CRoPE's saving in Q, K, V, O is 2 d_model^2 a layer: exactly d_model hidden units of the MLP."""
    if rung != "cpu":
        return None
    hidden = 4 * GPT2["d_model"]
    wider, narrower = {"mlp_width": hidden + GPT2["d_model"]}, {"mlp_width": hidden - GPT2["d_model"]}
    variants = {
        "RoPE": SCHEMES["RoPE"],
        "CRoPE QKVO, wider MLP": {**SCHEMES["CRoPE QKVO"], **wider},
        "CRoPE QKVO": SCHEMES["CRoPE QKVO"],
        "RoPE, narrower MLP": {**SCHEMES["RoPE"], **narrower},
    }
    name = "crope-equal-parameters"
    runs = make_runs(name, rung, variants, seeds=(0, 1, 2), settings=_WIKITEXT, model=GPT2, **TABLE1_CPU)
    about = "Equal parameters instead of equal width: what CRoPE saves is spent on the MLP, or taken from RoPE's"
    return Experiment(name, rung, about, "One way to spend the saving, in an undertrained regime.", "RoPE", runs)


def longer(rung: str) -> Experiment | None:
    """Four times the steps of crope-table1's cpu rung, the schedule stretched with them.

    In float32: a CPU without bfloat16 arithmetic emulates it, and these runs would take hours each.
    """
    if rung != "cpu":
        return None
    steps = 4 * TABLE1_CPU["steps"]
    stretched = {"steps": steps, "decay_every": steps // 10, "eval_every": steps // 10, "precision": "float32"}
    shared = {**TABLE1_CPU, **stretched}
    name, schemes = "crope-longer", _pick("RoPE", "CRoPE QKV")
    runs = make_runs(name, rung, schemes, seeds=(0, 1, 2), settings=_WIKITEXT, model=GPT2, **shared)
    about = "Does CRoPE's deficit close with training? Four times the steps of Table 1's cpu rung"
    limits = "Four times a small budget is still far from the paper's. In float32, unlike Table 1 at this rung."
    return Experiment(name, rung, about, limits, "RoPE", runs)


def afterwards(rung: str) -> Experiment | None:
    """Table 1's models, asked more when they are trained: windows beyond training, and the halves of Q and K."""
    if rung != "cpu":
        return None
    name = "crope-afterwards"
    schemes = _pick("RoPE", "CRoPE QKV", "absolute scaled", "NoPE")
    shared = {**TABLE1_CPU, "measure": ("length 512", "length 1024")}
    more = {"RoPE": ("halves", "projected"), "NoPE": ("halves",)}  # without a rotation no plane of a head is special
    runs = tuple(
        replace(run, measure=(*run.measure, *more.get(run.variant, ())))
        for run in make_runs(name, rung, schemes, seeds=(0, 1, 2), settings=_WIKITEXT, model=GPT2, **shared)
    )
    about = "After training: longer windows, the halves of Q and K, and the loss of a model projected onto one half"
    return Experiment(name, rung, about, "Models of one million tokens: an undertrained regime.", "RoPE", runs)


EXPERIMENTS = {
    "crope-table1": table1,
    "crope-table1-readings": table1_readings,
    "crope-table2": table2,
    "crope-table2-again": table2_again,
    "crope-equal-parameters": equal_parameters,
    "crope-longer": longer,
    "crope-afterwards": afterwards,
}
