"""A docstring of the package that names a claim names one that exists."""

import ast
import re
from pathlib import Path

import rope_lab
from rope_lab.claims import SOURCES, load

PACKAGE = Path(rope_lab.__file__).parent
NAME = re.compile(rf"`((?:{'|'.join(SOURCES)})\.[A-Za-z0-9.-]*[A-Za-z0-9])`")


def docstrings(source: str):
    """Those of a module, and of its classes and functions."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        text
        for node in ast.walk(ast.parse(source))
        if isinstance(node, documented)
        if (text := ast.get_docstring(node))
    ]


def unknown(source: str) -> set[str]:
    """The claims that docstrings name and the ledger does not have."""
    return {name for text in docstrings(source) for name in NAME.findall(text)} - load().keys()


def test_every_claim_that_a_docstring_names_exists():
    found = {
        path.relative_to(PACKAGE).as_posix(): unknown(path.read_text(encoding="utf-8"))
        for path in PACKAGE.rglob("*.py")
    }
    assert {path: names for path, names in found.items() if names} == {}


def test_control_a_claim_that_does_not_exist_is_found():
    source = 'def f():\n    """Claims ``crope.eq11``, `crope.sigma-span` and\n    ``book.nowhere``."""\n'
    assert unknown(source) == {"crope.sigma-span", "book.nowhere"}


def test_docstrings_do_name_claims():
    named = {
        name
        for path in PACKAGE.rglob("*.py")
        for text in docstrings(path.read_text(encoding="utf-8"))
        for name in NAME.findall(text)
    }
    assert len(named) > 100
