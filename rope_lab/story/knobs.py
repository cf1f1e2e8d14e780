r"""What may be altered in the rotation of the small model, one value for each knob; its weights stay as they are.

The token number t of a text (0, 1, 2, ...) stands at a place n: n = t, or, in a cache that re-turns, its row in the
cache. Queries and keys of that token turn by these angles, in all layers and heads alike:

1. position: $p = \mathrm{stretch} \cdot n + \mathrm{shift}$, in float64, then rounded to ``round_positions``;
2. frequencies: $\theta_i = \mathrm{base}^{-2i/8}$ for i = 0 to 3, slowed by ``scaling`` with $s$ = ``factor`` for a
   model that was trained at L = 512:
   "linear" $\theta_i / s$;
   "ntk" the base times $s^{8/6}$;
   "yarn", as its code has it: $\theta_i \left(g_i + (1 - g_i)/s\right)$ with $g_i = 1 - \mathrm{clip}((i - a)/(b - a),
   0, 1)$, $a = \max(\lfloor c(32) \rfloor, 0)$, $b = \min(\lceil c(1) \rceil, 7)$, $c(r) = 8 \ln(L/(2\pi r)) / (2 \ln
   \mathrm{base})$, and b + 0.001 in the place of b where a = b; besides, cosines and sines are multiplied by
   $0.1 \ln s + 1$ if s > 1;
3. then $\theta_i = 0$ in the planes that ``frozen`` names, 1 for the fastest and 4 for the slowest, and everywhere with
   ``none``, where scaling does not count either; then the sign of ``direction``;
4. angle: $p\,\theta_i$ in float64, then rounded to ``round_angles``;
5. pairs: coordinates (2i, 2i+1) for the layout "interleaved", as trained, and (i, i+4) for "half".

Rounding is that of `rope_lab.algebra.round_to`: to the nearest, ties to even, half formats by way of float32. A
position or angle of which float16 makes infinity (65,520 and more) is refused.

With ``window`` above 0 the cache holds so many tokens, the one being read among them. When it is full, the oldest token
behind the first ``sinks`` is dropped before the next is read. Keys and values of deeper layers stay what they were when
their token was read. With ``returned`` false, each token keeps its own number t as its place, and so do the keys. With
``returned`` true, places are rows of the cache: the token being read stands in the last row, and whenever something was
dropped, all keys held turn anew, from the keys before any turn, to their present rows.

>>> Knobs(layout="half").altered
('layout',)
>>> Knobs(frozen=(5,))
Traceback (most recent call last):
ValueError: frozen: expected planes from 1 (the fastest) to 4, each once, got (5,); () freezes none
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

from rope_lab.algebra.arguments import Layout, expect_layout, expect_one_of, expect_whole

Rounded = Literal["none", "bfloat16", "float16"]
Scaling = Literal["none", "linear", "ntk", "yarn"]
PLANES = 4  # of a head
LONGEST = 8192  # the longest text that is read, and the largest cache


@dataclass(frozen=True)
class Knobs:
    """The rotation of the small model; the defaults are those that it was trained with. What each does: `knobs`."""

    shift: int = 0  # 0 to 100,000: added to every position
    layout: Layout = "interleaved"
    direction: int = 1  # 1 as trained, or -1
    base: float = 10000.0  # above 1, up to 10 million
    frozen: tuple[int, ...] = ()  # planes that do not turn: 1 (the fastest) to 4
    stretch: float = 1.0  # 0 to 10: every position times this
    none: bool = False  # nothing turns
    round_angles: Rounded = "none"
    round_positions: Rounded = "none"
    scaling: Scaling = "none"
    factor: float = 1.0  # 1 to 64: of the scaling
    window: int = 0  # tokens that the cache holds, at least sinks + 2; 0: all
    sinks: int = 0  # 0 to 64: the first tokens, which it never drops
    returned: bool = False  # whether keys turn anew to their place in the cache

    def __post_init__(self) -> None:
        expect_whole(self.shift, name="shift", least=0, most=100_000)
        expect_layout(self.layout)
        if isinstance(self.direction, bool) or self.direction not in (1, -1):
            raise ValueError(f"direction: expected 1 or -1, got {self.direction!r}; 1 is counter-clockwise, as trained")
        for name, least, most in (("base", 1, 1e7), ("stretch", 0, 10), ("factor", 1, 64)):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not least <= value <= most or (name == "base" and value == 1):
                start = "above 1" if name == "base" else f"from {least}"
                raise ValueError(f"{name}: expected a number {start} to {most:g}, got {value!r}; {FIX[name]}")
        if len(set(self.frozen)) < len(self.frozen) or not set(self.frozen) <= set(range(1, PLANES + 1)):
            raise ValueError(
                f"frozen: expected planes from 1 (the fastest) to {PLANES}, each once, got {self.frozen}; "
                "() freezes none"
            )
        for name in ("none", "returned"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name}: expected True or False, got {getattr(self, name)!r}")
        for name, kind in (("round_angles", Rounded), ("round_positions", Rounded), ("scaling", Scaling)):
            expect_one_of(getattr(self, name), get_args(kind), name=name)
        expect_whole(self.sinks, name="sinks", least=0, most=64)
        expect_whole(self.window, name="window", least=0, most=LONGEST)
        if self.window and self.window < self.sinks + 2:
            raise ValueError(
                f"window: expected at least {self.sinks + 2} tokens with sinks={self.sinks}, got {self.window}: "
                "beside the first ones it holds the token being read and the one before; 0 holds all"
            )

    @property
    def altered(self) -> tuple[str, ...]:
        """The names of the knobs that are not as trained."""
        return tuple(f.name for f in fields(self) if getattr(self, f.name) != f.default)


FIX = {"base": "10000 is as trained", "stretch": "1 is as trained", "factor": "1 changes nothing"}
