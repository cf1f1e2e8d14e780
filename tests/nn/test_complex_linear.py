"""The complex-linear projection: equal to complex arithmetic, commuting with the rotation, half the weights."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from rope_lab.algebra import layouts
from rope_lab.nn.attention import AttentionConfig
from rope_lab.nn.complex_linear import ComplexLinear
from rope_lab.nn.complex_planes import from_parts, plane_groups, real_matrix, to_parts
from rope_lab.nn.complex_products import PRODUCTS, gauss_linear
from rope_lab.nn.rotary import Rotary, RotaryConfig

LAYOUTS = st.sampled_from(["half", "interleaved"])
SIZES = st.integers(1, 3)


def as_complex(x, *, layout, n_heads):
    """The planes of x as complex numbers, head by head."""
    if layout == "interleaved":
        return torch.complex(x[..., 0::2], x[..., 1::2])
    real, imaginary = x.unflatten(-1, (n_heads, 2, -1)).unbind(-2)
    return torch.complex(real, imaginary).flatten(-2)


@given(st.sampled_from([1, 2, 3]), SIZES, st.integers(0, 9))
def test_parts_and_back(groups, per_group, seed):
    x = torch.randn(2, 3, 2 * groups * per_group, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(from_parts(*to_parts(x, groups=groups), groups=groups), x)


def build(layout, in_heads, out_heads, planes, **options):
    layer = ComplexLinear(
        2 * planes * in_heads, 4 * out_heads, layout=layout, in_heads=in_heads, out_heads=out_heads, **options
    ).double()
    if layer.bias is not None:
        nn.init.normal_(layer.bias)
    return layer


@given(LAYOUTS, SIZES, SIZES, SIZES, st.sampled_from(list(PRODUCTS)), st.integers(0, 99))
def test_it_is_the_complex_product(layout, in_heads, out_heads, planes, product, seed):
    torch.manual_seed(seed)
    layer = build(layout, in_heads, out_heads, planes, product=product)
    x = torch.randn(5, 2 * planes * in_heads, dtype=torch.float64)
    expected = as_complex(x, layout=layout, n_heads=in_heads) @ torch.complex(layer.a, layer.b).T
    assert torch.allclose(as_complex(layer(x), layout=layout, n_heads=out_heads), expected, atol=1e-12)


@given(LAYOUTS, SIZES, SIZES, SIZES, st.booleans(), st.integers(0, 99))
def test_three_products_of_one_state_dict_have_the_same_values_and_gradients(
    layout, in_heads, out_heads, planes, bias, seed
):
    torch.manual_seed(seed)
    layers = [build(layout, in_heads, out_heads, planes, bias=bias, product=product) for product in PRODUCTS]
    x = torch.randn(2, 3, 2 * planes * in_heads, dtype=torch.float64, requires_grad=True)
    upstream = torch.randn(2, 3, 4 * out_heads, dtype=torch.float64)
    found = []
    for layer in layers:
        assert layer.load_state_dict(layers[0].state_dict()).missing_keys == []
        y = layer(x)
        found.append((y, *torch.autograd.grad(y, (x, *layer.parameters()), upstream)))
    for other in found[1:]:
        assert all(torch.allclose(u, v, atol=1e-12) for u, v in zip(found[0], other, strict=True))


def test_control_another_sign_in_gauss_is_seen(monkeypatch):
    layer, x = ComplexLinear(4, 4, layout="half", product="gauss"), torch.randn(3, 4)
    expected = layer(x)
    wrong = lambda real, imaginary, a, b: gauss_linear(real, imaginary, a, -b)  # noqa: E731
    monkeypatch.setattr("rope_lab.nn.complex_products.gauss_linear", wrong)
    assert (layer(x) - expected).abs().max() > 1e-2


@pytest.mark.parametrize("product", PRODUCTS)
def test_half_precision_goes_in_and_comes_out(product):
    torch.manual_seed(0)
    layer, x = ComplexLinear(16, 8, layout="half", bias=True, product=product), torch.randn(3, 16)
    exact = layer(x)
    found = layer.to(torch.bfloat16)(x.to(torch.bfloat16))
    assert found.dtype == torch.bfloat16
    assert torch.allclose(found.float(), exact, atol=0.05)


def test_gauss_rounds_more_than_one_real_matrix_and_not_much_more():
    torch.manual_seed(0)
    x, layer = torch.randn(256, 256), ComplexLinear(256, 256, layout="half")
    exact = layer.double()(x.double())
    layer = layer.float()

    def error(product):
        layer.product = product
        return ((layer(x) - exact).norm() / exact.norm()).item()

    assert error("real") < error("gauss") < 5 * error("real") < 1e-5


@given(SIZES, SIZES, SIZES, st.integers(0, 99))
def test_a_state_dict_means_the_same_in_both_layouts(in_heads, out_heads, planes, seed):
    """a and b count planes: only the order of the coordinates around them changes."""
    torch.manual_seed(seed)
    half, paired = (build(layout, in_heads, out_heads, planes) for layout in ("half", "interleaved"))
    paired.load_state_dict(half.state_dict())
    rows = layouts.projection_permutation(out_heads, 4)
    columns = layouts.projection_permutation(in_heads, 2 * planes)
    assert torch.equal(half.weight, paired.weight[rows][:, columns])


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_it_commutes_with_one_angle_for_all_planes_and_a_dense_layer_does_not(layout):
    torch.manual_seed(0)
    turn = Rotary(RotaryConfig(head_dim=8, base=1.0, layout=layout))  # base 1: every plane turns alike
    x = torch.randn(6, 8)

    def gap(layer):
        return (turn(layer(x)) - layer(turn(x))).abs().max().item()

    assert gap(ComplexLinear(8, 8, layout=layout)) < 1e-5
    assert gap(nn.Linear(8, 8, bias=False)) > 1e-2
    other = "half" if layout == "interleaved" else "interleaved"
    assert gap(ComplexLinear(8, 8, layout=other)) > 1e-2  # the wrong layout is an ordinary real layer to the rotation


def test_its_output_has_the_variance_of_a_dense_layer():
    torch.manual_seed(0)
    x = torch.randn(500, 512)
    dense, layer = nn.Linear(512, 512, bias=False), ComplexLinear(512, 512, layout="half")
    assert layer(x).var().item() == pytest.approx(dense(x).var().item(), rel=0.02)
    layer.reset_parameters(std=0.02)
    nn.init.normal_(dense.weight, std=0.02)
    assert layer(x).var().item() == pytest.approx(dense(x).var().item(), rel=0.02)
    # Control: a complex weight of that spread has real and imaginary parts of half its variance, and so has the output.
    layer.reset_parameters(std=0.02 / math.sqrt(2))
    assert layer(x).var().item() == pytest.approx(dense(x).var().item() / 2, rel=0.02)


@pytest.mark.parametrize(("n_in", "n_out"), [(512, 128), (128, 512)])
def test_so_has_the_gradient_of_its_input_and_every_coordinate_alone(n_in, n_out):
    torch.manual_seed(0)
    x, upstream = torch.randn(2000, n_in, requires_grad=True), torch.randn(2000, n_out)
    layer = ComplexLinear(n_in, n_out, layout="interleaved", out_heads=2)
    (gradient,) = torch.autograd.grad(layer(x), x, upstream)
    assert gradient.var().item() == pytest.approx(n_out / (3 * n_in), rel=0.05)
    assert layer(x).var(0).mean().item() == pytest.approx(1 / 3, rel=0.05)
    assert (layer(x).mean(0).abs() < 0.1).all()


def test_the_first_values_are_pinned():
    """Committed result cards come from them: a layer that drew otherwise would not repeat a run."""
    torch.manual_seed(0)
    layer = ComplexLinear(4, 4, layout="half")
    torch.manual_seed(0)
    first, second = (torch.empty(2, 2).normal_(std=1 / math.sqrt(12)) for _ in range(2))
    assert [name for name, _ in layer.named_parameters()] == ["a", "b"]
    assert torch.equal(layer.a, first)
    assert torch.equal(layer.b, second)


@given(st.sampled_from([2, 4, 8]), st.sampled_from([2, 6]), st.booleans())
def test_half_the_weights_and_a_whole_bias(n_in, n_out, bias):
    layer = ComplexLinear(n_in, n_out, layout="half", bias=bias)
    assert sum(p.numel() for p in layer.parameters()) == n_in * n_out // 2 + bias * n_out


@given(st.sampled_from([1, 2, 4]), st.sampled_from([1, 2]), st.integers(0, 99))
def test_the_matrix_lies_in_memory_as_it_always_did(out_groups, in_groups, seed):
    """By columns: the order decides in which order a product adds, and so the last bit of every committed run."""
    torch.manual_seed(seed)
    a, b = torch.randn(4, 6), torch.randn(4, 6)
    W = real_matrix(a, b, out_groups=out_groups, in_groups=in_groups)
    assert W.T.is_contiguous()
    rows = torch.stack([W.unflatten(0, (out_groups, 2, -1))[:, k].flatten(0, 1) for k in (0, 1)])  # real, imaginary
    parts = torch.stack([rows.unflatten(-1, (in_groups, 2, -1))[..., k, :].flatten(-2) for k in (0, 1)])
    assert torch.equal(parts, torch.stack((torch.stack((a, b)), torch.stack((-b, a)))))


def test_gradients_are_those_of_the_product():
    a, b = (torch.randn(2, 4, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(lambda a, b: real_matrix(a, b, out_groups=2, in_groups=4), (a, b))


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 99))
def test_gauss_needs_three_products_for_the_same_answer(n, m, seed):
    g = torch.Generator().manual_seed(seed)
    x, y, a, b = (torch.randn(s, generator=g, dtype=torch.float64) for s in ((3, m), (3, m), (n, m), (n, m)))
    expected = torch.complex(x, y) @ torch.complex(a, b).T
    assert torch.allclose(torch.complex(*gauss_linear(x, y, a, b)), expected)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("width", "options", "said"),
    [
        (6, {"layout": "half", "n_heads": 2}, "multiple of 4"),
        (6, {"layout": "split"}, "layout: expected \"interleaved\".*got 'split'"),
        (3, {"layout": "half"}, "takes two real ones, so use a multiple of 2"),
        (5, {"layout": "interleaved"}, "got 5"),
        (0, {"layout": "half"}, "width: expected a whole number of at least 1, got 0"),
        (-2, {"layout": "half"}, "got -2"),
        (4, {"layout": "half", "n_heads": 0}, "heads: expected a whole number of at least 1, got 0"),
    ],
)
def test_what_has_no_planes_is_refused(width, options, said):
    with pytest.raises(ValueError, match=said):
        plane_groups(width, **options)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(("width", "n_heads"), [(4.0, 1), (True, 1), ("4", 1), (4, 1.0), (4, True)])
def test_widths_and_heads_are_whole_numbers(width, n_heads):
    with pytest.raises(TypeError, match=r"(width|heads): expected a whole number of at least 1, got"):
        plane_groups(width, layout="half", n_heads=n_heads)


def test_a_layer_of_odd_or_no_size_or_of_an_unknown_product_is_refused():
    for n_in, n_out in ((3, 4), (4, 3), (0, 4), (4, 0)):
        with pytest.raises(ValueError, match="expected a w"):
            ComplexLinear(n_in, n_out, layout="half")
    with pytest.raises(ValueError, match="product: expected one of real, complex, gauss, got 'karatsuba'"):
        ComplexLinear(4, 4, layout="half", product="karatsuba")


@pytest.mark.parametrize("rotation", ["half", "interleaved"])
def test_a_layout_that_the_rotation_does_not_share_is_refused(rotation):
    other = "half" if rotation == "interleaved" else "interleaved"
    turn = RotaryConfig(head_dim=8, layout=rotation)
    fields = {"d_model": 16, "n_heads": 2, "head_dim": 8, "complex_linear": "q", "rotary": turn}
    assert AttentionConfig(layout=rotation, **fields)
    with pytest.raises(ValueError, match="over planes that the rotation does not turn"):
        AttentionConfig(layout=other, **fields)
