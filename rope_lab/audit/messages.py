"""What an error says, in one line that a row of a table can hold."""

import textwrap

from rope_lab.errors import printable


def in_a_line(text: object, *, width: int = 160) -> str:
    """A message in one line, without backquotes and control characters. Too long, it ends at a word, with an ellipsis.

    >>> in_a_line("`d_head` (64) should be equal to\\n `d_model // n_head` (5)", width=35)
    'd_head (64) should be equal to …'
    """
    words = textwrap.shorten(str(text).replace("`", ""), width, placeholder=" …", break_on_hyphens=False)
    return printable(words)


def told(error: BaseException) -> str:
    """The name of an error and its message, in one line.

    >>> told(KeyError("full_attention"))
    "KeyError: 'full_attention'"
    """
    text = in_a_line(error)
    return type(error).__name__ + (f": {text}" if text else "")
