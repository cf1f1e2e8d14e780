"""The small task of chapter 10 and its layer: equal to its own definition, fair between the variants, and learnable."""

import pytest
import torch

from rope_lab.nn.diagonal_rnn import MODULUS, QUIET, DiagonalRNN, accuracy, ring, train


def by_definition(layer, x):
    """h_t = rate h_(t-1) + scale B x_t, one step at a time in complex numbers; the read-out sees both parts."""
    scale = (1 - layer.gamma**2).sqrt()
    turning = layer.theta is not None
    rate = layer.gamma * (torch.exp(-1j * layer.theta) if turning else layer.sign)
    inputs = x @ layer.B
    inputs = torch.view_as_complex(inputs.unflatten(-1, (-1, 2))) if turning else inputs
    h, out = torch.zeros_like(inputs[:, 0]), []
    for t in range(x.shape[1]):
        h = rate * h + scale * inputs[:, t]
        seen = torch.view_as_real(h).flatten(-2) if turning else h
        out.append(seen @ layer.C + layer.b)
    return torch.stack(out, dim=1)


@pytest.mark.parametrize("decay", ["complex", "real", "signed"])
def test_the_layer_is_its_definition(decay):
    layer = DiagonalRNN(3, 8, 5, decay=decay, seed=1).double()
    x = torch.randn(2, 40, 3, dtype=torch.float64)
    torch.testing.assert_close(layer(x), by_definition(layer, x))


def test_control_another_turn_is_another_layer():
    layer = DiagonalRNN(3, 8, 5, decay="complex", seed=1).double()
    x = torch.randn(2, 40, 3, dtype=torch.float64)
    before = layer(x)
    with torch.no_grad():
        layer.theta.neg_()
    assert (layer(x) - before).abs().max() > 1e-3


def test_all_variants_have_equally_many_parameters():
    layers = (DiagonalRNN(1, 16, 7, decay=decay) for decay in ("complex", "real", "signed"))
    sizes = {sum(p.numel() for p in layer.parameters()) for layer in layers}
    assert len(sizes) == 1


def test_the_bell():
    bells, answers = ring(50, length=40, generator=torch.Generator().manual_seed(0))
    assert (bells.sum(1) == 1).all()
    for bell, answer in zip(bells[..., 0], answers, strict=True):
        when = int(bell.argmax())
        assert when < 16
        assert answer.tolist() == [QUIET] * when + [t % MODULUS for t in range(40 - when)]


class Always(torch.nn.Module):
    """Answers 0, whatever it hears."""

    def forward(self, x):
        return torch.eye(MODULUS)[torch.zeros(x.shape[:-1], dtype=torch.long)]


def test_accuracy_of_a_constant_is_a_seventh():
    assert accuracy(Always(), length=16 + 70) == pytest.approx(1 / 7, abs=0.01)


def test_a_turn_learns_what_no_real_decay_does():
    right = {}
    for decay in ("complex", "real"):
        layer = DiagonalRNN(1, 16, 7, decay=decay, seed=0)
        losses = train(layer, steps=150, length=48, rate=0.03)
        right[decay] = accuracy(layer, length=48)
        assert losses[-1] < losses[0]
    assert right["complex"] > 0.8 > 0.4 > right["real"]


@pytest.mark.usefixtures("untyped")
def test_an_unknown_decay_is_refused():
    with pytest.raises(ValueError, match='decay: expected "complex", "real" or "signed"'):
        DiagonalRNN(1, 8, 7, decay="quaternion")


def test_a_state_of_half_a_plane_is_refused_before_it_runs():
    assert DiagonalRNN(1, 3, 7, decay="real")(torch.ones(1, 4, 1)).shape == (1, 4, 7)  # the control
    with pytest.raises(ValueError, match="state: expected an even number of coordinates, two for each plane, got 3"):
        DiagonalRNN(1, 3, 7, decay="complex")
