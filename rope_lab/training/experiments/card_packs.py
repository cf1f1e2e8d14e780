"""Cards on their way from one machine to another: packed into one file, and checked before they are taken in.

A pack is gzipped text: a first line with the number of its cards and the sha256 of each, then one line a card. It is
read in memory, to its end and within a bound, and nothing is parsed before the hashes agree.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from rope_lab.errors import ArgumentError, FileError, RopeLabError, printable
from rope_lab.reading import MOST, content, parse_json, reason
from rope_lab.training.data.corpora import known_hashes
from rope_lab.training.data.sources import CorpusError
from rope_lab.training.experiments.catalogue import experiment, names
from rope_lab.training.files import exclusive, replacing
from rope_lab.training.results import cards
from rope_lab.training.results.cards import Card, CardError
from rope_lab.training.run.config import RunConfig

HEAD = 1_000_000  # bytes of a pack's first line: room for ten thousand cards


class PackError(RopeLabError, ValueError):
    """A pack that cannot be read or taken in. The message names the file, without control characters."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


@dataclass(frozen=True)
class Checked:
    """One card of a pack, and why it does not belong."""

    file: str  # its name in the pack
    card: Card | None  # none where it could not be read
    faults: tuple[str, ...]  # empty: it belongs

    @property
    def fine(self) -> bool:
        """Whether the card belongs."""
        return not self.faults


def pack(name: str, rung: str, *, root: str | Path, out: str | Path) -> int:
    """Write the cards of an experiment into one pack; the same cards give the same bytes.

    Args:
        name: The experiment.
        rung: "cpu", "colab" or "paper".
        root: The folder of the cards, as in `cards.load_all`.
        out: The file, by custom ``NAME-RUNG.jsonl.gz``. It is whole or absent, whatever happens meanwhile.

    Returns:
        How many cards it holds.

    Raises:
        CardError: If a card cannot be read.
        FileError: If the file cannot be written.
    """
    packed = sorted(cards.load_all(name, rung, root=root), key=lambda card: card.file_name)
    lines = [cards.line(card).encode() for card in packed]
    head = json.dumps({"cards": len(lines), "sha256": [hashlib.sha256(line).hexdigest() for line in lines]})
    place = Path(out)
    try:
        with replacing(place) as file:
            file.write(gzip.compress(b"\n".join([head.encode(), *lines, b""]), mtime=0))
    except OSError as error:
        raise FileError(f"{place}: expected a file that can be written, got {reason(error)}; name another") from error
    return len(packed)


def check(source: str | Path) -> list[Checked]:
    """Does each card belong to an experiment of this version of the book?

    A card belongs if it can be read, stands at its own place, is the card of its own config, if its config is a run of
    the experiment, if it was trained on the book's texts, by committed code, to the run's last step. All this compares
    what the card says; it proves nothing.

    Args:
        source: A pack, or a folder of cards as `cards.load_all` reads it.

    Returns:
        Each card with its faults, by file name; what a stranger wrote stands there without control characters.

    Raises:
        PackError: If there is no such file, if it is no whole pack, or if it holds no card.
    """
    path = Path(source)
    try:
        if not path.exists():
            raise PackError(f"{source}: expected a pack (.jsonl.gz) or a folder of cards, found nothing of that name")
        texts = _in_folder(path) if path.is_dir() else _in_pack(path)
        runs = cache(lambda name, rung: {run.digest for run in experiment(name, rung).runs})
        checks: dict[str, Checked] = {}
        for at, where, data in texts:
            each = _checked(at, where, data, runs)
            if (first := checks.setdefault(each.file, each)).card != each.card:
                second = f"expected one card of this name, got a second with other content, {where}; take one away"
                checks[each.file] = replace(first, faults=(*first.faults, printable(second)))
    except OSError as error:  # a name that is too long, a folder that may not be read
        raise PackError(f"{source}: expected a pack or a folder of cards, got {reason(error)}") from error
    if not checks:
        raise PackError(f"{source}: expected cards in EXPERIMENT/RUNG/, found none; `rope-lab sweep` writes them")
    return [checks[name] for name in sorted(checks)]


def add(source: str | Path, *, root: str | Path, keep: bool = False) -> dict[str, list[str]]:
    """Take cards into the files of their experiments and rungs, if all of them belong; none is replaced.

    Args:
        source: A pack, or a folder of cards.
        root: The folder that holds EXPERIMENT/RUNG.jsonl. Each file is replaced in one step: after a kill the same call
            goes on.
        keep: Where a card of that name is there with other content, keep it and take the rest.

    Returns:
        File names: "added", and "kept" where a card of that name was there before.

    Raises:
        PackError: If a card does not belong, or if another one of its name is there. Then none is taken.
        CardError: If a card in ``root`` cannot be read.
        FileError: If the folder cannot be written.
    """
    checks = check(source)
    if refused := [each for each in checks if not each.fine]:
        raise PackError(
            f"{source}: expected cards that belong, got {len(refused)} of {len(checks)} that do not, such as "
            f"{refused[0].file}: {refused[0].faults[0]}; `rope-lab cards check` names all"
        )
    with exclusive(Path(root), wait=True):  # two who add at once
        return _add(source, checks, root=root, keep=keep)


def _add(source: str | Path, checks: list[Checked], *, root: str | Path, keep: bool) -> dict[str, list[str]]:
    done: dict[str, list[str]] = {"added": [], "kept": []}
    files: dict[Path, dict[str, Card]] = {}  # the lines of each file, those that were there and the new ones
    changed = set()
    for each in checks:
        card = each.card
        assert card is not None  # one that could not be read has a fault
        path = cards.places(card.experiment, card.rung, root=root)[1]
        if path not in files:
            there = {old.file_name: old for old in cards.load_all(card.experiment, card.rung, root=root)}
            before = [cards.parsed(*text) for text in cards.texts(path)] if path.exists() else []
            files[path] = {old.file_name: old for old in before}
        old = there.get(card.file_name, card)
        if not keep and replace(old, volatile=card.volatile) != card:
            raise PackError(
                f"{source}: {each.file}: expected the card that is there, of the run {old.config_hash} with the loss "
                f"{old.loss()!r}, got one of the run {card.config_hash} with the loss {card.loss()!r}; --keep keeps "
                "what is there and takes the rest, and a card that is taken out of its file gives way to the new one"
            )
        new = old == card and card.file_name not in files[path]  # also one that a sweep left there as a file of its own
        done["added" if new else "kept"].append(each.file)
        if new:
            files[path][card.file_name] = card
            changed.add(path)
    for path in changed:
        cards.write_all(files[path].values(), path)
    return done


Runs = Callable[[str, str], Collection[str]]  # the config hashes of an experiment at a rung


def faults_of(card: Card, runs: Runs | None = None) -> list[str]:
    """The reasons why a card does not belong to this version of the book; empty where it does.

    Args:
        card: The card.
        runs: What gives the hashes of an experiment's runs; default: made anew from the catalogue.

    Returns:
        Sentences: what was expected, what was got, and the mend.
    """
    if card.experiment not in names() and (said := _of_a_small_task(card)) is not None:
        return [printable(fault) for fault in (*said, _of_the_code(card)) if fault is not None]
    runs = runs or (lambda name, rung: {run.digest for run in experiment(name, rung).runs})
    faults = (
        _of_the_experiment(card, runs),
        *(rule(card) for rule in (_of_its_run, _of_the_texts, _of_the_code, _to_its_end)),
    )
    return [printable(fault) for fault in faults if fault is not None]


def _of_a_small_task(card: Card) -> list[str] | None:
    """The faults of a card whose experiment is a small task; None where there is no such task."""
    from rope_lab.training.experiments.small_tasks import SHOWN, config_hash, small_tasks  # with torch

    if not (task := small_tasks().get(card.experiment)):
        return None
    if card.rung != "cpu" or card.variant not in task.variants or card.seed not in task.seeds:
        got = f"{card.variant}, seed {card.seed}, at {card.rung}"
        return [f"variant: expected a run of {task.experiment} at cpu, got {got}"]
    config = task.run_config(card.variant, card.seed)
    steps = config["steps"]
    said: dict[str, tuple[Any, Any]] = {
        **{f"config.{key}": (config.get(key), card.config.get(key)) for key in config | card.config},
        "config_hash": (config_hash(config), card.config_hash),
        "data": ({"corpus": task.corpus, "tokenizer": "none", "vocab_size": task.classes, "hashes": {}}, card.data),
        "curve.step": ([step + 1 for step in range(0, steps, SHOWN)], card.curve["step"]),
        "final.step": (steps, card.final["step"]),
        "best": (card.final, card.best),
    }
    wrong = ((name, *pair) for name, pair in said.items() if pair[0] != pair[1])
    return [f"{name}: expected {want!s:.90}, as the task says, got {got!s:.90}; rerun it" for name, want, got in wrong]


def _of_its_run(card: Card) -> str | None:
    try:
        run = RunConfig.from_json(card.config)
    except ArgumentError as error:
        return f"config: {error}; this version cannot read the run"
    if run.digest != card.config_hash:
        return f"config_hash: expected {run.digest}, which its config has, got {card.config_hash}; rerun the run"
    named = {"experiment": run.experiment, "rung": run.rung, "variant": run.variant, "seed": run.seed}
    for field, expected in named.items():
        if (got := getattr(card, field)) != expected:
            return f"{field}: expected {expected!r}, which its config says, got {got!r}; rerun the run"
    return None


def _of_the_experiment(card: Card, runs: Runs) -> str | None:
    try:
        hashes = runs(card.experiment, card.rung)
    except ArgumentError as error:
        return str(error)
    if card.config_hash not in hashes:
        return (
            f"config_hash: expected a run of {card.experiment} at {card.rung}, got {card.config_hash}, which is none: "
            "another version of the book made it; rerun it with this one"
        )
    return None


def _of_the_texts(card: Card) -> str | None:
    corpus, got = card.data["corpus"], card.data["hashes"]
    if corpus != card.config.get("corpus") or card.data["tokenizer"] != card.config.get("tokenizer"):
        return f"data: expected the corpus and tokenizer of its config, got {corpus} and {card.data['tokenizer']}"
    try:
        known = known_hashes(corpus)
    except CorpusError as error:
        return f"data.corpus: {error}"
    if got not in known:
        return f"data.hashes: expected those of {corpus}, got others; `rope-lab data verify {corpus}` says which file"
    return None


def _of_the_code(card: Card) -> str | None:
    commit = card.volatile["commit"]
    if re.fullmatch(r"[0-9a-f]{40}", commit):
        return None
    got = "code that was changed after it" if commit.endswith("+") else f"{commit!r}"
    return f"volatile.commit: expected the commit of the code, got {got}; run from an unchanged clone"


def _to_its_end(card: Card) -> str | None:
    steps, last = card.config.get("steps"), card.curve["step"][-1] if card.curve["step"] else None
    if not card.final["step"] == steps == last:
        return f"final.step: expected {steps}, the steps of the run, got {card.final['step']} and a curve to {last}"
    if card.best["loss"] > card.final["loss"]:
        return f"best.loss: expected at most the final {card.final['loss']}, got {card.best['loss']}"
    if (got := card.curve.get("valid_loss", [None])[-1]) != card.final["loss"]:
        return f"final.loss: expected the last loss of its curve, {got}, got {card.final['loss']}"
    return None


def _checked(at: str, where: str, data: bytes, runs: Runs) -> Checked:
    """Return a text's card; ``at`` is the file in which it was found, empty in a pack, whose cards have no place."""
    try:
        card = cards.parsed(where, data)
        cards.line(card)  # one that cannot be written again is none: a number as large as infinity
    except (CardError, ValueError, RecursionError) as error:
        return Checked(printable(where), None, (printable(error),))
    faults = faults_of(card, runs)
    name = f"{card.experiment}/{card.rung}/{card.file_name}"
    if at and at not in (name, f"{card.experiment}/{card.rung}.jsonl"):
        faults.insert(0, printable(f"expected at {name}, found at {at}"))
    return Checked(printable(name if not at or at.endswith(".jsonl") else at), card, tuple(faults))


def _in_folder(folder: Path) -> Iterator[tuple[str, str, bytes]]:
    for path in sorted(folder.rglob("*.json*")):
        if path.suffix not in (".json", ".jsonl") or path.name == "checkpoint.json":  # of a run
            continue
        at = path.relative_to(folder).as_posix()
        try:
            for where, data in cards.texts(path):
                yield at, at + where.removeprefix(str(path)), data
        except CardError as error:
            raise PackError(str(error)) from error


def _in_pack(source: Path) -> Iterator[tuple[str, str, bytes]]:
    """Read a pack to the end of its stream and compare the number and the hashes; only then is a card looked at."""
    mend = "copy it again, or let `rope-lab sweep` write it again"
    stream = zlib.decompressobj(wbits=31)  # one gzip stream with its checksum
    try:
        data = stream.decompress(content(source), MOST)
    except zlib.error as error:
        raise PackError(f"{source}: expected a pack of cards, which is gzipped, got {error}; {mend}") from error
    if not stream.eof or stream.unused_data:
        got = "more after its end" if stream.eof else "one that is cut short or larger"
        raise PackError(f"{source}: expected a whole pack of at most {MOST:,} bytes, got {got}; {mend}")
    if data[257:262] == b"ustar":
        raise PackError(
            f"{source}: expected a pack that states its cards and their hashes, got an older one, a .tar.gz; make a "
            f"folder, unpack it there with `tar xzf {source.name} -C FOLDER`, and name the folder"
        )
    head, _, body = data.partition(b"\n")
    try:
        promise = parse_json(head if len(head) <= HEAD else b"{}")
        number, hashes = promise["cards"], promise["sha256"]
        stated = isinstance(hashes, list) and number == len(hashes)
    except (ValueError, TypeError, KeyError):
        stated = False
    if not stated:
        raise PackError(f"{source}: expected a first line with the number of cards and their hashes, got none; {mend}")
    if (count := body.count(b"\n")) != number or not data.endswith(b"\n"):
        raise PackError(f"{source}: expected {number} cards, as its first line says, got {count} lines; {mend}")
    lines = body.split(b"\n")[:-1]
    for count, (line, expected) in enumerate(zip(lines, hashes, strict=True), 1):
        if (got := hashlib.sha256(line).hexdigest()) != expected:
            raise PackError(f"{source}: card {count}: expected the sha256 {expected!s:.64}, got {got}; {mend}")
    for count, line in enumerate(lines, 1):
        yield "", f"{source.name}:{count}", line


def as_json(found: list[Checked]) -> str:
    """The answers of `check` as JSON."""
    return json.dumps([{"file": each.file, "fine": each.fine, "faults": list(each.faults)} for each in found], indent=1)
