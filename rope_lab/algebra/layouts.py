"""Two layouts of one rotation: the permutation between them, what it takes to carry out, and the fast form.

>>> p = rotation.layout_permutation(6)  # the half-split order, its coordinates named as in the interleaved one
>>> cycles(p), minimal_swaps(p), minimal_moves(p)
([[0], [1, 2, 4, 3], [5]], 3, 2)
"""

import numpy as np
from jaxtyping import Float64, Int
from numpy.typing import ArrayLike

from rope_lab.algebra import rotation
from rope_lab.algebra.arguments import (
    WIDEST,
    Layout,
    expect_even,
    expect_frequencies,
    expect_layout,
    expect_numbers,
    expect_real,
    expect_turning,
    expect_whole,
)

__all__ = [
    "cycles",
    "minimal_moves",
    "minimal_swaps",
    "parity",
    "projection_permutation",
    "quarter_turn",
    "rotate_elementwise",
    "row_moves",
    "row_swaps",
]


def quarter_turn(x: ArrayLike, *, layout: Layout = "interleaved") -> Float64[np.ndarray, "*batch head_dim"]:
    r"""Every plane of ``x`` turned by a quarter: the second vector of the elementwise form, called rot(x).

    $(x_a, x_b) \mapsto (-x_b, x_a)$ in each plane

    Args:
        x: (..., head_dim).
        layout: "interleaved" or "half".

    Returns:
        The shape of ``x``, float64.

    Raises:
        ValueError: If head_dim is odd or the layout unknown.

    Claims:
        ``blog.efficient-interleaved``, ``blog.half-efficient``

    >>> quarter_turn([1, 2, 3, 4]), quarter_turn([1, 2, 3, 4], layout="half")
    (array([-2.,  1., -4.,  3.]), array([-3., -4.,  1.,  2.]))
    """
    x = expect_real(x, name="x")
    a, b = rotation.planes(x.shape[-1] if x.ndim else 0, layout=layout).T
    turned = np.empty_like(x)
    turned[..., a], turned[..., b] = -x[..., b], x[..., a]
    return turned


def rotate_elementwise(
    x: ArrayLike, positions: ArrayLike, *, theta: ArrayLike, layout: Layout = "interleaved"
) -> Float64[np.ndarray, "*batch head_dim"]:
    r"""`rotation.rotate` without a matrix: two products for each coordinate.

    $\mathcal R_n x = x \odot c + \mathrm{rot}(x) \odot s$, where $c$ and $s$ hold $\cos n\theta_i$ and $\sin n\theta_i$
    on both coordinates of plane i, and $\odot$ multiplies entry by entry

    Args:
        x: (..., T, head_dim), or one vector (head_dim,).
        positions: (T,), or what broadcasts with ``x.shape[:-1]``.
        theta: (head_dim/2,), radians per position.
        layout: "interleaved" or "half".

    Returns:
        (..., T, head_dim), float64.

    Raises:
        ValueError: If ``theta`` or ``positions`` do not fit ``x``.

    Claims:
        ``blog.efficient-interleaved``, ``blog.half-efficient``

    >>> rotate_elementwise([1.0, 0.0], [0, 1], theta=np.pi / 2).round(12) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    x, layout = expect_real(x, name="x"), expect_layout(layout)
    positions, theta = expect_real(positions, name="positions"), expect_frequencies(theta)
    expect_turning(x, theta, positions)
    angles = positions[..., None] * theta  # (..., T, planes)
    spread = np.repeat(angles, 2, axis=-1) if layout == "interleaved" else np.concatenate([angles, angles], axis=-1)
    return x * np.cos(spread) + quarter_turn(x, layout=layout) * np.sin(spread)


def cycles(permutation: ArrayLike) -> list[list[int]]:
    r"""The cycles of a permutation, fixed points included: $i \to p(i) \to p(p(i)) \to \dots$

    Args:
        permutation: An index array as in ``x[..., permutation]``.

    Returns:
        A list of lists; each cycle starts at its smallest member.

    Raises:
        TypeError: If the entries are not integers.
        ValueError: If they are not 0, ..., n - 1, each once.

    Claims:
        ``book.layout-cycles``

    >>> cycles([0, 2, 1])
    [[0], [1, 2]]
    """
    p, seen, all_cycles = _permutation(permutation), set(), []
    for start in range(len(p)):
        if start not in seen:
            cycle = [start]
            while p[cycle[-1]] != start:
                cycle.append(p[cycle[-1]])
            seen.update(cycle)
            all_cycles.append(cycle)
    return all_cycles


def parity(permutation: ArrayLike) -> int:
    r"""The sign of a permutation: +1 if an even number of swaps makes it, -1 if an odd number does.

    $\mathrm{sgn}(p) = (-1)^{n - \#\mathrm{cycles}}$, the determinant of its matrix.

    Args:
        permutation: An index array.

    Returns:
        1 or -1.

    Claims:
        ``book.layout-parity``

    >>> parity([1, 0]), parity([1, 2, 0])
    (-1, 1)
    """
    return -1 if minimal_swaps(permutation) % 2 else 1


def minimal_swaps(permutation: ArrayLike) -> int:
    """The least number of exchanges of two entries that put a permutation in order: n minus its number of cycles.

    Args:
        permutation: An index array.

    Returns:
        An int.

    Claims:
        ``blog.row-swaps``, ``book.minimal-swaps``

    >>> minimal_swaps([1, 2, 0])
    2
    """
    return len(_permutation(permutation)) - len(cycles(permutation))


def minimal_moves(permutation: ArrayLike) -> int:
    """The least number of moves that put a permutation in order; a move takes one entry out and inserts it elsewhere.

    It is n minus the length of a longest increasing subsequence: those entries may stay.

    Args:
        permutation: An index array.

    Returns:
        An int.

    Claims:
        ``blog.row-swaps``, ``book.minimal-moves``

    >>> minimal_moves([1, 2, 0])
    1
    """
    p = _permutation(permutation)
    return len(p) - len(_longest_increasing(p))


def row_swaps(permutation: ArrayLike) -> list[tuple[int, int]]:
    """Exchanges of two places, one after the other, that put a permutation in order: as few as `minimal_swaps` says.

    Args:
        permutation: An index array.

    Returns:
        Pairs of places, in the order of the exchanges.

    >>> row_swaps([1, 2, 0])
    [(0, 2), (1, 2)]
    """
    row, steps = list(_permutation(permutation)), []
    for place in range(len(row)):
        if row[place] != place:
            other = row.index(place)
            row[place], row[other] = row[other], row[place]
            steps.append((place, other))
    return steps


def row_moves(permutation: ArrayLike) -> list[tuple[int, int]]:
    """Moves (from, to), one after the other, that put a permutation in order: as few as `minimal_moves` says.

    Each takes the entry at place ``from`` out and inserts it so that it stands at place ``to``.

    Args:
        permutation: An index array.

    Returns:
        Pairs (from, to), in the order of the moves.

    >>> row_moves([0, 2, 4, 1, 3, 5])
    [(3, 1), (4, 3)]
    """
    row = list(_permutation(permutation))
    staying, steps = set(_longest_increasing(row)), []
    for value in range(len(row)):
        if value not in staying:
            start = row.index(value)
            row.pop(start)
            end = row.index(value - 1) + 1 if value else 0
            row.insert(end, value)
            steps.append((start, end))
    return steps


def projection_permutation(
    n_heads: int, head_dim: int, *, rotary_dim: int | None = None, to: Layout = "half"
) -> Int[np.ndarray, "features"]:
    """The index array that carries trained weights into the layout ``to``: ``W_q[p]``, ``W_k[p]``, ``b_q[p]``.

    `rotation.layout_permutation` in each head by itself, on its first rotary_dim coordinates; the rest stays. Weights
    are (n_heads * head_dim, width), the order of torch.nn.Linear. Where values are rotated as well: ``W_v[p]`` and
    ``W_o[:, p]``.

    Args:
        n_heads: Heads of this projection; with grouped queries k and v have their own number.
        head_dim: Width of a head, even.
        rotary_dim: How many coordinates of a head turn, even; None: all.
        to: The layout to come, "half" or "interleaved".

    Returns:
        (n_heads * head_dim,), ints.

    Raises:
        TypeError: If a size is not an int.
        ValueError: If the sizes do not fit.

    Claims:
        ``blog.same-effects``, ``unsaid.layouts``

    >>> projection_permutation(2, 4).tolist()
    [0, 2, 1, 3, 4, 6, 5, 7]
    """
    head_dim, to = expect_even(head_dim, name="head_dim"), expect_layout(to)
    turning = head_dim if rotary_dim is None else expect_even(rotary_dim, name="rotary_dim")
    n_heads = expect_whole(n_heads, name="n_heads", least=1, limit=WIDEST, fix="take it from the model's configuration")
    if turning > head_dim:
        raise ValueError(
            f"rotary_dim: expected at most head_dim = {head_dim}, got {turning}; take both from the model's config"
        )
    p = rotation.layout_permutation(turning)
    one = np.concatenate([p if to == "half" else np.argsort(p), np.arange(turning, head_dim)])
    return (head_dim * np.arange(n_heads)[:, None] + one).reshape(-1)


def _permutation(values: ArrayLike) -> list[int]:
    expect_numbers(values, name="permutation")
    p = np.asarray(values)
    if p.dtype.kind not in "iu":
        raise TypeError(f"permutation: expected integers, got dtype {p.dtype}; an index array is wanted")
    if p.ndim != 1 or sorted(p.tolist()) != list(range(p.size)):
        raise ValueError(f"permutation: expected each of 0, ..., n - 1 once, got {p.tolist()}; see np.argsort")
    return p.tolist()


def _longest_increasing(row: list[int]) -> list[int]:
    """A longest increasing subsequence: the first one, read from the left."""
    length = [0] * len(row)  # of the longest one that starts here
    for i in reversed(range(len(row))):
        length[i] = 1 + max((length[j] for j in range(i + 1, len(row)) if row[j] > row[i]), default=0)
    chosen: list[int] = []
    wanted = max(length, default=0)
    for value, here in zip(row, length, strict=True):
        if here == wanted and (not chosen or value > chosen[-1]):
            chosen.append(value)
            wanted -= 1
    return chosen
