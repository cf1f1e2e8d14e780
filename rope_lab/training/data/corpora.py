"""A corpus by name, as three streams of token ids that lie on disk and are mapped into memory.

>>> corpus = load("tinyshakespeare", tokenizer="bpe-1024")
>>> corpus.vocab_size, corpus.train.dtype
(1024, dtype('uint16'))
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import mmap
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import SupportsIndex

import numpy as np
from jaxtyping import UInt

from rope_lab.reading import content, parse_json, reason
from rope_lab.training.data import sources
from rope_lab.training.data.sources import CorpusError, Registry, Source
from rope_lab.training.data.tokenizers import BytePairs, Tokenizer, Words, byte_pairs, lines_of, parse, smallest_dtype
from rope_lab.training.files import clear_partials, exclusive, kind, replacing

FORMAT = 1  # of the cached streams: a change of what the code below writes must change it
SPLITS = ("train", "valid", "test")

__all__ = ["SPLITS", "Corpus", "CorpusError", "known_hashes", "load"]


@dataclass(frozen=True)
class Corpus:
    """Train, validation and test as 1-D streams of ids; several files of a split follow each other without a mark."""

    name: str
    tokenizer: Tokenizer
    train: UInt[np.ndarray, " train"]
    valid: UInt[np.ndarray, " valid"]
    test: UInt[np.ndarray, " test"]
    hashes: dict[str, str]  # split -> sha256 of its text (of the list of sha256 where it has several files)

    @property
    def vocab_size(self) -> int:
        return self.tokenizer.vocab_size

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        return self.tokenizer.decode(ids)


def load(
    name: str, *, tokenizer: str = "bpe-1024", root: str | Path | None = None, known: Registry | None = None
) -> Corpus:
    """The corpus of that name, tokenised once and cached under the hash of everything that went in.

    Args:
        name: a corpus of ``rope-lab data list``.
        tokenizer: ``gpt2``, ``bpe-N``, ``word`` or ``word-N``.
        root: the data folder; default: the user's cache.
        known: a list of corpora in place of the book's own.

    Returns:
        Three streams of token ids, uint16 (uint32 from 65,536 ids on), mapped into memory.

    Raises:
        CorpusError: absent (the message names the command that fetches it), damaged or unknown. Damaged streams are
            made again where the texts are here.
        ArgumentError: a tokenizer that does not exist.
    """
    corpus, folder = sources.lookup(name, known), sources.data_folder(root) / "tokens"
    parse(tokenizer)
    damaged: list[str] = []
    for hashes in _accepted(corpus):  # the streams may be there already, and the texts need not be
        if (loaded := _cached(corpus, tokenizer, hashes, folder, damaged)) is not None:
            return loaded
    try:
        hashes = _tokenise(corpus, tokenizer, folder, root)
    except CorpusError as error:
        raise CorpusError("; they cannot be made again: ".join([*damaged[:1], str(error)])) from error
    loaded = _cached(corpus, tokenizer, hashes, folder, damaged)
    if loaded is None:
        raise CorpusError(
            f"{name}: expected the streams just written in {folder}, found none; {damaged[-1:]}; try again"
        )
    return loaded


def known_hashes(name: str, known: Registry | None = None) -> list[dict[str, str]]:
    """The hashes by split that a `Corpus` of that name can have; nothing is read, so the corpus need not be here.

    Args:
        name: A corpus of ``rope-lab data list``.
        known: A list of corpora in place of the book's own.

    Returns:
        One dictionary for each accepted text: sha256 by "train", "valid" and "test".

    Raises:
        CorpusError: If there is no such corpus.
    """
    corpus = sources.lookup(name, known)
    return [{split: _split_hash(corpus, hashes, split) for split in SPLITS} for hashes in _accepted(corpus)]


def _accepted(corpus: Source) -> list[dict[str, str]]:
    """The hashes by path that the corpus may have: one choice, or more where a file has a second accepted text."""
    choices = [[file.sha256, file.also] if file.also else [file.sha256] for file in corpus.files]
    return [dict(zip((f.path for f in corpus.files), chosen, strict=True)) for chosen in itertools.product(*choices)]


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps([FORMAT, *parts]).encode()).hexdigest()


def _split_hash(corpus: Source, hashes: dict[str, str], split: str) -> str:
    used = [hashes[file.path] for file in corpus.files if file.split in (split, "all")]
    return used[0] if len(used) == 1 else hashlib.sha256("\n".join(used).encode()).hexdigest()


def _place(corpus: Source, tokenizer: str, hashes: dict[str, str], split: str, folder: Path) -> Path:
    """File of one split's stream: its name carries a hash of texts, cuts, line ends and vocabulary."""
    pairs = byte_pairs(tokenizer)
    vocabulary = pairs.fingerprint if pairs else [tokenizer, _split_hash(corpus, hashes, "train")]
    cut = corpus.cuts and [corpus.cuts[split], vocabulary if pairs else corpus.cuts["train"]]
    key = _digest(_split_hash(corpus, hashes, split), vocabulary, corpus.crlf, cut)
    return folder / f"{corpus.name}-{tokenizer}-{split}-{key[:16]}.npy"


def _cached(corpus: Source, tokenizer: str, hashes: dict[str, str], folder: Path, damaged: list[str]) -> Corpus | None:
    """The streams that lie in the cache, if all are what was written; why one is not is added to ``damaged``."""
    places = [_place(corpus, tokenizer, hashes, split, folder) for split in SPLITS]
    if not any(map(os.path.lexists, places)):
        return None
    try:
        encoder = byte_pairs(tokenizer) or Words(tokenizer, _words(_vocabulary(places[0])))
        train, valid, test = (_stream(place, encoder) for place in places)
    except (OSError, ValueError, EOFError) as error:  # damaged, or absent in part: it is written again
        damaged.append(f"{folder}: expected the streams of {corpus.name} as they were written, got {error}")
        return None
    used = {split: _split_hash(corpus, hashes, split) for split in SPLITS}
    return Corpus(corpus.name, encoder, train, valid, test, used)


def _words(place: Path) -> tuple[str, ...]:
    words = parse_json(content(place, most=1 << 30))
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError(f"no list of words in {place.name}")
    return tuple(words)


def _stream(place: Path, encoder: Tokenizer) -> UInt[np.ndarray, " tokens"]:
    """A stream, mapped into memory, whose bytes have the hash that stands behind them, and whose ids are ids.

    The hash is in the same file, so that one atomic step writes both; numpy reads no further than the array.
    """
    if (found := kind(place)) != "a file":
        raise ValueError(f"{found or 'nothing'} at {place.name}")
    with place.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        end = max(len(content) - len(_seal(b"", encoder)), 0)
        if content[end:] != _seal(memoryview(content)[:end], encoder):
            raise ValueError(f"another sha256 than that of {place.name}")
    stream = np.load(place, mmap_mode="r")
    expected = np.dtype(smallest_dtype(encoder.vocab_size))
    if stream.ndim != 1 or stream.dtype != expected or not stream.size or int(stream.max()) >= encoder.vocab_size:
        raise ValueError(
            f"{place.name}: expected a row of ids below {encoder.vocab_size}, {expected}, got {stream.dtype} of shape "
            f"{stream.shape}"
        )
    return stream


def _seal(content: bytes | memoryview, encoder: Tokenizer) -> bytes:
    """The last line of a stream's file: the sha256 of all before it and of the vocabulary that its ids belong to."""
    digest = hashlib.sha256(content)
    digest.update(encoder.fingerprint.encode())
    return f"\nsha256 {digest.hexdigest()}\n".encode()


def _vocabulary(train: Path) -> Path:
    return train.with_suffix(".vocabulary.json")


def _tokenise(corpus: Source, tokenizer: str, folder: Path, root: str | Path | None) -> dict[str, str]:
    """Read and check every text, write the streams, and return the hashes by path."""
    hashes: dict[str, str] = {}
    parts: dict[str, list[str]] = {split: [] for split in SPLITS}
    for file, data, sha256 in sources.texts(corpus, root):
        text = data.decode("utf-8")
        hashes[file.path] = sha256
        if corpus.crlf:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        for split, (start, end) in (corpus.cuts or {file.split: (0, 1)}).items():
            parts[split].append(text[round(start * len(text)) : round(end * len(text))])
    places = {split: _place(corpus, tokenizer, hashes, split, folder) for split in SPLITS}
    encoder: BytePairs | Words | None = byte_pairs(tokenizer)
    try:
        with exclusive(folder, wait=True):  # another process may be writing them
            if _cached(corpus, tokenizer, hashes, folder, []) is not None:
                return hashes
            for place in (*places.values(), _vocabulary(places["train"])):
                clear_partials(place)  # of a kill
            if encoder is None:
                lines = itertools.chain.from_iterable(map(lines_of, parts["train"]))
                encoder = Words.learn(tokenizer, lines, size=parse(tokenizer)[1])
                with replacing(_vocabulary(places["train"])) as new:
                    new.write(json.dumps(encoder.vocabulary).encode())
            for split in SPLITS:
                stream = np.concatenate([encoder.encode(text) for text in parts[split]])
                if not stream.size:
                    raise CorpusError(f"{corpus.name}: expected tokens in the split {split!r}, got none")
                whole = io.BytesIO()
                np.save(whole, stream)
                with replacing(places[split]) as new:
                    new.write(whole.getbuffer())
                    new.write(_seal(whole.getbuffer(), encoder))
    except OSError as error:
        raise CorpusError(
            f"{folder}: expected a folder that can be written, got {reason(error)}; "
            "free some space, give root=, or set ROPE_LAB_CACHE to another folder"
        ) from error
    return hashes
