"""A list of targets for `rope-lab audit`: a target and its settings on each line, and going on where it stopped.

>>> parse("my_package.rope:Rotary layer_type=far rope_theta=5e5  # a remark")
Question(target='my_package.rope:Rotary', settings={'layer_type': 'far', 'rope_theta': 500000.0})
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rope_lab.audit.importing import expect_target
from rope_lab.commands.audit_process import Auditor
from rope_lab.errors import ArgumentError, FileError
from rope_lab.training.files import reason

OURS = ("target", "name", "limit")  # arguments of `audit` that are no settings


@dataclass(frozen=True)
class Question:
    """A target and the settings that it is asked under."""

    target: str
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The same question has the same key, in this run and in another one."""
        return json.dumps([self.target, self.settings], sort_keys=True)


def read_settings(changes: Iterable[str]) -> dict[str, Any]:
    """NAME=VALUE as a dict; a value is JSON where it can be read so, otherwise text.

    Raises:
        ValueError: If a change has no such form, or names what is no setting.

    >>> read_settings(["axis=0", "rope_type=yarn", "sections=[16, 24, 24]"])
    {'axis': 0, 'rope_type': 'yarn', 'sections': [16, 24, 24]}
    """
    found: dict[str, Any] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals or not name.isidentifier() or name in OURS:
            raise ArgumentError(f"--set: expected NAME=VALUE, got {change!r}; such as layer_type=full_attention")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def parse(line: str) -> Question | None:
    """One line of a list: MODULE:NAME, then NAME=VALUE for each setting. None for an empty line or a remark.

    Raises:
        ValueError: If the line has another form.
    """
    words = line.partition("#")[0].split()
    if not words:
        return None
    expect_target(words[0])
    return Question(words[0], read_settings(words[1:]))


def read_targets(path: Path) -> list[Question]:
    """The questions of a file. Raises `FileError` if it cannot be read, ValueError if a line has another form."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        said = reason(error) if isinstance(error, OSError) else "no text in UTF-8"
        raise FileError(f"--targets: expected a file with MODULE:NAME on each line, got {path}: {said}") from error
    found = []
    for number, line in enumerate(lines, 1):
        try:
            question = parse(line)
        except ArgumentError as error:
            raise ArgumentError(f"{path}, line {number}: {error}") from error
        if question:
            found.append(question)
    return found


def answered(path: Path | None) -> set[str]:
    """The keys of the questions whose answers a file of JSON lines has. A last line that was cut off does not count."""
    if path is None or not path.exists():
        return set()
    found = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
            found.add(Question(row["target"], row["settings"]).key)
        except (ValueError, KeyError, TypeError):
            continue
    return found


def ask_all(questions: Iterable[Question], *, auditor: Auditor, done: set[str]) -> Iterator[list[dict[str, Any]]]:
    """The answers to each question that is not done, in order; their rows say target and settings."""
    for question in questions:
        if question.key in done:
            continue
        done.add(question.key)
        answers = auditor.ask(question.target, **question.settings)
        for seen in answers:
            seen["row"] = {"target": question.target, "settings": question.settings} | seen["row"]
        yield answers
