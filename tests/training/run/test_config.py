"""A run's config: its JSON, its name, its schedules."""

import dataclasses
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.training.run.config import FIELDS, RunConfig

CONFIGS = st.builds(
    RunConfig,
    experiment=st.sampled_from(["a", "b"]),
    variant=st.text(min_size=1, max_size=40),
    seed=st.integers(0, 9),
    lr=st.floats(1e-6, 1),
    steps=st.integers(1, 9),
    betas=st.tuples(st.floats(0, 0.9), st.floats(0, 0.99)),
    model=st.dictionaries(st.sampled_from(["d_model", "n_layers"]), st.integers(1, 4)),
    bos=st.booleans(),
)


@given(CONFIGS)
def test_json_and_back(config):
    assert RunConfig.from_json(config.to_json()) == config
    assert RunConfig.from_json(config.to_dict()).digest == config.digest
    assert RunConfig.from_json(json.dumps(config.to_dict(), sort_keys=True)).name == config.name


@given(CONFIGS, CONFIGS)
def test_two_runs_share_a_digest_only_when_they_are_one(one, other):
    assert (one.digest == other.digest) is (one == other)


def test_a_digest_outlives_new_fields_and_is_pinned():
    """A change of a default, or of how the digest is made, would rename every committed card: this test says so."""
    assert RunConfig().digest == "44136fa355b3678a"  # no field said
    run = RunConfig(experiment="crope-table1", variant="RoPE", seed=2, model={"rotated": "qk"}, lr=2e-3)
    assert run.name == "crope-table1-cpu-rope-s2-2eae513e"


def test_the_schedules():
    step = RunConfig(lr=1.0, schedule="step", decay=0.8, decay_every=1000, warmup=10)
    assert [step.learning_rate(s) for s in (0, 9, 999)] == [0.1, 1.0, 1.0]
    assert step.learning_rate(9999) == pytest.approx(0.8**9)
    cosine = RunConfig(lr=1.0, schedule="cosine", steps=100, warmup=20, final_lr=0.1)
    rates = [cosine.learning_rate(s) for s in range(100)]
    assert rates.index(max(rates)) in (19, 20)
    assert rates[60] == pytest.approx(0.55)
    assert rates[-1] == pytest.approx(0.1, abs=1e-3)
    assert all(a >= b for a, b in itertools.pairwise(rates[20:]))
    assert {RunConfig(schedule="constant", lr=0.5).learning_rate(s) for s in range(9)} == {0.5}


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"schedule": "linear"}, "one of constant, step, cosine, got 'linear'"),
        ({"steps": 0}, "at least 1, got 0"),
        ({"precision": "int8"}, "float32, bfloat16, float16"),
        ({"lr": 0.0}, "a finite number above zero, got 0.0"),
        ({"warmup": -1}, "zero or more, got -1"),
        ({"steps": "abc"}, "steps: expected a whole number, at least 1, got 'abc'"),
        ({"steps": 2.5}, "a whole number, at least 1, got 2.5"),
        ({"seed": True}, "a whole number, zero or more, got True"),
        ({"lr": None}, "lr: expected a finite number"),
        ({"lr": float("inf")}, "finite number above zero, got inf"),
        ({"betas": 3}, "betas: expected two numbers from 0 to below 1, got 3"),
        ({"betas": (0.9,)}, "two numbers"),
        ({"betas": (0.9, 1.0)}, r"betas: expected two numbers from 0 to below 1, got \(0.9, 1.0\)"),
        ({"eps": -1e-8}, "eps: expected a finite number, zero or more"),
        ({"experiment": "../elsewhere"}, r"experiment: expected the name of a folder.*, got '../elsewhere'"),
        ({"rung": "a\\b"}, "rung: expected the name of a folder"),
        *(
            ({name: at}, f"{name}: expected the name of a folder")
            for name in ("experiment", "rung")
            for at in ("", ".", "..")
        ),
        ({"experiment": "a\0b"}, "experiment: expected the name of a folder"),
        *(({"steps": 10**digits}, "steps x batch_size of at most") for digits in (20, 400)),
        ({"batch_size": 10**9}, "steps x batch_size of at most"),
        ({"seq_len": 10**12}, "tokens in a step, got"),
        ({"eval_batch_size": 10**9}, "tokens in a step, got"),
        ({"lr": 10**400}, "lr: expected a finite number"),
        ({"decay": 1e300, "decay_every": 1}, "decay: expected finite learning rates"),
        ({"variant": "a" * 300}, "at most 200 bytes, got 3"),
        ({"setting": "s" * 250}, "at most 200 bytes"),
        ({"seed": 10**300}, "at most 200 bytes"),
        ({"model": {"d_model": 3j}}, "values that JSON can hold"),
        ({"model": 3}, "model: expected a block of fields"),
        ({"variant": 1}, "variant: expected a name"),
        ({"variant": ""}, "variant: expected a name: text that is not empty, got ''"),
        ({"bos": "no"}, "bos: expected true or false"),
    ],
)
def test_what_is_no_run_is_refused(fields, said):
    with pytest.raises(ValueError, match=said):
        RunConfig(**fields)


def test_every_field_has_its_kind():
    assert list(FIELDS) == [field.name for field in dataclasses.fields(RunConfig)]


def test_an_unknown_field_is_named_with_those_that_exist():
    with pytest.raises(ValueError, match=r"got learning_rte; did you mean \w+"):
        RunConfig.from_json({"learning_rte": 1})


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("text", ["[1]", "3", "null"])
def test_a_text_without_fields_is_refused(text):
    with pytest.raises(ValueError, match="as a JSON object, got"):
        RunConfig.from_json(text)


def test_a_config_cannot_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        RunConfig().lr = 1.0


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    "value",
    ["[" * 100_000, "9" * 5000, "[" * 900 + "]" * 900, '"\\ud800"', "\ud800"],
    ids=["deep", "digits", "nested", "half a character", "raw"],
)
def test_a_value_that_json_cannot_hold_is_a_text_or_refused(value):
    with pytest.raises(ValueError, match="expected"):
        RunConfig().changed([f"seed={value}"])
    with pytest.raises(ValueError, match="expected"):
        RunConfig.from_json('{"seed":' + value)
