"""Which families of the installed transformers are relative: a tiny model of each, moved, as one dated table."""

from collections.abc import Sequence
from typing import Any

from rope_lab.audit.family_tables import LIMIT, Row, ask_families, shipped
from rope_lab.audit.shift_tests import shift_test
from rope_lab.audit.tiny_models import tiny_model


def shift_all(families: Sequence[str] | None = None, *, limit: float = LIMIT) -> dict[str, Any]:
    """Move a tiny model of each family.

    Args:
        families: Their names. Default: all of the installed transformers that have a causal model.
        limit: Seconds that one may take.

    Returns:
        The date, the versions, and ``rows``: for each family its verdict, or why it was skipped.

    Raises:
        MissingPackageError: If transformers is not installed.
    """
    return ask_families(_row, families, limit=limit)


def _row(name: str) -> Row:
    seen = shift_test(tiny_model(name), name=name)
    row = seen.row
    return {
        "model": name,
        "skipped": None,
        "relative": row["relative"],
        "turns": row["turns"],
        "causes": row["causes"],
        "lost": [layer.layer for layer in seen.lost],
        "layers": len(seen.layers) - 1,
        "shifts": row["shifts"],
        "logits": float(f"{row['logits']:.1e}"),
        "rounding": float(f"{row['rounding']:.1e}"),
    }


def shift_results() -> dict[str, Any]:
    """The table as it is shipped: what `rope-lab audit --model all` last measured. transformers need not be installed.

    >>> sorted(shift_results())
    ['date', 'python', 'rows', 'torch', 'transformers']
    """
    return shipped("shift_results.json")


def shift_lines(table: dict[str, Any]) -> list[list[str]]:
    """The rows of such a table in words: family, what a shift changes, where, and why.

    Args:
        table: What `shift_all` or `shift_results` returned.

    Returns:
        Four strings for each row; of a skipped one the second is the reason, and two are empty.
    """
    found = []
    for row in table["rows"]:
        if row["skipped"]:
            found.append([row["model"], f"not asked: {row['skipped']}", "", ""])
            continue
        if not row["relative"]:
            words = f"moves the logits by {row['logits']:.1e}"
        elif not row["turns"] and not row["rounding"]:
            words = "nothing moves"
        else:
            words = f"rounding alone, {row['rounding']:.1e}"
        where = ", ".join("before the first" if i < 0 else str(i) for i in row["lost"])
        found.append([row["model"], words, where, ", ".join(row["causes"])])
    return found
