"""The code cells of a page: which of them run in it, what each needs, and which of those above run before it."""

import ast
import functools
import re
from pathlib import Path
from typing import Any

from book._ext import page_inputs

MODULES = {  # of each bundle what is imported by its name
    "numpy": ["numpy"],
    "scipy": ["scipy"],
    "sympy": ["sympy", "mpmath"],
    "matplotlib": ["matplotlib"],
    "hypothesis": ["hypothesis"],
    "rope_lab": ["rope_lab", "jaxtyping"],
    "rooms": ["rope_lab.chapters"],
}
HIDDEN = {"remove-input", "remove-cell"}  # what is folded, a reader may open
OPTIONS = re.compile(r"^:tags:\s*\[(.*)\]", re.MULTILINE)
FENCE = re.compile(r"^```{code-cell}.*\n((?::.*\n)*)\n*((?s:.*?))^```", re.MULTILINE)


def cells_of(page: Path) -> list[dict[str, Any]]:
    """The code cells of a page in order: their text, and whether a reader sees it."""
    found = []
    for options, code in FENCE.findall(page.read_text(encoding="utf-8")):
        tags = OPTIONS.search(options)
        hidden = bool(tags and HIDDEN & {tag.strip() for tag in tags[1].split(",")})
        found.append({"code": code.rstrip("\n"), "hidden": hidden})
    return found


def needed(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cells that a reader sees, and of the others those whose names or changes a later one of these reads."""
    codes = [cell["code"] for cell in cells]
    bodies, variables = functions(codes), {name for code in codes for name in assigned(code)}
    kept, read = [], set()
    for cell in reversed(cells):
        used = touched(cell["code"], bodies)
        if not cell["hidden"] or (stored(cell["code"]) | (used & variables)) & read:
            kept.append(cell)
            read |= used
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
    codes = [cell["code"] for cell in cells]
    bodies, variables = functions(codes), {name for code in codes for name in assigned(code)}
    used = [touched(code, bodies) for code in codes]
    whole: list[dict[str, Any]] = []
    for at, (cell, answer) in enumerate(zip(cells, answers, strict=True)):
        reads, after, why = used[at], [], answer["why"]
        for above in range(at - 1, -1, -1):
            broken = whole[above]["why"]
            if broken and used[above] & reads & set(answer.get("drawn", ())):
                why = why or broken
            if not broken and (stored(codes[above]) | (used[above] & variables)) & reads:
                after.append(above)
                reads = reads | used[above]
        needs = bundles(set(page_inputs.imports(cell["code"])), cell["code"], root)
        whole.append({**cell, "needs": needs, "why": why, "after": after[::-1]})
    return whole


def functions(codes: list[str]) -> dict[str, set[str]]:
    """The functions and classes that some cells define, each with the names that its body reads."""
    defined = (ast.FunctionDef, ast.ClassDef)
    nodes = [node for code in codes for node in ast.walk(ast.parse(code)) if isinstance(node, defined)]
    return {node.name: loaded(node) for node in nodes}


def touched(code: str, bodies: dict[str, set[str]]) -> set[str]:
    """The names that some code reads, and those that the functions read which it names."""
    found, waiting = set(), loaded(ast.parse(code))
    while waiting:
        found |= waiting
        waiting = {name for one in waiting for name in bodies.get(one, ())} - found
    return found


def loaded(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def stored(code: str) -> set[str]:
    """The names that some code binds: variables, functions and modules."""
    nodes = list(ast.walk(ast.parse(code)))
    found = assigned(code) | {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    aliases = [alias for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
    return found | {(alias.asname or alias.name).partition(".")[0] for alias in aliases}


def assigned(code: str) -> set[str]:
    """The names that some code assigns: variables, no functions and no modules."""
    return {
        node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
