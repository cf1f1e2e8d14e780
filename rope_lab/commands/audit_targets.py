"""A list of targets for `rope-lab audit`: a target and its settings on each line, and going on where it stopped.

>>> parse("my_package.rope:Rotary layer_type=far rope_theta=5e5  # a remark")
Question(target='my_package.rope:Rotary', settings={'layer_type': 'far', 'rope_theta': 500000.0})
"""

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rope_lab.algebra.arguments import expect_even, expect_whole
from rope_lab.audit.far_positions import LEAST
from rope_lab.audit.foreign_code import expect_target
from rope_lab.commands.audit_process import Auditor, folder_of
from rope_lab.errors import ArgumentError, FileError, checking_arguments
from rope_lab.reading import json_text, parse_json, read, reason
from rope_lab.training.files import expect_file, replacing

OURS = ("target", "name", "limit", "window")  # arguments of `audit` that are no settings
TIME_UP = "no answer within"  # how the reason of a row begins that another limit may answer
ROW = '{"target": '  # how each line of our answers begins
NEXT = '", "settings": '  # what follows the target in it
NAMED = re.compile(r'\{"target": "(?:[^"\\]|\\.)*\\?')


@dataclass(frozen=True)
class Question:
    """A target and the settings that it is asked under."""

    target: str
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key of the question, the same in this run and in another one."""
        return json_text([self.target, self.settings], sort_keys=True)


def read_settings(changes: Iterable[str]) -> dict[str, Any]:
    """NAME=VALUE as a dict; a value is JSON where it can be read so, otherwise text.

    Raises:
        ValueError: If a change has no such form, or names what is no setting.

    >>> read_settings(["axis=0", "rope_type=yarn", "sections=[16, 24, 24]"])
    {'axis': 0, 'rope_type': 'yarn', 'sections': [16, 24, 24]}
    """
    settings: dict[str, Any] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals or not name.isidentifier() or name in OURS:
            raise ArgumentError(f"--set: expected NAME=VALUE, got {change!r}; such as layer_type=full_attention")
        try:
            settings[name] = parse_json(value)
        except ArgumentError as error:
            if not isinstance(error.__cause__, json.JSONDecodeError):
                raise ArgumentError(f"--set: expected a value, got {value[:20]}..., {error}") from error
            settings[name] = value
    expect_settings(settings)
    return settings


def expect_writable(out: Path | None) -> None:
    """Find out before the work whether --out can be written, and make its folder."""
    if out is not None:
        expect_file(out, option="--out")


def kept(
    out: Path | None,
    head: Mapping[str, Any],
    *,
    same: Iterable[str],
    has: str,
    tried: Callable[[dict[str, Any]], object] = str,
) -> list[dict[str, Any]]:
    """The rows of a table that stand in ``out`` already, but for those that ran out of time; [] where there is none.

    Raises:
        FileError: If another file stands there, answers without ``has`` or of which ``tried`` makes no table, or
            others than ``head`` in one of ``same``.
    """
    if out is None or not out.exists():
        return []
    before = read(out, expected="a file of this command or none", option="--out", parse=parse_json)
    try:
        differ = [name for name in same if before[name] != head[name]]
        rows = [row for row in before["rows"] if not str(row["skipped"]).startswith(TIME_UP)]
        if not {"date", "torch"} <= set(before) or not all(row["skipped"] or has in row for row in rows):
            raise KeyError(has)
        tried({**before, "rows": rows})
    except Exception as error:  # whatever a row of another form does to the table
        raise FileError(f"--out: expected a file of this command or none, got {out}, another; name another") from error
    if differ:
        now, then = (" ".join(str(table[name]) for name in same) for table in (head, before))
        raise FileError(
            f"--out: expected answers about {now}, got {out} about {then}; name another file, or remove this one"
        )
    return rows


def write(out: Path | None, text: str) -> None:
    """Write an answer whole or not at all."""
    if out is None:
        return
    try:
        with replacing(out) as file:
            file.write(text.encode())
    except OSError as error:
        raise FileError(f"--out: expected a file that can be written, got {out}: {reason(error)}") from error


def expect_settings(settings: Mapping[str, Any]) -> None:
    """Refuse a width of heads that cannot turn, and a window too short, which the auditing process could not say."""
    if settings.get("head_dim") is not None:
        with checking_arguments():
            expect_even(settings["head_dim"], name="head_dim")
    if settings.get("window") is not None:
        with checking_arguments():
            expect_whole(settings["window"], name="window", least=LEAST, limit=2**40)


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
    """The questions of a file, one at least.

    Raises:
        FileError: If it cannot be read, or has none.
        ValueError: If a line has another form.
    """
    lines = read(path, expected="a file with MODULE:NAME on each line", option="--targets").splitlines()
    questions = []
    for number, line in enumerate(lines, 1):
        try:
            question = parse(line)
            if question:
                folder_of(expect_target(question.target)[0])  # which of two modules was meant is asked before the work
        except ArgumentError as error:
            raise ArgumentError(f"{path}, line {number}: {error}") from error
        if question:
            questions.append(question)
    if not questions:
        raise FileError(f"--targets: expected MODULE:NAME on one line at least, got none in {path}; add a target")
    return questions


def answered(path: Path | None) -> set[str]:
    """The keys of the questions whose answers a file of JSON lines has, and the file made ready for the next line.

    A last line that was cut off is removed, with the lines before it that answer the same question.

    Raises:
        FileError: If the file cannot be read or written, or does not begin with an answer.
    """
    expect_writable(path)
    if path is None or not path.exists():
        return set()
    text = read(path, expected="answers of this command", option="--out", most=1 << 30)
    try:
        lines = text.splitlines()
        if lines and not text.endswith("\n"):
            lines = _without_torn(lines)
        keys = [_key(line) for line in lines if line.strip()]
        if keys and keys[0] is None:
            raise FileError(f"--out: expected answers of this command, got {path}, another file; name another")
        if text and not text.endswith("\n"):
            with replacing(path) as file:
                file.write("".join(line + "\n" for line in lines).encode())
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"--out: expected a file that can be written, got {path}: {reason(error)}") from error
    return {key for key in keys if key is not None}


def _key(line: str) -> str | None:
    """The key of the question that a line answers; None for another line."""
    try:
        row = parse_json(line)
        question = Question(row["target"], row["settings"])
        return question.key if isinstance(row["settings"], dict) else None
    except (ValueError, KeyError, TypeError, RecursionError):  # the last: it is written again for the key
        return None


def _without_torn(lines: list[str]) -> list[str]:
    """The lines without a last one that was cut off, and without those before it that may answer its question."""
    *whole, last = lines
    with contextlib.suppress(ArgumentError):
        parse_json(last)
        return lines
    begun = NAMED.match(last)
    rest = last[begun.end() :] if begun else "another"
    ours = NEXT.startswith(rest) or rest.startswith(NEXT)
    if not (ours or (whole and (last.startswith(ROW) or ROW.startswith(last)))):
        return lines
    if not whole or (question := _key(whole[-1])) is None:
        return whole
    row = parse_json(whole[-1])
    start = json_text({"target": row["target"], "settings": row["settings"]})[:-1]
    if last.startswith(start) or start.startswith(last):
        while whole and _key(whole[-1]) == question:
            whole.pop()
    return whole


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
