"""The tokenizer: every text comes back, and the ids are those of llama2.c's own, much slower, loop."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.story import PieceTokenizer, story_texts, story_tokenizer
from rope_lab.story.pieces import BYTES, CONTROL

TOKENIZER = story_tokenizer()
WORDS = st.sampled_from([" ", "the", "Once", "Lily", "upon a time", "\n", '"', "é", "日", "🦊", "<0x0A>", "<s>", "  "])
TEXTS = st.one_of(st.text(), st.lists(WORDS).map("".join))


def slow(text):
    """The loop of run.c: look at all neighbours, join the best pair, begin again."""
    parts = []
    for character in " " + text if text else "":
        parts += [TOKENIZER.ids[character]] if character in TOKENIZER.ids else [3 + b for b in character.encode()]
    while True:
        best = None
        for i, (a, b) in enumerate(itertools.pairwise(parts)):
            joined = TOKENIZER.ids.get(TOKENIZER.pieces[a] + TOKENIZER.pieces[b]) if min(a, b) > 258 else None
            if joined and (best is None or TOKENIZER.scores[joined] > best[0]):
                best = (TOKENIZER.scores[joined], i, joined)
        if best is None:
            return parts
        parts[best[1] : best[1] + 2] = [best[2]]


@pytest.mark.deep
@given(TEXTS)
def test_every_text_comes_back(text):
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@pytest.mark.deep
@given(TEXTS)
def test_the_ids_are_those_of_the_slow_loop(text):
    assert TOKENIZER.encode(text, bos=False) == slow(text)


def test_stories_come_back_and_are_the_slow_loop_s():
    for text in story_texts():
        assert TOKENIZER.decode(TOKENIZER.encode(text)) == text
    assert TOKENIZER.encode(text, bos=False) == slow(text)


def test_control_the_order_of_joining_matters():
    """With the scores turned round another pair joins first, so the text has other ids."""
    other = PieceTokenizer(TOKENIZER.pieces, tuple(-score for score in TOKENIZER.scores))
    text = "Once upon a time there was a little girl"
    assert other.encode(text) != TOKENIZER.encode(text)
    assert other.decode(other.encode(text)) == text


@pytest.mark.parametrize("byte", range(256))
def test_every_byte_has_its_id(byte):
    assert TOKENIZER.bytes_of(3 + byte) == bytes([byte])
    assert TOKENIZER.decode([3 + byte]) == bytes([byte]).decode(errors="replace").removeprefix(" ")


def test_a_character_without_a_piece_is_its_bytes():
    assert TOKENIZER.encode("🦊", bos=False)[1:] == [3 + byte for byte in "🦊".encode()]
    assert TOKENIZER.decode(TOKENIZER.encode("🦊")[:-1]) == "\ufffd"  # three of its four bytes


def test_control_pieces_are_no_text():
    assert TOKENIZER.encode("") == [1]
    assert TOKENIZER.encode("", bos=False) == []
    assert TOKENIZER.decode([1, 2]) == ""
    assert TOKENIZER.decode([0]) == "\ufffd"


@pytest.mark.usefixtures("untyped")
def test_refusals():
    for text, words in ((b"bytes", "expected a str"), ("a\ud800", "surrogate pair at place 1")):
        with pytest.raises((TypeError, ValueError), match=words):
            TOKENIZER.encode(text)
    for wrong in (-1, 512):
        with pytest.raises(ValueError, match=f"numbers from 0 to 511, got {wrong}"):
            TOKENIZER.decode([wrong])
    first, none = (*CONTROL, *BYTES), (0.0,) * 259
    for pieces, scores, words in (
        (first[1:], none[1:], "expected <unk>"),
        (first, none[1:], "one for each of 259"),
        ((*first, "a", "a"), (*none, 0.0, 0.0), "once"),
        ((*first, ""), (*none, 0.0), "none empty"),
    ):
        with pytest.raises(ValueError, match=words):
            PieceTokenizer(pieces, scores)
