"""SIGKILL at any moment, then resume: losses, curve and weights are those of an unbroken run, bit for bit."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rope_lab.training.run import checkpoint
from rope_lab.training.run.loop import train
from tests.training.tiny import TinyCorpus, found, tiny, weights

# One interpreter forks a child for each kill: every child trains in the same folder until it kills itself there.
KILLED = """
import os, signal, sys
sys.path.insert(0, {root!r})
from pathlib import Path
import torch._dynamo  # AdamW imports it when it is made: once here, and not in every child
from tests.training.tiny import TinyCorpus, tiny
from rope_lab.training.run import learner
from rope_lab.training.run.loop import train

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def at_step(n):  # n steps after the start of this child
    step, left = learner.Learner.step, [n]
    def dying(self, *batch, **how):
        left[0] -= 1
        return die() if left[0] == 0 else step(self, *batch, **how)
    learner.Learner.step = dying

def at_write(n, before):  # in the n-th file written: before it is renamed into place, or just after
    replace, left = Path.replace, [n]
    def dying(self, target):
        left[0] -= 1
        if left[0] == 0 and before:
            die()
        replace(self, target)
        if left[0] == 0:
            die()
    Path.replace = dying

for kill, how in {kills!r}:
    child = os.fork()
    if child == 0:
        {{"step": at_step, "write": at_write}}[kill](*how)
        train(tiny(), out={out!r}, corpus=TinyCorpus(), threads=1, checkpoint_every=6, progress=False)
        os._exit(7)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, status
"""
KILLS = [
    ("write", (1, True)),  # the very first index, which names the tensors to come, is half there
    ("write", (1, False)),  # it is there, and nothing else
    ("write", (3, True)),  # the very first checkpoint: its tensors are there, its index is not
    ("step", (4,)),  # before any checkpoint but the first
    ("step", (9,)),  # three steps after a checkpoint, in the middle of a point of the curve
    ("write", (5, True)),  # the tensors of a new checkpoint are half there
    ("write", (6, True)),  # the tensors are there and the index still names the old ones
    ("write", (6, False)),  # the index is there and the old tensors are not yet removed
    ("step", (1,)),  # at once
]


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the kills happen in forked children")
def test_kills_leave_no_trace_in_the_result(tmp_path):
    whole = train(tiny(), out=tmp_path / "whole", corpus=TinyCorpus(), threads=1, progress=False)
    root = str(Path(__file__).resolve().parents[3])
    script = KILLED.format(root=root, out=str(tmp_path / "killed"), kills=KILLS)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    at = checkpoint.load(tmp_path / "killed").state["step"]
    assert 6 <= at < 40  # the control: part of the way, saved by the children, and something left to do
    resumed = train(tiny(), out=tmp_path / "killed", corpus=TinyCorpus(), threads=1, progress=False)
    assert found(resumed) == found(whole)
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")
    assert len(list((tmp_path / "killed").iterdir())) == 3  # index, weights, card: the kills left nothing else
    assert resumed.card.volatile["starts"] > whole.card.volatile["starts"]


@pytest.mark.deep
def test_a_resumed_run_would_differ_without_the_optimizers_state(tmp_path):
    """The control of the test above: what a checkpoint must hold cannot be left out unnoticed."""
    whole = train(tiny(), out=tmp_path / "whole", corpus=TinyCorpus(), threads=1, progress=False)
    options = {"corpus": TinyCorpus(), "threads": 1, "progress": False}
    for _ in range(8):
        train(tiny(), out=tmp_path / "parts", time_budget_s=0, **options)
    saved = checkpoint.load(tmp_path / "parts")
    for name, tensor in saved.tensors.items():
        if name.startswith("adamw.exp_avg."):
            tensor.zero_()
    checkpoint.save(tmp_path / "parts", tensors=saved.tensors, state=saved.state)
    assert found(train(tiny(), out=tmp_path / "parts", **options)) != found(whole)


def test_sigterm_is_a_clean_stop(tmp_path, monkeypatch):
    from rope_lab.training.run import learner

    step = learner.Learner.step

    def asked(self, *batch, **how):
        os.kill(os.getpid(), signal.SIGTERM)
        return step(self, *batch, **how)

    monkeypatch.setattr(learner.Learner, "step", asked)
    outcome = train(tiny(), out=tmp_path, corpus=TinyCorpus(), threads=1, progress=False)
    assert (outcome.reason, outcome.step) == ("interrupted", 1)
    assert checkpoint.load(tmp_path).state["step"] == 1
