"""`rope-lab`: exit status, names, and what each command needs."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import rope_lab
import rope_lab.chapters
from rope_lab import cli
from rope_lab.claims import LEDGER, claim, load


def call(*arguments: str):
    return CliRunner().invoke(cli.app, arguments)


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A further room of a chapter, and a ledger that forgets what was planted."""
    load()
    before = dict(LEDGER)
    monkeypatch.setattr(rope_lab.chapters, "__path__", [*rope_lab.chapters.__path__, str(tmp_path)])
    (room := tmp_path / "ch01_planted").mkdir()
    (room / "__init__.py").touch()
    yield room
    LEDGER.clear()
    LEDGER.update(before)
    for name in [name for name in sys.modules if "ch01_planted" in name]:  # torch does not bear being imported twice
        sys.modules.pop(name)


def plant(id="book.planted", **changes):  # noqa: A002 - a claim's own word
    entry = {"locus": "here", "statement": "$1 = 1$", "chapter": 1, "holds": 1, "control": 2}
    claim(id, **entry | changes)(lambda subject: subject == 1)


def test_version():
    done = call("--version")
    assert (done.exit_code, done.output.strip()) == (0, rope_lab.__version__)


def test_verify_shows_a_table():
    done = call("verify", "ch1")
    assert done.exit_code == 0, done.output
    assert "blog.inner-chain" in done.stdout
    assert "as printed: a slip" in " ".join(done.stdout.split())
    assert "exact:" in done.stdout


def test_verify_speaks_json_and_nothing_else():
    done = call("verify", "unsaid.*", "--json")
    rows = json.loads(done.stdout)
    assert {row["id"] for row in rows} == {name for name in load() if name.startswith("unsaid.")}
    assert all(row["ok"] is True and row["control_rejected"] is True for row in rows)


@pytest.mark.deep
@pytest.mark.parametrize("changes", [{"control": 1}, {"holds": 2}])
@pytest.mark.usefixtures("room")
def test_verify_names_what_fails(changes):
    plant(**changes)
    done = call("verify", "book.[pr]*")
    assert done.exit_code == 1
    assert "book.planted fails" in " ".join(done.stderr.split())
    assert "book.rotation-addition" not in done.stderr
    rows = {row["id"]: row for row in json.loads(call("verify", "book.planted", "--json").stdout)}
    assert rows["book.planted"]["ok"] is False


def test_verify_names_a_malformed_claim(room):
    (room / "claims_book.py").write_text(
        "from rope_lab.claims import claim\n"
        "claim('book.planted', locus='here', statement='so', holds=1)(lambda subject: True)\n"
    )
    done = call("verify")
    assert done.exit_code == 1
    assert "claim 'book.planted'" in done.stderr
    assert "needs holds= and control=" in done.stderr
    assert "Traceback" not in done.output


@pytest.mark.usefixtures("room")
def test_verify_does_not_fail_for_what_was_not_attempted():
    claim("book.planted", locus="here", statement="so", verdict="empirical", chapter=1)(lambda: "not attempted")
    done = call("verify", "book.planted")
    assert done.exit_code == 0
    assert "experiment: 1 not attempted" in done.stdout


def test_verify_does_not_call_another_error_a_bad_pattern(room):
    (room / "claims_book.py").write_text("raise ValueError('broken while it was imported')\n")
    done = call("verify")
    assert done.exit_code == 1
    assert "broken while" in str(done.exception)
    assert "PATTERN" not in done.output


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The package as it lies in site-packages: no clone around it."""
    monkeypatch.setattr(rope_lab, "__file__", str(tmp_path / "rope_lab" / "__init__.py"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "toy.py").write_text(
        "from rich.table import Table\n\n\ndef run() -> dict:\n    return {'ratio': 1.5}\n\n\n"
        "def table(card):\n    rows = Table('form')\n    rows.add_row(f\"ratio {card['ratio']}\")\n    return rows\n"
    )
    (tmp_path / "benchmarks" / "__init__.py").touch()
    (tmp_path / "benchmarks" / "helper.py").touch()
    # A module of that name that is loaded already would hide the planted one.
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, name)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]


@pytest.mark.usefixtures("installed")
def test_bench_needs_a_clone():
    done = call("bench", "toy")
    assert done.exit_code == 1
    assert done.stderr.strip() == (
        "rope-lab bench needs a clone of the repository: an installed wheel does not carry benchmarks/."
    )


def test_bench_in_a_clone(installed):
    (installed / "pyproject.toml").touch()
    shown = call("bench", "toy").stdout
    assert "ratio 1.5" in shown
    assert "form" in shown
    assert json.loads(call("bench", "toy", "--json").stdout) == {"ratio": 1.5}


def test_the_command_starts_light():
    heavy = "{'torch', 'matplotlib', 'sympy', 'scipy', 'numpy'}"
    code = f"import sys, rope_lab.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.deep
def test_a_terminal_without_unicode_loses_a_sign_and_nothing_else():
    code = "from rope_lab.cli import main; main()"
    narrow = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "30"}  # columns end in an ellipsis
    done = subprocess.run(
        [sys.executable, "-c", code, "verify", "blog.props"], env=narrow, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr.strip()) == (0, b"")
    assert b"blog.props" in done.stdout
    assert b"exact: 1 hold" in done.stdout


def test_python_m_runs_nothing_of_the_folder_one_stands_in(tmp_path):
    """Also what the package itself imports first, and what is loaded late."""
    for name in ("ast", "typer", "colorsys", "numpy", "queue"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('ran the folder's code')")
    path = {**os.environ, "PYTHONPATH": str(Path(rope_lab.__file__).parents[1])}

    def python_m(*call):
        return subprocess.run(
            [sys.executable, "-m", *call], cwd=tmp_path, env=path, capture_output=True, text=True, check=False
        )

    done = python_m("rope_lab", "results", "placements")
    assert (done.returncode, done.stderr) == (0, "")
    assert "placements" in done.stdout
    assert "ran the folder" in python_m("timeit", "-n1", "import typer").stderr  # the control: another module


def test_a_benchmark_s_card_names_its_commit_and_the_page_what_has_changed_since(tmp_path, monkeypatch):
    from benchmarks import harness

    def write(file, text):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)

    write("benchmarks/toy.py", "from benchmarks.harness import card\nfrom rope_lab.nn.rotary import rotate\n")
    for file in ("benchmarks/harness.py", "rope_lab/nn/rotary.py", "rope_lab/nn/gpt.py"):
        write(file, "")
    monkeypatch.setattr(harness, "ROOT", tmp_path)
    card = harness.card("toy", packages=["torch", "no-such-package"])
    assert card["commit"] == ""
    assert set(card["versions"]) == {"python", "torch", "no-such-package"}
    assert "names no commit" in harness.since(card)
    for arguments in ("init -q", "add .", "-c user.name=x -c user.email=x@example.com commit -qm one"):
        subprocess.run(["git", *arguments.split()], cwd=tmp_path, check=True)
    card = harness.card("toy", packages=[])
    assert re.fullmatch("[0-9a-f]{40}", card["commit"])
    write("rope_lab/nn/gpt.py", "A = 1\n")
    assert harness.since(card) == "has not changed"  # in what the benchmark imports
    write("rope_lab/nn/rotary.py", "A = 1\n")
    assert harness.since(card) == "changed: rope_lab/nn/rotary.py"
    changed = harness.card("toy", packages=[])
    assert changed["commit"] == card["commit"] + "+"
    assert "in no commit" in harness.since(changed)
    assert "cannot be known" in harness.since(card | {"commit": "a" * 40})
    monkeypatch.setenv("PATH", "")
    assert "cannot be known" in harness.since(card)
