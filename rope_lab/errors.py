"""The errors that a user can put right: one family, which a caller and the command line can tell from a bug.

Each one is also the built-in error that fits, so that ``except ValueError`` goes on working. Its message says what was
expected, what came, and what to do.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class RopeLabError(Exception):
    """Something that the user can put right. `rope-lab` prints its message without a traceback."""


class ArgumentError(RopeLabError, ValueError):
    """A value that the user wrote (a field, an option, a name) and that cannot be used."""


class FileError(RopeLabError, OSError):
    """A file or folder that the user named and that cannot be read or written."""


class MissingPackageError(RopeLabError, ImportError):
    """A package that the user asked for and that is not installed."""


def printable(text: object, *, keep: str = "") -> str:
    """Return what a stranger wrote with control characters, which a terminal would obey, as escapes; but for ``keep``.

    >>> printable("seed 1\\x1b[2J\\n2 of 2 cards belong")
    'seed 1\\\\x1b[2J\\\\n2 of 2 cards belong'
    """
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in str(text))


@contextlib.contextmanager
def checking_arguments() -> Iterator[None]:
    """Turn a ``ValueError`` or ``TypeError`` of the block into an `ArgumentError`.

    Only for a block that does nothing but check what the user wrote: around anything else it would hide bugs.

    >>> with checking_arguments():
    ...     int("seven")
    Traceback (most recent call last):
    rope_lab.errors.ArgumentError: invalid literal for int() with base 10: 'seven'
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        raise ArgumentError(str(error)) from error
