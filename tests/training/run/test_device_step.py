"""No tensor that was made on the CPU reaches the step of a device: the meta device refuses to mix with another."""

import contextlib
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from rope_lab.training.data.batches import Batches
from rope_lab.training.run import learner as module
from rope_lab.training.run.distributed import Processes
from rope_lab.training.run.learner import Learner, model_config
from tests.training.tiny import MODEL, tiny

SCHEMES = {
    "RoPE": {},
    "complex-linear": {"complex_linear": "qkvo"},
    "absolute": {"positions": "absolute", "absolute": "embedding"},
    "values turn": {"block": "llama", "rotated": "qkvo"},
}


@pytest.fixture
def stand_in(monkeypatch):
    """A device without numbers, where the optimizer's fused kernel and autocast have no part."""
    memory = SimpleNamespace(total_memory=2**34)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: memory)
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: contextlib.nullcontext())
    monkeypatch.setattr(module, "_adamw", lambda _, model: torch.optim.AdamW(model.parameters(), foreach=False))
    return Processes(torch.device("meta"))


def made(group, **model):
    run = tiny(precision="float32", compile="never", clip=0.0, steps=3, starts=9, model={**MODEL, **model})
    learner = Learner(run, model_config(run, vocab_size=29), group, notice=print)
    stream = np.arange(200, dtype=np.uint16) % 29
    return learner, Batches(stream, seq_len=16, batch_size=4, steps=3, seed=0, device=group.device)


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_step_stays_on_its_device(stand_in, scheme):
    learner, batches = made(stand_in, **SCHEMES[scheme])
    assert learner.step(*batches[1], lr=1e-3).device.type == "meta"
    assert learner.step(*batches[1], lr=1e-3, offset=8).device.type == "meta"
    assert learner.nats(*batches[0]).device.type == "meta"


def test_control_a_tensor_left_on_the_cpu_is_found(stand_in):
    learner, batches = made(stand_in, positions="absolute", absolute="embedding")
    learner.model.norm.weight = torch.nn.Parameter(torch.ones_like(learner.model.norm.weight, device="cpu"))
    with pytest.raises(RuntimeError, match="device"):
        learner.step(*batches[0], lr=1e-3)
