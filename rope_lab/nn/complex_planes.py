"""The planes of a real vector and of a real matrix: which coordinates are the two parts of one complex number."""

from __future__ import annotations

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from rope_lab.algebra.arguments import Layout, expect_layout, expect_whole


def plane_groups(features: int, *, layout: Layout, n_heads: int = 1) -> int:
    r"""The number of runs of [all real parts, all imaginary parts] in a vector of that layout.

    Interleaved: every plane is a run of its own. Half-split: one run for each head.
    That is all that tells the two layouts apart.

    Args:
        features: the width of the vector, over all heads.
        layout: which coordinates form a plane.
        n_heads: how many heads lie side by side.

    Raises:
        ValueError: if the layout is unknown, or if the heads do not hold whole planes, at least one each.

    >>> plane_groups(8, layout="interleaved", n_heads=2), plane_groups(8, layout="half", n_heads=2)
    (4, 2)
    """
    expect_layout(layout)
    for name, value in (("heads", n_heads), ("width", features)):
        expect_whole(value, name=name, least=1)
    if features % (2 * n_heads):
        raise ValueError(
            f"expected a width of whole planes in each of {n_heads} heads, got {features}: "
            f"a complex coordinate takes two real ones, so use a multiple of {2 * n_heads}"
        )
    return features // 2 if layout == "interleaved" else n_heads


def to_complex(x: Float[Tensor, "*batch two_m"], *, layout: Layout = "interleaved") -> Complex[Tensor, "*batch m"]:
    r"""Each plane of x as one complex number: a view where its two parts are neighbours in memory, else a copy.

    Args:
        x: (..., 2m), in float32 or float64.
        layout: which coordinates form a plane.

    Returns:
        (..., m), in complex64 or complex128.

    >>> to_complex(torch.tensor([1.0, 2, 3, 4])), to_complex(torch.tensor([1.0, 2, 3, 4]), layout="half")
    (tensor([1.+2.j, 3.+4.j]), tensor([1.+3.j, 2.+4.j]))
    """
    if layout == "half":
        return torch.complex(*x.chunk(2, dim=-1))
    pairs = x.unflatten(-1, (-1, 2))
    if pairs.stride(-1) != 1 or pairs.storage_offset() % 2 or any(step % 2 for step in pairs.stride()[:-1]):
        pairs = pairs.clone(memory_format=torch.contiguous_format)
    return torch.view_as_complex(pairs)


def to_real(z: Complex[Tensor, "*batch m"], *, layout: Layout = "interleaved") -> Float[Tensor, "*batch two_m"]:
    """Lay complex numbers out as planes: the inverse of `to_complex`.

    >>> to_real(torch.tensor([1 + 2j, 3 + 4j]), layout="half").tolist()
    [1.0, 3.0, 2.0, 4.0]
    """
    return torch.cat((z.real, z.imag), dim=-1) if layout == "half" else torch.view_as_real(z).flatten(-2)


def to_parts(x: Float[Tensor, "*batch two_m"], *, groups: int) -> tuple[Tensor, Tensor]:
    r"""Real and imaginary parts of the planes of x, each (..., m), in the order of the planes.

    `to_complex` for every floating dtype, and for heads that lie side by side.

    Args:
        x: (..., 2m).
        groups: the result of `plane_groups`.

    >>> [part.tolist() for part in to_parts(torch.tensor([1.0, 2, 3, 4]), groups=1)]  # the half-split layout
    [[1.0, 2.0], [3.0, 4.0]]
    """
    real, imaginary = x.unflatten(-1, (groups, 2, -1)).unbind(-2)  # (..., groups, m / groups) each
    return real.flatten(-2), imaginary.flatten(-2)


def from_parts(
    real: Float[Tensor, "*batch m"], imaginary: Float[Tensor, "*batch m"], *, groups: int
) -> Float[Tensor, "*batch two_m"]:
    r"""The inverse of `to_parts`.

    >>> from_parts(torch.tensor([1.0, 3]), torch.tensor([2.0, 4]), groups=2).tolist()  # interleaved: two planes
    [1.0, 2.0, 3.0, 4.0]
    """
    parts = (real.unflatten(-1, (groups, -1)), imaginary.unflatten(-1, (groups, -1)))
    return torch.stack(parts, -2).flatten(-3)


def real_matrix(
    a: Float[Tensor, "n m"], b: Float[Tensor, "n m"], *, out_groups: int = 1, in_groups: int = 1
) -> Float[Tensor, "two_n two_m"]:
    r"""The real $2n \times 2m$ matrix of the complex map $\tilde y = (a + ib)\,\tilde x$.

    In one group it is $\begin{pmatrix} a & -b \\ b & a \end{pmatrix}$; with more groups, the same rows and columns in
    the order of [real parts, imaginary parts] group by group. Differentiable in a and b.

    Args:
        a: (n, m), the real part.
        b: (n, m), the imaginary part.
        out_groups: the `plane_groups` of the rows.
        in_groups: those of the columns.

    Returns:
        (2n, 2m), in the dtype of a and b.

    Claims:
        `crope.half-params`

    >>> real_matrix(torch.tensor([[0.0]]), torch.tensor([[1.0]])).tolist()  # multiplication by i
    [[0.0, -1.0], [1.0, 0.0]]
    """
    n, m = a.shape
    # Two copies of the numbers and no more: one to stack, one to order. A layer builds its matrix in each pass.
    blocks = torch.stack((a, -b, b, a)).view(2, 2, out_groups, n // out_groups, in_groups, m // in_groups)
    return blocks.permute(4, 1, 5, 2, 0, 3).reshape(2 * m, 2 * n).T  # (2n, 2m)
