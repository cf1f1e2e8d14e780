"""Which Chromium opens the book's pages: for its tests, its PDF and its benchmarks."""

import os
import shutil

# The first that is installed; a headless shell draws the same, and takes half the time without windows of its own.
NAMES = ("chromium-headless-shell", "chromium", "google-chrome")


def path() -> str | None:
    """The browser's path: what CHROMIUM names, or what is installed; None leaves the choice to Playwright."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
