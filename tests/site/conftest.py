"""One build and one server for all tests of the built site."""

import importlib.util
import os
from pathlib import Path

import pytest
from pages import ROOT, Server, Site, page_names, visiting

MEASURED = pytest.StashKey[dict[str, tuple[int, float]]]()


@pytest.fixture(scope="session")
def html():
    """The folder of the built site: ROPE_LAB_SITE (an unpacked zip, say), or else what the book's driver builds."""
    if "ROPE_LAB_SITE" in os.environ:
        return Path(os.environ["ROPE_LAB_SITE"]).resolve()
    spec = importlib.util.spec_from_file_location("book_build", ROOT / "book" / "build.py")
    driver = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(driver)
    if driver.build(ROOT):
        pytest.fail("the book does not build; its warnings stand above")
    return ROOT / "_build" / "html"


@pytest.fixture(scope="session")
def site(html):
    with Server(html) as server:
        yield Site(html, server)


@pytest.fixture(
    scope="session", params=[(name, way) for name in page_names() for way in ("http", "file")], ids="-".join
)
def visit(request, site, browser):
    """A page that is open and at rest: once over http on a desk, once from file:// on a phone."""
    name, way = request.param
    with visiting(browser, site, name, phone=way == "file", local=way == "file") as open_page:
        yield open_page


@pytest.fixture(scope="session")
def measured(request):
    """Page name -> bytes over http and seconds to the first widget; printed when the tests are done."""
    return request.config.stash.setdefault(MEASURED, {})


def pytest_terminal_summary(terminalreporter, config):
    for name, (size, seconds) in sorted(config.stash.get(MEASURED, {}).items()):
        slow = "" if seconds <= 1.5 else "  (over 1.5 s)"
        terminalreporter.write_line(f"{name}: {size / 1e6:.2f} MB, first widget after {seconds:.2f} s{slow}")


@pytest.fixture(scope="session")
def planted_site(html, tmp_path_factory):
    """A site of two pages: one is wrong in everything that is checked, the other sound."""
    folder = tmp_path_factory.mktemp("planted")
    for name in ("planted.html", "sound.html"):
        (folder / name).write_bytes(Path(__file__).with_name(name).read_bytes())
    (folder / "_static").symlink_to(html / "_static")
    with Server(folder) as server:
        yield Site(folder, server)


@pytest.fixture(scope="session", params=["http", "file"])
def planted(request, planted_site, browser):
    """The wrong page, open: on a desk and on a phone."""
    local = request.param == "file"
    with visiting(browser, planted_site, "planted", phone=local, local=local) as open_page:
        yield open_page


@pytest.fixture(scope="session", params=["http", "file"])
def sound(request, planted_site, browser):
    """The right page, open likewise."""
    local = request.param == "file"
    with visiting(browser, planted_site, "sound", phone=local, local=local) as open_page:
        yield open_page
