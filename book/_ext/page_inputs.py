"""What a page is made from: the modules that its code imports, what these import in turn, and the files beside them.

The build asks whether a page must be executed again, and the extension ``claim_results`` whether a claim must be run
again. Both compare a digest of these files with that of the last time.
"""

import ast
import functools
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

DISCOVERED = {  # what finds modules in the rooms of the chapters, and what these are called
    "rope_lab.claims.ledger": "claims_*.py",
    "rope_lab.exercises.core": "exercises.py",
    "rope_lab.training.experiments.catalogue": "experiments*.py",
    "rope_lab.training.run.measures": "measures.py",
}
SITE = ("_config.yml", "_toc.yml", "pyproject.toml", "requirements.txt", "rope_lab", "proofs/theorems.json")
SITE += ("tests/chaos.json", *(f"book/{name}" for name in ("_ext", "_static", "live", "references.bib")))
CELL = re.compile(r"^```{code-cell}.*\n(?::.*\n)*((?s:.*?))^```", re.MULTILINE)  # without its options


def inputs_of_pages(root: Path) -> dict[str, str]:
    """A digest for each executed page, one for what the whole site depends on, and one for the pages themselves."""
    pages = {str(page.relative_to(root)): digest(inputs_of(page, root)) for page in executed_pages(root)}
    return {**pages, "site": digest(files(root, SITE)), "sources": digest(files(root, ["book", "notebooks"]))}


def executed_pages(root: Path) -> list[Path]:
    """The notebooks, and the pages that hold code cells."""
    pages = [*root.glob("notebooks/*.ipynb"), *(p for p in root.glob("book/*.md") if "{code-cell}" in p.read_text())]
    return sorted(pages)


def inputs_of(page: Path, root: Path) -> set[Path]:
    """The page's modules, what they import in turn, and the scripts and data that lie beside them."""
    code = [as_python(cell) for cell in cells(page)]
    modules = {name for cell in code for name in imports(cell)}
    if "rope_lab" in modules:
        return set(files(root, ["rope_lab"]))  # it may use any part of the package
    cards = any("benchmarks/cards" in cell for cell in code)
    return module_inputs(modules, root) | set(files(root, ["benchmarks", "rope_lab/nn"]) if cards else ())


def cells(page: Path) -> list[str]:
    """The code cells of a notebook or of a page in Markdown."""
    text = page.read_text()
    if page.suffix == ".ipynb":
        return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return CELL.findall(text)


def as_python(cell: str) -> str:
    """A cell in plain Python: lines that start with % or ! become calls, a cell that starts with %% keeps its body."""
    from IPython.core.inputtransformer2 import TransformerManager  # the trial of the pages has none

    return TransformerManager().transform_cell(re.sub(r"\A%%.*\n", "", cell))


def module_inputs(modules: set[str], root: Path, *, discovered: Mapping[str, str] = DISCOVERED) -> set[Path]:
    """The files of some modules, what these import in turn, and the scripts and data that lie beside them."""
    waiting, inputs = set(modules), set()
    while waiting:
        new = module_files(waiting.pop(), root, discovered)
        for source in new - inputs:
            waiting |= imports(source.read_text()) - {"rope_lab"}
            inputs |= beside(source)
            if source.name == "cards.py":
                inputs |= set(files(root, ["rope_lab/results"]))
        inputs |= new
    return inputs


def module_files(name: str, root: Path, discovered: Mapping[str, str]) -> set[Path]:
    """The file of a module and those that it finds in the rooms; or the file of what a folder hands on by that name."""
    path = root.joinpath(*name.split("."))
    own = {p for p in (path.with_suffix(".py"), path / "__init__.py") if p.exists()}
    if own and name in discovered:
        return own | set(root.glob(f"rope_lab/chapters/*/{discovered[name]}"))
    if not own and (path.parent / "__init__.pyi").exists():
        return {
            source for home in homes(path.name, path.parent, root) for source in module_files(home, root, discovered)
        }
    return own


def beside(source: Path) -> set[Path]:
    """The scripts and data beside a module; in the room of a chapter those of its own name, and of a widget all."""
    own = "chapters" in source.parts and not source.with_suffix(".js").exists()
    near = {p for p in source.parent.iterdir() if p.is_file() and p.suffix != ".py"}
    return {p for p in near if p.stem == source.stem} if own else near


def homes(name: str, folder: Path, root: Path) -> set[str]:
    """The module that a folder hands on under this name, or whose object it is, by the stub of the folder."""
    package = ".".join(folder.relative_to(root).parts)
    return {
        home
        for node in ast.walk(ast.parse((folder / "__init__.pyi").read_text()))
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if name == (alias.asname or alias.name)
        for module in [f"{package}.{node.module}" if node.level else node.module]
        for home in (module, f"{module}.{alias.name}")
    }


@functools.cache
def imports(code: str) -> frozenset[str]:
    """The modules of ours that a piece of Python imports, under each name they may have."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            own = {node.module} - {"rope_lab"}  # `from rope_lab import Rotary` uses that name alone
            names |= {*own, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(name for name in names if name.split(".")[0] == "rope_lab")


def files(root: Path, places: Iterable[str]) -> list[Path]:
    """All files in some folders, and some files, in order."""
    found = [p for place in places for p in [root / place, *(root / place).rglob("*")]]
    return sorted(p for p in found if p.is_file() and "__pycache__" not in p.parts)


def digest(paths: Iterable[Path]) -> str:
    """One number for the names and contents of some files."""
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()
