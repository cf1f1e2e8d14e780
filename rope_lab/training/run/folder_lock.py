"""One process at a time in a run's folder: two that write checkpoints there remove each other's files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from rope_lab.errors import RopeLabError


class CheckpointError(RopeLabError, RuntimeError):
    """A checkpoint that could not be written or does not hold what it should. The message says what to do."""


class UnderWayError(CheckpointError):
    """Another process trains in this folder."""


@contextlib.contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Lock ``folder`` while the block runs.

    The system's own lock on the folder: no file is left behind, and a process that is killed lets go of it. Where there
    is none (Windows, some network disks, a folder that cannot be made) nothing is locked.

    Raises:
        UnderWayError: another process has locked it.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UnderWayError(
                    f"expected {folder} for this run alone, but another process is training there: wait for it, or "
                    "choose another folder"
                ) from None
        yield
