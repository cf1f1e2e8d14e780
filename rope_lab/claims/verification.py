"""What `rope-lab verify` shows: a progress bar while the claims run, then a table, or the same as JSON."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from rope_lab.claims.entry import LABELS, Result
from rope_lab.claims.ledger import run, select
from rope_lab.reading import json_text

__all__ = ["counts", "row", "run_all", "show", "sources", "summary", "table", "timing"]

COLOURS = {True: "green", False: "bold red", None: "yellow"}  # never the only sign: the words say the same


def run_all(pattern: str = "*", *, console: Console | None = None) -> list[Result]:
    """Run the selected claims under a progress bar that leaves no trace. ValueError if nothing matches."""
    selected = select(pattern)
    columns = TextColumn("{task.description:24}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=console or Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(selected))
        results = []
        for entry in selected:
            progress.update(task, description=entry.id)
            results.append(run(entry))
            progress.advance(task)
    return results


def row(result: Result) -> dict[str, Any]:
    """One result as plain data. ``ok`` is null for what was read or not attempted: not a failure, not green.

    >>> from rope_lab.claims import select, run
    >>> row(run(select("blog.props")[0]))["evidence"]
    'exact'
    """
    entry = result.claim
    return {
        "id": entry.id,
        "source": entry.source,
        "chapter": entry.chapter,
        "tier": entry.tier,
        "verdict": entry.verdict,
        "evidence": entry.evidence,
        "ok": result.ok,
        "outcome": result.outcome,
        "control_rejected": result.control_rejected,
        "printed_rejected": result.printed_rejected,
        "residual": _finite(result.residual),
        "tolerance": entry.tolerance or None,
        "control_residual": _finite(result.control_residual),
        "seconds": round(result.seconds, 4),
        "error": result.error,
    }


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None  # JSON knows no NaN


def counts(results: Iterable[Result]) -> dict[str, dict[str, int]]:
    """Count the outcomes of each kind of evidence; the kinds are never added up."""
    outcomes = Counter((r.claim.evidence, "fails" if r.failed else r.outcome) for r in results)
    kinds = [kind for kind in LABELS if any(kind == k for k, _ in outcomes)]
    return {kind: {outcome: outcomes[k, outcome] for k, outcome in sorted(outcomes) if k == kind} for kind in kinds}


def summary(results: Iterable[Result]) -> str:
    """The counts in one line, such as ``exact: 13 hold; numeric: 8 hold, 1 fail``."""
    plural = {"holds": "hold", "fails": "fail"}
    return "; ".join(
        f"{kind}: {', '.join(f'{number} {plural.get(outcome, outcome)}' for outcome, number in outcomes.items())}"
        for kind, outcomes in counts(results).items()
    )


def sources(results: Iterable[Result]) -> str:
    """Whose claims they are, in one line, such as ``193 claims of the sources and 164 of this book``."""
    ours = Counter(result.claim.source == "book" for result in results)
    return f"{ours[False]} claims of the sources and {ours[True]} of this book"


def timing(results: list[Result]) -> str:
    """The seconds of all checks, and the slowest of them."""
    slow = max(results, key=lambda result: result.seconds)
    return f"{sum(r.seconds for r in results):.1f} s; the slowest: {slow.claim.id}, {slow.seconds:.1f} s"


def control_words(result: Result) -> str:
    """The outcome of the control, in words."""
    if result.control_rejected is None:
        return "not reached" if result.error else "none"
    return "rejected" if result.control_rejected else "ACCEPTED"


def outcome_words(result: Result) -> str:
    """The outcome in words; where something failed, what."""
    if result.error:
        return result.error
    if result.outcome == "fails":
        return "fails"
    if result.control_rejected is False:
        return "fails: the check accepts its control"
    if result.printed_rejected is False:
        return "fails: the check accepts what is printed"
    return result.outcome


def table(results: Iterable[Result]) -> Table:
    """One line for each claim."""
    shown = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("claim", "verdict", "evidence", "residual", "control", "outcome"):
        shown.add_column(heading, no_wrap=heading == "claim")
    for r in results:
        residual = "" if r.residual is None else f"{r.residual:.0e}"
        cells = r.claim.id, r.claim.words, r.claim.evidence, residual, control_words(r), outcome_words(r)
        shown.add_row(*map(Text, cells[:-1]), Text(cells[-1], COLOURS[r.ok]))
    return shown


def show(pattern: str = "*", *, as_json: bool = False) -> bool:
    """Run the claims and print what came out. Returns whether none failed. NoSuchClaimError if nothing matches.

    The table and the JSON go to standard output, the progress bar and the names of what failed to standard error.
    """
    notes = Console(stderr=True)
    results = run_all(pattern, console=notes)
    if as_json:
        print(json_text([row(r) for r in results], indent=2))
    else:
        console = Console(markup=False, emoji=False)
        console.print(table(results))
        for line in (summary(results), sources(results), timing(results)):
            console.print(line, highlight=False)
    for r in (failed := [r for r in results if r.failed]):
        notes.print(f"{r.claim.id} {outcome_words(r)} ({r.claim.check.__module__})", style="bold red", highlight=False)
    return not failed
