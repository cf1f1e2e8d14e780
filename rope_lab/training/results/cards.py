"""Result cards: what one training run found, as one JSON object.

A run writes its card into a file of its own, ``EXPERIMENT/RUNG/NAME.json``. The committed cards of an experiment at a
rung are the lines of one file, ``EXPERIMENT/RUNG.jsonl``, by name. `text` and `line` make these two forms, the same to
the byte whichever of them the card was read from; whoever loads cards finds both.

The Python standard library is all this module needs, so that a page, a figure or a claim can read the numbers
without torch. A card says what was asked (config, seed), what went in (hashes of the data), what came out
(parameters by block, curve, final and best validation loss), and, apart from these, what changes from one
machine or day to the next (block ``volatile``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, get_args

from rope_lab.errors import ArgumentError, FileError, RopeLabError, printable
from rope_lab.reading import MOST, content, parse_json, reason
from rope_lab.training.fields import BLOCK, COUNT, FOLDER_NAME, NAME, NUMBER, TEXT, Kind, are_numbers, is_whole
from rope_lab.training.files import replacing

SCHEMA = 1
RESULTS = Path(__file__).resolve().parents[2] / "results"  # the committed cards travel with the package
Metric = Literal["final", "best"]


class CardError(RopeLabError, ValueError):
    """A card that does not follow the schema. The message names the file and the field, without control characters."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


@dataclass(frozen=True)
class Card:
    """One run's result. ``Card(**blocks)`` validates; see `FIELDS` for what each block must hold."""

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
        _validate(vars(self), where=f"card {self.variant!r}, seed {self.seed!r}")

    def loss(self, metric: Metric = "final") -> float:
        """Validation loss in nats per token.

        Raises:
            ValueError: the metric is neither "final" nor "best".
        """
        if metric not in get_args(Metric):
            raise ValueError(f"metric: expected one of {', '.join(get_args(Metric))}, got {metric!r}")
        return float(getattr(self, metric)["loss"])

    @property
    def train_loss(self) -> float:
        """The mean training loss over the last tenth of the run, in nats per token."""
        losses = [loss for loss in self.curve["train_loss"] if loss is not None]
        return fmean(losses[-max(1, len(losses) // 10) :])

    @property
    def setting(self) -> str:
        """The setting that a table's row holds fixed ("PTB"), or "": variants are compared within it."""
        return str(self.config.get("setting", ""))

    @property
    def file_name(self) -> str:
        """``setting-variant-seedN.json``, in lower case with hyphens."""
        return file_name(self.setting, self.variant, self.seed)


def file_name(setting: str, variant: str, seed: int) -> str:
    """The name of a card's file, also before there is a card."""
    words = "".join(c if c.isalnum() else " " for c in f"{setting} {variant}".lower()).split()
    return f"{'-'.join(words)}-seed{seed}.json"


def _is_losses(value: Any) -> bool:
    return isinstance(value, list) and are_numbers([entry for entry in value if entry is not None])


def _is_curve(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_losses, value.values())) and len({*map(len, value.values())}) == 1


def _is_counts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(is_whole(entry) and entry >= 0 for entry in value.values())


_COUNTS = Kind(_is_counts, "a block of whole numbers")
_LOSSES = Kind(_is_losses, "a list of finite numbers, null where none was taken")
_CURVE = Kind(_is_curve, "a block of lists, all of one length, of finite numbers")
_LOSS = {"step": COUNT, "loss": NUMBER, "sd": NUMBER, "batches": COUNT}
# What each field must be; a block is followed by the fields that it must have, and may have others.
FIELDS: dict[str, Kind | tuple[Kind, dict[str, Kind]]] = {
    "schema": COUNT,
    "experiment": TEXT,
    "rung": TEXT,
    "variant": NAME,
    "seed": COUNT,
    "config": BLOCK,
    "config_hash": NAME,
    "data": (BLOCK, {"corpus": NAME, "tokenizer": NAME, "vocab_size": COUNT, "hashes": BLOCK}),
    "parameters": (_COUNTS, {"total": COUNT}),
    "curve": (_CURVE, {"step": _LOSSES}),
    "final": (BLOCK, _LOSS),
    "best": (BLOCK, _LOSS),
    "volatile": (
        BLOCK,
        {
            "commit": TEXT,
            "date": NAME,
            "device": NAME,
            "versions": BLOCK,
            "tokens_per_s": NUMBER,
            "wall_s": NUMBER,
            "threads": COUNT,
        },
    ),
}
OPTIONAL = {"measured": BLOCK}
_ABSENT = object()


def _validate(blocks: Mapping[str, Any], *, where: str) -> None:
    if (got := blocks.get("schema")) != SCHEMA:
        raise CardError(f"{where}: field 'schema': expected {SCHEMA}, got {got!r}; rerun the run with this version")
    for name, kind, value in _values(blocks):
        if value is _ABSENT or not kind.accepts(value):
            said = "nothing" if value is _ABSENT else f"{value!r:.80}"
            raise CardError(f"{where}: field {name!r}: expected {kind.expected}, got {said}; rerun the run")
    if unknown := set(blocks) - FIELDS.keys() - OPTIONAL.keys():
        raise CardError(f"{where}: field {min(unknown)!r} is not in schema {SCHEMA}; a newer version wrote this card")


def _values(blocks: Mapping[str, Any]) -> Iterator[tuple[str, Kind, Any]]:
    """Each field's name, kind and value; a field inside a block comes after it, as ``block.field``."""
    for name, entry in FIELDS.items():
        kind, inside = entry if isinstance(entry, tuple) else (entry, {})
        value = blocks.get(name, _ABSENT)
        yield name, kind, value
        for key, inner in inside.items():
            yield f"{name}.{key}", inner, value.get(key, _ABSENT)
    for name, kind in OPTIONAL.items():
        if name in blocks:
            yield name, kind, blocks[name]


def read(path: str | Path) -> Card:
    """Read and validate one card.

    Args:
        path: The JSON file.

    Returns:
        The card.

    Raises:
        CardError: If the file cannot be read, is not JSON, or has a field that breaks the schema; the message names
            the file and the field.
    """
    return parsed(*_content(Path(path)))


def parsed(where: str, data: bytes) -> Card:
    """Return the card that a text holds.

    Args:
        where: What an error calls it: a file, or a line of one.
        data: The text, in either form.

    Returns:
        The card.

    Raises:
        CardError: If the text is not JSON, or has a field that breaks the schema.
    """
    try:
        blocks = parse_json(data)
    except ArgumentError as error:
        raise CardError(f"card {where}: expected JSON, got {error}; rerun the run") from error
    if not isinstance(blocks, dict):
        raise CardError(f"card {where}: expected a JSON object, got {type(blocks).__name__}")
    _validate(blocks, where=f"card {where}")
    card = object.__new__(Card)  # checked a line above: to check it again would double the time of loading
    vars(card).update({"measured": {}, **blocks})
    return card


def texts(path: Path) -> list[tuple[str, bytes]]:
    """Return the texts of a file's cards: the whole file, or each line of a ``.jsonl``.

    Args:
        path: The file.

    Returns:
        What an error calls it, and the text: what `parsed` takes.

    Raises:
        CardError: If the file cannot be read.
    """
    where, data = _content(path)
    if path.suffix != ".jsonl":
        return [(where, data)]
    return [(f"{where}:{number}", each) for number, each in enumerate(data.splitlines(), 1)]


def _content(path: Path) -> tuple[str, bytes]:
    try:
        return str(path), content(path, most=MOST)
    except OSError as error:
        raise CardError(f"card {path}: expected a file that can be read, got {reason(error)}") from error


def text(card: Card) -> str:
    """Return the text of the card's own file: one line a block, so that it is short and a change shows in a diff."""
    return "{\n " + ",\n ".join(_blocks(card)) + "\n}\n"


def line(card: Card) -> str:
    """Return the card as one line of its experiment's file, without the line's end."""
    return "{" + ", ".join(_blocks(card)) + "}"


def _blocks(card: Card) -> Iterator[str]:
    for each in fields(Card):
        if (value := getattr(card, each.name)) or each.name not in OPTIONAL:
            yield f"{json.dumps(each.name)}: {json.dumps(value, allow_nan=False)}"


def write(card: Card, folder: str | Path) -> Path:
    """Write the card into ``folder`` in one atomic step: a reader sees the whole card or none.

    Args:
        card: The card.
        folder: Where its file goes; made if it is missing. A card of the same setting, variant and seed is replaced.

    Returns:
        The path of the file.

    Raises:
        FileError: If the folder cannot be written.
    """
    return _write(text(card), Path(folder) / card.file_name)


def write_all(found: Iterable[Card], path: Path) -> Path:
    """Write cards as the lines of one file, by name, in one atomic step: the new file takes the old one's place.

    Args:
        found: The cards of one experiment at one rung, each name once.
        path: The file, a ``.jsonl``; its folder is made if it is missing.

    Returns:
        The path of the file.

    Raises:
        FileError: If the file cannot be written.
    """
    return _write("".join(f"{line(card)}\n" for card in sorted(found, key=lambda card: card.file_name)), path)


def _write(content: str, path: Path) -> Path:
    try:
        with replacing(path) as file:
            file.write(content.encode())
    except OSError as error:
        raise FileError(f"card {path}: expected a folder that can be written, got {reason(error)}") from error
    return path


def places(experiment: str, rung: str, *, root: str | Path | None = None) -> tuple[Path, Path]:
    """Return where the cards of an experiment at a rung lie: a folder of single cards, and a file of one card a line.

    Args:
        experiment: Its name, such as "placements".
        rung: "cpu", "colab" or "paper".
        root: The folder that holds EXPERIMENT/. Default: the cards that come with the package.

    Returns:
        ``EXPERIMENT/RUNG`` and ``EXPERIMENT/RUNG.jsonl``; either may be absent.

    Raises:
        ArgumentError: If one of the names is that of no folder.
    """
    for what, name in (("experiment", experiment), ("rung", rung)):
        if not FOLDER_NAME.accepts(name):
            raise ArgumentError(f"{what}: expected {FOLDER_NAME.expected}; got {name!r:.120}")
    folder = Path(root or RESULTS) / experiment
    return folder / rung, folder / f"{rung}.jsonl"


def load_all(experiment: str, rung: str, *, root: str | Path | None = None) -> list[Card]:
    """All cards of an experiment at a rung; an empty list where there is none.

    Args:
        experiment: Its name, such as "placements".
        rung: "cpu", "colab" or "paper".
        root: The folder that holds EXPERIMENT/RUNG.jsonl, or the single cards of a sweep in EXPERIMENT/RUNG/, or both.
            Default: the cards that come with the package.

    Returns:
        The cards, by setting, seed and variant.

    Raises:
        CardError: If a card cannot be read, belongs to another experiment or rung, or has the name of another card.
    """
    folder, lines = places(experiment, rung, root=root)
    by_name: dict[str, Card] = {}
    for path in (*([lines] if lines.exists() else []), *folder.glob("*.json")):
        for where, data in texts(path):
            card = parsed(where, data)
            if (card.experiment, card.rung) != (experiment, rung):
                raise CardError(
                    f"{where}: expected a card of {experiment} at the rung {rung}, got one of {card.experiment} at "
                    f"{card.rung}; move it to {card.experiment}/{card.rung}/"
                )
            if by_name.setdefault(card.file_name, card) != card:
                raise CardError(
                    f"{where}: expected each card of {folder} once, got a second {card.file_name} with other content; "
                    "take one of them away"
                )
    return sorted(by_name.values(), key=lambda card: (card.setting, card.seed, card.variant))


def load_every(experiments: str = "*", *, root: str | Path | None = None) -> list[Card]:
    """All cards of the experiments whose names match a pattern.

    Args:
        experiments: The pattern, such as "crope-*".
        root: As in `load_all`.

    Returns:
        The cards, by experiment, rung, setting, seed and variant.

    Raises:
        CardError: As in `load_all`.
    """
    there = [
        path for path in Path(root or RESULTS).glob(f"{experiments}/*") if path.suffix == ".jsonl" or path.is_dir()
    ]
    named = {(path.parent.name, path.name.removesuffix(".jsonl")) for path in there}
    return [card for experiment, rung in sorted(named) for card in load_all(experiment, rung, root=root)]


def published(experiment: str) -> dict[str, Any]:
    """The numbers that the experiment's source prints, by setting and variant; empty where it prints none.

    Args:
        experiment: Its name, such as "placements".

    Returns:
        A dictionary: under "source" the place in the text, under "losses" the printed losses by setting and variant:
        a number each, or a list of the loss and the number printed beside it.

    >>> published("placements")["losses"][""]["QK"]
    2.712
    """
    text = (Path(__file__).parent / "published.json").read_text(encoding="utf-8")
    return json.loads(text).get(experiment, {})
