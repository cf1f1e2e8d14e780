"""The core works without the extras; a command that needs one says which."""

import json
import os
import re
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace

import pytest

from rope_lab.errors import EXTRAS as EXTRAS_OF
from rope_lab.training.run import environment

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.xdist_group("extras")  # one worker starts the Python without them
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Modules of the extras, bar those that only build the book or test it.
EXTRAS = {
    name: {re.split(r"[<>=!~ ]", line)[0].replace("-", "_") for line in PROJECT["optional-dependencies"][name]}
    for name in ("lab", "train", "ray", "fast")
}
ABSENT = set.union(*EXTRAS.values(), {"IPython"})  # which comes with ipywidgets

# A Python that finds some modules absent, and forks a child for each piece of code that it is sent.
SERVER = """
import json, os, sys
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name.partition(".")[0] in {absent} else find(name, *more)
import {core}  # slow to import: once here, and not in every child
for line in sys.stdin:
    folder, code = json.loads(line)
    if (child := os.fork()) == 0:
        os.chdir(folder)
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), number)
        status = 0
        try: exec(code, {{"__name__": "__main__"}})
        except SystemExit as done: status = done.code or 0
        except BaseException: status = sys.excepthook(*sys.exc_info()) or 1
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(status)  # to take torch down would cost each child a second
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
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
failed = [name for name, entry in list(load().items())[::{step}] if run(entry).failed]
assert not failed, failed
"""
COMMAND = "import sys\nsys.argv = ['rope-lab', *{arguments}]\nfrom rope_lab.cli import main\nmain()"


@contextmanager
def without(absent, core):
    code = SERVER.format(absent=absent, core=core)
    env = {**os.environ, **environment.MALLOC}  # with which `train` does not start Python over
    with subprocess.Popen([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE, text=True, env=env) as server:

        def run(code, folder):
            server.stdin.write(json.dumps([str(folder), code]) + "\n")
            server.stdin.flush()
            status = int(server.stdout.readline())
            return SimpleNamespace(returncode=status, **{n: (folder / n).read_text() for n in ("stdout", "stderr")})

        yield run


@pytest.fixture(scope="module")
def server():
    with without(ABSENT, "scipy.linalg, sympy, torch, typer") as run:
        yield run


@pytest.fixture
def without_extras(server, tmp_path):
    """Run code in a Python that has the core alone, in an empty folder."""
    return lambda code: server(code, tmp_path)


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize("name", ["algebra", "nn", "audit", "claims", "training", "errors", "cli"])
def test_the_core_needs_no_extra(name, without_extras):
    done = without_extras(EVERY_MODULE.format(name=f"rope_lab.{name}"))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("step", [30, pytest.param(1, marks=pytest.mark.deep)])
def test_the_ledger_runs_with_the_core(step, without_extras):
    done = without_extras(THE_LEDGER.format(step=step))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("name", "missing"), [("chapters.ch01_one_plane.exercises", "hypothesis"), ("show", "")])
def test_control_what_an_extra_is_for_does_not_load_without_it(name, missing, without_extras):
    done = without_extras(EVERY_MODULE.format(name=f"rope_lab.{name}"))
    assert done.returncode == 1
    assert f"No module named '{missing}" in done.stderr


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    "arguments",
    [
        *(["verify", "blog.props"], ["audit", "rope_lab.audit.gallery:right"], ["results", "placements"], ["--help"]),
        *(["data", "list"], ["data", "verify"]),
    ],
)
def test_a_command_of_the_core_runs(arguments, without_extras):
    done = without_extras(COMMAND.format(arguments=arguments))
    assert done.returncode == 0, done.stderr


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("arguments", [["data", "get", "ptb"], ["train", "--set", "steps=1"]])
def test_a_command_that_needs_an_extra_names_it(arguments, without_extras):
    done = without_extras(COMMAND.format(arguments=arguments))
    assert done.returncode == 1
    assert re.search(r"This command needs \w+, which is not installed: pip install 'rope-lab\[train\]'\n", done.stderr)


@pytest.mark.parametrize(("name", "extra"), [("rope_lab.show.plots", "lab"), ("rope_lab.check", "lab")])
def test_a_public_name_that_needs_an_extra_names_it(name, extra, without_extras):
    package, _, own = name.rpartition(".")
    done = without_extras(f"from {package} import {own}\n{own}('ch01.rotate', 0)")
    assert done.returncode == 1
    assert re.search(rf"MissingPackageError: rope_lab\S* needs \w+, .*: pip install 'rope-lab\[{extra}\]'", done.stderr)


def test_a_model_loads_with_the_core(without_extras):
    done = without_extras("from rope_lab import load_model\nload_model('no-run')")
    assert "expected a run, got no checkpoint there" in done.stderr


def test_another_missing_module_shows_its_traceback(tmp_path):
    with without({"scipy"}, "json") as run:
        done = run(COMMAND.format(arguments=["results", "placements"]), tmp_path)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "No module named 'scipy" in done.stderr


@pytest.mark.deep
def test_the_command_knows_the_extras():
    assert {(module, extra) for extra in ("lab", "train") for module in EXTRAS[extra]} == set(EXTRAS_OF.items())


@pytest.mark.deep
def test_no_extra_repeats_the_core():
    core = {re.split(r"[<>=!~ ]", line)[0].replace("-", "_") for line in PROJECT["dependencies"]}
    assert not core & set.union(*EXTRAS.values())
