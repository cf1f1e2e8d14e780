"""What a run does by what the machine can do: a graph, a program, or neither; a stand-in says what there is."""

from importlib import metadata
from types import SimpleNamespace

import pytest
import torch

from rope_lab.errors import ArgumentError
from rope_lab.training.run import environment
from rope_lab.training.run import learner as module
from rope_lab.training.run.distributed import Processes
from rope_lab.training.run.learner import COMPILE_PAYS, Learner, model_config
from tests.training.tiny import tiny


@pytest.fixture
def gpu(monkeypatch):
    """A GPU that only says what it has: the model stays where it was made, and compiling is noted down."""
    asked = []
    memory = SimpleNamespace(total_memory=2**34)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: memory)
    monkeypatch.setattr(module.GPT, "to", lambda self, _: self)
    monkeypatch.setattr(module, "why_not_compile", lambda _: None)
    monkeypatch.setattr(torch, "compile", lambda loss, **how: asked.append(how) or loss)
    return SimpleNamespace(asked=asked, memory=memory, group=Processes(torch.device("cuda")))


def made(gpu, notice=print, **fields):
    run = tiny(**{"precision": "bfloat16", "compile": "always", "steps": 3, **fields})
    return Learner(run, model_config(run, vocab_size=29), gpu.group, notice=notice)


def test_one_gpu_captures_its_step_as_a_graph(gpu):
    made(gpu)
    assert gpu.asked == [{"dynamic": False, "mode": "reduce-overhead"}]


def test_windows_that_begin_anywhere_have_one_program_and_no_graph(gpu):
    made(gpu, starts=9)
    assert gpu.asked == [{"dynamic": None, "mode": None}]


def test_a_batch_in_parts_has_no_graph(gpu):
    gpu.memory.total_memory = 1
    assert made(gpu).rows == 1
    assert gpu.asked == [{"dynamic": False, "mode": None}]


@pytest.mark.parametrize(("steps", "compiled"), [(COMPILE_PAYS - 1, False), (COMPILE_PAYS, True)])
def test_a_short_run_is_not_compiled_unless_it_is_asked_for(gpu, steps, compiled):
    assert made(gpu, compile="auto", steps=steps).compiled is compiled


def test_a_machine_that_cannot_compile_says_so(gpu, monkeypatch):
    monkeypatch.setattr(module, "why_not_compile", lambda _: "no triton")
    said = []
    assert not made(gpu, said.append, compile="auto", steps=COMPILE_PAYS).compiled
    assert said == ["not compiled: no triton. The run is slower, and the same to within rounding"]
    with pytest.raises(ArgumentError, match=r"expected torch\.compile to work, found no triton"):
        made(gpu)
    assert gpu.asked == []


@pytest.mark.parametrize(("device", "lacks"), [("cpu", None), ("cuda", "no triton")])
def test_what_a_device_lacks_for_compiling(device, lacks, monkeypatch, tmp_path):
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr(environment.shutil, "which", lambda _: "/usr/bin/g++")
    monkeypatch.setattr(environment.sysconfig, "get_paths", lambda: {"include": str(tmp_path)})

    def version(_):
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(environment.metadata, "version", version)
    assert environment.why_not_compile(device) == lacks
    monkeypatch.setattr(environment.metadata, "version", lambda _: "3.0")
    assert environment.why_not_compile(device) is None
    (tmp_path / "Python.h").unlink()
    assert environment.why_not_compile(device) == "no Python headers (Python.h)"
    monkeypatch.setattr(environment.shutil, "which", lambda _: None)
    monkeypatch.delenv("CXX", raising=False)
    assert ("no C++ compiler" in environment.why_not_compile(device)) is (device == "cpu")


@pytest.mark.parametrize(("maker_says", "name"), [("M5", "M5"), ("", "arm64")])
def test_a_processor_has_a_name_where_no_file_has_it(maker_says, name, monkeypatch):
    def absent(*_):
        raise FileNotFoundError

    monkeypatch.setattr(environment.Path, "read_text", absent)
    monkeypatch.setattr(environment.platform, "processor", lambda: maker_says)
    monkeypatch.setattr(environment.platform, "machine", lambda: "arm64")
    assert environment.cpu_name() == name
