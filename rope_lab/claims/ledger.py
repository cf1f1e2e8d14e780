"""The ledger's mechanism: a claim, its evidence, its control, and how they are run.

A claim is one small function with the decorator `claim`. For the kinds "exact", "cases" and "numeric" it takes the
thing under test as its first argument, and the decorator names three candidates for that place:

* ``holds``: what is true (the statement, or its correction); the check must accept it;
* ``printed``: what the source prints, for a claim that is wrong as printed; the check must reject it;
* ``control``: a deliberately wrong variant; the check must reject it, or the check is worth nothing.

An exact check returns True or False, for all that the statement says, by computer algebra or whole numbers: one with a
float is refused. Where the check goes through some cases of a wider statement, ``cases`` says which and how many. A
numeric check draws numbers and returns a residual, which is compared with ``tolerance``; with ``cases`` it draws none.
An experiment check returns "reproduced", "not reproduced" or "not attempted". A read claim runs nothing.

An entry says only what its place does not. Its module, ``chapters/chNN_topic/claims_SOURCE.py``, says the chapter;
the evidence is "read" if there is a ``date``, "cases" if there are ``cases``, "numeric" if there is a ``tolerance``,
"experiment" if there are no candidates, and "exact" otherwise.

A check sees the code as it is when it runs: a candidate that is a function of the package is looked up again by its
name, and another one calls the package itself: ``lambda a: rotation.rotation_2d(-a)``.
"""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from rope_lab import chapters
from rope_lab.claims.entry import (
    EXPERIMENT,
    SOURCES,
    TESTED,
    Claim,
    Evidence,
    MalformedClaimError,
    Result,
    Verdict,
    is_named,
    malformed,
)
from rope_lab.claims.witness import disagreement, split_witness
from rope_lab.errors import RopeLabError, near

LEDGER: dict[str, Claim] = {}
"""Id -> claim, as far as modules of claims have been imported; `load` imports them all."""
HOME = re.compile(
    r"rope_lab\.chapters\.ch(?P<chapter>\d\d)_\w+\.claims_(?P<source>[a-z0-9]+)(_\w+)?"
)  # of a module of claims


class NoSuchClaimError(RopeLabError, ValueError):
    """A pattern that matches nothing."""


def claim(
    id: str,  # noqa: A002 - the field's name, here and in every claim
    *,
    statement: str,
    locus: str = "",
    verdict: Verdict = "true",
    witness: str = "",
    chapter: int | None = None,
    **entry: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter the decorated check into the ledger under ``id``; a malformed entry is refused at import.

    Args:
        id: ``source.name``, whole, so that a search for it finds the claim.
        statement: what is said, in our words, with LaTeX between dollar signs.
        locus: where in the source; a claim of this book stands in its chapter.
        verdict: what we found.
        witness: the smallest case that shows it; numbers in ``[[...]]`` are compared with ``computed()``.
        chapter: only for a check outside ``rope_lab/chapters``; inside, the room says it.
        entry: the other fields of `Claim`, but for the evidence, which follows from them.

    Raises:
        MalformedClaimError: a ValueError that names the claim and what it lacks.

    >>> "blog.props" in load()
    True
    """

    def enter(check: Callable[..., Any]) -> Callable[..., Any]:
        home = HOME.fullmatch(check.__module__)
        if home and chapter is None:
            number = int(home["chapter"])
        elif chapter is not None and not home:
            number = chapter
        else:
            raise MalformedClaimError(
                f"claim {id!r} ({check.__module__}): a module chapters/chNN_topic/claims_SOURCE.py says the chapter; "
                "elsewhere, and only there, give chapter="
            )
        source = id.partition(".")[0]
        if home and source != home["source"]:
            raise MalformedClaimError(f"claim {id!r} ({check.__module__}): its id starts with '{home['source']}.'")
        usual = {"tier": "unsaid"} if source == "unsaid" else {}
        shown, numbers = split_witness(witness)
        try:
            new = Claim(
                id,
                locus or (f"chapter {number}" if source == "book" else ""),
                statement,
                verdict,
                _evidence(entry),
                number,
                check,
                witness=shown,
                witness_numbers=numbers,
                **usual | entry,
            )
        except TypeError as error:
            raise MalformedClaimError(
                f"claim {id!r}: {error}; known: {', '.join(Claim.__dataclass_fields__)}"
            ) from None
        old = LEDGER[id].check if id in LEDGER else check
        if (old.__module__, old.__qualname__) != (check.__module__, check.__qualname__):
            raise MalformedClaimError(
                f"claim {id!r} is entered twice: by {old.__module__}.{old.__qualname__} "
                f"and by {check.__module__}.{check.__qualname__}"
            )
        if problem := malformed(new):
            raise MalformedClaimError(f"claim {id!r} ({check.__module__}): {problem}")
        LEDGER[id] = new
        return check

    return enter


def _evidence(entry: dict[str, Any]) -> Evidence:
    if "date" in entry:
        return "read"
    if "cases" in entry:
        return "cases"
    if "tolerance" in entry:
        return "numeric"
    return "exact" if {"holds", "printed", "control"} & entry.keys() else "experiment"


def load() -> dict[str, Claim]:
    """Import every module of claims and return the ledger, in the order of chapters."""
    chapters.modules("claims_*")
    return dict(sorted(LEDGER.items(), key=lambda item: (item[1].chapter, item[0])))


def select(pattern: str = "*") -> list[Claim]:
    """The claims whose id, source or chapter matches.

    Args:
        pattern: An id with or without wildcards (`blog.*`), a source (`su6`) or a chapter (`ch4`). Default: all claims.

    Returns:
        The claims, in the order of chapters; at least one.

    Raises:
        NoSuchClaimError: If nothing matches.

    >>> [c.id for c in select("blog.props")]
    ['blog.props']
    """
    pattern = pattern if isinstance(pattern, str) else repr(pattern)  # nothing is called so
    claims = [
        c for c in load().values() if fnmatchcase(c.id, pattern) or pattern == c.source or pattern == f"ch{c.chapter}"
    ]
    if not claims:
        raise NoSuchClaimError(
            f"no claim matches {pattern!r}; try an id, a pattern such as 'blog.*', a source "
            f"({', '.join(SOURCES)}) or a chapter such as ch1{near(pattern, [*load(), *SOURCES])}"
        )
    return claims


def run(entry: Claim) -> Result:
    """Run one check: on what holds, on what was printed, on the control; and compute the numbers of its witness.

    An exception is a failure, and is shown. A claim that was read is not run.

    Args:
        entry: The claim, as `select` gives it.

    Returns:
        The outcome; for a numeric claim its residuals; whether the control and the printed version were rejected;
        the time in seconds; and the text of what failed.
    """
    start = time.perf_counter()
    if entry.evidence == "read":
        return Result(entry, "read", None, None, None, 0.0)
    try:
        wrong = disagreement(entry.witness_numbers, entry.computed) if entry.computed else ""
        if entry.evidence == "experiment":
            outcome = entry.check()
            if outcome not in EXPERIMENT:
                raise TypeError(f"an experiment returns one of {', '.join(EXPERIMENT)}; got {outcome!r}")
            return Result(entry, "fails" if wrong else outcome, None, None, None, time.perf_counter() - start, wrong)
        accepted, residual = _judge(entry, entry.holds)
        printed, printed_residual = (None, None) if entry.printed is None else _judge(entry, entry.printed)
        control, control_residual = _judge(entry, entry.control)
    except Exception as error:  # a claim that cannot be run has failed; the ledger must go on
        return Result(entry, "fails", None, None, None, time.perf_counter() - start, f"{type(error).__name__}: {error}")
    return Result(
        entry,
        "holds" if accepted and not wrong else "fails",
        residual,
        not control,
        None if printed is None else not printed,
        time.perf_counter() - start,
        wrong,
        control_residual=control_residual,
        printed_residual=printed_residual,
    )


def _judge(entry: Claim, subject: Any) -> tuple[bool, float | None]:
    """Does the check accept this subject? Every judgement of a claim draws the same random numbers."""
    if is_named(subject) and subject.__module__.startswith(TESTED):
        subject = getattr(sys.modules[subject.__module__], subject.__name__)
    drawn = (np.random.default_rng(0),) if entry.evidence == "numeric" else ()
    answer = entry.check(subject, *drawn)
    if not entry.tolerance:
        if not isinstance(answer, bool):
            raise TypeError(f"a check without a tolerance returns True or False, got {answer!r}")
        return answer, None
    residual = float(answer)
    return math.isfinite(residual) and residual <= entry.tolerance, residual


def verify(pattern: str = "*") -> Iterator[Result]:
    """Run the selected claims one by one.

    Args:
        pattern: Which claims, as `select` reads it. Default: all.

    Returns:
        An iterator of results. Each claim is run when its result is asked for.

    Raises:
        NoSuchClaimError: If nothing matches; at the call, before a claim is run.
    """
    return (run(entry) for entry in select(pattern))
