"""From a dense layer to the nearest complex-linear one, with what it loses, and back without loss."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import nn

from rope_lab.algebra.arguments import LAYOUTS, Layout
from rope_lab.nn.complex_linear import ComplexLinear
from rope_lab.nn.complex_planes import matrix_parts, plane_groups


class Converted(NamedTuple):
    """A complex-linear layer and how far it is from the dense layer that it came from."""

    layer: ComplexLinear
    residual: float


@torch.no_grad()
def from_dense(
    dense: nn.Linear,
    *,
    layout: Layout,
    in_heads: int = 1,
    out_heads: int = 1,
    product: str = "real",
    at_most: float | None = None,
) -> Converted:
    r"""The complex-linear layer whose matrix is nearest to that of ``dense``, and the share of the norm that is lost.

    $W \mapsto A = \tfrac12 (W - JWJ)$, residual $\lVert W - A \rVert_F / \lVert W \rVert_F$, from 0 (``dense`` was
    complex-linear) to 1 (it was conjugate-linear); a random matrix has about $1/\sqrt2$. No other complex-linear map
    is nearer, since the projection is orthogonal.

    Args:
        dense: the layer to convert. The new one takes over its dtype, device and bias.
        layout: which coordinates form a plane: that of the rotation.
        in_heads: how many heads the columns hold, if that side is split into heads.
        out_heads: how many heads the rows hold.
        product: how the new layer multiplies, one of `rope_lab.nn.complex_products.PRODUCTS`.
        at_most: refuse a larger residual: most often layout or number of heads is not that of the rotation.

    Raises:
        TypeError: if ``dense`` is not an ``nn.Linear``.
        ValueError: if its sides do not hold whole planes, if a weight is not finite, or if the residual is too large.

    Claims:
        `book.split`, `book.energies-add`

    >>> eye = nn.Linear(4, 4, bias=False)
    >>> _ = nn.init.eye_(eye.weight)
    >>> from_dense(eye, layout="half").residual
    0.0
    """
    if not isinstance(dense, nn.Linear):
        raise TypeError(f"dense: expected nn.Linear, got {type(dense).__name__}; wrap a matrix in a layer first")
    heads = {"in_heads": in_heads, "out_heads": out_heads}
    (a, b), residual = _nearest(dense, layout=layout, **heads)
    if at_most is not None and not residual <= at_most:
        other = LAYOUTS[1 - LAYOUTS.index(layout)]
        raise ValueError(
            f"expected a complex-linear matrix in the {layout} layout of {out_heads} x {in_heads} heads, at most "
            f"{at_most:g} from one, got {residual:.3g} ({_nearest(dense, layout=other, **heads)[1]:.3g} in the {other} "
            "layout): it does not commute with rotations of these planes. Give the layout it was built for, permute "
            "it with algebra.layouts.projection_permutation, or leave at_most out and take the nearest"
        )
    layer = ComplexLinear(
        dense.in_features, dense.out_features, layout=layout, bias=dense.bias is not None, product=product, **heads
    ).to(device=dense.weight.device, dtype=dense.weight.dtype)
    layer.a.copy_(a)
    layer.b.copy_(b)
    if layer.bias is not None:
        layer.bias.copy_(dense.bias)
    return Converted(layer.train(dense.training), residual)


@torch.no_grad()
def to_dense(layer: ComplexLinear) -> nn.Linear:
    """The dense layer with the same matrix and bias: the same function, free to leave the complex-linear maps.

    `from_dense` of it, in the same layout and heads, gives a and b back to the last bit, with residual 0.

    Args:
        layer: The layer to convert. The new one takes over its dtype, device and mode, training or not.

    Returns:
        An `nn.Linear` with tensors of its own, a bias among them if the layer has one.

    Raises:
        TypeError: If `layer` is not a `ComplexLinear`.

    >>> layer = ComplexLinear(4, 8, layout="interleaved")
    >>> back = from_dense(to_dense(layer), layout="interleaved")
    >>> torch.equal(back.layer.a, layer.a), back.residual
    (True, 0.0)
    """
    if not isinstance(layer, ComplexLinear):
        raise TypeError(f"layer: expected ComplexLinear, got {type(layer).__name__}; from_dense makes one")
    rows, columns = layer.weight.shape
    like = {"device": layer.a.device, "dtype": layer.a.dtype}
    dense = nn.utils.skip_init(nn.Linear, columns, rows, bias=layer.bias is not None, **like)
    dense.weight.copy_(layer.weight)
    if layer.bias is not None:
        dense.bias.copy_(layer.bias)
    return dense.train(layer.training)


def _nearest(dense: nn.Linear, *, layout: Layout, in_heads: int, out_heads: int) -> tuple[tuple, float]:
    """The nearest complex matrix, in float64, and its residual."""
    out_groups = plane_groups(dense.out_features, layout=layout, n_heads=out_heads)
    in_groups = plane_groups(dense.in_features, layout=layout, n_heads=in_heads)
    weight = dense.weight.double()
    largest = weight.abs().max().item()
    if not math.isfinite(largest):
        raise ValueError(f"dense: expected finite weights, got {largest}; look where the training diverged")
    linear, (c, d) = matrix_parts(weight, out_groups=out_groups, in_groups=in_groups)
    size = torch.linalg.vector_norm(weight / (largest or 1)).item()  # squares of what is huge or tiny have no float
    lost = torch.linalg.vector_norm(torch.stack((c, d)) / (largest or 1)).item()
    return linear, 2**0.5 * lost / size if size else 0.0  # each entry stands twice in the real matrix
