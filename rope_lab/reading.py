"""What somebody else wrote, read in one place: within a bound, without waiting, and what is wrong is one sentence.

What we answer in JSON is written here, too, so that any reader of JSON can take it.

>>> parse_json("[1, 2")
Traceback (most recent call last):
rope_lab.errors.ArgumentError: no JSON: Expecting ',' delimiter, line 1, column 6
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from rope_lab.errors import ArgumentError, FileError

MOST = 16_000_000  # bytes of one file
DEEPEST = 200  # brackets in brackets: what is read can be copied and written again


def reason(error: Exception) -> str:
    """The system's words for a failure, without its number and path; or that it is no text."""
    return "no text in UTF-8" if isinstance(error, UnicodeError) else getattr(error, "strerror", None) or str(error)


def content(path: Path, *, most: int = MOST) -> bytes:
    """A regular file of at most ``most`` bytes; OSError for any other: a folder, a pipe, a device may never end."""
    if path.exists() and not path.is_file():
        raise OSError("what is no file: a folder, a pipe or a device")
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(f"more than {most:,} bytes")
    return data


def read(path: Path, *, expected: str, option: str = "", most: int = MOST, parse: Any = bytes.decode) -> Any:
    """A file that the user named, as text; ``parse=parse_json`` gives its JSON. `FileError` says what was expected.

    ``option`` is how the file was named, such as ``--config``.
    """
    try:
        return parse(content(path, most=most).removeprefix(b"\xef\xbb\xbf"))
    except (OSError, ValueError) as error:  # ValueError: also a name with a zero byte
        got = f"{path!s:.200}: " * bool(option) + reason(error)
        raise FileError(
            f"{option or str(path):.200}: expected {expected}, got {got}; mend it or name another"
        ) from error


def parse_json(text: str | bytes) -> Any:
    """The value of a text of JSON. An `ArgumentError` says only what was got: no JSON, no UTF-8, depth, digits."""
    deep = f"JSON with more than {DEEPEST} brackets in brackets"
    try:
        text = text if isinstance(text, str) else text.decode(json.detect_encoding(text))
        value = json.loads(text)
    except RecursionError as error:
        raise ArgumentError(deep) from error
    except json.JSONDecodeError as error:
        raise ArgumentError(f"no JSON: {error.msg}, line {error.lineno}, column {error.colno}") from error
    except UnicodeError as error:
        raise ArgumentError(reason(error)) from error
    except ValueError as error:
        raise ArgumentError("JSON with a number of more than 4,300 digits") from error
    if text.count("[") + text.count("{") <= DEEPEST:  # as in most texts: it cannot be deeper
        return value
    level = [value]
    for _ in range(DEEPEST):
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for values in inside for each in values if isinstance(each, list | dict)]
    if level:
        raise ArgumentError(deep)
    return value


def json_text(value: Any, *, indent: int | None = None, sort_keys: bool = False) -> str:
    """The JSON of a value; null stands for nan and the infinities, for which JSON has no word."""

    def plain(each: Any) -> Any:
        if isinstance(each, dict):
            return {key: plain(inside) for key, inside in each.items()}
        if isinstance(each, list | tuple):
            return [plain(inside) for inside in each]
        return None if isinstance(each, float) and not math.isfinite(each) else each

    return json.dumps(plain(value), indent=indent, sort_keys=sort_keys)
