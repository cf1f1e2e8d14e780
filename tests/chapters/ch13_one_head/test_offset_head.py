"""The head that looks ahead: equal to its definition, and fair between the schemes."""

import numpy as np
import pytest
import torch

from rope_lab.algebra import rotation, widely_linear
from rope_lab.chapters.ch13_one_head.offset_head import CONTENTS, OffsetHead


def words(count, length, *, seed=0):
    return torch.randint(2 * CONTENTS, (count, length), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("scheme", ["rope", "crope"])
def test_the_weights_are_the_softmax_of_rotated_logits(scheme):
    head = OffsetHead(scheme, width=16, seed=3).double()
    tokens = words(1, 9, seed=2)
    with torch.no_grad():
        x = head.embedding(tokens)[0]
        q, k = head.q(x).numpy(), head.k(x).numpy()
        found = head.float().weights(tokens)[0].numpy()
    at, theta = np.arange(9), rotation.frequencies(16)
    logits = rotation.logits(q, k, q_positions=at, k_positions=at, theta=theta, layout=head.rotary.layout) / 4
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert np.abs(found - expected).max() < 1e-5


@pytest.mark.parametrize("scheme", ["rope", "crope"])
def test_a_rotated_head_does_not_see_where_the_text_begins(scheme):
    head = OffsetHead(scheme, seed=1)
    tokens = words(2, 20)
    torch.testing.assert_close(head(tokens), head(tokens, start=77), rtol=0, atol=1e-4)


def test_control_an_absolute_head_does():
    head = OffsetHead("absolute", seed=1)
    tokens = words(2, 20)
    assert (head(tokens) - head(tokens, start=77)).abs().max() > 0.1


def test_the_complex_projections_are_complex_and_half_as_large():
    sizes = {
        scheme: sum(p.numel() for p in OffsetHead(scheme).parameters()) for scheme in ("rope", "crope", "absolute")
    }
    assert sizes["rope"] == sizes["absolute"] == sizes["crope"] + 64 * 64
    head = OffsetHead("crope")
    W = head.q.weight.detach().double().numpy()
    assert widely_linear.energies(W, layout=head.rotary.layout)[1] < 1e-12


def test_all_start_alike():
    heads = [OffsetHead(scheme, seed=5) for scheme in ("rope", "crope", "absolute")]
    for name in ("embedding", "v", "read_out"):
        first, *others = (getattr(head, name).weight for head in heads)
        assert all(torch.equal(first, other) for other in others)


@pytest.mark.usefixtures("untyped")
def test_an_unknown_scheme_is_refused():
    with pytest.raises(ValueError, match='scheme: expected "rope", "crope" or "absolute"'):
        OffsetHead("alibi")


@pytest.mark.parametrize("scheme", ["rope", "crope", "absolute"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_it_runs_in_the_dtype_and_on_the_device_that_it_was_moved_to(scheme, dtype):
    """ "meta" stands for a GPU: the angles are made where the tokens are."""
    model, tokens = OffsetHead(scheme, width=8), words(2, 5)
    there = model.to(dtype)(tokens)
    assert (there.dtype, there.shape) == (dtype, (2, 5, 8))
    assert model.to("meta")(tokens.to("meta")).device.type == "meta"
