"""The loop is compiled where it can be; without numba, or without a folder for its code, nothing else changes."""

import sys

import numpy as np
import pytest
import torch

from rope_lab.nn import loop
from rope_lab.nn.linear_rnn import decay_scan, linear_rnn
from tests.nn import peer


@pytest.fixture
def fresh():
    loop.compiled.cache_clear()
    yield
    loop.compiled.cache_clear()


@pytest.mark.parametrize("call", [
    lambda v: linear_rnn(v, gamma=0.99, theta=[1.0, 0.2]), lambda v: decay_scan(v, gamma=0.99),
])  # fmt: skip
@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_every_state_is_the_exact_one_rounded_once(call, batch):
    """In float64 all along, so in float32 it is the nearest number, but for the rare one halfway between two."""
    peer.load("numba")
    v = torch.randn(*batch, 5000, 4, generator=torch.Generator().manual_seed(0))
    found, exact = call(v)[0], call(v.double())[0].float()
    assert (found != exact).float().mean() < 1e-6


@pytest.mark.usefixtures("fresh")
def test_control_without_numba_it_is_rounded_on_the_way(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert loop.compiled() is None
    v = torch.randn(5000, 4, generator=torch.Generator().manual_seed(0))
    found, exact = (linear_rnn(x, gamma=0.99, theta=[1.0, 0.2])[0].float() for x in (v, v.double()))
    assert (found != exact).float().mean() > 0.1
    torch.testing.assert_close(found, exact)


@pytest.mark.usefixtures("fresh")
def test_without_a_folder_for_its_code(monkeypatch):
    numba = peer.load("numba")
    njit = numba.njit

    def refuse(*, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(**options)

    monkeypatch.setattr(numba, "njit", refuse)
    v = torch.ones(3, 2)
    assert np.allclose(decay_scan(v, gamma=0.5)[0][:, 0], [1, 1.5, 1.75])
    assert loop.compiled() is not None
