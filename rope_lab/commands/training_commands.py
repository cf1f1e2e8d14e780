"""What the commands `train`, `sweep` and `results` do once their command line has been read."""

from __future__ import annotations

import json
import math
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from rope_lab.errors import ArgumentError, FileError
from rope_lab.training.experiments.catalogue import experiment
from rope_lab.training.files import reason
from rope_lab.training.results.cards import Metric
from rope_lab.training.run import environment
from rope_lab.training.run.config import DEFAULT_RUN, RunConfig

if TYPE_CHECKING:
    from rope_lab.training.experiments.sweeps import Report, Setup


def train_run(
    config: Path | None,
    changes: list[str],
    out: Path | None,
    device: str | None,
    threads: int | None,
    minutes: float | None,
) -> None:
    """Train one run and say where its card lies.

    Steps: start Python over with the allocator's settings; read the config (none: `DEFAULT_RUN`) and the changes;
    say so where the machine only imitates the precision; load and tokenise the corpus; lock the folder; if the run is
    finished, write its card again and stop; otherwise build the model and its optimizer, or resume them; train, log,
    validate and save by turns; validate at the end, count and measure; save weights and card; print the loss.
    """
    budget = _seconds(minutes)
    environment.tuned(threads=threads)  # before torch: starts this Python over where the allocator is not set up yet
    from rope_lab.training.run.loop import train

    run = (DEFAULT_RUN if config is None else _read(config)).changed(changes)
    _advise({run.precision}, device)
    folder = out or Path("runs") / run.name
    _expect_folder(folder)
    ended = train(run, out=folder, device=device, threads=threads, time_budget_s=budget)
    if ended.card is None:
        print(f"Stopped ({ended.reason}) after {ended.step} of {run.steps} steps. The same command goes on from here.")
    else:
        final = ended.card.final
        print(f"Validation loss {final['loss']:.4f} after {final['step']} steps. Card: {folder / ended.card.file_name}")


def _expect_folder(folder: Path) -> None:
    """Refuse a folder in whose place, or above it, a file stands; nothing is made yet."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir():
        raise FileError(f"--out: expected a folder, got {folder}, where {there} is a file; name another")


def _read(config: Path) -> RunConfig:
    try:
        return RunConfig.from_json(config.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{config}: expected a run's config, got {reason(error)}") from error
    except ValueError as error:  # no text, no JSON, no fields of a run: which file it was, is said here
        raise ArgumentError(f"{config}: {error}") from error


def run_sweep(name: str, rung: str, *, minutes: float | None, **options: Any) -> bool:
    """Carry out an experiment; True if no run failed. ``options`` are fields of `Setup`."""
    budget = _seconds(minutes)
    from rope_lab.training.data import sources
    from rope_lab.training.experiments.sweeps import Setup, sweep

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
    return tell_end(name, rung, sweep(asked.runs, setup), setup)


def tell_end(name: str, rung: str, report: Report, setup: Setup) -> bool:
    """Say what a sweep did, and put its cards into one file; True if no run failed."""
    from rope_lab.training.experiments.card_packs import pack

    counts = f"{len(report.done)} done, {len(report.skipped)} had their cards, {len(report.stopped)} stopped"
    print(f"{counts}, {len(report.failed)} failed. Cards: {setup.results / name / rung}", file=sys.stderr)
    if report.done or report.skipped:
        packed = setup.results / f"{name}-{rung}.jsonl.gz"
        print(f"{pack(name, rung, root=setup.results, out=packed)} cards in one file: {packed}", file=sys.stderr)
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
        raise ArgumentError(
            f"--minutes: expected a finite number of at least 0, got {minutes}; leave it out for no limit"
        )
    return 60 * minutes


def list_experiments(root: Path | None, *, as_json: bool) -> None:
    """Every experiment at every rung: what it asks, and how many of its runs have their cards."""
    from rope_lab.training.results.card_index import experiment_cards

    found = experiment_cards(root=root)
    if as_json:
        rows = [
            {
                "experiment": each.asked.name,
                "rung": each.asked.rung,
                "about": each.asked.about,
                "runs": len(each.asked.runs),
                "done": each.done,
                "cards": len(each.cards),
            }
            for each in found
        ]
        print(json.dumps(rows, indent=1))
        return
    shown = Table(caption="`rope-lab results NAME --rung RUNG` shows what the cards say.")
    for column in ("experiment", "rung", "cards", "about"):
        shown.add_column(column, no_wrap=column in ("experiment", "rung"))
    for each in found:
        shown.add_row(each.asked.name, each.asked.rung, each.words, each.asked.about)
    Console().print(shown)


def show_results(
    name: str, rung: str, root: Path | None, reference: str | None, metric: Metric, *, as_json: bool
) -> None:
    """Print an experiment's table, or the same as JSON."""
    from rope_lab.training.results import result_tables

    found = result_tables.summary(name, rung, root=root, reference=reference, metric=metric)
    if as_json:
        print(json.dumps(result_tables.plain(found), indent=1))
    else:
        Console().print(result_tables.table(found))
