"""The command `rope-lab`: it reads the command line and calls; what a command does stands in its topic's module."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NoReturn

import typer

import rope_lab
from rope_lab.errors import MissingPackageError, RopeLabError, near, printable

app = typer.Typer(no_args_is_help=True, pretty_exceptions_show_locals=False)


def _version(wanted: bool) -> bool:
    if wanted:
        typer.echo(rope_lab.__version__)
        raise typer.Exit
    return wanted


def _limit(seconds: float) -> float:
    from rope_lab.audit.foreign_code import LONGEST

    if not 0 < seconds <= LONGEST:  # not a number compares with nothing
        raise typer.BadParameter(
            f"expected a finite number above 0, got {seconds:g}, at most {LONGEST:g}; leave it out for 120"
        )
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
) -> None:
    """Run the checks of the claims ledger. Exit status 1, and a name, if one fails."""
    with _user_errors():
        from rope_lab.claims import NoSuchClaimError, verification

        try:
            fine = verification.show(pattern, as_json=as_json)
        except NoSuchClaimError as error:
            raise typer.BadParameter(str(error), param_hint="PATTERN") from None
    if not fine:
        raise typer.Exit(1)


Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
Limit = Annotated[float, typer.Option("--limit", callback=_limit, help="Seconds that a target may take.")]


@app.command(epilog="Example: rope-lab audit mine.py:rotate --head-dim 128")
def audit(
    target: Annotated[str | None, typer.Argument(help="MODULE:NAME of a function, class or module.")] = None,
    head_dim: Annotated[int | None, typer.Option(help="Width of a head; default: the library's own, else 64.")] = None,
    layer_type: Annotated[
        str | None, typer.Option(help="Which kind of layer, where a family has frequencies for each kind.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every known library that is installed: the table.")] = False,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE, such as axis=0 or rope_type=yarn.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A config.json to build the target from.")] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Move a whole model: a family such as llama, a config.json, a folder with weights, or all."),
    ] = None,
    probe: Annotated[
        bool, typer.Option("--probe", help="With --model: say what turns in each layer, and where.")
    ] = False,
    targets: Annotated[Path | None, typer.Option(help="A file: MODULE:NAME and settings on each line.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="With --targets: print a line of JSON for each.")] = False,
    window: Annotated[
        int | None, typer.Option(help="How many positions there are; default: the configuration's, else 2^20.")
    ] = None,
    seconds: Limit = 120.0,
    out: Annotated[
        Path | None, typer.Option(help="With --all or --model all: the table as JSON. With --targets: JSON lines.")
    ] = None,
) -> None:
    """Say which RoPE this is: fingerprint and laws of an implementation, asked in a process of its own.

    An audit runs the target with your rights: its process of its own is no sandbox. A module in the current folder is
    found if it is the one you name. Exit status 1 if a law is broken and not by design, or a problem is printed.
    """
    if [every, bool(target), targets is not None, model is not None].count(True) != 1:
        raise typer.BadParameter(
            "give a TARGET such as my_module:rotate, or --targets FILE, or --model PATH, or --all", param_hint="TARGET"
        )
    if model is not None and (change or config or head_dim is not None or layer_type is not None):
        raise typer.BadParameter("takes its settings from a config.json", param_hint="--model")
    if probe and model is None:
        raise typer.BadParameter("goes with --model PATH, the name of a family, or all", param_hint="--probe")
    if out and model not in (None, "all"):
        raise typer.BadParameter("goes with --model all; one model is written with --json > FILE", param_hint="--out")
    if out and target:
        raise typer.BadParameter("goes with --all; a single audit is written with --json > FILE", param_hint="--out")
    if as_jsonl and targets is None:
        raise typer.BadParameter("goes with --targets", param_hint="--jsonl")
    if (change or config) and every:
        raise typer.BadParameter("goes with a TARGET; with --all each row has its own", param_hint="--set")
    if head_dim is not None and every:
        raise typer.BadParameter("goes with a TARGET; with --all each library has its own", param_hint="--head-dim")
    if window is not None and (every or probe or model == "all"):
        raise typer.BadParameter("goes with a TARGET, --targets or one --model", param_hint="--window")
    if layer_type is not None and every:
        raise typer.BadParameter("goes with a TARGET; with --all each row has its own", param_hint="--layer-type")
    with _user_errors():
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
            fine = audit_commands.audit_library(as_json=as_json, out=out)
    if not fine:
        raise typer.Exit(1)


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
    with _user_errors():
        from rope_lab.commands import atlas_commands

        found = atlas_commands.survey(package, out=out, seconds=seconds)
        (atlas_commands.compare if compare else atlas_commands.show)(found)


@app.command(epilog="Example: rope-lab bench rotary")
def bench(
    name: Annotated[str, typer.Argument(help="A file of benchmarks/, such as rotary.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the card as JSON instead of a table.")] = False,
) -> None:
    """Measure speed side by side with the peers. Needs a clone of the repository."""
    import importlib
    import json
    import re

    from rich.console import Console

    clone = Path(rope_lab.__file__).resolve().parents[1]
    files = {
        path.stem
        for path in (clone / "benchmarks").glob("*.py")
        if re.search(r"^def run\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    if not (clone / "pyproject.toml").is_file():
        _stop("rope-lab bench needs a clone of the repository: an installed wheel does not carry benchmarks/.")
    if name not in files:
        known = ", ".join(sorted(files)) or "none"
        raise typer.BadParameter(f"no benchmark {name!r}; there is: {known}{near(name, files)}", param_hint="NAME")
    sys.path.insert(0, str(clone))
    module = importlib.import_module(f"benchmarks.{name}")
    card = module.run()
    if as_json:
        typer.echo(json.dumps(card, indent=2))
    else:
        Console().print(module.table(card))


@app.command(epilog="Example: rope-lab train --set model.positions=none --minutes 2")
def train(
    config: Annotated[Path | None, typer.Argument(help="A run's config, JSON; default: a short run.")] = None,
    change: Annotated[list[str] | None, typer.Option("--set", help="FIELD=VALUE or model.FIELD=VALUE.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of checkpoints and card; default: runs/NAME.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda; default: a GPU where there is one.")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads of torch.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Stop cleanly after this time; the same call resumes.")] = None,
    quiet: Quiet = False,
) -> None:
    """Train one run, or go on with it, and write its result card.

    Exit status 0 once there is a card, 75 where --minutes ran out before, 130 after Ctrl-C, 1 for what is refused.
    """
    with _user_errors():
        from rope_lab.commands import training_commands

        status = training_commands.train_run(config, change or [], out, device, threads, minutes, quiet=quiet)
    if status:
        raise typer.Exit(status)


@app.command(epilog="Example: rope-lab write runs/NAME --prompt 'ROMEO:'")
def write(
    run: Annotated[Path, typer.Argument(help="The folder of a run, such as runs/NAME.")],
    prompt: Annotated[str, typer.Option(help="How the text begins.")] = "\n",
    tokens: Annotated[
        int | None, typer.Option(min=1, help="How many tokens to add; default: 100, or as many as the model reads.")
    ] = None,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 takes the likeliest token each time.")] = 0.8,
    seed: Annotated[int, typer.Option(help="Of the drawing: the same seed, the same text.")] = 0,
) -> None:
    """Let the model of a run write on from a prompt."""
    with _user_errors():
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
) -> None:
    """Do every run of an experiment that has no card yet, and pack the cards into one file.

    Exit status 0 once all have their cards, 1 if a run failed, 130 after Ctrl-C, 75 where --minutes ran out or another
    process has runs under way: the same command goes on.
    """
    with _user_errors():
        from rope_lab.commands import training_commands

        status = training_commands.run_sweep(
            name,
            rung,
            minutes=minutes,
            variants=variants or (),
            seeds=seeds or (),
            corpora=corpora or (),
            results=results,
            runs=runs,
            jobs=jobs,
            executor=executor,
            gpus=gpus,
            device=device,
            progress=not quiet,
        )
    if status:
        raise typer.Exit(status)


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
    with _user_errors():
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
    with _user_errors():
        from rope_lab.commands import exercise_commands

        exercise_commands.sheet(chapter, answers=answers)


@app.command(epilog="Example: rope-lab doctor --device cpu")
def doctor(
    device: Annotated[str | None, typer.Option(help="cpu or cuda; default: a GPU where there is one.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Say what this machine can train, how fast, and whether it computes rightly: in about a minute.

    Exit status 1 if something is wrong. What is slow or absent is said, and costs only time.
    """
    with _user_errors():
        from rope_lab.commands import doctor_commands

        fine = doctor_commands.show(device, as_json=as_json)
    if not fine:
        raise typer.Exit(1)


cards = typer.Typer(no_args_is_help=True, help="Result cards from another machine: are they the book's, and take them.")
app.add_typer(cards, name="cards")
CardSource = Annotated[Path, typer.Argument(help="A .jsonl.gz that a sweep wrote, or a folder of cards.")]


@cards.command("check", epilog="Example: rope-lab cards check results")
def cards_check(
    source: CardSource, as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False
) -> None:
    """Say of each card why it does not belong to this version of the book. Exit status 1 if one does not.

    This compares what a card says with what the book asks for. It proves nothing: numbers can be invented.

    Of the book's own cards 74 do not belong: 64 of crope-confirm-lengths and 10 of crope-rates-lengths name a commit
    that was changed.
    """
    with _user_errors():
        from rope_lab.commands import card_commands

        fine = card_commands.check(source, as_json=as_json)
    if not fine:
        raise typer.Exit(1)


@cards.command("add", epilog="Example: rope-lab cards add placements-colab.jsonl.gz")
def cards_add(
    source: CardSource,
    results: Annotated[Path, typer.Option(help="Folder of the cards.")] = Path("rope_lab/results"),
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep a card that differs from a new one, take the rest.")
    ] = False,
) -> None:
    """Take cards in, if all of them belong. A card that is there already is never replaced."""
    with _user_errors():
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
    with _user_errors():
        from rope_lab.commands import data_commands

        data_commands.get_data(name, force=force, root=root, progress=not quiet)


@data.command("list", epilog="Example: rope-lab data list")
def data_list(root: DataFolder = None) -> None:
    """Every corpus: size, licence, whether it is here."""
    with _user_errors():
        from rope_lab.commands import data_commands

        data_commands.list_data(root)


@data.command("verify", epilog="Example: rope-lab data verify wikitext-2")
def data_verify(
    name: Annotated[str | None, typer.Argument(help="A corpus; default: all that are here.")] = None,
    root: DataFolder = None,
) -> None:
    """Read every file that is here and check its sha256."""
    with _user_errors():
        from rope_lab.commands import data_commands

        fine = data_commands.verify_data(name, root)
    if not fine:
        raise typer.Exit(1)


@contextlib.contextmanager
def _user_errors() -> Iterator[None]:
    """Say what the user can put right in one sentence; a bug keeps its traceback."""
    try:
        yield
    except RopeLabError as error:
        _stop(str(error))
    except ModuleNotFoundError as error:
        if (missing := MissingPackageError.of("This command", error)) is None:
            raise
        _stop(str(missing))
    except KeyboardInterrupt:
        _stop("Stopped. The same command goes on from here.", status=130)


def _stop(sentence: str, *, status: int = 1) -> NoReturn:
    typer.echo(printable(sentence, keep="\n"), err=True)
    raise typer.Exit(status)


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a sign that the terminal cannot show costs the sign alone
    app()
