"""Where a corpus comes from: the pinned list of its files, where they lie, and whether they are what they should be.

A file is looked for under its relative name (``wikitext-2/train.txt``, or the same with ``.xz``) in the data folder
and then in the folder that ``ROPE_LAB_DATA`` names: copies for a machine without a network. The sha256 is that of the
uncompressed text, and no text is handed out before it has been checked.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import queue
import tarfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from tqdm import tqdm

from rope_lab.errors import RopeLabError, near
from rope_lab.reading import reason

PACKAGED = Path(__file__).parent


class CorpusError(RopeLabError, ValueError):
    """A corpus that is unknown, absent or damaged. The message names the file and the command that fetches it."""


@dataclass(frozen=True)
class TextFile:
    """One file of a corpus: its place, its address, and the length and sha256 of its uncompressed text."""

    split: str  # "train", "valid", "test", or "all" where the corpus cuts one file itself
    path: str  # relative: "wikitext-2/train.txt"
    url: str
    size: int
    sha256: str
    also: str = ""  # sha256 of a second text that is accepted: a known copy that differs by two bytes


@dataclass(frozen=True)
class Source:
    """A corpus by name: its files and what a reader must know before fetching them."""

    name: str
    about: str
    licence: str
    files: tuple[TextFile, ...]
    crlf: bool = False  # lines end in CR LF: open as text
    cuts: Mapping[str, tuple[float, float]] | None = None  # split -> share of the one file's characters
    archive: tuple[str, str] | None = None  # (relative name of a tar.xz, what to put before a member's name)

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


Registry = Mapping[str, Source]


@cache
def registry() -> Registry:
    """The corpora of this book, from ``data/corpora.json``."""
    entries = json.loads((PACKAGED / "corpora.json").read_text(encoding="utf-8"))
    return {name: source(name, entry) for name, entry in entries.items()}


def source(name: str, entry: Mapping) -> Source:
    """A `Source` from its JSON entry; a file is ``[split, name, bytes, sha256]`` and perhaps a second sha256."""
    listed = (
        TextFile(split, f"{entry['folder']}/{path}", entry["url"] + path, size, *hashes)
        for split, path, size, *hashes in entry["files"]
    )
    cuts = {split: (float(start), float(end)) for split, (start, end) in entry.get("cuts", {}).items()}
    return Source(
        name,
        entry["about"],
        entry["licence"],
        tuple(listed),
        entry.get("crlf", False),
        cuts or None,
        tuple(entry["archive"]) if "archive" in entry else None,
    )


def lookup(name: str, known: Registry | None = None) -> Source:
    """The source of that name.

    Raises:
        CorpusError: there is none; the message says which there are.
    """
    known = registry() if known is None else known
    if name not in known:
        raise CorpusError(f"corpus: expected one of {', '.join(known)}, got {name!r:.80}{near(name, known)}")
    return known[name]


def data_folder(root: str | Path | None = None) -> Path:
    """``root``, or ``$ROPE_LAB_CACHE``, or the user's cache folder: what is fetched and tokenised goes here.

    Args:
        root: A folder that goes before the others. Default: `$ROPE_LAB_CACHE`; where that is not set, the folder
            `rope-lab` in `$XDG_CACHE_HOME` or `~/.cache`.

    Returns:
        The path. The folder is not made.
    """
    if named := root or os.environ.get("ROPE_LAB_CACHE"):
        return Path(named)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rope-lab"
    except RuntimeError as error:  # a user without a home
        raise CorpusError(f"ROPE_LAB_CACHE: expected a folder for what is fetched, got {error} set it") from error


def folders(root: str | Path | None = None) -> list[Path]:
    """The folders where files are looked for, in this order; the package's own comes last."""
    copies = os.environ.get("ROPE_LAB_DATA")
    return [data_folder(root), *([Path(copies)] if copies else []), PACKAGED]


def locate(path: str, root: str | Path | None = None) -> Path | None:
    """The first folder's copy of a relative name, plain or packed with xz."""
    places = (folder / (path + suffix) for folder in folders(root) for suffix in ("", ".xz"))
    return next((place for place in places if place.is_file()), None)


def texts(corpus: Source, root: str | Path | None = None) -> Iterator[tuple[TextFile, bytes, str]]:
    """Each file with its checked bytes and their sha256, in the list's order.

    Raises:
        CorpusError: a file that is absent or damaged. Nothing of that file has been given out before.
    """
    members: dict[str, bytes] = {}
    for file in corpus.files:
        place = locate(file.path, root)
        if place is None and corpus.archive and not members:
            members = _members(corpus, root)
        if place is None and file.path not in members:
            raise CorpusError(
                f"{corpus.name}: expected {file.path}, found no such file; `rope-lab data get {corpus.name}` fetches it"
            )
        content = _unpack(corpus, place, most=file.size + 2) if place else members.pop(file.path)
        got = hashlib.sha256(content).hexdigest()
        if got not in (file.sha256, file.also):
            raise CorpusError(
                f"{corpus.name}: {place or file.path} is damaged: expected {file.size:,} bytes with sha256 "
                f"{file.sha256}, got {len(content):,} with {got}; "
                f"`rope-lab data get {corpus.name} --force` fetches it again"
            )
        yield file, content, got


def _unpack(corpus: Source, place: Path, *, most: int) -> bytes:
    """The content of a file, or as much of it as shows that it is too long."""
    try:
        with lzma.open(place) if place.suffix == ".xz" else place.open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise CorpusError(
            f"{corpus.name}: expected {place} to be a file that can be read, got {reason(error)}"
        ) from error
    except (lzma.LZMAError, EOFError) as error:
        raise CorpusError(
            f"{corpus.name}: {place} is damaged: expected an xz file, got {error}; "
            f"`rope-lab data get {corpus.name} --force` fetches its text again"
        ) from error


def _members(corpus: Source, root: str | Path | None) -> dict[str, bytes]:
    """The files of the archive, read in one pass; empty where there is no archive."""
    name, prefix = corpus.archive or ("", "")
    if (place := locate(name, root)) is None:
        return {}
    try:
        with tarfile.open(place, "r|xz") as tar:  # as a stream: seeking in xz means unpacking again
            sizes = {file.path: file.size + 2 for file in corpus.files}  # others are not read, nor more of these
            opened = ((prefix + e.name, tar.extractfile(e)) for e in tar if e.isfile() and prefix + e.name in sizes)
            return {member: file.read(sizes[member]) for member, file in opened if file}
    except (OSError, tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise CorpusError(f"{corpus.name}: {place} is damaged: expected a tar.xz, got {error}; delete it") from error


def state(corpus: Source, root: str | Path | None = None) -> str:
    """``"present"``, ``"3 of 92 files"`` or ``"absent"``, by name alone; `texts` reads and checks."""
    if corpus.archive and locate(corpus.archive[0], root):
        return "present"
    found = sum(locate(file.path, root) is not None for file in corpus.files)
    return {0: "absent", len(corpus.files): "present"}.get(found, f"{found} of {len(corpus.files)} files")


def get(
    name: str,
    *,
    root: str | Path | None = None,
    force: bool = False,
    progress: bool = True,
    known: Registry | None = None,
) -> Path:
    """Fetch what is absent of a corpus into the data folder, check it all, and return that folder.

    With ``force`` a damaged file is fetched again too.

    Raises:
        CorpusError: no corpus of that name, or a damaged file.
        DownloadError: a file that could not be fetched.
    """
    corpus, target = lookup(name, known), data_folder(root)
    absent = [file for file in corpus.files if force or locate(file.path, root) is None]
    if not force and corpus.archive and locate(corpus.archive[0], root):
        absent = []
    total = sum(file.size for file in absent)
    with tqdm(total=total, unit="B", unit_scale=True, desc=name, disable=not (progress and absent)) as bar:
        for file in absent:
            fetch(file.url, target / file.path, size=file.size, sha256=file.sha256)
            bar.update(file.size)
    for _ in texts(corpus, root):
        pass
    return target


RETRIES = 2  # of a broken connection, within one call
TIMEOUT_S = 30  # without a byte
LEAST_S, SLOWEST = 120.0, 10_000  # a file has so many seconds, and one more for so many bytes


class DownloadError(RopeLabError, OSError):
    """A file that could not be fetched. The message names the file, what was expected and what came."""


def fetch(url: str, target: Path, *, size: int, sha256: str) -> Path:
    """Fetch ``url`` into ``target``, unless the file that is pinned lies there already.

    No more than ``size`` bytes are read, and there is an end to the time that all of it may take.

    Raises:
        DownloadError: no answer, none in time, another text than the pinned one, or a folder that cannot be written.
            Nothing is kept.
    """
    import pooch  # only here: a machine without a network reads the files that it was given
    from requests import ConnectionError as NoConnectionError
    from requests import RequestException

    pooch.get_logger().setLevel("ERROR")  # what is fetched, the caller says
    folder = pooch.create(
        target.parent,
        base_url="",
        registry={target.name: f"sha256:{sha256}"},
        urls={target.name: url},
        retry_if_failed=RETRIES,
    )
    deadline = time.monotonic() + (seconds := LEAST_S + size / SLOWEST)
    try:
        folder.fetch(target.name, downloader=lambda _, place, __: Path(place).write_bytes(_body(url, size, deadline)))
    except TimeoutError as error:
        raise DownloadError(
            f"{target.name}: expected {size:,} bytes within {seconds:,.0f} s, got no end of the answer of "
            f"{urlsplit(url).netloc}; call again to go on, or lay a copy of the file into {target.parent}"
        ) from error
    except _OtherFileError as error:
        raise DownloadError(
            f"{target.name}: expected {size:,} bytes from {url}, got {error}; lay a copy of the file into "
            f"{target.parent}"
        ) from error
    except NoConnectionError as error:
        raise DownloadError(
            f"{target.name}: no connection to {urlsplit(url).netloc}; once there is one, the same command goes on"
        ) from error
    except RequestException as error:
        raise DownloadError(
            f"{target.name}: expected the file from {url}, got {type(error).__name__}: {error}; call again to go on"
        ) from error
    except ValueError as error:
        raise DownloadError(f"{target.name}: expected sha256 {sha256}; {error}") from error
    except OSError as error:
        raise DownloadError(
            f"{target}: expected a folder that can be written, got {reason(error)}; "
            "free some space or set ROPE_LAB_CACHE to another folder"
        ) from error
    finally:
        with suppress(OSError):
            target.parent.rmdir()  # an empty folder is nothing that was fetched
    return target


class _OtherFileError(Exception):
    """An answer that cannot be the file. To ask again is of no use."""


def _body(url: str, size: int, deadline: float) -> bytes:
    """The bytes at ``url``, ``size`` at most. Another thread reads: the wait for one byte has no part in the deadline.

    Raises:
        TimeoutError: the deadline has passed. The thread ends with the answer, or with this process.
        _OtherFileError: the answer is larger, or packed.
    """
    import requests

    found: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()

    def read() -> None:
        try:
            plain = {"Accept-Encoding": "identity"}  # what is unpacked on the way could be of any size
            with requests.get(url, timeout=TIMEOUT_S, stream=True, headers=plain) as answer:
                answer.raise_for_status()
                stated, packed = answer.headers.get("Content-Length", ""), answer.headers.get("Content-Encoding")
                if packed not in (None, "identity"):
                    raise _OtherFileError(f"an answer packed with {packed!r:.40}")
                if stated.isdecimal() and (len(stated) > 15 or int(stated) > size):
                    raise _OtherFileError(f"an answer of {stated:.20}")
                content = bytearray()
                for part in answer.iter_content(1 << 14):
                    content += part
                    if len(content) > size:
                        raise _OtherFileError("more")
                    if time.monotonic() > deadline:
                        return  # nobody waits any more
                found.put(bytes(content))
        except Exception as error:
            found.put(error)

    threading.Thread(target=read, daemon=True).start()
    try:
        content = found.get(timeout=max(0.0, deadline - time.monotonic()))
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(content, Exception):
        raise content
    return content
