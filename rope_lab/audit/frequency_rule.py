r"""The rule that made a list of frequencies: one base if one fits, else a description in words.

>>> found = explain(10000.0 ** (-np.arange(8) / 8), width=16)
>>> found.base, found.scheme
(10000.0, 'one base')
>>> explain(10000.0 ** (-np.arange(8) / 8) / 4, width=16).scheme
'base 10000, every frequency times 0.25'
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

TABLES = 8e-6  # what frequencies built in float32 miss, relative: the rounded exponent times ln(base), with a margin


@dataclass(frozen=True)
class Rule:
    """A base with its largest relative miss, or None and a description."""

    base: float | None
    residual: float | None
    scheme: str


def explain(frequencies: ArrayLike, *, width: int, doubt: ArrayLike = 0.0) -> Rule:
    r"""The base of $\theta_i = \mathrm{base}^{-2i/\mathrm{width}}$ by weighted least squares, if one base fits.

    The base is rounded to two, four or six digits if that fits as well.

    Args:
        frequencies: (planes,), in radians per position, in the order of the planes. Their signs do not count.
        width: The width of the formula, in coordinates.
        doubt: The relative error that each frequency may have: a number, or one for each plane.

    Returns:
        A `Rule`. If no one base fits, its base and residual are None and its scheme describes the list in words.
    """
    theta = np.abs(np.asarray(frequencies, dtype=np.float64))
    doubt = np.broadcast_to(np.asarray(doubt, dtype=np.float64), theta.shape) + TABLES
    if len(theta) == 0 or (theta == 0).any():
        return Rule(None, None, "nothing turns" if not theta.any() else "some planes stand still")
    x, log = -2.0 * np.arange(len(theta)) / width, np.log(theta)
    if len(theta) == 1:
        return Rule(None, None, f"one plane, {_short(theta[0])} radians: no base shows")
    weight = doubt**-2.0
    slope = (weight * x * log).sum() / (weight * x * x).sum()
    if (np.abs(log - slope * x) < doubt).all():
        return Rule(*_rounded(slope, x, log), "one base")
    words = _blocks(theta, doubt) or _scaled(x, log, doubt) or _ramp(x, log, doubt)
    return Rule(None, None, words or "no single base fits")


def _rounded(slope: float, x: np.ndarray, log: np.ndarray) -> tuple[float, float]:
    def miss(base: float) -> float:
        return float(np.abs(np.expm1(log - np.log(base) * x)).max())

    fitted = float(np.exp(slope))
    for digits in (2, 4, 6):
        short = float(f"{fitted:.{digits}g}")
        if miss(short) <= 3 * miss(fitted) + 1e-13:
            return short, miss(short)
    return fitted, miss(fitted)


def _short(value: float) -> str:
    return f"{float(f'{value:.5g}'):.10g}"


def _blocks(theta: np.ndarray, doubt: np.ndarray) -> str | None:
    """The same frequencies again and again: one block for each axis of a grid."""
    for count in range(2, len(theta) // 2 + 1):
        if len(theta) % count == 0:
            rows = theta.reshape(count, -1)
            if (np.abs(rows / rows[0] - 1).ravel() < 2 * doubt).all():
                inner = explain(rows[0], width=2 * rows.shape[1])
                rule = f"base {_short(inner.base)}" if inner.base else inner.scheme
                return f"{count} blocks of the same frequencies, {rule} each (one block for each axis?)"
    return None


def _scaled(x: np.ndarray, log: np.ndarray, doubt: np.ndarray) -> str | None:
    """A geometric progression that does not begin at 1: linear scaling, or positions in other units."""
    slope, start = np.polyfit(x, log, 1, w=1 / doubt)
    if (np.abs(log - start - slope * x) < 2 * doubt).all():
        return f"base {_short(np.exp(slope))}, every frequency times {_short(np.exp(start))}"
    return None


def _ramp(x: np.ndarray, log: np.ndarray, doubt: np.ndarray) -> str | None:
    """Fast planes as one base has them, slow planes divided by a factor, with a ramp between."""
    count = next((i for i in range(len(log), 1, -1) if _fits(x[:i], log[:i], doubt[:i])), 0)
    if count < 2 or len(log) - count < 2:
        return None
    slope = (x[:count] * log[:count]).sum() / (x[:count] ** 2).sum()
    share = log - slope * x  # 0 where the base holds, -log(factor) where the plane is slowed
    slow = np.flatnonzero(np.abs(share - share[-1]) < 4 * doubt + 1e-4)[0]
    if not (np.diff(share) < doubt[1:]).all() or len(log) - slow < 2:
        return None
    base, factor = _short(np.exp(slope)), _short(np.exp(-share[-1]))
    between = slice(count, slow)
    kept = (np.exp(share) - np.exp(share[-1])) / (1 - np.exp(share[-1]))  # 1 where the base holds, 0 where slowed
    kind = _kind(np.arange(len(log))[between], np.exp(slope * x)[between], kept[between], doubt=doubt[between])
    return f"base {base} in planes 0 to {count - 1}, {factor} times slower from plane {slow} on{kind}"


def _kind(plane: np.ndarray, turns: np.ndarray, kept: np.ndarray, *, doubt: np.ndarray) -> str:
    """Whose ramp it is: YaRN's code is linear in the number of the plane, Llama 3's in the turns within the window."""
    if len(kept) < 3:
        return ""  # two points lie on every line
    free = 20 * doubt.max() + 1e-3
    slope, start = np.polyfit(plane, kept, 1)
    if (np.abs(kept - start - slope * plane) < free).all():
        return ", a ramp over the planes (YaRN)"
    slope, start = np.polyfit(turns, kept, 1)
    if (np.abs(kept - start - slope * turns) > free).any():
        return ""
    ratio = float((1 - start) / -start)  # of the turns where the slowing begins, to those where it is complete
    name = "Llama 3" if abs(ratio - 4) < 0.05 else f"by parts, {_short(round(ratio, 2))} to 1"
    return f", a ramp over the turns ({name})"


def _fits(x: np.ndarray, log: np.ndarray, doubt: np.ndarray) -> bool:
    slope = (x * log).sum() / (x * x).sum()
    return bool((np.abs(log - slope * x) < doubt).all())
