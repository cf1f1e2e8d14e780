"""Fetching one pinned file: the length and the sha256 are known before the first byte arrives.

A download goes to ``NAME.part`` beside its target; a broken one is taken up where it stopped (HTTP Range), at once
and in a later call. Only a file of the right length and sha256 gets its name, in one atomic step.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

TRIES = 4  # how often a broken connection is taken up again within one call
BLOCK = 1 << 16
TIMEOUT_S = 30


class DownloadError(OSError):
    """A file that could not be fetched. The message names the file, what was expected and what came."""


def fetch(url: str, target: Path, *, size: int, sha256: str, on_bytes: Callable[[int], None] = lambda _: None) -> Path:
    """Fetch ``url`` into ``target``, which appears only when its length and sha256 are right.

    ``on_bytes`` is told of each block as it arrives, the part kept from an earlier call first: a progress bar.
    Raises `DownloadError` for a break that stays (the part is kept), a wrong length or hash (the part is deleted) and
    a folder that cannot be written.
    """
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if part.exists() and part.stat().st_size > size:
            part.unlink()
        on_bytes(part.stat().st_size if part.exists() else 0)
        _receive_all(url, part, size=size, on_bytes=on_bytes)
        if (got := sha256_of(part)) != sha256:
            part.unlink()
            raise DownloadError(f"{target.name}: expected sha256 {sha256}, got {got} from {url}; nothing was kept")
        part.replace(target)
    except DownloadError:
        raise
    except OSError as error:
        raise DownloadError(
            f"{target}: expected a folder that can be written, got {error.strerror or error}; "
            "free some space or set ROPE_LAB_CACHE to another folder"
        ) from error
    return target


def _receive_all(url: str, part: Path, *, size: int, on_bytes: Callable[[int], None]) -> None:
    problem: object = "nothing"
    for _ in range(TRIES):
        have = part.stat().st_size if part.exists() else 0
        if have >= size:
            break
        try:
            _receive(url, part, have=have, size=size, on_bytes=on_bytes)
            problem = f"the end after {part.stat().st_size:,} bytes"
        except urllib.error.HTTPError as error:
            error.close()
            raise DownloadError(f"{part.stem}: expected {url}, got HTTP {error.code} {error.reason}") from error
        except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as error:
            problem = f"{type(error).__name__}: {error}"
    have = part.stat().st_size if part.exists() else 0
    if have < size:
        raise DownloadError(
            f"{part.stem}: expected {size:,} bytes from {url}, got {problem}; "
            f"{have:,} bytes are kept: call again to go on from there"
        )
    if have > size:
        part.unlink()
        raise DownloadError(f"{part.stem}: expected {size:,} bytes from {url}, got more; nothing was kept")


def _receive(url: str, part: Path, *, have: int, size: int, on_bytes: Callable[[int], None]) -> None:
    headers = {"User-Agent": "rope-lab", **({"Range": f"bytes={have}-"} if have else {})}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT_S) as answer:
        resumed = answer.status == http.client.PARTIAL_CONTENT
        if have and not resumed:
            on_bytes(-have)  # the server sends everything again
        with part.open("ab" if resumed else "wb") as file:
            while (block := answer.read(BLOCK)) and file.tell() <= size:
                file.write(block)
                on_bytes(len(block))


def sha256_of(path: Path) -> str:
    """The file's sha256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(target: Path, save: Callable[[Path], None]) -> Path:
    """Let ``save`` write a file beside ``target`` that takes its name in one step, or leave nothing behind."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{_token()}")
    try:
        save(part)
        part.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    return target


def _token() -> str:
    import secrets

    return secrets.token_hex(4)
