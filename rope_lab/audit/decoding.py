"""Does a model decode as it reads? Its answers from a cache are held against its own reading of the whole text.

| cause | experiment |
|---|---|
| places that are off | a reading with the tokens at other places, handed in, gives what decoding gave |
| a cache that is not read | each call, read as a text of its own, gives what decoding gave |
| later tokens in sight | the answers change with a later token of the same call |
| a reading that knows its length | the first tokens, read alone, get other answers than at the head of the text |
| a path of its own for a single token | the same calls without single tokens give what reading gave |
| dropped tokens, or padding, in sight | a reading with them gives what decoding gave, or others change the answers |
| padding that is counted | other tokens there change nothing |

torch is imported when a model is asked.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from html import escape
from itertools import accumulate
from typing import Any, Protocol

from rope_lab.algebra.arguments import expect_whole
from rope_lab.audit.foreign_code import TargetError, guarded, parameters_of

LENGTH, SHORTEST = 24, 8  # tokens of the text
LONG = 300  # of a long one, in few calls: beyond the blocks of most caches
PARTS = 5e-7  # of the largest logit: what parts that stay in float32 round, such as tables of angles
ALIKE = 16  # how many times coarser than reading decoding may round in the model's own precision
MANY = 64  # tokens of a text at most, for which each window is a guess
UNKNOWN = "no known cause fits; next, compare what each layer gives in both ways: the first that differs has it"
STILL_SEEN = "the dropped tokens are still seen"
LATER_SEEN = "a token sees later ones of its call"


class WrittenError(TargetError):
    """A decoder writes into the tokens that it is given."""


class OtherShapeError(TargetError):
    """A decoder gives logits for more or fewer tokens; a fault where it was seen to give one for each."""


class Decoder(Protocol):
    """What `decoding_test` asks for. Tokens are (batch, T), logits (batch, T, vocab); a cache is whatever you like.

    Where ``read`` takes ``positions=`` too, (T,), a fault of places is named; where ``begin`` takes ``padding=``, how
    many tokens in front of each row are none, left padding is asked; where there is ``drop(cache, count)``, which
    returns the cache without its last tokens, a rollback is.
    """

    def read(self, tokens: Any) -> Any:
        """The logits of a whole text, without a cache."""

    def begin(self) -> Any:
        """An empty cache."""

    def extend(self, tokens: Any, cache: Any) -> tuple[Any, Any]:
        """The logits of the next tokens, and the cache with them."""


@dataclass(frozen=True)
class DecodingRow:
    """What one way of decoding showed."""

    what: str
    off: float = 0.0  # the largest difference of logits, as a share of the largest logit
    floor: float = 0.0  # what rounding may do
    first: int | None = None  # the first token of the text whose logits differ
    cause: str = ""
    refused: str = ""  # why it was not asked

    @property
    def ok(self) -> bool:
        """Whether no fault was seen, which is also so where it was not asked."""
        return bool(self.refused) or self.off <= self.floor

    def __str__(self) -> str:
        if self.refused:
            return f"{self.what:<26} not asked: {self.refused}"
        said = "same" if self.ok else f"OFF from token {self.first} on: {self.cause}"
        return f"{self.what:<26} {self.off:>8.1e}  {said}"


@dataclass(frozen=True)
class DecodingReport:
    """Where decoding gives other logits than reading, and why."""

    model: str
    precision: str  # in which it was asked
    rows: tuple[DecodingRow, ...]

    @property
    def ok(self) -> bool:
        """Whether all that could be asked is as it is read."""
        return all(row.ok for row in self.rows)

    @property
    def verdict(self) -> str:
        """One line."""
        wrong, asked = [row for row in self.rows if not row.ok], [row for row in self.rows if not row.refused]
        if wrong:
            causes = dict.fromkeys(f"{row.what}: {row.cause}" for row in wrong)
            return "decodes otherwise than it reads; " + "; ".join(causes)
        if not asked:
            return f"not asked: {self.rows[0].refused}"
        left = len(self.rows) - len(asked)
        return "decodes as it reads" + (f"; {left} of {len(self.rows)} not asked" if left else "")

    @property
    def row(self) -> dict[str, Any]:
        """For a table, as plain values."""
        rows = [asdict(row) | {"ok": row.ok} for row in self.rows]
        return {"model": self.model, "verdict": self.verdict, "ok": self.ok, "precision": self.precision, "rows": rows}

    def __str__(self) -> str:
        lines = "\n".join(map(str, self.rows))
        return f"{self.model}: decoding against reading, in {self.precision}\n{lines}\n{self.verdict}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def decoding_test(model: Any, *, length: int | None = None, name: str | None = None, seed: int = 0) -> DecodingReport:
    """Hold decoding against reading: token by token, in chunks, after a rollback, in batches, among other requests.

    The model is copied for each question, so that nothing is left from an earlier one, and a module is asked in float64
    where that works: what differs there is no rounding. Its own precision is one more row.

    Args:
        model: A causal model of transformers, one of ours, or a `Decoder` of yours around any other.
        length: Tokens of the text. Default: 24, and more than the sliding window where that is short; and once 300, or
            as many as the context of the training has, in a few calls.
        name: What the report is called. Default: the class.
        seed: Of the tokens.

    Returns:
        A `DecodingReport`: print it, or read ``ok``, ``rows`` and ``verdict``. What could not be asked says why.

    Raises:
        TypeError: If model is neither a module nor a `Decoder`, or length or seed is not a whole number.
        ValueError: If the length is below 8, or the seed below 0.
        TargetError: If the model cannot read a text.

    >>> from rope_lab.nn import GPT, GPTConfig
    >>> decoding_test(GPT(GPTConfig(vocab_size=32, n_layers=1, n_heads=2, d_model=8))).verdict
    'decodes as it reads'
    """
    expect_whole(seed, name="seed", least=0)
    asked = _Asked(
        model, length=None if length is None else expect_whole(length, name="length", least=SHORTEST), seed=seed
    )
    n, first, tail = asked.length, asked.length // 3, asked.length - asked.length // 3
    one_by_one = [first] + [1] * tail
    rows = [
        asked.cut(what, cuts)
        for what, cuts in {
            "token by token": [1] * n,
            "a prompt, then one by one": one_by_one,
            "in chunks of 3": _cut([3] * n, n),
            "in chunks of 7": _cut([7] * n, n),
            "a prompt, then 7, 1, 3": _cut([first] + [7, 1, 3] * n, n),
        }.items()
    ]
    if length is None and (long := asked.longest) > n:
        cuts = [long // 2, 1, long // 3, 1, long - long // 2 - long // 3 - 2]
        rows.append(asked.row(f"{long} tokens in large chunks", lambda: asked.long(cuts), span=long))
    rows.append(asked.row("after a rollback", lambda: asked.rollback(first)))
    rows.append(asked.row("left padding in a batch", lambda: asked.padded(first, min(5, first - 1))))
    rows.append(asked.row("a batch of two", lambda: asked.batch(one_by_one)))
    rows.append(asked.row("after another request", lambda: asked.again(one_by_one)))
    rows.append(asked.row("beside another request", lambda: asked.beside(one_by_one)))
    if asked.wide and asked.dtype != "float64":
        rows.append(asked.row(f"in {asked.dtype}", lambda: asked.narrow(one_by_one, wide=rows[1].cause)))
    return DecodingReport(name or type(model).__name__, "float64" if asked.wide else asked.dtype, tuple(rows))


def _cut(sizes: list[int], length: int) -> list[int]:
    """As many of the sizes as make up the length; the last is cut."""
    ends = [min(end, length) for end in accumulate(sizes)]
    return [b - a for a, b in zip([0, *ends], ends, strict=False) if b > a]


def _starts(s: int, t: int, i: int, first: int) -> dict[str, int]:
    """Guesses, behind "as if": where call i might start that has t tokens and should start at s, behind a first one."""
    return {
        **{f"the offset is off by {d:+d} after the first call": s + d for d in (1, -1, 2, -2)},
        **{f"single tokens stand {d:+d}": s + d * (t == 1) for d in (1, -1)},
        "each call counts from 0": 0,
        "single tokens count from 0": s * (t > 1),
        "chunks behind the first call count from 0": s * (t == 1),
        "later calls stand where the first one ended": first,
        "a chunk is counted twice: its own tokens pass for earlier ones": s + t,
        "the offset is counted twice": 2 * s,
        "each later chunk is counted twice": 2 * s - first,
        "calls are counted, not tokens": i,
        "calls after the first are counted, not tokens": first + i - 1,
        "the offset grows by one too many with each call": s + i,
        "the offset lags by one more with each call": s - i,
    }


def _positions_of(cuts: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    """Guesses, and where the tokens would then stand: those of the first call stand right."""
    starts = [0, *accumulate(cuts)][:-1]
    tables = [_starts(s, t, i, cuts[0]) for i, (s, t) in enumerate(zip(starts, cuts, strict=True))]
    for words in tables[0]:
        yield words, [(table[words] if i else 0) + k for i, table in enumerate(tables) for k in range(cuts[i])]
    yield "all tokens of a call stand at its first place", [s for i, s in enumerate(starts) for _ in range(cuts[i])]
    for w in range(2, starts[-1] + 1) if sum(cuts) <= MANY else ():
        places = [min(s, w) + k for s, t in zip(starts, cuts, strict=True) for k in range(t)]
        yield f"later calls stand at {w}: counted in a cache that drops old tokens, or cut there", places
        yield f"places of later calls begin again at {w}", [p % w if p >= cuts[0] else p for p in range(sum(cuts))]


class _Asked:
    """One model, its texts, and the questions to it."""

    def __init__(self, model: Any, *, length: int | None, seed: int) -> None:
        import torch

        self.model, self.made, self.doubled = model, _adapter(model), None
        self.readings: dict[Any, Any] = {}  # by tokens and places
        self.wide, self.dtype = self.made is not None, ""
        config: Any = getattr(model, "config", None)
        config = config.get_text_config(decoder=True) if hasattr(config, "get_text_config") else config
        if length is None:
            spans = [getattr(config, each, None) for each in ("sliding_window", "attention_chunk_size")]
            windows = [getattr(config, each, None) for each in ("max_position_embeddings", "seq_len", "index_topk")]
            wanted = max(LENGTH, *(span + 20 for span in spans if type(span) is int and 0 < span <= 256), LENGTH)
            length = min(wanted, *(w for w in windows if type(w) is int and w >= SHORTEST), wanted)
        parameter = next(model.parameters(), None) if self.made else None
        device = None if parameter is None else parameter.device
        probe = torch.zeros((1, 2), dtype=torch.int64, device=device)
        self.wide = False
        logits = self(lambda d: d.read(probe))
        self.dtype = str(logits.dtype if parameter is None else parameter.dtype).removeprefix("torch.")
        words = min(logits.shape[-1], *(m.num_embeddings for m in _embeddings(model)), logits.shape[-1])
        draw = torch.Generator().manual_seed(seed)
        least = min(4, words - 1)
        self.text, self.other = (torch.randint(least, words, (1, length), generator=draw).to(device) for _ in "ab")
        self.length = length
        self.base = self.whole(self.text)
        if not bool(torch.isfinite(self.base).all()):
            raise TargetError("expected finite logits, got NaN or infinity; look at the weights and at the rotation")
        if not torch.equal(self.text, self.other) and torch.equal(self.base, self(lambda d: d.read(self.other))):
            raise TargetError(
                "expected logits that depend on the tokens, got the same for two texts: it could show no fault; a "
                "read-out of zeros needs trained weights, or random ones"
            )

    def whole(self, text: Any) -> Any:
        """The logits of a text in one call, in float64 throughout where the model can."""
        self.wide = self.made is not None
        if self.wide:
            with suppress(TargetError):
                return self(lambda d: d.read(text))
            self.wide = False
        return self(lambda d: d.read(text))

    def __call__(self, do: Callable[[Any], Any]) -> Any:
        """Return what ``do`` gets from the decoder, for a module around a fresh copy."""
        import torch

        from rope_lab.audit.shift_runs import Watched

        def nothing(*_: Any) -> None:
            pass

        watched = Watched(wide=True, length=0, attended=nothing, valued=nothing)
        with guarded("the model"), torch.no_grad():
            if self.made is None:
                own = self.model
                with suppress(Exception):  # what cannot be copied is asked itself
                    own = copy.deepcopy(self.model)
                return do(own)
            if not self.wide:
                return do(self.made(copy.deepcopy(self.model).eval()))
            torch.set_default_dtype(torch.float64)  # `guarded` puts it back
            if self.doubled is None:
                with watched:
                    self.doubled = copy.deepcopy(self.model).eval().double()
            copied = copy.deepcopy(self.doubled)
            with watched:
                return do(self.made(copied))

    def decoded(self, tokens: Any, cuts: Sequence[int]) -> Any:
        """The logits of these tokens, decoded in pieces of these sizes."""
        return self(lambda d: _decode(d, tokens, cuts))

    def row(self, what: str, ask: Callable[[], tuple[Any, Any, Callable[[], str]]], *, span: int = 0) -> DecodingRow:
        """Compare what should be with what is; where it differs, find out why. ``span`` is the length of one text."""
        try:
            right, found, explain = ask()
        except TargetError as reason:
            if isinstance(reason, WrittenError) or (isinstance(reason, OtherShapeError) and self.answered):
                return DecodingRow(what, float("inf"), 0.0, 0, str(reason))
            return DecodingRow(what, refused=str(reason))
        self.answered = True
        floor = self.narrow_floor if what == f"in {self.dtype}" else max(_eps(right) ** 0.5, PARTS)
        off, first = _apart(right, found, floor)
        first = None if first is None else first % (span or self.length)  # two texts may stand side by side
        return DecodingRow(what, off, floor, first, "" if off <= floor else explain())

    def fits(self, found: Any, tokens: Any, *, keep: Any = slice(None), positions: list[int] | None = None) -> bool:
        """Whether a reading of these tokens, at these places, gives what was found."""
        if positions is not None and min(positions) < 0:
            return False
        asked = str((tokens.tolist(), positions))  # a fresh copy would answer the same again
        try:
            if asked not in self.readings:
                places = {} if positions is None else {"positions": tokens.new_tensor(positions)}
                self.readings[asked] = self(lambda d: d.read(tokens, **places))
        except TargetError:
            return False
        seen = self.readings[asked]
        return _apart(seen[:, keep], found)[0] <= _eps(found) ** 0.5

    def placed(self, found: Any, text: Any, cuts: list[int]) -> str:
        """The places, in words, at which a reading gives what was found; others may give it as well."""
        return next((f"as if {words}" for words, at in _positions_of(cuts) if self.fits(found, text, positions=at)), "")

    def cut(self, what: str, cuts: list[int]) -> DecodingRow:
        """The text in pieces of these sizes, against its reading."""

        def ask() -> tuple[Any, Any, Callable[[], str]]:
            found = self.decoded(self.text, cuts)
            return self.base, found, lambda: self.why(found, cuts)

        return self.row(what, ask)

    def why(self, found: Any, cuts: list[int]) -> str:
        """Name what explains logits that were decoded in such pieces."""
        import torch

        if placed := self.placed(found, self.text, cuts):
            return placed
        pieces = self.text.split(cuts, 1)
        alone = self(lambda d: torch.cat([d.read(piece) for piece in pieces], 1))
        if _apart(alone, found)[0] <= _eps(found) ** 0.5:
            return "the cache is not read: each call is a text of its own"
        changed, ends = (
            self.text.clone(),
            [end - 1 for end, size in zip(accumulate(cuts), cuts, strict=True) if size > 1],
        )
        if ends:
            last = ends[-1]
            changed[:, last] = self.other[:, last]
            same = self.decoded(changed, cuts)[:, :last]
            if _apart(found[:, :last], same)[0] > _eps(found) ** 0.5:
                return LATER_SEEN
        if cuts[0] < self.length and self.apart(self.base[:, : cuts[0]], lambda d: d.read(self.text[:, : cuts[0]])):
            return "reading depends on the length of the text: its first tokens alone are read otherwise"
        head = max(cuts[0], 2) + (self.length - max(cuts[0], 2)) % 2
        pairs = _cut([head] + [2] * self.length, self.length)
        if 1 in cuts and self.apart(self.base, lambda d: _decode(d, self.text, pairs)) is False:
            return "a call of a single token is answered otherwise than the same token in a longer call"
        return UNKNOWN

    def apart(self, right: Any, do: Callable[[Any], Any]) -> bool | None:
        """Whether what ``do`` gets differs from what is right; None where it is refused."""
        with suppress(TargetError):
            return _apart(right, self(do))[0] > _eps(right) ** 0.5
        return None

    def rollback(self, first: int) -> tuple[Any, Any, Callable[[], str]]:
        """Three tokens of the text and two wrong ones come as drafts, and the two are dropped."""
        import torch

        kept, wrong = first + 3, self.other[:, :2]

        def do(d: Any, wrong: Any = wrong) -> Any:
            if not hasattr(d, "drop"):
                raise TargetError("it has no drop")
            a, cache = _extended(d, self.text[:, :first], d.begin())
            b, cache = _extended(d, torch.cat((self.text[:, first:kept], wrong), 1), cache)
            return torch.cat(
                (a, b[:, :3], _decode(d, self.text[:, kept:], [1] * (self.length - kept), d.drop(cache, 2))), 1
            )

        found = self(do)

        def why() -> str:
            whole = torch.cat((self.text[:, :kept], wrong, self.text[:, kept:]), 1)
            keep = [*range(kept), *range(kept + 2, self.length + 2)]
            right = [*range(kept + 2), *range(kept, self.length)]
            if self.fits(found, whole, keep=keep) or self.fits(found, whole, keep=keep, positions=right):
                return STILL_SEEN
            if self.fits(found, self.text, positions=[*range(kept), *range(kept + 2, self.length + 2)]):
                return "as if places count on behind the dropped tokens"
            if self.apart(found[:, :kept], lambda d: do(d, self.text[:, :2])[:, :kept]):  # before any is dropped
                return LATER_SEEN
            others = self.apart(found, lambda d: do(d, self.text[:, :2]))
            return f"{STILL_SEEN}: other ones there change what follows" if others else UNKNOWN

        return self.decoded(self.text, [first, 3] + [1] * (self.length - kept)), found, why

    def padded(self, first: int, pads: int) -> tuple[Any, Any, Callable[[], str]]:
        """A text and a shorter one behind ``pads`` tokens of padding, against each alone."""
        import torch

        n, cuts = self.length - pads, [first] + [1] * (self.length - first)
        batch = torch.cat((self.text, torch.cat((self.other[:, :pads], self.text[:, :n]), 1)))
        others = torch.cat((self.text, torch.cat((self.text[:, -pads:], self.text[:, :n]), 1)))

        def do(d: Any, batch: Any = batch) -> Any:
            if "padding" not in parameters_of(d.begin):
                raise TargetError("its begin takes no padding")
            return _decode(d, batch, cuts, d.begin(padding=[0, pads]))

        self.expect_own_places()
        both = self(do)
        short = [first - pads, *cuts[1:]]
        right = [self.decoded(self.text, cuts), self.decoded(self.text[:, :n], short)]
        found = both[1:, pads:]

        def why() -> str:
            later = range(first - pads, n)
            for words, places in {
                "as if padding shifts the positions: later calls stand at their slot": [
                    *range(first - pads),
                    *(p + pads for p in later),
                ],
                "as if padding shifts the positions: the first call stands at its slot": [*range(pads, first), *later],
                "as if padding shifts the positions: all stand at their slot": [*range(pads, self.length)],
            }.items():
                if self.fits(found, self.text[:, :n], positions=places):
                    return words
            seen = self.fits(found, batch[1:], keep=slice(pads, None), positions=[0] * pads + [*range(n)])
            if seen:
                return "the padding is seen"
            again = self(lambda d: do(d, others))[1:, pads:]
            if _apart(found, again)[0] > _eps(found) ** 0.5:
                return "the padding is seen: other tokens there change the answers"
            alone, together, named = self.batch(cuts)
            if _apart(alone, together)[0] > _eps(found) ** 0.5:
                return f"without padding too, {named()}"
            return "not as without padding, though other tokens there change nothing: look at what counts it"

        return torch.cat((right[0], right[1]), 1), torch.cat((both[:1], found), 1), why

    def expect_own_places(self) -> None:
        """Refuse a model that does not count from 0, as RoBERTa: where a padded text stands is then its own."""
        try:
            given = self(lambda d: d.read(self.text, positions=self.text.new_ones(self.length).cumsum(0) - 1))
        except TargetError:  # it takes none, and counts itself
            return
        if _apart(self.base, given)[0] > _eps(given) ** 0.5:
            raise TargetError("with the places 0, 1, 2, ... handed in it reads otherwise than without")

    @property
    def longest(self) -> int:
        """Tokens of a long text: no more than the context of the training has."""
        from rope_lab.audit.shift_runs import window_of

        return LONG if self.made is None else min(LONG, window_of(self.model))

    def long(self, cuts: list[int]) -> tuple[Any, Any, Callable[[], str]]:
        """A text longer than usual, in few calls."""
        import torch

        text = torch.cat([self.text] * -(-sum(cuts) // self.length), 1)[:, : sum(cuts)]
        right, found = self(lambda d: d.read(text)), self.decoded(text, cuts)
        return right, found, lambda: self.placed(found, text, cuts) or UNKNOWN

    def batch(self, cuts: list[int]) -> tuple[Any, Any, Callable[[], str]]:
        """Two texts of one length in a batch, against each alone."""
        import torch

        right = [self.decoded(each, cuts) for each in (self.text, self.other)]
        both = self.decoded(torch.cat((self.text, self.other)), cuts)
        found = both[:1], both[1:]
        wrong = [i for i in (0, 1) if _apart(right[i], found[i])[0] > _eps(both) ** 0.5]
        words = f"not as each alone: row {' and '.join(map(str, wrong))} of the batch"
        return torch.cat(right, 1), torch.cat(found, 1), lambda: words

    def beside(self, cuts: list[int]) -> tuple[Any, Any, Callable[[], str]]:
        """Two requests, a call of each in turn."""
        import torch

        texts = self.text, self.other

        def do(d: Any) -> Any:
            caches: list[Any] = [d.begin(), d.begin()]
            parts: tuple[list[Any], list[Any]] = ([], [])
            for pieces in zip(*(text.split(cuts, 1) for text in texts), strict=True):
                for i, piece in enumerate(pieces):
                    logits, caches[i] = _extended(d, piece, caches[i])
                    parts[i].append(logits)
            return torch.cat([torch.cat(part, 1) for part in parts], 1)

        found, right = self(do), torch.cat([self.decoded(text, cuts) for text in texts], 1)
        if self.made is None and _apart(right, found)[0] > _eps(found) ** 0.5:  # its cache may be its own
            raise TargetError("it holds one request at a time: two at once get other logits than each alone")
        return right, found, lambda: "two requests at once change each other"

    def again(self, cuts: list[int]) -> tuple[Any, Any, Callable[[], str]]:
        """Reading and decoding after requests that ended, and one that was left in its middle.

        One shares nothing with the prompt, others all but a token, one begins with the whole: by a part of a prompt
        what was kept may be found. The last shares nothing, so that what it leaves is seen.
        """
        import torch

        right = self.base, self.decoded(self.text, cuts)

        def do(d: Any) -> Any:
            end = cuts[0]
            for unlike in ([*range(end)], [0], [end // 2], [end - 1]):
                earlier = torch.cat((self.text[:, :end], self.other[:, end:]), 1)
                earlier[:, unlike] = self.other[:, unlike]
                _decode(d, earlier, cuts)
            for left in (self.text[:, : end + 1], self.other[:, :5]):
                _extended(d, left, d.begin())
            return d.read(self.text), _decode(d, self.text, cuts)

        found = self(do)
        changes = [w for w, a, b in zip(("reading", "decoding"), right, found, strict=True) if _apart(a, b)[0] > 0]
        words = f"an earlier request leaves something behind: it changes {' and '.join(changes)}"
        return torch.cat(right, 1), torch.cat(found, 1), lambda: words

    def narrow(self, cuts: list[int], *, wide: str) -> tuple[Any, Any, Callable[[], str]]:
        """Decoding against reading as the model is; what was wrong in float64, ``wide``, explains this too."""
        self.wide = False
        try:
            right, found = self(lambda d: d.read(self.text)), self.decoded(self.text, cuts)
        finally:
            self.wide = True
        self.narrow_floor = max(_eps(right) ** 0.5, ALIKE * _apart(self.base, right)[0])
        return right, found, lambda: wide or "rounding, coarser than that of reading"

    narrow_floor, answered = 0.0, False


def _decode(d: Any, tokens: Any, cuts: Sequence[int], cache: Any = None) -> Any:
    """The logits of all tokens, in pieces of these sizes, from an empty cache or behind what a cache holds."""
    import torch

    cache, parts = d.begin() if cache is None else cache, []
    for piece in tokens.split(list(cuts), 1):
        logits, cache = _extended(d, piece, cache)
        parts.append(logits)
    return torch.cat(parts, 1)


def _extended(d: Any, piece: Any, cache: Any) -> tuple[Any, Any]:
    """The answer of a decoder to some tokens, which it must leave as they are."""
    given = piece.clone()
    logits, cache = d.extend(given, cache)
    if not bool((given == piece).all()):
        raise WrittenError("it writes into the tokens that it is given")
    if logits.shape[:2] != piece.shape:
        raise OtherShapeError(f"it gives logits {tuple(logits.shape)} for tokens {tuple(piece.shape)}")
    return logits, cache


def _eps(logits: Any) -> float:
    import torch

    return torch.finfo(logits.dtype).eps


def _apart(right: Any, found: Any, floor: float = 0.0) -> tuple[float, int | None]:
    """The largest difference as a share of the largest logit, and the first token that is off by more than floor."""
    if right.shape != found.shape:
        return float("inf"), 0
    each = ((right.double() - found.double()).abs().amax((0, -1)) / right.double().abs().max()).nan_to_num(float("inf"))
    beyond = (each > floor).nonzero()
    return float(each.max()), int(beyond[0, 0]) if len(beyond) else None


def _embeddings(model: Any) -> Iterator[Any]:
    """The first table of words of a module, if there is one."""
    from torch import nn

    if isinstance(model, nn.Module):
        yield from [m for m in model.modules() if isinstance(m, nn.Embedding)][:1]


def _adapter(model: Any) -> Any:
    """Return what makes a `Decoder` of a module; None for a decoder itself."""
    from torch import nn

    if all(callable(getattr(model, each, None)) for each in ("read", "begin", "extend")):
        return None
    if not isinstance(model, nn.Module):
        raise TypeError(
            f"model: expected a torch module or a Decoder, got {type(model).__name__}; give an object with "
            "read(tokens), begin() and extend(tokens, cache)"
        )
    return _Ours if hasattr(model, "new_caches") else _Transformers


class _Ours:
    """A model with ``caches=``, ``positions=`` and ``mask=``, which makes its caches itself."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def read(self, tokens: Any, *, positions: Any = None) -> Any:
        return self.model(tokens) if positions is None else self.model(tokens, positions=positions)

    def begin(self, *, padding: Any = None) -> Any:
        return self.model.new_caches(), padding

    def extend(self, tokens: Any, cache: Any) -> Any:
        caches, padding = cache
        if padding is None:
            return self.model(tokens, caches=caches), cache
        slots = (tokens.new_ones(caches[0].seen + tokens.shape[1]).cumsum(0) - 1)[None]
        new, pads = slots[:, caches[0].seen :], tokens.new_tensor(padding)[:, None]
        sees = (slots >= pads)[:, None] | (new[..., None] == slots[:, None])  # what is no token sees itself
        mask = sees & (new[..., None] >= slots[:, None])
        return self.model(tokens, caches=caches, positions=(new - pads).clamp_min(0), mask=mask), cache

    def drop(self, cache: Any, count: int) -> Any:
        for each in cache[0]:
            each.cut(each.seen - count)
        return cache


class _Transformers:
    """A causal model of transformers, or what is called like one."""

    def __init__(self, model: Any) -> None:
        self.model, self.taken = model, parameters_of(model.forward)

    def _call(self, tokens: Any, *, seen: int = 0, padding: Any = None, positions: Any = None, **options: Any) -> Any:
        batch, count = tokens.shape
        slots = tokens.new_ones(batch, seen + count).cumsum(1) - 1
        pads = tokens.new_tensor([0] * batch if padding is None else padding)[:, None]
        if padding is not None and "position_ids" in self.taken:
            positions = (slots[:, seen:] - pads).clamp_min(0)
        if positions is not None:
            options["position_ids"] = positions.expand(batch, -1)
        if "attention_mask" in self.taken:  # without it places that restart can pass for a packed text
            options["attention_mask"] = (slots >= pads).to(tokens.dtype)
        return self.model(tokens, **options)

    def read(self, tokens: Any, *, positions: Any = None) -> Any:
        if positions is not None and "position_ids" not in self.taken:
            raise TargetError("it takes no position_ids")
        plain = "use_cache" in self.taken or "kwargs" in self.taken
        answer = self._call(tokens, positions=positions, **({"use_cache": False} if plain else {}))
        return getattr(answer, "logits", answer)

    def begin(self, *, padding: Any = None) -> Any:
        if "past_key_values" not in self.taken:
            raise TargetError(f"{type(self.model).__name__} takes neither past_key_values nor caches; pass a Decoder")
        if padding is not None and "attention_mask" not in self.taken:
            raise TargetError(f"{type(self.model).__name__} takes no attention_mask")
        return None, 0, padding

    def extend(self, tokens: Any, cache: Any) -> Any:
        past, seen, padding = cache
        answer = self._call(tokens, seen=seen, padding=padding, past_key_values=past, use_cache=True)
        past = getattr(answer, "past_key_values", None)
        if past is None:
            raise TargetError(f"{type(self.model).__name__} answers no past_key_values")
        return answer.logits, (past, seen + tokens.shape[1], padding)

    def drop(self, cache: Any, count: int) -> Any:
        past, seen, padding = cache
        if not hasattr(past, "crop"):
            raise TargetError(f"its cache, {type(past).__name__}, has no crop")
        past.crop(-count)
        left = past.get_seq_length() if hasattr(past, "get_seq_length") else seen - count
        return past, int(left), padding
