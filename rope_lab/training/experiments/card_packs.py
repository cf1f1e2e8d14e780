"""Cards on their way from one machine to another: packed into one file, and checked before they are taken in."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rope_lab.errors import ArgumentError, FileError, RopeLabError
from rope_lab.training.data.corpora import known_hashes
from rope_lab.training.data.sources import CorpusError
from rope_lab.training.experiments.catalogue import experiment
from rope_lab.training.files import reason, replacing
from rope_lab.training.results import cards
from rope_lab.training.results.cards import Card, CardError
from rope_lab.training.run.config import RunConfig

LARGEST = 1_000_000  # bytes of one card; the largest of the book has a tenth of it
MOST = 10_000  # cards of one pack


class PackError(RopeLabError, ValueError):
    """A pack that cannot be read or taken in. The message names the file."""


@dataclass(frozen=True)
class Checked:
    """One card of a pack, and why it does not belong."""

    file: str  # its name in the pack
    card: Card | None  # none where it could not be read
    faults: tuple[str, ...]  # empty: it belongs

    @property
    def fine(self) -> bool:
        """The card belongs."""
        return not self.faults


def pack(name: str, rung: str, *, root: str | Path, out: str | Path) -> int:
    """Write the cards of an experiment into one ``.tar.gz``; the same cards give the same bytes.

    Args:
        name: The experiment.
        rung: "cpu", "colab" or "paper".
        root: The folder that holds EXPERIMENT/RUNG/.
        out: The file. It is whole or absent, whatever happens meanwhile.

    Returns:
        How many cards it holds.

    Raises:
        CardError: If a card cannot be read.
        FileError: If the file cannot be written.
    """
    found = cards.load_all(name, rung, root=root)
    place = Path(out)
    try:
        with (
            replacing(place) as file,
            gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w") as tar,
        ):
            for card in sorted(found, key=lambda card: card.file_name):
                content = (Path(root) / name / rung / card.file_name).read_bytes()
                entry = tarfile.TarInfo(f"{name}/{rung}/{card.file_name}")
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    except OSError as error:
        raise FileError(f"{place}: expected a file that can be written, got {reason(error)}; name another") from error
    return len(found)


def check(source: str | Path) -> list[Checked]:
    """Does each card belong to an experiment of this version of the book?

    A card belongs if it can be read, stands at its own place, is the card of its own config, if its config is a run of
    the experiment, if it was trained on the book's texts, by committed code, to the run's last step.

    Args:
        source: A ``.tar.gz`` that `pack` wrote, or a folder that holds EXPERIMENT/RUNG/.

    Returns:
        Each card with its faults, by file name.

    Raises:
        PackError: If there is no such file, if it is no pack, or if it holds no card.
    """
    with _folder(Path(source)) as folder:
        found = [_checked(path, folder) for path in sorted(folder.rglob("*.json"))]
    if not found:
        raise PackError(f"{source}: expected cards in EXPERIMENT/RUNG/, found none; `rope-lab sweep` writes them")
    return found


def add(source: str | Path, *, root: str | Path) -> dict[str, list[str]]:
    """Take the cards of a pack into a folder, if all of them belong. A card that is there already is never replaced.

    Args:
        source: A ``.tar.gz`` that `pack` wrote, or a folder that holds EXPERIMENT/RUNG/.
        root: The folder that holds EXPERIMENT/RUNG/.

    Returns:
        File names: "added", and "kept" where a card of that run was there before.

    Raises:
        PackError: If a card does not belong. Then none is taken.
        FileError: If the folder cannot be written.
    """
    found = check(source)
    if refused := [each for each in found if not each.fine]:
        raise PackError(
            f"{source}: expected cards that belong, got {len(refused)} of {len(found)} that do not, such as "
            f"{refused[0].file}: {refused[0].faults[0]}; `rope-lab cards check` names all"
        )
    done: dict[str, list[str]] = {"added": [], "kept": []}
    for each in found:
        card = each.card
        assert card is not None  # one that could not be read has a fault
        folder = Path(root) / card.experiment / card.rung
        there = (folder / card.file_name).exists()
        if not there:
            cards.write(card, folder)
        done["kept" if there else "added"].append(each.file)
    return done


def faults_of(card: Card) -> list[str]:
    """Why a card does not belong to this version of the book; empty where it does.

    Args:
        card: The card.

    Returns:
        Sentences: what was expected, what was got, and the mend.
    """
    rules = (_of_the_experiment, _of_its_run, _of_the_texts, _of_the_code, _to_its_end)
    return [said for rule in rules if (said := rule(card)) is not None]


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


def _of_the_experiment(card: Card) -> str | None:
    try:
        asked = experiment(card.experiment, card.rung)
    except ArgumentError as error:
        return str(error)
    if card.config_hash not in {run.digest for run in asked.runs}:
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


def _checked(path: Path, folder: Path) -> Checked:
    file = path.relative_to(folder).as_posix()
    try:
        card = cards.read(path)
    except CardError as error:
        return Checked(file, None, (str(error).replace(str(path), file),))
    faults = faults_of(card)
    if file != (place := f"{card.experiment}/{card.rung}/{card.file_name}"):
        faults.insert(0, f"expected at {place}, found at {file}")
    return Checked(file, card, tuple(faults))


@contextmanager
def _folder(source: Path) -> Iterator[Path]:
    """The folder itself, or a passing one with what is in the pack."""
    if source.is_dir():
        yield source
        return
    with tempfile.TemporaryDirectory() as made:
        try:
            with tarfile.open(source, "r:gz") as tar:
                for number, entry in enumerate(tar):
                    if number >= MOST or entry.size > LARGEST:
                        raise PackError(f"{source}: expected at most {MOST:,} cards of at most {LARGEST:,} bytes each")
                    if entry.isfile() and re.fullmatch(r"\w[\w.-]*/\w[\w.-]*/\w[\w.-]*\.json", entry.name):
                        tar.extract(entry, made, filter="data")
        except (OSError, EOFError, tarfile.TarError) as error:
            said = reason(error) if isinstance(error, OSError) else str(error)
            raise PackError(f"{source}: expected a .tar.gz of cards, got {said}") from error
        yield Path(made)


def as_json(found: list[Checked]) -> str:
    """The answers of `check` as JSON."""
    return json.dumps([{"file": each.file, "fine": each.fine, "faults": list(each.faults)} for each in found], indent=1)
