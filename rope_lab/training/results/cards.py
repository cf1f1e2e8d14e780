"""Result cards: what one training run found, in one JSON file, and the paired differences between them.

The Python standard library is all this module needs, so that a page, a figure or a claim can read the numbers
without torch. A card says what was asked (config, seed), what went in (hashes of the data), what came out
(parameters by block, curve, final and best validation loss), and, apart from these, what changes from one
machine or day to the next (block ``volatile``). Schema and statistics share a file because claims and figures may
import this one and no other of the laboratory.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import statistics
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

SCHEMA = 1
RESULTS = Path(__file__).resolve().parents[2] / "results"  # the committed cards travel with the package
Metric = Literal["final", "best"]


class CardError(ValueError):
    """A card that does not follow the schema. The message names the file and the field."""


@dataclass(frozen=True)
class Card:
    """One run's result. ``Card(**blocks)`` validates; see `SHAPE` for what each block must hold."""

    experiment: str  # "crope-table1"; "" for a run outside an experiment
    rung: str  # "cpu", "colab", "paper", or ""
    variant: str  # "RoPE": what distinguishes the run from its neighbours, seed aside, as tables print it
    seed: int
    config: dict[str, Any]  # RunConfig.to_dict()
    config_hash: str  # RunConfig.digest: a sweep skips a run whose card has the same
    data: dict[str, Any]  # corpus, tokenizer, vocab_size, hashes
    parameters: dict[str, int]  # by block, and "total"
    curve: dict[str, list[Any]]  # "step", "train_loss", "valid_loss", ...: lists of one length
    final: dict[str, Any]  # step, loss, sd over validation batches, batches
    best: dict[str, Any]  # the same, at the step with the lowest validation loss
    volatile: dict[str, Any]  # commit, date, device, versions, tokens_per_s, wall_s, threads
    measured: dict[str, Any] = field(default_factory=dict)  # what the run's config asks of the weights; often nothing
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        _validate(asdict(self), where=f"card {self.variant!r}, seed {self.seed!r}")

    def loss(self, metric: Metric = "final") -> float:
        """Validation loss in nats per token; ``ValueError`` for a metric that is neither "final" nor "best"."""
        if metric not in get_args(Metric):
            raise ValueError(f"metric: expected one of {', '.join(get_args(Metric))}, got {metric!r}")
        return float(getattr(self, metric)["loss"])

    @property
    def setting(self) -> str:
        """What a table's row holds fixed ("PTB"), or "": variants are compared within it."""
        return str(self.config.get("setting", ""))

    @property
    def file_name(self) -> str:
        """``setting-variant-seedN.json``, in lower case with hyphens."""
        words = "".join(c if c.isalnum() else " " for c in f"{self.setting} {self.variant}".lower()).split()
        return f"{'-'.join(words)}-seed{self.seed}.json"


# What each field must be. A dotted name is a key inside a block; "number" is finite, "losses" may be null where unread.
SHAPE: dict[str, str] = {
    "schema": "count",
    "experiment": "text",
    "rung": "text",
    "variant": "name",
    "seed": "count",
    "config": "block",
    "config_hash": "name",
    "data": "block",
    "data.corpus": "name",
    "data.tokenizer": "name",
    "data.vocab_size": "count",
    "data.hashes": "block",
    "parameters": "counts",
    "parameters.total": "count",
    "curve": "curve",
    "curve.step": "losses",
    "final": "block",
    "best": "block",
    **{
        f"{block}.{key}": kind
        for block in ("final", "best")
        for key, kind in {"step": "count", "loss": "number", "sd": "number", "batches": "count"}.items()
    },
    "volatile": "block",
    "volatile.commit": "text",
    "volatile.date": "name",
    "volatile.device": "name",
    "volatile.versions": "block",
    "volatile.tokens_per_s": "number",
    "volatile.wall_s": "number",
    "volatile.threads": "count",
}
OPTIONAL = {"measured": "block"}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_losses(value: Any) -> bool:
    return isinstance(value, list) and all(entry is None or _is_number(entry) for entry in value)


def _is_curve(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_losses, value.values())) and len({*map(len, value.values())}) == 1


_KINDS = {
    "text": (lambda v: isinstance(v, str), "a string"),
    "name": (lambda v: isinstance(v, str) and bool(v), "a string that is not empty"),
    "count": (_is_count, "a whole number, zero or more"),
    "number": (_is_number, "a finite number"),
    "losses": (_is_losses, "a list of finite numbers"),
    "block": (lambda v: isinstance(v, Mapping), "a block (JSON object)"),
    "counts": (lambda v: isinstance(v, Mapping) and all(map(_is_count, v.values())), "a block of whole numbers"),
    "curve": (_is_curve, "a block of lists, all of one length, of finite numbers"),
}
_ABSENT = object()


def _validate(blocks: Mapping[str, Any], *, where: str) -> None:
    if (got := blocks.get("schema")) != SCHEMA:
        raise CardError(f"{where}: field 'schema': expected {SCHEMA}, got {got!r}; rerun the run with this version")
    asked = {name: kind for name, kind in OPTIONAL.items() if name in blocks}
    for name, kind in {**SHAPE, **asked}.items():
        value: Any = blocks
        for key in name.split("."):
            value = value.get(key, _ABSENT) if isinstance(value, Mapping) else _ABSENT
        accepts, expected = _KINDS[kind]
        if value is _ABSENT or not accepts(value):
            got = "nothing" if value is _ABSENT else f"{value!r:.80}"
            raise CardError(f"{where}: field {name!r}: expected {expected}, got {got}; rerun the run to mend it")
    if unknown := set(blocks) - {name.partition(".")[0] for name in SHAPE} - set(OPTIONAL):
        raise CardError(f"{where}: field {min(unknown)!r} is not in schema {SCHEMA}; a newer version wrote this card")


def read(path: str | Path) -> Card:
    """Read and validate one card; `CardError` names the file and the field."""
    try:
        blocks = json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise CardError(f"card {path}: expected JSON, got {error}; rerun the run to mend it") from error
    if not isinstance(blocks, dict):
        raise CardError(f"card {path}: expected a JSON object, got {type(blocks).__name__}")
    _validate(blocks, where=f"card {path}")
    return Card(**blocks)


def write(card: Card, folder: str | Path) -> Path:
    """Write the card into ``folder`` in one atomic step: a reader sees the whole card or none."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    blocks = (
        f" {json.dumps(key)}: {json.dumps(value, allow_nan=False)}"
        for key, value in asdict(card).items()
        if value or key not in OPTIONAL
    )
    text = "{\n" + ",\n".join(blocks) + "\n}\n"  # one line a block: short, and a change shows in a diff
    handle, partial = tempfile.mkstemp(dir=folder, prefix=".card-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(partial).chmod(0o644)
        Path(partial).replace(folder / card.file_name)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(partial).unlink()
        raise
    return folder / card.file_name


def load_all(experiment: str, rung: str, *, root: str | Path | None = None) -> list[Card]:
    """All cards of an experiment at a rung, by seed and variant; an empty list where none was committed.

    ``root`` defaults to the cards that come with the package (``rope_lab/results``).
    """
    folder = Path(root or RESULTS) / experiment / rung
    found = (read(path) for path in folder.glob("*.json"))
    return sorted(found, key=lambda card: (card.setting, card.seed, card.variant))


def published(experiment: str) -> dict[str, Any]:
    """The numbers that the experiment's source prints, by setting and variant; empty where it prints none.

    >>> published("placements")["losses"][""]["QK"]
    2.712
    """
    text = (Path(__file__).parent / "published.json").read_text(encoding="utf-8")
    return json.loads(text).get(experiment, {})


@dataclass(frozen=True)
class Interval:
    """A mean over ``n`` seeds with half the width of its 95 % Student t interval (infinite for one seed)."""

    mean: float
    half: float
    n: int

    @property
    def decided(self) -> bool:
        """The interval leaves zero out."""
        return abs(self.mean) > self.half

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.half:.3f}" if self.n > 1 else f"{self.mean:+.3f} (one seed)"


def interval(values: Iterable[float]) -> Interval:
    """Mean ± t_{0.975, n-1} · s / sqrt(n); one value alone decides nothing, so its half width is infinite.

    ``ValueError`` for no values at all, and for NaN or infinity among them.
    """
    values = list(values)
    if not values:
        raise ValueError("expected at least one value, got none: no seed has a card for this")
    if not all(map(math.isfinite, values)):
        raise ValueError(
            f"values: expected finite numbers, one for each seed, got {values}; look at the run that gave no number"
        )
    n, mean = len(values), statistics.fmean(values)
    if n == 1:
        return Interval(mean, math.inf, 1)
    return Interval(mean, t_quantile(0.975, n - 1) * statistics.stdev(values) / math.sqrt(n), n)


def paired(cards: Iterable[Card], variant: str, reference: str, *, metric: Metric = "final") -> Interval:
    """Loss of ``variant`` minus loss of ``reference``, seed by seed, over the seeds that have both.

    Runs of one seed share initial parameters and data order, so the difference has far less noise than either loss.
    """
    cards = list(cards)
    of, to = ({(c.setting, c.seed): c.loss(metric) for c in cards if c.variant == v} for v in (variant, reference))
    if len({setting for setting, _ in of}) > 1:
        raise ValueError(f"expected the cards of one setting, got {sorted({s for s, _ in of})}; filter by card.setting")
    return interval(of[key] - to[key] for key in sorted(of.keys() & to.keys()))


def t_quantile(probability: float, freedom: int) -> float:
    """Quantile of Student's t for whole degrees of freedom: bisection on the distribution's finite sum.

    >>> round(t_quantile(0.975, 2), 3)
    4.303
    """
    if not 0.5 <= probability < 1 or freedom < 1:
        raise ValueError(f"expected 0.5 <= probability < 1 and freedom >= 1, got {probability} and {freedom}")
    low, high = 0.0, math.pi / 2  # the angle whose tangent is t / sqrt(freedom): bounded, unlike t
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 + _within(middle, freedom)) / 2 < probability else (low, middle)
    return math.tan(low) * math.sqrt(freedom)


def _within(angle: float, freedom: int) -> float:
    """P(|t| <= sqrt(freedom) tan(angle)): an angle plus, or only, a sum of odd or even powers of its cosine."""
    sine, cosine, odd = math.sin(angle), math.cos(angle), freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(odd, freedom, 2):
        total += term
        term *= cosine**2 * (k + 1) / (k + 2)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
