"""How every benchmark measures: in a process of its own, variants in turn, ratios to a copy of the same bytes.

Two things would make any number worthless. glibc maps every tensor above 32 MB afresh, and the page faults then cost
several times the arithmetic: the settings below must stand before Python starts, so the measuring process is a new one.
And a shared machine drifts: so each round times every variant once, a ratio is taken within its round, and the clock is
the CPU's own: with one thread it shows what a wall clock would on a quiet machine, without the waiting.
"""

import json
import os
import platform
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
    """What was measured, with date, versions and machine: enough to judge it, nothing that names a person or a path."""
    return {
        "name": name,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": {
            "cpu": _cpu(),
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


def can_compile() -> bool:
    """Whether torch.compile has what it needs on a CPU: g++."""
    return shutil.which("g++") is not None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _cpu() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or "unknown")
