"""Files that are whole or absent, whatever happens while they are written."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rope_lab.errors import FileError, RopeLabError
from rope_lab.reading import reason


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


def clear_partials(path: Path) -> None:
    """Remove what a kill left of `replacing` for ``path``: names of exactly its form, and no others."""
    form = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}\.partial")
    with contextlib.suppress(OSError):
        for found in [each for each in path.parent.iterdir() if form.fullmatch(each.name)]:
            found.unlink()


def set_aside(path: Path) -> Path:
    """Give what lies at ``path`` the first free name of ``path.before``, ``path.before2``, ...; that name."""
    number = 1
    while os.path.lexists(place := path.with_name(f"{path.name}.before{number if number > 1 else ''}")):
        number += 1
    path.rename(place)
    return place


def kind(path: Path) -> str:
    """The kind of what lies at ``path``, in words; "" where nothing does. Links are followed.

    >>> kind(Path(os.sep)), kind(Path("no such file"))
    ('a folder', '')
    """
    if not os.path.lexists(path):
        return ""
    try:
        mode = path.stat().st_mode
    except OSError:
        return "a link that leads nowhere"
    if stat.S_ISREG(mode):
        return "a file"
    return "a folder" if stat.S_ISDIR(mode) else "a pipe" if stat.S_ISFIFO(mode) else "a device"


def expect_folder(path: Path, *, option: str = "") -> None:
    """See, before the work, that a folder can be made at ``path`` and takes a new file. Nothing is made, nothing stays.

    ``option`` is how the user named it, such as ``--out``.

    Raises:
        FileError: a file, a pipe or a device lies there or above it; a read-only disk, a full one.
    """
    expected = f"{option}: expected a folder" if option else "expected a folder that can be written"
    if there := next((each for each in (path, *path.parents) if kind(each) not in ("", "a folder")), None):
        raise FileError(f"{expected}, got {path}, where {there} is {kind(there)}; name another")
    with _saying(path, option):
        with tempfile.TemporaryFile(dir=next(each for each in (path, *path.parents) if kind(each))) as file:
            file.write(bytes(4096))  # on Linux the file has no name, so a kill leaves nothing
        if any(len(os.fsencode(part)) > 255 for part in path.parts):
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))


def make_folder(path: Path, *, option: str = "") -> None:
    """Make a folder that the user named, with those above it; `FileError` where `expect_folder` says so."""
    expect_folder(path, option=option)
    with _saying(path, option):
        path.mkdir(parents=True, exist_ok=True)


@contextlib.contextmanager
def _saying(path: Path, option: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte or half a character
        raise FileError(
            f"{option}{option and ': '}expected a folder that can be written, got {str(path)!r:.200}: {reason(error)}; "
            "name another"
        ) from error


def expect_file(path: Path, *, option: str) -> None:
    """See, before the work, that a file can be written at ``path``. What lies there stays as it is.

    Args:
        path: The file that the user named; the folders above it are made.
        option: How the user named it, such as ``--out``.

    Raises:
        FileError: A folder, a pipe or a device lies there, or the folder takes no new file.
    """
    if (obstacle := "a file of the system" if _of_the_system(path) else kind(path)) not in ("", "a file"):
        raise FileError(f"{option}: expected a file that can be written, got {path}, which is {obstacle}; name another")
    make_folder(path.parent, option=option)
    try:
        os.lstat(path)
        with path.open("ab"):  # also where the folder takes new files: a file that is read-only says "leave me"
            pass
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise FileError(
            f"{option}: expected a file that can be written, got {str(path)!r:.200}: {reason(error)}; name another"
        ) from error


def _of_the_system(path: Path) -> bool:
    """Whether ``path`` is like /dev/stdout, also by a link: it is open already, and no file may take its name."""
    for _ in range(40):
        with contextlib.suppress(OSError, ValueError):
            place = path.parent.resolve() / path.name
            if str(place).startswith(("/dev/", "/proc/", "/sys/")) and not str(place).startswith("/dev/shm/"):
                return True
            path = place.parent / place.readlink()
            continue
        return False  # no link, or no name that the system takes
    return False


class CheckpointError(RopeLabError, RuntimeError):
    """A checkpoint that could not be written or does not hold what it should. The message says what to do."""


class UnderWayError(CheckpointError):
    """Another process trains in this folder."""


@contextlib.contextmanager
def exclusive(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Lock ``folder`` while the block runs; ``wait`` for another process that has it, or refuse.

    The system's own lock on the folder: no file is left behind, and a process that is killed lets go of it. Where there
    is none (Windows, some network disks, a folder that cannot be made) nothing is locked.

    Raises:
        UnderWayError: another process has locked it, and ``wait`` is false.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UnderWayError(
                    f"expected {folder} for this run alone, but another process is training there: wait for it, or "
                    "choose another folder"
                ) from None
        yield
