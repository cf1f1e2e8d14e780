"""A docstring of the package names claims that exist, and begins with a verb or with what is returned."""

import ast
import re
from pathlib import Path

import rope_lab
from rope_lab.claims import SOURCES, load

PACKAGE = Path(rope_lab.__file__).parent
NAME = re.compile(rf"`((?:{'|'.join(SOURCES)})\.[A-Za-z0-9.-]*[A-Za-z0-9])`")
RIDDLE = re.compile(r"\W*(What|How|Where|Which|Why|When|It|That|Those|The same)\b")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(source: str, kinds=(ast.Module, ast.ClassDef, *FUNCTIONS)):
    """The docstrings of a module, and of its classes and functions."""
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds))
    return [text for node in nodes if (text := ast.get_docstring(node))]


def named(source: str) -> set[str]:
    """The claims that the docstrings of a module name."""
    return {name for text in docstrings(source) for name in NAME.findall(text)}


def test_every_claim_that_a_docstring_names_exists():
    names = {path.relative_to(PACKAGE).as_posix(): named(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}
    assert {path: unknown for path, found in names.items() if (unknown := found - load().keys())} == {}
    assert len(set().union(*names.values())) > 100


def test_control_a_claim_that_does_not_exist_is_found():
    source = 'def f():\n    """Claims ``crope.eq11``, `crope.sigma-span` and\n    ``book.nowhere``."""\n'
    assert named(source) - load().keys() == {"crope.sigma-span", "book.nowhere"}


def test_no_docstring_of_a_function_is_a_riddle():
    riddles = {}
    for path in [*PACKAGE.rglob("*.py"), *(PACKAGE.parent / "book").rglob("*.py")]:
        place = path.relative_to(PACKAGE.parent).as_posix()
        riddles[place] = [text for text in docstrings(path.read_text("utf-8"), FUNCTIONS) if RIDDLE.match(text)]
    assert {place: texts for place, texts in riddles.items() if texts} == {}


def test_control_riddles():
    texts = ("What it takes", "The same, now", "``Where`` it is", "Whether it is", "The samples")
    assert [bool(RIDDLE.match(text)) for text in texts] == [True, True, True, False, False]
