r"""Places with several coordinates: one frequency vector for each plane, all of them in one table.

In place p plane i turns by $p \cdot \theta_i$. The schemes of vision and video models differ in the table alone.

>>> table = section_frequencies([1, 1, 2], base=10000.0)  # time, height, width
>>> table
array([[1.   , 0.   , 0.   ],
       [0.   , 0.1  , 0.   ],
       [0.   , 0.   , 0.01 ],
       [0.   , 0.   , 0.001]])
>>> plane_angles([2.0, 5.0, 7.0], table)
array([2.   , 0.5  , 0.07 , 0.007])
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import (
    WIDEST,
    expect_base,
    expect_even,
    expect_float,
    expect_list,
    expect_real,
    expect_whole,
)
from rope_lab.algebra.rotation import frequencies

__all__ = [
    "axial_frequencies",
    "interleaved_frequencies",
    "largest_turns",
    "mixed_frequencies",
    "plane_angles",
    "section_frequencies",
]

Table = Float64[np.ndarray, "planes axes"]


def axial_frequencies(head_dim: int, *, axes: int = 2, base: float = 10000.0) -> Table:
    r"""The axial form: the planes fall into one block for each axis, and a block turns with its axis alone.

    Plane i turns by $p \cdot \theta_i$. Each block has the frequencies of a head of its own size.

    Source: ``compute_axial_rope_parameters`` of Qwen2-VL's vision tower in transformers.

    Args:
        head_dim: A multiple of twice the number of axes.
        axes: How many coordinates a place has.
        base: A positive number.

    Returns:
        (head_dim/2, axes), float64, in radians per step.

    Raises:
        ValueError: If the planes do not divide equally among the axes.

    Claims:
        ``book.grid-planes``, ``book.axes-axial``

    >>> axial_frequencies(4)
    array([[1., 0.],
           [0., 1.]])
    """
    axes = expect_whole(axes, name="axes", least=1, limit=WIDEST)
    if expect_even(head_dim, name="head_dim") % (2 * axes):
        raise ValueError(
            f"head_dim: expected a multiple of {2 * axes}, got {head_dim}; each coordinate needs as many planes"
        )
    one = frequencies(head_dim // axes, base=expect_base(base))
    return _by_axis(np.tile(one, axes), np.repeat(np.arange(axes), len(one)), axes)


def mixed_frequencies(head_dim: int, *, angles: ArrayLike, base: float = 10.0) -> Table:
    r"""The mixed form in two axes: the vectors of the axial form, turned by an angle.

    Planes i and i + head_dim/4 have the vectors $\theta_i (\cos\alpha_i, \sin\alpha_i)$ and
    $\theta_i (-\sin\alpha_i, \cos\alpha_i)$. With $\alpha = 0$ they are axial. Models draw one angle and then
    learn all vectors.

    Source: RoPE-Mixed of arXiv 2403.13298, whose code draws one angle for each head.

    Args:
        head_dim: A multiple of 4.
        angles: One angle, or (head_dim/4,), in radians.
        base: A positive number; 10 where the paper starts.

    Returns:
        (head_dim/2, 2), float64, in radians per step.

    Raises:
        ValueError: If ``head_dim`` is not a multiple of 4, or there is another number of angles.

    Claims:
        ``book.axes-mixed``

    >>> mixed_frequencies(4, angles=np.pi / 2).round(12) + 0.0
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    if expect_even(head_dim, name="head_dim") % 4:
        raise ValueError(f"head_dim: expected a multiple of 4, got {head_dim}; each coordinate needs as many planes")
    alpha, planes = expect_real(angles, name="angles"), head_dim // 4
    if alpha.shape not in ((), (planes,)):
        raise ValueError(f"angles: expected one number or {planes}, got shape {alpha.shape}; give one for each pair")
    one = frequencies(head_dim // 2, base=expect_base(base))
    along, across = one * np.cos(alpha), one * np.sin(alpha)
    return np.stack([np.concatenate([along, -across]), np.concatenate([across, along])], axis=1)


def section_frequencies(sections: Sequence[int], *, base: float = 10000.0) -> Table:
    r"""M-RoPE by sections: the first planes of one list of frequencies are for the first axis, the next for the second.

    $\theta_i = \mathrm{base}^{-2i/d}\, e_{a(i)}$ with $a(i)$ the section that plane i lies in. So the last axis
    has the slowest planes only.

    Source: ``recomposition_frequencies`` of Qwen2-VL in transformers; arXiv 2409.12191.

    Args:
        sections: How many planes each axis has, such as ``mrope_section`` of a configuration.
        base: A positive number.

    Returns:
        (planes, axes), float64, in radians per step.

    Raises:
        ValueError: If a section is negative, or all are empty.

    Claims:
        ``book.axes-sections``, ``book.axes-width``

    >>> section_frequencies([1, 1], base=100.0)
    array([[1. , 0. ],
           [0. , 0.1]])
    """
    counts = _expect_sections(sections)
    return _by_axis(
        frequencies(2 * sum(counts), base=expect_base(base)), np.repeat(np.arange(len(counts)), counts), len(counts)
    )


def interleaved_frequencies(sections: Sequence[int], *, base: float = 10000.0) -> Table:
    r"""Interleaved M-RoPE: the axes take the planes of one list of frequencies in turn, and the first gets the rest.

    $\theta_i = \mathrm{base}^{-2i/d}\, e_{a(i)}$ with $a(i) = i \bmod A$ while that axis has planes left, and 0
    where it has none. A is the number of axes.

    Source: ``recomposition_frequencies`` of Qwen3-VL in transformers.

    Args:
        sections: How many planes each axis has, such as ``mrope_section`` of a configuration.
        base: A positive number.

    Returns:
        (planes, axes), float64, in radians per step.

    Raises:
        ValueError: If a section is negative, all are empty, or a later axis wants more planes than fall to it in turn.

    Claims:
        ``book.axes-interleaved``

    >>> interleaved_frequencies([2, 1, 1], base=10000.0)
    array([[1.   , 0.   , 0.   ],
           [0.   , 0.1  , 0.   ],
           [0.   , 0.   , 0.01 ],
           [0.001, 0.   , 0.   ]])
    """
    counts = _expect_sections(sections)
    axes, planes = len(counts), sum(counts)
    axis = np.zeros(planes, dtype=np.int64)
    for a in range(1, axes):
        own = np.arange(a, planes, axes)
        if counts[a] > len(own):
            raise ValueError(
                f"sections: expected at most {len(own)} planes for axis {a} of {axes}, got {counts[a]}; "
                "give the first axis the most"
            )
        axis[own[: counts[a]]] = a
    return _by_axis(frequencies(2 * planes, base=expect_base(base)), axis, axes)


def plane_angles(places: ArrayLike, table: ArrayLike) -> Float64[np.ndarray, "*batch planes"]:
    r"""The angle of each plane at each place: $p \cdot \theta_i$.

    Args:
        places: (..., axes), real numbers.
        table: (planes, axes), radians per step.

    Returns:
        (..., planes), float64, in radians.

    Raises:
        ValueError: If places and table have another number of axes.

    Claims:
        ``book.axes-offset``

    >>> plane_angles([[1.0, 2.0]], [[0.5, 0.25]])
    array([[1.]])
    """
    p, theta = expect_real(places, name="places"), _expect_table(table)
    if p.ndim == 0 or p.shape[-1] != theta.shape[1]:
        raise ValueError(
            f"places: expected (..., {theta.shape[1]}), one coordinate for each axis of the table, got {p.shape}; "
            "give a place as a row of its coordinates"
        )
    return p @ theta.T


def largest_turns(table: ArrayLike, *, steps: float) -> Float64[np.ndarray, "axes"]:
    r"""The turn of the fastest plane of each axis in so many steps along it: $\max_i |\theta_{i,a}|\, n$.

    Args:
        table: (planes, axes), radians per step.
        steps: $n$.

    Returns:
        (axes,), float64, in radians; 0 for an axis without planes.

    Claims:
        ``book.axes-width``

    >>> largest_turns(section_frequencies([1, 1], base=100.0), steps=10)
    array([10.,  1.])
    """
    return np.abs(_expect_table(table)).max(axis=0) * expect_float(steps, name="steps")


def _by_axis(theta: np.ndarray, axis: np.ndarray, axes: int) -> Table:
    return theta[:, None] * (axis[:, None] == np.arange(axes))


def _expect_sections(sections: Sequence[int]) -> list[int]:
    counts = [
        expect_whole(n, name="sections", least=0, limit=WIDEST, fix="say how many planes each axis has")
        for n in expect_list(sections, name="sections", most=64)
    ]
    if not sum(counts):
        raise ValueError(f"sections: expected at least one plane, got {counts}; the usual ones are [16, 24, 24]")
    return counts


def _expect_table(table: ArrayLike) -> Table:
    theta = expect_real(table, name="table")
    if theta.ndim != 2 or not theta.size:
        raise ValueError(f"table: expected (planes, axes), got shape {theta.shape}; one row for each plane")
    return theta
