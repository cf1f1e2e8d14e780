"""Positions of several axes: which planes each axis turns, by which rule, and whether all planes are of one list.

>>> from rope_lab.algebra.layouts import rotate_elementwise
>>> def along(axis):  # time turns planes 0 and 1, height planes 2 and 3, each from 1 on
...     theta = [1.0, 0.01, 0, 0] if axis == 0 else [0, 0, 1.0, 0.01] if axis == 1 else [1.0, 0.01, 1.0, 0.01]
...     return lambda x, n: rotate_elementwise(x, n, theta=theta)
>>> [axis.words for axis in axes_of(along, axes=2, head_dim=8)]
['axis 0: planes 0 to 1, base 10000', 'axis 1: planes 2 to 3, base 10000']
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rope_lab.audit.fingerprints import Fingerprint, fingerprint
from rope_lab.audit.frequency_rule import Rule, explain


@dataclass(frozen=True)
class Axis:
    """What one axis of the positions turns."""

    number: int
    planes: tuple[int, ...]  # numbered as all axes together turn them
    frequencies: tuple[float, ...]
    base: float | None
    base_residual: float | None
    scheme: str

    @property
    def words(self) -> str:
        """The axis in one line."""
        rule = f"base {self.base:.10g}" if self.base else self.scheme
        if self.base and self.scheme != "one base":
            rule += f", {self.scheme}"
        return f"axis {self.number}: planes {_runs(self.planes)}, {rule}"


def axes_of(along: Callable[[int | None], Any], *, axes: int, head_dim: int) -> tuple[Axis, ...]:
    """The planes and the rule of each axis.

    If all planes together are one list with one base, as in M-RoPE, that base is the base of each axis; otherwise each
    axis is fitted with its own width.

    Args:
        along: ``along(a)`` is f(x, positions) for positions on axis a; ``along(None)`` for all axes at once.
        axes: How many there are.
        head_dim: The width of a head.
    """
    together = fingerprint(along(None), head_dim=head_dim)
    single = [fingerprint(along(a), head_dim=head_dim) for a in range(axes)]
    order = {pair: i for i, pair in enumerate(together.pairs)}
    one_list = together.base is not None and sum(len(seen.pairs) for seen in single) == len(together.pairs)
    found = []
    for a, seen in enumerate(single):
        planes = tuple(order.get(pair, -1) for pair in seen.pairs)
        if one_list:
            rule = Rule(together.base, together.base_residual, f"a part of one list of {len(order)} planes")
        else:
            rule = own_rule(seen)
        found.append(Axis(a, planes, seen.frequencies, rule.base, rule.residual, rule.scheme))
    return tuple(found)


def arrangement(axes: Sequence[Axis]) -> str:
    """How the planes are dealt out to the axes, in words.

    Args:
        axes: What `axes_of` found, in its order.

    Returns:
        By sections and in turn: parts of one list of frequencies. Axial: a block for each axis, with a list of its
        own. Mixed: a plane turns with several axes. Anything else is "in another order".
    """
    counts = ", ".join(str(len(axis.planes)) for axis in axes)
    owners = sorted((plane, axis.number) for axis in axes for plane in axis.planes)
    if len({plane for plane, _ in owners}) < len(owners):
        return "mixed: a plane turns with several axes"
    order, own = [number for _, number in owners], [axis.scheme for axis in axes]
    if order == sorted(order):
        parts = all("of one list" in scheme for scheme in own)
        return f"by sections of {counts} planes" if parts else f"axial: blocks of {counts} planes"
    left = [len(axis.planes) for axis in axes]
    for plane, owner in enumerate(order):
        due = plane % len(axes)
        if owner != (due if left[due] else 0):
            return f"in another order, {counts} planes"
        left[owner] -= 1
    return f"in turn (interleaved), {counts} planes"


def own_rule(seen: Fingerprint) -> Rule:
    """The rule of the planes that turn, with the width that they have together."""
    if not seen.frequencies:
        return Rule(None, None, "nothing turns")
    return explain(np.array(seen.frequencies), width=2 * len(seen.frequencies))


def _runs(planes: tuple[int, ...]) -> str:
    """Numbers in a few words: 0 to 15; or each third from 1 to 58."""
    if len(planes) < 2:
        return ", ".join(map(str, planes)) or "none"
    steps = set(np.diff(planes).tolist())
    if steps == {1}:
        return f"{planes[0]} to {planes[-1]}"
    if len(steps) == 1:
        return f"{planes[0]}, {planes[1]}, ... {planes[-1]}"
    return ", ".join(map(str, planes[:6])) + (f", ... {planes[-1]}" if len(planes) > 6 else "")
