"""A sweep: a list of independent runs, done in its order, each once.

A run is done when its card lies in the results folder with the run's own digest. So a sweep that was interrupted goes
on where it stopped, and two sweeps of the same list do no harm. Three executors take the same list: ``local`` starts
N processes of one thread each, ``inline`` runs one after the other in this process (what a GPU wants: one
compilation serves every run of a shape), and ``ray`` hands the list to a Ray cluster.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from rope_lab.errors import ArgumentError, MissingPackageError
from rope_lab.processes import Worker
from rope_lab.training.experiments.worker import STOPPED, TRAIN, UNDER_WAY, Order, keep, request
from rope_lab.training.files import UnderWayError, make_folder
from rope_lab.training.results import cards
from rope_lab.training.run.config import RunConfig
from rope_lab.training.run.environment import MALLOC, expect_device

WORKER = "rope_lab.training.experiments.worker"
SAVING = 30.0  # seconds that a run has to save a checkpoint when it is asked to end
EXECUTORS = ("local", "inline", "ray")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Setup:
    """How a sweep is carried out; nothing here changes a number of a card, bar those of its block ``volatile``."""

    results: Path = Path("results")  # cards go to results/experiment/rung/
    runs: Path = Path("runs")  # checkpoints and logs, one folder a run
    jobs: int = 1  # runs at a time
    executor: str = "local"
    gpus: float = 0.0  # share of a GPU for one run (ray)
    device: str | None = None
    data: str | None = None
    time_budget_s: float | None = None  # of the whole sweep: what is under way stops cleanly, the rest is left
    progress: bool = True
    train: str = TRAIN

    def __post_init__(self) -> None:
        if self.executor not in EXECUTORS:
            raise ArgumentError(f"executor: expected one of {', '.join(EXECUTORS)}, got {self.executor!r}")
        if not 1 <= self.jobs <= 4096:
            raise ArgumentError(f"jobs: expected a number from 1 to 4096, got {self.jobs}; take that of the cores")
        if not 0 <= self.gpus <= 4096:  # not a number compares with nothing
            raise ArgumentError(f"gpus: expected a finite number of at least 0, got {self.gpus:g}; such as 0.5")
        expect_device(self.device)


@dataclass
class Report:
    """What a sweep did: names of runs."""

    done: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # their cards were there
    stopped: list[str] = field(default_factory=list)  # out of time; they resume
    under_way: list[str] = field(default_factory=list)  # another process trains them
    failed: dict[str, str] = field(default_factory=dict)  # name -> the last line of what went wrong


def is_done(config: RunConfig, results: str | Path) -> bool:
    """Whether the run's card lies in ``results``. A damaged card does not count: the run is done again."""
    folder, lines = cards.places(config.experiment, config.rung, root=results)
    for path in (lines, *folder.glob(f"*-seed{config.seed}.json")):
        with contextlib.suppress(cards.CardError):
            for where, data in cards.texts(path):  # reading all of a file's numbers for each run would take minutes
                if config.digest.encode() in data and cards.parsed(where, data).config_hash == config.digest:
                    return True
    return False


def sweep(configs: Sequence[RunConfig], setup: Setup) -> Report:
    """Do every run that is not done.

    Args:
        configs: The runs, in the order in which they are begun.
        setup: The folders, the executor, how many runs at a time, and the limit of time.

    Returns:
        The names of the runs that were done, skipped, stopped, under way elsewhere or failed. A run
        that fails does not stop the others.

    Raises:
        FileError: If a folder of ``setup`` cannot be written.
        MissingPackageError: If the executor is ray, which is not installed.
        KeyboardInterrupt: At Ctrl-C, after what is under way has stopped cleanly.
    """
    for folder in (setup.results, setup.runs):  # found out before the work
        make_folder(folder)
    budget = float("inf") if setup.time_budget_s is None else setup.time_budget_s  # 0 seconds are none
    report, deadline = Report(), time.monotonic() + budget
    todo = []
    for config in configs:
        (report.skipped.append(config.name) if is_done(config, setup.results) else todo.append(config))
    execute = {"local": _local, "inline": _inline, "ray": _ray}[setup.executor]
    with tqdm(total=len(configs), initial=len(report.skipped), unit="run", disable=not setup.progress) as bar:

        def tell(config: RunConfig, outcome: str, detail: str = "") -> None:
            if detail or outcome != "stopped":  # a run that was never begun is counted and gets no line
                bar.write(f"{config.name}: {outcome.replace('_', ' ')} {detail}".rstrip(), file=sys.stderr)
            if outcome == "failed":
                report.failed[config.name] = detail
            else:
                getattr(report, outcome).append(config.name)
            bar.update(outcome in ("done", "skipped"))

        execute(todo, setup, deadline, tell)
    return report


Tell = Callable[..., None]


def _order(config: RunConfig, setup: Setup, deadline: float, *, threads: int | None) -> Order:
    left = deadline - time.monotonic()
    return Order(
        config.to_dict(),
        str(setup.runs),
        setup.data,
        setup.device,
        threads,
        None if left == float("inf") else max(left, 0.0),
        train=setup.train,
    )


def _next(todo: Iterator[RunConfig], setup: Setup, deadline: float, tell: Tell) -> RunConfig | None:
    for config in todo:
        if time.monotonic() >= deadline:
            tell(config, "stopped")
        elif is_done(config, setup.results):  # by another sweep, meanwhile
            tell(config, "skipped")
        else:
            return config
    return None


def _local(configs: Sequence[RunConfig], setup: Setup, deadline: float, tell: Tell) -> None:
    todo = iter(configs)
    running: dict[Worker, tuple[RunConfig, float]] = {}
    try:
        while True:
            while len(running) < setup.jobs and (config := _next(todo, setup, deadline, tell)) is not None:
                running[_start(config, setup, deadline)] = (config, time.monotonic())
            if not running:
                return
            time.sleep(0.05)
            for process in [p for p in running if p.poll() is not None]:
                config, started = running.pop(process)
                _settle(process, config, setup, time.monotonic() - started, tell)
    finally:  # interrupted: each run saves a checkpoint and ends
        for process in running:
            process.terminate()
        for process in running:
            process.end()


def _log(config: RunConfig, setup: Setup) -> Path:
    return setup.runs / f"{config.name}.log"


def _start(config: RunConfig, setup: Setup, deadline: float) -> Worker:
    order = _order(config, setup, deadline, threads=1)
    environment = {**os.environ, **ONE_THREAD, **(MALLOC if sys.platform == "linux" else {})}
    with _log(config, setup).open("ab") as log:
        process = Worker(WORKER, grace=SAVING, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment)
    assert process.stdin  # a pipe was asked for
    with contextlib.suppress(BrokenPipeError), process.stdin as order_in:
        order_in.write(request(order, setup.results.resolve()).encode())
    return process


def _settle(process: Worker, config: RunConfig, setup: Setup, seconds: float, tell: Tell) -> None:
    if process.returncode == 0:
        tell(config, "done", f"in {seconds:.0f} s")
    elif process.returncode == UNDER_WAY:
        tell(config, "under_way", "in another process: it is left to that one")
    elif process.returncode == STOPPED:
        tell(config, "stopped", "before its end; it resumes when the sweep is called again")
    else:
        lines = _log(config, setup).read_text(errors="replace").strip().splitlines()
        last = lines[-1] if lines else f"exit status {process.returncode}"
        tell(config, "failed", f"{last} (see {_log(config, setup)})")


def _inline(configs: Sequence[RunConfig], setup: Setup, deadline: float, tell: Tell) -> None:
    _compile_every_variant()
    todo = iter(configs)
    while (config := _next(todo, setup, deadline, tell)) is not None:
        order = _order(config, setup, deadline, threads=None)
        _keep(replace(order, progress=setup.progress).carry_out, config, setup, tell)


def _compile_every_variant() -> None:
    """Raise torch's limit of eight compiled models, past which a variant runs uncompiled; seeds share one."""
    from torch._dynamo import config as dynamo

    name = "recompile_limit" if hasattr(dynamo, "recompile_limit") else "cache_size_limit"  # before torch 2.6
    setattr(dynamo, name, 64)


def _keep(finish: Callable[[], cards.Card | None], config: RunConfig, setup: Setup, tell: Tell) -> None:
    """Write the card that ``finish`` gives; a run that fails leaves its traceback in its log, and the sweep goes on."""
    try:
        card = finish()
        if card is not None:
            keep(card, setup.results)
    except UnderWayError:
        tell(config, "under_way", "in another process: it is left to that one")
        return
    except Exception as error:
        with _log(config, setup).open("a", encoding="utf-8") as log:
            traceback.print_exception(error, file=log)
        tell(config, "failed", f"{type(error).__name__}: {error} (see {_log(config, setup)})")
        return
    tell(config, "stopped" if card is None else "done")


def _ray(configs: Sequence[RunConfig], setup: Setup, deadline: float, tell: Tell) -> None:
    """Carry out the runs on a cluster and write the cards here, so it needs no common folder for results."""
    try:
        import ray
    except ImportError as error:
        raise MissingPackageError(
            "executor 'ray': expected Ray installed, found none; pip install 'rope-lab[ray]'"
        ) from error
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    task = ray.remote(Order.carry_out).options(
        num_cpus=1, num_gpus=setup.gpus, max_retries=2, runtime_env={"env_vars": {**ONE_THREAD, **MALLOC}}
    )
    fetch: Callable[[Any], Any] = ray.get
    todo = iter(configs)
    running: dict[Any, RunConfig] = {}
    try:
        while True:
            while len(running) < setup.jobs and (config := _next(todo, setup, deadline, tell)) is not None:
                running[task.remote(_order(config, setup, deadline, threads=1))] = config
            if not running:
                return
            for reference in ray.wait(list(running), num_returns=1)[0]:
                _keep(partial(fetch, reference), running.pop(reference), setup, tell)
    finally:
        for reference in running:
            ray.cancel(reference)
