"""The experiments of the plan (``book/plan.md``) as data; the first of them finds the learning rates."""

from __future__ import annotations

from typing import Any

from rope_lab.training.experiments.crope import SCHEMES, TABLE1_CPU
from rope_lab.training.experiments.definition import GPT2, Experiment, make_runs

RATES = (0.0005, 0.001, 0.002, 0.004, 0.008)  # a factor of two apart; the plan says when one more is added at an end
RATE_SEEDS = (0, 1, 2)  # they choose a rate; the plan's conclusions are drawn from others


def narrower(projections: int) -> dict[str, int]:
    """The MLP that saves what CRoPE saves in that many projections: d_model / 4 hidden units for each.

    A tied projection saves d_model^2 / 2 weights, a hidden unit has 2 d_model.

    >>> narrower(4)
    {'mlp_width': 384}
    """
    width = GPT2["d_model"]
    return {"mlp_width": 4 * width - projections * width // 4}


VARIANTS: dict[str, dict[str, Any]] = {
    "RoPE": SCHEMES["RoPE"],
    "CRoPE QKV": SCHEMES["CRoPE QKV"],
    "CRoPE QKVO": SCHEMES["CRoPE QKVO"],
    "RoPE, size of QKV": {**SCHEMES["RoPE"], **narrower(3)},
    "RoPE, size of QKVO": {**SCHEMES["RoPE"], **narrower(4)},
    "absolute scaled": SCHEMES["absolute scaled"],
}


def rates(rung: str) -> Experiment | None:
    """Every variant of the plan's comparisons at every rate, in the setting of ``crope-table1`` but in float32."""
    if rung != "cpu":
        return None
    name, shared = "crope-rates", {**TABLE1_CPU, "corpus": "wikitext-2", "precision": "float32"}
    settings = {f"WikiText-2, rate {rate:g}": {"lr": rate} for rate in RATES}
    runs = make_runs(name, rung, VARIANTS, seeds=RATE_SEEDS, settings=settings, model=GPT2, **shared)
    about = "The best learning rate of each variant: rates a factor of two apart, from both sides of the best"
    limits = "Three seeds choose a rate. What the variants are worth at their rates is for other seeds to say."
    return Experiment(name, rung, about, limits, "RoPE", runs)
