"""Messages of foreign code in one line: shortened at a word, without backquotes."""

import pytest

from rope_lab.audit.foreign_code import in_a_line, told


def test_a_long_message_ends_at_a_word_with_an_ellipsis():
    said = in_a_line("The dimensions of the heads do not match " * 9)
    assert len(said) <= 160
    assert said.endswith(" …")
    assert said.removesuffix(" …").split()[-1] in {"The", "dimensions", "of", "the", "heads", "do", "not", "match"}


def test_control_a_short_message_stays():
    assert in_a_line("it has\n  no end-of-text") == "it has no end-of-text"


def test_code_stands_without_backquotes():
    assert told(ValueError("`d_head` (64) should be ``d``")) == "ValueError: d_head (64) should be d"


@pytest.mark.parametrize("error", [ValueError(), ValueError(""), ValueError("\n")])
def test_an_error_without_a_message_is_its_name(error):
    assert told(error) == "ValueError"
