"""What every test shares: signatures are enforced, Hypothesis draws without a clock, and there is one browser.

The shapes in rope_lab's signatures are checked, here and only here: the hook must stand before the first import of the
package. A test of what a reader sees on bad input asks for the fixture ``untyped``, which lets the call
through to the package's own message.
"""

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

import jaxtyping
import pytest
from filelock import FileLock
from hypothesis import Phase, settings

from book import chromium
from tests import signatures

# Before torch is imported: on a busy machine the idle threads of tiny products cost many times the product.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# In the background of a script Ctrl-C is ignored, and under nohup a closed terminal too. A child would inherit that,
# and a test that sends it would wait in vain.
for number, usual in {"SIGINT": signal.default_int_handler, "SIGHUP": signal.SIG_DFL}.items():
    if signal.getsignal(found := getattr(signal, number, signal.SIGTERM)) is signal.SIG_IGN:
        signal.signal(found, usual)

# nbformat imports jsonschema, which would build a grammar of all addresses: three seconds in each worker.
sys.modules["rfc3987_syntax"] = None

signatures.install()

settings.register_profile("rope_lab", deadline=None, max_examples=50, derandomize="CI" in os.environ)
settings.register_profile("mutation", deadline=None, max_examples=50, derandomize=True, phases=[Phase.generate])
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
    "--js-flags=--max-lazy --no-turbofan",  # a page lives too short for what is optimised to the last
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # the network is closed
]


SITE = ("tests/site", "tests/site_ext")  # the folders that the lane of the built site collects: .ci/run names them


@pytest.hookimpl(tryfirst=True)  # before -m chooses by the marks
def pytest_collection_modifyitems(config, items):
    """What a test asks for says which lane it runs in; what is deep waits for ``make deep``."""
    for item in items:
        if {"browser", "html"} & set(item.fixturenames):
            item.add_marker(pytest.mark.site)
            if not item.nodeid.startswith(tuple(f"{folder}/" for folder in SITE)):
                raise pytest.UsageError(
                    f"expected tests with a browser in {' or '.join(SITE)}, got {item.nodeid}; move it"
                )
        if "wheel" in item.fixturenames:
            item.add_marker(pytest.mark.wheel)
    if "deep" not in config.option.markexpr:
        out = left_to_the_night(items)
        config.hook.pytest_deselected(items=[item for item in items if item in out])
        items[:] = [item for item in items if item not in out]


def left_to_the_night(items) -> set:
    """The deep tests; of those marked ``deep(keep=n)``, n cases stay, spread over the list."""
    groups = {}
    for item in items:
        if mark := item.get_closest_marker("deep"):
            groups.setdefault((item.path, item.originalname, mark.kwargs.get("keep", 0)), []).append(item)
    out = set()
    for (*_, keep), cases in groups.items():
        out |= set(cases) - {cases[i * len(cases) // keep] for i in range(keep)}
    return out


@pytest.hookimpl(tryfirst=True)  # before the fixtures of a test
def pytest_runtest_setup():
    signatures.new_test()


def pytest_terminal_summary(terminalreporter):
    """The pages with a widget: their weight, and when the first widget stood there."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.getreports(outcome)]
    pages = sorted(value for report in reports for name, value in report.user_properties if name == "first widget")
    for page, size, seconds in pages:
        slow = "" if seconds <= 1.5 else "  (over 1.5 s)"
        terminalreporter.write_line(f"{page}: {size / 1e6:.2f} MB, first widget after {seconds:.2f} s{slow}")


@pytest.fixture
def untyped():
    """Switch the enforcement of signatures off, as it is for readers."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def ledger():
    """The ledger of claims, restored afterwards."""
    from rope_lab.claims import LEDGER, load

    load()
    before = dict(LEDGER)
    yield LEDGER
    LEDGER.clear()
    LEDGER.update(before)


def asked_again(page, expression, *, arg=None, timeout=60_000, polling=20):
    """Playwright's ``wait_for_function`` leaves in the page a text to evaluate, which the book's policy forbids."""
    from playwright.sync_api import Error
    from playwright.sync_api import TimeoutError as TooLate

    end = time.monotonic() + timeout / 1000
    while time.monotonic() < end:
        with contextlib.suppress(Error):  # the page moves on meanwhile
            if page.evaluate(expression, arg):
                return
        page.wait_for_timeout(polling)
    raise TooLate(f"expected within {timeout} ms: {expression}")


@pytest.fixture(scope="session")
def browser():
    """Chromium with the network closed: one for the whole session, since Playwright allows no second beside it."""
    from playwright.sync_api import Page, sync_playwright

    Page.wait_for_function = asked_again
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium.path(), args=CHROMIUM)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def html():
    """The folder of the built site: ROPE_LAB_SITE (an unpacked zip, say), or else what the book's driver builds."""
    from book import build as driver

    if "ROPE_LAB_SITE" in os.environ:
        return Path(os.environ["ROPE_LAB_SITE"]).resolve()
    out = driver.ROOT / "_build"
    out.mkdir(exist_ok=True)
    with FileLock(out / "lock"):  # one worker builds, the others wait and find it built
        if driver.build():
            pytest.fail("the book does not build; its warnings stand above")
    return out / "html"
