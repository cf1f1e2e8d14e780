"""The complex-linear projection: a complex matrix acting on planes, in the form that a real layer runs."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from rope_lab.algebra.arguments import Layout, expect_one_of
from rope_lab.nn.complex_planes import plane_groups, real_matrix
from rope_lab.nn.complex_products import PRODUCTS
from rope_lab.nn.tensor_arguments import expect_floating, expect_weights


class ComplexLinear(nn.Module):
    r"""A linear layer that is complex-linear over the planes of its input and output: half a dense layer's weights.

    $\tilde y = (a + ib)\,\tilde x$, run as one real matrix through ``F.linear``, which costs what a dense layer costs.
    A plane is the pair of coordinates that the layout rotates together. a and b count planes, not coordinates, so they
    mean the same in both layouts (the bias does not).

    Args:
        in_features: width of x.
        out_features: width of y.
        layout: which coordinates form a plane: that of the rotation.
        in_heads: how many heads x holds, if it is split into heads as the rotation splits it.
        out_heads: how many heads y holds.
        bias: add a bias, which stays whole.
        product: how to multiply, one of `rope_lab.nn.complex_products.PRODUCTS`. It changes no parameter, so a state
            dict of one loads into another.

    Raises:
        ValueError: if a side does not hold whole planes, or if layout or product are unknown.

    Claims:
        `crope.half-params`

    >>> layer = ComplexLinear(8, 8, layout="half", out_heads=2)
    >>> sum(p.numel() for p in layer.parameters())  # a dense layer has 64
    32
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        layout: Layout,
        in_heads: int = 1,
        out_heads: int = 1,
        bias: bool = False,
        product: str = "real",
    ) -> None:
        super().__init__()
        expect_one_of(product, PRODUCTS, name="product")
        self.layout, self.product = layout, product
        self.in_groups = plane_groups(in_features, layout=layout, n_heads=in_heads)
        self.out_groups = plane_groups(out_features, layout=layout, n_heads=out_heads)
        self.a = nn.Parameter(torch.empty(out_features // 2, in_features // 2))
        self.b = nn.Parameter(torch.empty(out_features // 2, in_features // 2))
        self.bias = nn.Parameter(torch.zeros(out_features)) if bias else None
        self.reset_parameters(std=1 / math.sqrt(3 * in_features))  # the spread that nn.Linear starts with

    def reset_parameters(self, *, std: float) -> None:
        """Draw a and b with the spread of a dense layer's weights.

        An output coordinate sums the same number of products as a dense one, so equal spread means equal variance.
        (A complex weight of that spread, a and b of half its variance each, would give outputs of half the variance.)
        """
        nn.init.normal_(self.a, std=std)
        nn.init.normal_(self.b, std=std)

    @property
    def weight(self) -> Float[Tensor, "out_features in_features"]:
        """The real matrix that is applied."""
        return real_matrix(self.a, self.b, out_groups=self.out_groups, in_groups=self.in_groups)

    def forward(self, x: Float[Tensor, "*batch in_features"]) -> Float[Tensor, "*batch out_features"]:
        """Multiply x, (..., in_features); the result has the dtype of x, and autocast applies as to ``nn.Linear``.

        Raises:
            TypeError: if x has another dtype than the weights.
            ValueError: if x has another width.
        """
        expect_floating(x)
        width = 2 * self.a.shape[1]
        if x.ndim == 0 or x.shape[-1] != width:
            raise ValueError(f"x: expected (..., {width}), got {tuple(x.shape)}; the layer's in_features are {width}")
        expect_weights(x, self.a)
        groups = {"in_groups": self.in_groups, "out_groups": self.out_groups}
        return PRODUCTS[self.product](x, self.a, self.b, self.bias, **groups)

    def extra_repr(self) -> str:
        """The text that ``print(layer)`` shows between its brackets."""
        n, m = self.a.shape
        return f"{2 * m}, {2 * n}, layout={self.layout!r}, product={self.product!r}, bias={self.bias is not None}"
