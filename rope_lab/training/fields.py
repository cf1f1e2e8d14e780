"""What the fields of a run's config and of a result card must be: one form for both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """The values that a field accepts, as a test and in words.

    >>> COUNT.accepts(3), COUNT.accepts(True), COUNT.expected
    (True, False, 'a whole number, zero or more')
    """

    accepts: Callable[[Any], bool]
    expected: str


def is_whole(value: Any) -> bool:
    """Whether the value is a Python int; a bool is none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether the value is a finite int or float; a bool is none."""
    return are_numbers([value])


def are_numbers(values: list[Any]) -> bool:
    """Whether all values are finite numbers; each type is asked once, since the curves hold hundreds of thousands."""
    kinds = set(map(type, values))
    if not all(issubclass(kind, int | float) and kind is not bool for kind in kinds):
        return False
    try:
        return all(map(math.isfinite, values))
    except OverflowError:  # a whole number beyond the floats
        return False


def _is_folder_name(value: Any) -> bool:
    fits = isinstance(value, str) and value.strip(". ") != "" and len(value) <= 100
    return fits and value.isprintable() and not set(value) & set("/\\")


def one_of(names: Iterable[str]) -> Kind:
    """The kind of a field that holds one of a few names."""
    names = tuple(names)
    return Kind(lambda v: isinstance(v, str) and v in names, f"one of {', '.join(names)}")


TEXT = Kind(lambda v: isinstance(v, str), "text")
NAME = Kind(lambda v: isinstance(v, str) and v != "", "a name: text that is not empty")
FOLDER_NAME = Kind(
    _is_folder_name, "the name of a folder: at most 100 characters, without / and \\, and not of dots alone"
)
FLAG = Kind(lambda v: isinstance(v, bool), "true or false")
COUNT = Kind(lambda v: is_whole(v) and v >= 0, "a whole number, zero or more")
POSITIVE_COUNT = Kind(lambda v: is_whole(v) and v >= 1, "a whole number, at least 1")
NUMBER = Kind(is_number, "a finite number")
NOT_NEGATIVE = Kind(lambda v: is_number(v) and v >= 0, "a finite number, zero or more")
POSITIVE = Kind(lambda v: is_number(v) and v > 0, "a finite number above zero")
BLOCK = Kind(lambda v: isinstance(v, Mapping), "a block of fields by name (a JSON object)")
