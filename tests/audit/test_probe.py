"""How a callable is called: the form that is chosen, the words of a refusal, and the rounding that is allowed."""

import numpy as np
import pytest
import torch

from rope_lab.audit.probe import Probe, RefusedError
from tests.audit.implementations import NoArray, in_torch, rotary


def for_torch_alone(x, positions):
    return x.unsqueeze_it(positions)


def test_a_refusal_is_that_of_the_library_that_was_tried_last():
    with pytest.raises(
        RefusedError, match=r"'Tensor' object has no attribute 'unsqueeze_it' \(called with torch float64"
    ):
        Probe(for_torch_alone, head_dim=4)


def test_a_wrong_answer_is_reported_before_a_refusal():
    def f(x, positions):  # noqa: ARG001 - a callable under test need not use its arguments
        if x.ndim == 4:
            raise ValueError("three axes wanted")
        return x[..., :2]

    with pytest.raises(RefusedError, match=r"returned shape \(6, 4, 2\), expected \(6, 4, 4\)"):
        Probe(f, head_dim=4)


def test_what_looks_like_an_array_and_cannot_be_read_is_refused_in_words():
    with pytest.raises(RefusedError, match="returned NoArray, which cannot be read: "):
        Probe(lambda x, n: NoArray(), head_dim=4)  # noqa: ARG005


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (5, 2), (3, 1)])
@pytest.mark.parametrize("rank", [2, 3])
def test_batch_and_heads_come_back_as_they_were(rank, shape):
    def f(x, n):
        if x.ndim != rank:
            raise ValueError(f"{rank} axes wanted")
        return rotary()(x, n)

    x, at = np.random.default_rng(0).normal(size=(*shape, 5, 4)), np.arange(5)
    np.testing.assert_array_equal(Probe(f, head_dim=4)(x, at), rotary()(x, at))


class Still(torch.nn.Module):
    def forward(self, x, positions):  # noqa: ARG002 - it answers numpy as well
        return x


def test_a_module_is_called_with_tensors_from_the_start():
    assert Probe(Still(), head_dim=4).form.startswith("torch float64")
    assert Probe(Still().forward, head_dim=4).form.startswith("numpy float64")  # the control


def narrow(given, returned):
    def f(x, positions):
        if x.dtype != given:
            raise TypeError(f"{given} only")
        return in_torch(rotary())(x.double(), positions).to(returned)

    return f


@pytest.mark.parametrize(
    ("given", "returned", "eps"),
    [
        (torch.float64, torch.float64, 2.0**-52),
        (torch.float64, torch.float32, 2.0**-23),
        (torch.bfloat16, torch.float32, 2.0**-7),
        (torch.float32, torch.float16, 2.0**-10),
    ],
)
def test_the_rounding_is_that_of_the_coarser_side(given, returned, eps):
    assert Probe(narrow(given, returned), head_dim=4).eps == eps


def test_infinity_is_refused_with_the_first_position_that_has_it():
    probe = Probe(lambda x, n: np.where(np.asarray(n)[:, None] > 8, np.inf, x), head_dim=4)
    with pytest.raises(RefusedError, match=r"NaN or infinity at position 9$"):
        probe(np.ones((1, 1, 4, 4)), [7, 9, 8, 30])
