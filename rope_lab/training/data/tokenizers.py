"""From text to ids and back: GPT-2's BPE, the first N of its vocabulary, and word level.

* ``gpt2``: GPT-2's 50,257 ids, through tiktoken, from a rank file that ships with the package.
* ``bpe-N``: GPT-2's first N ids, that is the 256 bytes and its first N - 256 merges. Nothing is trained, nothing
  is downloaded, and any text can be written with it.
* ``word`` and ``word-N``: what stands between white space, and ``<eos>`` at the end of each line; the vocabulary is
  the training split's, all of it or its N most frequent entries, ``<unk>`` and ``<eos>`` among them.

A beginning-of-window token is no tokenizer's business: a run that wants one uses the id ``vocab_size``, one past the
last, so that ``bpe-1024`` has 1,024 ids, and a model with BOS has 1,025.
"""

from __future__ import annotations

import base64
import hashlib
import lzma
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from operator import index
from typing import TYPE_CHECKING, Protocol, SupportsIndex, runtime_checkable

import numpy as np
from jaxtyping import UInt

from rope_lab.errors import ArgumentError

if TYPE_CHECKING:
    from tiktoken import Encoding

RANKS_SHA256 = "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"  # r50k_base, as tiktoken pins it
GPT2_RANKS = 50_256  # the rest of GPT-2's vocabulary is one special token
# How GPT-2 cuts text before it merges bytes: contractions, words, numbers, signs, white space.
PIECES = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
CUT = re.compile(r"(?<=\S)(?=[ \n])")
EOS, UNK = "<eos>", "<unk>"


@runtime_checkable
class Tokenizer(Protocol):
    """What a corpus needs from a tokenizer."""

    @property
    def name(self) -> str: ...

    @property
    def vocab_size(self) -> int: ...

    @property
    def fingerprint(self) -> str: ...  # names the vocabulary: two tokenizers that encode alike have the same

    def encode(self, text: str) -> UInt[np.ndarray, " tokens"]: ...

    def decode(self, ids: Iterable[SupportsIndex]) -> str: ...


@dataclass(frozen=True)
class BytePairs:
    """GPT-2's byte-pair encoding with its first ``size`` ranks.

    >>> pairs = BytePairs("bpe-300", 300)
    >>> pairs.decode(pairs.encode("the rotation"))
    'the rotation'
    """

    name: str
    size: int
    special: bool = False  # GPT-2's <|endoftext|>, one id after the ranks; no text encodes to it

    @property
    def vocab_size(self) -> int:
        return self.size + self.special

    @property
    def fingerprint(self) -> str:
        return f"r50k_base:{RANKS_SHA256[:16]}:{self.size}"

    @cached_property
    def encoding(self) -> Encoding:
        import tiktoken  # only here: a model of a run needs its tokenizer's size alone

        special = {"<|endoftext|>": self.size} if self.special else {}
        ranks = {token: rank for token, rank in gpt2_ranks().items() if rank < self.size}
        return tiktoken.Encoding(self.name, pat_str=PIECES, mergeable_ranks=ranks, special_tokens=special)

    def encode(self, text: str) -> UInt[np.ndarray, " tokens"]:
        """Ids of the text, cut so that memory stays small; the cuts do not change one id."""
        dtype = smallest_dtype(self.vocab_size)
        pieces = [np.array(self.encoding.encode_ordinary(piece), dtype=dtype) for piece in cut(text)]
        return np.concatenate(pieces) if pieces else np.zeros(0, dtype)

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """Text of the ids; bytes that are not UTF-8 (half a character) become the replacement character.

        Raises:
            ValueError: an id outside the vocabulary, such as the BOS token or the padding of a model.
        """
        return self.encoding.decode(_ids(ids, self.vocab_size))


@dataclass(frozen=True)
class Words:
    """Word level over a fixed vocabulary; the order is the ids' order.

    >>> words = Words.learn("word", ["to be or not", "to be"])
    >>> words.decode(words.encode("to be bold"))
    'to be <unk> <eos>'
    """

    name: str
    vocabulary: tuple[str, ...]

    @classmethod
    def learn(cls, name: str, lines: Iterable[str], *, size: int | None = None) -> Words:
        """The ``size`` most frequent words (all if None), ties in alphabetical order."""
        counts: Counter[str] = Counter({EOS: 0, UNK: 0})
        for line in lines:
            counts.update(line.split())
            counts[EOS] += 1
        first = [UNK, EOS]  # always present, so that every text can be written
        rest = sorted((word for word in counts if word not in first), key=lambda word: (-counts[word], word))
        vocabulary = first + rest
        return cls(name, tuple(vocabulary if size is None else vocabulary[:size]))

    @property
    def vocab_size(self) -> int:
        return len(self.vocabulary)

    @cached_property
    def fingerprint(self) -> str:
        return "words:" + hashlib.sha256("\n".join(self.vocabulary).encode()).hexdigest()[:16]

    @cached_property
    def ids(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.vocabulary)}

    def encode(self, text: str) -> UInt[np.ndarray, " tokens"]:
        """Ids of the words, with ``<eos>`` after each line; a word outside the vocabulary becomes ``<unk>``."""
        unknown, end = self.ids[UNK], self.ids[EOS]
        numbers: list[int] = []
        for line in lines_of(text):
            numbers += [self.ids.get(word, unknown) for word in line.split()]
            numbers.append(end)
        return np.array(numbers, dtype=smallest_dtype(self.vocab_size))

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The words, with a blank between them.

        Raises:
            ValueError: an id outside the vocabulary.
        """
        return " ".join(self.vocabulary[i] for i in _ids(ids, self.vocab_size))


def _ids(ids: Iterable[SupportsIndex], vocab_size: int) -> list[int]:
    numbers = [index(i) for i in ids]
    if wrong := [i for i in numbers if not 0 <= i < vocab_size]:
        raise ValueError(
            f"ids: expected numbers from 0 to {vocab_size - 1}, got {wrong[0]}; take the tokenizer that the model was "
            "trained with, and leave out what stands for no text"
        )
    return numbers


@cache
def byte_pairs(name: str) -> BytePairs | None:
    """The tokenizer ``gpt2`` or ``bpe-N``; None for a word-level name, whose vocabulary needs a corpus.

    >>> byte_pairs("bpe-1024").vocab_size, byte_pairs("gpt2").vocab_size
    (1024, 50257)
    """
    if name == "gpt2":
        return BytePairs("gpt2", GPT2_RANKS, special=True)
    kind, size = parse(name)
    return BytePairs(name, size) if kind == "bpe" and size else None


def parse(name: str) -> tuple[str, int | None]:
    """The kind and size of a tokenizer: ``("bpe", N)``, ``("word", N)``, ``("word", None)`` or ``("gpt2", None)``.

    Raises:
        ArgumentError: another name.
    """
    if name in ("gpt2", "word"):
        return name, None
    if match := isinstance(name, str) and re.fullmatch(r"(bpe|word)-([1-9][0-9]{0,8})", name):
        kind, size = match[1], int(match[2])
        if (kind == "bpe" and 256 <= size <= GPT2_RANKS) or (kind == "word" and size >= 3):
            return kind, size
    raise ArgumentError(
        f"tokenizer: expected 'gpt2', 'bpe-N' (256 <= N <= {GPT2_RANKS}), 'word' or 'word-N' (N >= 3), got {name!r:.80}"
    )


def size_of(name: str) -> int:
    """The number of ids of a tokenizer, as far as its name says it: all but ``word``, whose corpus decides.

    Args:
        name: ``gpt2``, ``bpe-N`` or ``word-N``.

    Returns:
        An int.

    Raises:
        ArgumentError: another name, or ``word``.

    >>> size_of("gpt2"), size_of("word-10000")
    (50257, 10000)
    """
    if name == "gpt2":
        return GPT2_RANKS + 1
    if (size := parse(name)[1]) is None:
        raise ArgumentError(f"tokenizer: expected one whose name says its size, such as word-10000, got {name!r}")
    return size


def lines_of(text: str) -> list[str]:
    """Lines by the newline alone: ``str.splitlines`` also cuts at a form feed or a line separator."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def smallest_dtype(vocab_size: int) -> type[np.uint16] | type[np.uint32]:
    """The smallest dtype of the ids, and of one more: the BOS of a model."""
    return np.uint16 if vocab_size < 2**16 else np.uint32


def cut(text: str, *, size: int = 1 << 20) -> Iterator[str]:
    """Pieces of about ``size`` characters, each beginning with a blank or a newline that follows something else.

    No pattern of `PIECES` crosses such a place or looks past it from the left, so the ids are those of the whole text.
    """
    start = 0
    while start < len(text):
        place = CUT.search(text, start + size)
        end = place.start() if place else len(text)
        yield text[start:end]
        start = end


@cache
def gpt2_ranks() -> dict[bytes, int]:
    """Token to rank, from the shipped file, whose text must have the sha256 that tiktoken itself demands."""
    text = lzma.decompress((files("rope_lab.training.data") / "r50k_base.tiktoken.xz").read_bytes())
    if (got := hashlib.sha256(text).hexdigest()) != RANKS_SHA256:
        raise ValueError(f"r50k_base.tiktoken: expected sha256 {RANKS_SHA256}, got {got}; reinstall rope-lab")
    return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in text.splitlines())}
