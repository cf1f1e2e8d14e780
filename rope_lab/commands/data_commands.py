"""What the commands of `rope-lab data` do once their command line has been read."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from rope_lab.errors import printable
from rope_lab.training.data import sources
from rope_lab.training.files import make_folder


def get_data(name: str, *, force: bool, root: Path | None, progress: bool) -> None:
    """Fetch a corpus; its licence is said first."""
    corpus = sources.lookup(name)
    make_folder(sources.data_folder(root), option="--root" if root else "data folder")
    print(f"{name}: {corpus.about}. Licence: {corpus.licence}.")
    sources.get(name, root=root, force=force, progress=progress)
    print(f"{name}: files checked: {len(corpus.files)}. {_looked(root)}")


def list_data(root: Path | None) -> None:
    """The table of corpora."""
    shown = Table(caption=_looked(root))
    for column in ("corpus", "state", "MB", "about", "licence"):
        shown.add_column(column, justify="right" if column == "MB" else "left")
    for corpus in sources.registry().values():
        size = f"{corpus.size / 1e6:.1f}"
        shown.add_row(corpus.name, sources.state(corpus, root), size, corpus.about, corpus.licence)
    Console(markup=False, emoji=False).print(shown)


def _looked(root: Path | None) -> str:
    """Say in which folders the files are looked for; the package's own few are not said."""
    data, *copies = sources.folders(root)[:-1]
    return printable(f"Data folder: {data}" + "".join(f"; then copies in ROPE_LAB_DATA: {each}" for each in copies))


def verify_data(name: str | None, root: Path | None) -> bool:
    """Check what is here, or the corpus that is named; True if all of it is as it should be."""
    chosen = [sources.lookup(name)] if name is not None else list(sources.registry().values())
    fine = True
    for corpus in chosen:
        if name is None and sources.state(corpus, root) == "absent":
            print(f"{corpus.name}: absent")
            continue
        try:
            count = sum(1 for _ in sources.texts(corpus, root))
            print(f"{corpus.name}: as it should be, files read: {count}")
        except sources.CorpusError as error:
            fine = False
            print(error)
    return fine
