"""The laws that every rotary embedding obeys, checked for one callable; and those of a module that the audit built.

>>> from rope_lab.algebra.layouts import rotate_elementwise
>>> sound = laws(lambda x, n: rotate_elementwise(x, n, theta=[1.0, 0.01]), head_dim=4)
>>> all(law.ok for law in sound), [law.name for law in sound][:4]
(True, ['answers', 'linear', 'isometry', 'identity at zero'])
>>> [law.name for law in laws(lambda x, n: x, head_dim=4) if not law.ok]
['non-vacuity']
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rope_lab.algebra.arguments import expect_narrow, expect_whole, shown
from rope_lab.algebra.hf_schedules import RopeSettings
from rope_lab.audit.constructions import Built
from rope_lab.audit.conversion import expect_texts, printed_layout
from rope_lab.audit.far_positions import LEAST, WINDOW
from rope_lab.audit.fingerprints import Corrected, apart, expect_settings, fingerprint, starts_of
from rope_lab.audit.foreign_code import changed_torch, restored, torch_state
from rope_lab.audit.frequency_rule import named
from rope_lab.audit.law_checks import CHECKS, DRIFT, FLOOR, Check, Subject
from rope_lab.audit.probe import (
    EPS,
    Coarse,
    NoGradientError,
    OfBoth,
    Partner,
    Probe,
    RefusedError,
    Tempered,
    basis_matrices,
)
from rope_lab.errors import checking_arguments

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
    "scale",
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
    def asked(self) -> bool:
        """Whether anything was asked; else ``saw`` says why not."""
        return not self.saw.startswith("not asked")

    @property
    def broken(self) -> bool:
        """Whether the law does not hold, and neither by design nor by what the caller does."""
        return not self.ok and not self.by_design and not self.caution

    def __str__(self) -> str:
        mark = "FAIL" if self.broken else "note" if self.by_design else "care"
        mark = mark if not self.ok else "ok  " if self.asked else "----"
        said = f"; by design: {self.by_design}" if self.by_design else f"; {self.caution}" if self.caution else ""
        return f"{mark}  {self.name:<17} {self.saw}{said}"


def laws(
    f: Any,
    *,
    head_dim: int,
    keys: Any = None,
    expected: dict[str, Any] | None = None,
    settings: RopeSettings | None = None,
    window: int | None = None,
    only: Collection[str] | None = None,
) -> list[Law]:
    r"""Check isometry, the group law, relativity and the other laws of a rotary embedding, one by one.

    $|\mathcal R_n x| = |x|$, $\mathcal R_0 = I$, $\mathcal R_m \mathcal R_n = \mathcal R_{m+n}$,
    $(\mathcal R_m q)^\top \mathcal R_n k = q^\top \mathcal R_{n-m} k$, and that something turns at all. The pair of q
    and k is asked first, then each: what leaves every logit a function of the offset is no fault.

    Args:
        f: The callable ``f(x, positions)`` that turns q, as in `fingerprint`.
        head_dim: The width of a head, a positive even integer.
        keys: The callable that turns k, if it is not f.
        expected: What the fingerprint must say, such as ``{"base": 10000.0, "layout": "half-split", "direction": 1}``.
            Each entry is a law of its own.
        settings: What the model's configuration says, as `rope_lab.algebra.rope_settings` reads it. They add the law
            "configured rule": frequencies and attention factor are those of the configuration.
        window: How many positions there are, at least 16: nothing is asked of those beyond but that they leave others
            as they are. Default: what the settings say, else 2^20.
        only: Names of the laws to ask, such as ``["relativity"]``: a single one takes a small part of the time of all.
            Default: all. "answers", expectations and the configured rule are asked in any case.

    Returns:
        A list of `Law`: fifteen laws and one for each expectation. If f does not answer at all, only the first. The
        tolerance follows the dtype that f returns, and allows angles in float32. A law that is broken by nothing but a
        constant factor, one orthogonal map after the turn or another first position says so in ``by_design``, and so
        do frequencies of each head, factors that q and k share, a length temperature, and a function built for
        inference. Factors without the keys that undo them, and tables of fewer bits than x, are a ``caution``. A law
        that could not be asked says "not asked", and why. What f sets for the process is put back.

    Raises:
        ArgumentError: If head_dim is no positive even integer, window is below 16, expected names a field that no
            fingerprint has, or only a law that there is not. It is a ValueError, and of another kind a TypeError too.
            An error that f raises is not passed on: it breaks a law.

    Claims:
        `unsaid.norm`, `blog.inner-chain`

    >>> print(laws(lambda x, n: 2 * x, head_dim=4)[2])
    FAIL  isometry          a length times 2
    """
    with checking_arguments():
        head_dim = expect_narrow(head_dim, name="head_dim", most=2048)
        expect_settings(settings)
        _expect_fields({} if expected is None else expected)
        if window is None:
            schedule = settings.schedule if settings else None  # sold for the window of its training, times its factor
            said = int(getattr(schedule, "window", 0) * getattr(schedule, "factor", 1))
            window = said if said >= LEAST else WINDOW
        window = expect_whole(window, name="window", least=LEAST, limit=2**40)
        asked = CHECKS.keys() if only is None else expect_texts(only, name="only")
        known = [*CHECKS, *(f"expected {field}" for field in expected or {})]
        if unknown := next((name for name in asked if name not in known), None):
            raise ValueError(f"only: expected names of laws, got {unknown!r:.90}; use some of: {', '.join(known)}")
    with restored():
        return [*_asked(f, head_dim, keys, expected or {}, window, asked), *_as_configured(f, head_dim, keys, settings)]


def _as_configured(f: Any, head_dim: int, keys: Any, settings: RopeSettings | None) -> list[Law]:
    """The law "configured rule" of q, and of k where another callable turns it; the first that is broken, else one."""
    if settings is None:
        return []
    found = []
    for called in (f,) if keys is None else (f, keys):
        try:
            probe = Probe(called, head_dim=head_dim)
            found.append(configured_rule(probe, settings, window=getattr(settings.schedule, "window", None)))
        except (RefusedError, np.linalg.LinAlgError) as refusal:
            found.append(Law("configured rule", True, f"not asked: {refusal}", ""))
    return [next((law for law in found if law.broken), found[0])]


def _asked(f: Any, head_dim: int, keys: Any, expected: dict[str, Any], window: int, only: Collection[str]) -> list[Law]:
    before = torch_state()
    try:
        q = Probe(f, head_dim=head_dim)
        k = q if keys is None else Probe(keys, head_dim=head_dim)
        x, y = np.random.default_rng(2).normal(size=(2, 2, 3, 5, head_dim))
        subject = Subject(q, k, x, y, window)
    except RefusedError as refusal:
        return [Law("answers", False, str(refusal), f"x (2, 3, 4, {head_dim}), positions 0, 1, 2, 5")]
    found = [Law("answers", True, q.form, f"x (2, 3, 4, {head_dim})")]
    with np.errstate(all="ignore"):  # an f that overflows breaks a law and makes no noise
        # Those of `LAST` go beyond the calls whose traces the laws of state look for.
        last = sorted((name for name in CHECKS if name in only), key=LAST.__contains__)
        once = Subject(q, q, x, y, window)
        said = {name: _once_for_both(name, subject, once) for name in last}
        found += [said[name] for name in CHECKS if name in only]
        written = next((remark for p in (q, k) for remark in p.remarks), "")
        if written and "linear" in said and said["linear"].ok:  # in a call of another law
            found[found.index(said["linear"])] = replace(said["linear"], ok=False, saw=written)
        if (left := changed_torch(before)) and "earlier calls" in said and said["earlier calls"].ok:
            words = f"it changes torch for the whole process: {left} is another after its calls"
            found[found.index(said["earlier calls"])] = replace(said["earlier calls"], ok=False, saw=words)
        found = _told_apart(found, subject)
    return found + list(_as_expected({"q": f} if keys is None else {"q": f, "k": keys}, head_dim, expected, window))


def _once_for_both(name: str, s: Subject, once: Subject) -> Law:
    """One law of q and k. While each call gives both the same answer, what q is asked, k was asked by the same call."""
    q, k = s.q.f, s.k.f
    if name != "gradient" and isinstance(q, OfBoth) and isinstance(k, OfBoth) and q.both is k.both and q.alike:
        found = _law(name, CHECKS[name], once)
        if q.alike:
            return found
    return _law(name, CHECKS[name], s)


def _law(name: str, check: Check, subject: Subject) -> Law:
    try:
        ok, saw, tried = check(subject)
    except RefusedError as refusal:
        return Law(name, False, str(refusal), (check.__doc__ or "").split("\n")[0])
    except NoGradientError as missing:
        return Law(name, False, str(missing), "", by_design="built for inference, and no layer to train")
    return Law(name, bool(ok), saw, tried)


def _told_apart(found: list[Law], subject: Subject) -> list[Law]:
    """Mark as broken by design the laws that hold once what harms nothing is divided out; return all laws."""
    broken = {law.name for law in found if law.broken}
    notes = {}
    if "non-vacuity" not in broken and subject.own_heads:
        notes["non-vacuity"] = "each head has its own frequencies"
    if broken and (starts := starts_of(subject.q, subject.k)):
        q, k = starts
        turned = Corrected(subject.q, q)
        other = turned if subject.k is subject.q else Corrected(subject.k, k)
        alone = Subject(turned, other, subject.x, subject.y, subject.window)
        words = q.words if q.words == k.words else f"queries: {q.words or 'nothing'}; keys: {k.words or 'nothing'}"
        if _law("non-vacuity", CHECKS["non-vacuity"], alone).ok:
            notes |= {name: words for name in broken & CHECKS.keys() if _law(name, CHECKS[name], alone).ok}
            if {"group law", "relativity"} & (broken - notes.keys()):
                notes.pop("identity at zero", None)  # with position 0 divided out it holds of anything
    if "isometry" in broken - notes.keys() and subject.shared:
        notes["isometry"] = "queries and keys change their lengths by inverse factors"
    of_length = (broken & OF_LENGTH) - notes.keys()
    tempered = False
    if of_length:
        even, one = Tempered(subject.q), subject.k is subject.q
        alone = Subject(even, even if one else subject.k, subject.x, subject.y, subject.window)
        tempered = all(_law(name, CHECKS[name], alone).ok for name in of_length)
        if tempered and not one:
            words = "length temperature: queries have a factor of their position, keys have none"
            notes |= dict.fromkeys(of_length, words)
    found = [replace(law, ok=False, by_design=notes[law.name]) if law.name in notes else law for law in found]
    found = _with_cautions(found, subject, broken - notes.keys())
    if tempered and "relativity" in of_length:  # what is asked alone may be the queries' function only
        words = "; without its factor of the position it holds: if keys have none, hand them in with keys="
        found = [replace(law, saw=law.saw + words) if law.name in of_length and law.broken else law for law in found]
    unlike = "identity at zero" in broken - notes.keys() and subject.k is not subject.q
    if unlike and (c := apart(subject.q, subject.k)):
        words = f"; keys stand {c:+g} from queries, at every position"
        found = [replace(law, saw=law.saw + words) if law.name == "identity at zero" else law for law in found]
    return found


OF_LENGTH = {"isometry", "inverse", "group law", "relativity", "long positions"}


def _with_cautions(found: list[Law], s: Subject, broken: set[str]) -> list[Law]:
    """Caution where tables of few bits, or factors whose partner was not handed in, are all that breaks laws."""
    with suppress(RefusedError):
        held = [_held_in(p) for p in (s.q, s.k)] if broken and broken <= OF_LENGTH else []
        if any(held):
            q, k = (Coarse(p, dtype) if dtype else p for p, dtype in zip((s.q, s.k), held, strict=True))
            alone = Subject(q, q if s.k is s.q else k, s.x, s.y, s.window)
            words = f"its tables hold {held[0] or held[1]}: ask with an x of that type"
        elif held and s.k is s.q:
            alone = Subject(s.q, Partner(s.q), s.x, s.y, s.window)
            words = "factors as of xPos: scores depend on the offset alone if keys have the inverse ones; hand in keys="
        else:
            return found
        if all(_law(n, CHECKS[n], alone).ok or (n == "isometry" and alone.shared) for n in broken):
            return [replace(law, caution=words) if law.name in broken else law for law in found]
    return found


def _held_in(p: Probe) -> str:
    """The half type whose numbers all entries of the turns are, where x has more bits; or an empty string."""
    entries = basis_matrices(p, (1, 2, 3, 5))
    single = entries.astype(np.float32)
    if (single != entries).any() or not (entries % 1).any():
        return ""
    halves = {
        "bfloat16": not (single.view(np.uint32) % 2**16).any(),
        "float16": (single.astype(np.float16) == single).all(),
    }
    return next((dtype for dtype, fits in halves.items() if fits and p.eps < EPS[dtype]), "")


def _expect_fields(expected: dict[str, Any]) -> None:
    if not isinstance(expected, Mapping):
        raise TypeError(f"expected: expected a dictionary, got {shown(expected):.90}; such as {{'base': 10000.0}}")
    for field in expected:
        if field not in EXPECTABLE:
            raise ValueError(
                f"expected: got {field!r:.90}, which is not a field of a fingerprint that can be expected; use one of: "
                f"{', '.join(EXPECTABLE)}"
            )


def _as_expected(subjects: dict[str, Any], head_dim: int, expected: dict[str, Any], window: int) -> Iterable[Law]:
    if not expected:
        return
    prints = {name: fingerprint(f, head_dim=head_dim, window=window) for name, f in subjects.items()}
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
    """The value as JSON gives it back: a list where a tuple stood."""
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


LAST = ("gradient", "rows of a call", "long positions")
STEPS = (0, 1, 64, 1000)
SCALE = 1e-4  # the relative error that a length factor may have
CAST = 1e-3  # radians at position 1000 that a cast may change: float32 itself changes a tenth of that


def module_laws(f: Callable[[Any, Any], Any], head_dim: int, built: Built | None, *, axes: int = 1) -> list[Law]:
    """The laws of a built module.

    Args:
        f: The module as f(x, positions).
        head_dim: The width of a head.
        built: The module, and what its configuration says; None where there is no module of torch.
        axes: How many axes its positions have; f is asked along all of them.

    Returns:
        "configured rule" where there is a configuration, which says why it was not asked if that cannot be read; and
        "survives casting", which cautions and is never broken: who loads a model in bfloat16 need not cast its module.
    """
    if built is None:
        return [Law("survives casting", True, "not asked: no module of torch was built that could be cast", "")]
    try:
        probe = Probe(f, head_dim=head_dim)
        rule = [Law("configured rule", True, f"not asked: {built.unread}", "the configuration")] if built.unread else []
        if built.settings is not None and axes == 1:
            rule = [configured_rule(probe, built.settings, window=built.window)]
        return [*rule, _survives_casting(probe, built.module)]
    except (RefusedError, np.linalg.LinAlgError):
        return []  # other laws say that it does not answer, or that its answers have no inverse


def configured_rule(probe: Probe, settings: RopeSettings, *, window: int | None) -> Law:
    r"""The turns against the frequencies that the settings make, in a text within the window and in one beyond it.

    $f(x, n) = S\,\mathcal R_n x$ with one S: the angles of $M_0^{-1} M_n$ are $n\theta_i$, and the columns of $M_0$
    have the length of the attention factor where the plane turns. Where the pairs are those of a usual layout and the
    planes stand in another order, or some of them turn the other way, it is a caution.

    Args:
        probe: The callable.
        settings: What the configuration says.
        window: The longest text of training; None: no text beyond it is asked.

    Returns:
        A `Law`.

    >>> from rope_lab.algebra.frequency_schedules import Schedule
    >>> from rope_lab.audit.gallery import right
    >>> settings = RopeSettings(head_dim=8, base=500.0, rotary_dim=None, schedule=Schedule())
    >>> print(configured_rule(Probe(right, head_dim=8), settings, window=2048))
    FAIL  configured rule   in a text of 1025 tokens the turn from 0 to 1 is off by 0.11: expected Schedule(), base 500
    """
    said = f"{named(settings.schedule)}, base {settings.base:.10g}"
    lengths = [max(STEPS) + 25, *([] if window is None else [2 * max(window, *STEPS)])]
    tried = f"positions {', '.join(map(str, STEPS))} in texts of {' and '.join(map(str, lengths))} tokens"
    factors: dict[int, tuple[float, float, float]] = {}
    care, held, rest = "", "", 64 * probe.eps
    with suppress(RefusedError):
        held = _held_in(probe)
    eps = EPS[held] if held else probe.eps
    for length in lengths:
        try:
            maps = basis_matrices(probe, (*STEPS, length - 1))
        except RefusedError:
            continue  # a table that ends
        schedule = settings.schedule.at(length)
        theta = np.zeros(probe.head_dim // 2)
        try:
            own = schedule.frequencies(settings.rotary_dim or settings.head_dim, base=settings.base)
        except ValueError as error:  # such as an odd width, of which the code takes a part
            return Law("configured rule", True, f"not asked: {error}", tried)
        if len(own) > len(theta):
            return Law("configured rule", True, f"not asked: {len(own)} planes, wider than the head", tried)
        theta[: len(own)] = own
        moves = np.abs(np.array(maps[1:]) - maps[0]).max(axis=(0, 1)) > 4 * probe.eps
        norms = np.linalg.norm(maps[0], axis=0)
        still = float(np.abs(norms[~moves] - 1).max(initial=0.0))
        factors[length] = float(np.median(norms[moves])) if moves.any() else 1.0, schedule.attention_factor, still
        saw, turning, due, rigid = "", 0, 0, True
        for n, turned in zip(STEPS[1:], maps[1:], strict=False):
            alone = turned if (maps[0] == np.eye(len(turned))).all() else np.linalg.solve(maps[0], turned)
            angles = np.sort(np.abs(np.angle(np.linalg.eigvals(alone))))[::2]
            expected = np.sort(np.abs(np.angle(np.exp(1j * n * theta))))
            miss, near = np.abs(angles - expected).max(), 8 * max(FLOOR, eps) + 4 * DRIFT * n
            turning, due = (
                max(most, 2 * int((each > rest).sum())) for most, each in ((turning, angles), (due, expected))
            )
            rigid = rigid and bool(np.abs(alone.T @ alone - np.eye(len(alone))).max() < near)
            if miss > near and not saw:
                saw = f"in a text of {length} tokens the turn from 0 to {n} is off by {miss:.2g}"
            care = care or _out_of_order(alone, n * own, near)
        if saw:
            if rigid and turning != due == 2 * int((theta > 0).sum()):  # where all that should turn is seen to turn
                saw = f"{turning} of {probe.head_dim} coordinates are seen to turn, expected {due}; {saw}"
            return Law("configured rule", False, f"{saw}: expected {said}", tried)
    for length, (factor, meant, still) in factors.items():
        saw = f"in a text of {length} tokens lengths are times {factor:.6g}, expected {meant:.6g}"
        if abs(factor / meant - 1) > SCALE + 4 * eps:
            return Law("configured rule", False, f"{saw}: {said}", tried)
        if still > SCALE + 4 * eps:
            saw = f"what does not turn is multiplied too, off by {still:.2g}"
            return Law("configured rule", False, f"{saw}: {said}", tried)
    if care:
        words = "right only for weights that were trained so"
        return Law("configured rule", False, f"{said}, but {care}", tried, caution=words)
    said += f", within the bits of its {held} tables" if held else ""
    return Law("configured rule", True, said if factors else "not asked: a table ends before these texts", tried)


def _out_of_order(alone: np.ndarray, angles: np.ndarray, near: float) -> str:
    """In words, how planes in the pairs of a usual layout differ from these angles in their order; else empty."""
    planes, said = np.arange(len(angles)), ""
    for a, b in ((planes, planes + len(planes)), (2 * planes, 2 * planes + 1)):
        within = np.eye(len(alone), dtype=bool)
        within[a, b] = within[b, a] = True
        if (np.abs(alone[~within]) < near).all():  # other pairs are not judged
            cosines = bool((np.abs(np.diag(alone)[a] - np.cos(angles)) < near).all())
            if cosines and any((np.abs(alone[b, a] - way * np.sin(angles)) < near).all() for way in (1, -1)):
                return ""
            said = "some planes turn the other way" if cosines else "the planes stand in another order"
    return said


def _survives_casting(probe: Probe, module: Any) -> Law:
    """Check that a module turns as before once it went to bfloat16 and came back as far as its code brings it."""
    import torch

    name, last, before = "survives casting", max(STEPS), None
    for last in (max(STEPS), 255, 31, 3):  # pictures and tables may end before
        with suppress(RefusedError):
            before = basis_matrices(probe, (0, last))
            break
    tried = f"position {last}, after module.to(torch.bfloat16)"
    if before is None:
        return Law(name, True, "not asked: position 3 is refused", tried)
    if not any(t.is_floating_point() for t in (*module.buffers(), *module.parameters())):
        return Law(name, True, "the module holds no numbers that a cast could change", tried)
    cached = [key for part in module.modules() for key, held in vars(part).items() if isinstance(held, torch.Tensor)]
    if cached:
        return Law(name, True, f"not asked: {cached[0]} keeps what earlier calls made", tried)
    kept = [(part, dict(part._buffers)) for part in module.modules()]
    learned = [(parameter, parameter.data) for parameter in module.parameters()]
    try:
        module.to(torch.bfloat16)
        after = basis_matrices(probe, (0, last))
    except RefusedError as refusal:
        return Law(name, False, str(refusal), tried, caution="a cast module does not answer")
    finally:
        module.float()
        for part, buffers in kept:
            part._buffers.update(buffers)
        for parameter, numbers in learned:
            parameter.data = numbers
    miss = np.abs(after[-1] - before[-1]).max()
    if miss <= CAST:
        return Law(name, True, f"off by {miss:.1e}", tried)
    said = "its frequencies are cast with it; load weights in bfloat16, or keep the module in float32"
    return Law(name, False, f"off by {miss:.2g}", tried, caution=said)
