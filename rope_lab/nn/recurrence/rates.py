"""The rate of a recurrence: gamma and theta as numbers, read once for both fast forms."""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from rope_lab.algebra.arguments import expect_real


class Rate(NamedTuple):
    """A rate as numbers, so that calls with equal ones share their tables."""

    gamma: tuple[float, ...]
    shape: tuple[int, ...]  # of gamma, which broadcasts with (..., width)
    theta: tuple[float, ...] | None  # width numbers; None: nothing turns
    power: int = 1  # how many steps of the sequence are one step of this level


def decay_of(gamma: Any, want: tuple[int, ...], *, low: float) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """gamma as numbers and their shape, which must broadcast with ``want``, x without T."""
    numbers, shape = _reals(gamma, name="gamma")
    if not low <= min(numbers, default=1.0) <= max(numbers, default=1.0) <= 1:
        fix = "a negative one is a turn by pi: add it to theta" if low == 0 else "sequences would grow without bound"
        raise ValueError(f"gamma: expected numbers from {low:g} to 1, got {list(numbers)}; {fix}")
    fits = all(size in (1, wanted) for size, wanted in zip(reversed(shape), reversed(want), strict=False))
    if len(shape) > len(want) or not fits:
        raise ValueError(
            f"gamma: expected a shape that broadcasts with {want} (x without T), got "
            f"{shape}; one for each head is (heads, 1)"
        )
    return numbers, shape


def frequencies_of(theta: Any, planes: int) -> tuple[float, ...]:
    """theta as one number for each plane."""
    numbers, shape = _reals(theta, name="theta")
    if len(shape) > 1 or len(numbers) not in (1, planes):
        raise ValueError(
            f"theta: expected {planes} frequencies, one for each plane, or one number, got shape {shape}; "
            "cut it to the planes of v"
        )
    return numbers if len(numbers) == planes else planes * numbers


def _reals(values: Any, *, name: str) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """The numbers of ``values``, read once, and their shape."""
    if isinstance(values, float) and math.isfinite(values):
        return (values,), ()
    if not isinstance(values, Tensor):
        array = expect_real(values, name=name)
        return tuple(array.ravel().tolist()), array.shape
    if values.is_complex() or values.dtype == torch.bool:
        raise TypeError(f"{name}: expected real numbers, got {values.dtype}; the turn is theta, the decay is gamma")
    if values.is_meta:
        raise ValueError(f"{name}: expected numbers, got a tensor on meta, which holds none; give one that has values")
    numbers = tuple(values.double().flatten().tolist())
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"{name}: expected finite numbers, got {values.tolist()}; look for a division by zero")
    return numbers, tuple(values.shape)
