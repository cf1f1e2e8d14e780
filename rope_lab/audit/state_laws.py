"""Laws of state: an answer follows from its own call, not from earlier calls, earlier dtypes or the rest of a batch.

>>> from rope_lab.algebra.layouts import rotate_elementwise
>>> seen = {}
>>> def by_length(x, n):  # tables that are kept under the length of the text alone
...     return rotate_elementwise(x, seen.setdefault(len(n), n), theta=[1.0])
>>> wrong, right = (Probe(f, head_dim=2) for f in (by_length, lambda x, n: rotate_elementwise(x, n, theta=[1.0])))
>>> x = np.random.default_rng(0).normal(size=(1, 1, 5, 2))
>>> [bool(STATE_CHECKS["earlier calls"](Subject(p, p, x, x))[0]) for p in (right, wrong)]
[True, False]
"""

from contextlib import suppress

import numpy as np

from rope_lab.audit.law_checks import Check, Finding, Subject
from rope_lab.audit.probe import Probe, RefusedError

SHORT, OTHER, LONG = 11, 13, 29  # lengths that no other law asks for: a table kept under a length is a new one here
# Beyond the positions of all other laws: a table that grows must grow here, and a schedule that remembers must change.
NARROW_END, MIDDLE, END = 2**17 - 1, 2**17 + 2**16, 2**18 - 1


def _text(s: Subject, length: int) -> np.ndarray:
    """So many tokens: those of the subject, again and again."""
    return np.take(s.x, np.arange(length) % s.x.shape[-2], axis=-2)


def _callables(s: Subject) -> tuple[Probe, ...]:
    return (s.q,) if s.q is s.k else (s.q, s.k)


def _far_call(p: Probe, s: Subject, *, end: int) -> np.ndarray | None:
    """A longer text whose last token is far out, or as far as a table reaches; its first tokens, near 0.

    It may be refused: what it leaves behind counts all the same.
    """
    for last in (end, min(s.reach, end)):
        try:
            return p(_text(s, LONG), np.append(np.minimum(np.arange(LONG - 1), last), last))[..., :-1, :]
        except RefusedError:
            continue
    return None


def _earlier_calls(s: Subject) -> Finding:
    """The same call before and after others: of the same length elsewhere, of a longer text, of far positions."""
    at, moved = s.fit(np.arange(SHORT), top=SHORT + 6), s.fit(np.arange(SHORT) + 7, top=SHORT + 6)
    tried = f"{SHORT} tokens from position 0 and from 7, before and after {LONG} tokens that end far out"
    for p in _callables(s):
        before = p(_text(s, SHORT), at)
        elsewhere = p(_text(s, SHORT), moved)
        beside = p(_text(s, OTHER), np.append(moved, moved[:2]))[..., :SHORT, :]  # a length that was not asked before
        middle = _far_call(p, s, end=MIDDLE)
        _far_call(p, s, end=END)
        again = _far_call(p, s, end=MIDDLE)  # before a short text, which may set a schedule back
        after = p(_text(s, SHORT), at)
        ways = {
            "of the same length at other positions": elsewhere - beside,
            "that was longer and went farther": after - before,
            "that went farther": again - middle if again is not None and middle is not None else 0.0,
        }
        for way, miss in ways.items():
            if (worst := np.abs(miss).max()) > s.tolerance(SHORT + 6):
                return False, f"after a call {way} the answer is another: off by {worst:.1e}", tried
    return True, "the same before and after other calls", tried


def _earlier_dtypes(s: Subject) -> Finding:
    """The same call before and after calls whose x has fewer bits and which go farther."""
    at = s.fit(np.arange(SHORT), top=SHORT)
    tried = f"positions 0 to {int(at[-1])}, before and after a longer text in a dtype of fewer bits"
    narrower = sorted({other.asked_in for p in _callables(s) for other in p.narrowed()})
    for p in _callables(s):
        before = p(_text(s, SHORT), at)
        for narrow in p.narrowed():
            with suppress(RefusedError):
                narrow(_text(s, SHORT), at)
            _far_call(narrow, s, end=NARROW_END)
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


STATE_CHECKS: dict[str, Check] = {
    "earlier dtypes": _earlier_dtypes,
    "earlier calls": _earlier_calls,
    "batch neighbours": _batch_neighbours,
}
