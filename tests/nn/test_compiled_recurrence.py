"""The loop is compiled where it can be; without numba, or without a folder for its code, nothing else changes."""

import inspect
import sys

import pytest
import torch

from rope_lab.nn.recurrence import compiled
from rope_lab.nn.recurrence.forms import decay_scan, linear_rnn
from tests.nn import peer


@pytest.fixture
def found_anew(monkeypatch):
    """Each call looks for numba again, and leaves what was compiled before where it is."""
    monkeypatch.setattr(compiled, "loops", compiled.loops.__wrapped__)


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    "call", [lambda v: linear_rnn(v, gamma=0.99, theta=[1.0, 0.2]), lambda v: decay_scan(v, gamma=0.99)]
)
@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_every_state_is_the_exact_one_rounded_once(call, batch):
    """In float64 all along, so in float32 it is the nearest number, but for the rare one halfway between two."""
    peer.load("numba")
    v = torch.randn(*batch, 5000, 4, generator=torch.Generator().manual_seed(0))
    found, exact = call(v)[0], call(v.double())[0].float()
    assert (found != exact).float().mean() < 1e-6


@pytest.mark.usefixtures("found_anew")
def test_control_without_numba_it_is_rounded_on_the_way(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert compiled.loops() is None
    v = torch.randn(5000, 4, generator=torch.Generator().manual_seed(0))
    found, exact = (linear_rnn(x, gamma=0.99, theta=[1.0, 0.2])[0].float() for x in (v, v.double()))
    assert (found != exact).float().mean() > 0.1
    torch.testing.assert_close(found, exact)


@pytest.mark.usefixtures("found_anew")
def test_without_a_folder_for_its_code(monkeypatch):
    numba = peer.load("numba")

    def refuse(*, cache=False, **_):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(numba, "njit", refuse)
    assert compiled.loops().real is inspect.unwrap(compiled._real)
    assert decay_scan(torch.ones(3, 2), gamma=0.5)[0][:, 0].tolist() == [1, 1.5, 1.75]
