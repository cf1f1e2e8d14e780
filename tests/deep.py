"""What takes too long for every run, in named parts: ``make deep PART=families``, or all of them with ``make deep``.

A part is a list of commands. One that succeeds is remembered for the tree as it is, committed or not: the same call
goes on where it stopped. A part takes at most 40 minutes on two cores; the nightly workflow runs all side by side, and
there, with ROPE_LAB_NIGHT, what draws at random takes an hour and another seed each time, which the command names.
"""

import argparse
import json
import os
import secrets
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DONE = ROOT / "_build" / "deep.json"
PYTEST = "-m pytest -n auto --maxprocesses 4 --dist loadgroup"
QUICK = f'{PYTEST} -m "not (site or wheel or slow)"'
FOLDERS = sorted({p.relative_to(ROOT).parts[1] for p in ROOT.glob("tests/*/**/test_*.py")} - {"site"})
NIGHT = "ROPE_LAB_NIGHT" in os.environ
FIGURES = "tests/chaos.json"  # written by a part: no reason to run the others again
PARTS = {  # what follows the interpreter; an item NAME=VALUE before it is a variable of the environment
    "chaos": [f"-m tests.chaos --minutes {60 if NIGHT else 10}"],
    "claims": ["-m tests.mutation.claims"],
    "decoding": [f"{PYTEST} -m deep -k every_family tests/audit/test_decoding.py"],
    "families": [
        f'{PYTEST} -m deep -k "every_family and not decodes" tests/audit tests/algebra tests/chapters/ch00_intro'
    ],
    "inputs": [
        f"{PYTEST} -m deep tests/commands/test_bad_inputs.py",
        f"ROPE_LAB_EXAMPLES={9000 if NIGHT else 1500} ROPE_LAB_SEED={secrets.randbits(32) if NIGHT else 0} "
        "-m pytest -q -n auto --maxprocesses 4 tests/algebra/test_any_argument.py",
    ],
    "labs": [f"{PYTEST} -m deep tests/test_wheel.py"],
    "live": [f"{PYTEST} -m deep tests/site/test_live.py"],
    "mutation": [f"tests/mutation/run.py {folder}" for folder in ("algebra", "nn", "audit")],
    "mutation-training": [f"tests/mutation/run.py {folder}" for folder in ("training", "exercises", "book/_ext")],
    "signatures": [
        *(f"ROPE_LAB_CHECKED_CALLS=inf {QUICK} tests/{folder}" for folder in FOLDERS),
        f"ROPE_LAB_CHECKED_CALLS=inf {QUICK} {' '.join(f'--ignore=tests/{folder}' for folder in (*FOLDERS, 'site'))}",
    ],
    "site": [f'{PYTEST} -m "deep and site" --ignore=tests/site/test_live.py tests/site tests/site_ext'],
    "tests": [
        "-m pytest -m deep -k ray_takes tests/training",  # alone: Ray gives itself half a minute to start, and no more
        f'{PYTEST} -m "deep and not (site or wheel)" -k "not (every_family or ray_takes)" --ignore=tests/site '
        "--ignore=tests/commands/test_bad_inputs.py",
    ],
}


def sampled(cases: Collection, sample: Collection) -> list:
    """Cases for a test's parameters: those of the sample in each run, the others in ``make deep`` alone."""
    assert set(sample) <= set(cases), f"expected cases, got {set(sample) - set(cases)}"
    return [case if case in sample else pytest.param(case, marks=pytest.mark.deep) for case in cases]


def tree() -> str:
    """The hash of all files as they are now; "" outside of a clone, where nothing is remembered."""
    with tempfile.TemporaryDirectory() as folder:
        own = {**os.environ, "GIT_INDEX_FILE": str(Path(folder, "index"))}
        for command in (f"git add --all -- . :!{FIGURES}", "git write-tree"):
            run = subprocess.run(command.split(), cwd=ROOT, env=own, check=False, capture_output=True, text=True)
    return run.stdout.strip()


def run(command: str) -> bool:
    words, env = shlex.split(command), dict(os.environ)
    while "=" in words[0]:
        name, _, env[name] = words.pop(0).partition("=")
    return subprocess.run([sys.executable, *words], cwd=ROOT, env=env, check=False).returncode == 0


def main(parts: list[str]) -> int:
    """Run what is not yet done of some parts; the exit status is 0 where nothing failed."""
    now, failed = tree(), []
    known = json.loads(DONE.read_text()) if DONE.exists() else {}
    done = known.get("done", []) if now and known.get("tree") == now else []
    for part in parts:
        for command in PARTS[part]:
            start = time.monotonic()
            print(f"{part}: {command}", flush=True)  # also where the time runs out: its seed makes the same draws again
            if command in done:
                print(f"{part}: done before", flush=True)
            elif run(command):
                done.append(command)
                DONE.parent.mkdir(exist_ok=True)
                new = DONE.with_suffix(".new")
                new.write_text(json.dumps({"tree": now, "done": done}, indent=1))
                new.replace(DONE)
                print(f"{part}: {(time.monotonic() - start) / 60:.1f} minutes", flush=True)
            else:
                failed.append(f"{part}: failed: {command}")
    print(*failed, sep="\n")
    return int(bool(failed))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", help=f"of {', '.join(PARTS)}; default: all of them")
    parts = parser.parse_args().part or list(PARTS)
    if unknown := set(parts) - set(PARTS):
        parser.error(f"expected some of {', '.join(PARTS)}, got {' '.join(sorted(unknown))}; leave it out for all")
    sys.exit(main(parts))
