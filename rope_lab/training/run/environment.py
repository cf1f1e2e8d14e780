"""Where a run runs: the allocator's settings, the compiler, the versions. None of it decides what the run is."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from rope_lab import chapters
from rope_lab.errors import ArgumentError

# glibc maps every tensor above 32 MB afresh and pays a page fault for each page of it. These keep the memory instead.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "100000000000"}


def tuned_environment(*, threads: int | None = None) -> dict[str, str]:
    """The environment variables that a training process on a Linux CPU should start with; ours never override yours."""
    wanted = dict(MALLOC) if sys.platform == "linux" else {}
    if threads is not None:
        wanted["OMP_NUM_THREADS"] = str(threads)
    return {name: value for name, value in wanted.items() if name not in os.environ}


def expect_threads(threads: int) -> None:
    """Refuse a number of threads that torch cannot start; `ArgumentError`."""
    if not 1 <= threads <= 4096:
        raise ArgumentError(
            f"threads: expected at {'least 1' if threads < 1 else 'most 4096'}, got {threads}; leave it out for "
            "torch's own choice"
        )


def expect_device(device: str | None) -> None:
    """Refuse what is no name of a device; `ArgumentError`. None is torch's own choice."""
    if device is not None and not re.fullmatch(r"cpu|cuda(:\d{1,3})?", device):
        raise ArgumentError(f"device: expected cpu or cuda, got {device!r}; leave it out for a GPU where there is one")


def tuned(argv: Sequence[str] | None = None, *, threads: int | None = None) -> None:
    """Start this Python over with the settings above, once; returns at once where they are set already.

    glibc reads them when a process starts, so a running one can only begin again. ``argv`` is what follows the
    interpreter's name; the default is what this process was started with. Call it before torch is imported.
    """
    if missing := tuned_environment(threads=threads):
        argv = list(sys.orig_argv[1:] if argv is None else argv)
        sys.stdout.flush()
        os.execve(sys.executable, [sys.executable, *argv], {**os.environ, **missing})


def why_not_compile(device: str) -> str | None:
    """Name what ``torch.compile`` lacks on this machine, or ``None`` when it has what it needs."""
    compiler = os.environ.get("CXX", "clang++" if sys.platform == "darwin" else "g++")
    if device == "cpu" and shutil.which(compiler) is None:
        return f"no C++ compiler ({compiler})"
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        return "no Python headers (Python.h)"
    if device != "cpu":
        try:
            metadata.version("triton")
        except metadata.PackageNotFoundError:
            return "no triton"
    return None


def versions() -> dict[str, str]:
    """The versions that can change a number: Python and the libraries that compute."""
    numbers = {"python": platform.python_version()}
    for package in ("torch", "numpy", "safetensors", "rope-lab"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            numbers[package] = metadata.version(package)
    return numbers


def commit() -> str:
    """The commit that a run's code was checked out at, with a ``+`` when the code differs; empty where nothing says it.

    A tree that was carried to a machine without git has no history: there the file ``COMMIT`` beside pyproject.toml is
    read, which ``git rev-parse HEAD > COMMIT`` wrote where the tree was clean. Of a package that pip or uv installed
    from a commit, as each lab on Colab does, the installation has noted which (PEP 610), and of a wheel hatch_build.py.
    """
    package = Path(__file__).resolve().parents[2]

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=package, capture_output=True, text=True, check=True).stdout

    try:
        git("ls-files", "--error-unmatch", __file__)  # installed somewhere inside another project is not a checkout
        rooms = [f":(glob)chapters/*/{name}.py" for name in chapters.TRAINS]
        changed = git("status", "--porcelain", "--untracked-files=no", "algebra", "nn", "training", *rooms)
        return git("rev-parse", "HEAD").strip() + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        said = _carried(package.parent) or _installed(package)
        return said if re.fullmatch(r"[0-9a-f]{40}\+?", said) else ""


def _carried(tree: Path) -> str:
    file = tree / "COMMIT"
    ours = (tree / "pyproject.toml").is_file() and not (tree / ".git").exists() and file.is_file()
    return file.read_text(encoding="utf-8", errors="replace").strip() if ours else ""


def _installed(package: Path) -> str:
    with contextlib.suppress(metadata.PackageNotFoundError):
        own = metadata.distribution("rope-lab")
        if Path(str(own.locate_file("rope_lab"))).resolve() == package.resolve():  # and not another copy
            with contextlib.suppress(LookupError, TypeError, ValueError):
                return str(json.loads(own.read_text("direct_url.json") or "")["vcs_info"]["commit_id"])
            return own.read_text("extra_metadata/COMMIT") or ""
    return ""


def cpu_name() -> str:
    """The CPU's name as its maker gives it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
