"""The runs of chapters 19 and 20: three models whose positions alone differ, and the same RoPE model for the stream."""

from dataclasses import replace

from rope_lab.algebra.rotation import frequencies
from rope_lab.algebra.schedule import turns
from rope_lab.nn.gpt import GPTConfig
from rope_lab.training.experiments.catalogue import experiment

RUNS = experiment("longer-texts", "cpu").runs


def turned(variant):
    """Turns of each plane in the window of the training."""
    run = next(run for run in RUNS if run.variant == variant)
    model = GPTConfig(**run.model)
    return turns(run.seq_len, theta=frequencies(model.width, base=model.base))


def test_every_plane_of_the_small_base_turns_fully_in_training_and_most_of_the_usual_ones_do_not():
    assert turned("small base").min() > 1
    assert (turned("RoPE") < 1).sum() == 10
    assert turned("RoPE").max() == turned("small base").max()  # the fastest plane is the same


def test_three_seeds_of_three_models_that_differ_in_their_positions_only():
    assert {(run.variant, run.seed) for run in RUNS} == {
        (v, s) for v in ("RoPE", "NoPE", "small base") for s in range(3)
    }
    plain = {replace(run, variant="any", seed=0, model={}).digest for run in RUNS}
    assert len(plain) == 1
    changes = {run.variant: {k: v for k, v in run.model.items() if k not in RUNS[0].model} for run in RUNS}
    assert changes == {"RoPE": {}, "NoPE": {"positions": "none"}, "small base": {"base": 20.0}}


def test_the_stream_is_read_by_the_same_models():
    """Up to experiment and measure, so that the trained weights are the same to the last bit."""
    stream = experiment("cache-stream", "cpu").runs
    same = {"experiment": "same", "measure": ()}
    rope = [replace(run, **same) for run in RUNS if run.variant == "RoPE"]
    assert [replace(run, **same) for run in stream] == rope
