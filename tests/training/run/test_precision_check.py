"""A run that is slow for its precision alone is told so, and no other one is."""

import pytest
import torch

from rope_lab.training.run import precision_check


@pytest.fixture
def imitated(monkeypatch):
    """A CPU on which bfloat16 takes thirty times as long, and float16 as long as float32."""
    times = {torch.float32: 1e-3, torch.bfloat16: 3e-2, torch.float16: 1.5e-3}
    monkeypatch.setattr(precision_check, "_seconds", times.__getitem__)


@pytest.mark.usefixtures("imitated")
def test_what_is_imitated_is_said():
    assert "imitates bfloat16: a matrix product takes 30 times" in precision_check.advice("bfloat16", "cpu")


@pytest.mark.usefixtures("imitated")
@pytest.mark.parametrize(("precision", "device"), [("float32", "cpu"), ("float16", "cpu"), ("bfloat16", "cuda")])
def test_control_nothing_to_say(precision, device):
    assert precision_check.advice(precision, device) is None


def test_measuring_leaves_the_threads_as_they_were():
    before = torch.get_num_threads()
    assert precision_check.slowdown(torch.bfloat16) > 0
    assert torch.get_num_threads() == before
