"""Trained weights carried from one layout into the other.

>>> W = np.arange(8.0)[:, None]
>>> permute_rotary(W, n_heads=2, layout_from="interleaved", layout_to="half").ravel()
array([0., 2., 1., 3., 4., 6., 5., 7.])
"""

from typing import Any

import numpy as np

from rope_lab.algebra.arguments import expect_even, expect_whole
from rope_lab.algebra.layouts import projection_permutation
from rope_lab.audit.layout_names import layout_argument

CONFIGURATION = "take it from the model's configuration"


def permute_rotary(
    weight: Any,
    *,
    n_heads: int,
    layout_from: str,
    layout_to: str,
    rotary_dim: int | None = None,
    rotary_start: int = 0,
    axis: int = 0,
) -> Any:
    r"""Reorder a projection, so that a model with the layout ``layout_to`` computes what it did with ``layout_from``.

    $W' = P W$ and $b' = P b$ with one permutation P in each head, for q and for k. Then
    $(\mathcal R'_m P q)^\top (\mathcal R'_n P k) = (\mathcal R_m q)^\top (\mathcal R_n k)$: no logit changes.
    Exchange layout_from and layout_to for the exact inverse. Where the values turn as well, permute the rows of W_v
    in the same way, and the columns of W_o with ``axis=1``.

    Args:
        weight: A numpy array or torch tensor as torch.nn.Linear keeps it, (n_heads * head_dim, width), or a bias
            (n_heads * head_dim,). A list is read as an array.
        n_heads: The heads of this projection. With grouped queries k has fewer than q.
        layout_from: "interleaved" or "half"; "half-split", as `fingerprint` prints it, means "half".
        layout_to: The layout of the model that will run, named in the same way.
        rotary_dim: How many coordinates of a head turn. Default: all of them from rotary_start on.
        rotary_start: The first coordinate of a head that turns: 0, unless the part that turns stands in the middle or
            last. `fingerprint` shows it as the first number of its ``pairs``.
        axis: The axis of weight along which the heads lie, 0 for rows and 1 for columns.

    Returns:
        A new array of the same type, dtype and shape: the same numbers in another order.

    Raises:
        TypeError: If weight is not an array, or a size is not a whole number.
        ValueError: If the sizes do not fit each other, or a layout is unknown.

    Claims: `blog.same-effects`, `unsaid.layouts`.

    >>> there = permute_rotary([1, 2, 3, 4], n_heads=1, layout_from="half", layout_to="interleaved")
    >>> there, permute_rotary(there, n_heads=1, layout_from="interleaved", layout_to="half")
    (array([1, 3, 2, 4]), array([1, 2, 3, 4]))
    """
    start, end = layout_argument(layout_from), layout_argument(layout_to)
    n_heads = expect_whole(n_heads, name="n_heads", least=1, fix=CONFIGURATION)
    weight = np.asarray(weight) if isinstance(weight, (list, tuple)) else weight
    if not hasattr(weight, "shape") or not hasattr(weight, "dtype"):
        raise TypeError(f"weight: expected a numpy array or a torch tensor, got {type(weight).__name__}; give .weight")
    if not -len(weight.shape) <= axis < len(weight.shape):
        raise ValueError(f"axis: expected an axis of {tuple(weight.shape)}, got {axis}; 0 are the rows, 1 the columns")
    size = weight.shape[axis]
    if size % n_heads:
        raise ValueError(
            f"weight: expected n_heads * head_dim = {n_heads} * head_dim entries along axis {axis}, got {size}; "
            "with grouped queries the keys have fewer heads (num_key_value_heads)"
        )
    one = np.arange(size // n_heads)
    block = _turning_block(len(one), rotary_start, rotary_dim)
    if start != end:
        one[block] = one[block][projection_permutation(1, len(one[block]), to=end)]
    index = (len(one) * np.arange(n_heads)[:, None] + one).ravel()
    return weight[(slice(None),) * (axis % len(weight.shape)) + (index,)]


def _turning_block(head_dim: int, start: Any, width: int | None) -> slice:
    """The coordinates of one head that turn."""
    first = expect_whole(start, name="rotary_start", least=0, fix=CONFIGURATION)
    if width is None:
        width = expect_even(head_dim - first, name="head_dim - rotary_start" if first else "head_dim")
    width = expect_even(width, name="rotary_dim")
    if first + width > head_dim:
        raise ValueError(
            f"expected rotary_start + rotary_dim <= head_dim, got rotary_start={first}, "
            f"rotary_dim={width}, head_dim={head_dim}; take them from the model's configuration"
        )
    return slice(first, first + width)
