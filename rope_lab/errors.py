"""The errors that a user can put right: one family, which a caller and the command line can tell from a bug.

Each one is also the built-in error that fits, so that ``except ValueError`` goes on working. Its message says what was
expected, what came, and what to do.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

EXTRAS = {  # what something may need beside the core, and the extra that brings it
    "anywidget": "lab",
    "hypothesis": "lab",
    "ipywidgets": "lab",
    "matplotlib": "lab",
    "pooch": "train",
    "requests": "train",
    "tiktoken": "train",
    "traitlets": "lab",
}


class RopeLabError(Exception):
    """Something that the user can put right. `rope-lab` prints its message without a traceback."""


class ArgumentError(RopeLabError, ValueError):
    """A value that the user wrote (a field, an option, a name) and that cannot be used."""


class ArgumentTypeError(ArgumentError, TypeError):
    """A value of another kind than was asked for; as an `ArgumentError` it is a ``ValueError`` too."""


class FileError(RopeLabError, OSError):
    """A file or folder that the user named and that cannot be read or written."""


class MissingPackageError(RopeLabError, ImportError):
    """A package that the user asked for and that is not installed."""

    @classmethod
    def of(cls, what: str, error: ModuleNotFoundError) -> MissingPackageError | None:
        """The error in words, where one of our extras brings what ``what`` needs; None for any other module."""
        missing = (error.name or "").partition(".")[0]
        if missing not in EXTRAS:
            return None
        return cls(f"{what} needs {missing}, which is not installed: pip install 'rope-lab[{EXTRAS[missing]}]'")


def printable(text: object, *, keep: str = "") -> str:
    """Return what a stranger wrote with control characters, which a terminal would obey, as escapes; but for ``keep``.

    >>> printable("seed 1\\x1b[2J\\n2 of 2 cards belong")
    'seed 1\\\\x1b[2J\\\\n2 of 2 cards belong'
    """
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in str(text))


def near(got: object, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return the question that belongs behind an error: which known names are close to the one that was written.

    >>> near("placement", ["demo", "placements"])
    '; did you mean placements?'
    >>> near("x", ["demo", "placements"])
    ''
    """
    close = get_close_matches(str(got), list(known), n=3, cutoff=cutoff)
    return f"; did you mean {' or '.join(close)}?" if close else ""


@contextlib.contextmanager
def checking_arguments() -> Iterator[None]:
    """Turn a ``ValueError`` or ``TypeError`` of the block, or of a function that it decorates, into an `ArgumentError`.

    Only for what does nothing but check what the user wrote: around anything else it would hide bugs.

    >>> with checking_arguments():
    ...     int("seven")
    Traceback (most recent call last):
    rope_lab.errors.ArgumentError: invalid literal for int() with base 10: 'seven'
    """
    try:
        yield
    except RopeLabError:
        raise
    except TypeError as error:
        raise ArgumentTypeError(str(error)) from error
    except ValueError as error:
        raise ArgumentError(str(error)) from error
