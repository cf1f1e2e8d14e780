"""One family of errors: what the user can put right is one sentence, and a bug shows its traceback."""

import ast
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import rope_lab
from rope_lab import cli
from rope_lab.audit.foreign_code import TargetError
from rope_lab.audit.probe import RefusedError
from rope_lab.claims import MalformedClaimError, NoSuchClaimError
from rope_lab.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    MissingPackageError,
    RopeLabError,
    checking_arguments,
)
from rope_lab.training.data.sources import CorpusError, DownloadError
from rope_lab.training.experiments.card_packs import PackError
from rope_lab.training.experiments.catalogue import NotYetError
from rope_lab.training.experiments.rate_choice import UndecidedError
from rope_lab.training.files import CheckpointError, UnderWayError
from rope_lab.training.results.cards import CardError
from rope_lab.training.run.loop import NonFiniteLossError

PACKAGE = Path(rope_lab.__file__).parent
BUILT_IN = {  # what `except` caught before there was a family, it catches now
    ArgumentError: ValueError,
    ArgumentTypeError: TypeError,
    CardError: ValueError,
    CheckpointError: RuntimeError,
    CorpusError: ValueError,
    DownloadError: OSError,
    FileError: OSError,
    MalformedClaimError: ValueError,
    MissingPackageError: ImportError,
    NoSuchClaimError: ValueError,
    NonFiniteLossError: RuntimeError,
    NotYetError: ValueError,
    RefusedError: Exception,
    TargetError: Exception,
    UnderWayError: RuntimeError,
    UndecidedError: ValueError,
    PackError: ValueError,
}


@pytest.mark.parametrize("error", BUILT_IN, ids=lambda error: error.__name__)
def test_an_error_is_of_the_family_and_of_a_built_in_kind(error):
    assert issubclass(error, RopeLabError)
    assert issubclass(error, BUILT_IN[error])
    assert str(error("what to do")) == "what to do"


def raised_classes(source):
    """Names of the classes in a module that are errors: their own name or a base says so."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base) for base in node.bases]
            if any(name.endswith(("Error", "Exception")) for name in (node.name, *bases)):
                yield node.name


def test_every_error_of_the_package_stands_in_the_table():
    found = {name for path in PACKAGE.rglob("*.py") for name in raised_classes(path.read_text(encoding="utf-8"))}
    told = {error.__name__ for error in BUILT_IN}
    kept = {
        "TimeUpError",
        "NoGradientError",
        "WrittenError",
        "OtherShapeError",
        "_OtherFileError",
    }  # they never leave who asks
    assert found == told | {"RopeLabError"} | kept


def test_control_an_error_outside_the_family_is_seen():
    assert list(raised_classes("class Oops(Exception): pass\nclass TooLate(OSError): pass\nclass Card: pass")) == [
        "Oops",
        "TooLate",
    ]


def test_only_the_error_of_a_check_becomes_the_user_s():
    with pytest.raises(ArgumentError, match="invalid literal"), checking_arguments():
        int("seven")
    with pytest.raises(ArgumentTypeError, match="not 'NoneType'"), checking_arguments():
        int(None)
    with pytest.raises(NoSuchClaimError, match="kept"), checking_arguments():
        raise NoSuchClaimError("kept")
    with pytest.raises(ZeroDivisionError), checking_arguments():
        1 / 0  # noqa: B018


BUGS = """
import sys, torch
from rope_lab import cli
from rope_lab.commands import training_commands

def ours(*_, **__): raise ValueError("ours")
def file(*_, **__): open("/no/such/file")
def matrix(*_, **__): torch.ones(2) @ torch.ones(3)

for training_commands.show_results in (ours, file):
    try: cli.main()
    except Exception: sys.excepthook(*sys.exc_info())
training_commands.show_results = matrix
cli.main()
"""


@pytest.mark.deep
def test_a_bug_shows_its_traceback():
    """A ValueError of ours, a RuntimeError of torch and an OSError that no user caused."""
    done = subprocess.run(
        [sys.executable, "-c", BUGS, "results", "placements"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 3
    assert all(f"in {bug}" in done.stderr for bug in ("ours", "file", "matrix")), done.stderr


def commands(group=None, names=()):
    """Every command by its words."""
    for name, each in (group or get_command(cli.app)).commands.items():
        yield from commands(each, (*names, name)) if hasattr(each, "commands") else [(*names, name)]


def fails(error):
    def does(*_, **__):
        raise error

    return does


def test_an_output_that_takes_nothing_is_one_sentence_for_every_command(monkeypatch, capsys):
    reads, writes = os.pipe()
    os.close(reads)
    for full, got in ((True, "No space left on device"), (False, "Broken pipe")):
        for command in [(), *commands()]:
            with os.fdopen(os.open("/dev/full", os.O_WRONLY) if full else os.dup(writes), "w") as stream:
                monkeypatch.setattr(sys, "stdout", stream)
                with pytest.raises(SystemExit) as ended:
                    cli.app([*command, "--help"])
            said = f"expected room for what is written, got {got}; free some, or send the output elsewhere\n"
            assert (ended.value.code, capsys.readouterr().err) == (1, said)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_too_little_memory_is_one_sentence(error, monkeypatch):
    monkeypatch.setattr("rope_lab.commands.exercise_commands.sheet", fails(error))
    done = CliRunner().invoke(cli.app, ["exercises"])
    assert (done.exit_code, done.stderr) == (
        1,
        f"expected more memory than there is, got {type(error).__name__}; ask for less, or end other programs\n",
    )
