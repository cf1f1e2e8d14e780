"""Build the book: ``.venv/bin/python book/build.py``. Warnings are errors; a failed build stays failed.

Jupyter Book's own cache keys on code cells alone, and Sphinx's on page sources alone. This driver adds what both leave
out: a page is executed again when a module it imports changed, the site is written again when its scripts or
extensions changed, and the doctrees of a failed build are removed, because cached pages do not repeat their warnings.
"""

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DISCOVERED = ("claims", "exercises")  # rooms that load all of their modules by themselves
SITE = ("_config.yml", "_toc.yml", "requirements.txt", "book/_ext", "book/_static", "book/references.bib", "rope_lab")
IMPORT = re.compile(r"^\s*(?:from|import)\s+(rope_lab[\w.]*)(?:\s+import\s+([\w, ]+))?", re.MULTILINE)
CELL = re.compile(r"^```{code-cell}.*?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def build(root: Path = ROOT) -> int:
    """Build ``root``/_build/html; the exit status is 0 only if there was no warning."""
    out, start = root / "_build", time.monotonic()
    record, doctrees = out / "inputs.json", out / ".doctrees"
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", str(root), "-W", "-n", "--keep-going"]
    before, now = read(record), inputs_of_pages(root)
    index = out / "html" / "index.html"
    if before == now and index.exists():
        print(f"Nothing has changed since the last build, which had no warning. Open {index.as_uri()}")
        return 0
    forget(root, doctrees, before, now)
    if before.get("site") != now["site"]:
        command.append("--all")  # or changed scripts and styles are not copied
    record.unlink(missing_ok=True)  # an interrupted build has no record, so the next one trusts nothing
    one_thread = {"OMP_NUM_THREADS": "1", **os.environ}  # small products wait longer for idle threads than they take
    status = subprocess.run(command, check=False, env=one_thread).returncode
    if status or not index.exists():
        shutil.rmtree(doctrees, ignore_errors=True)
        print("The book did not build: the warnings above are errors. Mend them and run the same command again.")
        return status or 1
    record.write_text(json.dumps(now, indent=1))
    print(f"The book is built ({time.monotonic() - start:.0f} s). Open {index.as_uri()}")
    print("or run `make serve` for a preview that follows your edits.")
    return 0


def prepare_preview(root: Path = ROOT) -> None:
    """Before each round of the live preview: forget what changed, and trust the rest."""
    record = root / "_build" / "preview-inputs.json"
    before, now = read(record), inputs_of_pages(root)
    forget(root, root / "_build" / "preview" / ".doctrees", before, now)
    record.parent.mkdir(exist_ok=True)
    record.write_text(json.dumps(now, indent=1))


def read(record: Path) -> dict[str, str]:
    return json.loads(record.read_text()) if record.exists() else {}


def inputs_of_pages(root: Path) -> dict[str, str]:
    """A digest for each executed page, one for what the whole site depends on, and one for the pages themselves."""
    pages = {str(page.relative_to(root)): digest(page_inputs(page, root)) for page in executed_pages(root)}
    return {**pages, "site": digest(files(root, SITE)), "sources": digest(files(root, ["book", "notebooks"]))}


def executed_pages(root: Path) -> list[Path]:
    """The notebooks, and the pages that hold code cells."""
    pages = [*root.glob("notebooks/*.ipynb"), *(p for p in root.glob("book/*.md") if "{code-cell}" in p.read_text())]
    return sorted(pages)


def page_inputs(page: Path, root: Path) -> set[Path]:
    """The page's modules, what they import in turn, and the scripts and data that lie beside them."""
    text = page.read_text()
    if page.suffix == ".ipynb":
        code = "\n".join("".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == "code")
    else:
        code = "\n".join(CELL.findall(text))
    modules = {
        name
        for module, names in IMPORT.findall(code)
        for name in [module, *(f"{module}.{n.split(' as ')[0].strip()}" for n in names.split(","))]
    }
    if "rope_lab" in modules & set(code.split()):
        return set(files(root, ["rope_lab"]))  # `import rope_lab`: it may use any room
    return module_inputs(modules, root) | set(files(root, ["benchmarks/cards"]) if "benchmarks/cards" in code else ())


def module_inputs(modules: set[str], root: Path, *, discovered: tuple[str, ...] = DISCOVERED) -> set[Path]:
    """The files of some modules, what these import in turn, and the scripts and data that lie beside them."""
    waiting, found = set(modules), set()
    while waiting:
        parts = waiting.pop().split(".")
        if len(parts) > 1 and parts[1] in discovered:
            new = set((root / "rope_lab" / parts[1]).rglob("*.py"))
        else:
            path = root.joinpath(*parts)
            new = {p for p in (path.with_suffix(".py"), path / "__init__.py") if p.exists()}
        for source in new - found:
            waiting |= imports(source)
            found |= {p for p in source.parent.iterdir() if p.is_file() and p.suffix != ".py"}
            if source.name == "cards.py":
                found |= set(files(root, ["rope_lab/results"]))
        found |= new
    return found


def imports(source: Path) -> set[str]:
    """The modules of ours that a file imports, under each name they may have."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in names if name.startswith("rope_lab.")}


def files(root: Path, places) -> list[Path]:
    found = [p for place in places for p in [root / place, *(root / place).rglob("*")]]
    return sorted(p for p in found if p.is_file() and "__pycache__" not in p.parts)


def digest(paths) -> str:
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def forget(root: Path, doctrees: Path, before: dict[str, str], now: dict[str, str]) -> None:
    """Drop the stored outputs and the doctrees of the pages whose inputs changed."""
    from jupyter_cache import get_cache

    pages = [page for page, inputs in now.items() if page not in ("site", "sources") and before.get(page) != inputs]
    stale = {str((root / page).resolve()) for page in pages}
    if (root / "_build" / ".jupyter_cache").exists():
        store = get_cache(root / "_build" / ".jupyter_cache")
        for entry in store.list_cache_records():
            if str(Path(entry.uri).resolve()) in stale:
                store.remove_cache(entry.pk)
    for page in pages:
        (doctrees / page).with_suffix(".doctree").unlink(missing_ok=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--preview"]:
        prepare_preview()
    else:
        sys.exit(build(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT))
