"""`make` on a machine where something is missing: one sentence that says how to fix it, and nothing half made."""

import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from tests import conftest, deep

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def clone(tmp_path) -> Path:
    for name in ("Makefile", "requirements.txt", "requirements-dev.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def make(clone: Path, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess:
    env = None if path is None else {"PATH": path}
    command = [shutil.which("make"), "--no-print-directory", "-C", str(clone), *arguments]
    return subprocess.run(command, env=env, check=False, capture_output=True, text=True)


def interpreter(clone: Path, body: str, *, version: str = "3.14", name: str = "python-stand-in") -> str:
    """A stand-in for an interpreter that gives `version` as its own, and whose venv module does what `body` says."""
    script = clone / "bin" / name
    script.parent.mkdir(exist_ok=True)
    script.write_text(f'#!/bin/sh\ntest "$1" != -c || {{ echo {version}; exit; }}\n{body}\n')
    script.chmod(0o755)
    return str(script)


def only(clone: Path, *tools: str) -> str:
    """A PATH with the stand-ins and, of this machine's programs, `tools` alone."""
    (clone / "bin").mkdir(exist_ok=True)
    for name in tools:
        (clone / "bin" / name).symlink_to(shutil.which(name) or shutil.which("true"))
    return str(clone / "bin")


MAKES_IT = "mkdir -p .venv/bin; touch .venv/bin/pip .venv/bin/python; chmod +x .venv/bin/*"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ACCEPTED = [c.rpartition(" ")[2] for c in PROJECT["project"]["classifiers"] if "Python :: 3" in c]


def test_all_places_name_the_same_versions_of_python():
    makefile, oldest = (ROOT / "Makefile").read_text(), ACCEPTED[0]
    assert re.search(r"^PYTHONS := (.*)$", makefile, re.MULTILINE)[1].split() == ACCEPTED[::-1]
    assert f"Python {', '.join(ACCEPTED[:-1])} or {ACCEPTED[-1]};" in makefile
    assert f"With Python {oldest} to {ACCEPTED[-1]} and" in (ROOT / "README.md").read_text()
    workflow = (ROOT / ".github" / "workflows" / "check.yml").read_text()
    assert sorted(re.findall(r'python: "(.*)"', workflow)) == ACCEPTED
    tool = PROJECT["tool"]
    assert PROJECT["project"]["requires-python"] == f">={oldest}"
    assert tool["mypy"]["python_version"] == oldest
    assert tool["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"
    assert tool["uv"]["pip"]["python-version"] == f"{oldest}.0"


@pytest.mark.parametrize("version", ["3.10", "3.15", None])
def test_without_an_interpreter_the_refusal_says_what_was_found_and_what_to_install(clone, version):
    if version:
        interpreter(clone, "exit 1", version=version, name="python3")
    run = make(clone, "book", path=only(clone))
    assert run.returncode != 0
    assert "needs Python 3.11, 3.12, 3.13 or 3.14; found: python3, version" in run.stdout
    assert f"version {version or 'unknown'}" in run.stdout
    assert "Ubuntu 24.04 to 26.04: sudo apt-get install python3 python3-venv\n" in run.stdout


def test_an_interpreter_that_was_named_is_looked_at_too(clone):
    (clone / ".venv" / "lib").mkdir(parents=True)
    old = interpreter(clone, MAKES_IT, version="3.9")
    run = make(clone, ".venv/bin/pip", f"PYTHON={old}")
    assert run.returncode != 0
    assert f"found: {old}, version 3.9." in run.stdout
    assert (clone / ".venv" / "lib").exists()


@pytest.mark.parametrize("version", ACCEPTED)
@pytest.mark.parametrize("alone", [True, False])
def test_any_accepted_version_is_found_alone_or_beside_another(clone, version, alone):
    if not alone:
        interpreter(clone, "exit 1", version="3.15", name="python3")
    interpreter(clone, MAKES_IT, version=version, name="python3" if alone else f"python{version}")
    run = make(clone, ".venv/bin/pip", path=only(clone, "mkdir", "touch", "chmod", "rm"))
    assert run.returncode == 0, run.stdout + run.stderr


def test_without_the_venv_module_the_half_made_folder_goes(clone):
    run = make(clone, "book", f"PYTHON={interpreter(clone, 'mkdir -p .venv/bin; exit 1')}")
    assert run.returncode != 0
    assert run.stdout.endswith("sudo apt-get install python3.14-venv\n")
    assert not (clone / ".venv").exists()


def test_a_half_made_environment_is_made_anew(clone):
    (clone / ".venv" / "lib").mkdir(parents=True)
    run = make(clone, ".venv/bin/pip", f"PYTHON={interpreter(clone, MAKES_IT)}")
    assert run.returncode == 0, run.stderr
    assert not (clone / ".venv" / "lib").exists()


@pytest.mark.parametrize("missing", ["g++", "chromium"])
def test_without_a_tool_the_tests_say_which(clone, missing):
    path = only(clone, *{"g++", "chromium"} - {missing})
    run = make(clone, "tools", "PYTHON=none", path=path)
    assert run.returncode != 0
    assert f"sudo apt-get install {missing}" in run.stdout
    assert run.stdout.count("\n") == 1


def test_every_night_runs_every_part():
    night = yaml.safe_load((ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8"))
    assert night["jobs"]["deep"]["strategy"]["matrix"]["part"] == list(deep.PARTS)


def test_no_file_of_tests_is_lost_between_the_lanes():
    """The lanes of .ci/run are each other's complement; the second names the folders that a browser's tests lie in."""
    first, second = re.findall(r"ARGS='(.*)'", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert first == '-n 1 -m "not site"'
    assert second == f"-m site {' '.join(conftest.SITE)}"
    files = {path.relative_to(ROOT).parts[1] for path in ROOT.glob("tests/**/test_*.py")}
    loose = {name for name in files if name.endswith(".py")}
    assert files == {*deep.FOLDERS, *loose, "site"}  # the folders whose signatures are checked at every call


@pytest.fixture
def remembered(tmp_path, monkeypatch):
    """Parts of two commands, which are written down and not run; the second fails while ``broken`` holds it."""
    ran, broken, tree = [], {"2"}, ["tree"]
    monkeypatch.setattr(deep, "PARTS", {"one": ["1", "2"], "other": ["3"]})
    monkeypatch.setattr(deep, "DONE", tmp_path / "deep.json")
    monkeypatch.setattr(deep, "tree", lambda: tree[0])
    monkeypatch.setattr(deep, "run", lambda command: ran.append(command) or command not in broken)
    return ran, broken, tree


def test_a_deep_part_goes_on_where_it_stopped(remembered, capsys):
    ran, broken, tree = remembered
    assert deep.main(["one"]) == 1
    assert "one: failed: 2" in capsys.readouterr().out
    broken.clear()
    assert deep.main(["one", "other"]) == deep.main(["one", "other"]) == 0
    assert ran == ["1", "2", "2", "3"]
    tree[0] = "another tree"
    assert deep.main(["other"]) == 0
    tree[0] = ""  # no clone: nothing is known
    assert deep.main(["other"]) == deep.main(["other"]) == 0
    assert ran == ["1", "2", "2", "3", "3", "3", "3"]


def test_what_was_done_is_known_for_the_files_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(deep, "ROOT", tmp_path)
    assert deep.tree() == ""
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    hashes = []
    for text in ("one", "other", "one"):
        (tmp_path / "file").write_text(text)
        hashes.append(deep.tree())
    assert len(hashes[0]) == 40
    assert hashes[0] == hashes[2] != hashes[1]


@dataclass(eq=False)
class Item:
    """What pytest collects, as far as the lanes look at it."""

    originalname: str
    mark: pytest.Mark | None = None
    fixturenames: tuple[str, ...] = ()
    path, nodeid, marked = "tests/test_x.py", "tests/test_x.py::test_x", ()

    def get_closest_marker(self, name):
        return self.mark if name == "deep" else None

    def add_marker(self, mark):
        self.marked = (*self.marked, mark.name)


@pytest.mark.parametrize(("lane", "left"), [("", [0, 3, 6]), ("deep", range(8))])
def test_deep_tests_wait_for_their_lane(lane, left):
    every = [
        *(Item("many", pytest.mark.deep(keep=2).mark) for _ in range(6)),
        Item("two"),
        Item("two", pytest.mark.deep.mark),
    ]
    items, out = list(every), []
    hook = SimpleNamespace(pytest_deselected=lambda *, items: out.extend(items))
    conftest.pytest_collection_modifyitems(SimpleNamespace(option=SimpleNamespace(markexpr=lane), hook=hook), items)
    assert items == [every[i] for i in left]
    assert {*items, *out} == {*every}


def test_a_test_that_drives_the_browser_elsewhere_is_refused():
    with pytest.raises(
        pytest.UsageError, match=r"expected tests with a browser in tests/site or tests/site_ext, got tests/t"
    ):
        conftest.pytest_collection_modifyitems(None, [Item("one", fixturenames=("browser",))])


def test_control_with_all_tools_nothing_is_said(clone):
    run = make(clone, "tools", "PYTHON=none", path=only(clone, "g++", "chromium"))
    assert (run.returncode, run.stdout) == (0, "")
