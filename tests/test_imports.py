"""Who may import whom: the table of folders, enforced on every module of the package, and each rule proven to bite."""

import ast
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import rope_lab
from rope_lab import chapters

PACKAGE = Path(rope_lab.__file__).parent

# What of ours a subpackage may import, beside itself; what stands in OPEN all may. A name reaches everything below it,
# and of two lines that fit a module the longer one counts. "chapters" is the finder alone: no module of the library or
# of the kit knows a room.
OPEN = ("errors", "lazy", "processes", "reading")
BASICS = ("training.fields", "training.files")  # small helpers of training, for the standard library alone
RUN = ("algebra", "nn", "training.data", "training.results.cards", "chapters", *BASICS)
ALLOWED = {
    "algebra": (),
    "nn": ("algebra",),
    "audit": ("algebra",),
    "exercises": ("algebra", "chapters"),
    "story": ("algebra", "nn"),
    "training": (),
    "training.data": BASICS,
    "training.run": RUN,
    "training.experiments": (*RUN, "training.run"),
    "training.results": ("algebra", "training.data", "training.run", "training.experiments", *BASICS),
    "claims": ("algebra", "chapters"),
    "show": ("algebra", "story", "training.results"),
    "chapters": (),
    "commands": ("everything",),
    "cli": ("everything",),
    "__main__": ("everything",),
    **dict.fromkeys(OPEN, ()),
}
# What a module of a room may import beside its own room, by its name; the first line that fits counts.
ROOMS = {
    "claims_*": ("algebra", "nn", "audit", "story", "claims", "training.results", "training.run.learner"),
    **dict.fromkeys(chapters.TRAINS, ("algebra", "nn", "training")),
    "*": ("everything",),
}
PLOTTING = {"matplotlib", "ipywidgets", "anywidget", "IPython", "traitlets"}
FORBIDDEN = {"algebra": {"torch"}, "nn": PLOTTING, "story": PLOTTING, "training": PLOTTING}  # third parties
# Result cards are read where torch must not load; importing them runs the __init__ of each folder above them. What
# stands here needs the standard library and what else stands here.
STDLIB_ONLY = {
    "rope_lab",
    "rope_lab.errors",
    "rope_lab.lazy",
    "rope_lab.processes",
    "rope_lab.reading",
    "rope_lab.training",
    "rope_lab.training.fields",
    "rope_lab.training.files",
    "rope_lab.training.results",
    "rope_lab.training.results.cards",
}


def read(folder):
    """Module name -> source of every module in a package folder, as ``rope_lab.subpackage.name``."""
    sources = {}
    for path in sorted(folder.rglob("*.py")):
        parts = ("rope_lab", *path.relative_to(folder).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        sources[name] = (path.read_text(encoding="utf-8"), parts[-1] == "__init__")
    return sources


def imports(name, source, is_package, modules):
    """Every module that ``source`` imports, wherever the line stands."""
    home = name.split(".") if is_package else name.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = home[: len(home) - node.level + 1] if node.level else []
            target = ".".join([*start, *([node.module] if node.module else [])])
            for alias in node.names:  # from a.b import c: a.b.c where that is a module, else a.b
                yield f"{target}.{alias.name}" if f"{target}.{alias.name}" in modules else target


def looks_up(source):
    """Every module that ``source`` asks for by a literal name: import_module("a.b"). No part of a circle at import."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                yield node.args[0].value


def violations(sources):
    """One sentence for each broken rule."""
    graph, found = {}, []
    for name, (source, is_package) in sources.items():
        subpackage = _subpackage(name)
        if subpackage is None:
            found.append(f"{name}: no subpackage of this name in the table")
            continue
        targets = set(imports(name, source, is_package, sources))
        graph[name] = {t for t in targets if t in sources and t != name}
        for target in sorted(targets.union(looks_up(source))):
            top, _, rest = target.partition(".")
            light = top in sys.stdlib_module_names or target in STDLIB_ONLY
            if name in STDLIB_ONLY and not light:
                found.append(f"{name} imports {target}: only the standard library may load here")
            elif top != "rope_lab" and top in FORBIDDEN.get(subpackage.partition(".")[0], ()):
                found.append(f"{name} imports {target}: forbidden in {subpackage}")
            elif top == "rope_lab" and subpackage and not _may(name, rest):
                rule = ", ".join(_row(name)) or "nothing of ours"
                found.append(f"{name} imports {target}: {_place(name)} may import {rule}")
    for name in graph:
        if _place(name).startswith("chapters.") and not _shows_may(name):
            shown = [m for m in sorted(_reached(name, graph)) if _shows(m, sources, but="show" if m == name else "")]
            found += [f"{name} reaches {shown[0]}, which shows: {_place(name)} may not"] if shown else []
        if _place(name).removeprefix("chapters.") in chapters.TRAINS:
            others = sorted(m for m in graph[name] if _place(m) in ("chapters.*", "chapters.claims_*"))
            found += [f"{name} imports {m}: expected a module that chapters.TRAINS names" for m in others]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found.append(f"circle: {' -> '.join(error.args[1])}")
    return found


def _subpackage(name):
    """The longest line of the table that a module falls under; "" for the package itself, None where there is none."""
    inside = name.partition(".")[2]
    fitting = [line for line in ALLOWED if f"{inside}.".startswith(f"{line}.")]
    return max(fitting, key=len) if fitting else ("" if not inside else None)


def _room(name):
    """The room that a module lies in; "" elsewhere."""
    found = re.match(r"(?:rope_lab\.)?chapters\.(\w+)", name)
    return found[1] if found else ""


def _place(name):
    """The line of a table that a module falls under."""
    if not _room(name):
        return _subpackage(name)
    own = name.split(".")[3:4] or ["__init__"]
    return "chapters." + next(line for line in ROOMS if fnmatchcase(own[0], line))


def _row(name):
    place = _place(name)
    return ROOMS[place.removeprefix("chapters.")] if _room(name) else ALLOWED[place]


def _may(name, target):
    lines = (*OPEN, *_row(name))
    if other := _room(target):
        return other == _room(name)
    if target == "chapters":
        return "chapters" in lines or "everything" in lines
    if "everything" in lines or (not _room(name) and _subpackage(f"rope_lab.{target}") == _place(name)):
        return True
    return any(f"{target}.".startswith(f"{line}.") for line in lines)


def _shows_may(name):
    return _row(name) == ("everything",)


def _reached(name, graph):
    """The modules of its room that a module imports, and what these import in turn."""
    waiting, found = [name], set()
    while waiting:
        found.add(here := waiting.pop())
        waiting += [m for m in graph.get(here, ()) if _room(m) and _room(m) == _room(name) and m not in found]
    return found


def _shows(name, sources, *, but):
    """A module imports the kit of pictures, or a package that plots; ``but`` names what its row has refused already."""
    kits = {"show", *PLOTTING} - {but}
    return any(t.removeprefix("rope_lab.").partition(".")[0] in kits for t in imports(name, *sources[name], sources))


def test_the_package_keeps_the_table():
    assert not violations(read(PACKAGE))


def test_the_table_has_every_subpackage():
    inits = [*PACKAGE.glob("*/__init__.py"), *PACKAGE.glob("training/*/__init__.py")]
    folders = {".".join(path.parent.relative_to(PACKAGE).parts) for path in inits}
    assert folders == set(ALLOWED) - {"cli", "__main__", *OPEN}


PLANTED = {
    "algebra imports ours": ("algebra/bad.py", "from rope_lab.claims import claim", "may import nothing of ours"),
    "algebra imports torch": ("algebra/bad.py", "import torch.nn", "forbidden in algebra"),
    "in a function": ("algebra/bad.py", "def f():\n    from torch import nn", "forbidden in algebra"),
    "by a name": ("algebra/bad.py", "import importlib\nimportlib.import_module('torch')", "forbidden in algebra"),
    "nn plots": ("nn/bad.py", "import matplotlib.pyplot as plt", "forbidden in nn"),
    "nn imports training": ("nn/bad.py", "import rope_lab.training.results.cards", "nn may import algebra"),
    "relative": ("nn/bad.py", "from ..audit import laws", "nn may import algebra"),
    "audit imports nn": ("audit/bad.py", "from rope_lab.nn.rotary import rotate", "audit may import algebra"),
    "exercises import show": ("exercises/bad.py", "from rope_lab import show", "exercises may import algebra"),
    "training shows": ("training/bad.py", "import ipywidgets", "forbidden in training"),
    "training imports claims": ("training/run/bad.py", "import rope_lab.claims", "training.run may import"),
    "data imports run": ("training/data/bad.py", "import rope_lab.training.run.x", "training.data may import"),
    "data imports nn": ("training/data/bad.py", "import rope_lab.nn.a", "training.data may import"),
    "run imports experiments": (
        "training/run/bad.py",
        "from rope_lab.training.experiments import x",
        "training.run may",
    ),
    "run imports tables": (
        "training/run/bad.py",
        "from rope_lab.training.results import result_tables",
        "training.run may",
    ),
    "experiments import tables": (
        "training/experiments/bad.py",
        "import rope_lab.training.results.x",
        "experiments may",
    ),
    "beside the folders": ("training/bad.py", "import rope_lab.training.data.x", "training may import nothing of ours"),
    "errors import ours": ("errors.py", "import rope_lab.nn.a", "only the standard library"),
    "errors import numpy": ("errors.py", "import numpy", "only the standard library"),
    "cards import numpy": ("training/results/cards.py", "import numpy", "only the standard library"),
    "cards import ours": ("training/results/cards.py", "import rope_lab.algebra", "only the standard library"),
    "the folder of cards": (
        "training/__init__.py",
        "from rope_lab.training.results import result_tables",
        "only the standard",
    ),
    "claims import training": ("claims/bad.py", "from rope_lab.training.run import loop", "claims may import"),
    "claims import show": ("claims/bad.py", "import rope_lab.show", "claims may import"),
    "the library knows a room": ("nn/bad.py", "from rope_lab.chapters.ch01_a import task", "nn may import"),
    "a finder knows a room": ("claims/bad.py", "import rope_lab.chapters.ch01_a.task", "claims may import"),
    "the library finds": ("nn/bad.py", "from rope_lab import chapters", "nn may import"),
    "another room": (
        "chapters/ch01_a/figures.py",
        "from rope_lab.chapters.ch02_b import task",
        "chapters.* may import",
    ),
    "a room's claims show": ("chapters/ch01_a/claims_x.py", "from rope_lab.show import style", "claims_* may import"),
    "a room's claims plot": (
        "chapters/ch01_a/claims_x.py",
        "import matplotlib",
        "which shows: chapters.claims_* may not",
    ),
    "by another module": ("chapters/ch01_a/claims_x.py", "from . import board", "board, which shows"),
    "what trains plots": ("chapters/ch01_a/task.py", "import matplotlib", "which shows: chapters.task may not"),
    "what trains, by a new name": (
        "chapters/ch01_a/task.py",
        "from rope_lab.chapters.ch01_a import model",
        "expected a module that chapters.TRAINS names",
    ),
    "what trains claims": ("chapters/ch01_a/task.py", "import rope_lab.claims", "task may import"),
    "show imports claims": ("show/bad.py", "import rope_lab.claims", "show may import"),
    "show imports nn": ("show/bad.py", "from rope_lab.nn import rotary", "show may import"),
    "show imports training": ("show/bad.py", "import rope_lab.training", "show may import"),
    "all at once": ("show/bad.py", "import rope_lab", "show may import"),
    "an unknown subpackage": ("cellar/__init__.py", "", "no subpackage of this name"),
    "a heavy package": ("__init__.py", "import numpy", "only the standard library"),
    "a circle": ("nn/a.py", "import rope_lab.nn.b", "circle: "),
}


@pytest.mark.parametrize("name", PLANTED)
def test_control_a_planted_violation_is_reported(name, tmp_path):
    where, source, words = PLANTED[name]
    clean = {
        "__init__.py": "",
        "nn/__init__.py": "",
        "nn/b.py": "from rope_lab.nn import a",
        "nn/a.py": "",
        "training/__init__.py": "",
        "training/results/__init__.py": "",
        "training/results/cards.py": "import json\nimport rope_lab.errors\nfrom rope_lab.training import files",
        "training/files.py": "from rope_lab.errors import RopeLabError",
        "training/results/result_tables.py": "from rope_lab.training.experiments import x",
        "training/experiments/x.py": "from rope_lab.training.run import x\nimport rope_lab.training.results.cards",
        "training/run/x.py": "from rope_lab.training.data import x\nimport rope_lab.training.results.cards",
        "training/data/x.py": "import rope_lab.errors",
        "errors.py": "",
        "cli.py": "from rope_lab import nn",
        "claims/__init__.py": "from rope_lab.claims import ok",
        "show/__init__.py": "",
        "claims/ok.py": "from rope_lab import chapters\nimport_module('rope_lab.claims')",
        "chapters/__init__.py": "",
        "chapters/ch01_a/__init__.py": "",
        "chapters/ch01_a/board.py": "from rope_lab.show import style",
        "chapters/ch01_a/claims_x.py": "from rope_lab.claims import ok",
        "chapters/ch01_a/model.py": "",
        "chapters/ch01_a/task.py": "",
        "chapters/ch02_b/__init__.py": "",
        "chapters/ch02_b/task.py": "",
    }
    for planted, count in (({}, 0), ({where: source}, 1)):
        for file, text in (clean | planted).items():
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text(text, encoding="utf-8")
        found = violations(read(tmp_path))
        assert len(found) == count, found
    assert words in found[0]


def loaded_by(statement):
    """The modules that a fresh interpreter loads for one statement."""
    code = f"import sys; before = set(sys.modules); {statement}; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


@pytest.mark.deep
def test_the_package_is_light():
    """It loads nothing but itself and the standard library; the parts load what they need when they are named."""
    assert loaded_by("import rope_lab") <= {"rope_lab"} | sys.stdlib_module_names
    assert "torch" not in loaded_by("import rope_lab.algebra.rotation")
    assert not PLOTTING & loaded_by("import rope_lab.nn.rotary")
    assert loaded_by("import rope_lab.training.results.cards") <= {"rope_lab"} | sys.stdlib_module_names
    assert "torch" not in loaded_by("import rope_lab.training.results.intervals")


def test_control_the_weight_is_seen():
    assert "numpy" in loaded_by("import rope_lab; rope_lab.algebra.rotate")
