"""The core works without the extras; a command that needs one says which."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rope_lab import cli

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Modules of the extras, bar those that only build the book or test it.
EXTRAS = {
    name: {re.split(r"[<>=!~ ]", line)[0].replace("-", "_") for line in PROJECT["optional-dependencies"][name]}
    for name in ("lab", "train", "ray", "fast")
}
ABSENT = set.union(*EXTRAS.values(), {"IPython"})  # which comes with ipywidgets

WITHOUT = """
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name.partition(".")[0] in {absent} else find(name, *more)
"""
EVERY_MODULE = """
import importlib, pkgutil
package = importlib.import_module({name!r})
for found in pkgutil.walk_packages(getattr(package, "__path__", []), package.__name__ + "."):
    importlib.import_module(found.name)
"""
THE_LEDGER = """
from rope_lab import chapters
from rope_lab.claims import load, run

assert len({{m.__name__.split(".")[2] for m in chapters.modules("claims_*")}}) >= 20
failed = [name for name, entry in load().items() if run(entry).failed]
assert not failed, failed
"""
COMMAND = "import sys\nsys.argv = ['rope-lab', *{arguments}]\nfrom rope_lab.cli import main\nmain()"


def without_extras(code, absent=ABSENT):
    """Run code in a Python that has the core alone."""
    code = WITHOUT.format(absent=absent) + code
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["algebra", "nn", "audit", "claims", "training.results", "errors", "cli"])
def test_the_core_needs_no_extra(name):
    done = without_extras(EVERY_MODULE.format(name=f"rope_lab.{name}"))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_whole_ledger_runs_with_the_core():
    done = without_extras(THE_LEDGER.format())
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "missing"), [("chapters.ch01_one_plane.exercises", "hypothesis"), ("show", ""), ("training.data", "")]
)
def test_control_what_an_extra_is_for_does_not_load_without_it(name, missing):
    done = without_extras(EVERY_MODULE.format(name=f"rope_lab.{name}"))
    assert done.returncode == 1
    assert f"No module named '{missing}" in done.stderr


@pytest.mark.parametrize(
    "arguments", [["verify", "blog.props"], ["audit", "rope_lab.audit.gallery:right"], ["results"], ["--help"]]
)
def test_a_command_of_the_core_runs(arguments):
    done = without_extras(COMMAND.format(arguments=arguments))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", [["data", "list"], ["data", "get", "ptb"], ["train", "--set", "steps=1"]])
def test_a_command_that_needs_an_extra_names_it(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = without_extras(COMMAND.format(arguments=arguments))
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(
        r"This command needs \w+, which is not installed: pip install 'rope-lab\[train\]'\n", done.stderr
    )


def test_another_missing_module_shows_its_traceback():
    done = without_extras(COMMAND.format(arguments=["results", "placements"]), absent={"scipy"})
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "No module named 'scipy" in done.stderr


def test_the_command_knows_the_extras():
    assert {(module, extra) for extra in ("lab", "train") for module in EXTRAS[extra]} == set(cli.EXTRAS.items())


def test_no_extra_repeats_the_core():
    core = {re.split(r"[<>=!~ ]", line)[0].replace("-", "_") for line in PROJECT["dependencies"]}
    assert not core & set.union(*EXTRAS.values())
