"""What a claim is: its fields, what running it can show, and what makes an entry malformed."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, Literal, get_args

from rope_lab.claims.mend import printed_formula
from rope_lab.errors import RopeLabError

Evidence = Literal["exact", "cases", "numeric", "experiment", "read"]
Verdict = Literal["true", "conditional", "false", "ambiguous", "empirical"]
Tier = Literal["core", "minor", "empirical", "unsaid"]
Outcome = Literal["holds", "fails", "reproduced", "not reproduced", "not attempted", "read"]
TESTED = tuple(f"rope_lab.{name}" for name in ("algebra", "nn", "audit", "training"))  # what the checks are about
EXPERIMENT = ("reproduced", "not reproduced", "not attempted")
LABELS = {
    "exact": "exact",
    "cases": "checked in cases",
    "numeric": "checked on random numbers",
    "experiment": "by experiment",
    "read": "read in the source",
}
"""Each evidence -> the words that a reader sees."""
# Names of what computes with floats or draws numbers, which no exact check may use.
INEXACT = re.compile(
    r"allclose|approx|atol|choice|complex(64|128)|default_rng|evalf|float(32|64)?|fsum|hypot|isclose|linalg|longdouble|"
    r"matrix_rank|mpf|mpmath|(standard_)?normal|random|rtol|tolerance|torch|uniform"
)

SOURCES = {
    "su19": "Su, part 19: RoPE on values",
    "su6": "Su, part 6: completeness",
    "blog": "An article on RoPE and its two layouts",
    "crope": "CRoPE, arXiv 2601.02728v1",
    "cross": "Across the sources",
    "unsaid": "Beside the sources",
    "book": "This book",
}
"""The first word of an id -> the source that the claim is of."""


class MalformedClaimError(RopeLabError, ValueError):
    """An entry that the ledger refuses: it names the claim, what is missing and what to add."""


@dataclass(frozen=True)
class Erratum:
    """One item of the errata page, entered with the first claim that it shows."""

    number: int  # on the page
    id: str  # "crope-dagger"; the part before the hyphen is the source
    title: str
    affected: str  # whom it concerns, and what stands all the same
    matters: Literal["code", "proofs", "numbers", "readers"]  # what goes wrong if nobody notices
    also: tuple[str, ...] = ()  # the ids of its other claims, in order
    picture: str = ""  # the label of a picture that shows it, in the chapter of its first claim


@dataclass(frozen=True)
class Claim:
    """One entry of the ledger: what is said, where, what we found, and the function that finds it again."""

    id: str  # "blog.inner-chain"; the part before the dot is the source
    locus: str  # where in the source: "eq 7"
    statement: str  # in our words, LaTeX between dollar signs
    verdict: Verdict  # what we found
    evidence: Evidence  # how
    chapter: int  # the chapter that states it
    check: Callable[..., Any]
    tier: Tier = "core"
    correction: str = ""  # what to read instead, or the condition
    mend: str = ""  # LaTeX of the formula, what to strike in [-...-] and what to read in [+...+]
    differs: str = ""  # beside a formula of this book, how the source's print differs: "printed with a minus"
    witness: str = ""  # the smallest case that shows it
    witness_numbers: tuple[str, ...] = ()  # those of its numbers, as printed, that `computed` makes again
    computed: Callable[[], Any] | None = None
    gives: tuple[int, int] | None = None  # which of these numbers comes out as printed, and which is right
    erratum: Erratum | None = None
    slip: bool = False  # a slip of the pen: the page says "read X for Y", never "false"
    holds: Any = None
    printed: Any = None
    control: Any = None
    tolerance: float = 0.0
    cases: str = ""  # which cases the check goes through, where the statement says more: "head_dim 2, 4 and 6"
    date: str = ""  # for a claim that was read: when

    @property
    def source(self) -> str:
        """The source: the part of the id before the dot."""
        return self.id.partition(".")[0]

    @property
    def words(self) -> str:
        """The verdict in a reader's words; a slip is never called false.

        >>> from rope_lab.claims import load
        >>> load()["blog.output-sum"].words
        'as printed: a slip'
        """
        if self.verdict == "false":
            return "as printed: a slip" if self.slip else "as printed: wrong"
        return "true if…" if self.verdict == "conditional" else self.verdict


@dataclass(frozen=True)
class Result:
    """What running one claim showed."""

    claim: Claim
    outcome: Outcome
    residual: float | None  # numeric checks only
    control_rejected: bool | None  # None: this kind has no control, or the check broke before it came to it
    printed_rejected: bool | None  # None: nothing was printed wrongly
    seconds: float
    error: str = ""
    control_residual: float | None = None  # by how much the control misses: numeric checks only
    printed_residual: float | None = None

    @property
    def failed(self) -> bool:
        """Whether the check refused what holds, or accepted what is wrong. One of these makes ``verify`` exit 1."""
        return self.outcome == "fails" or self.control_rejected is False or self.printed_rejected is False

    @property
    def ok(self) -> bool | None:
        """True: something was run and it held. False: it failed. None: read, not attempted or not reproduced,
        which is neither a failure of the book nor green."""
        if self.failed:
            return False
        return True if self.outcome in ("holds", "reproduced") else None


def is_named(candidate: Any) -> bool:
    """Is this a function or class that its module knows by its name?"""
    name = getattr(candidate, "__qualname__", None)
    return name is not None and getattr(sys.modules.get(candidate.__module__), name, None) is not None


def malformed(entry: Claim) -> str:
    """The fault of an entry, as a sentence; empty if it has none."""
    if not re.fullmatch(r"[a-z0-9]+(\.[A-Za-z0-9-]+)+", entry.id):
        return "an id is a source and words joined by dots and hyphens, such as 'blog.inner-chain'"
    if entry.source not in SOURCES:
        return f"unknown source {entry.source!r}; known: {', '.join(SOURCES)}"
    for field, kind in (("verdict", Verdict), ("evidence", Evidence), ("tier", Tier)):
        if (got := getattr(entry, field)) not in get_args(kind):
            return f"unknown {field} {got!r}; known: {', '.join(get_args(kind))}"
    if not entry.statement.strip() or not entry.locus.strip():
        return "statement= and locus= must say something"
    if entry.evidence in ("exact", "cases", "numeric"):
        if entry.holds is None or entry.control is None:
            return "a check needs holds= and control="
        if entry.verdict == "false" and entry.printed is None:
            return "a claim that is wrong as printed needs printed=, which the check must reject"
        for name in ("holds", "printed", "control"):
            home = getattr(candidate := getattr(entry, name), "__module__", None) or ""
            if home.startswith(TESTED) and not is_named(candidate):
                return f"{name}= binds an object of {home} at import; make it when the check runs: lambda: ..."
    if bool(entry.witness_numbers) != (entry.computed is not None):
        return "computed= goes with numbers in [[...]] in witness=, and only with them"
    if entry.erratum and not entry.erratum.id.startswith(f"{entry.source}-"):
        return f"the id of its erratum starts with '{entry.source}-', got {entry.erratum.id!r}"
    if entry.tolerance < 0 or (entry.evidence == "numeric") > (entry.tolerance > 0):
        return "tolerance= is a positive number"
    if entry.evidence == "exact" and (found := inexact(entry)):
        return (
            f"an exact check has no floats, no tolerance and no random numbers, and this one has {', '.join(found)}; "
            "use SymPy or whole numbers, or say cases= or tolerance="
        )
    if entry.evidence == "read" and not (
        entry.date and entry.holds is entry.printed is entry.control is entry.computed is None
    ):
        return "a claim that was read needs date=, and nothing to run"
    if entry.verdict in ("conditional", "false", "ambiguous") and not entry.correction:
        return f"the verdict {entry.verdict!r} needs correction="
    if entry.mend and (entry.verdict == "true" or entry.mend == printed_formula(entry.mend)):
        return "mend= goes with a verdict other than 'true', and marks something with [-...-] or [+...+]"
    if entry.gives and max(entry.gives) >= len(entry.witness_numbers):
        return (
            f"gives= names two of the {len(entry.witness_numbers)} numbers in [[...]] of the witness, got {entry.gives}"
        )
    if entry.differs and (entry.verdict == "true" or re.search(r"[$`]", entry.differs)):
        return "differs= is a few plain words, and goes with a verdict other than 'true'"
    return ""


def inexact(entry: Claim) -> list[str]:
    """The parts of an exact check that are not exact: floats, and names of what computes with them or draws numbers.

    Its candidates and the functions of the same room that it calls are looked at too, and none of the package is.
    """
    parts, module = (entry.check, entry.holds, entry.printed, entry.control), entry.check.__module__
    found = {repr(number) for part in parts for number in _floats(part)}
    for code, names in [run for part in parts for run in _codes(part, module)]:
        values = (*code.co_consts, *(names[name] for name in code.co_names if name in names))
        found |= {repr(number) for value in values for number in _floats(value)}
        found |= {name for name in (*code.co_names, *code.co_varnames) if INEXACT.fullmatch(name)}
    return sorted(found)


def _floats(value: Any) -> Iterator[float | complex]:
    """The floats of a value, also inside of a container."""
    if isinstance(value, float | complex):
        yield value
    elif isinstance(value, tuple | list | set | frozenset):
        for inner in value:
            yield from _floats(inner)
    elif isinstance(value, dict):
        yield from _floats((*value, *value.values()))


def _codes(part: Any, module: str) -> Iterator[tuple[CodeType, dict[str, Any]]]:
    """The code of a function, of those inside it and of those of its module that it names, each with its globals."""
    called = [inspect.unwrap(part)] if isinstance(part, FunctionType) and part.__module__ == module else []
    for function in called:  # it grows as it is read
        codes = [function.__code__]
        for code in codes:
            codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
            named = [inspect.unwrap(one) for name in code.co_names if callable(one := function.__globals__.get(name))]
            called += [
                other
                for other in named
                if isinstance(other, FunctionType) and other.__module__ == module and other not in called
            ]
        yield from ((code, function.__globals__) for code in codes)
