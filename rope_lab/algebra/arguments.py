"""What a rotation expects of its arguments, said once. A refusal names what was expected, what came, and the mend."""

import math
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

Layout = Literal["interleaved", "half"]
LAYOUTS = ("interleaved", "half")


def expect_even(size: Any, *, name: str) -> int:
    """Return ``size`` as an int if it is a positive even integer.

    >>> expect_even(64, name="head_dim")
    64
    """
    if isinstance(size, (bool, np.bool_)) or not isinstance(size, Integral):
        raise TypeError(f"{name}: expected a positive even integer, got {size!r}; give the width as an int, such as 64")
    if size < 2 or size % 2:
        raise ValueError(
            f"{name}: expected a positive even integer, got {size}; coordinates turn in pairs, so take "
            "an even width, or rotate an even part of it with rotary_dim"
        )
    return int(size)


def expect_layout(layout: Any) -> Layout:
    """Return ``layout`` if it is the name of one."""
    if not isinstance(layout, str) or layout not in LAYOUTS:
        raise ValueError(
            f'layout: expected "interleaved" (pairs 2i, 2i+1) or "half" (pairs i, i+head_dim/2), got {layout!r}; '
            "take the one your weights were trained with"
        )
    return layout


def expect_base(base: Any) -> float:
    """Return ``base`` as a float if it is a finite positive number."""
    if isinstance(base, (bool, np.bool_)) or not isinstance(base, Real):
        raise TypeError(f"base: expected a positive number, got {base!r}; the usual one is 10000.0")
    try:
        number = float(base)
    except OverflowError:  # an integer that no float holds
        number = math.inf
    if not 0 < number < math.inf:
        raise ValueError(f"base: expected a finite positive number, got {base!r}; the usual one is 10000.0")
    return number


def expect_numbers(values: Any, *, name: str) -> np.ndarray:
    """Return ``values`` as a float64 array if they are real numbers, NaN and infinities among them; booleans are not.

    >>> expect_numbers([1, float("inf")], name="x")
    array([ 1., inf])
    """
    try:
        array = np.asarray(values)
    except ValueError as error:  # ragged nesting
        raise ValueError(f"{name}: expected an array of numbers, got a ragged one; make the rows equal") from error
    except (TypeError, RuntimeError) as error:  # numpy has no bfloat16, and takes no tensor that wants a gradient
        raise TypeError(
            f"{name}: expected what numpy can hold, got {type(values).__name__}: {error}; "
            "give tensor.detach().cpu().double()"
        ) from error
    if array.dtype.kind not in "iuf":
        got = f"dtype {array.dtype}" if array.ndim else repr(values)
        raise TypeError(f"{name}: expected real numbers, got {got}; convert with np.asarray(..., dtype=float)")
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one: no news
        return array.astype(np.float64)


def expect_real(values: Any, *, name: str) -> np.ndarray:
    """Return ``values`` as a float64 array if they are finite real numbers; booleans are a mask, not numbers."""
    array = expect_numbers(values, name=name)
    if not np.isfinite(array).all():
        first = array[~np.isfinite(array)].flat[0]
        raise ValueError(f"{name}: expected finite numbers, got {first}; look for a division by zero or an empty slot")
    return array


def expect_places(positions: np.ndarray, x: np.ndarray) -> None:
    """Refuse ``positions`` that do not broadcast with the vectors of ``x``, (..., T, d)."""
    try:
        np.broadcast_shapes(x.shape[:-1], positions.shape)
    except ValueError:
        raise ValueError(
            f"positions: expected a shape that broadcasts with {x.shape[:-1]} (x without its last axis), "
            f"got {positions.shape}; give one position for each vector along T"
        ) from None
