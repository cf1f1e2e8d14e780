"""An experiment to practise with: small enough for a lesson, on the text that comes with the package."""

from __future__ import annotations

from typing import Any

from rope_lab.training.experiments.catalogue import Experiment, make_runs

DEMO: dict[str, dict[str, Any]] = {
    "RoPE": {"positions": "rotary"},
    "sinusoids": {"positions": "absolute"},
    "NoPE": {"positions": "none"},
}


def demo(rung: str) -> Experiment | None:
    if rung != "cpu":
        return None
    runs = make_runs(
        "demo",
        rung,
        DEMO,
        seeds=(0,),
        settings={"": {}},
        model={"block": "llama", "n_layers": 2, "n_heads": 4, "d_model": 64, "base": 100.0},
        seq_len=64,
        batch_size=16,
        steps=400,
        lr=4e-3,
        schedule="cosine",
        warmup=20,
        precision="float32",
        eval_every=100,
        eval_tokens=16_384,
        eval_batch_size=64,
    )
    limits = "One seed and a few hundred steps: it shows how a sweep goes, and decides nothing."
    return Experiment("demo", rung, "Three ways to know positions, to practise with", limits, "NoPE", runs)


EXPERIMENTS = {"demo": demo}
