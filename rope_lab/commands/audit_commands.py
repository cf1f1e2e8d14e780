"""What `rope-lab audit` prints."""

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from rope_lab.algebra.arguments import expect_even
from rope_lab.audit import audits
from rope_lab.audit.importing import expect_target
from rope_lab.commands.audit_process import Auditor
from rope_lab.errors import FileError, checking_arguments
from rope_lab.training.files import make_folder, reason

COLUMNS = ("what", "layout", "rotated", "direction", "base", "laws that do not hold")


def audit_target(target: str, *, as_json: bool = False, seconds: float = audits.LIMIT, **options: Any) -> bool:
    """One target: its fingerprint, its laws; both for each kind of layer. True where no law is broken."""
    expect_target(target)
    if options.get("head_dim") is not None:
        with checking_arguments():
            expect_even(options["head_dim"], name="head_dim")
    with Auditor(seconds=seconds) as auditor:
        found = auditor.ask(target, **options)
    if as_json:
        rows = [seen["row"] for seen in found]
        print(json.dumps(rows if len(rows) > 1 else rows[0], indent=2))
    else:
        print("\n\n".join(seen["text"] for seen in found))
    return all(seen["ok"] for seen in found)


def audit_library(*, as_json: bool = False, out: Path | None = None) -> bool:
    """Every entry of the library, as a table; ``out`` gets it as JSON. True: a law that does not hold is a finding."""
    if out:  # a folder that cannot be made is found out before the work
        make_folder(out.parent)
    with redirect_stdout(sys.stderr):
        found: dict[str, Any] = audits.audit_all()
    text = audits.as_text(found)
    if out:
        try:
            out.write_text(text, encoding="utf-8")
        except OSError as error:
            raise FileError(f"--out: expected a file that can be written, got {out}: {reason(error)}") from error
    if as_json:
        print(text, end="")
        return True
    versions = ", ".join(f"{name} {number}" for name, number in found["libraries"].items() if number)
    table = Table(*COLUMNS, title=f"{found['date']}: {versions}, torch {found['torch']}")
    for line in audits.lines(found):
        table.add_row(*line)
    Console().print(table)
    return True
