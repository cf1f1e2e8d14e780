"""The tokenizer of Llama and llama2.c: pieces of text that are joined by their scores, and bytes for everything else.

>>> tokenizer = PieceTokenizer((*CONTROL, *BYTES, " ", "a", "b", " a", "ab"), (*[0.0] * 259, -3, -4, -5, -1, -2))
>>> tokenizer.encode("ab")  # " a" joins before "ab"
[1, 262, 261]
>>> tokenizer.decode([1, 262, 261])
'ab'
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from operator import index
from typing import SupportsIndex

CONTROL = ("<unk>", "<s>", "</s>")  # the first ids: unknown, begin and end of a text
BOS, EOS = 1, 2
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))  # the ids after them
FIRST = len(CONTROL) + len(BYTES)  # the first id that is a piece of text


@dataclass(frozen=True)
class PieceTokenizer:
    """Byte-pair encoding by scores, with bytes for the characters that have no piece.

    A text gets one blank in front, is cut into characters, and the two neighbours whose joined piece has the highest
    score are joined, the leftmost first, until no two neighbours make a piece. A character without a piece becomes its
    bytes in UTF-8, which never join.

    Args:
        pieces: The text of each id: `CONTROL`, `BYTES`, then pieces of text.
        scores: One for each id; those of the first 259 do not count.

    Raises:
        ValueError: If the first 259 entries are others, if a piece is empty or stands there twice, or if there are not
            as many scores as pieces.
    """

    pieces: tuple[str, ...]
    scores: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("pieces", "scores"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.pieces[:FIRST] != (*CONTROL, *BYTES):
            raise ValueError(
                f"pieces: expected <unk>, <s>, </s> and the 256 bytes <0x00> to <0xFF> first, got {self.pieces[:4]}; "
                "read the file of a tokenizer of this kind"
            )
        if len(self.scores) != len(self.pieces):
            raise ValueError(f"scores: expected one for each of {len(self.pieces)} pieces, got {len(self.scores)}")
        if len(self.ids) < len(self.pieces) - FIRST or "" in self.ids:
            raise ValueError("pieces: expected each piece of text once, and none empty; look for a damaged file")

    @property
    def vocab_size(self) -> int:
        """The number of ids."""
        return len(self.pieces)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Each piece of text with its id; bytes and control pieces are no text."""
        return {piece: i for i, piece in enumerate(self.pieces) if i >= FIRST}

    def encode(self, text: str, *, bos: bool = True) -> list[int]:
        r"""The ids of a text.

        Args:
            text: Any text.
            bos: Begin with the id of ``<s>``.

        Returns:
            Ids; an empty text has none but ``<s>``.

        Raises:
            TypeError: If it is no text.
            ValueError: If it has half of a surrogate pair, which is no character.
        """
        if not isinstance(text, str):
            raise TypeError(f"text: expected a str, got {type(text).__name__}; decode bytes first")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"text: expected characters, got half of a surrogate pair at place {error.start}; "
                "read the text again with its right encoding"
            ) from None
        return [BOS] * bos + (self._join(self._characters(" " + text)) if text else [])

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The text of ids that begin a text.

        Args:
            ids: Numbers below `vocab_size`.

        Returns:
            The text without the blank in front; ``<s>`` and ``</s>`` are no part of it. Bytes that are not UTF-8 and
            ``<unk>`` become the replacement character.

        Raises:
            ValueError: If the vocabulary lacks an id.
        """
        numbers = [index(i) for i in ids]
        if wrong := [i for i in numbers if not 0 <= i < self.vocab_size]:
            raise ValueError(
                f"ids: expected numbers from 0 to {self.vocab_size - 1}, got {wrong[0]}; "
                "take the tokenizer that the model was trained with"
            )
        return b"".join(map(self.bytes_of, numbers)).decode(errors="replace").removeprefix(" ")

    def bytes_of(self, number: int) -> bytes:
        """The UTF-8 that one id adds to a text: half a character if it is a byte of one, nothing for ``<s>``."""
        if number in (BOS, EOS):
            return b""
        if len(CONTROL) <= number < FIRST:
            return bytes([number - len(CONTROL)])
        return "\N{REPLACEMENT CHARACTER}".encode() if number < len(CONTROL) else self.pieces[number].encode()

    def _characters(self, text: str) -> list[int]:
        numbers: list[int] = []
        for character in text:
            known = self.ids.get(character)
            numbers += [len(CONTROL) + byte for byte in character.encode()] if known is None else [known]
        return numbers

    def _join(self, ids: list[int]) -> list[int]:
        """Join neighbours, the highest score first: a queue of candidates, and each place's living neighbours."""
        before, after = list(range(-1, len(ids) - 1)), list(range(1, len(ids) + 1))
        living = list(ids)  # -1: joined with the one before it

        def candidate(left: int) -> tuple[float, int, int, int, int] | None:
            right = after[left] if left >= 0 else len(ids)
            if right >= len(ids):
                return None
            a, b = living[left], living[right]
            joined = self.ids.get(self.pieces[a] + self.pieces[b]) if min(a, b) >= FIRST else None
            return None if joined is None else (-self.scores[joined], left, a, b, joined)

        queue = [pair for left in range(len(ids)) if (pair := candidate(left))]
        heapify(queue)
        while queue:
            _, left, a, b, joined = heappop(queue)
            right = after[left]
            if living[left] != a or right >= len(ids) or living[right] != b:
                continue  # one of the two has joined another since
            living[left], living[right], after[left] = joined, -1, after[right]
            if after[left] < len(ids):
                before[after[left]] = left
            for place in (before[left], left):
                if pair := candidate(place):
                    heappush(queue, pair)
        return [number for number in living if number >= 0]
