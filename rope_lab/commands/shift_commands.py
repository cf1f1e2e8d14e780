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
from rope_lab.audit.tiny_models import exists, load_model, tiny_model
from rope_lab.commands.audit_targets import expect_writable
from rope_lab.errors import FileError, checking_arguments, printable
from rope_lab.training.files import reason


def audit_model(model: str, *, as_json: bool, out: Path | None, seconds: float, window: int | None = None) -> bool:
    """Move one model and let it decode, or move a tiny one of every family.

    True where relativity is kept, or lost by design alone, and decoding gives what reading gives.
    """
    if model == "all":
        return _every(as_json=as_json, out=out, seconds=seconds)
    if window is not None:
        with checking_arguments():
            expect_whole(window, name="window", least=1)
    return _asked(model, partial(shift_test, window=window), decoding_test, as_json=as_json, seconds=seconds)


def probe_model(model: str, *, as_json: bool, out: Path | None, seconds: float) -> bool:
    """Say what turns in each layer of a model, or of a tiny one of every family.

    True where every layer was read and no fault was seen; of all families, always: a refusal is a finding.
    """
    if model == "all":
        found = _measured(lambda: probe_all(limit=seconds, told=_told), out)
        _shown(found, _probe_table, as_json=as_json)
        return True
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


def _every(*, as_json: bool, out: Path | None, seconds: float) -> bool:
    _shown(_measured(lambda: shift_all(limit=seconds), out), _shift_table, as_json=as_json)
    return True


def _measured(ask: Callable[[], dict[str, Any]], out: Path | None) -> dict[str, Any]:
    """A table of all families; ``out`` gets it as JSON."""
    expect_writable(out)
    with redirect_stdout(sys.stderr):
        results = ask()
    if out:
        try:
            out.write_text(as_text(results), encoding="utf-8")
        except OSError as error:
            raise FileError(f"--out: expected a file that can be written, got {out}: {reason(error)}") from error
    return results


def _shown(results: dict[str, Any], table: Callable[[dict[str, Any], str], Table], *, as_json: bool) -> None:
    if as_json:
        print(as_text(results), end="")
    else:
        title = f"{results['date']}: transformers {results['transformers']}, torch {results['torch']}"
        Console().print(table(results, title))


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


def _told(family: str) -> None:
    print(family, file=sys.stderr)
