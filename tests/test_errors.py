"""One family of errors: what the user can put right is one sentence, and a bug shows its traceback."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import rope_lab
from rope_lab import cli
from rope_lab.audit.foreign_code import TargetError
from rope_lab.audit.probe import RefusedError
from rope_lab.claims import MalformedClaimError, NoSuchClaimError
from rope_lab.errors import ArgumentError, FileError, MissingPackageError, RopeLabError, checking_arguments
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
    kept = {"TimeUpError", "NoGradientError", "WrittenError", "OtherShapeError"}  # they never leave who asks
    assert found == told | {"RopeLabError"} | kept


def test_control_an_error_outside_the_family_is_seen():
    assert list(raised_classes("class Oops(Exception): pass\nclass TooLate(OSError): pass\nclass Card: pass")) == [
        "Oops",
        "TooLate",
    ]


def test_only_the_error_of_a_check_becomes_the_user_s():
    with pytest.raises(ArgumentError, match="invalid literal"), checking_arguments():
        int("seven")
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "--set", "steps=-1"], "RunConfig.steps: expected a whole number, at least 1, got -1"),
        (["train", "no-such-file.json"], "no-such-file.json: expected a run's config, got No such file or directory"),
        (["results", "table9"], "experiment: expected a name such as placements, got 'table9'; `rope-lab results`"),
        (["results", "placements", "--reference", "XPOS"], "reference: expected one of K, "),
        (["sweep", "placements", "--executor", "slurm"], "executor: expected one of local, inline, ray, got 'slurm'"),
        (["audit", "rope_lab.audit.gallery:right", "--head-dim", "7"], "head_dim: expected a positive even integer"),
        (["audit", "gallery.py"], "target: expected MODULE:NAME, got 'gallery.py'"),
        (["data", "get", "moon"], "corpus: expected one of tinyshakespeare, "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_the_user_can_put_right_is_one_sentence(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rope_lab.training.run.environment.tuned", lambda **_: None)  # which starts Python over
    done = CliRunner().invoke(cli.app, arguments)
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.usefixtures("untyped")
def test_a_model_that_cannot_be_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rope_lab.training.run.environment.tuned", lambda **_: None)
    monkeypatch.setattr("rope_lab.training.run.doctor.advice", lambda *_: None)  # it times this machine
    for wrong in ("model.n_heads=3", "model.head_dim=5", "model.depth=2", "model.layout=spiral"):
        done = CliRunner().invoke(cli.app, ["train", "--set", wrong, "--out", "here"])
        assert isinstance(done.exception, SystemExit), wrong
        assert done.stderr.count("\n") == 1, wrong
    assert not (tmp_path / "here").exists()


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("rope_lab.training.data.sources.state", lambda *_: "present")
    (tmp_path / "file").write_text("in the way")
    for option in ("--results", "--runs"):
        done = CliRunner().invoke(
            cli.app, ["sweep", "placements", "--minutes", "0", option, str(tmp_path / "file" / "x")]
        )
        assert isinstance(done.exception, SystemExit)
        assert f"{option}: expected a folder" in done.stderr
    done = CliRunner().invoke(cli.app, ["audit", "--all", "--out", str(tmp_path / "file" / "table.json")])
    assert isinstance(done.exception, SystemExit)
    assert "--out: expected a folder" in done.stderr
