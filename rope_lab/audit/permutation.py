"""Trained weights carried from one layout into the other.

>>> W = np.arange(8.0)[:, None]
>>> permute_rotary(W, n_heads=2, layout_from="interleaved", layout_to="half").ravel()
array([0., 2., 1., 3., 4., 6., 5., 7.])
"""

from numbers import Integral
from typing import Any

import numpy as np

from rope_lab.algebra.arguments import expect_layout
from rope_lab.algebra.layouts import projection_permutation


def expect_head_count(count: Any, *, name: str) -> int:
    """Return ``count`` as an int if it is a whole number above 0."""
    if isinstance(count, bool) or not isinstance(count, Integral):
        raise TypeError(f"{name}: expected a whole number above 0, got {count!r}; take it from the configuration")
    if count < 1:
        raise ValueError(f"{name}: expected a whole number above 0, got {count}; take it from the configuration")
    return int(count)


def permute_rotary(
    weight: Any, *, n_heads: int, layout_from: str, layout_to: str, rotary_dim: int | None = None, axis: int = 0
) -> Any:
    r"""Reorder a projection, so that a model with the layout ``layout_to`` computes what it did with ``layout_from``.

    $W' = P W$ and $b' = P b$ with one permutation P in each head, for q and for k. Then
    $(\mathcal R'_m P q)^\top (\mathcal R'_n P k) = (\mathcal R_m q)^\top (\mathcal R_n k)$: no logit changes.

    ``weight``: numpy array or torch tensor, as torch.nn.Linear keeps it, (n_heads * head_dim, width), or a bias
    (n_heads * head_dim,). With grouped queries give k its own n_heads. ``rotary_dim``: only the first coordinates of a
    head turn. Where values turn as well, the rows of W_v in the same way and the columns of W_O with ``axis=1``. The
    result is a new array of the same type and dtype, the same numbers in another order; exchange layout_from and
    layout_to for the exact inverse. Layouts: "interleaved", "half" (or "half-split"). TypeError for what is no array,
    ValueError for sizes that do not fit. Claims ``blog.same-effects``, ``unsaid.layouts``.

    >>> there = permute_rotary([1, 2, 3, 4], n_heads=1, layout_from="half", layout_to="interleaved")
    >>> there, permute_rotary(there, n_heads=1, layout_from="interleaved", layout_to="half")
    (array([1, 3, 2, 4]), array([1, 2, 3, 4]))
    """
    # What `fingerprint` prints is understood as well.
    start, end = (expect_layout("half" if name == "half-split" else name) for name in (layout_from, layout_to))
    n_heads = expect_head_count(n_heads, name="n_heads")
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
    index = np.arange(size)
    if start != end:
        index = projection_permutation(n_heads, size // n_heads, rotary_dim=rotary_dim, to=end)
    return weight[(slice(None),) * (axis % len(weight.shape)) + (index,)]
