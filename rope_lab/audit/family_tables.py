"""One dated table of all families of the installed transformers: a tiny model of each, asked the same question."""

import json
import platform
from collections.abc import Callable, Sequence
from datetime import date
from functools import cache
from importlib import resources
from typing import Any

from rope_lab.audit.foreign_code import TargetError, TimeUpError, time_limit, version
from rope_lab.audit.tiny_models import causal_families

LIMIT = 60.0  # seconds; a family takes one or two
Row = dict[str, Any]


def ask_families(
    ask: Callable[[str], Row],
    families: Sequence[str] | None,
    *,
    limit: float,
    told: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Ask for the row of each family.

    Args:
        ask: From a family's name to its row. A `TargetError` skips the family, and its words stand in the row.
        families: Their names. None: all of the installed transformers that have a causal model.
        limit: Seconds that one may take.
        told: Called with the name of each family when it is done.

    Returns:
        The date, the versions, and ``rows``: what was asked for, or "model" and "skipped", the reason.

    Raises:
        MissingPackageError: If transformers is not installed.

    >>> ask_families(lambda name: {"model": name, "skipped": None}, ["mine"], limit=1)["rows"]
    [{'model': 'mine', 'skipped': None}]
    """
    rows = []
    for name in causal_families() if families is None else families:
        rows.append(_row(ask, name, limit))
        if told:
            told(name)
    return {
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "torch": version("torch"),
        "transformers": version("transformers"),
        "rows": rows,
    }


def _row(ask: Callable[[str], Row], name: str, limit: float) -> Row:
    try:
        with time_limit(limit):
            return ask(name)
    except TargetError as reason:
        return {"model": name, "skipped": str(reason)}
    except TimeUpError:
        return {"model": name, "skipped": f"no answer within {limit:g} seconds"}


def shipped(file: str) -> dict[str, Any]:
    """A table as it is shipped, by its file's name in the package's data. transformers need not be installed."""
    return json.loads(_text(file))


@cache
def _text(file: str) -> str:
    return (resources.files("rope_lab.audit") / "data" / file).read_text(encoding="utf-8")
