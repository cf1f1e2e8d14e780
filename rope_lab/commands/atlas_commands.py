"""What `rope-lab atlas` does: ask every distinct code of a library once, and keep each answer as it comes."""

import platform
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from rope_lab.audit.atlas_rows import Definition, atlas, by_body, definitions, differences, row
from rope_lab.audit.audits import as_text, lines
from rope_lab.audit.foreign_code import version
from rope_lab.commands.audit_process import Auditor, folder_of
from rope_lab.commands.audit_targets import expect_writable, kept, write
from rope_lab.errors import ArgumentError, printable

TRIED = 3  # copies that are asked in turn, until one answers


def survey(package: str, *, out: Path | None, seconds: float, known: bool = False) -> dict[str, Any]:
    """Audit a library. With ``out``, answers for the same version that stand there already are kept, not asked again.

    Args:
        package: The name that is imported.
        out: The file of JSON, written anew after each answer; a run that was stopped goes on where it was.
        seconds: How long one audit may take.
        known: Refuse a library that the book has no answers about, before the work.

    Returns:
        The whole file: library, version, date, and rows.

    Raises:
        ValueError: If package is no name of a package, not known, or defines no rotary embedding.
    """
    if not all(part.isidentifier() for part in package.split(".")):
        raise ArgumentError(
            f"PACKAGE: expected the name that is imported, got {package!r}; such as transformers, without a path or .py"
        )
    if known and package not in (of := [one["library"] for one in atlas()]):
        raise ArgumentError(f"--compare: expected one of {', '.join(of)}, got {package!r}; leave --compare out")
    expect_writable(out)
    head = {"library": package, "version": version(package), "date": date.today().isoformat()}
    head |= {"python": platform.python_version(), "torch": version("torch")}
    rows = kept(  # another file is refused before the work
        out,
        head,
        same=("library", "version"),
        has="body",
        tried=lambda found: ({row["body"] for row in found["rows"]}, lines(found)),
    )
    bodies = by_body(definitions(package, folders=folder_of(package)))
    if not bodies:
        raise ArgumentError(
            f"PACKAGE: expected one that defines rotary embeddings, got {package}, where none was found"
        )
    done = {one["body"] for one in rows}
    with Auditor(seconds=seconds) as auditor:
        for number, (body, shared) in enumerate(bodies.items(), 1):
            if body in done:
                continue
            rows += ask(auditor, shared)
            print(f"{number} of {len(bodies)}: {printable(rows[-1]['target'])}", file=sys.stderr)
            write(out, as_text(head | {"rows": rows}))
    return head | {"rows": rows}


def ask(auditor: Auditor, shared: Sequence[Definition]) -> list[dict[str, Any]]:
    """The rows of one code: one, or one for each kind of layer; of the copies the first that answers is asked."""
    for asked in shared[:TRIED]:
        answers = [seen["row"] for seen in auditor.ask(asked.target)]
        if not all(seen["skipped"] for seen in answers):
            break
    return [row(shared, asked, seen) for seen in answers]


def show(answers: dict[str, Any]) -> None:
    """Print the rows as a table, and how many there are."""
    headings = (
        "implementation",
        "shared by",
        "layout",
        "rotated",
        "direction",
        "base or rule",
        "laws that do not hold",
    )
    table = Table(*headings, title=f"{answers['library']} {answers['version']}, {answers['date']}")
    for one, line in zip(answers["rows"], lines(answers), strict=True):
        table.add_row(printable(line[0]), str(1 + len(one["shared"])), *map(printable, line[1:]))
    Console(markup=False, emoji=False).print(table)


def compare(now: dict[str, Any]) -> None:
    """Print what differs from the answers that the book has."""
    before = next(one for one in atlas() if one["library"] == now["library"])
    lines_of = differences(before["rows"], now["rows"])
    print(f"{now['library']} {before['version']} of {before['date']}, and {now['version']} of {now['date']}:")
    print(printable("\n".join(lines_of), keep="\n") or "nothing changed")
