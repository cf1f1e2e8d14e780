"""The rooms of the chapters: claims, exercises, figures, widgets, and what else one chapter alone owns."""

from __future__ import annotations

import pkgutil
from fnmatch import fnmatchcase
from importlib import import_module
from types import ModuleType

TRAINS = ("experiments*", "measures", "task", "diagonal_rnn", "offset_head", "grid_reader")
"""The modules of a room that a trained number depends on; the other ones say and show what came out."""


def modules(pattern: str) -> list[ModuleType]:
    """Import the modules of all rooms whose own name matches, such as "claims_*"; in the order of the rooms."""
    return [
        import_module(f"{room.name}.{module.name}")
        for room in pkgutil.iter_modules(__path__, f"{__name__}.")
        for module in pkgutil.iter_modules(import_module(room.name).__path__)
        if fnmatchcase(module.name, pattern)
    ]
