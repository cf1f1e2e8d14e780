"""The laws that every rotary embedding obeys, checked for one callable.

>>> from rope_lab.algebra.layouts import rotate_elementwise
>>> sound = laws(lambda x, n: rotate_elementwise(x, n, theta=[1.0, 0.01]), head_dim=4)
>>> all(law.ok for law in sound), [law.name for law in sound][:4]
(True, ['answers', 'linear', 'isometry', 'identity at zero'])
>>> [law.name for law in laws(lambda x, n: x, head_dim=4) if not law.ok]
['non-vacuity']
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rope_lab.algebra.arguments import expect_even
from rope_lab.audit.by_design import Corrected, start_of
from rope_lab.audit.conversion import printed_layout
from rope_lab.audit.fingerprints import fingerprint
from rope_lab.audit.guard import restored
from rope_lab.audit.law_checks import CHECKS, Check, Subject
from rope_lab.audit.probe import Probe, RefusedError
from rope_lab.audit.state_laws import STATE_CHECKS

LAWS = CHECKS | STATE_CHECKS  # the laws of state come last: their calls may leave something behind
EXPECTABLE = (
    "layout",
    "pairs",
    "rotated_dims",
    "direction",
    "base",
    "scheme",
    "orthogonal",
    "dtype",
    "precision",
    "problems",
)


@dataclass(frozen=True)
class Law:
    """One law: whether it holds, what was seen, and on which input."""

    name: str
    ok: bool  # it holds, within the tolerance
    saw: str  # the largest error, or what happened, in words
    input: str  # the positions that were tried
    by_design: str = ""  # what it is that breaks the law and harms nothing, if it is that alone
    caution: str = ""  # what to mind, where it depends on the caller whether anything breaks

    @property
    def broken(self) -> bool:
        """It does not hold, and neither by design nor by what the caller does."""
        return not self.ok and not self.by_design and not self.caution

    def __str__(self) -> str:
        mark = "FAIL" if self.broken else "ok  " if self.ok else "note" if self.by_design else "care"
        said = f"; by design: {self.by_design}" if self.by_design else f"; {self.caution}" if self.caution else ""
        return f"{mark}  {self.name:<17} {self.saw}{said}"


def laws(f: Any, *, head_dim: int, keys: Any = None, expected: dict[str, Any] | None = None) -> list[Law]:
    r"""Check isometry, the group law, relativity and the other laws of a rotary embedding, one by one.

    $|\mathcal R_n x| = |x|$, $\mathcal R_0 = I$, $\mathcal R_m \mathcal R_n = \mathcal R_{m+n}$,
    $(\mathcal R_m q)^\top \mathcal R_n k = q^\top \mathcal R_{n-m} k$, and that something turns at all.

    Args:
        f: The callable ``f(x, positions)`` that turns q, as in `fingerprint`.
        head_dim: The width of a head, a positive even integer.
        keys: The callable that turns k, if it is not f.
        expected: What the fingerprint must say, such as ``{"base": 10000.0, "layout": "half-split", "direction": 1}``.
            Each entry is a law of its own.

    Returns:
        A list of `Law`: thirteen laws and one for each expectation. If f does not answer at all, only the first. The
        tolerance follows the dtype that f returns, and allows angles in float32. A law that is broken by nothing but a
        constant factor, another order of the coordinates or another first position says so in ``by_design``. What
        f sets for the whole process is put back.

    Raises:
        TypeError: If head_dim is not an integer.
        ValueError: If head_dim is not positive and even, or expected names a field that no fingerprint has. An error
            that f raises is not passed on: it breaks a law.

    Claims: `unsaid.norm`, `blog.inner-chain`.

    >>> print(laws(lambda x, n: 2 * x, head_dim=4)[2])
    FAIL  isometry          a length times 2
    """
    head_dim = expect_even(head_dim, name="head_dim")
    _expect_fields(expected or {})
    with restored():
        return _asked(f, head_dim, keys, expected or {})


def _asked(f: Any, head_dim: int, keys: Any, expected: dict[str, Any]) -> list[Law]:
    try:
        q = Probe(f, head_dim=head_dim)
        k = q if keys is None else Probe(keys, head_dim=head_dim)
        subject = Subject(q, k, *np.random.default_rng(2).normal(size=(2, 2, 3, 5, head_dim)))
    except RefusedError as refusal:
        return [Law("answers", False, str(refusal), f"x (2, 3, 4, {head_dim}), positions 0, 1, 2, 5")]
    found = [Law("answers", True, q.form, f"x (2, 3, 4, {head_dim})")]
    with np.errstate(all="ignore"):  # an f that overflows breaks a law and makes no noise
        found += [_law(name, check, subject) for name, check in LAWS.items()]
        found = _told_apart(found, subject)
    return found + list(_as_expected({"q": f} if keys is None else {"q": f, "k": keys}, head_dim, expected))


def _law(name: str, check: Check, subject: Subject) -> Law:
    try:
        ok, saw, tried = check(subject)
    except RefusedError as refusal:
        return Law(name, False, str(refusal), (check.__doc__ or "").split("\n")[0])
    return Law(name, bool(ok), saw, tried)


def _told_apart(found: list[Law], subject: Subject) -> list[Law]:
    """The same laws; those that hold once what harms nothing is divided out are marked as broken by design."""
    if all(law.ok for law in found):
        return found
    starts = [start_of(p) for p in (subject.q, subject.k)]
    q, k = starts
    if q is None or k is None or q.words != k.words or np.abs(q.matrix - k.matrix).max() > subject.rounding:
        return found
    turned = Corrected(subject.q, q)
    alone = Subject(turned, turned if subject.k is subject.q else Corrected(subject.k, k), subject.x, subject.y)
    held = {law.name: law.ok or _law(law.name, LAWS[law.name], alone).ok for law in found[1:]}
    if not held["non-vacuity"]:
        return found
    return [law if law.ok or not held.get(law.name) else replace(law, by_design=q.words) for law in found]


def _expect_fields(expected: dict[str, Any]) -> None:
    for field in expected:
        if field not in EXPECTABLE:
            raise ValueError(
                f"expected: {field!r} is not a field of a fingerprint that can be expected; use one of: "
                f"{', '.join(EXPECTABLE)}"
            )


def _as_expected(subjects: dict[str, Any], head_dim: int, expected: dict[str, Any]) -> Iterable[Law]:
    if not expected:
        return
    prints = {name: fingerprint(f, head_dim=head_dim) for name, f in subjects.items()}
    for field, wanted in expected.items():
        meant = printed_layout(wanted) if field == "layout" else wanted
        got = {name: getattr(seen, field) for name, seen in prints.items()}
        alike = len({str(value) for value in got.values()}) == 1
        saw = str(got["q"]) if alike else ", ".join(f"{name}: {value}" for name, value in got.items())
        ok = all(_same(value, meant) for value in got.values())
        yield Law(f"expected {field}", ok, f"{saw}, expected {meant}", "the fingerprint")


def _same(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, float) and isinstance(value, (int, float)):
        return bool(np.isclose(value, wanted, rtol=1e-5, atol=0))
    return _plain(value) == _plain(wanted)


def _plain(value: Any) -> Any:
    """As JSON gives it back: a list where a tuple stood."""
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
