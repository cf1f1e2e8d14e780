"""The picture of the finite widths says what the algebra counts."""

from rope_lab.chapters.ch04_relative_identity import figures_newer_encodings as newer_encodings
from rope_lab.show.figures import finite_widths


def test_the_widths_in_words_are_those_that_are_counted(monkeypatch):
    said = finite_widths().desc
    for words in ("a decay 1;", "a plane of RoPE 2;", "ALiBi's bias 2;", "also shears 4;", "three planes 6."):
        assert words in said
    assert "log(1 + r), 12" in said
    monkeypatch.setattr(newer_encodings, "hankel_rank", len)
    assert "a plane of RoPE 23;" in finite_widths().desc
