"""What the command `exercises` does once its command line has been read."""

from __future__ import annotations

import inspect
import re

from rope_lab.errors import ArgumentError, near
from rope_lab.exercises.core import Exercise, Question, load


def sheet(chapter: str | None, *, answers: bool) -> None:
    """Print the exercises as Markdown, of one chapter or of all; with their answers where these are asked for."""
    every = load()
    prefixes = list(dict.fromkeys(name.partition(".")[0] for name in every))
    number = re.fullmatch(r"(?:ch)?([0-9]{1,9})", chapter or "")
    wanted = f"ch{int(number[1]):02d}" if number else chapter
    if wanted is not None and wanted not in prefixes:
        raise ArgumentError(f"expected a chapter such as ch03 or 3, got {chapter!r:.80}{near(wanted, prefixes)}")
    for place, item in enumerate(one for name, one in every.items() if wanted in (None, name.partition(".")[0])):
        print("\n".join([f"## {place + 1}. {item.id}", "", *_asked(item), *(_answer(item) if answers else ()), ""]))


def _asked(item: Exercise) -> list[str]:
    if isinstance(item, Question):
        return [inspect.cleandoc(item.prompt), "", *(f"- {letter}. {text}" for letter, text in item.lettered)]
    return [inspect.cleandoc(item.statement), "", "```python", f"def {item.signature}: ...", "```"]


def _answer(item: Exercise) -> list[str]:
    if isinstance(item, Question):
        return ["", f"**Answer: {item.shown_answer}.** {item.why}"]
    return ["", "**Answer**", "", "```python", item.source, "```", *(["", item.why] if item.why else ())]
