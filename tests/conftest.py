"""What every test shares: signatures are enforced, Hypothesis draws without a clock, and there is one browser.

The shapes in rope_lab's signatures are checked at every call, here and only here: the hook must stand before the first
import of the package. A test of what a reader sees on bad input asks for the fixture ``untyped``, which lets the call
through to the package's own message.
"""

import os
from pathlib import Path

import pytest
from hypothesis import settings
from jaxtyping import config, install_import_hook

# Before torch is imported: on a busy machine the idle threads of tiny products cost many times the product.
os.environ.setdefault("OMP_NUM_THREADS", "1")

install_import_hook("rope_lab", "signatures.checked")

settings.register_profile("rope_lab", deadline=None, max_examples=50, derandomize="CI" in os.environ)
settings.load_profile("rope_lab")


CHROMIUM = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # the network is closed
]


@pytest.fixture
def untyped():
    """Switch the enforcement of signatures off, as it is for readers."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.fixture(scope="session")
def browser():
    """Chromium with the network closed: one for the whole session, since Playwright allows no second beside it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        chromium = playwright.chromium.launch(executable_path=path if Path(path).exists() else None, args=CHROMIUM)
        yield chromium
        chromium.close()
