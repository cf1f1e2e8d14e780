"""The score sheet of a session: which exercises were answered, after how many tries."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

_ANSWERED: dict[str, tuple[int, bool]] = {}  # by exercise: tries until it was right, or so far; whether it was right


@dataclass(frozen=True)
class Scores:
    """The exercises that were answered in a session: tries until the first right answer, and whether there was one."""

    answered: Mapping[str, tuple[int, bool]]

    def as_csv(self) -> str:
        """A line for each exercise: its id, 1 where it is right and 0 where it is not yet, and the tries."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(("exercise", "right", "tries"))
        table.writerows((name, int(right), tries) for name, (tries, right) in self.answered.items())
        return text.getvalue()

    def __repr__(self) -> str:
        right = sum(right for _, right in self.answered.values())
        lines = [f"{right} of {len(self.answered)} answered exercises are right"]
        lines += [f"  {'✓' if right else '✗'} {name}  tries: {tries}" for name, (tries, right) in self.answered.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def scores() -> Scores:
    """The score sheet of this session, in the order of the first answers.

    Empty functions and predictions are no answers. ``scores().as_csv()`` is the sheet for a spreadsheet.

    Returns:
        The exercises that `check` was given an answer to since Python started.

    >>> scores().as_csv().splitlines()[0]
    'exercise,right,tries'
    """
    return Scores(dict(_ANSWERED))


def note(name: str, *, right: bool) -> None:
    """Write down an answer; tries after the first right one do not count."""
    tries, before = _ANSWERED.get(name, (0, False))
    _ANSWERED[name] = (tries + (not before), before or right)
