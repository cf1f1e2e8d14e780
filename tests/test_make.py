"""`make` on a machine where something is missing: one sentence that says how to fix it, and nothing half made."""

import shutil
import subprocess
from pathlib import Path

import pytest

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


def interpreter(clone: Path, body: str) -> str:
    """A stand-in for an interpreter whose venv module does what `body` says."""
    script = clone / "python-stand-in"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)
    return str(script)


def test_without_an_interpreter(clone):
    run = make(clone, "book", "PYTHON=")
    assert run.returncode != 0
    assert "needs Python 3.11, 3.12 or 3.13" in run.stdout
    assert "apt-get install python3" in run.stdout


def test_without_the_venv_module_the_half_made_folder_goes(clone):
    run = make(clone, "book", f"PYTHON={interpreter(clone, 'mkdir -p .venv/bin; exit 1')}")
    assert run.returncode != 0
    assert "sudo apt-get install python3-venv" in run.stdout
    assert not (clone / ".venv").exists()


def test_a_half_made_environment_is_made_anew(clone):
    (clone / ".venv" / "lib").mkdir(parents=True)
    body = "mkdir -p .venv/bin; touch .venv/bin/pip .venv/bin/python; chmod +x .venv/bin/*"
    run = make(clone, ".venv/bin/pip", f"PYTHON={interpreter(clone, body)}")
    assert run.returncode == 0, run.stderr
    assert not (clone / ".venv" / "lib").exists()


@pytest.mark.parametrize("missing", ["g++", "chromium"])
def test_without_a_tool_the_tests_say_which(clone, missing):
    tools = clone / "tools"
    tools.mkdir()
    for name in ("sh", "test", "g++", "chromium"):
        if name != missing:
            (tools / name).symlink_to(shutil.which(name) or shutil.which("true"))
    run = make(clone, "tools", "PYTHON=none", "SHELL=/bin/sh", path=str(tools))
    assert run.returncode != 0
    assert f"sudo apt-get install {missing}" in run.stdout
    assert run.stdout.count("\n") == 1


def test_control_with_all_tools_nothing_is_said(clone):
    tools = clone / "tools"
    tools.mkdir()
    for name in ("sh", "test", "g++", "chromium"):
        (tools / name).symlink_to(shutil.which(name) or shutil.which("true"))
    run = make(clone, "tools", "PYTHON=none", "SHELL=/bin/sh", path=str(tools))
    assert (run.returncode, run.stdout) == (0, "")
