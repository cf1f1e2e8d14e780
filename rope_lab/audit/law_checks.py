"""The single laws. Each takes the subject of the test and says whether it holds, what was seen, and on which input.

Why a law is broken is asked further: along which axis a callable turns, and what differs far out.

>>> from rope_lab.algebra.layouts import rotate_elementwise
>>> right = Probe(lambda x, n: rotate_elementwise(x, n, theta=[1.0]), head_dim=2)
>>> wrong = Probe(lambda x, n: 2 * x, head_dim=2)
>>> x = np.ones((1, 1, 5, 2))
>>> [bool(CHECKS["isometry"](Subject(p, p, x, x))[0]) for p in (right, wrong)]
[True, False]
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain, pairwise, product
from typing import Any

import numpy as np

from rope_lab.audit.far_positions import DRIFT, FLOOR, WINDOW, far_turns
from rope_lab.audit.foreign_code import in_a_line
from rope_lab.audit.probe import EPS, FEW, Probe, RefusedError, own_heads

FAR_OUT = (15, 127, 255, 256, 1020, 1023, 4095, 4096, 8191, 16384, 32767)  # with the last of 8 and of 16 bits
REACHES = (16385, *(2**k - 1 for k in range(14, 3, -1)))
Finding = tuple[bool | np.bool_, str, str]  # whether it holds, what was seen, the positions that were tried


@dataclass
class Subject:
    """The callables under test, one for q and one for k, which may be the same, with the vectors to try them on."""

    q: Probe
    k: Probe
    x: np.ndarray
    y: np.ndarray
    window: int = WINDOW  # positions from this one on are not promised

    @property
    def rounding(self) -> float:
        """The amount by which the dtype of the answers may change a number near 1."""
        return max(FLOOR, 4 * max(self.q.eps, self.k.eps))

    def tolerance(self, farthest: float = 0.0) -> float:
        """The largest error that a law allows: rounding of the answers, and of float32 angles up to ``farthest``."""
        return float(np.abs(self.x).max()) * (self.rounding + DRIFT * farthest)

    def score_tolerance(self, farthest: float = 0.0) -> float:
        """The tolerance for a score: the rounding errors of its head_dim terms add up as a random walk does."""
        size = float(np.abs(self.x).max())
        rounded = max(4 * (FLOOR + DRIFT * farthest), 4 * max(self.q.eps, self.k.eps) + DRIFT * farthest)
        return size * rounded * self.q.head_dim**0.5

    @cached_property
    def reach(self) -> int:
        """The farthest of some positions within the window that both callables answer: a table may end."""
        return self._answered(sorted({min(n, self.window - 1) for n in REACHES}, reverse=True))

    @cached_property
    def beyond(self) -> int:
        """The farthest of these positions that both answer, whatever the window."""
        return self._answered(REACHES)

    @cached_property
    def own_heads(self) -> bool:
        """Whether each head has its own frequencies."""
        at = (1, 4, 2, 9, 6)
        return any(own_heads(p, self.x, at, tolerance=4 * self.tolerance(10)) for p in _callables(self))

    @cached_property
    def shared(self) -> bool:
        """Whether q and k change lengths by inverse factors, and their scores depend on the offset alone."""
        if self.q is self.k or _isometry(self)[0]:
            return False
        at = [self.fit([0, 1, 17, 254, 1001], top=1001), np.zeros(5, dtype=int)]
        moved, still = (_score(self, n, n) for n in at)
        return bool(np.abs(moved - still).max() <= self.score_tolerance() and _relativity(self)[0])

    @property
    def sides(self) -> tuple[tuple[Probe, Probe], ...]:
        """The pairs that must be relative: q with k where they are so together alone, else each with itself."""
        return ((self.q, self.k),) if self.shared else tuple((p, p) for p in _callables(self))

    def _answered(self, reaches: Iterable[int]) -> int:
        for n in reaches:
            try:
                for p in (self.q, self.k):
                    p(self.x, (n,) * 5)
            except RefusedError as refusal:
                last = refusal
            else:
                return n
        raise last

    def fit(self, positions: Any, *, top: int) -> np.ndarray:
        """The positions, scaled down if the largest, ``top``, lies beyond the end of a table."""
        positions = np.asarray(positions)
        return positions if top <= self.reach else positions * self.reach // top


def _callables(s: Subject) -> Iterable[Probe]:
    return (s.q,) if s.q is s.k else (s.q, s.k)


def _linear(s: Subject) -> Finding:
    """f(a x + b y) = a f(x) + b f(y), twice the same, nothing written into the input."""
    at, worst = (3, 0, 7, 1, 4), 0.0
    for p in _callables(s):
        fx, fy = p(s.x, at), p(s.y, at)
        if not np.allclose(fx, p(s.x, at), rtol=0, atol=s.tolerance() / 8):
            mode = " (it is in training mode; ask it after eval())" if getattr(p.f, "training", False) is True else ""
            return False, f"the same call gives another answer{mode}", f"positions {at}"
        worst = max(worst, np.abs(p(2 * s.x - 3 * s.y, at) - 2 * fx + 3 * fy).max())
        if p.remarks:
            return False, p.remarks[0], f"positions {at}"
    return worst <= 8 * s.tolerance(), f"off by {worst:.1e}", f"2 x - 3 y at positions {at}"


def _isometry(s: Subject) -> Finding:
    """|f(x, n)| = |x|."""
    at = s.fit([0, 1, 17, 254, 1001], top=1001)
    ratio = np.concatenate([np.linalg.norm(p(s.x, at), axis=-1) / np.linalg.norm(s.x, axis=-1) for p in _callables(s)])
    worst = ratio.flat[np.abs(ratio - 1).argmax()]
    return abs(worst - 1) <= s.tolerance(), f"a length times {worst:.8g}", f"positions {at.tolist()}"


def _identity(s: Subject) -> Finding:
    """f(x, 0) = x."""
    worst, hint = 0.0, ""
    for p in _callables(s):
        y = p(s.x, (0,) * 5)
        off = float(np.abs(y - s.x).max())
        worst = max(worst, off)
        if off > s.tolerance() and np.allclose(np.sort(y, axis=-1), np.sort(s.x, axis=-1), rtol=0, atol=s.tolerance()):
            hint = ": the coordinates of x in another order"
    return worst <= s.tolerance(), f"off by {worst:.1e}{hint}", "all positions 0"


def _group(s: Subject) -> Finding:
    """f(f(x, m), n) = f(x, m + n)."""
    m, n = s.fit([3, 17, 100, 254, 700], top=1024), s.fit([5, 40, 157, 3, 324], top=1024)
    worst = max(np.abs(p(p(s.x, m), n) - p(s.x, m + n)).max() for p in _callables(s))
    return worst <= 2 * s.tolerance(1100), f"off by {worst:.1e}", f"m = {m.tolist()}, n = {n.tolist()}"


def _inverse(s: Subject) -> Finding:
    """f(f(x, n), -n) = x where negative positions are answered; where they are not, the transpose undoes f."""
    at = s.fit([1, 2, 9, 30, 200], top=200)
    for p, other in s.sides:
        miss = np.abs(_dot(p(s.x, at), other(s.y, at)) - _dot(s.x, s.y)).max()  # f^T g = I
        if miss > s.score_tolerance():
            return False, f"the transpose does not undo it: off by {miss:.1e}", f"positions {at.tolist()}"
    saw = ""
    for p in _callables(s):
        try:
            back = np.abs(p(p(s.x, at), -at) - s.x).max()
        except RefusedError as refusal:
            saw = saw or in_a_line(f"the transpose undoes it; -n is not answered: {refusal}")
            continue
        if back <= s.tolerance(200):
            continue
        # A table answers at whole positions only and has no negative rows; what answers between them computes.
        try:
            between = p(s.x, at + 0.5)
            hint = " (a table: keep n >= 0)" * any(np.array_equal(between, p(s.x, at + step)) for step in (0, 1))
        except RefusedError:
            hint = " (fractions are not answered, as by a table: keep n >= 0)"
        return bool(hint), f"position -n does not undo n: off by {back:.1e}{hint}", f"n = {at.tolist()}, then -n"
    return True, saw or f"off by {back:.1e}", f"n = {at.tolist()}, then -n"


def _relativity(s: Subject) -> Finding:
    """(f(q, m), g(k, n)) is unchanged when m and n move together; n - m is another one for each pair."""
    m, n = s.fit([0, 5, 11, 2, 60], top=1000), s.fit([3, 1, 7, 40, 9], top=1000)
    score = _score(s, m, n)
    steps = s.fit([1, 13, 128, 900], top=1000)
    worst, step = max((float(np.abs(_score(s, m + c, n + c) - score).max()), int(c)) for c in steps)
    ok = worst <= s.score_tolerance(1000)
    return ok, f"a score moves by {worst:.1e} when both positions move by {step}", f"m = {m.tolist()}, n = {n.tolist()}"


def _dot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.einsum("...i,...i", x, y)


def _score(s: Subject, m: np.ndarray, n: np.ndarray) -> np.ndarray:
    return _dot(s.q(s.x, m), s.k(s.y, n))


def _not_vacuous(s: Subject) -> Finding:
    """Something turns, q and k both, by the position of each token and along no other axis; slow planes far out."""
    near = _turning(s, np.array([1, 4, 2, 9, 6]))
    far = near if near[0] else _turning(s, s.fit(np.array([1000, 4000, 2000, 9000, 6000]), top=15000))
    return far if far[0] else near


def _turning(s: Subject, at: np.ndarray) -> Finding:
    moved: dict[str, bool] = {}
    for name, p in (("q", s.q), ("k", s.k)):
        trouble = diagnose_axis(p, s.x, at, tolerance=4 * s.tolerance(at.max()), step=max(1, int(at.min())))
        if trouble:
            return False, trouble, f"positions {at.tolist()}, each token's changed by itself; heads and batch exchanged"
        moved[name] = bool(np.abs(p(s.x, at) - s.x).max() > 10 * s.tolerance(at.max() - 9))
    if not any(moved.values()):
        return False, "nothing turns: f returns x", f"positions {at.tolist()}"
    if not all(moved.values()):
        turning, still = sorted(moved, key=lambda name: moved[name], reverse=True)
        return False, f"{turning} turns, {still} does not", f"positions {at.tolist()}"
    offsets = [c * int(at.min()) for c in (0, 1, 2, 5)]
    spread = float(np.ptp([_score(s, at, s.fit(at + c, top=at.max() + c)) for c in offsets], axis=0).max())
    tried = f"m = {at.tolist()}, n = m + {', '.join(map(str, offsets))}"
    return spread > 10 * s.tolerance(at.max() - 9), f"a score moves by {spread:.2g} with the offset", tried


def _decoding(s: Subject) -> Finding:
    """A whole sequence at once, and the same token by token, in chunks, and after a longer call."""
    at, left = np.arange(5), ""
    for p in _callables(s):
        whole = p(s.x, at)
        with suppress(RefusedError):
            p(np.repeat(s.x, 3, axis=-2), s.fit(np.arange(15) + 40, top=54))
        far = p(s.x, (0, 1, 2, 3, s.beyond))
        far[..., 4, :] = whole[..., 4, :]
        for way, other in {"after a longer call": p(s.x, at), "with a far token in the same call": far}.items():
            worst = np.abs(other - whole).max()
            if worst > s.tolerance(5):
                return False, f"{way} the answer is another: off by {worst:.1e}", "positions 0 to 4"
    ways = {"token by token": range(6), "in two chunks": (0, 2, 5)}
    for start, p, (way, cuts) in product((0, 9000), _callables(s), ways.items()):
        n = s.fit(at + start, top=start + 4)
        try:
            whole = p(s.x, n)
            parts = [p(s.x[..., a:b, :], n[a:b]) - whole[..., a:b, :] for a, b in pairwise(cuts)]
        except RefusedError as refusal:
            left = left or ("" if start else in_a_line(f"{way}: {refusal}"))
            continue
        if (worst := max(np.abs(part).max() for part in parts)) > s.tolerance(start + 5):
            return False, f"{way} the answer is another: off by {worst:.1e}", f"positions {n[0]} to {n[-1]}"
    if left:
        return True, f"not asked: {left}", "positions 0 to 4"
    return True, "the same at once, token by token, in chunks, beside a far token", "positions 0 to 4"


def _far(s: Subject) -> Finding:
    """One step is one step and n steps are n steps, far out as at the start: also where integers overflow."""
    reached, worst = 0, 0.0
    far_out = [n for n in FAR_OUT if n + 1 < s.window]
    tried = f"n = {far_out[0]} to {far_out[-1]}: from n to n + 1, from n to 2 n"
    start = {side: scores_at(side, s.x, s.y, 0, 1) for side in s.sides}
    for n in far_out:
        try:
            step, p = _largest({side: scores_at(side, s.x, s.y, n, n + 1) - start[side] for side in s.sides})
        except RefusedError as refusal:
            if not reached:
                return True, in_a_line(f"not asked: {refusal}"), f"position {n}"
            break
        reached = n
        if step > s.score_tolerance(n):
            reason = diagnose_step(p, s.x, s.y, n, off=step, tolerance=s.rounding)
            said = f"the step from {n} to {n + 1} is off by {step:.1e}: {reason}{_first_wrong(s, reason)}"
            return False, said, f"position {n}"
        worst = max(worst, step)
        if 2 * n >= s.window:
            continue
        try:
            near = {side: scores_at(side, s.x, s.y, 0, n) for side in s.sides}
            misses = {side: scores_at(side, s.x, s.y, n, 2 * n) - near[side] for side in s.sides}
        except RefusedError:
            continue  # n is answered and 2 n is not: a table that ends
        jump, p = _largest(misses)
        if jump > s.score_tolerance(2 * n) * (max(1.0, float(np.abs(near[p]).max())) if s.shared else 1.0):
            reason = diagnose_token(p, s.x, 2 * n, tolerance=s.rounding) or f"the turn is not the one from 0 to {n}"
            said = f"from {n} to {2 * n} it is off by {jump:.1e}: {reason}{_first_wrong(s, reason)}"
            return False, said, f"positions 0, {n}, {2 * n}"
        worst = max(worst, 0.0 if s.shared else jump)
    return _to_the_window(s, worst, tried)


def _first_wrong(s: Subject, reason: str) -> str:
    """The first wrong position of thousands, unless it depends on the call which position is wrong."""
    if "a call that" in reason:
        return ""
    with suppress(RefusedError):
        wrong = [seen for p in _callables(s) if (seen := far_turns(p, window=s.window, any_length=s.shared)).wrong]
        return f"; the first wrong position found is {min(seen.wrong or 0 for seen in wrong)}" if wrong else ""
    return ""


def _to_the_window(s: Subject, worst: float, tried: str) -> Finding:
    """Each plane at thousands of positions up to the window, and the first that is wrong."""
    reached, left = s.window, ""
    for p in _callables(s):
        seen = far_turns(p, window=s.window, any_length=s.shared)
        tried_too = f"{tried}; {seen.asked} positions below {s.window}"
        if seen.wrong is not None:
            return False, seen.words, tried_too
        reached, worst, left = min(reached, seen.reached), max(worst, seen.worst), left or seen.unasked
    if trouble := _in_fewer_bits(s):
        return False, trouble, tried
    return True, f"off by {worst:.1e} up to position {reached}{f'; not asked: {left}' if left else ''}", tried_too


FEWER = (0, 1, 2, 3, 100, 257, 1001, 2049, 4095)  # positions that a half type rounds, or multiplies wrongly


def _in_fewer_bits(s: Subject) -> str:
    """The fault for an x of fewer bits, beyond the rounding of x and of the tables; or an empty string."""
    at = s.fit(FEWER, top=FEWER[-1])
    for p in _callables(s):
        x = np.random.default_rng(3).choice([-1.0, 1.0], size=(2, 3, len(at), p.head_dim))  # exact in every type
        right = p(x, at)
        for narrow in p.narrowed():
            try:
                miss = np.abs(narrow(x, at) - right).max(axis=(0, 1, 3))
            except RefusedError:
                continue
            if narrow.remarks:
                return f"in {narrow.asked_in} it {narrow.remarks[0]}"
            bad = np.flatnonzero(miss > np.abs(right).max() * (8 * EPS[narrow.asked_in] + 2 * DRIFT * at))
            if len(bad):
                saw = f"an x in {narrow.asked_in} turns otherwise at position {at[bad[0]]}: off by {miss[bad[0]]:.1e}"
                return f"{saw}, as with positions or angles that are rounded to the type of x"
    return ""


Side = tuple[Probe, Probe]


def _largest(misses: dict[Side, np.ndarray]) -> tuple[float, Side]:
    """The largest miss, and the side that has it."""
    return max(((float(np.abs(miss).max()), side) for side, miss in misses.items()), key=lambda pair: pair[0])


LONG_CALLS = (4200, 1100, 300, 70, 20)  # tokens: no multiples of a tile
ELEMENTS = 1_700_000  # of an x at most
WIDE = 67  # heads, and entries of a batch


def _rows_of_a_call(s: Subject) -> Finding:
    """Row i of a long call, and of a wide one, is what it is in a call of its own."""
    tried, left = "", []
    for p in _callables(s):
        for name, x, at in _large_calls(s, rows=p.rows):
            axis = {"row": 2, "batch entry": 0, "head": 1}[name]
            if name == "head" and s.own_heads:  # their number may choose their frequencies
                left.append("heads, which have frequencies of their own")
                continue
            if (name != "row" and p.alone) or (name == "head" and p.heads):
                alone = "heads and entries of a batch, as it takes x (T, head_dim)"
                left.append(f"heads, as it takes heads={p.heads}" if p.heads else alone)
                continue
            try:
                wrong = _first_unlike(p, x, at, axis, s.rounding * float(np.abs(x).max()) * 2 + s.tolerance(at.max()))
            except RefusedError as refusal:
                if name != "row":
                    left.append(f"{name} of {x.shape[axis]}: {refusal}")
                continue
            size, shape = x.shape[axis], "x".join(map(str, x.shape))
            if wrong:
                own = ", each at positions of its own" if at.ndim == 2 else ""
                return False, f"from {name} {wrong[0]} of a call of {size}{own} on: {wrong[1]}", f"x ({shape})"
            if name == "row":
                tried = tried or f"x ({shape})"
        if trouble := _first_call_unlike(s, p, left):
            return False, trouble, "calls of many sizes and kinds"
    if not tried:
        return True, "not asked: calls of 20 tokens are refused", ""
    said = f"; not asked: {in_a_line(left[0])}" if left else ""
    kinds = f"{WIDE} heads, a batch of {WIDE}, {len(SIZES)} sizes, {len(KINDS)} kinds, views"
    return True, f"the same in large calls and in small ones{said}", f"{tried}, {kinds}"


def _first_call_unlike(s: Subject, p: Probe, left: list[str]) -> str:
    """The first of many calls that is not answered as the same in another call; or an empty string."""
    for words, asked, x, at, part, right, allowed in chain(_sizes(s, p), _kinds(s, p), _views(s, p)):
        try:
            off = float(np.abs(right() - asked(x, at)[part]).max())
        except RefusedError as refusal:
            if at.ndim == 1:  # who takes positions (T,) need not take others
                left.append(f"{words}: {refusal}")
            continue
        if off > allowed:
            return f"a call of {words} is not answered as the same in another call: off by {off:.1e}"
    return ""


# In words, who is asked, x, positions, the part that is compared, what it should be, and how far it may be off.
Call = tuple[str, Probe, np.ndarray, np.ndarray, Any, Callable[[], np.ndarray], float]


def _views(s: Subject, p: Probe) -> Iterator[Call]:
    """Yield ways to lie in memory, and to repeat positions."""
    at, one = np.array([3, 0, 7, 1, 4]), s.x[:, :, :1]
    views = {
        "x as a view of (batch, T, heads, head_dim)": (np.ascontiguousarray(s.x.swapaxes(1, 2)).swapaxes(1, 2), at),
        "x of one token, expanded to five": (np.broadcast_to(one, s.x.shape), at),
        "positions as each second entry of a longer row": (s.x, np.repeat(at, 2)[::2]),
    }
    if not p.rows and s.x.shape[0] > 1:
        views["positions of each entry of a batch"] = (s.x, np.stack([at, at[::-1]])[np.arange(s.x.shape[0]) % 2])
    for asked, (name, (x, places)) in product((p, *p.narrowed()), views.items()):
        allowed = s.tolerance(7) + 8 * asked.eps * float(np.abs(x).max())
        for i in range(len(x)):
            alone = partial(asked, x[i : i + 1].copy(), (places if places.ndim == 1 else places[i]).copy())
            yield f"{name} in {asked.asked_in}", asked, x, places, np.s_[i : i + 1], alone, allowed


# The axis, the largest size, and which of the smaller ones are asked: the small, round ones, and some by chance.
SOME = (48, 64, 96, 128, 192, 255, 500, 512, 768, 1000, 1024, *np.random.default_rng(12).integers(40, 1000, 6).tolist())
SIZES: tuple[tuple[str, int, int, Iterable[int]], ...] = (
    ("tokens", 2, 40, range(1, 40)),
    ("heads", 1, 13, range(1, 13)),
    ("entries of a batch", 0, 13, range(1, 13)),
    ("tokens", 2, 2048, SOME),
    ("tokens", 2, 4096, (100,)),
)


def _sizes(s: Subject, p: Probe) -> Iterator[Call]:
    """Yield calls of each size of `SIZES`, which should be answered as a part of the largest."""
    for name, axis, largest, asked in SIZES:
        if axis < 2 and (p.alone or s.own_heads):
            continue
        small = largest <= 40
        most = largest if small else min(largest, s.reach + 1)  # as many tokens as places
        shape = [2, 2, 5, p.head_dim] if small else [1, 1, 5, p.head_dim]
        shape[axis] = most
        x, at = np.random.default_rng(10).normal(size=shape), s.fit(np.arange(shape[2]), top=shape[2] - 1)
        # Each of them reaches as far, for schedules by the length; and in no order, for who counts on from the first.
        at = np.roll(at, 1) if not small else at if axis < 2 else np.roll(np.random.default_rng(15).permutation(at), 1)
        whole, allowed = cache(partial(p, x, at)), s.rounding * np.abs(x).max() + s.tolerance(at.max())
        for size in (*(n for n in asked if n < most), most):
            places: Any = slice(size) if size < most else [0, *range(most - 4, most)]
            part, own = (slice(None),) * axis + (places,), at[places] if axis == 2 else at
            right = lambda whole=whole, part=part: whole()[part]  # noqa: E731
            words = f"{size if size < most else 5} {name}, of {most}"
            yield words, p, np.ascontiguousarray(x[part]), own, (), right, allowed


# Entries of a batch, heads, tokens and the first position of a call; and whether x is a part of packed q, k and v.
KINDS = (
    *((16, 16, 1, n, False) for n in (16, 1000)),
    *((1, 3, 1, n, False) for n in (7, 63, 255, 300, 1023, 2048, 5000, 9300, 12000, 16384, 40000, 70000)),
    *((4, 8, 1, n, False) for n in (100, 4097, 8191, 33000)),
    *((1, heads, 66, 0, heads == 8) for heads in (8, 16, 28, 32, 40, 64)),
    *((16, 4, 34, 0, False), (2, 4, 128, 0, True)),
    *((1, 1, 300, n, False) for n in (5000, 12000, 20000, 40000, 100000)),
)


def _kinds(s: Subject, p: Probe) -> Iterator[Call]:
    """Yield the calls of `KINDS`, in several dtypes, which should be answered as small ones."""
    drawn = np.random.default_rng(13).normal(size=64 * 66 * p.head_dim)
    size = 2 * float(np.abs(drawn).max())
    for narrow in (p, *p.narrowed()[-2:]):
        for batch, most, length, start, packed in KINDS if narrow is p else KINDS[::2]:
            heads, end = 3 if s.own_heads else most, start + length - 1
            if end >= s.window:
                continue
            shape = (batch, length, 3 if packed else 1, heads, p.head_dim)
            x, at = drawn[: math.prod(shape)].reshape(shape)[:, :, -1].swapaxes(1, 2), np.arange(start, end + 1)
            x = x if packed else np.ascontiguousarray(x)
            tokens = sorted({0, length // 3, max(0, length - 2), length - 1})
            lies = tokens + [length - 1] * (5 - len(tokens))  # a small call has five tokens, and reaches as far
            some = np.ix_([0, batch - 1], [0, 1, 2] if s.own_heads else [0, heads - 1], lies)
            kind = f"{batch}x{heads}x{length} in {narrow.asked_in}{', a part of packed q, k and v' * packed}"
            allowed = size * (max(FLOOR, 8 * narrow.eps) + DRIFT * end)
            alone = partial(narrow, x[some], at[lies])
            yield f"{kind} from position {start} on", narrow, x, at, some, alone, allowed


def _large_calls(s: Subject, *, rows: bool) -> Iterable[tuple[str, np.ndarray, np.ndarray]]:
    """List what is large, x, positions: a text in order, texts that restart, many heads, many entries of a batch."""
    rng, d = np.random.default_rng(7), s.q.head_dim
    batch, heads = 2, 3 if s.own_heads else 2
    if 4 * LONG_CALLS[0] * d > ELEMENTS >= heads * LONG_CALLS[0] * d:  # rather fewer of them than a shorter text
        batch = 1
    longest = next((n for n in LONG_CALLS if batch * heads * n * d <= ELEMENTS and _answers(s, n)), 0)
    if longest:
        x = rng.normal(size=(batch, heads, longest, d))
        yield "row", x, np.arange(longest) % (s.reach + 1)
        some = min(longest, 699)
        restarts = np.concatenate([np.arange(n) for n in (3, 14, 33, 70, 150, 500)])[:some]
        yield "row", x[:, :, :some], restarts % (s.reach + 1)
        some = 1 << min(longest, 256).bit_length() - 1  # whole tiles, and no tail
        yield "row", x[:, :, :some], np.arange(some) % (s.reach + 1)
    at = s.fit(np.array([3, 0, 17, 40, 9]), top=40)
    size = 331 if 3 * WIDE * 331 * d <= ELEMENTS and longest >= 331 else 5  # in all more rows than 16 bits count
    places = np.arange(size)[::-1] + (np.arange(WIDE)[:, None] if rows else 0)  # rows: each entry at its own
    yield "batch entry", rng.normal(size=(WIDE, 3, size, d)), places % (s.reach + 1)
    yield "head", rng.normal(size=(1, WIDE, 5, d)), at


def _answers(s: Subject, length: int) -> bool:
    x = np.ones((2, 3, length, s.q.head_dim))
    try:
        for p in _callables(s):
            p(x, np.arange(length) % (s.reach + 1))
    except RefusedError:
        return False
    return True


def _first_unlike(p: Probe, x: np.ndarray, at: np.ndarray, axis: int, allowed: float) -> tuple[int, str] | None:
    """The first part along an axis that is answered otherwise in this call than in a small one, and how; or None.

    All parts are compared with themselves at another place of the call, and some with a small call.
    """
    size, rng = x.shape[axis], np.random.default_rng(8)
    far, order = int(at.argmax()), rng.permutation(size)
    y = p(x, at)
    placed = axis == 2 or at.ndim == 2  # each part has positions of its own
    mixed = p(np.take(x, order, axis), at[order] if placed else at)

    def small(i: int, x: np.ndarray, y: np.ndarray, at: np.ndarray) -> float:
        """Return how far part i is from its answer in a call of its own, which reaches as far as the large one."""
        parts = [i, far] if axis == 2 else [i] if axis == 0 else [i, (i + 1) % size, (i + 2) % size]
        alone = p(np.take(x, parts, axis), at[parts] if placed else at)
        return float(np.abs(np.take(alone, 0, axis) - np.take(y, i, axis)).max())

    edges = [2**k + c for k in range(13) for c in (-1, 0, 1)]
    some = sorted({n for n in (0, size - 1, *edges, *rng.integers(0, size, 6).tolist()) if n < size})
    off = {i: small(i, x, y, at) for i in some}
    wrong = [i for i in some if off[i] > allowed]
    if wrong:
        first = wrong[0]
        last = max((i for i in some if i < first), default=-1)
        while first - last > 1:
            middle = (first + last) // 2
            if small(middle, x, y, at) > allowed:
                first = middle
            else:
                last = middle
        while near := [i for i in range(max(0, first - 16), first) if small(i, x, y, at) > allowed]:
            first = near[0]  # such as where each second one is wrong
        return first, f"off by {max(off.values()):.1e} from the same in a small call"
    axes = tuple(i for i in range(4) if i != axis)
    unlike = np.flatnonzero(np.abs(np.take(y, order, axis) - mixed).max(axis=axes) > allowed)
    for i in unlike[:8]:
        if (miss := small(int(order[i]), x, y, at)) > allowed:
            return int(order[i]), f"off by {miss:.1e} from the same in a small call"
    if len(unlike):
        return int(unlike[0]), "another order of the same gives another answer"
    return None


NARROW = ("16 heads of a batch of 16", "far positions")  # what is asked of x in fewer bits, too


def _gradient(s: Subject) -> Finding:
    """The gradient of g f(x, n) is the turn back of g: u times it is g times f(u, n), for every u."""
    length = next((n for n in (*LONG_CALLS[1:], 5) if 6 * n * s.q.head_dim <= ELEMENTS and _answers(s, n)), 5)
    far, mixed = np.array([s.reach, 0, s.reach // 2, s.reach // 3, 1]), s.fit(np.array([3, 0, 17, 40, 9]), top=40)
    long = LONG_CALLS[0] if 3 * LONG_CALLS[0] * s.q.head_dim <= ELEMENTS and _answers(s, LONG_CALLS[0]) else 5
    calls = {  # the batch, heads and positions of each; another call may come before the backward
        f"{length} rows": (2, 3, np.arange(length) % (s.reach + 1), None),
        f"a batch of {WIDE}": (WIDE, 3, mixed, None),
        f"{WIDE} heads": (1, WIDE, mixed, None),
        "16 heads of a batch of 16": (16, 16, mixed, None),
        f"a text of {long} rows": (1, 1, np.arange(long) % (s.reach + 1), None),
        "a single token": (2, 3, mixed[2:3], None),
        "far positions": (2, 3, far, None),
        "another call before the backward": (2, 3, mixed, mixed[::-1].copy()),
    }
    tried, left, worst = ", ".join(calls), "", 0.0
    narrow = [
        (n, f"{name} in {n.asked_in}", calls[name]) for p in _callables(s) for n in p.narrowed() for name in NARROW
    ]
    most = max(batch * heads * len(at) for batch, heads, at, _ in calls.values()) * s.q.head_dim
    drawn = np.random.default_rng(9).normal(size=(4, most))
    plain = [(p, name, call) for p, (name, call) in product(_callables(s), calls.items())]
    for p, name, (batch, heads, at, between) in plain + narrow:
        if p.alone and WIDE in (batch, heads):
            continue
        shape = (batch, heads, len(at), s.q.head_dim)
        x, g, *u = (row[: math.prod(shape)].reshape(shape) for row in drawn[: 4 if math.prod(shape) < FEW else 3])
        if len(at) == 5:  # as behind attention: tokens lie before heads in the memory
            g = np.ascontiguousarray(g.swapaxes(1, 2)).swapaxes(1, 2)
        if name == "far positions":
            x, g = np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2), np.broadcast_to(1.0, x.shape)
        try:
            turned = [p(v, at) for v in u]
        except RefusedError as refusal:
            left = left or f"{name}: {refusal}"
            continue
        grad = p.gradient(x, at, g, between=between)
        if grad is None:
            return True, "not asked: called with numpy, whose arrays carry no gradient", tried
        misses = [_dot(v, grad) - _dot(g, y) for v, y in zip(u, turned, strict=True)]
        size = max(1.0, *(float(np.abs(y).max() / np.abs(u).max()) for y in turned))
        allowed = size * max(2 * s.score_tolerance(), 32 * p.eps * p.head_dim**0.5)
        worst = max(worst, off := float(np.nan_to_num(np.abs(misses), nan=np.inf).max()))
        if not off <= allowed:
            row = int(np.flatnonzero(~(np.abs(misses).max(axis=(0, 1, 2)) <= allowed))[0])
            return False, f"{name}: off by {off:.1e}, first in row {row}: {_wrong_way(p, grad, g, at, allowed)}", tried
    return True, f"the turn back: off by {worst:.1e}" + (f"; not asked: {in_a_line(left)}" if left else ""), tried


def _wrong_way(p: Probe, grad: np.ndarray, g: np.ndarray, at: np.ndarray, allowed: float) -> str:
    """Say what the gradient is, where it is not the turn back."""
    still = np.flatnonzero(np.abs(grad).max(axis=(0, 1, 2)) == 0)
    if len(still) == grad.shape[-1]:
        return "it is 0"
    if len(still):
        return f"none reaches {len(still)} coordinates, the first of them {still[0]}"
    if np.abs(grad - p(g, at)).max() <= allowed:
        return "it turns further, and should turn back"
    if np.abs(grad - g).max() <= allowed:
        return "it is not turned"
    return "it is not the turn back"


def diagnose_axis(p: Probe, x: np.ndarray, at: np.ndarray, *, tolerance: float, step: int = 1) -> str | None:
    """Describe what is wrong with the axis, or return None.

    ``x`` is (batch, heads, T, head_dim), ``at`` (T,). If batch entries or heads are exchanged, the answers must be
    exchanged in the same way; if one position changes (by some ``step``), the answer for one token must change.
    """
    y = p(x, at)
    other = p(x, at + step * (1 + np.arange(len(at))))
    ignored = np.abs(other - y).max() <= tolerance
    turning = np.abs(other - y).max(axis=(0, 2, 3)) > tolerance
    if turning.any() and not turning.all():
        heads = [" and ".join(map(str, np.flatnonzero(moves))) for moves in (turning, ~turning)]
        return f"of the heads {heads[0]} turn with the position, {heads[1]} do not"
    for axis, name in ((1, "head"), (0, "batch entry")):
        if axis == 1 and not ignored and own_heads(p, x, at, tolerance=tolerance):
            continue
        if np.abs(np.roll(p(np.roll(x, 1, axis=axis), at), -1, axis=axis) - y).max() > tolerance:
            return f"it turns with the {name}" + (", not with the position" if ignored else "")
    if ignored and np.abs(y - x).max() > tolerance:
        return "it turns by the place in the sequence and ignores the positions"
    for t in range(len(at)):
        moved = at.copy()
        moved[t] += 3 * step
        touched = np.abs(p(x, moved) - y).max(axis=(0, 1, 3)) > tolerance
        touched[t] = False
        if touched.any():
            return f"the position of token {t} turns token {int(touched.argmax())}"
    return None


STEPS = 8  # in a row: a half type, where it first rounds, puts at most five neighbours into one place


def scores_at(side: Side, x: np.ndarray, y: np.ndarray, m: int, n: int) -> np.ndarray:
    """The scores of x at position m with y at position n."""
    return _dot(side[0](x, (m,) * 5), side[1](y, (n,) * 5))


def diagnose_step(side: Side, x: np.ndarray, y: np.ndarray, n: int, *, off: float, tolerance: float) -> str:
    """Describe what is wrong with the step from n to n + 1.

    ``off`` is the error of its scores; ``tolerance`` is what the answer's own rounding may change.
    """
    problem = diagnose_token(side, x, n + 1, tolerance=tolerance)
    if problem:
        return problem
    try:
        still = all(np.array_equal(side[0](x, (m,) * 5), side[0](x, (n,) * 5)) for m in range(n, n + STEPS + 1))
        turns = [scores_at(side, x, y, m, m + 1) for m in range(n, n + STEPS)]
    except RefusedError:  # a table that ends here
        return "the turn is not the one from 0 to 1"
    if still:
        return f"nothing turns from {n} to {n + STEPS}: positions are cut"
    if np.ptp(turns, axis=0).max() > off / 4:
        return "the steps there differ from each other, as with rounded or cut positions or angles"
    return "the steps there are equal to each other, but not to the step from 0 to 1, as with other frequencies"


def diagnose_token(side: Side, x: np.ndarray, n: int, *, tolerance: float) -> str:
    """Describe what is wrong with a token at n that rounded or cut positions do not explain; or an empty string."""
    p = side[0]
    if p is not side[1]:
        return ""  # of a pair that shares a factor neither keeps lengths
    long, short = (np.linalg.norm(p(x, (m,) * 5), axis=-1) for m in (n, 0))
    worst = (long / short).flat[np.abs(long / short - 1).argmax()]
    if abs(worst - 1) > tolerance:
        return f"a length at {n} is {worst:.6g} times that at 0"
    alone, with_far = (p(x, (0, 1, 2, 3, last))[..., :4, :] for last in (4, n))
    if np.abs(with_far - alone).max() > tolerance * np.abs(x).max():
        return f"a call that reaches {n} turns its other tokens otherwise too"  # as dynamic scaling does
    return ""


SHORT, OTHER, LONG = 11, 13, 29  # lengths that no other law asks for: a table kept under a length is a new one here
# Beyond all that laws and fingerprint ask in a window: a table that grows must grow here, and a schedule that remembers
# must change. As shares of the window.
NARROW_END, MIDDLE, END = 1.0625, 1.125, 1.25


def _text(s: Subject, length: int) -> np.ndarray:
    """So many tokens: those of the subject, again and again."""
    return np.take(s.x, np.arange(length) % s.x.shape[-2], axis=-2)


def _far_call(p: Probe, s: Subject, *, share: float) -> np.ndarray | None:
    """A longer text whose last token is far out, or as far as a table reaches; its first tokens, near 0.

    It may be refused: what it leaves behind counts all the same.
    """
    for last in (int(share * max(s.window, WINDOW)), s.beyond):
        try:
            return p(_text(s, LONG), np.append(np.minimum(np.arange(LONG - 1), last), last))[..., :-1, :]
        except RefusedError:
            continue
    return None


def _earlier_calls(s: Subject) -> Finding:
    """One call before and after others: of the same length elsewhere, of a longer text, of far positions."""
    at, moved = s.fit(np.arange(SHORT), top=SHORT + 6), s.fit(np.arange(SHORT) + 7, top=SHORT + 6)
    tried = f"{SHORT} tokens from position 0 and from 7, before and after {LONG} tokens that end far out"
    for p in _callables(s):
        before = p(_text(s, SHORT), at)
        elsewhere = p(_text(s, SHORT), moved)
        beside = p(_text(s, OTHER), np.append(moved, moved[:2]))[..., :SHORT, :]  # a length that was not asked before
        inner = np.r_[moved[0], moved[-2:0:-1], moved[-1]]  # what is told by its length, its ends or its sum
        others = p(_text(s, OTHER), np.append(inner, inner[:2]))[..., :SHORT, :]
        other = p(_text(s, SHORT), inner)
        middle = _far_call(p, s, share=MIDDLE)
        _far_call(p, s, share=END)
        again = _far_call(p, s, share=MIDDLE)  # before a short text, which may set a schedule back
        after = p(_text(s, SHORT), at)
        ways = {
            "of the same length at other positions": elsewhere - beside,
            "of the same length and ends": other - others,
            "that was longer and went farther": after - before,
            "that went farther": again - middle if again is not None and middle is not None else 0.0,
            "that was the first of all": 0.0 if p.first is None else p(*p.first[:2]) - p.first[2],
        }
        for way, miss in ways.items():
            if (worst := np.abs(miss).max()) > s.tolerance(SHORT + 6):
                return False, f"after a call {way} the answer is another: off by {worst:.1e}", tried
    return True, "the same before and after other calls", tried


def _earlier_dtypes(s: Subject) -> Finding:
    """One call before and after calls whose x has fewer bits and which go farther."""
    at = s.fit(np.arange(SHORT), top=SHORT)
    tried = f"positions 0 to {int(at[-1])}, before and after a longer text in a dtype of fewer bits"
    narrower = sorted({other.asked_in for p in _callables(s) for other in p.narrowed()})
    for p in _callables(s):
        before = p(_text(s, SHORT), at)
        for narrow in p.narrowed():
            with suppress(RefusedError):
                narrow(_text(s, SHORT), at)
            _far_call(narrow, s, share=NARROW_END)
            if (worst := np.abs(p(_text(s, SHORT), at) - before).max()) > s.tolerance(SHORT):
                return False, f"after a call in {narrow.asked_in} the answer is another: off by {worst:.1e}", tried
    said = f"the same after calls in {', '.join(narrower)}" if narrower else "no dtype has fewer bits than its own"
    return True, said, tried


def _batch_neighbours(s: Subject) -> Finding:
    """A row of a batch alone, and the same row with others before and behind it."""
    at = s.fit([2, 0, 9, 4, 3], top=9)
    row = s.x[:1]
    others = np.concatenate([3 * s.y, row, s.y[::-1], s.x])
    tried = f"a batch of one, and the same row third of {len(others)}, positions {at.tolist()}"
    for p in _callables(s):
        worst = np.abs(p(others, at)[2:3] - p(row, at)).max()
        if worst > s.tolerance(9):
            return False, f"a row of a batch depends on the others: off by {worst:.1e}", tried
    return True, "a row is answered alike, alone and in a batch", tried


Check = Callable[[Subject], Finding]
CHECKS: dict[str, Check] = {
    "linear": _linear,
    "isometry": _isometry,
    "identity at zero": _identity,
    "group law": _group,
    "inverse": _inverse,
    "relativity": _relativity,
    "non-vacuity": _not_vacuous,
    "cached decoding": _decoding,
    "long positions": _far,
    "rows of a call": _rows_of_a_call,
    "gradient": _gradient,
    # Of state, and last: their calls may leave something behind.
    "earlier dtypes": _earlier_dtypes,
    "earlier calls": _earlier_calls,
    "batch neighbours": _batch_neighbours,
}
