"""What `rope-lab audit --model` prints, with and without `--probe`."""

import json
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from rope_lab.algebra.arguments import expect_whole
from rope_lab.audit.audits import as_text
from rope_lab.audit.decoding import decoding_test
from rope_lab.audit.foreign_code import TargetError, TimeUpError, time_limit
from rope_lab.audit.model_probes import model_probe, probe_all
from rope_lab.audit.shift_tests import shift_all, shift_lines, shift_test
from rope_lab.audit.tiny_models import exists, head, load_model, tiny_model
from rope_lab.commands.audit_targets import expect_writable, kept, write
from rope_lab.errors import checking_arguments, printable

Ask = Callable[..., Any]


def audit_model(model: str, *, as_json: bool, out: Path | None, seconds: float, window: int | None = None) -> bool:
    """Move one model and let it decode, or move a tiny one of every family.

    True where relativity is kept, or lost by design alone, and decoding gives what reading gives.
    """
    if model == "all":
        return _every(shift_all, _shift_table, has="relative", as_json=as_json, out=out, seconds=seconds)
    if window is not None:
        with checking_arguments():
            expect_whole(window, name="window", least=1)
    return _asked(model, partial(shift_test, window=window), decoding_test, as_json=as_json, seconds=seconds)


def probe_model(model: str, *, as_json: bool, out: Path | None, seconds: float) -> bool:
    """Say what turns in each layer of a model, or of a tiny one of every family.

    True where every layer was read and no fault was seen; of all families, always: a refusal is a finding.
    """
    if model == "all":
        return _every(probe_all, _probe_table, has="answers", as_json=as_json, out=out, seconds=seconds)
    return _asked(model, model_probe, as_json=as_json, seconds=seconds)


def _asked(model: str, *questions: Any, as_json: bool, seconds: float) -> bool:
    """Print the answers to each question, or why there is none. JSON is one row, with decoding under its name."""
    said: list[Any] = []
    try:
        with redirect_stdout(sys.stderr), time_limit(seconds):
            loaded = load_model(Path(model)) if exists(model) else tiny_model(model)
            for ask in questions:
                try:
                    said.append(ask(loaded, name=model))
                except TargetError as why:
                    said.append(str(why))
    except TargetError as why:
        said.append(str(why))
    except TimeUpError:
        said.append(f"no answer within {seconds:g} seconds")
    if as_json:
        row, *more = ({"model": model, "skipped": one} if isinstance(one, str) else one.row for one in said)
        print(json.dumps(row | ({"decoding": more[0]} if more else {}), indent=2))
    else:
        texts = [f"skipped: {one}" if isinstance(one, str) else one for one in said]
        print("\n\n".join(printable(text, keep="\n") for text in texts))
    return all(not isinstance(one, str) and one.ok for one in said)


def _every(ask: Ask, table: Ask, *, has: str, as_json: bool, out: Path | None, seconds: float) -> bool:
    """Ask about all families and show the table. Each answer is written into ``out``; what stands there is kept."""

    def told(family: str, results: dict[str, Any]) -> None:
        print(family, file=sys.stderr)
        write(out, as_text(results))

    expect_writable(out)
    with redirect_stdout(sys.stderr):
        rows = kept(out, head(), same=("transformers", "torch"), has=has)
        results = ask(limit=seconds, rows=rows, told=told)
    write(out, as_text(results))
    if as_json:
        print(as_text(results), end="")
    else:
        title = f"{results['date']}: transformers {results['transformers']}, torch {results['torch']}"
        Console().print(table(results, title))
    return True


def _shift_table(results: dict[str, Any], title: str) -> Table:
    table = Table("family", "a shift", "layers", "why", title=title)
    for line in shift_lines(results):
        table.add_row(*line)
    return table


def _probe_table(results: dict[str, Any], title: str) -> Table:
    table = Table("family", "layers", "what turns", title=title)
    for row in results["rows"]:
        if row["skipped"]:
            table.add_row(row["model"], "", f"not answered: {row['skipped']}")
            continue
        for answer in row["answers"]:
            table.add_row(row["model"], ", ".join(map(str, answer["layers"])), answer["words"][0])
    return table
