"""The arguments that build a rotary embedding, found by the names of the parameters.

What a parameter has no default for is looked up first in the constructors of the classes beside it: a model says there
how wide its heads are, and which part of a head each axis turns. Only what no class says is chosen here.

>>> def tables(dim: int, end: int, theta: float): ...
>>> arguments(tables, width=64).given
{'dim': 64, 'end': 2048, 'theta': 10000.0}
>>> def other(dim, kernel): ...
>>> arguments(other, width=64)
Traceback (most recent call last):
rope_lab.audit.foreign_code.TargetError: other needs kernel, and no class beside it has a default for that; set it
"""

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rope_lab.audit.foreign_code import TargetError, parameters_of

WIDTHS = (
    "dim",
    "dims",
    "head_dim",
    "embed_dim",
    "attention_head_dim",
    "hidden_size",
    "n_elem",
    "rotary_dim",
    "rotated_dims",
    "d",
)
AXES = ("axes_dim", "axes_dims", "rope_axes_dim", "rope_dim", "axes_dims_rope")
BASES = ("theta", "base", "rope_theta", "max_wavelength", "max_period")
LENGTHS = (
    "seq_len",
    "seq_length",
    "length",
    "end",
    "max_seq_len",
    "max_len",
    "max_seq_length",
    "max_position_embeddings",
    "max_input_length",
    "context_length",
)
PATCHES = ("patch_size", "patch_size_t")
COUNTS = ("ndim", "n_dims", "num_axes")  # of the axes of the positions
BUILDS = re.compile(r"^_?(pre)?(compute|build|get|make|create)\w*(freqs_cis|rope|rotary|cos_sin)", re.IGNORECASE)
LONGEST = 2048  # tokens, where a table has an end
KINDS = (WIDTHS, AXES, BASES, PATCHES)  # within one kind the names mean the same


@dataclass(frozen=True)
class Arguments:
    """Values for the required parameters, and in words who says so."""

    given: dict[str, Any]
    about: str


def builds_tables(name: str, parameters: Iterable[str]) -> bool:
    """Whether a function, by its name and its required parameters, makes the tables of a rotary embedding.

    >>> builds_tables("precompute_freqs_cis", ["dim", "end"]), builds_tables("get_rope_config", ["name"])
    (True, False)
    """
    return bool(BUILDS.search(name)) and any(parameter in WIDTHS for parameter in parameters)


def arguments(
    made: Any, *, width: int, asked: bool = False, settings: dict[str, Any] | None = None, later: tuple[str, ...] = ()
) -> Arguments:
    """Values for the parameters of a class or a function that have no default.

    Args:
        made: What is built, or called.
        width: The width of a head, where no class beside it has one.
        asked: Whether this width was asked for, and goes before what the classes beside it say.
        settings: Values by name that go before all others.
        later: Parameters that are given with each call, such as the positions.

    Raises:
        TargetError: If a required parameter has no known meaning, with its name.
    """
    settings = settings or {}
    given: dict[str, Any] = {}
    owners: dict[str, list[str]] = {}
    for name, parameter in required(made).items():
        if name in settings or name in later:
            continue
        found = None if asked and name in (*WIDTHS, *AXES) else _beside(made, name, several=_several(parameter))
        if found is not None and name not in PATCHES:
            given[name], owner = found
            owners.setdefault(owner, []).append(name)
        else:
            given[name] = _chosen(made, name, parameter, width)
    axes = next((len(value) for name, value in (given | settings).items() if name in AXES), 3)
    given |= {name: value[:1] * axes for name, value in given.items() if name in PATCHES and isinstance(value, tuple)}
    said = [f"{', '.join(names)} as {owner}() sets it" for owner, names in owners.items()]
    free = [f"{n}={given[n]}" for n in given if n not in LENGTHS and not any(n in names for names in owners.values())]
    return Arguments(given | settings, "; ".join([*said, *([f"built with {', '.join(free)}"] if free else [])]))


def required(made: Any) -> dict[str, inspect.Parameter]:
    """The parameters that must be given, by name."""
    try:
        parameters = parameters_of(made).items()
    except (TypeError, ValueError) as error:
        raise TargetError("it does not say what its parameters are; wrap it as f(x, positions)") from error
    open_ended = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {n: p for n, p in parameters if p.default is p.empty and p.kind not in open_ended}


def _several(parameter: inspect.Parameter) -> bool:
    """Whether a value for each axis is wanted."""
    said = parameter.annotation if isinstance(parameter.annotation, str) else str(parameter.annotation)
    return parameter.name in AXES or any(word in said.lower() for word in ("list", "tuple", "sequence"))


def _beside(made: Any, name: str, *, several: bool) -> tuple[Any, str] | None:
    """The default for a parameter of this meaning that a class of the module has, and the name of that class."""
    kind = next((kind for kind in KINDS if name in kind), (name,))
    for owner, parameters in _constructors(made):
        for other in (name, *kind):
            value = parameters[other].default if other in parameters else None
            if several and isinstance(value, tuple | list) and all(type(part) is int for part in value):
                return tuple(value), owner
            if not several and type(value) in (int, float) and other not in ("dim", "hidden_size", "embed_dim"):
                return value, owner  # those three are the width of a model in most classes
    return None


def _constructors(made: Any) -> Iterator[tuple[str, Any]]:
    home = sys.modules.get(made.__module__)
    for name, owner in list(vars(home).items()) if home else []:
        if inspect.isclass(owner) and owner is not made and owner.__module__ == made.__module__:
            try:
                yield name, parameters_of(owner)
            except (TypeError, ValueError):
                continue


def _chosen(made: Any, name: str, parameter: inspect.Parameter, width: int) -> Any:
    several = _several(parameter)
    if name in AXES or (name in WIDTHS and several):
        side = 2 * (width // 6)
        return (width - 2 * side, side, side)
    if name in WIDTHS:
        return width
    if name in BASES:
        return 10000.0
    if name in LENGTHS:
        return LONGEST
    if name in PATCHES:
        return (1, 1, 1) if several else 1
    if name in COUNTS:
        return 2
    if parameter.annotation in (bool, "bool"):
        return False
    raise TargetError(f"{made.__name__} needs {name}, and no class beside it has a default for that; set it")
