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
from rope_lab.errors import FileError, checking_arguments
from rope_lab.training.files import make_folder, reason

COLUMNS = ("what", "layout", "rotated", "direction", "base", "laws that do not hold")


def audit_target(
    target: str, *, head_dim: int | None = None, layer_type: str | None = None, as_json: bool = False
) -> bool:
    """One target: its fingerprint, its laws. True where every law holds."""
    if head_dim is not None:
        with checking_arguments():
            expect_even(head_dim, name="head_dim")
    with redirect_stdout(sys.stderr):  # what the target prints, at its import or its calls, is no part of our answer
        seen = audits.audit(target, head_dim=head_dim, layer_type=layer_type)
    if as_json:
        print(json.dumps(seen.row, indent=2))
    elif seen.skipped or seen.fingerprint is None:
        print(f"skipped: {seen.skipped}")
    else:
        about = f"{'note':<14}{seen.about}\n" if seen.about else ""
        print(f"{target}\ncalled with     {seen.fingerprint.form}\n{seen.fingerprint}\n{about}")
        print(*seen.laws, sep="\n")
    return not seen.skipped and all(law.ok for law in seen.laws)


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
