"""The rooms of the chapters: claims, exercises, figures, widgets, and what else one chapter alone owns."""

from __future__ import annotations

import pkgutil
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from types import ModuleType

TRAINS = ("experiments*", "measures", "task", "diagonal_rnn", "offset_head", "grid_reader")
"""The modules of a room that a trained number depends on; the other ones say and show what came out."""


def modules(pattern: str) -> list[ModuleType]:
    """Import the modules of all rooms whose own name matches, such as "claims_*"; in the order of the rooms."""
    return [import_module(name) for name in _names(*__path__) if fnmatchcase(name.rpartition(".")[2], pattern)]


@cache
def _names(*folders: str) -> list[str]:
    """The modules of all rooms: a process looks for them once, since the ledger is asked for thousands of times."""
    return [
        f"{room.name}.{module.name}"
        for room in pkgutil.iter_modules(folders, f"{__name__}.")
        for module in pkgutil.iter_modules(import_module(room.name).__path__)
    ]
