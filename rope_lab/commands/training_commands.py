"""What the commands `train`, `sweep`, `results` and `data` do once their command line has been read."""

from __future__ import annotations

import json
import math
import signal
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from rope_lab.training.data import sources
from rope_lab.training.experiments.catalogue import experiment, single
from rope_lab.training.run import environment
from rope_lab.training.run.config import RunConfig


def train(
    config: Path | None,
    changes: list[str],
    out: Path | None,
    device: str | None,
    threads: int | None,
    minutes: float | None,
) -> None:
    """Train one run and say where its card lies."""
    budget = _seconds(minutes)
    environment.tuned(threads=threads)  # before torch: starts this Python over where the allocator is not set up yet
    from rope_lab.training.run.loop import train as loop

    run = single(changes, base=None if config is None else _read(config))
    _advise({run.precision}, device)
    folder = out or Path("runs") / run.name
    ended = loop(run, out=folder, device=device, threads=threads, time_budget_s=budget)
    if ended.card is None:
        print(f"Stopped ({ended.reason}) after {ended.step} of {run.steps} steps. The same command goes on from here.")
    else:
        final = ended.card.final
        print(f"Validation loss {final['loss']:.4f} after {final['step']} steps. Card: {folder / ended.card.file_name}")


def _read(config: Path) -> RunConfig:
    try:
        return RunConfig.from_json(config.read_text(encoding="utf-8"))
    except ValueError as error:  # no text, no JSON, no fields of a run: which file it was, is said here
        raise ValueError(f"{config}: {error}") from error


def sweep(name: str, rung: str, *, minutes: float | None, **options: Any) -> bool:
    """Carry out an experiment; True if no run failed."""
    budget = _seconds(minutes)
    from rope_lab.training.experiments.sweeps import Setup
    from rope_lab.training.experiments.sweeps import sweep as carry_out

    asked = experiment(name, rung)
    setup = Setup(**options, time_budget_s=budget)
    if setup.executor == "inline":
        environment.tuned()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # asked to end: the runs under way save and stop
    print(f"{asked.about}: {len(asked.runs)} runs. {asked.limits}", file=sys.stderr)
    for corpus in {run.corpus: None for run in asked.runs}:  # absent data stops here, not in every run
        if sources.state(sources.lookup(corpus)) != "present":
            raise sources.CorpusError(f"{corpus} is not here; `rope-lab data get {corpus}` fetches it")
    _advise({run.precision for run in asked.runs}, setup.device)
    report = carry_out(asked.runs, setup)
    counts = f"{len(report.done)} done, {len(report.skipped)} had their cards, {len(report.stopped)} stopped"
    print(f"{counts}, {len(report.failed)} failed. Cards: {setup.results / name / rung}", file=sys.stderr)
    return not report.failed


def _advise(precisions: set[str], device: str | None) -> None:
    from rope_lab.training.run.precision_check import advice

    for precision in sorted(precisions):
        if said := advice(precision, device):
            print(said, file=sys.stderr)


def _seconds(minutes: float | None) -> float | None:
    if minutes is None:
        return None
    if not 0 <= minutes < math.inf:  # not a number compares with nothing: no deadline would ever be reached
        raise ValueError(f"--minutes: expected a finite number of at least 0, got {minutes}; leave it out for no limit")
    return 60 * minutes


def results(name: str, rung: str, root: Path | None, reference: str | None, metric: Any, *, as_json: bool) -> None:
    """Print an experiment's table, or the same as JSON."""
    from rope_lab.training.results import result_tables as tables

    found = tables.summary(name, rung, root=root, reference=reference, metric=metric)
    if as_json:
        print(json.dumps(tables.plain(found), indent=1))
    else:
        Console().print(tables.table(found))


def data_get(name: str, *, force: bool, root: Path | None) -> None:
    """Fetch a corpus; its licence is said first."""
    corpus = sources.lookup(name)
    print(f"{name}: {corpus.about}. Licence: {corpus.licence}.")
    folder = sources.get(name, root=root, force=force)
    print(f"{name}: {len(corpus.files)} files checked. Data folder: {folder}")


def data_list(root: Path | None) -> None:
    """The table of corpora."""
    shown = Table(caption=f"Data folder: {sources.data_folder(root)}")
    for column in ("corpus", "state", "MB", "about", "licence"):
        shown.add_column(column, justify="right" if column == "MB" else "left")
    for corpus in sources.registry().values():
        size = f"{corpus.size / 1e6:.1f}"
        shown.add_row(corpus.name, sources.state(corpus, root), size, corpus.about, corpus.licence)
    Console().print(shown)


def data_verify(name: str | None, root: Path | None) -> bool:
    """Check what is here, or the corpus that is named; True if all of it is as it should be."""
    chosen = [sources.lookup(name)] if name else list(sources.registry().values())
    fine = True
    for corpus in chosen:
        if name is None and sources.state(corpus, root) == "absent":
            print(f"{corpus.name}: absent")
            continue
        try:
            count = sum(1 for _ in sources.texts(corpus, root))
            print(f"{corpus.name}: {count} files as they should be")
        except sources.CorpusError as error:
            fine = False
            print(error)
    return fine
