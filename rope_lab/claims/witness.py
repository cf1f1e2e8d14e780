r"""A witness prints what was computed: the numbers that stand in ``[[...]]`` are compared with those of ``computed=``.

``witness=r"the mixture is $[[\tfrac{13}{6}]]$"`` goes with ``computed=lambda: Fraction(13, 6)`` or whatever makes that
number from the package. The page shows the witness without the brackets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["computed_number", "disagreement", "printed_number", "split_witness"]

_MARKED = re.compile(r"\[\[(.+?)\]\]")
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def split_witness(text: str) -> tuple[str, tuple[str, ...]]:
    """The witness as the page shows it, and the numbers in it that are computed.

    >>> split_witness("the mixture is $[[2]]$")
    ('the mixture is $2$', ('2',))
    """
    return _MARKED.sub(r"\1", text), tuple(_MARKED.findall(text))


def printed_number(text: str) -> tuple[Fraction, Fraction]:
    r"""A number as LaTeX prints it, and the half unit of its last decimal: 0 for a whole number or a fraction.

    Raises:
        ValueError: if it is no number.

    >>> printed_number(r"1.15 \cdot 10^{-2}")
    (Fraction(23, 2000), Fraction(1, 20000))
    >>> printed_number(r"-\tfrac12")
    (Fraction(-1, 2), Fraction(0, 1))
    """
    plain = re.sub(r"\{,\}|\\,", "", text)
    plain = re.sub(r"\\t?frac(?:(\d)|\{(\d+)\})(?:(\d)|\{(\d+)\})", r"\1\2/\3\4", plain)
    if plain in _WORDS:
        return Fraction(_WORDS.index(plain)), Fraction(0)
    match = re.fullmatch(r"([+-]?)(\d+)(?:\.(\d+)|/(\d+))?(?: \\cdot 10\^(?:(\d)|\{(-?\d+)\}))?", plain)
    if not match:
        raise ValueError(f"expected a number such as '0.769' or '4 \\cdot 10^4' in the witness, got {text!r}")
    sign, whole, decimals, below, *powers = match.groups()
    scale = Fraction(10) ** int(next(filter(None, powers), 0))
    number = Fraction(int(whole), int(below)) if below else Fraction(f"{whole}.{decimals or 0}")
    half_unit = Fraction(1, 2 * 10 ** len(decimals)) if decimals else Fraction(0)
    return (-1 if sign == "-" else 1) * number * scale, half_unit * scale


def computed_number(text: str, value: Any) -> str:
    """A computed number, or a list of them, with as many decimals as the witness prints; a word or a fraction as it is.

    >>> computed_number("0.27, 0.73", [0.2689, 0.7311])
    '0.27, 0.73'
    """
    if isinstance(value, list):
        return ", ".join(map(computed_number, text.split(", "), value))
    decimals = re.fullmatch(r"[+-]?\d+\.(\d+)", text)
    return f"{value:.{len(decimals[1])}f}" if decimals else text


def disagreement(printed: Sequence[str], computed: Callable[[], Any]) -> str:
    """The first printed number that is not the computed one, as a sentence; empty if all agree.

    A number agrees if rounding it gives what is printed; a list is printed with commas, and a word as it is.
    """
    values = computed()
    values = values if isinstance(values, tuple) else (values,)
    if len(values) != len(printed):
        return f"the witness prints {len(printed)} computed numbers, and {len(values)} were computed"
    for text, value in zip(printed, values, strict=True):
        if not _agrees(text, value):
            return f"the witness prints {text}, and {value} was computed"
    return ""


def _agrees(text: str, value: Any) -> bool:
    if isinstance(value, str):
        return text == value
    if isinstance(value, list):
        parts = text.split(", ")
        return len(parts) == len(value) and all(map(_agrees, parts, value))
    number, half_unit = printed_number(text)
    return math.isclose(value, number, rel_tol=1e-9, abs_tol=float(half_unit) * (1 + 1e-9) + 1e-12)
