"""The atlas: the rotary embeddings that a package defines, found in its sources, and what an audit said of each.

Nothing of the package is imported to find them.

>>> [found.target for found in definitions("rope_lab.nn.recurrence")]
[]
>>> sorted(atlas()[0])
['date', 'library', 'python', 'rows', 'torch', 'version']
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rope_lab.audit.constructions import builds_tables
from rope_lab.audit.foreign_code import TargetError

CLASS = re.compile(r"Rotary|RoPE|Rope(?=[A-Z]|$)")
SPEAKS = re.compile(r"rotary|rope|freqs_cis", re.IGNORECASE)
PLACES = re.compile(r"Pos(ition(al)?)?Emb")
NO_EMBEDDING = re.compile(r"Config|Mixin|Parameters|Test|Output|Error|Attention|Layer$|Block$|Model$|Step$|Function$")
TURNING = re.compile(r"rotate_|apply_\w*(rot|rope)", re.IGNORECASE)  # functions that use the tables
METHODS = {"forward", "__call__", "call"}  # of torch, of a callable, of Keras


@dataclass(frozen=True)
class Definition:
    """A class of rotary embeddings in the sources of a package, or a function that builds their tables.

    ``body`` is a mark of its code and of the functions of its module that turn, without names of classes, annotations
    and documentation: copies have the same one.
    """

    target: str
    file: str
    line: int
    body: str


def definitions(package: str, *, folders: Sequence[str] = ()) -> tuple[Definition, ...]:
    """Every class of a package whose name and methods are those of a rotary embedding, and what builds tables.

    Args:
        package: The name that is imported, such as ``transformers``.
        folders: Where to look too, after Python's path.

    Returns:
        The definitions, in the order of their files and lines; tests of the package are left out.

    Raises:
        TargetError: If no such package is installed here.
    """
    found: list[Definition] = []
    for root in _folders(package, folders):
        for path in sorted(root.rglob("*.py")):
            inside = path.relative_to(root)
            if {"tests", "testing"} & set(inside.parts) or path.name.startswith("modular_"):
                continue  # transformers writes its modeling files from the modular ones
            text = path.read_text(encoding="utf-8", errors="replace")
            if SPEAKS.search(text):
                module = ".".join([package, *inside.with_suffix("").parts]).removesuffix(".__init__")
                found += _classes(text, module, inside.as_posix())
    return tuple(found)


def by_body(found: Iterable[Definition]) -> dict[str, tuple[Definition, ...]]:
    """The definitions that share their code, under the mark of it; the order of the first of each is kept."""
    groups: dict[str, tuple[Definition, ...]] = {}
    for definition in found:
        groups[definition.body] = (*groups.get(definition.body, ()), definition)
    return groups


def _folders(package: str, folders: Sequence[str]) -> list[Path]:
    """The folders in which the sources of a package lie. The packages above it are not imported either."""
    top, *inside = package.split(".")
    try:
        spec = find_spec(top) or PathFinder.find_spec(top, list(folders))
    except ValueError:  # a module that was made without one
        spec = None
    mend = f"name one that lies in {top}" if spec else f"pip install {top.replace('_', '-')}, if it is called so there"
    for number, _ in enumerate(inside, 2):
        name = ".".join(package.split(".")[:number])
        spec = PathFinder.find_spec(name, spec.submodule_search_locations or []) if spec else None
    if spec is None:
        raise TargetError(f"{package}: expected an installed package, got none; {mend}")
    if spec.submodule_search_locations:
        return [Path(folder) for folder in spec.submodule_search_locations]
    raise TargetError(f"{package} is one module and no package: ask rope-lab audit for what it defines")


def _classes(text: str, module: str, file: str) -> Iterator[Definition]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    turning = [node for node in tree.body if isinstance(node, ast.FunctionDef) and TURNING.search(node.name)]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and builds_tables(node.name, _required(node)):
            yield Definition(f"{module}:{node.name}", file, node.lineno, mark(node, *turning))
        if not isinstance(node, ast.ClassDef) or NO_EMBEDDING.search(node.name):
            continue
        if not CLASS.search(node.name) and not _places_by_turning(node):
            continue
        if any(isinstance(part, ast.FunctionDef) and part.name in METHODS for part in node.body):
            yield Definition(f"{module}:{node.name}", file, node.lineno, mark(node, *turning))


def _places_by_turning(node: ast.ClassDef) -> bool:
    """Whether a class for positions calls a function of rotations, such as one that makes the tables of one axis."""
    if not PLACES.search(node.name):
        return False
    called = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
    return any(isinstance(f, ast.Name) and re.search(r"rotary|rope", f.id, re.IGNORECASE) for f in called)


def _required(node: ast.FunctionDef) -> list[str]:
    names = [part.arg for part in (*node.args.posonlyargs, *node.args.args)]
    return names[: len(names) - len(node.args.defaults)]


def mark(*nodes: ast.stmt) -> str:
    """Twelve letters that two pieces of code share if they differ in names of classes, annotations and words alone.

    >>> one, other = (ast.parse(f"class {n}:\\n  def forward(self, x: {n}Config): return x").body[0] for n in "AB")
    >>> mark(one) == mark(other)
    True
    """
    bare = ast.parse("\n".join(map(ast.unparse, nodes)))
    for part in ast.walk(bare):
        if isinstance(part, ast.ClassDef | ast.FunctionDef):
            part.body = [line for line in part.body if not _is_text(line)] or [ast.Pass()]
        if isinstance(part, ast.ClassDef):
            part.name = "Rotary"
        if isinstance(part, ast.FunctionDef):
            part.returns = None
        if isinstance(part, ast.arg):
            part.annotation = None
        if isinstance(part, ast.AnnAssign):
            part.annotation = ast.Constant(None)
    code = re.sub(r"\b[A-Z]\w*(Rotary|RoPE|Rope)\w*", "Rotary", ast.unparse(bare))
    return hashlib.sha256(code.encode()).hexdigest()[:12]


def _is_text(line: ast.stmt) -> bool:
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)


KEPT = (
    "skipped",
    "about",
    "layout",
    "rotated_dims",
    "head_dim",
    "direction",
    "base",
    "scheme",
    "broken_laws",
    "by_design",
    "cautions",
    "not_asked",
    "problems",
)


def row(shared: Sequence[Definition], answered: Definition, seen: dict[str, Any]) -> dict[str, Any]:
    """One row: what an audit said of one code, and every class that shares this code.

    Args:
        shared: All definitions with this code.
        answered: The one that was asked.
        seen: The row of its audit, for one kind of layer.

    Returns:
        A dict that can be written as JSON; of the planes only how many each axis turns is kept.
    """
    kind = seen["name"].removeprefix(answered.target).strip(" []")
    name = answered.target.partition(":")[2]
    found = {
        "name": f"{name} [{kind}]" if kind else name,
        "target": answered.target,
        "file": answered.file,
        "line": answered.line,
    }
    found |= {"body": answered.body, "shared": [d.target for d in shared if d != answered]}
    found |= {key: seen[key] for key in KEPT if key in seen}
    if reason := seen.get("broken_laws", {}).get("answers"):  # called, and it raised: nothing was measured
        return found | {"skipped": f"when it was called, it {reason}"}
    if axes := seen.get("axes"):
        found["axes"] = [{"planes": len(axis["planes"]), "base": axis["base"]} for axis in axes]
    return found


def differences(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> list[str]:
    """The changes between two surveys of one library, a line for each class: new, gone, or another answer.

    Args:
        before: The rows of the older survey.
        after: The rows of the newer one.

    Returns:
        Lines of text, in the order of the names; none if nothing changed.

    >>> row = {"name": "Rotary", "target": "pack.rope:Rotary", "shared": [], "base": 10000.0}
    >>> differences([row], [row | {"base": 500000.0}])
    ['pack.rope:Rotary: base was 10000.0, is 500000.0']
    """
    old, new = _by_class(before), _by_class(after)
    found = [f"{name}: gone" for name in old.keys() - new.keys()] + [f"{name}: new" for name in new.keys() - old.keys()]
    for name in old.keys() & new.keys():
        changes = [
            f"{key} was {old[name].get(key)}, is {new[name].get(key)}"
            for key in KEPT
            if key != "about" and old[name].get(key) != new[name].get(key)
        ]
        if changes:
            found.append(f"{name}: {'; '.join(changes)}")
    return sorted(found)


def _by_class(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Each class of a survey with its row, those that share a code too; kinds of layers stand in brackets."""
    found = {}
    for row in rows:
        kind = row["name"].partition(" ")[2]
        for target in (row["target"], *row["shared"]):
            found[f"{target} {kind}".strip()] = row
    return found


def atlas() -> tuple[dict[str, Any], ...]:
    """The committed files: for each library its version, the date, and ``rows``, one for each distinct code.

    Returns:
        A dict for each library, in the order of their names. No library needs to be installed.
    """
    files = (resources.files("rope_lab.audit") / "data" / "atlas").iterdir()
    found = (json.loads(file.read_text(encoding="utf-8")) for file in files if file.name.endswith(".json"))
    return tuple(sorted(found, key=lambda one: one["library"]))
