"""The command `rope-lab`: it reads the command line and calls; what a command does stands in its topic's module."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

import rope_lab
from rope_lab.errors import MissingPackageError, RopeLabError, printable

NAMED = (errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES, errno.EPERM, errno.EROFS)
FULL = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
LACKS = r"allocate memory|out of memory|failed to map segment"  # words of torch and of the system


class Notes(io.TextIOWrapper):
    """Standard error: notes and progress, which end no work where they cannot be written."""

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            super().flush()


class Commands(TyperGroup):
    """All commands. What the user or the machine can put right ends in one sentence; a bug keeps its traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            if status := super().invoke(ctx):  # what a command returns
                raise typer.Exit(int(status))
        except KeyboardInterrupt:
            _stop("Stopped. The same command goes on from here.", status=130)

    def main(self, *arguments: Any, **options: Any) -> Any:
        try:
            try:
                return super().main(*arguments, **options)
            finally:
                sys.stdout.flush()
        except (Exception, SystemExit) as end:  # of a broken pipe rich and typer make an exit of their own
            if (sentence := told(end.__context__ if isinstance(end, SystemExit) else end)) is None:
                raise
            _stop(sentence)


def told(error: BaseException | None) -> str | None:
    """Say what an error asks of the user; None for a bug."""
    if isinstance(error, RopeLabError):
        return str(error)
    if isinstance(error, ModuleNotFoundError):
        return str(MissingPackageError.of("This command", error) or "") or None
    if isinstance(error, MemoryError) or re.search(LACKS, str(error)):
        return f"expected more memory than there is, got {type(error).__name__}; ask for less, or end other programs"
    if isinstance(error, OSError) and error.errno in NAMED and error.filename is not None:
        return f"expected a file or folder that can be used, got {error.filename}: {error.strerror}; name another"
    if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
        with contextlib.suppress(OSError, ValueError):  # what is left over, Python would try to write at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return f"expected room for what is written, got {error.strerror}; free some, or send the output elsewhere"
    return None


def _stop(sentence: str, *, status: int = 1) -> NoReturn:
    short = printable(re.sub(r"(\S{100})\S{200,}(\S{20})", r"\1...\2", sentence), keep="\n")
    with contextlib.suppress(OSError):
        typer.echo(short, err=True)
    raise SystemExit(status)


app = typer.Typer(cls=Commands, no_args_is_help=True, pretty_exceptions_show_locals=False)


def _version(wanted: bool) -> bool:
    if wanted:
        typer.echo(rope_lab.__version__)
        raise typer.Exit
    return wanted


def _limit(seconds: float) -> float:
    from rope_lab.audit.foreign_code import LONGEST

    if not 0 < seconds <= LONGEST:  # not a number compares with nothing
        raise typer.BadParameter(f"expected a finite number above 0, got {seconds:g}, at most {LONGEST:g}; default 120")
    return seconds


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """RoPE Lab: the instruments behind the book on rotary position embeddings."""


@app.command(epilog="Example: rope-lab verify ch1")
def verify(
    pattern: Annotated[str, typer.Argument(help="An id, a pattern (blog.*), a source (su6), a chapter (ch4).")] = "*",
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> int:
    """Run the checks of the claims ledger. Exit status 1, and a name, if one fails."""
    from rope_lab.claims import NoSuchClaimError, verification

    try:
        return not verification.show(pattern, as_json=as_json)
    except NoSuchClaimError as error:
        raise typer.BadParameter(str(error), param_hint="PATTERN") from None


Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
Limit = Annotated[float, typer.Option("--limit", callback=_limit, help="Seconds that a target may take.")]


@app.command(epilog="Example: rope-lab audit mine.py:rotate --head-dim 128")
def audit(
    target: Annotated[str | None, typer.Argument(help="MODULE:NAME of a function, class or module.")] = None,
    head_dim: Annotated[int | None, typer.Option(help="Width of a head; default: the library's own, else 64.")] = None,
    layer_type: Annotated[str | None, typer.Option(help="Which kind of layer, where each has frequencies.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every known library that is installed: the table.")] = False,
    change: Annotated[list[str] | None, typer.Option("--set", help="NAME=VALUE, such as rope_type=yarn.")] = None,
    config: Annotated[Path | None, typer.Option(help="A config.json to build the target from.")] = None,
    model: Annotated[str | None, typer.Option(help="A whole model: a family, config.json, folder, or all.")] = None,
    probe: Annotated[bool, typer.Option("--probe", help="With --model: what turns in each layer, and where.")] = False,
    targets: Annotated[Path | None, typer.Option(help="A file: MODULE:NAME and settings on each line.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="With --targets: print a line of JSON for each.")] = False,
    window: Annotated[int | None, typer.Option(help="How many positions; default: the config's, or 2^20.")] = None,
    seconds: Limit = 120.0,
    out: Annotated[Path | None, typer.Option(help="--all, --model all: a table of JSON; --targets: lines.")] = None,
) -> int:
    """Say which RoPE this is: fingerprint and laws of an implementation, asked in a process of its own.

    An audit runs the target with your rights: its process of its own is no sandbox. A module in the current folder is
    found if it is the one you name. Exit status 1 if a law is broken and not by design, or a problem is printed.
    """
    asked = [every, bool(target), targets is not None, model is not None]
    ways = "give a TARGET such as my_module:rotate, or --targets FILE, or --model PATH, or --all"
    own = bool(change or config) or head_dim is not None or layer_type is not None
    for wrong, hint, said in (
        (asked.count(True) != 1, "TARGET", ways),
        (model is not None and own, "--model", "takes its settings from a config.json"),
        (probe and model is None, "--probe", "goes with --model PATH, the name of a family, or all"),
        (out and (target or model not in (None, "all")), "--out", "goes with --all; one audit: --json > FILE"),
        (as_jsonl and targets is None, "--jsonl", "goes with --targets"),
        (every and (change or config), "--set", "goes with a TARGET; with --all each row has its own"),
        (every and head_dim is not None, "--head-dim", "goes with a TARGET; with --all each library has its own"),
        (every and layer_type is not None, "--layer-type", "goes with a TARGET; with --all each row has its own"),
        (window is not None and (every or probe or model == "all"), "--window", "goes with one TARGET or --model"),
    ):
        if wrong:
            raise typer.BadParameter(said, param_hint=hint)
    from rope_lab.commands import audit_commands

    options = {"head_dim": head_dim, "layer_type": layer_type, "window": window}
    settings = audit_commands.settings_of(change or [], config, **options)
    if target:
        fine = audit_commands.audit_target(target, as_json=as_json, seconds=seconds, **settings)
    elif model is not None:
        from rope_lab.commands import shift_commands

        if probe:
            fine = shift_commands.probe_model(model, as_json=as_json, out=out, seconds=seconds)
        else:
            fine = shift_commands.audit_model(model, as_json=as_json, out=out, seconds=seconds, window=window)
    elif targets:
        fine = audit_commands.audit_list(targets, settings=settings, out=out, as_jsonl=as_jsonl, seconds=seconds)
    else:
        fine = audit_commands.audit_library(as_json=as_json, out=out, seconds=seconds)
    return not fine


@app.command(epilog="Example: rope-lab atlas transformers --compare")
def atlas(
    package: Annotated[str, typer.Argument(help="A package that is installed here, such as transformers.")],
    out: Annotated[Path | None, typer.Option(help="A file of JSON; what it answers is not asked again.")] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Print what differs from the answers of the book.")
    ] = False,
    seconds: Limit = 120.0,
) -> None:
    """Audit every rotary embedding that a package defines: each distinct code once, with all that share it."""
    from rope_lab.commands import atlas_commands

    found = atlas_commands.survey(package, out=out, seconds=seconds, known=compare)
    (atlas_commands.compare if compare else atlas_commands.show)(found)


@app.command(epilog="Example: rope-lab bench rotary")
def bench(
    name: Annotated[str, typer.Argument(help="A file of benchmarks/, such as rotary.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the card as JSON instead of a table.")] = False,
) -> None:
    """Measure speed side by side with the peers. Needs a clone of the repository, and replaces its card there."""
    from rope_lab.commands import doctor_commands

    doctor_commands.bench(name, as_json=as_json)


@app.command(epilog="Example: rope-lab train --set model.positions=none --minutes 2")
def train(
    config: Annotated[Path | None, typer.Argument(help="A run's config, JSON; default: a short run.")] = None,
    change: Annotated[list[str] | None, typer.Option("--set", help="FIELD=VALUE or model.FIELD=VALUE.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of checkpoints and card; default: runs/NAME.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda; default: a GPU where there is one.")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads of torch.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Stop cleanly after this time; the same call resumes.")] = None,
    quiet: Quiet = False,
) -> int:
    """Train one run, or go on with it, and write its result card.

    Exit status 0 once there is a card, 75 where --minutes ran out before, 130 after Ctrl-C, 1 for what is refused.
    """
    from rope_lab.commands import training_commands

    return training_commands.train_run(config, change or [], out, device, threads, minutes, quiet=quiet)


@app.command(epilog="Example: rope-lab write runs/NAME --prompt 'ROMEO:'")
def write(
    run: Annotated[Path, typer.Argument(help="The folder of a run, such as runs/NAME.")],
    prompt: Annotated[str, typer.Option(help="How the text begins.")] = "\n",
    tokens: Annotated[int | None, typer.Option(min=1, help="How many; default: 100, or what the model reads.")] = None,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 takes the likeliest token each time.")] = 0.8,
    seed: Annotated[int, typer.Option(help="Of the drawing: the same seed, the same text.")] = 0,
) -> None:
    """Let the model of a run write on from a prompt."""
    from rope_lab.commands import run_commands

    run_commands.write(run, prompt, tokens=tokens, temperature=temperature, seed=seed)


@app.command(epilog="Example: rope-lab sweep demo")
def sweep(
    name: Annotated[str, typer.Argument(help="An experiment, such as crope-table1 or placements.")],
    rung: Annotated[str, typer.Option(help="cpu, colab or paper.")] = "cpu",
    jobs: Annotated[int, typer.Option(help="Runs at a time.")] = 1,
    results: Annotated[Path, typer.Option(help="Folder for the cards.")] = Path("results"),
    runs: Annotated[Path, typer.Option(help="Folder for checkpoints and logs.")] = Path("runs"),
    executor: Annotated[str, typer.Option(help="local, inline (one process, for a GPU) or ray.")] = "local",
    gpus: Annotated[float, typer.Option(help="Share of a GPU for one run, with ray.")] = 0.0,
    device: Annotated[str | None, typer.Option(help="cpu or cuda; default: a GPU where there is one.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Stop cleanly after this time; the same call resumes.")] = None,
    variants: Annotated[list[str] | None, typer.Option(help="Only these variants: one, or more with commas.")] = None,
    seeds: Annotated[list[str] | None, typer.Option(help="Only these seeds, such as 0,1.")] = None,
    corpora: Annotated[list[str] | None, typer.Option(help="Only these corpora, such as wikitext-2.")] = None,
    quiet: Quiet = False,
) -> int:
    """Do every run of an experiment that has no card yet, and pack the cards into one file.

    Exit status 0 once all have their cards, 1 if a run failed, 130 after Ctrl-C, 75 where --minutes ran out or another
    process has runs under way: the same command goes on.
    """
    from rope_lab.commands import training_commands

    chosen: dict[str, Any] = {"variants": variants or (), "seeds": seeds or (), "corpora": corpora or ()}
    chosen |= {"results": results, "runs": runs, "jobs": jobs, "executor": executor, "gpus": gpus, "device": device}
    return training_commands.run_sweep(name, rung, minutes=minutes, **chosen, progress=not quiet)


@app.command(epilog="Example: rope-lab results placements")
def results(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]", help="An experiment, or the folders of your own runs; default: a list."),
    ] = None,
    rung: Annotated[str, typer.Option(help="cpu, colab or paper.")] = "cpu",
    results: Annotated[Path | None, typer.Option(help="Folder of the cards; default: those of the book.")] = None,
    reference: Annotated[str | None, typer.Option(help="The variant that differences are taken to.")] = None,
    best: Annotated[bool, typer.Option("--best", help="Each run's lowest validation loss.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a line for each card instead of a table.")] = False,
) -> None:
    """Show what an experiment's cards say: means, paired differences with 95 % intervals, the published numbers.

    Of folders of runs it prints the losses beside each other, and what differs between their configs.
    """
    from rope_lab.commands import run_commands, training_commands
    from rope_lab.training.results.cards import Metric

    metric: Metric = "best" if best else "final"
    folders = [Path(name) for name in names or ()]
    if len(folders) > 1 or any(folder.is_dir() for folder in folders):
        run_commands.compare(folders, metric=metric, as_json=as_json, as_csv=as_csv)
    elif as_csv:
        training_commands.print_csv(names[0] if names else None, rung, results)
    elif not names:
        training_commands.list_experiments(results, as_json=as_json)
    else:
        training_commands.show_results(names[0], rung, results, reference, metric, as_json=as_json)


@app.command(epilog="Example: rope-lab exercises ch03 --answers > sheet.md")
def exercises(
    chapter: Annotated[str | None, typer.Argument(help="A chapter, such as ch03 or 3; default: all.")] = None,
    answers: Annotated[bool, typer.Option("--answers", help="With the answers.")] = False,
) -> None:
    """Print the exercises of pages and labs as Markdown, for a sheet of paper."""
    from rope_lab.commands import exercise_commands

    exercise_commands.sheet(chapter, answers=answers)


@app.command(epilog="Example: rope-lab doctor --device cpu")
def doctor(
    device: Annotated[str | None, typer.Option(help="cpu or cuda; default: a GPU where there is one.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> int:
    """Say what this machine can train, how fast, and whether it computes rightly: in about a minute.

    Exit status 1 if something is wrong. What is slow or absent is said, and costs only time.
    """
    from rope_lab.commands import doctor_commands

    return not doctor_commands.show(device, as_json=as_json)


cards = typer.Typer(no_args_is_help=True, help="Result cards from another machine: are they the book's, and take them.")
app.add_typer(cards, name="cards")
CardSource = Annotated[Path, typer.Argument(help="A .jsonl.gz that a sweep wrote, or a folder of cards.")]


@cards.command("check", epilog="Example: rope-lab cards check results")
def cards_check(
    source: CardSource, as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False
) -> int:
    """Say of each card why it does not belong to this version of the book. Exit status 1 if one does not.

    This compares what a card says with what the book asks for. It proves nothing: numbers can be invented.
    """
    from rope_lab.commands import card_commands

    return not card_commands.check(source, as_json=as_json)


@cards.command("add", epilog="Example: rope-lab cards add placements-colab.jsonl.gz")
def cards_add(
    source: CardSource,
    results: Annotated[Path, typer.Option(help="Folder of the cards.")] = Path("rope_lab/results"),
    keep: Annotated[bool, typer.Option("--keep", help="Keep a card that differs from a new one.")] = False,
) -> None:
    """Take cards in, if all of them belong. A card that is there already is never replaced."""
    from rope_lab.commands import card_commands

    card_commands.add(source, results=results, keep=keep)


data = typer.Typer(no_args_is_help=True, help="The corpora: what they are, fetching them, checking them.")
app.add_typer(data, name="data")
DataFolder = Annotated[Path | None, typer.Option("--root", help="The data folder; default: the user's cache.")]


@data.command("get", epilog="Example: rope-lab data get wikitext-2")
def data_get(
    name: Annotated[str, typer.Argument(help="A corpus, such as wikitext-2.")],
    force: Annotated[bool, typer.Option("--force", help="Fetch damaged files anew too.")] = False,
    root: DataFolder = None,
    quiet: Quiet = False,
) -> None:
    """Fetch a corpus and check every file's sha256. After a break the same command goes on with what is absent."""
    from rope_lab.commands import data_commands

    data_commands.get_data(name, force=force, root=root, progress=not quiet)


@data.command("list", epilog="Example: rope-lab data list")
def data_list(root: DataFolder = None) -> None:
    """Every corpus: size, licence, whether it is here."""
    from rope_lab.commands import data_commands

    data_commands.list_data(root)


@data.command("verify", epilog="Example: rope-lab data verify wikitext-2")
def data_verify(
    name: Annotated[str | None, typer.Argument(help="A corpus; default: all that are here.")] = None,
    root: DataFolder = None,
) -> int:
    """Read every file that is here and check its sha256."""
    from rope_lab.commands import data_commands

    return not data_commands.verify_data(name, root)


def main() -> None:
    if sys.stdout is None:  # closed; then the first file that is opened would get what others print
        _stop("expected an output that is open, got a closed one; send it to a file, or to /dev/null")
    for number in (0, 2):  # closed ones: a worker would wait for its questions on a number that is another's
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it takes the lowest number that is free
    with contextlib.suppress(OSError):  # what a caller put in its place may have no number
        number = os.dup(sys.stderr.fileno() if sys.stderr else 2)
        sys.stderr = Notes(os.fdopen(number, "wb"), encoding="utf-8", errors="replace", line_buffering=True)
    try:
        Path.cwd()
    except OSError as error:
        _stop(f"expected a folder to stand in, got one that is gone ({error.strerror}); change to another")
    os.environ["PYTHONSAFEPATH"] = "1"  # a compiler of torch starts Python: no file of this folder may be its module
    if not re.fullmatch("[1-9][0-9]{0,3}", os.environ.get("COLUMNS", "80")):
        del os.environ["COLUMNS"]  # no width, whatever others read from it
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a sign that the terminal cannot show costs the sign alone
    app()
