"""What the tests of the built site share: a server, a visit to a page, and the checks.

A check looks at a visited page and returns what is wrong with it, as a list of sentences. The tests assert that the
list is empty on every page of the book, and that it is not on a page made to be wrong.
"""

import functools
import http.server
import os
import re
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

ROOT = Path(__file__).resolve().parents[2]
MADE_BY_SPHINX = ("404", "genindex", "prf-prf", "search")  # prf-prf lists the theorems
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
CHAPTER = re.compile(r"book/\d\d_\w+")
# These are opened both ways in each run, and asked in both themes: what frames a page is the same on all.
IN_BOTH = {"index", "book/01_one_plane", "search"}
CHECKS = Path(__file__).with_name("checks.js")
# No colours that are on their way. From the start: a sheet that comes later has all styles of the page worked out anew.
NO_TRANSITIONS = """document.adoptedStyleSheets = [new CSSStyleSheet()];
document.adoptedStyleSheets[0].replaceSync("*, ::before, ::after { transition: none !important }");"""


def toc_pages(entry) -> list[str]:
    """The pages that a table of contents names, in its order."""
    if isinstance(entry, list):
        return [name for item in entry for name in toc_pages(item)]
    own = (
        ["index"]
        if "root" in entry
        else [entry["file"].removesuffix(".md").removesuffix(".ipynb")]
        if "file" in entry
        else []
    )
    return own + [name for key in ("parts", "chapters", "sections") for name in toc_pages(entry.get(key, []))]


MOVED = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]["moved_pages"] | {"book/intro": "index"}


def page_names() -> list[str]:
    """The pages to visit, in the order of the contents; of the site that ROPE_LAB_SITE names, what is there."""
    listed = [*toc_pages(yaml.safe_load((ROOT / "_toc.yml").read_text())), *MADE_BY_SPHINX]
    if "ROPE_LAB_SITE" not in os.environ:
        return listed
    html = Path(os.environ["ROPE_LAB_SITE"]).resolve()
    names = sorted(page.relative_to(html).with_suffix("").as_posix() for page in html.rglob("*.html"))
    built = [name for name in names if not name.startswith("_static/") and name not in MOVED]
    return sorted(built, key=lambda name: listed.index(name) if name in listed else len(listed))


@functools.cache
def has(name: str, words: str) -> bool:
    """Whether the source of a page has these words, a regular expression."""
    name = "book/intro" if name == "index" else name
    sources = [ROOT / f"{name}{suffix}" for suffix in (".md", ".ipynb")]
    return any(path.is_file() and re.search(words, path.read_text("utf-8")) for path in sources)


class Server:
    """A folder served on loopback. ``log`` keeps (status, path, bytes) of all that was asked for."""

    def __init__(self, folder: Path):
        self.log: list[tuple[int, str, int]] = []
        log = self.log

        class Handler(http.server.SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_request(self, code="-", size="-"):  # noqa: ARG002  (the base class fixes the signature)
                file = Path(self.translate_path(self.path))
                log.append((int(code), self.path, file.stat().st_size if file.is_file() else 0))

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Handler, directory=str(folder))
        )
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@dataclass
class Site:
    """A built site: its folder, and its address over http and from file://."""

    html: Path
    server: Server

    @property
    def http(self) -> str:
        return self.server.url

    @property
    def file(self) -> str:
        return f"{self.html.as_uri()}/"


@dataclass
class Visit:
    """An open page, what it asked for, and what went wrong on the way."""

    page: Page
    name: str
    phone: bool
    ours: tuple[str, ...]
    asked: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    first_screen: dict[str, float | None] = field(default_factory=dict)  # as it stood before any fold was opened
    served: Callable[[], list[tuple[int, str, int]]] = list

    @property
    def foreign_requests(self) -> list[str]:
        """The requests that would have left the machine."""
        return [url for url in self.asked if not url.startswith((*self.ours, "blob:", "data:"))]

    @property
    def refused(self) -> list[str]:
        """The requests that failed, as the browser tells it and as the server does (it also sees favicons)."""
        return self.failed + [f"{code}: {path}" for code, path, _ in self.served() if code >= 400]

    @property
    def size(self) -> int:
        """Bytes served, or read from files, since the visit began."""
        return sum(size for _, _, size in self.served())

    def missed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # the page itself moved on
            self.failed.append(f"{request.failure}: {request.url}")

    def heard(self, said: ConsoleMessage) -> None:
        if said.type in ("error", "warning"):
            self.errors.append(f"{said.text} ({said.location.get('url')})")

    def theme(self, scheme: str) -> None:
        """Change the reader's preference, light or dark; the page must follow."""
        self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        self.page.wait_for_function("scheme => document.documentElement.dataset.theme === scheme", arg=scheme)


@contextmanager
def visiting(browser: Browser, site: Site, name: str, *, phone: bool = False, local: bool = False, clock: bool = False):
    """Open a page in a fresh context (an empty cache, no memory) and wait until it is at rest.

    With a clock, ``page.clock`` can run the page's time ahead.
    """
    context = browser.new_context(
        viewport=PHONE if phone else DESK,
        has_touch=phone,
        color_scheme="dark" if phone else "light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(60_000)  # a busy machine takes half a minute for the ledger
    context.add_init_script(path=CHECKS)
    context.add_init_script(NO_TRANSITIONS)
    try:
        page = context.new_page()
        visit = Visit(page, name, phone, (site.file,) if local else (site.http,))
        page.on("request", lambda request: visit.asked.append(request.url))
        page.on("requestfailed", visit.missed)
        page.on("pageerror", lambda error: visit.errors.append(f"uncaught: {error}"))
        page.on("console", visit.heard)
        start = len(site.server.log)
        visit.served = (lambda: read(visit.asked)) if local else (lambda: site.server.log[start:])
        if clock:
            page.clock.install()
        page.goto(site.file + f"{name}.html" if local else site.http + ("" if name == "index" else f"{name}.html"))
        page.wait_for_function("siteChecks.started()")
        visit.first_screen = page.evaluate("siteChecks.firstScreen()")
        page.evaluate("siteChecks.settle()")
        page.wait_for_function("siteChecks.rested()")
        yield visit
    finally:
        context.close()


def read(asked: list[str]) -> list[tuple[int, str, int]]:
    """What a page has read from files, as a server would tell it."""
    files = [unquote(urlsplit(url).path) for url in asked if url.startswith("file:")]
    return [(200, file, Path(file).stat().st_size) for file in files if Path(file).is_file()]


def within(page: Page, call: str):
    """The answer of checks.js, on a page that may have been opened without it."""
    if not page.evaluate("'siteChecks' in window"):
        page.evaluate(CHECKS.read_text(encoding="utf-8"))
    return page.evaluate(f"siteChecks.{call}")


def drawn(page: Page) -> None:
    """Wait until what was asked for in this frame stands there: a drawing may need the next one, too."""
    within(page, "frames(2)")


def still(page: Page) -> None:
    """Wait until the page has loaded, its widgets and fonts stand there, and nothing moves from frame to frame."""
    page.wait_for_load_state("load")
    within(page, "still()")


def shift(page: Page) -> float:
    """The layout shift since the page was opened, when it has come to rest; a search engine calls more than 0.1 bad."""
    still(page)
    return within(page, "shift()")
