"""Hand on a folder's public names, each loaded when it is first used."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

from rope_lab.errors import MissingPackageError


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the ``__getattr__``, ``__dir__`` and ``__all__`` of a folder, from the ``__init__.pyi`` beside it.

    Args:
        package: ``__name__`` of the folder.
        file: ``__file__`` of the folder.
    """
    stub = Path(file).with_name("__init__.pyi")
    homes: dict[str, tuple[str, str]] = {}  # public name -> the module that it stands in, and its name there
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            homes |= {alias.asname or alias.name: (module, alias.name) for alias in node.names}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            return find(name, *homes[name])
        except ModuleNotFoundError as error:
            if (missing := MissingPackageError.of(f"{package}.{name}", error)) is None:
                raise
            raise missing from error

    def find(name: str, module: str, own: str) -> Any:
        if module == package or not hasattr(home := importlib.import_module(module), own):  # it is a module itself
            return importlib.import_module(f"{module}.{own}")
        if name == module.rpartition(".")[2]:  # importing a.f has bound the module to a.f; the function comes before it
            vars(sys.modules[package])[name] = getattr(home, own)
        return getattr(home, own)

    return load, lambda: sorted(homes), sorted(homes)
