"""The laws that every rotary embedding obeys, asked of a callable one by one.

>>> from rope_lab.algebra.layouts import rotate_elementwise
>>> sound = laws(lambda x, n: rotate_elementwise(x, n, theta=[1.0, 0.01]), head_dim=4)
>>> all(law.ok for law in sound), [law.name for law in sound][:4]
(True, ['answers', 'linear', 'isometry', 'identity at zero'])
>>> [law.name for law in laws(lambda x, n: x, head_dim=4) if not law.ok]
['non-vacuity']
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rope_lab.algebra.expect import expect_even
from rope_lab.audit.axes import axis_of
from rope_lab.audit.fingerprints import fingerprint
from rope_lab.audit.probe import Probe, Refused

FLOOR = 4e-6  # cos and sin that were rounded to float32, with room
DRIFT = 2.5e-7  # radians per position that an angle in float32 may be off: n theta rounded once, with room
LAYOUT_NAMES = {"half": "half-split"}


@dataclass(frozen=True)
class Law:
    """One law: does it hold, what was seen, and on which input."""

    name: str
    ok: bool
    saw: str
    input: str

    def __str__(self) -> str:
        return f"{'ok  ' if self.ok else 'FAIL'}  {self.name:<18}{self.saw}"


@dataclass
class Subject:
    """What is under test: q and k may be turned by two callables."""

    q: Probe
    k: Probe
    x: np.ndarray
    y: np.ndarray

    def room(self, farthest: float = 0.0) -> float:
        """How far a law may be missed: the answer's own rounding, and that of a float32 angle."""
        size = float(np.abs(self.x).max())
        return size * (max(FLOOR, 16 * max(self.q.eps, self.k.eps)) + DRIFT * farthest)


def laws(f: Any, *, head_dim: int, keys: Any = None, expected: dict[str, Any] | None = None) -> list[Law]:
    r"""Isometry, group law, relativity and the rest, each with what was seen.

    $|\mathcal R_n x| = |x|$, $\mathcal R_0 = I$, $\mathcal R_m \mathcal R_n = \mathcal R_{m+n}$,
    $(\mathcal R_m q)^\top \mathcal R_n k = q^\top \mathcal R_{n-m} k$, and that something turns at all.

    ``f``: as in `fingerprint`; ``keys``: the callable for k, where it is another one; ``expected``: what the fingerprints
    must say, such as ``{"base": 10000.0, "layout": "half-split", "direction": 1, "rotated_dims": 64}``, each a law of its
    own. Room for rounding follows the dtype that f returns and angles in float32. Never a traceback of f's own;
    TypeError or ValueError for head_dim, ValueError for an expectation that no fingerprint has. Claims
    ``unsaid.norm``, ``blog.inner-chain``.

    >>> print(laws(lambda x, n: 2 * x, head_dim=4)[2])
    FAIL  isometry          a length times 2
    """
    head_dim = expect_even(head_dim, name="head_dim")
    _expect_fields(expected or {})
    try:
        q = Probe(f, head_dim=head_dim)
        k = q if keys is None else Probe(keys, head_dim=head_dim)
    except Refused as refusal:
        return [Law("answers", False, str(refusal), f"x (2, 3, 4, {head_dim}), positions 0, 1, 2, 5")]
    x, y = np.random.default_rng(2).normal(size=(2, 2, 3, 5, head_dim))
    subject = Subject(q, k, x, y)
    found = [Law("answers", True, q.form, f"x (2, 3, 4, {head_dim})")]
    found += [_law(name, check, subject) for name, check in CHECKS.items()]
    return found + list(_as_expected({"q": f} if keys is None else {"q": f, "k": keys}, head_dim, expected or {}))


def _law(name: str, check: Callable[[Subject], tuple[bool, str, str]], subject: Subject) -> Law:
    try:
        ok, saw, tried = check(subject)
    except Refused as refusal:
        return Law(name, False, str(refusal), (check.__doc__ or "").split("\n")[0])
    return Law(name, bool(ok), saw, tried)


def _both(s: Subject) -> Iterable[Probe]:
    return (s.q,) if s.q is s.k else (s.q, s.k)


def _linear(s: Subject) -> tuple[bool, str, str]:
    """f(a x + b y) = a f(x) + b f(y), twice the same, nothing written into the input."""
    at, worst = (3, 0, 7, 1, 4), 0.0
    for p in _both(s):
        fx, fy = p(s.x, at), p(s.y, at)
        if not np.allclose(fx, p(s.x, at), rtol=0, atol=s.room() / 8):
            return False, "the same call gives another answer", f"positions {at}"
        worst = max(worst, np.abs(p(2 * s.x - 3 * s.y, at) - 2 * fx + 3 * fy).max())
        if p.remarks:
            return False, p.remarks[0], f"positions {at}"
    return worst <= 8 * s.room(), f"off by {worst:.1e}", f"2 x - 3 y at positions {at}"


def _isometry(s: Subject) -> tuple[bool, str, str]:
    """|f(x, n)| = |x|."""
    at = (0, 1, 17, 254, 1001)
    ratio = np.concatenate([np.linalg.norm(p(s.x, at), axis=-1) / np.linalg.norm(s.x, axis=-1) for p in _both(s)])
    worst = ratio.flat[np.abs(ratio - 1).argmax()]
    return abs(worst - 1) <= s.room(), f"a length times {worst:.8g}", f"positions {at}"


def _identity(s: Subject) -> tuple[bool, str, str]:
    """f(x, 0) = x."""
    worst = max(np.abs(p(s.x, (0,) * 5) - s.x).max() for p in _both(s))
    return worst <= s.room(), f"off by {worst:.1e}", "all positions 0"


def _group(s: Subject) -> tuple[bool, str, str]:
    """f(f(x, m), n) = f(x, m + n)."""
    m, n = np.array([3, 17, 100, 254, 700]), np.array([5, 40, 157, 3, 324])
    worst = max(np.abs(p(p(s.x, m), n) - p(s.x, m + n)).max() for p in _both(s))
    return worst <= 2 * s.room(1100), f"off by {worst:.1e}", f"m = {m.tolist()}, n = {n.tolist()}"


def _inverse(s: Subject) -> tuple[bool, str, str]:
    """f(f(x, n), -n) = x where negative positions are answered; where they are not, the transpose undoes f."""
    at = np.array([1, 2, 9, 30, 200])
    for p in _both(s):
        turned = p(s.x, at)
        miss = np.abs((turned * p(s.y, at)).sum(-1) - (s.x * s.y).sum(-1)).max()  # f^T f = I
        if miss > 4 * s.room() * p.head_dim:
            return False, f"the transpose does not undo it: off by {miss:.1e}", f"positions {at.tolist()}"
        try:
            back = np.abs(p(turned, -at) - s.x).max()
            between = p(s.x, at + 0.5)
        except Refused as refusal:
            return True, f"the transpose undoes it ({miss:.1e}); not asked further: {refusal}"[:110], f"positions {at.tolist()}"
        if back > s.room(200):
            # A table answers at whole positions only and has no negative rows; what answers between them computes.
            looks_up = any(np.array_equal(between, p(s.x, at + step)) for step in (0, 1))
            return looks_up, f"position -n does not undo n: off by {back:.1e}" + (" (a table: keep n >= 0)" * looks_up), str(-at)
    return True, f"off by {back:.1e}", f"n = {at.tolist()}, then -n"


def _relativity(s: Subject) -> tuple[bool, str, str]:
    """(f(q, m), g(k, n)) is unchanged when m and n move together; n - m is another one for each pair."""
    m, n = np.array([0, 5, 11, 2, 60]), np.array([3, 1, 7, 40, 9])
    score = _score(s, m, n)
    worst = max((float(np.abs(_score(s, m + c, n + c) - score).max()), c) for c in (1, 13, 128, 900))
    return worst[0] <= s.room(1000) * s.q.head_dim**0.5 * 4, f"a score moves by {worst[0]:.1e} when both positions move by {worst[1]}", (
        f"m = {m.tolist()}, n = {n.tolist()}"
    )


def _score(s: Subject, m: np.ndarray, n: np.ndarray) -> np.ndarray:
    return (s.q(s.x, m) * s.k(s.y, n)).sum(axis=-1)


def _not_vacuous(s: Subject) -> tuple[bool, str, str]:
    """Something turns, q and k both, with the position of each token and not along another axis."""
    at, moved = np.array([1, 4, 2, 9, 6]), {}
    for name, p in (("q", s.q), ("k", s.k)):
        trouble = axis_of(p, s.x, at, room=4 * s.room(10))
        if trouble:
            return False, trouble, f"positions {at.tolist()}, each token's changed by itself; heads and batch exchanged"
        moved[name] = np.abs(p(s.x, at) - s.x).max() > 10 * s.room()
    if not any(moved.values()):
        return False, "nothing turns: f returns x", f"positions {at.tolist()}"
    if not all(moved.values()):
        return False, "{} turns, {} does not".format(*sorted(moved, key=moved.get, reverse=True)), f"positions {at.tolist()}"
    spread = float(np.ptp([_score(s, at, at + c) for c in (0, 1, 2, 5)], axis=0).max())
    return spread > 10 * s.room(), f"a score moves by {spread:.2g} with the offset", f"m = {at.tolist()}, n = m + 0, 1, 2, 5"


def _decoding(s: Subject) -> tuple[bool, str, str]:
    """A whole sequence at once, and the same token by token, in chunks, and after a longer call."""
    at = np.arange(5)
    for p in _both(s):
        whole = p(s.x, at)
        steps = np.concatenate([p(s.x[..., t : t + 1, :], at[t : t + 1]) for t in range(5)], axis=-2)
        chunks = np.concatenate([p(s.x[..., :2, :], at[:2]), p(s.x[..., 2:, :], at[2:])], axis=-2)
        p(np.repeat(s.x, 3, axis=-2), np.arange(15) + 40)
        for way, other in (("token by token", steps), ("in two chunks", chunks), ("after a longer call", p(s.x, at))):
            worst = np.abs(other - whole).max()
            if worst > s.room(5):
                return False, f"{way} the answer is another: off by {worst:.1e}", "positions 0 to 4"
    return True, "the same at once, token by token and in chunks", "positions 0 to 4"


def _far(s: Subject) -> tuple[bool, str, str]:
    """One step further is one step, also at long positions: f(f(x, n), 1) = f(x, n + 1)."""
    reached, worst = 0, 0.0
    for n in (256, 1020, 4096, 16384):
        try:
            for p in _both(s):
                step = p(p(s.x, (n,) * 5), (1,) * 5) - p(s.x, (n + 1,) * 5)
                worst = max(worst, np.abs(step).max())
        except Refused as refusal:
            if not reached:
                return True, f"not asked: {refusal}"[:110], f"position {n}"
            break
        reached = n
        if worst > 2 * s.room(n):
            return False, f"the step from {n} to {n + 1} is off by {worst:.1e}: positions or angles are rounded", f"position {n}"
    return True, f"off by {worst:.1e} up to position {reached}", "n = 256, 1020, 4096, 16384"


CHECKS = {
    "linear": _linear,
    "isometry": _isometry,
    "identity at zero": _identity,
    "group law": _group,
    "inverse": _inverse,
    "relativity": _relativity,
    "non-vacuity": _not_vacuous,
    "cached decoding": _decoding,
    "long positions": _far,
}
EXPECTABLE = ("layout", "pairs", "rotated_dims", "direction", "base", "scheme", "orthogonal", "dtype", "precision")


def _expect_fields(expected: dict[str, Any]) -> None:
    for field in expected:
        if field not in EXPECTABLE:
            raise ValueError(f"expected: {field!r} is nothing to expect; there is: {', '.join(EXPECTABLE)}")


def _as_expected(subjects: dict[str, Any], head_dim: int, expected: dict[str, Any]) -> Iterable[Law]:
    if not expected:
        return
    prints = {name: fingerprint(f, head_dim=head_dim) for name, f in subjects.items()}
    for field, wanted in expected.items():
        wanted = LAYOUT_NAMES.get(wanted, wanted) if field == "layout" else wanted
        got = {name: getattr(seen, field) for name, seen in prints.items()}
        ok = all(_same(value, wanted) for value in got.values())
        saw = ", ".join(f"{name}: {value}" for name, value in got.items()) if len(set(map(str, got.values()))) > 1 else str(got["q"])
        yield Law(f"expected {field}", ok, saw, f"expected {wanted}")


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, float) and isinstance(value, (int, float)):
        return bool(np.isclose(value, wanted, rtol=1e-5, atol=0))
    return value == wanted
