"""Importing a target MODULE:NAME, or saying why that is not possible.

>>> find("math:sqrt")(9)
3.0
"""

import inspect
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from rope_lab.audit.messages import in_a_line
from rope_lab.errors import ArgumentError, RopeLabError


class TargetError(RopeLabError):
    """Why a target cannot be audited here; ``choices`` where one setting with one of these values mends it."""

    def __init__(self, reason: str, choices: tuple[str, tuple[Any, ...]] | None = None) -> None:
        super().__init__(reason)
        self.choices = choices


def expect_target(target: str) -> tuple[str, str]:
    """Module and name of a target. Raises ValueError if it is not of the form MODULE:NAME."""
    module, colon, name = target.partition(":")
    if not all(module.split(".")) or not colon or not name:
        raise ArgumentError(f"target: expected MODULE:NAME, got {target!r}; such as my_package.rope:apply_rotary")
    if set(module) & set("/\\"):
        raise ArgumentError(
            f"target: expected MODULE:NAME, got the path {target!r}; stand in its folder and name the file without .py"
        )
    return module, name


def find(target: str) -> Any:
    """The object that ``package.module:name`` names.

    Raises:
        ValueError: If target is not of the form MODULE:NAME.
        TargetError: If the module cannot be imported or has no such name, with the reason.
    """
    module, name = expect_target(target)
    try:
        with warnings.catch_warnings():  # a library's own warnings at import are of no use to our reader
            warnings.simplefilter("ignore")
            item: Any = import_module(module)
    except (Exception, SystemExit) as error:  # whatever a module raises at its import becomes the reason
        missing = isinstance(error, ModuleNotFoundError) and error.name == module.partition(".")[0]
        said = str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
        reason = "is not installed" if missing else f"cannot be imported: {in_a_line(said)}"
        if "torchvision::" in said:  # its operators are not there: it was built against another torch
            reason = "cannot be imported: torch and torchvision are of different builds; install both from one source"
        raise TargetError(f"{module.partition('.')[0]} {reason}") from error
    for part in name.split("."):
        if not hasattr(item, part):
            raise TargetError(f"{module} has no {name}")
        item = getattr(item, part)
    return item


def parameters_of(made: Any) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function or class, by name; an annotation that names nothing here is text."""
    try:
        return inspect.signature(made).parameters
    except NameError:  # Python 3.14 evaluates annotations only now, also those whose names a type checker alone imports
        import annotationlib

        as_text: dict[str, Any] = {"annotation_format": annotationlib.Format.STRING}
        return inspect.signature(made, **as_text).parameters
