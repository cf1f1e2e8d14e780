r"""Schedules of frequencies as values: how a rotation that was trained in one window is slowed for a longer one.

>>> Llama3(factor=8, window=8192).frequencies(128, base=500000.0)[[0, 32, 63]]
array([1.00000000e+00, 5.24846161e-04, 3.06892599e-07])
>>> Yarn(factor=4, window=32768).attention_factor
1.138629436111989
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float64

from rope_lab.algebra.arguments import expect_number, expect_real, expect_whole, shown
from rope_lab.algebra.rotation import frequencies as one_base
from rope_lab.algebra.schedule import turns

Frequencies = Float64[np.ndarray, "planes"]


@dataclass(frozen=True)
class Schedule:
    r"""One base and nothing else: $\theta_i = \mathrm{base}^{-2i/\mathrm{width}}$. All others are made from it.

    Source: ``compute_default_rope_parameters`` of the models in transformers.

    >>> Schedule().frequencies(4, base=10000.0)
    array([1.  , 0.01])
    """

    by_length: ClassVar[bool] = False  # whether it is another list for a text of another length

    def frequencies(self, width: int, *, base: float) -> Frequencies:
        """The frequency of each plane.

        Args:
            width: How many coordinates turn, even.
            base: A positive number.

        Returns:
            (width/2,), float64, in radians per position.

        Raises:
            ValueError: If width or base do not fit, or if the list depends on the length of the text: ask `at` first.
        """
        if self.by_length:
            raise ValueError(
                f"{type(self).__name__}: expected a length, since its frequencies depend on that of the text; "
                "write schedule.at(8192)"
            )
        return self._made(one_base(width, base=base), base)

    def _made(self, theta: Frequencies, _base: float) -> Frequencies:
        """Apply the schedule to the frequencies of one base."""
        return theta

    @property
    def attention_factor(self) -> float:
        """The factor that cosines and sines are multiplied by; the turning part of a logit grows by its square."""
        return 1.0

    def at(self, length: int) -> Schedule:
        """The schedule for a text of ``length`` tokens, free of any length; most schedules return themselves."""
        expect_whole(length, name="length", least=1)
        return self


@dataclass(frozen=True)
class Linear(Schedule):
    r"""Position interpolation: $\theta_i / s$, as if all positions were divided by the factor s.

    Source: arXiv 2306.15595; ``_compute_linear_scaling_rope_parameters`` of transformers.

    >>> Linear(factor=4).frequencies(4, base=10000.0)
    array([0.25  , 0.0025])
    """

    factor: float

    def __post_init__(self) -> None:
        _positive(self, "factor")

    def _made(self, theta: Frequencies, _base: float) -> Frequencies:
        return theta / self.factor


@dataclass(frozen=True)
class NTK(Schedule):
    r"""NTK-aware scaling: the base times $s^{d/(d-2)}$. The slowest plane is s times slower, the fastest as before.

    $\theta_i\, s^{-2i/(d-2)}$

    Source: bloc97 (2023); ``_compute_dynamic_ntk_parameters`` of transformers has the exponent.

    >>> NTK(factor=4).frequencies(4, base=10000.0)
    array([1.    , 0.0025])
    """

    factor: float

    def __post_init__(self) -> None:
        _positive(self, "factor")

    def _made(self, theta: Frequencies, _base: float) -> Frequencies:
        if len(theta) < 2:
            raise ValueError(
                "width: expected at least 4 for NTK, got 2: one plane has no base to change; leave NTK out"
            )
        return theta * self.factor ** (-np.arange(len(theta)) / (len(theta) - 1))


@dataclass(frozen=True)
class DynamicNTK(Schedule):
    r"""NTK-aware scaling by $s n/L - (s - 1)$ for a text of n tokens beyond the window L; none within it.

    With the text grow the frequencies of all its tokens, so that keys turned earlier no longer fit.

    Source: emozilla (2023); ``_compute_dynamic_ntk_parameters`` of transformers.

    >>> DynamicNTK(factor=2, window=4096).at(8192)
    NTK(factor=3.0)
    """

    factor: float
    window: int  # L, the length that the model was trained with
    by_length: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _positive(self, "factor")
        _window(self)

    def at(self, length: int) -> Schedule:
        length = max(expect_whole(length, name="length", least=1), self.window)
        return NTK(factor=self.factor * length / self.window - (self.factor - 1))


@dataclass(frozen=True)
class ByParts(Schedule):
    r"""Planes that turned often in the window L stay, slow ones are slowed by s, with a ramp over the turns between.

    $\theta_i \left(\gamma_i + \frac{1 - \gamma_i}{s}\right)$, $\gamma_i = \mathrm{clip}\!\left(\frac{r_i -
    \alpha}{\beta - \alpha}, 0, 1\right)$ with the turns $r_i = L\theta_i / 2\pi$; a step where $\alpha = \beta$

    Source: arXiv 2309.00071, "NTK-by-parts".

    >>> ByParts(factor=4, window=512).frequencies(8, base=10000.0).round(5)
    array([1.00e+00, 4.23e-02, 2.50e-03, 2.50e-04])
    """

    factor: float
    window: int  # L
    slow: float = 1.0  # alpha: up to so many turns a plane is slowed by the whole factor
    fast: float = 32.0  # beta: from so many turns on it stays

    def __post_init__(self) -> None:
        _positive(self, "factor", "slow", "fast")
        _window(self)
        if not self.slow <= self.fast:
            raise ValueError(
                f"{type(self).__name__}: expected fewer turns for slow planes than for fast ones, or as many, got "
                f"{self.slow} and {self.fast}; the usual pairs are 1 and 32, 1 and 4"
            )

    def _made(self, theta: Frequencies, _base: float) -> Frequencies:
        made = turns(self.window, theta=theta)
        if self.slow == self.fast:  # as in Llama 4 Scout
            return _slowed(theta, (made >= self.slow).astype(float), self.factor)
        kept = np.clip((made - self.slow) / (self.fast - self.slow), 0, 1)
        return _slowed(theta, kept, self.factor)


@dataclass(frozen=True)
class Llama3(ByParts):
    """The rule of Llama 3.1 and later: `ByParts` with 1 and 4 turns (``low_freq_factor`` and ``high_freq_factor``).

    Source: ``_compute_llama3_parameters`` of transformers, which says it by wavelengths.

    >>> Llama3(factor=8, window=8192).fast
    4.0
    """

    fast: float = 4.0


@dataclass(frozen=True)
class YarnPaper(ByParts):
    r"""YaRN as its paper has it: `ByParts`, and cosines and sines times $0.1 \ln s + 1$.

    Source: arXiv 2309.00071, section 3.4.

    >>> YarnPaper(factor=16, window=4096).attention_factor
    1.2772588722239782
    """

    @property
    def attention_factor(self) -> float:
        return _temperature(self.factor)


@dataclass(frozen=True)
class Yarn(Schedule):
    r"""YaRN as its code has it: the ramp runs over the numbers of the planes, not over their turns.

    $\theta_i \left(g_i + \frac{1 - g_i}{s}\right)$, $g_i = 1 - \mathrm{clip}\!\left(\frac{i - a}{b - a}, 0, 1\right)$,
    $a = \lfloor c(\beta) \rfloor$, $b = \lceil c(\alpha) \rceil$, $c(r) = \frac{d \ln (L / 2\pi r)}{2 \ln
    \mathrm{base}}$, both held within 0 and d - 1; cosines and sines times $m(1)$, or $m(\mathrm{mscale}) /
    m(\mathrm{mscale\_all\_dim})$, with $m(x) = 0.1\, x \ln s + 1$

    Source: ``_compute_yarn_parameters`` of transformers, after the code of jquesnelle/yarn.

    >>> Yarn(factor=4, window=512).frequencies(8, base=10000.0)
    array([1.00e+00, 6.25e-02, 2.50e-03, 2.50e-04])
    """

    factor: float
    window: int  # L
    slow: float = 1.0  # alpha, beta_slow in configurations
    fast: float = 32.0  # beta, beta_fast
    mscale: float | None = None
    mscale_all_dim: float | None = None
    given: float | None = None  # the attention factor, where a configuration gives it
    whole: bool = True  # a and b are rounded to whole planes (``truncate``)

    def __post_init__(self) -> None:
        _positive(self, "factor", "slow", "fast")
        _window(self)
        if self.given is not None:
            _positive(self, "given")
        for name in ("mscale", "mscale_all_dim"):
            if (value := getattr(self, name)) is not None and expect_number(value, name=name) < 0:
                raise ValueError(f"{name}: expected a number of at least 0, got {value}; None is the usual one")
        if not isinstance(self.whole, bool):
            raise TypeError(f"whole: expected True or False, got {shown(self.whole)}; True rounds to whole planes")
        if not self.slow <= self.fast:
            raise ValueError(
                f"Yarn: expected beta_slow up to beta_fast, got {self.slow} and {self.fast}; exchange them"
            )

    def _made(self, theta: Frequencies, base: float) -> Frequencies:
        width = 2 * len(theta)
        if base == 1:
            raise ValueError("base: expected another number than 1 for YaRN, got 1: every plane turns at one speed")
        a, b = (
            width * math.log(self.window / (2 * math.pi * r)) / (2 * math.log(base)) for r in (self.fast, self.slow)
        )
        if self.whole:
            a, b = math.floor(a), math.ceil(b)
        a, b = max(a, 0), min(b, width - 1)
        kept = 1 - np.clip((np.arange(len(theta)) - a) / (b - a if b != a else 0.001), 0, 1)
        return _slowed(theta, kept, self.factor)

    @property
    def attention_factor(self) -> float:
        if self.given is not None:
            return float(self.given)
        if self.mscale and self.mscale_all_dim:
            return _temperature(self.factor, self.mscale) / _temperature(self.factor, self.mscale_all_dim)
        return _temperature(self.factor)


@dataclass(frozen=True)
class Divided(Schedule):
    r"""Each plane with a divisor of its own: $\theta_i / f_i$.

    >>> Divided(divisors=(1.0, 4.0)).frequencies(4, base=10000.0)
    array([1.    , 0.0025])
    """

    divisors: tuple[float, ...]
    given: float = 1.0  # the attention factor

    def __post_init__(self) -> None:
        object.__setattr__(self, "divisors", _divisors(self.divisors, name="divisors"))
        _positive(self, "given")

    def _made(self, theta: Frequencies, _base: float) -> Frequencies:
        if len(self.divisors) != len(theta):
            raise ValueError(
                f"divisors: expected one for each of {len(theta)} planes, got {len(self.divisors)}; "
                "with partial rotary the width is that of the turning part"
            )
        return theta / np.array(self.divisors)

    @property
    def attention_factor(self) -> float:
        return float(self.given)


@dataclass(frozen=True)
class LongRoPE(Schedule):
    r"""LongRoPE: one list of divisors up to the window L, another for longer texts.

    $\theta_i / f_i$; cosines and sines times $\sqrt{1 + \ln s / \ln L}$ if s > 1, in short texts too

    Source: arXiv 2402.13753; ``_compute_longrope_parameters`` of transformers.

    >>> LongRoPE(short=(1, 1), long=(1, 8), window=4096, factor=32).at(4097).divisors
    (1.0, 8.0)
    """

    short: tuple[float, ...]
    long: tuple[float, ...]
    window: int  # L
    factor: float  # s, of the new window to L
    given: float | None = None  # the attention factor, where a configuration gives it
    by_length: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _positive(self, "factor")
        _window(self)
        if self.given is not None:
            _positive(self, "given")
        for name in ("short", "long"):
            object.__setattr__(self, name, _divisors(getattr(self, name), name=name))
        if len(self.short) != len(self.long):
            raise ValueError(
                f"long: expected {len(self.short)} divisors, as short has, got {len(self.long)}; give each plane one"
            )

    @property
    def attention_factor(self) -> float:
        if self.given is not None:
            return float(self.given)
        return 1.0 if self.factor <= 1 else math.sqrt(1 + math.log(self.factor) / math.log(self.window))

    def at(self, length: int) -> Schedule:
        beyond = expect_whole(length, name="length", least=1) > self.window
        return Divided(self.long if beyond else self.short, given=self.attention_factor)


@dataclass(frozen=True)
class Proportional(Schedule):
    r"""A share p of the planes as they are, the others at rest: $\theta_i$ for $i < \lfloor p\,d/2 \rfloor$, else 0.

    Unlike partial rotary, which divides by the turning width, the exponent has the width of the whole head.

    Source: ``_compute_proportional_rope_parameters`` of transformers.

    >>> Proportional(share=0.5).frequencies(8, base=10000.0)
    array([1. , 0.1, 0. , 0. ])
    """

    share: float
    factor: float = 1.0

    def __post_init__(self) -> None:
        _positive(self, "factor")
        if not 0 <= expect_number(self.share, name="share") <= 1:
            raise ValueError(f"share: expected a number from 0 to 1, got {self.share}; 1 turns every plane")

    def _made(self, theta: Frequencies, _base: float) -> Frequencies:
        turning = int(self.share * 2 * len(theta) // 2)  # the library's own order of rounding
        return np.where(np.arange(len(theta)) < turning, theta / self.factor, 0.0)


def _slowed(theta: Frequencies, kept: Frequencies, factor: float) -> Frequencies:
    return theta * (kept + (1 - kept) / factor)


def _temperature(factor: float, scale: float = 1.0) -> float:
    return 1.0 if factor <= 1 else 0.1 * scale * math.log(factor) + 1.0


def _positive(schedule: Schedule, *names: str) -> None:
    for name in names:
        if not expect_number(getattr(schedule, name), name=name) > 0:
            raise ValueError(f"{name}: expected a number above 0, got {getattr(schedule, name)}; 1 changes nothing")


def _window(schedule: Any) -> None:
    expect_whole(schedule.window, name="window", least=2, fix="give the length that the model was trained with")


def _divisors(values: Sequence[float], *, name: str) -> tuple[float, ...]:
    divisors = expect_real(values, name=name)
    if divisors.ndim != 1 or not len(divisors) or (divisors <= 0).any():
        raise ValueError(f"{name}: expected a list of numbers above 0, one for each plane, got {shown(values)}")
    return tuple(divisors.tolist())
