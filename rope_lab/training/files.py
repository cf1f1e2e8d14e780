"""Files that are whole or absent, whatever happens while they are written."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rope_lab.errors import FileError


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that takes the name ``path`` in one atomic step when the block ends.

    Whoever reads ``path``, also after a kill or a power cut, finds the old file or the new one, never a part. A block
    that raises leaves the old file, and nothing beside it. Missing folders are made.

    Raises:
        OSError: the folder cannot be written, or the disk is full.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        with partial.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise
    with contextlib.suppress(OSError):  # the rename itself reaches the disk; some systems cannot open a folder
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def content(path: Path, *, most: int) -> bytes:
    """Read a regular file of at most ``most`` bytes.

    Raises:
        OSError: It cannot be read, is larger, or is a folder, a pipe or a device, which might never end.
    """
    if path.exists() and not path.is_file():
        raise OSError("what is no file: a folder, a pipe or a device")
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(f"more than {most:,} bytes")
    return data


def reason(error: OSError) -> str:
    """What the system says of a failure, without its number and path."""
    return error.strerror or str(error)


def make_folder(path: Path) -> None:
    """Make a folder that the user named, with those above it; `FileError` where that cannot be done."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"expected a folder that can be written, got {path}: {reason(error)}; name another") from error
