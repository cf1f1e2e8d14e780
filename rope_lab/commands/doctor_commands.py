"""What the commands `doctor` and `bench` do once their command line has been read."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch
import typer
from rich.console import Console
from rich.table import Table

import rope_lab
from rope_lab.errors import FileError, near
from rope_lab.reading import json_text
from rope_lab.training.data.sources import lookup, state
from rope_lab.training.data.tokenizers import size_of
from rope_lab.training.experiments.catalogue import RUNGS, experiment
from rope_lab.training.run import environment
from rope_lab.training.run.doctor import RUN, VOCABULARY, Answer, as_rows, examine, own_speed, predicted_seconds

EXPERIMENT = "crope-table1"


def show(device: str | None, *, as_json: bool) -> bool:
    """Ask the machine, print each answer when it comes, and what a table would take; True if nothing is wrong."""
    environment.tuned()
    asked: list[Answer] = list(_told(examine(device)))
    times = list(predictions(asked, device))
    if as_json:
        print(json_text({"findings": as_rows(asked), "predicted": times}, indent=1))
    else:
        Console(markup=False, emoji=False).print(_table(asked))
        for row in times:
            print(f"{row['experiment']} at {row['rung']}: {row['runs']} runs, {_hours(row['seconds'])} {row['said']}")
    return all(found.fine for found in asked)


def predictions(findings: Iterable[Answer], device: str | None) -> Iterator[dict]:
    """Predict the time of Table 1 here at each rung, by counting, from the fastest speed that was measured rightly.

    On a GPU that is the speed of the first run's own steps, since a small model leaves it waiting.
    """
    speeds = [found.tokens_per_s for found in findings if found.state == "ok" and found.tokens_per_s]
    if not speeds:
        return
    for rung in RUNGS:
        asked = experiment(EXPERIMENT, rung)
        speed, timed, basis = max(speeds), (RUN, VOCABULARY), "the count of multiplications"
        if device != "cpu" and torch.cuda.is_available():
            timed, basis = (asked.runs[0], size_of(asked.runs[0].tokenizer)), "its own steps, not compiled"
            speed = own_speed(timed[0], vocab_size=timed[1], device=device)
        parts = [predicted_seconds(run, speed, vocab_size=size_of(run.tokenizer), timed=timed) for run in asked.runs]
        absent = [name for name in {run.corpus: None for run in asked.runs} if state(lookup(name)) != "present"]
        yield {
            "experiment": EXPERIMENT,
            "rung": rung,
            "runs": len(asked.runs),
            "seconds": sum(parts),
            "absent": absent,
            "said": f"(predicted from {basis})" + "".join(f"; first `rope-lab data get {name}`" for name in absent),
        }


def _told(findings: Iterable[Answer]) -> Iterator[Answer]:
    for found in findings:
        print(f"{found.name}: {found.state} ({found.seconds:.0f} s)", file=sys.stderr)
        yield found


def _table(findings: Iterable[Answer]) -> Table:
    shown = Table(caption="Errors are relative to the same computation in float64 on the CPU.")
    for column in ("question", "", "error", "limit", "tokens/s", "answer"):
        shown.add_column(column, justify="right" if column in ("error", "limit", "tokens/s") else "left")
    for each in findings:
        error = "" if each.error is None else f"{each.error:.1e}"
        limit = "" if each.limit is None else f"{each.limit:.0e}"
        speed = "" if each.tokens_per_s is None else f"{each.tokens_per_s:,.0f}"
        shown.add_row(each.name, each.state, error, limit, speed, each.said)
    return shown


def _hours(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:,.0f} hours"


def bench(name: str, *, as_json: bool) -> None:
    """Run a benchmark of the clone and print its card, as a table or as JSON."""
    clone = Path(rope_lab.__file__).resolve().parents[1]
    files = {
        path.stem
        for path in (clone / "benchmarks").glob("*.py")
        if re.search(r"^def run\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    if not (clone / "pyproject.toml").is_file():
        raise FileError(
            "rope-lab bench needs a clone of the repository: an installed wheel does not carry benchmarks/."
        )
    if name not in files:
        known = ", ".join(sorted(files)) or "none"
        raise typer.BadParameter(f"no benchmark {name!r:.80}; there is: {known}{near(name, files)}", param_hint="NAME")
    sys.path.insert(0, str(clone))
    module = importlib.import_module(f"benchmarks.{name}")
    card = module.run()
    if as_json:
        print(json_text(card, indent=2))
    else:
        Console(markup=False, emoji=False).print(module.table(card))
