r"""One complex-linear map, three ways to multiply: a real matrix, complex numbers, and Gauss's three products.

All three give the same values and the same gradients up to rounding; they differ in cost. ``real`` costs what a dense
layer costs, in every precision, and is what the laboratory trains with. ``gauss`` saves a quarter of the
multiplications: it pays for wide layers in float32, with a somewhat larger rounding error, and not below a width of
about 256. ``complex`` is the formula as a mathematician writes it, slower on a CPU; it runs in complex64, or complex128
for float64, whatever autocast says. ``rope-lab bench projection`` measures them.
"""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from rope_lab.nn.complex_planes import from_parts, real_matrix, to_parts


class Product(Protocol):
    """What each of `PRODUCTS` is: x (..., 2m), a and b (n, m), bias (2n) or None, to y (..., 2n)."""

    def __call__(
        self, x: Tensor, a: Tensor, b: Tensor, bias: Tensor | None = None, *, in_groups: int, out_groups: int
    ) -> Tensor: ...


def real_product(
    x: Float[Tensor, "*batch two_m"],
    a: Float[Tensor, "n m"],
    b: Float[Tensor, "n m"],
    bias: Tensor | None = None,
    *,
    in_groups: int,
    out_groups: int,
) -> Float[Tensor, "*batch two_n"]:
    """Build the real matrix and multiply: one product of a dense layer's size.

    Args:
        x: (..., 2m), floating.
        a: (n, m), the real part of the matrix.
        b: (n, m), its imaginary part.
        bias: (2n,), or None.
        in_groups: The result of `plane_groups` for the input.
        out_groups: The result of `plane_groups` for the output.

    Returns:
        (..., 2n), in the dtype of x, which a and b must share; under autocast, in its dtype.
    """
    return F.linear(x, real_matrix(a, b, out_groups=out_groups, in_groups=in_groups), bias)


def complex_product(
    x: Float[Tensor, "*batch two_m"],
    a: Float[Tensor, "n m"],
    b: Float[Tensor, "n m"],
    bias: Tensor | None = None,
    *,
    in_groups: int,
    out_groups: int,
) -> Float[Tensor, "*batch two_n"]:
    """Multiply complex numbers, in complex64 or, for float64, complex128; takes what `real_product` does.

    Returns:
        (..., 2n), in the dtype of x, under autocast too.
    """
    dtype = torch.float64 if x.dtype == torch.float64 else torch.float32  # there are no complex numbers of 16 bits
    z = torch.complex(*to_parts(x.to(dtype), groups=in_groups))
    y = F.linear(z, torch.complex(a.to(dtype), b.to(dtype)))
    return _with(bias, from_parts(y.real, y.imag, groups=out_groups).to(x.dtype))


def gauss_product(
    x: Float[Tensor, "*batch two_m"],
    a: Float[Tensor, "n m"],
    b: Float[Tensor, "n m"],
    bias: Tensor | None = None,
    *,
    in_groups: int,
    out_groups: int,
) -> Float[Tensor, "*batch two_n"]:
    """Multiply three real matrices, each a quarter of a dense layer; takes and returns what `real_product` does."""
    y = gauss_linear(*to_parts(x, groups=in_groups), a, b)
    return _with(bias, from_parts(*y, groups=out_groups))


def gauss_linear(
    real: Float[Tensor, "*batch m"],
    imaginary: Float[Tensor, "*batch m"],
    a: Float[Tensor, "n m"],
    b: Float[Tensor, "n m"],
) -> tuple[Float[Tensor, "*batch n"], Float[Tensor, "*batch n"]]:
    r"""Multiply complex numbers with Gauss's three real multiplications in place of four.

    With $p = a(x + y)$, $q = (a + b)\,y$, $r = (b - a)\,x$: the product $(a + ib)(x + iy)$ is $(p - q) + i(p + r)$.

    Args:
        real: (..., m), the real parts of the planes.
        imaginary: (..., m), their imaginary parts, in the same dtype.
        a: (n, m), the real part of the matrix.
        b: (n, m), its imaginary part.

    Returns:
        The real and the imaginary parts of the product, (..., n) each.

    >>> one = torch.ones(1)
    >>> [part.item() for part in gauss_linear(one, 2 * one, 3 * torch.ones(1, 1), torch.ones(1, 1))]  # (3+i)(1+2i)
    [1.0, 7.0]
    """
    p = F.linear(real + imaginary, a)
    return p - F.linear(imaginary, a + b), p + F.linear(real, b - a)


def _with(bias: Tensor | None, y: Tensor) -> Tensor:
    return y if bias is None else y + bias.to(y.dtype)


PRODUCTS: dict[str, Product] = {"real": real_product, "complex": complex_product, "gauss": gauss_product}
