"""The fingerprint: which rotary embedding a callable is, from its answers to the basis vectors.

>>> from rope_lab.algebra.layouts import rotate_elementwise
>>> theta = 500000.0 ** (-np.arange(4) / 4)
>>> print(fingerprint(lambda x, n: rotate_elementwise(x, n, theta=theta, layout="half"), head_dim=8))
layout        half-split: (0, 4) (1, 5) (2, 6) (3, 7)
rotated dims  8 of 8
direction     +1 (counter-clockwise)
base          500000, residual ...
...

Where positions have several axes, each axis has its planes and its rule:

>>> def along(axis):  # time turns planes 0 and 1, height planes 2 and 3, each from 1 on
...     theta = [1.0, 0.01, 0, 0] if axis == 0 else [0, 0, 1.0, 0.01] if axis == 1 else [1.0, 0.01, 1.0, 0.01]
...     return lambda x, n: rotate_elementwise(x, n, theta=theta)
>>> [axis.words for axis in axes_of(along, axes=2, head_dim=8)]
['axis 0: planes 0 to 1, base 10000', 'axis 1: planes 2 to 3, base 10000']
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rope_lab.algebra.arguments import expect_narrow, expect_whole, shown
from rope_lab.algebra.hf_schedules import RopeSettings
from rope_lab.audit.far_positions import FLOOR, LEAST, WINDOW, far_turns
from rope_lab.audit.foreign_code import restored
from rope_lab.audit.frequency_rule import Rule, explain
from rope_lab.audit.probe import (
    HEADS,
    TURNED,
    Matrices,
    OneHead,
    Probe,
    RefusedError,
    basis_matrices,
    measure,
    own_heads,
)
from rope_lab.errors import checking_arguments
from rope_lab.reading import json_text

FAR = (1009, 10007, 100003)  # primes: a half type rounds each of them


@dataclass(frozen=True)
class Fingerprint:
    """What `fingerprint` found. ``str()`` gives a short table, `to_json` the same for programs."""

    layout: str  # "interleaved", "half-split", "other", "none" (nothing turns) or "unknown" (see problems)
    pairs: tuple[tuple[int, int], ...]  # the coordinates that turn together, a < b
    rotated_dims: int  # how many coordinates turn
    head_dim: int
    direction: int  # +1 counter-clockwise, -1 clockwise, 0 if planes disagree or none turns
    base: float | None  # theta_i = base^(-2i/rotary_dim), or None if no single base fits
    base_residual: float | None  # its largest relative miss over the planes
    frequencies: tuple[float, ...]  # radians per position, one for each pair
    scheme: str  # the rule of the frequencies in words
    scale: float | None  # the factor on the length of what turns; 1 for a rotation
    orthogonal: bool
    dtype: str  # of what comes back
    precision: str  # of the angles: "float64", "float32", "half" or "unknown"
    angle_error: dict[int, float]  # radians by which the worst plane is off, at long positions
    form: str  # how the callable was called
    problems: tuple[str, ...]  # why this is not a rotary embedding, or not safe to use
    notes: tuple[str, ...]  # what is unusual and harmless

    @property
    def ok(self) -> bool:
        """Whether no problem was seen."""
        return not self.problems

    def to_json(self) -> str:
        """The report as JSON."""
        return json_text(asdict(self), indent=2)

    def __str__(self) -> str:
        shown = " ".join(str(pair) for pair in self.pairs[:4]) + (" ..." if len(self.pairs) > 4 else "")
        turning = {1: "+1 (counter-clockwise)", -1: "-1 (clockwise)", 0: "none" if not self.pairs else "mixed"}
        fitted = f"{self.base:.10g}, residual {self.base_residual:.1g}" if self.base else f"none: {self.scheme}"
        if self.base and self.scheme != "one base":
            fitted += f"; {self.scheme}"
        known = self.layout != "unknown"
        errors = ", ".join(f"{error:.1e} at {n}" for n, error in self.angle_error.items())
        rows = [
            ("layout", f"{self.layout}: {shown}" if self.pairs else self.layout),
            ("rotated dims", f"{self.rotated_dims} of {self.head_dim}" if known else "not measured"),
            ("direction", turning[self.direction] if known else "not measured"),
            ("base", fitted),
            *([("frequencies", _some(self.frequencies))] if not self.base and self.frequencies else []),
            ("orthogonal", ("yes" if self.orthogonal else "no") if known else "not measured"),
            ("dtype", f"{self.dtype}, angles in {self.precision}"),
            ("angle error", f"{errors} (radians)" if errors else "not measured"),
            *(("problem", text) for text in self.problems),
            *(("note", text) for text in self.notes),
        ]
        return "\n".join(f"{name:<14}{text}" for name, text in rows)


def fingerprint(
    f: Any, *, head_dim: int, settings: RopeSettings | None = None, window: int | None = None
) -> Fingerprint:
    r"""Read layout, width, direction, base and precision of a rotary embedding off its answers.

    $f(e_j, n) = \mathcal R_n e_j$: the basis vectors give the matrix of each position n. Coordinates that mix are a
    pair, its angle $n\theta_i$ is followed through n = 1, 2, 4, ..., and the $\theta_i$ are fitted to
    $\mathrm{base}^{-2i/r}$, where r is the number of coordinates that turn.

    Args:
        f: ``f(x, positions)``, any callable on numpy or torch arrays. The forms are tried one after the other: x
            (batch, heads, T, head_dim), (batch, T, head_dim), (T, head_dim), or with T before heads or in front of
            all; positions (T,) or (batch, T). ``form`` names the first that it answers.
        head_dim: The width of a head, a positive even integer.
        settings: What the model's configuration says, if known, as `rope_lab.algebra.rope_settings` reads it. It
            serves the words of ``scheme`` alone: they name what frequencies cannot, NTK-aware scaling and LongRoPE,
            and say where the list or the attention factor is another than that of the configuration.
        window: How many positions there are, at least 16. Default: 2^20. Thousands of them are asked.

    Returns:
        A `Fingerprint`, with angles in radians. All of it is computed in float64 from what f returns. f alone cannot
        show frequencies above pi, nor the base of a single plane. What f sets for the whole process is put back.

    Raises:
        ArgumentError: If head_dim is no positive even integer, window below 16, or settings are none. It is a
            ValueError, and of another kind a TypeError too. An error that f raises is not passed on: it is reported in
            ``problems``.

    >>> fingerprint(lambda x, n: x, head_dim=4).problems
    ('nothing turns: f returns x at every position',)
    """
    with checking_arguments():
        window = WINDOW if window is None else expect_whole(window, name="window", least=LEAST, limit=2**40)
        head_dim = expect_narrow(head_dim, name="head_dim", most=2048)
        expect_settings(settings)
    return _asked(f, head_dim, settings, window, everywhere=True)


def expect_settings(settings: Any) -> None:
    """Refuse what is no answer of `rope_lab.algebra.rope_settings`."""
    if not isinstance(settings, RopeSettings | None):
        raise TypeError(f"settings: expected RopeSettings, got {shown(settings):.90}; give rope_settings(config)")


def near_fingerprint(
    f: Any, *, head_dim: int, settings: RopeSettings | None = None, window: int | None = None, factor: bool = True
) -> Fingerprint:
    """The fingerprint from the positions alone that it is read from: all others were asked, or each costs a model.

    Without ``factor`` f was fitted from one position to another, where a factor on all of them cannot be seen.
    """
    return _asked(f, head_dim, settings, window or WINDOW, everywhere=False, factor=factor)


def _asked(
    f: Any, head_dim: int, settings: RopeSettings | None, window: int, *, everywhere: bool, factor: bool = True
) -> Fingerprint:
    with restored(), np.errstate(all="ignore"):  # an f that overflows shows in the answer
        try:
            probe = Probe(f, head_dim=head_dim)
            seen = measure(probe, far=FAR, window=window)
            if not seen.linear and seen.problems[-1].endswith("treated alike") and _heads_differ(probe):
                probe = OneHead(probe)
                seen = measure(probe, far=FAR, window=window)
                seen.notes.append(f"each head has its own frequencies: these are those of head 0 of {HEADS}")
            return _read(probe, seen, head_dim, settings, window, everywhere=everywhere, factor=factor)
        except RefusedError as refusal:
            return _blank(head_dim, str(refusal))


def _heads_differ(probe: Probe) -> bool:
    """Whether each head turns by frequencies of its own."""
    x = np.random.default_rng(4).normal(size=(2, HEADS, 5, probe.head_dim))
    return own_heads(probe, x, (1, 4, 2, 9, 6), tolerance=64 * max(FLOOR, probe.eps))


def _read(
    probe: Probe,
    seen: Matrices,
    head_dim: int,
    settings: RopeSettings | None,
    window: int,
    *,
    everywhere: bool,
    factor: bool,
) -> Fingerprint:
    problems = [*probe.remarks, *seen.problems]
    if not seen.linear:
        return _blank(head_dim, *problems, dtype=probe.dtype, form=probe.form)
    layout, notes = _layout(seen, head_dim)
    theta, doubt = seen.frequencies(probe.eps)
    whole = layout.startswith("half-split over")  # a configuration may have its exponents over the turning part
    width = 2 * len(theta)
    if whole and (settings is None or (settings.rotary_dim or settings.head_dim) != width):
        width = head_dim
    scale, steady = seen.scale(probe.eps)
    rest = width // 2 - len(theta)  # planes of the formula that stand still
    every, unsure = np.pad(theta, (0, rest)), np.pad(doubt, (0, rest))
    longest = 0 if any(problem.startswith("angles change") for problem in problems) else max(seen.positions) + 1
    meant = scale if factor else None
    rule = explain(every, width=width, doubt=unsure, scale=meant, settings=settings, longest=longest)
    over = width
    odd = _over_odd_width(rule, theta, doubt, width)
    if odd is not None:
        rule, over = odd, width - 1
        notes.append(f"its exponents are over an odd width, {over}")
    ideal = rule.base ** (-2.0 * np.arange(len(theta)) / over) if rule.base else np.abs(theta)
    error = seen.angle_error(np.sign(theta) * ideal)
    orthogonal = seen.orthogonal(probe.eps)
    even = seen if orthogonal else seen.over(scale or 1.0)
    factor_alone = orthogonal or even.orthogonal(probe.eps)
    if TURNED in problems and (start := start_of(probe)):  # a first position, which harms nothing
        problems.remove(TURNED)
        notes.append(start.words)
    directions = set(np.sign(theta).astype(int).tolist())
    if not steady:
        problems.append("lengths change with the position")
    elif not orthogonal and factor_alone:
        notes.append(f"a constant factor {scale:.6g} on what turns, as YaRN's attention factor")
    elif not orthogonal and even.two_speeds(probe.eps):
        layout = "other"
        problems.append("mismatched cos/sin layout: the two coordinates of a pair turn by different angles")
    elif not orthogonal:
        problems.append("not orthogonal: lengths and angles between vectors change")
    unsteady = seen.unsteady(theta, probe.eps, window=window) if orthogonal or factor_alone else None
    if unsteady:
        problems.append("position {0} does not turn {0} times as far as position 1: off by {1:.1e}".format(*unsteady))
    elif everywhere and seen.coupled and (orthogonal or factor_alone) and not seen.problems:
        far = far_turns(probe, window=window)
        problems += [far.words] if far.wrong is not None else []
    if len(directions) > 1 and not unsteady:
        notes.append("some planes turn the other way")  # each is relative by itself
    if probe.dtype != probe.form.split(",")[0].split()[1]:
        said = f"returns {probe.dtype} for {probe.form.split(',')[0].split()[1]}"
        (notes if probe.library not in ("numpy", "torch") else problems).append(said)
    return Fingerprint(
        layout="other" if layout.startswith("half-split over") else layout,
        pairs=seen.pairs,
        rotated_dims=2 * len(seen.pairs) if seen.coupled else 2 * len(theta),
        head_dim=head_dim,
        direction=directions.pop() if len(directions) == 1 else 0,
        base=rule.base,
        base_residual=rule.residual,
        frequencies=tuple(np.abs(theta).tolist()),
        scheme=rule.scheme,
        scale=None if scale is None or not factor else round(scale, 12),
        orthogonal=orthogonal,
        dtype=probe.dtype,
        precision=_precision(error, probe.eps) if not problems or orthogonal else "unknown",
        angle_error=error,
        form=probe.form,
        problems=tuple(problems),
        notes=(*notes, *seen.notes),
    )


def _over_odd_width(rule: Rule, theta: np.ndarray, doubt: np.ndarray, width: int) -> Rule | None:
    """The rule over one coordinate less, where that has a round base, this one none, and the digits to tell."""
    if not rule.base or len(theta) < 8 or 2 * len(theta) != width or float(f"{rule.base:.2g}") == rule.base:
        return None
    odd = explain(theta, width=width - 1, doubt=doubt)
    sure = odd.base is not None and odd.residual is not None and odd.residual < 1e-5
    return odd if sure and float(f"{odd.base:.2g}") == odd.base else None


def _layout(seen: Matrices, head_dim: int) -> tuple[str, list[str]]:
    """The name of the layout that has these pairs, and notes on it."""
    pairs = seen.pairs
    if not pairs:
        return ("other", ["the planes are no pairs of coordinates"]) if not seen.coupled else ("none", [])
    first, count = pairs[0][0], len(pairs)
    notes = [f"the turning coordinates begin at {first}"] if first else []
    if pairs == tuple((first + 2 * i, first + 2 * i + 1) for i in range(count)):
        return "interleaved", notes + (["one plane: both layouts are the same"] if count == 1 else [])
    if pairs == tuple((first + i, first + i + count) for i in range(count)):
        return "half-split", notes
    if pairs == tuple((i, i + head_dim // 2) for i in range(count)):
        return "half-split over the head", ["pairs (i, i + head_dim/2), but only the first planes turn"]
    return "other", notes


def _precision(error: dict[int, float], eps: float) -> str:
    """The dtype of the angles, from how fast their error grows with the position beyond the rounding of the answer."""
    rate = max((max(0.0, miss - 2 * eps) / n for n, miss in error.items()), default=None)
    if rate is None:
        return "unknown"
    return "float64" if rate < 1e-11 and eps < 1e-9 else "float32" if rate < 5e-6 else "half"


def _some(values: tuple[float, ...]) -> str:
    shown = [f"{value:.6g}" for value in values]
    return ", ".join(shown if len(shown) <= 6 else [*shown[:3], "...", *shown[-2:]])


def _blank(head_dim: int, *problems: str, dtype: str = "unknown", form: str = "none") -> Fingerprint:
    return Fingerprint(
        layout="unknown",
        pairs=(),
        rotated_dims=0,
        head_dim=head_dim,
        direction=0,
        base=None,
        base_residual=None,
        frequencies=(),
        scheme="unknown",
        scale=None,
        orthogonal=False,
        dtype=dtype,
        precision="unknown",
        angle_error={},
        form=form,
        problems=tuple(problems),
        notes=(),
    )


@dataclass(frozen=True)
class Start:
    """What f does at position 0, and its name."""

    matrix: np.ndarray
    words: str


class Corrected(Probe):
    """A callable with its start divided out."""

    def __init__(self, probe: Probe, start: Start) -> None:
        self.__dict__.update(probe.__dict__, first=None)
        self.inverse = np.linalg.inv(start.matrix)

    def _call(self, form, x, positions):
        return super()._call(form, x, positions) @ self.inverse.T

    def gradient(self, x, positions, g, *, between=None):
        return super().gradient(x, positions, g @ self.inverse, between=between)


def start_of(probe: Probe) -> Start | None:
    r"""The map that f applies at position 0 if it does no harm, and is not the identity; else None.

    With $f(x, n) = S\,\mathcal R_n x$ and one matrix S for all positions, $S^{-1}f$ is a rotation. A law that f breaks
    and $S^{-1}f$ keeps is broken by design if $S^\top S$ commutes with the rotation: a logit is
    $q^\top \mathcal R_m^\top S^\top S\,\mathcal R_n k$, so it sees the offset alone. That is so of a factor on lengths
    (YaRN), an order of the coordinates (DeepSeek's way of pairing neighbours), a turn $\mathcal R_c$ (counting from c),
    and any other orthogonal map after the turn.

    >>> from rope_lab.algebra.layouts import rotate_elementwise
    >>> scaled = Probe(lambda x, n: 1.5 * rotate_elementwise(x, n, theta=[1.0, 0.1]), head_dim=4)
    >>> start_of(scaled).words
    'a constant factor 1.5 on lengths'
    >>> start_of(Probe(lambda x, n: rotate_elementwise(x, n + 1, theta=[1.0, 0.1]), head_dim=4)).words
    'positions count from 1'
    """
    found = starts_of(probe, probe)
    return found[0] if found else None


def starts_of(q: Probe, k: Probe) -> tuple[Start, Start] | None:
    r"""The maps S and T that q and k apply at position 0, if the pair of them does no harm; else None.

    $S^\top T$ must be symmetric and positive, so that it turns nothing, and commute with the rotation.
    """
    try:
        maps = [basis_matrices(p, (0, 1, 5)) for p in ((q,) if q is k else (q, k))]
    except RefusedError:
        return None
    tolerance = 16 * max(q.eps, k.eps, 2.0**-22)
    if not all(np.isfinite(m).all() and np.abs(m).max() < 1e100 for m in maps):
        return None
    if any((sizes := np.linalg.svd(m[0])[1]).min() <= tolerance * sizes.max() for m in maps):
        return None
    cross = maps[0][0].T @ maps[-1][0]
    cross /= np.abs(cross).max()
    if np.abs(cross - cross.T).max() > tolerance or np.linalg.eigvalsh(cross + cross.T).min() <= tolerance:
        return None
    steps = [np.linalg.solve(m[0], later) for m in maps for later in m[1:]]
    if max(np.abs(cross @ step - step @ cross).max() for step in steps) > 2 * tolerance * max(
        map(np.max, map(abs, steps))
    ):
        return None
    found = [Start(m[0], _start_words(m[0], step, tolerance)) for m, step in zip(maps, steps[::2], strict=True)]
    return (found[0], found[-1]) if any(start.words for start in found) else None


def apart(q: Probe, k: Probe) -> float | None:
    """The positions by which keys stand farther than queries, where each has a first position; else None."""
    try:
        maps = [basis_matrices(p, (0, 1)) for p in (q, k)]
    except RefusedError:
        return None
    tolerance = 16 * max(q.eps, k.eps, 2.0**-22)
    eye = np.eye(q.head_dim)
    if not all(np.isfinite(m).all() and np.abs(n @ n.T - eye).max() <= tolerance for m in maps for n in m):
        return None
    first = [_offset(m[0], m[0].T @ m[1], tolerance) for m in maps]
    return None if first[0] is None or first[1] is None or first[0] == first[1] else first[1] - first[0]


def _start_words(start: np.ndarray, step: np.ndarray, tolerance: float) -> str:
    """A map without inverse lengths as words: its factors, and the orthogonal map that remains."""
    left, sizes, right = np.linalg.svd(start)
    factor, turned = sizes[np.abs(sizes - 1).argmax()], left @ right
    words = [f"a constant factor {factor:.6g} on lengths"] if abs(factor - 1) > tolerance else []
    if not np.isclose(np.minimum(abs(sizes - 1), abs(sizes - factor)), 0, atol=tolerance * factor).all():
        words = [f"constant factors {sizes.min():.6g} to {sizes.max():.6g} on lengths"]
    if np.abs(np.abs(turned).max(axis=1) - 1).max() <= tolerance:
        order = np.abs(turned).argmax(axis=1)
        if (order != np.arange(len(order))).any():
            words.append("the answer has its coordinates in another order")
        if (turned[np.arange(len(order)), order] < 0).any():
            words.append("coordinates change sign")
    else:
        offset = _offset(turned, step, tolerance)
        words.append("one orthogonal map after the turn" if offset is None else f"positions count from {offset:.6g}")
    return ", ".join(words)


def _offset(turned: np.ndarray, step: np.ndarray, tolerance: float) -> float | None:
    """c where ``turned`` is the rotation of position c, from the planes of one step; None where there is no such c."""
    mixing = np.maximum(abs(step), abs(turned)) > tolerance
    mixing |= mixing.T
    np.fill_diagonal(mixing, False)
    if (mixing.sum(axis=0) > 1).any() or not mixing.any():
        return None
    a, b = np.array([(i, j) for i, j in np.argwhere(mixing) if i < j]).T
    theta, phi = (np.angle(m[a, a] + m[b, b] + 1j * (m[b, a] - m[a, b])) for m in (step, turned))
    turning = np.abs(theta) > tolerance
    if not turning.any():
        return None
    c = 0.0
    for i in np.argsort(np.where(turning, np.abs(theta), np.inf))[: turning.sum()]:  # slow planes count whole turns
        miss = np.angle(np.exp(1j * (phi[i] - c * theta[i])))
        if c and abs(miss) > 0.5:
            return None
        c += miss / theta[i]
    c = round(c) if abs(c - round(c)) < 1e-3 else c
    misses = np.abs(np.angle(np.exp(1j * (phi - c * theta))))
    return float(c) if misses.max() <= 64 * tolerance * max(1.0, abs(c)) else None


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
    together = near_fingerprint(along(None), head_dim=head_dim)
    single = [near_fingerprint(along(a), head_dim=head_dim) for a in range(axes)]
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
    """The order in which the planes are dealt out to the axes, in words.

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
