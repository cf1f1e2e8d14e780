"""How a reader's result departs from its target, in plain words."""

from __future__ import annotations

from typing import Any

import numpy as np


def kind(value: Any) -> str:
    """A value in words: ``an array of shape (2, 2)``, ``'eh' of type str``."""
    try:
        if isinstance(value, np.ndarray) or hasattr(value, "detach"):
            return f"an array of shape {tuple(value.shape)}" if len(value.shape) else f"one number, {value}"
    except KeyboardInterrupt:
        raise
    except BaseException:  # a class of theirs that has `detach` and no shape
        return f"an object of type {type(value).__name__}"
    return "nothing (None)" if value is None else f"{show(value):.60} of type {type(value).__name__}"


def show(value: Any) -> str:
    """``repr``, of any length and any class a reader may return."""
    try:
        with np.printoptions(linewidth=64):  # what a column of 768 pixels shows beside a name
            text = repr(value)
            if isinstance(value, tuple) and len(value) > 1 and (len(text) > 72 or "\n" in text):
                parts = [repr(part).replace("\n", "\n ") for part in value]
                text = "(" + ",\n ".join(parts) + ")"
    except KeyboardInterrupt:
        raise
    except BaseException:  # their own __repr__ may be what fails
        return f"an object of type {type(value).__name__}"
    return text if len(text) <= 1000 else f"{text[:1000]} ..."


def plain(value: Any) -> Any:
    """A tensor as NumPy can read it: NumPy has no bfloat16."""
    if not hasattr(value, "detach"):
        return value
    value = value.detach().cpu()
    return value.float() if str(value.dtype) == "torch.bfloat16" else value


def same(one: Any, other: Any) -> bool:
    """Whether two arguments hold the same: arrays, numbers, and lists, tuples or dictionaries of them."""
    if isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) and np.array_equal(one, other)
    if isinstance(other, dict):
        return same([*one.items()], [*other.items()])
    if isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def differs(yours: Any, target: Any, tolerance: float | None) -> str:
    """The first departure of a result from its target, or "".

    Numbers, arrays, truth values and tuples of them; tensors and lists count as arrays. Within ``tolerance * max(1,
    |target|)`` numbers are equal; with ``None`` only type and shape are compared.

    >>> differs([1.0, 2.0, 3.0], np.zeros(2), 1e-9)
    'expected an array of shape (2,), got an array of shape (3,)'
    """
    if yours is None or yours is ...:
        return "there is no result: your function returned nothing, so perhaps a `return` is missing"
    if isinstance(target, tuple):
        if not isinstance(yours, (tuple, list)) or len(yours) != len(target):
            return f"expected {len(target)} values, got {kind(yours)}"
        parts = (differs(y, t, tolerance) for y, t in zip(yours, target, strict=True))
        return next((f"value {i}: {part}" for i, part in enumerate(parts, 1) if part), "")
    t = np.asarray(target)
    wanted = ("True or False" if t.dtype.kind == "b" else "a number") if t.ndim == 0 else "an array of numbers"
    try:
        y = np.asarray(plain(yours))
    except KeyboardInterrupt:
        raise
    except BaseException:  # ragged lists, odd objects: anything a reader may return
        return f"expected {wanted}, got {kind(yours)}"
    if y.dtype.kind not in ("b" if t.dtype.kind == "b" else "iufc"):
        return f"expected {wanted}, got {kind(yours)}"
    if y.shape != t.shape:
        return f"expected {f'an array of shape {t.shape}' if t.ndim else wanted}, got {kind(y)}"
    if y.dtype.kind == "c" and t.dtype.kind != "c":
        return "expected real numbers, got complex ones"
    if tolerance is None:
        return ""
    if not np.isfinite(y).all():
        return f"the result holds {'NaN, which is not a number' if np.isnan(y).any() else 'an infinite number'}"
    if t.dtype.kind == "b":
        return "" if (y == t).all() else "the two answers differ"
    gap = np.abs(np.subtract(y, t, dtype=complex)).max(initial=0.0)  # complex128 holds float64 and complex results
    return "" if gap <= tolerance * max(1.0, float(np.abs(t).max(initial=0.0))) else "the numbers differ"
