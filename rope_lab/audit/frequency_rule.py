r"""The rule that made a list of frequencies: one base, or a schedule of `rope_lab.algebra`, recognised by its own list.

A schedule is named only if its ``frequencies`` are the list. What a list cannot tell: NTK-aware scaling is a base like
any other; a window and the turns of a ramp may all be multiplied by one number; LongRoPE divides each plane by a number
of its own. The settings of the model tell these apart.

>>> found = explain(10000.0 ** (-np.arange(8) / 8), width=16)
>>> found.base, found.scheme
(10000.0, 'one base')
>>> explain(10000.0 ** (-np.arange(8) / 8) / 4, width=16).scheme
'base 10000, every frequency times 0.25: Linear(factor=4)'
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike

from rope_lab.algebra.frequency_schedules import (
    NTK,
    ByParts,
    DynamicNTK,
    Linear,
    Llama3,
    LongRoPE,
    Proportional,
    Schedule,
    Yarn,
    YarnPaper,
)
from rope_lab.algebra.hf_schedules import RopeSettings
from rope_lab.algebra.rotation import frequencies as one_base
from rope_lab.algebra.schedule import turns

TABLES = 8e-6  # what frequencies built in float32 miss, relative: the rounded exponent times ln(base), with a margin
NO_RULE = "no single base fits, nor a schedule with a rule; only its configuration tells a list of divisors (LongRoPE)"


@dataclass(frozen=True)
class Rule:
    """A base with its largest relative miss, or None and a description; and the schedule, if one was recognised."""

    base: float | None
    residual: float | None
    scheme: str
    schedule: Schedule | None = None
    origin: float | None = None  # the base that the schedule changes


def explain(
    frequencies: ArrayLike,
    *,
    width: int,
    doubt: ArrayLike = 0.0,
    scale: float | None = None,
    settings: RopeSettings | None = None,
    longest: int = 0,
) -> Rule:
    r"""The base of $\theta_i = \mathrm{base}^{-2i/\mathrm{width}}$ by weighted least squares, if one base fits.

    The base is rounded to two, four or six digits if that fits as well. Planes at rest behind the others do not count.
    Where no base fits, the settings of each schedule are fitted, and the schedule is named if it makes this list again.

    Args:
        frequencies: (planes,), in radians per position, in the order of the planes. Their signs do not count.
        width: The width of the formula, in coordinates.
        doubt: The relative error that each frequency may have: a number, or one for each plane.
        scale: The factor on the length of what turns, if known: YaRN has one, and by parts has none.
        settings: What the model's configuration says, if known, as `rope_lab.algebra.rope_settings` reads it. Its
            schedule is tried first.
        longest: Length of the longest text in which the list was the same as in short ones, if known.

    Returns:
        A `Rule`. If no one base fits, its base and residual are None and its scheme describes the list in words.
    """
    theta = np.abs(np.asarray(frequencies, dtype=np.float64))
    theta = np.where(theta < 1e-300, 0.0, theta)  # no float holds what such a number divides
    doubt = np.broadcast_to(np.asarray(doubt, dtype=np.float64), theta.shape) + TABLES
    rule = _of_list(theta, width, doubt, scale)
    return rule if settings is None else _beside(rule, theta, doubt, settings, scale, longest)


def _of_list(theta: np.ndarray, width: int, doubt: np.ndarray, scale: float | None) -> Rule:
    """The rule that the list of frequencies alone shows."""
    if not theta.any():
        return Rule(None, None, "nothing turns")
    if (theta == 0).any():
        return _proportional(theta, width, doubt) or Rule(None, None, "some planes stand still")
    x, log = -2.0 * np.arange(len(theta)) / width, np.log(theta)
    if len(theta) == 1:
        turn = _short(theta[0])
        return Rule(None, None, f"one plane, {turn} radian{'s' * (turn != '1')}: no base shows")
    weight = doubt**-2.0
    slope = (weight * x * log).sum() / (weight * x * x).sum()
    if abs(slope) < 300 and (np.abs(log - slope * x) < doubt).all():
        base, residual = _rounded(slope, x, log)
        return Rule(base, residual, "one base", Schedule(), base)
    if words := _blocks(theta, doubt):
        return Rule(None, None, words)
    if words := _reversed(theta, width, doubt):
        return Rule(None, None, words)
    rule = _linear(theta, width, doubt) or _ramp(theta, width, doubt, scale) or _equal_steps(theta, doubt)
    return rule or Rule(None, None, NO_RULE)


def _reversed(theta: np.ndarray, width: int, doubt: np.ndarray) -> str | None:
    """One base, with its slowest plane first."""
    if len(theta) < 3 or theta[0] >= theta[-1]:  # two planes lie on every line
        return None
    inner = _of_list(theta[::-1], width, doubt[::-1], None)
    return None if inner.base is None else f"base {_short(inner.base)}, its planes in reverse order: the slowest first"


def _equal_steps(theta: np.ndarray, doubt: np.ndarray) -> Rule | None:
    """Frequencies at equal distances: no base, but a rule."""
    first, last = theta[0], theta[-1]
    even = np.linspace(first, last, len(theta))
    clear = len(theta) > 3 and abs(last - first) > 100 * doubt.max() * max(first, last)
    if not clear or (np.abs(theta - even) > 2 * doubt * theta).any():
        return None
    return Rule(None, None, f"equal steps from {_short(first)} to {_short(last)} radians")


def _beside(
    rule: Rule, theta: np.ndarray, doubt: np.ndarray, settings: RopeSettings, scale: float | None, longest: int
) -> Rule:
    """Compare the list and the factor with those of the configuration, and say in the scheme how they differ."""
    width, base, said = settings.rotary_dim or settings.head_dim, settings.base, settings.schedule
    plain, turning = one_base(width, base=base), theta[theta > 0]
    lists = [(said, "")]
    if isinstance(said, LongRoPE):
        lists = [
            (said.at(said.window), f", its short divisors: texts up to {said.window}"),
            (said.at(said.window + 1), f", its long divisors: texts beyond {said.window}"),
        ]
    elif isinstance(said, DynamicNTK):
        lists = [(said.at(said.window), f", in texts up to {said.window}")]
    fixed = said.by_length and longest > getattr(said, "window", longest)
    slowed = None
    if len(turning) == len(plain) > 1 and type(said) in (Schedule, NTK, DynamicNTK) and plain[-1] > turning[-1]:
        slowed = NTK(factor=plain[-1] / turning[-1])  # its slowest plane is slower by the whole factor
        if isinstance(said, DynamicNTK) and not fixed:
            lists.append((slowed, f", as {named(slowed)}"))
    for schedule, words in lists:
        made = schedule.frequencies(width, base=base)
        if _same(made[made > 0], turning, 2 * doubt[theta > 0]):
            shown = said if isinstance(said, LongRoPE | DynamicNTK) else schedule
            name = type(said).__name__ if isinstance(said, LongRoPE) else named(shown)
            known = "one base" if type(shown) is Schedule else f"{name}{words}, from base {base:.10g}"
            known += "; but here texts of every length have this list" if fixed else ""
            return replace(rule, scheme=known + _factors(scale, schedule), schedule=schedule, origin=base)
    other = f"; the configuration has base {base:.10g} over {width} coordinates"
    if type(said) is not Schedule:
        other = f"; the configuration has another list, {named(said)}, from base {base:.10g}"
    if slowed and _same(slowed.frequencies(width, base=base), turning, 2 * doubt[theta > 0]):
        other += f", of which {named(slowed)} makes this list"  # a base like any other: no list tells which was meant
    own = f"base {rule.base:.10g}" if rule.base and rule.scheme == "one base" else rule.scheme
    return replace(rule, scheme=own + other + _factors(scale, lists[0][0]))


def _factors(scale: float | None, schedule: Schedule) -> str:
    """A remark if the factor on the length of what turns is not the one of the configuration's schedule; else empty."""
    meant = schedule.attention_factor
    if scale is None or abs(scale / meant - 1) < 1e-4:
        return ""
    return f"; the configuration has the attention factor {meant:.5g}, and what turns here is times {scale:.5g}"


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
    """A description of equal blocks of frequencies, one block for each axis of a grid; else None."""
    for count in range(2, len(theta) // 2 + 1):
        if len(theta) % count == 0:
            rows = theta.reshape(count, -1)
            if (np.abs(rows / rows[0] - 1).ravel() < 2 * doubt).all():
                inner = explain(rows[0], width=2 * rows.shape[1])
                rule = f"base {_short(inner.base)}" if inner.base else inner.scheme
                return f"{count} blocks of the same frequencies, {rule} each (one block for each axis?)"
    return None


def named(schedule: Schedule) -> str:
    """The schedule as one writes it: what has its default is left out."""
    shown = []
    for field in fields(schedule):
        value = getattr(schedule, field.name)
        if field.default is MISSING or value != field.default:
            listed = f"<{len(value)} numbers>" if isinstance(value, tuple) else str(value)
            part = isinstance(value, float) and (f"{value:.0f}" if value.is_integer() else _short(value))
            shown.append(f"{field.name}={part or listed}")
    return f"{type(schedule).__name__}({', '.join(shown)})"


def _same(made: np.ndarray, theta: np.ndarray, free: np.ndarray) -> bool:
    if made.shape != theta.shape or (made[theta == 0] != 0).any():
        return False
    at = theta != 0
    return bool((np.abs(made[at] / theta[at] - 1) < free[at]).all())


def _made_by(
    candidates: Iterable[tuple[Schedule, float]], theta: np.ndarray, width: int, free: np.ndarray
) -> Rule | None:
    """The first of these schedules, each with its base, whose own frequencies are the list; in words, its name."""
    for schedule, base in candidates:
        if _same(schedule.frequencies(width, base=base)[: len(theta)], theta, free):
            return Rule(None, None, named(schedule), schedule, base)
    return None


def _digits(*values: float) -> Iterator[tuple[float, ...]]:
    """The values with few digits, with more, and as they are."""
    for digits in (2, 4, 6):
        yield tuple(float(f"{value:.{digits}g}") for value in values)
    yield tuple(map(float, values))


def _linear(theta: np.ndarray, width: int, doubt: np.ndarray) -> Rule | None:
    """A geometric progression that does not begin at 1: linear scaling, or positions in other units."""
    slope, start = np.polyfit(-2.0 * np.arange(len(theta)) / width, np.log(theta), 1, w=1 / doubt)
    if max(abs(slope), abs(start)) > 300:
        return None  # no base and no factor that a float holds
    fitted = ((Linear(factor=factor), base) for factor, base in _digits(np.exp(-start), np.exp(slope)))
    found = _made_by(fitted, theta, width, 2 * doubt)
    if found is None:
        return None
    words = f"base {_short(np.exp(slope))}, every frequency times {_short(np.exp(start))}: {found.scheme}"
    return replace(found, scheme=words)


def _proportional(theta: np.ndarray, width: int, doubt: np.ndarray) -> Rule | None:
    """The first planes as one base has them, or slower by one factor, and the others at rest."""
    count = int(np.flatnonzero(theta == 0)[0])
    if count < 2:
        return None
    inner = _of_list(theta[:count], width, doubt[:count], None)
    if inner.origin is None or (not isinstance(inner.schedule, Linear) and inner.base is None):
        return None
    factor = inner.schedule.factor if isinstance(inner.schedule, Linear) else 1.0
    if count == 2 and factor != 1:
        return None  # two points lie on every line
    schedule = Proportional(share=count / len(theta), factor=factor)
    found = _made_by([(schedule, inner.origin)], theta, width, 2 * doubt)
    words = f"base {_short(inner.origin)} in planes 0 to {count - 1}, the others stand still: {named(schedule)}"
    return found and replace(found, base=inner.base, residual=inner.residual, scheme=words)


def _ramp(theta: np.ndarray, width: int, doubt: np.ndarray, scale: float | None) -> Rule | None:
    """Fast planes as one base has them, slow planes divided by a factor, with a ramp between."""
    x, log = -2.0 * np.arange(len(theta)) / width, np.log(theta)
    count = next((i for i in range(len(log), 1, -1) if _fits(x[:i], log[:i], doubt[:i])), 0)
    if count < 2 or len(log) - count < 2:
        return None
    slope = (x[:count] * log[:count]).sum() / (x[:count] ** 2).sum()
    if abs(slope) > 300:
        return None
    base = _rounded(slope, x[:count], log[:count])[0]
    share = log - math.log(base) * x  # 0 where the base holds, -log(factor) where the plane is slowed
    slow = int(np.flatnonzero(np.abs(share - share[-1]) < 4 * doubt + 1e-4)[0])
    if not (np.diff(share) < doubt[1:]).all() or len(log) - slow < 2:
        return None
    factor = next(f for (f,) in _digits(np.exp(-share[-1])) if abs(np.log(f) + share[-1]) < 4 * doubt[-1] + 1e-5)
    words = f"base {_short(base)} in planes 0 to {count - 1}, {_short(factor)} times slower from plane {slow} on"
    between, free = slice(count, slow), 4 * doubt + 1e-4
    if factor == 1:
        return None
    kept = (np.exp(share) - 1 / factor) / (1 - 1 / factor)  # 1 where the base holds, 0 where slowed
    if slow - count < 3:
        return Rule(None, None, words)  # two points lie on every line
    if found := _made_by(_yarns(base, factor, width, between, kept, scale), theta, width, free):
        return replace(found, scheme=f"{words}, a ramp over the planes (YaRN): {_said(found)}")
    found = _made_by(_by_turns(base, factor, width, between, kept, scale), theta, width, free)
    if found and isinstance(found.schedule, ByParts):
        usual = {Llama3: "Llama 3", YarnPaper: "YaRN's paper"}
        name = usual.get(type(found.schedule), f"by parts, {_short(found.schedule.fast)} to 1")
        return replace(found, scheme=f"{words}, a ramp over the turns ({name}): {_said(found)}")
    return Rule(None, None, words)


def _said(found: Rule) -> str:
    """The schedule of a ramp, and which others have the same list."""
    schedule, other = found.schedule, []
    if isinstance(schedule, Yarn) and schedule.whole:
        other.append("a window nearby")
    if not isinstance(schedule, Llama3):  # whose name says the turns
        other.append("window and turns times one number")
    return ", or ".join([found.scheme, *other])


def _by_turns(
    base: float, factor: float, width: int, between: slice, kept: np.ndarray, scale: float | None
) -> Iterator[tuple[Schedule, float]]:
    """Yield schedules by parts: a line through what is kept, over the turns in a window where slow planes turn once."""
    slope, start = _line(turns(1.0, theta=one_base(width, base=base))[between], kept[between])
    if not (slope > 0 > start) or not -slope / start < 1e12:
        return
    fast, window = 1 - 1 / start, -slope / start
    for ratio, length in ((round(fast), _roundest(0.999 * window, 1.001 * window)), (fast, max(2, round(window)))):
        if ratio > 1:
            paper = YarnPaper(factor=factor, window=length, fast=float(ratio))
            if scale is not None and factor > 1 and abs(scale - paper.attention_factor) < 1e-4:
                yield paper, base
            yield (Llama3 if ratio == Llama3.fast else ByParts)(factor=factor, window=length, fast=float(ratio)), base


def _yarns(
    base: float, factor: float, width: int, between: slice, kept: np.ndarray, scale: float | None
) -> Iterator[tuple[Schedule, float]]:
    """YaRN's code: the line over the planes' numbers ends at a and b; whole ones leave a range of windows."""
    slope, start = _line(np.arange(len(kept))[between], kept[between])
    if not slope < 0 or base <= 1:
        return
    b, a = -start / slope, (1 - start) / slope
    if not -0.5 < a < b < len(kept):
        return
    usual = Yarn(factor=factor, window=2)
    given = None if scale is None or abs(scale - usual.attention_factor) < 1e-4 else scale

    def wave(plane: float) -> float:
        """The positions in which a plane with this number turns once."""
        return float(1 / turns(1.0, theta=[base ** (-2 * plane / width)])[0])

    if max(abs(a - round(a)), abs(b - round(b))) < 0.05:
        a, b = round(a), round(b)
        slow = wave(b - 1), wave(b)  # the windows in which a plane between the two turns once
        fast = (usual.fast * wave(a) if a else 0.0), usual.fast * wave(a + 1)
        lowest, highest = max(slow[0], fast[0]), min(slow[1], fast[1])
        if math.floor(highest) > lowest and highest >= 2:
            yield Yarn(factor=factor, window=_roundest(lowest, highest), given=given), base
        window = _roundest(*slow)
        turned = _roundest(window / wave(a + 1), window / wave(a))
        yield Yarn(factor=factor, window=window, fast=float(turned), given=given), base
        yield Yarn(factor=factor, window=window, fast=window / wave(a + 0.5), given=given), base
        return
    fast_turns, length = wave(b) / wave(a), wave(b)
    for ratio, window in (
        (round(fast_turns), _roundest(0.999 * length, 1.001 * length)),
        (fast_turns, max(2, round(length))),
    ):
        yield Yarn(factor=factor, window=window, fast=float(ratio), given=given, whole=False), base


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope and start of the line through the points by least squares; flat if all lie at one x."""
    away = x - x.mean()
    slope = float((away * y).sum() / max((away**2).sum(), 1e-300))
    return slope, float(y.mean() - slope * x.mean())


def _roundest(low: float, high: float) -> int:
    """The whole number from 2 on between the two that most powers of two divide, as windows are."""
    step = 2 ** int(math.log2(max(high, 2)))
    while step > 1 and not low < step * math.floor(high / step) <= high:
        step //= 2
    return max(2, step * math.floor(high / step))


def _fits(x: np.ndarray, log: np.ndarray, doubt: np.ndarray) -> bool:
    slope = (x * log).sum() / (x * x).sum()
    return bool((np.abs(log - slope * x) < doubt).all())
