"""What the commands `train`, `sweep` and `results` do once their command line has been read."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from rope_lab.commands import run_commands
from rope_lab.errors import ArgumentError, printable
from rope_lab.reading import json_text, read
from rope_lab.training.experiments.catalogue import experiment
from rope_lab.training.files import expect_file, expect_folder, make_folder
from rope_lab.training.results.cards import Metric
from rope_lab.training.run import environment
from rope_lab.training.run.config import DEFAULT_RUN, RunConfig
from rope_lab.training.run.signals import interrupts

INTERRUPTED = 130  # 128 and the number of Ctrl-C's signal, as shells say it
UNFINISHED = 75  # EX_TEMPFAIL of sysexits.h: nothing is wrong, and the same command goes on

if TYPE_CHECKING:
    from rope_lab.training.experiments.sweeps import Report, Setup


def train_run(
    config: Path | None,
    changes: list[str],
    out: Path | None,
    device: str | None,
    threads: int | None,
    minutes: float | None,
    *,
    quiet: bool,
) -> int:
    """Train one run and say where its card lies; the exit status: 0 with a card, `UNFINISHED` or `INTERRUPTED`.

    Steps: start Python over with the allocator's settings; read the config (none: `DEFAULT_RUN`) and the changes;
    say so where the machine only imitates the precision; load and tokenise the corpus; lock the folder; if the run is
    finished, write its card again and stop; otherwise build the model and its optimizer, or resume them; train, log,
    validate and save by turns; validate at the end, count and measure; save weights and card; print the loss.
    """
    budget = _seconds(minutes)
    if threads is not None:
        environment.expect_threads(threads)
    environment.tuned(threads=threads)  # before torch: starts this Python over where the allocator is not set up yet
    from rope_lab.training.run.loop import train

    run = (DEFAULT_RUN if config is None else _read(config)).changed(changes)
    _advise({run.precision}, device)
    folder = out or Path("runs") / run.name
    expect_folder(folder, option="--out")
    ended = train(run, out=folder, device=device, threads=threads, time_budget_s=budget, progress=not quiet)
    if ended.card is None:
        print(f"Stopped ({ended.reason}) after {ended.step} of {run.steps} steps. The same command goes on from here.")
        return INTERRUPTED if ended.reason == "interrupted" else UNFINISHED
    final = ended.card.final
    place = printable(folder / ended.card.file_name)
    print(f"Validation loss {final['loss']:.4f} after {final['step']} steps. Card: {place}")
    run_commands.tell_next(ended.card, folder)
    return 0


def _read(config: Path) -> RunConfig:
    try:
        return RunConfig.from_json(read(config, expected="a run's config"))
    except ArgumentError as error:  # no fields of a run: which file it was, is said here
        raise ArgumentError(f"{config}: {error}") from error


def run_sweep(
    name: str,
    rung: str,
    *,
    minutes: float | None,
    variants: Sequence[str] = (),
    seeds: Sequence[str] = (),
    corpora: Sequence[str] = (),
    **options: Any,
) -> int:
    """Carry out an experiment, or those of its runs that are named. ``options`` are fields of `Setup`.

    Returns:
        The exit status: 0 where all have their cards, 1 where a run failed, `UNFINISHED` where some are left or under
        way in another process.
    """
    budget = _seconds(minutes)
    from rope_lab.training.data import sources
    from rope_lab.training.experiments.sweeps import Setup, sweep

    asked = experiment(name, rung)
    runs = asked.chosen(variants=variants, seeds=seeds, corpora=corpora)
    if not runs:
        raise ArgumentError(f"{name}: expected runs, got none that have the variants, seeds and corpora together")
    setup = Setup(**options, time_budget_s=budget)
    if setup.executor == "inline":
        environment.tuned()
    folders = (("--results", setup.results), ("--runs", setup.runs))
    for option, folder in folders:
        expect_folder(folder, option=option)
    print(f"{asked.about}: {len(runs)} runs. {asked.limits}", file=sys.stderr)
    for corpus in {run.corpus: None for run in runs}:  # absent data stops here, not in every run
        if sources.state(sources.lookup(corpus)) != "present":
            raise sources.CorpusError(f"{corpus} is not here; `rope-lab data get {corpus}` fetches it")
    for option, folder in folders:  # made once nothing is left that could be refused
        make_folder(folder, option=option)
    expect_file(_pack(name, rung, setup), option="--results")
    with interrupts():  # asked to end: the runs under way save and stop
        _advise({run.precision for run in runs}, setup.device)
        return tell_end(name, rung, sweep(runs, setup), setup)


def _pack(name: str, rung: str, setup: Setup) -> Path:
    return setup.results / f"{name}-{rung}.jsonl.gz"


def tell_end(name: str, rung: str, report: Report, setup: Setup) -> int:
    """Say what a sweep did, and put its cards into one file; the exit status that `run_sweep` tells of."""
    from rope_lab.training.experiments.card_packs import pack

    counts = f"{len(report.done)} done, {len(report.skipped)} had their cards, {len(report.stopped)} stopped"
    if report.under_way:
        counts += f", {len(report.under_way)} under way in another process"
    print(f"{counts}, {len(report.failed)} failed. Cards: {setup.results / name / rung}", file=sys.stderr)
    if report.done or report.skipped:
        packed = _pack(name, rung, setup)
        print(f"{pack(name, rung, root=setup.results, out=packed)} cards in one file: {packed}", file=sys.stderr)
    return 1 if report.failed else UNFINISHED if report.stopped or report.under_way else 0


def _advise(precisions: set[str], device: str | None) -> None:
    from rope_lab.training.run.doctor import advice

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
    from rope_lab.training.results.result_tables import experiment_cards

    listed = experiment_cards(root=root)
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
            for each in listed
        ]
        print(json_text(rows, indent=1))
        return
    shown = Table(caption="`rope-lab results NAME --rung RUNG` shows what the cards say.")
    for column in ("experiment", "rung", "cards", "about"):
        shown.add_column(column, no_wrap=column in ("experiment", "rung"))
    for each in listed:
        shown.add_row(each.asked.name, each.asked.rung, each.words, each.asked.about)
    Console(markup=False, emoji=False).print(shown)


def print_csv(name: str | None, rung: str, root: Path | None) -> None:
    """Print the cards of an experiment, or all that there are, one line each."""
    from rope_lab.training.results import flat_cards
    from rope_lab.training.results.cards import load_all, load_every

    found = load_every(root=root) if name is None else load_all(experiment(name, rung).name, rung, root=root)
    print(flat_cards.as_csv(found), end="")


def show_results(
    name: str, rung: str, root: Path | None, reference: str | None, metric: Metric, *, as_json: bool
) -> None:
    """Print an experiment's table, or the same as JSON."""
    from rope_lab.training.results import result_tables

    summary = result_tables.summary(name, rung, root=root, reference=reference, metric=metric)
    if as_json:
        rows = [{**asdict(row), "verdict": row.verdict} for row in summary["rows"]]
        print(json_text({**summary, "rows": rows}, indent=1))
    else:
        Console(markup=False, emoji=False).print(result_tables.table(summary))
