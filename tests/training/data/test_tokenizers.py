"""Text survives the round trip, small vocabularies are GPT-2's own beginning, and words are what the corpus says."""

from itertools import pairwise

import numpy as np
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.training.data import tokenizers
from rope_lab.training.data.tokenizers import BytePairs, Words, byte_pairs, cut, gpt2_ranks, lines_of, parse

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
SPACED = st.text(st.sampled_from("ab' \n\t\x1c\x85 é1!"), max_size=60)


@given(text=TEXT | SPACED, name=st.sampled_from(["bpe-256", "bpe-1024", "gpt2"]))
def test_byte_pairs_bring_every_text_back(text, name):
    assert byte_pairs(name).decode(byte_pairs(name).encode(text)) == text


@given(text=TEXT, size=st.sampled_from([256, 300, 1024]))
def test_ids_stay_below_the_vocabulary(text, size):
    assert BytePairs("few", size).encode(text).max(initial=0) < size


@given(text=SPACED | TEXT, size=st.integers(1, 20))
def test_cutting_a_long_text_changes_no_id(text, size):
    encoding = byte_pairs("bpe-1024").encoding
    pieces = list(cut(text, size=size))
    assert "".join(pieces) == text
    assert [i for piece in pieces for i in encoding.encode_ordinary(piece)] == encoding.encode_ordinary(text)


def test_a_cut_inside_a_word_would_change_ids():
    """The control: without the rule of `cut`, the law above fails."""
    encoding = byte_pairs("bpe-1024").encoding
    assert encoding.encode_ordinary(" the") != [*encoding.encode_ordinary(" t"), *encoding.encode_ordinary("he")]


def test_256_ids_are_the_bytes_and_longer_vocabularies_only_merge_further():
    assert sorted(token for token, rank in gpt2_ranks().items() if rank < 256) == [bytes([b]) for b in range(256)]
    lengths = [len(BytePairs("few", size).encode("the rotation of a plane")) for size in (256, 300, 1024, 50_256)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] == len("the rotation of a plane")


def test_the_small_vocabulary_applies_gpt2_s_first_merges_by_rank():
    """Against merging by hand: the pair whose joined token has the lowest rank, until none is left."""
    ranks = {token: rank for token, rank in gpt2_ranks().items() if rank < 1024}
    parts = [bytes([b]) for b in b" rotation"]
    while True:
        joined = [(ranks[a + b], i) for i, (a, b) in enumerate(pairwise(parts)) if a + b in ranks]
        if not joined:
            break
        _, i = min(joined)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    assert byte_pairs("bpe-1024").encode(" rotation").tolist() == [ranks[part] for part in parts]


def test_gpt2_s_known_ids_and_special_token():
    gpt2 = byte_pairs("gpt2")
    assert gpt2.encode("Hello world").tolist() == [15496, 995]
    assert gpt2.vocab_size == 50_257
    assert byte_pairs("gpt2") is gpt2  # its merges are read once
    assert gpt2.decode([50_256]) == "<|endoftext|>"
    assert gpt2.encode("<|endoftext|>").max() < 50_256  # text that looks like it is only text


def test_a_damaged_rank_file_is_refused(monkeypatch):
    gpt2_ranks.cache_clear()
    monkeypatch.setattr(tokenizers, "RANKS_SHA256", "0" * 64)
    with pytest.raises(ValueError, match=r"r50k_base.tiktoken: expected sha256 0000.*got 306cd27f.*reinstall"):
        gpt2_ranks()
    gpt2_ranks.cache_clear()


def test_the_rank_file_s_hash_is_the_one_tiktoken_pins():
    from tiktoken_ext import openai_public

    asked = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_public, "load_tiktoken_bpe", lambda _, **options: asked.update(options))
        encoding = openai_public.r50k_base()
    assert asked["expected_hash"] == tokenizers.RANKS_SHA256
    ours, theirs = (
        tiktoken.Encoding("one", pat_str=pattern, mergeable_ranks=gpt2_ranks(), special_tokens={})
        for pattern in (tokenizers.PIECES, encoding["pat_str"])
    )
    sample = "It's 1850's  end:\n\n  we'll see\t...\n"
    assert ours.encode_ordinary(sample) == theirs.encode_ordinary(sample)


@given(lines=st.lists(st.lists(st.sampled_from(["a", "b", "<unk>"]), max_size=4), min_size=1, max_size=5))
def test_words_come_back_line_by_line(lines):
    text = "".join(" ".join(line) + "\n" for line in lines)
    words = Words.learn("word", ["a b <unk>"])
    assert words.decode(words.encode(text)).split("<eos>")[:-1] == [
        " " * (i > 0) + "".join(f"{word} " for word in line) for i, line in enumerate(lines)
    ]


def test_the_vocabulary_is_the_most_frequent_words_ties_by_alphabet():
    words = Words.learn("word-5", ["b a b c", "a d"], size=5)
    assert words.vocabulary == ("<unk>", "<eos>", "a", "b", "c")
    assert words.encode("d a").tolist() == [0, 2, 1]
    assert words.fingerprint != Words.learn("word-4", ["b a b c", "a d"], size=4).fingerprint


def test_lines_end_at_newlines_only():
    assert lines_of("a\x0cb\n\nc") == ["a\x0cb", "", "c"]
    assert lines_of("") == []


@pytest.mark.parametrize("name", ["bpe-255", "bpe-50257", "bpe-x", "word-2", "gpt3", ""])
def test_an_unknown_tokenizer_is_told_what_there_is(name):
    with pytest.raises(ValueError, match=r"tokenizer: expected 'gpt2', 'bpe-N' .* got"):
        parse(name)


def test_a_bos_token_still_fits_the_stream_s_type():
    assert tokenizers.smallest_dtype(2**16 - 1) == np.uint16
    assert tokenizers.smallest_dtype(2**16) == np.uint32


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("tokenizer", [byte_pairs("bpe-300"), Words("word", tuple(f"word{i}" for i in range(300)))])
def test_an_id_without_a_text_is_refused(tokenizer):
    """Also a negative one, that a list of words would count from its end."""
    assert tokenizer.decode(np.array([0, 299], dtype=np.uint16))  # the control
    for wrong in (-1, 300, 10**9):
        with pytest.raises(ValueError, match=f"ids: expected numbers from 0 to 299, got {wrong}; take the tokenizer"):
            tokenizer.decode([1, wrong])


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("name", [None, 3, ["bpe-300"]])
def test_a_name_that_is_no_text_is_refused(name):
    with pytest.raises(ValueError, match="tokenizer: expected 'gpt2', 'bpe-N'"):
        parse(name)
