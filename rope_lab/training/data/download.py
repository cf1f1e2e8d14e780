"""Fetching one pinned file: only a file of the right sha256 gets its name, in one atomic step."""

from __future__ import annotations

from pathlib import Path

import pooch
from requests import RequestException

from rope_lab.errors import RopeLabError
from rope_lab.training.files import reason

RETRIES = 2  # of a broken connection, within one call
TIMEOUT_S = 30


class DownloadError(RopeLabError, OSError):
    """A file that could not be fetched. The message names the file, what was expected and what came."""


def fetch(url: str, target: Path, *, sha256: str) -> Path:
    """Fetch ``url`` into ``target``, unless the file that is pinned lies there already.

    Raises:
        DownloadError: no answer, another text than the pinned one, or a folder that cannot be written. Nothing is kept.
    """
    pooch.get_logger().setLevel("ERROR")  # what is fetched, the caller says
    folder = pooch.create(
        target.parent,
        base_url="",
        registry={target.name: f"sha256:{sha256}"},
        urls={target.name: url},
        retry_if_failed=RETRIES,
    )
    http = pooch.HTTPDownloader(
        timeout=TIMEOUT_S, stream=False
    )  # at once: the files are small, and no socket stays open
    try:
        folder.fetch(target.name, downloader=http)
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
    return target
