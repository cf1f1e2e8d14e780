"""The chaos run counts what it did, and a planted fault as worse; the figures of the page are those of a whole run."""

import contextlib
import json
import os
import sys
from collections import Counter
from types import SimpleNamespace

import pytest

from tests import chaos as module

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the kills and the full disk are those of Linux"),
    pytest.mark.xdist_group("chaos"),
]
STEPS = 40


@pytest.fixture(scope="module")
def chaos(tmp_path_factory):
    with module.started(tmp_path_factory.mktemp("chaos"), steps=STEPS) as found:
        yield found


@pytest.fixture(params=[True, False], ids=["a small disk", "small files"])
def disk(request, chaos, monkeypatch):
    if request.param and not chaos.mounted:
        pytest.skip("only the root of a machine can mount a file system")
    monkeypatch.setattr(chaos, "mounted", request.param)


@pytest.fixture
def on_the_way(chaos, monkeypatch):
    """The moment is two checkpoints on, and none of the clock: how busy a machine is must not decide what is tested."""
    indices = [folder / module.checkpoint.NAME for folder in (chaos.work / "killed", chaos.disk / "run")]

    def step():
        return max(json.loads(path.read_text()).get("step", 0) if path.exists() else 0 for path in indices)

    def until(_):
        wanted = step() + 2 * module.EVERY
        if wanted > STEPS:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)  # let it come to its end
        while step() < wanted <= STEPS:
            os.sched_yield()

    monkeypatch.setattr(module, "sleep", until)


@pytest.mark.usefixtures("on_the_way")
def test_a_kill_is_counted_and_leaves_no_trace(chaos):
    found = chaos.round(0, 1, chaos.kill)
    assert found["kills"] == found["resumed"] > 0
    assert not found["worse"]


@pytest.mark.usefixtures("disk", "on_the_way")
@pytest.mark.parametrize("kind", ["train_on_full", "streams_on_full", "pack_on_full"])
def test_a_full_disk_is_counted_and_loses_nothing(chaos, kind):
    found = next(found for seed in range(9) if (found := chaos.round(seed, 1, getattr(chaos, kind)))["full"])
    assert found["full"] == found["recovered"] > 0
    assert not found["worse"]


def test_flips_are_counted_each_once(chaos):
    found = chaos.round(0, 1, chaos.flips)
    assert found["flips"] == found["refused"] + found["repaired"] + found["same"] == module.FLIPS
    assert min(found["refused"], found["repaired"]) > 0


# Controls: a planted fault is worse


def worse(chaos, kind, capsys, said):
    assert any(chaos.round(seed, 1, kind)["worse"] for seed in range(9))
    assert said in capsys.readouterr().out


@pytest.mark.usefixtures("on_the_way")
def test_control_a_checkpoint_without_the_optimizer(chaos, capsys, monkeypatch):
    save = module.checkpoint.save

    def forgetful(folder, *, tensors, state):
        kept = {name: 0 * each if name.startswith("adamw.exp_avg.") else each for name, each in tensors.items()}
        save(folder, tensors=kept, state=state)

    monkeypatch.setattr(module.checkpoint, "save", forgetful)
    worse(chaos, chaos.kill, capsys, "another card than that of an unbroken run")


@contextlib.contextmanager
def in_place(path):
    """What `replacing` must not do: the old file is gone when the new one is begun."""
    with path.open("wb") as file:
        yield file


@pytest.mark.usefixtures("disk")
def test_control_a_pack_written_in_place(chaos, capsys, monkeypatch):
    monkeypatch.setattr("rope_lab.training.experiments.card_packs.replacing", in_place)
    worse(chaos, chaos.pack_on_full, capsys, "the file is neither the old nor the new")


@pytest.mark.usefixtures("disk")
def test_control_a_full_disk_that_is_no_error_of_ours(chaos, capsys, monkeypatch):
    monkeypatch.setattr("rope_lab.training.experiments.card_packs.FileError", RuntimeError)
    worse(chaos, chaos.pack_on_full, capsys, "status 70")


def test_control_streams_that_are_believed(chaos, capsys, monkeypatch):
    monkeypatch.setattr(module.corpora, "_seal", lambda *_: b"")
    worse(chaos, chaos.flips, capsys, "read with other numbers")


@pytest.mark.parametrize(("found", "status"), [({"kills": 2, "resumed": 2}, 0), ({"worse": 1}, 1)])
def test_the_figures_are_those_of_the_rounds(found, status, tmp_path, monkeypatch, capsys):
    now = iter([0.0, 1.0, 59.0, 61.0, 61.0, 61.0])
    stub = SimpleNamespace(round=lambda *_: Counter(found), mounted=False)
    monkeypatch.setattr(module, "started", lambda _: contextlib.nullcontext(stub))
    monkeypatch.setattr(module, "monotonic", lambda: next(now))
    assert module.main(1.0, 7, tmp_path / "chaos.json") == status
    figures = json.loads((tmp_path / "chaos.json").read_text())
    assert (figures["seed"], figures["seconds"], figures["rounds"]) == (7, 61, 2)
    assert figures["counts"] == {"minutes": 1, **{name: 2 * found.get(name, 0) for name in module.COUNTED}}
    assert "--seed 7" in capsys.readouterr().out


def test_the_figures_of_the_page_are_of_a_whole_run_that_found_nothing_worse():
    figures = json.loads(module.FIGURES.read_text())
    assert figures["seconds"] >= 600
    assert figures["counts"].keys() == {"minutes", *module.COUNTED}
    assert figures["counts"].pop("worse") == 0
    assert min(figures["counts"].values()) > 0
