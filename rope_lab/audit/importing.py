"""What a target MODULE:NAME names, or why it is not to be had.

>>> find("math:sqrt")(9)
3.0
"""

import warnings
from importlib import import_module
from typing import Any


class Skipped(Exception):  # noqa: N818 - a reason, not a fault
    """Why a target cannot be audited here."""


def find(target: str) -> Any:
    """The object that ``package.module:name`` names; `Skipped` with the reason where it is not to be had."""
    module, colon, name = target.partition(":")
    if not all(module.split(".")) or not colon or not name:
        raise ValueError(f"target: expected MODULE:NAME, got {target!r}; such as my_package.rope:apply_rotary")
    if set(module) & set("/\\"):
        raise ValueError(
            f"target: expected MODULE:NAME, got the path {target!r}; stand in its folder and name the file without .py"
        )
    try:
        with warnings.catch_warnings():  # what a library says of its own insides at import is not our reader's matter
            warnings.simplefilter("ignore")
            found = import_module(module)
    except (Exception, SystemExit) as error:  # what a module does at its import is not ours: it is told, not raised
        missing = isinstance(error, ModuleNotFoundError) and error.name == module.partition(".")[0]
        said = str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
        reason = "is not installed" if missing else f"cannot be imported: {' '.join(said.split())[:100]}"
        raise Skipped(f"{module.partition('.')[0]} {reason}") from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise Skipped(f"{module} has no {name}")
        found = getattr(found, part)
    return found
