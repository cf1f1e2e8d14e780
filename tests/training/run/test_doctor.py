"""The doctor finds a device that computes wrongly, and says of a sound one what it can do."""

from dataclasses import replace
from functools import partial

import pytest
import torch

from rope_lab.errors import ArgumentError
from rope_lab.nn.rotary import RotaryTable, rotary_table
from rope_lab.training.run import doctor
from tests.training.tiny import tiny

SPEEDS = {"float32": 1000.0, "bfloat16": 500.0, "float16": 900.0}


@pytest.fixture
def quick(monkeypatch):
    """A model of 16 channels, speeds without a clock, and no compiler."""
    run = tiny(precision="float32", compile="never", steps=3, warmup=2)
    monkeypatch.setattr(doctor, "RUN", run)
    monkeypatch.setattr(doctor, "_speed", lambda learner, _: SPEEDS[learner.config.precision])
    monkeypatch.setattr(doctor.environment, "why_not_compile", lambda _: "no C++ compiler (g++)")


def answers():
    return {found.name: found for found in doctor.examine("cpu")}


@pytest.mark.usefixtures("quick")
def test_a_sound_machine_is_fine():
    found = answers()
    assert all(each.fine for each in found.values())
    assert [each.state for each in found.values()] == [*["ok"] * 6, "slow", "ok", "absent"]
    assert found["bfloat16"].said.startswith("all gradients; 2.0 times as slow as float32; this machine imitates it")
    assert "0.90 times as fast" in found["float16"].said
    assert found["compiled"].said.startswith("no C++ compiler (g++); runs are not compiled")
    assert 0 < found["backward, float32"].error < found["backward, float32"].limit


@pytest.mark.usefixtures("quick")
def test_angles_in_float32_are_found(monkeypatch):
    def rounded(positions, config, **options):
        if options.get("dtype") == torch.float64:
            return rotary_table(positions, config, **options)
        angles = positions.float()[:, None] * torch.tensor(config.frequencies, dtype=torch.float32)
        return RotaryTable(angles.cos(), angles.sin(), config)

    monkeypatch.setattr(doctor, "rotary_table", rounded)
    found = answers()
    assert {name for name, each in found.items() if not each.fine} == {"tables of angles", "rotation"}
    assert "expected an error below 1e-06, got" in found["tables of angles"].said


@pytest.mark.usefixtures("quick")
def test_products_of_too_few_bits_are_found(monkeypatch):
    right = torch.nn.functional.linear

    def coarse(x, weight, bias=None):
        if x.dtype == torch.float32:  # the reference is float64 and stays as it is
            x, weight = x.bfloat16().float(), weight.bfloat16().float()
        return right(x, weight, bias)

    monkeypatch.setattr(torch.nn.functional, "linear", coarse)
    wrong = {name for name, each in answers().items() if not each.fine}
    assert wrong == {"forward, float32", "backward, float32", "three updates, float32"}


@pytest.mark.usefixtures("quick")
def test_a_question_that_raises_is_an_answer(monkeypatch):
    def broken(*_):
        raise RuntimeError("no kernel image is available\nfor this device")

    monkeypatch.setattr(doctor.Patient, "forward", broken)
    found = answers()["forward, float32"]
    assert (found.state, found.said) == ("wrong", "raised RuntimeError: no kernel image is available")


@pytest.mark.usefixtures("quick")
def test_the_compiled_model_is_compared_with_the_same_one_not_compiled(monkeypatch):
    monkeypatch.setattr(doctor.environment, "why_not_compile", lambda _: None)
    monkeypatch.setattr("rope_lab.training.run.learner.why_not_compile", lambda _: None)
    monkeypatch.setattr(torch, "compile", lambda module, **_: lambda x, y: 1.01 * module(x, y))
    found = answers()["compiled"]
    assert found.state == "wrong"
    assert found.error == pytest.approx(0.01, rel=1e-3)


@pytest.mark.usefixtures("quick")
def test_a_device_that_is_none():
    with pytest.raises(ArgumentError, match="device: expected cpu or cuda, got 'tpu'"):
        next(doctor.examine("tpu"))


def test_the_prediction_counts_multiplications():
    run = replace(doctor.RUN, steps=10)
    speed, size = 1000.0, doctor.VOCABULARY
    predict = partial(doctor.predicted_seconds, vocab_size=size, timed=(doctor.RUN, size))
    same = predict(run, speed)
    assert same == pytest.approx(10 * run.batch_size * run.seq_len / speed)  # its own model: tokens over speed
    assert predict(replace(run, steps=20), speed) == pytest.approx(2 * same)
    wide = {**run.model, "d_model": 256}
    assert 2 < predict(replace(run, model=wide), speed) / same < 4
    assert 0 < doctor.own_speed(tiny(compile="always"), vocab_size=64, device="cpu") < 1e9  # of its own steps


@pytest.fixture
def imitated(monkeypatch):
    """A CPU on which bfloat16 takes thirty times as long, and float16 as long as float32."""
    times = {torch.float32: 1e-3, torch.bfloat16: 3e-2, torch.float16: 1.5e-3}
    monkeypatch.setattr(doctor, "_seconds", times.__getitem__)


@pytest.mark.usefixtures("imitated")
def test_what_is_imitated_is_said():
    assert "imitates bfloat16: a matrix product takes 30 times" in doctor.advice("bfloat16", "cpu")


@pytest.mark.usefixtures("imitated")
@pytest.mark.parametrize(("precision", "device"), [("float32", "cpu"), ("float16", "cpu"), ("bfloat16", "cuda")])
def test_control_nothing_to_say(precision, device):
    assert doctor.advice(precision, device) is None


def test_measuring_leaves_the_threads_as_they_were():
    before = torch.get_num_threads()
    assert doctor.slowdown(torch.bfloat16) > 0
    assert torch.get_num_threads() == before
