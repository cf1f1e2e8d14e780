"""What an error says, in one line that a row of a table can hold."""

import textwrap


def in_a_line(text: object, *, width: int = 160) -> str:
    """A message in one line, without backquotes. Where it is too long it ends at a word, with an ellipsis.

    >>> in_a_line("`d_head` (64) should be equal to\\n `d_model // n_head` (5)", width=35)
    'd_head (64) should be equal to …'
    """
    words = str(text).replace("`", "")
    return textwrap.shorten(words, width, placeholder=" …", break_on_hyphens=False)


def told(error: BaseException) -> str:
    """The name of an error and its message, in one line.

    >>> told(KeyError("full_attention"))
    "KeyError: 'full_attention'"
    """
    text = in_a_line(error)
    return type(error).__name__ + (f": {text}" if text else "")
