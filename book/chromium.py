"""Which Chromium opens the book's pages: for its tests, its PDF and its benchmarks."""

import os
import shutil
from collections.abc import Iterable

WHOLE = ("chromium", "google-chrome")  # with windows, as readers have it: for what a reader waits for
EVERY = ("chromium-headless-shell", *WHOLE)  # a headless shell draws the same in half the time


def path(names: Iterable[str] = EVERY) -> str | None:
    """The browser's path: what CHROMIUM names, or the first that is installed; None leaves the choice to Playwright."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
