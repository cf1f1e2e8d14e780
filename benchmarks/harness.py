"""How every benchmark measures: in a process of its own, variants in turn, ratios to a copy of the same bytes.

Two things would make any number worthless. glibc maps every tensor above 32 MB afresh, and the page faults then cost
several times the arithmetic: the settings below must stand before Python starts, so the measuring process is a new one.
And a shared machine drifts: so each round times every variant once, a ratio is taken within its round, and the clock is
the CPU's own: with one thread it shows what a wall clock would on a quiet machine, without the waiting.
"""

import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rope_lab.training.run.environment import cpu_name

ROOT = Path(__file__).resolve().parents[1]
CARDS = ROOT / "benchmarks" / "cards"
ENVIRONMENT = {
    "MALLOC_MMAP_THRESHOLD_": "4294967296",  # bytes: keep large tensors on the heap, whose pages stay mapped
    "MALLOC_TRIM_THRESHOLD_": "100000000000",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


def in_a_fresh_process(module: str) -> dict[str, Any]:
    """Run ``python -m module`` under ENVIRONMENT; its last line is the card, kept under benchmarks/cards."""
    done = subprocess.run(
        [sys.executable, "-m", module],
        cwd=ROOT,
        env=os.environ | ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{module} stopped with status {done.returncode}:\n{done.stderr[-3000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    CARDS.mkdir(exist_ok=True)
    (CARDS / f"{found['name']}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


def measure(variants: dict[str, Callable[[], Any]], *, rounds: int, warm_up: int = 3) -> dict[str, list[float]]:
    """Processor seconds of each variant in each round; they take turns, each round beginning with another one."""
    for call in variants.values():
        for _ in range(warm_up):
            call()
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    names = list(variants)
    for start in range(rounds):
        for k in range(len(names)):
            name = names[(start + k) % len(names)]
            begin = time.process_time()
            variants[name]()
            seconds[name].append(time.process_time() - begin)
    return seconds


def ratios(seconds: dict[str, list[float]], *, to: str) -> dict[str, dict[str, float]]:
    """Median and quartiles over the rounds of each variant's time over that of ``to`` in the same round."""
    found = {}
    for name, values in seconds.items():
        low, middle, high = statistics.quantiles((a / b for a, b in zip(values, seconds[to], strict=True)), n=4)
        found[name] = {
            "ratio_to_copy": round(middle, 3),
            "low": round(low, 3),
            "high": round(high, 3),
            "milliseconds": round(1e3 * statistics.median(values), 3),
        }
    return found


def card(name: str, *, packages: Iterable[str], **measured: Any) -> dict[str, Any]:
    """What was measured, with code, date, versions and machine: enough to judge it, nothing that names a person."""
    return {
        "name": name,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": (_git("rev-parse", "HEAD") or "") + "+" * bool(_git("status", "--porcelain", "--", *code(name))),
        "machine": {
            "cpu": cpu_name(),
            "cores": os.cpu_count(),
            "system": platform.system(),
            "arch": platform.machine(),
            "load": round(os.getloadavg()[0], 1),  # how many jobs shared it in the last minute, this one included
        },
        "versions": {"python": platform.python_version()} | {p: _version(p) for p in packages},
        "environment": {key: os.environ.get(key, "") for key in ENVIRONMENT},
        "compiler": can_compile(),
        **measured,
    }


def code(name: str) -> list[str]:
    """The files behind a benchmark's numbers: its module, and what that imports of ours."""
    text = (ROOT / f"benchmarks/{name}.py").read_text(encoding="utf-8")
    modules = [f"benchmarks.{name}", *re.findall(r"(?m)^ *from ((?:benchmarks|rope_lab)[\w.]*) import", text)]
    return [f"{p}.py" if (ROOT / f"{p}.py").exists() else p for p in (m.replace(".", "/") for m in modules)]


def since(card: dict[str, Any]) -> str:
    """What has changed in the code of a card since its commit, in words, as far as git knows it here."""
    if not (made := card.get("commit", "")).strip("+"):
        return "the card names no commit: nobody can say"
    if made.endswith("+"):
        return "it was changed when it was measured, and is in no commit"
    if (changed := _git("diff", "--name-only", made, "--", *code(card["name"]))) is None:
        return "cannot be known where the page was built: it has no git, or not this commit"
    return f"changed: {', '.join(changed.split())}" if changed else "has not changed"


def _git(*arguments: str) -> str | None:
    own = os.environ | {"GIT_CEILING_DIRECTORIES": str(ROOT.parent)}  # a clone that lies around ours says nothing of it
    if shutil.which("git") is None:
        return None
    done = subprocess.run(["git", *arguments], cwd=ROOT, env=own, capture_output=True, text=True, check=False)
    return None if done.returncode else done.stdout.strip()


def can_compile() -> bool:
    """Whether torch.compile has what it needs on a CPU: g++."""
    return shutil.which("g++") is not None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
