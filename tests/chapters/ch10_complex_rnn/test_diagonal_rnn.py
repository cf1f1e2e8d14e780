"""The diagonal recurrent layer: equal to its own definition, and fair between the variants."""

import pytest
import torch

from rope_lab.chapters.ch10_complex_rnn.diagonal_rnn import DiagonalRNN


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


@pytest.mark.deep(keep=1)
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


@pytest.mark.usefixtures("untyped")
def test_an_unknown_decay_is_refused():
    with pytest.raises(ValueError, match='decay: expected "complex", "real" or "signed"'):
        DiagonalRNN(1, 8, 7, decay="quaternion")


def test_a_state_of_half_a_plane_is_refused_before_it_runs():
    assert DiagonalRNN(1, 3, 7, decay="real")(torch.ones(1, 4, 1)).shape == (1, 4, 7)  # the control
    with pytest.raises(ValueError, match="state: expected an even number of coordinates, two for each plane, got 3"):
        DiagonalRNN(1, 3, 7, decay="complex")


def test_inputs_and_read_out_start_with_the_spread_of_their_width():
    layer = DiagonalRNN(64, 256, 100, decay="complex")
    for drawn, width in ((layer.B, 64), (layer.C, 256)):
        assert abs(drawn.mean()) < 0.02 / width**0.5
        assert drawn.std().item() == pytest.approx(width**-0.5, rel=0.02)


def test_every_second_decay_is_negative_where_they_are_signed_and_nowhere_else():
    signs = {decay: DiagonalRNN(1, 8, 7, decay=decay).sign.tolist() for decay in ("complex", "real", "signed")}
    assert signs == {"complex": [1.0] * 4, "real": [1.0] * 8, "signed": [1.0, -1.0] * 4}
