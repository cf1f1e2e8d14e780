"""What `rope-lab audit` prints."""

import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from rope_lab.audit import audits
from rope_lab.audit.foreign_code import expect_target
from rope_lab.commands.audit_process import Auditor
from rope_lab.commands.audit_targets import (
    Question,
    answered,
    ask_all,
    expect_settings,
    expect_writable,
    kept,
    read_settings,
    read_targets,
    write,
)
from rope_lab.errors import ArgumentError, FileError, printable
from rope_lab.reading import json_text, parse_json, read, reason

COLUMNS = ("what", "layout", "rotated", "direction", "base", "laws that do not hold")


def settings_of(changes: list[str], config: Path | None, **options: Any) -> dict[str, Any]:
    """Read what the command line says about a target: its settings, its configuration, the options that were given."""
    settings = read_settings(changes) | {name: value for name, value in options.items() if value is not None}
    expect_settings(settings)
    if config is not None:
        settings["config"] = read(config, expected="a config.json", option="--config", parse=parse_json)
        if not isinstance(settings["config"], dict):
            raise ArgumentError(f"--config: expected a dictionary, got another value in {config}; give a config.json")
    return settings


def audit_target(target: str, *, as_json: bool = False, seconds: float = audits.LIMIT, **options: Any) -> bool:
    """One target: its fingerprint, its laws; both for each kind of layer. True where no law is broken."""
    expect_target(target)
    expect_settings(options)
    with Auditor(seconds=seconds) as auditor:
        answers = auditor.ask(target, **options)
    if as_json:
        rows = [seen["row"] for seen in answers]
        print(json_text(rows if len(rows) > 1 else rows[0], indent=2))
    else:
        print(printable("\n\n".join(seen["text"] for seen in answers), keep="\n"))
    return all(seen["ok"] for seen in answers)


def audit_list(
    targets: Path, *, settings: dict[str, Any], out: Path | None, as_jsonl: bool, seconds: float = audits.LIMIT
) -> bool:
    """Every target of a file, in one process. True where no law is broken and nothing was skipped.

    With ``out`` each answer is added to that file as a line of JSON, and targets that it answers already are left out:
    the same command goes on where it stopped.
    """
    questions = [Question(q.target, settings | q.settings) for q in read_targets(targets)]
    done, fine, asked = answered(out), True, 0
    with Auditor(seconds=seconds) as auditor:
        for answers in ask_all(questions, auditor=auditor, done=done):
            asked += 1
            fine &= all(seen["ok"] for seen in answers)
            lines = "".join(json_text(seen["row"]) + "\n" for seen in answers)
            if out:
                try:
                    with out.open("a", encoding="utf-8") as file:
                        file.write(lines)
                except OSError as error:
                    raise FileError(
                        f"--out: expected a file that can be written, got {out}: {reason(error)}"
                    ) from error
            if as_jsonl:
                print(lines, end="", flush=True)
            else:
                print(*(_one_line(seen["row"]) for seen in answers), sep="\n", flush=True)
    if out and asked < len(questions):
        print(f"{len(questions) - asked} of {len(questions)} were answered in {out} before", file=sys.stderr)
    return fine


def _one_line(row: dict[str, Any]) -> str:
    """A row of an audit in one line of text."""
    (line,) = audits.lines({"rows": [row]})
    return printable(": ".join([line[0], ", ".join(part for part in line[1:] if part)]))


def audit_library(*, as_json: bool = False, out: Path | None = None, seconds: float = audits.LIMIT) -> bool:
    """Every entry of the library, as a table; ``out`` gets it as JSON. True: a law that does not hold is a finding."""
    expect_writable(out)
    kept(out, {}, same=(), has="library")  # another file is refused
    with Auditor(seconds=seconds) as auditor:
        results: dict[str, Any] = audits.audit_all(
            ask=lambda *named, **options: auditor.ask(*named, **options)[0]["row"]
        )
    text = audits.as_text(results)
    write(out, text)
    if as_json:
        print(text, end="")
        return True
    versions = ", ".join(f"{name} {number}" for name, number in results["libraries"].items() if number)
    table = Table(*COLUMNS, title=f"{results['date']}: {versions}, torch {results['torch']}")
    for line in audits.lines(results):
        table.add_row(*map(printable, line))
    Console(markup=False, emoji=False).print(table)
    return True
