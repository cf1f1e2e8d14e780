"""What `rope-lab audit --model` prints, with and without `--probe`."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from rope_lab.algebra.arguments import expect_whole
from rope_lab.audit.audits import as_text
from rope_lab.audit.shift_tests import shift_lines
from rope_lab.audit.tiny_models import ask_families, head
from rope_lab.commands.audit_process import Auditor
from rope_lab.commands.audit_targets import expect_writable, kept, write
from rope_lab.errors import checking_arguments, printable
from rope_lab.reading import json_text

SHIFT = "rope_lab.audit.shift_tests:"
PROBE = "rope_lab.audit.model_probes:"


def audit_model(model: str, *, as_json: bool, out: Path | None, seconds: float, window: int | None = None) -> bool:
    """Move one model and let it decode, or move a tiny one of every family.

    True where relativity is kept, or lost by design alone, and decoding gives what reading gives.
    """
    if model == "all":
        return _every(f"{SHIFT}_row", _shift_table, has="relative", as_json=as_json, out=out, seconds=seconds)
    if window is not None:
        with checking_arguments():
            expect_whole(window, name="window", least=1)
    asks = {f"{SHIFT}shift_test": {"window": window}, "rope_lab.audit.decoding:decoding_test": {}}
    return _asked(model, asks, as_json=as_json, seconds=seconds)


def probe_model(model: str, *, as_json: bool, out: Path | None, seconds: float) -> bool:
    """Say what turns in each layer of a model, or of a tiny one of every family.

    True where every layer was read and no fault was seen; of all families, always: a refusal is a finding.
    """
    if model == "all":
        return _every(f"{PROBE}_row", _probe_table, has="answers", as_json=as_json, out=out, seconds=seconds)
    return _asked(model, {f"{PROBE}model_probe": {}}, as_json=as_json, seconds=seconds)


def _asked(model: str, asks: dict[str, dict[str, Any]], *, as_json: bool, seconds: float) -> bool:
    """Print the answers to each question, or why there is none. JSON is one row, with decoding under its name."""
    with Auditor(seconds=seconds) as auditor:
        answers = auditor.ask_model(model, asks)
    if as_json:
        row, *more = (seen["row"] for seen in answers)
        print(json_text(row | ({"decoding": more[0]} if more else {}), indent=2))
    else:
        print("\n\n".join(printable(seen["text"], keep="\n") for seen in answers))
    return all(seen["ok"] for seen in answers)


def _every(ask: str, table: Any, *, has: str, as_json: bool, out: Path | None, seconds: float) -> bool:
    """Ask about all families and show the table. Each answer is written into ``out``; what stands there is kept."""

    def told(family: str, results: dict[str, Any]) -> None:
        print(family, file=sys.stderr)
        write(out, as_text(results))

    expect_writable(out)
    with redirect_stdout(sys.stderr), Auditor(seconds=seconds) as auditor:
        rows = kept(out, head(), same=("transformers", "torch"), has=has, tried=lambda found: table(found, ""))
        results = ask_families(
            lambda family: auditor.ask_model(family, {ask: {}})[0]["row"], None, limit=None, rows=rows, told=told
        )
    write(out, as_text(results))
    if as_json:
        print(as_text(results), end="")
    else:
        title = f"{results['date']}: transformers {results['transformers']}, torch {results['torch']}"
        Console(markup=False, emoji=False).print(table(results, title))
    return True


def _shift_table(results: dict[str, Any], title: str) -> Table:
    table = Table("family", "a shift", "layers", "why", title=title)
    for line in shift_lines(results):
        table.add_row(*map(printable, line))
    return table


def _probe_table(results: dict[str, Any], title: str) -> Table:
    table = Table("family", "layers", "what turns", title=title)
    for row in results["rows"]:
        if row["skipped"]:
            table.add_row(printable(row["model"]), "", printable(f"not answered: {row['skipped']}"))
            continue
        for answer in row["answers"]:
            table.add_row(*map(printable, (row["model"], ", ".join(map(str, answer["layers"])), answer["words"][0])))
    return table
