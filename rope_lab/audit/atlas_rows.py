"""The atlas: what `rope-lab atlas` measured of every rotary embedding of a library, one file for each library.

>>> sorted(atlas()[0])
['date', 'library', 'python', 'rows', 'torch', 'version']
"""

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from rope_lab.audit.inventory import Definition

KEPT = (
    "skipped",
    "about",
    "layout",
    "rotated_dims",
    "head_dim",
    "direction",
    "base",
    "scheme",
    "broken_laws",
    "by_design",
    "cautions",
)


def row(shared: Sequence[Definition], answered: Definition, seen: dict[str, Any]) -> dict[str, Any]:
    """One row: what an audit said of one code, and every class that shares this code.

    Args:
        shared: All definitions with this code.
        answered: The one that was asked.
        seen: The row of its audit, for one kind of layer.

    Returns:
        A dict that can be written as JSON; of the planes only how many each axis turns is kept.
    """
    kind = seen["name"].removeprefix(answered.target).strip(" []")
    name = answered.target.partition(":")[2]
    found = {
        "name": f"{name} [{kind}]" if kind else name,
        "target": answered.target,
        "file": answered.file,
        "line": answered.line,
    }
    found |= {"body": answered.body, "shared": [d.target for d in shared if d != answered]}
    found |= {key: seen[key] for key in KEPT if key in seen}
    if reason := seen.get("broken_laws", {}).get("answers"):  # called, and it raised: nothing was measured
        return found | {"skipped": f"when it was called, it {reason}"}
    if axes := seen.get("axes"):
        found["axes"] = [{"planes": len(axis["planes"]), "base": axis["base"]} for axis in axes]
    return found


def differences(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> list[str]:
    """What changed between two surveys of one library, a line for each class: new, gone, or another answer.

    Args:
        before: The rows of the older survey.
        after: The rows of the newer one.

    Returns:
        Lines of text, in the order of the names; none if nothing changed.

    >>> row = {"name": "Rotary", "target": "pack.rope:Rotary", "shared": [], "base": 10000.0}
    >>> differences([row], [row | {"base": 500000.0}])
    ['pack.rope:Rotary: base was 10000.0, is 500000.0']
    """
    old, new = _by_class(before), _by_class(after)
    found = [f"{name}: gone" for name in old.keys() - new.keys()] + [f"{name}: new" for name in new.keys() - old.keys()]
    for name in old.keys() & new.keys():
        changes = [
            f"{key} was {old[name].get(key)}, is {new[name].get(key)}"
            for key in KEPT
            if key != "about" and old[name].get(key) != new[name].get(key)
        ]
        if changes:
            found.append(f"{name}: {'; '.join(changes)}")
    return sorted(found)


def _by_class(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Each class of a survey with its row, those that share a code too; kinds of layers stand in brackets."""
    found = {}
    for row in rows:
        kind = row["name"].partition(" ")[2]
        for target in (row["target"], *row["shared"]):
            found[f"{target} {kind}".strip()] = row
    return found


@cache
def _committed() -> tuple[str, ...]:
    folder = resources.files("rope_lab.audit") / "data" / "atlas"
    return tuple(sorted(file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".json")))


def atlas() -> tuple[dict[str, Any], ...]:
    """The committed files: for each library its version, the date, and ``rows``, one for each distinct code.

    Returns:
        A dict for each library, in the order of their names. No library needs to be installed.
    """
    return tuple(sorted((json.loads(text) for text in _committed()), key=lambda found: found["library"]))
