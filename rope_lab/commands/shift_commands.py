"""What `rope-lab audit --model` prints, with and without `--probe`."""

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from rope_lab.audit.audits import as_text
from rope_lab.audit.guard import TimeUpError, time_limit
from rope_lab.audit.importing import TargetError
from rope_lab.audit.model_probes import model_probe
from rope_lab.audit.shift_table import shift_all, shift_lines
from rope_lab.audit.shift_tests import shift_test
from rope_lab.audit.tiny_models import load_model, tiny_model
from rope_lab.errors import FileError
from rope_lab.training.files import make_folder, reason


def audit_model(model: str, *, as_json: bool, out: Path | None, seconds: float) -> bool:
    """Move one model, or a tiny one of every family. True where relativity is kept, or lost by design alone."""
    if model == "all":
        return _every(as_json=as_json, out=out, seconds=seconds)
    return _asked(shift_test, model, as_json=as_json, seconds=seconds)


def probe_model(model: str, *, as_json: bool, seconds: float) -> bool:
    """Say what turns in each layer of a model. True where every layer was read and no fault was seen."""
    return _asked(model_probe, model, as_json=as_json, seconds=seconds)


def _asked(ask: Any, model: str, *, as_json: bool, seconds: float) -> bool:
    try:
        with redirect_stdout(sys.stderr), time_limit(seconds):
            path = Path(model)
            seen = ask(load_model(path) if path.exists() else tiny_model(model), name=model)
    except TargetError as why:
        return _skipped(model, str(why), as_json=as_json)
    except TimeUpError:
        return _skipped(model, f"no answer within {seconds:g} seconds", as_json=as_json)
    print(json.dumps(seen.row, indent=2) if as_json else seen)
    return seen.ok


def _skipped(model: str, why: str, *, as_json: bool) -> bool:
    print(json.dumps({"model": model, "skipped": why}, indent=2) if as_json else f"skipped: {why}")
    return False


def _every(*, as_json: bool, out: Path | None, seconds: float) -> bool:
    if out:  # a folder that cannot be made is found out before the work
        make_folder(out.parent)
    with redirect_stdout(sys.stderr):
        found: dict[str, Any] = shift_all(limit=seconds)
    text = as_text(found)
    if out:
        try:
            out.write_text(text, encoding="utf-8")
        except OSError as error:
            raise FileError(f"--out: expected a file that can be written, got {out}: {reason(error)}") from error
    if as_json:
        print(text, end="")
        return True
    title = f"{found['date']}: transformers {found['transformers']}, torch {found['torch']}"
    table = Table("family", "a shift", "layers", "why", title=title)
    for line in shift_lines(found):
        table.add_row(*line)
    Console().print(table)
    return True
