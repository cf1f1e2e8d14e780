"""Which claims notice that a piece of the package was broken: by their checks alone, without their witnesses."""

from collections.abc import Iterable
from dataclasses import replace

from rope_lab.claims import Claim, load, run, select

load()  # whole, before a test breaks what its claims are made of


def failing(pattern: str) -> set[str]:
    """Of the claims that the pattern selects, those that fail."""
    return {entry.id for entry in select(pattern) if _fails(entry)}


def holding(names: Iterable[str]) -> set[str]:
    """Of the claims with these ids, those that do not fail."""
    return {name for name in names if not _fails(load()[name])}


def _fails(entry: Claim) -> bool:
    return run(replace(entry, computed=None)).failed
