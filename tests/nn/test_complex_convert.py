"""Dense to complex-linear and back: the nearest map, its residual, exact round trips, refusals with the reason."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from rope_lab.algebra import widely_linear
from rope_lab.nn.complex_convert import from_dense, to_dense
from rope_lab.nn.complex_linear import ComplexLinear
from rope_lab.nn.complex_planes import from_parts, matrix_from_parts, matrix_parts, plane_groups, to_parts

LAYOUTS = st.sampled_from(["half", "interleaved"])
SHAPES = st.fixed_dictionaries({"layout": LAYOUTS, "in_heads": st.integers(1, 3), "out_heads": st.integers(1, 3)})


def dense_for(shape, *, planes=2, bias=False, dtype=torch.float64, seed=0):
    torch.manual_seed(seed)
    return nn.Linear(2 * planes * shape["in_heads"], 4 * shape["out_heads"], bias=bias, dtype=dtype)


def groups(weight, shape):
    sizes = zip(("out_groups", "in_groups"), weight.shape, (shape["out_heads"], shape["in_heads"]), strict=True)
    return {name: plane_groups(size, layout=shape["layout"], n_heads=heads) for name, size, heads in sizes}


@given(SHAPES, st.integers(1, 3), st.integers(0, 99))
def test_split_and_rejoin_is_exact_and_agrees_with_the_algebra(shape, planes, seed):
    weight = dense_for(shape, planes=planes, seed=seed).weight.detach()
    where = groups(weight, shape)
    linear, conjugate = matrix_parts(weight, **where)
    assert (matrix_from_parts(linear, conjugate, **where) - weight).abs().max() < 1e-12
    A, B = widely_linear.complex_parts(weight.numpy(), **shape)
    for ours, theirs in ((linear, A), (conjugate, B)):
        assert np.abs(torch.complex(*ours).numpy() - theirs).max() < 1e-12


@given(st.sampled_from([1, 2, 3]), st.integers(1, 3), st.integers(0, 9))
def test_parts_and_back(groups, per_group, seed):
    x = torch.randn(2, 3, 2 * groups * per_group, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(from_parts(*to_parts(x, groups=groups), groups=groups), x)


@given(SHAPES, st.booleans(), st.sampled_from([torch.float32, torch.float64, torch.bfloat16]), st.integers(0, 99))
def test_to_dense_and_from_dense_gives_the_layer_back_to_the_last_bit(shape, bias, dtype, seed):
    torch.manual_seed(seed)
    layer = ComplexLinear(4 * shape["in_heads"], 4 * shape["out_heads"], bias=bias, **shape).to(dtype).eval()
    dense = to_dense(layer)
    assert type(dense) is nn.Linear
    assert torch.equal(dense.weight, layer.weight)
    back, residual = from_dense(dense, product="gauss", at_most=0.0, **shape)
    assert residual == 0
    assert back.product == "gauss"
    assert not back.training
    for name, value in layer.state_dict().items():
        assert torch.equal(back.state_dict()[name], value)
        assert back.state_dict()[name].dtype == dtype


@given(SHAPES, st.integers(0, 99))
def test_no_complex_linear_map_is_nearer_and_the_residual_is_the_distance(shape, seed):
    dense = dense_for(shape, seed=seed)
    layer, residual = from_dense(dense, **shape)
    size = dense.weight.norm()
    assert residual == pytest.approx((dense.weight - layer.weight).norm().item() / size.item(), rel=1e-9)
    assert residual**2 == pytest.approx(
        widely_linear.energies(dense.weight.detach().numpy(), **shape)[1] / size.item() ** 2, rel=1e-9
    )
    with torch.no_grad():  # any step away is a step away from the dense matrix, at a right angle
        step = torch.randn_like(layer.a)
        layer.a.add_(step)
        away = (dense.weight - layer.weight).square().sum().item()
        assert away == pytest.approx((residual * size.item()) ** 2 + 2 * step.square().sum().item(), rel=1e-9)


def test_the_residual_of_a_random_matrix_of_a_conjugation_and_of_nothing():
    torch.manual_seed(0)
    dense = nn.Linear(256, 256, bias=False)
    assert from_dense(dense, layout="half").residual == pytest.approx(1 / math.sqrt(2), rel=0.01)
    with torch.no_grad():
        dense.weight.copy_(torch.diag(torch.tensor([1.0, -1.0]).repeat(128)))
    assert from_dense(dense, layout="interleaved").residual == pytest.approx(1, rel=1e-12)
    nn.init.zeros_(dense.weight)
    assert from_dense(dense, layout="half").residual == 0


@pytest.mark.usefixtures("untyped")
def test_a_layout_or_a_number_of_heads_that_does_not_fit_is_refused_with_the_reason():
    torch.manual_seed(0)
    dense = to_dense(ComplexLinear(8, 8, layout="interleaved"))
    assert from_dense(dense, layout="interleaved", at_most=1e-6).residual == 0
    with pytest.raises(ValueError, match=r"in the half layout.*0 in the interleaved.*does not commute with rotations"):
        from_dense(dense, layout="half", at_most=1e-6)
    with pytest.raises(ValueError, match="2 x 1 heads"):
        from_dense(to_dense(ComplexLinear(8, 8, layout="half")), layout="half", out_heads=2, at_most=1e-6)
    with pytest.raises(ValueError, match="use a multiple of 2"):
        from_dense(nn.Linear(4, 3), layout="half")
    nn.init.constant_(dense.weight, math.nan)
    with pytest.raises(ValueError, match="got nan"):
        from_dense(dense, layout="half", at_most=1e-6)
    with pytest.raises(TypeError, match=r"expected nn.Linear, got Parameter"):
        from_dense(dense.weight, layout="half")
    with pytest.raises(TypeError, match="expected ComplexLinear, got Linear"):
        to_dense(dense)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_the_residual_has_no_unit(size):
    """Squares of such weights have no float; the share of the norm is the same."""
    dense = nn.Linear(4, 6).double()
    wanted = from_dense(dense, layout="half").residual
    dense.weight.data *= size
    assert from_dense(dense, layout="half").residual == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(bad):
    dense = nn.Linear(4, 6)
    dense.weight.data[1, 2] = bad
    with pytest.raises(ValueError, match="dense: expected finite weights"):
        from_dense(dense, layout="half")
