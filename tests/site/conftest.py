"""One build and one server for all tests of the built site."""

import html as markup
import json
from contextlib import contextmanager
from pathlib import Path

import pytest
from ipywidgets.embed import embed_data

from rope_lab.show import style
from tests.site.pages import CHAPTER, IN_BOTH, ROOT, Server, Site, has, page_names, visiting

LOADER = ROOT / "book" / "_static" / "rope-widgets.js"


def together(name: str, way: str, *marks):
    """A page and a way to it, as a parameter; all checks of one visit run in one worker."""
    visit = f"{name}-{way}"
    return pytest.param((name, way), id=visit, marks=[pytest.mark.xdist_group(visit), *marks])


def visits(*, every=1):
    """Each page by both ways, chapters first. Each run has one way of each second chapter and of a sixth of the others.

    The deep run has the rest, and what ``every`` leaves out.
    """
    for chapters, step in ((True, 2 * every), (False, 6 * every)):
        for place, name in enumerate(n for n in page_names() if bool(CHAPTER.fullmatch(n)) == chapters):
            for turn, way in enumerate(("http", "file")):
                now = place % step == 0 and turn == place // step % 2
                yield together(name, way, *([] if now or name in IN_BOTH else [pytest.mark.deep]))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leave out the visits in which a test marked ``where`` has nothing to ask.

    A shorter list of pages would not do: pytest keeps a page open for the tests that have it at one place of the list.
    """
    marked = [(item, mark.args) for item in items if (mark := item.get_closest_marker("where"))]
    out = {item for item, words in marked if not has(item.callspec.params["visit"][0], *words)}
    config.hook.pytest_deselected(items=[item for item in items if item in out])
    items[:] = [item for item in items if item not in out]


@pytest.fixture(scope="module")
def blank(browser):
    page = browser.new_page()
    yield page
    page.close()


@pytest.fixture(scope="session")
def site(html):
    with Server(html) as server:
        yield Site(html, server)


@pytest.fixture(scope="session", params=visits())
def visit(request, site, browser):
    """A page that is open and at rest: once over http on a desk, once from file:// on a phone."""
    name, way = request.param
    with visiting(browser, site, name, phone=way == "file", local=way == "file") as open_page:
        yield open_page


@pytest.fixture(scope="session")
def planted_site(html, tmp_path_factory):
    """A site of two pages: one is wrong in everything that is checked, the other sound."""
    folder = tmp_path_factory.mktemp("planted")
    for name in ("planted.html", "sound.html"):
        (folder / name).write_bytes(Path(__file__).with_name(name).read_bytes())
    (folder / "_static").symlink_to(html / "_static")
    with Server(folder) as server:
        yield Site(folder, server)


def open_both_ways(name):
    """A fixture: this page of the two, open on a desk and on a phone."""

    @pytest.fixture(scope="session", name=name, params=[together(name, way) for way in ("http", "file")])
    def fixture(request, planted_site, browser):
        local = request.param[1] == "file"
        with visiting(browser, planted_site, name, phone=local, local=local) as open_page:
            yield open_page

    return fixture


planted, sound = open_both_ways("planted"), open_both_ways("sound")


@contextmanager
def showing(browser, folder):
    """A function that opens a page with the given widgets; in the end no script may have complained unexpectedly.

    The time of a paused page stands still until ``page.clock`` runs it.
    """
    contexts, complaints = [], []

    def open_page(*widgets, after="", complains=False, paused=False, **context):
        found = embed_data(views=widgets, drop_defaults=False)
        script = '<script type="application/vnd.jupyter.widget-{}+json">{}</script>'
        views = "".join(script.format("view", json.dumps(view)) for view in found["view_specs"])
        state = script.format("state", json.dumps(found["manager_state"]).replace("</", r"<\/"))
        head = f'<!doctype html><html lang="en"><title>Widgets</title><style>{style.css()}</style>{state}'
        loader = f'<script src="{markup.escape(LOADER.as_uri())}"></script>'
        (folder / "page.html").write_text(f"{head}{loader}<main>{views}</main></html>", encoding="utf-8")
        contexts.append(browser.new_context(**{"reduced_motion": "reduce", **context}))
        page = contexts[-1].new_page()
        if not complains:
            page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
            page.on("pageerror", lambda error: complaints.append(str(error)))
        if paused:
            page.clock.install(time=0)
        page.goto((folder / "page.html").as_uri() + after)
        if paused:
            page.wait_for_selector(".rope-widget[data-ready]")
            page.clock.pause_at(3600)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def show(browser, tmp_path):
    """A function that opens a page with the given widgets, closed after the test."""
    with showing(browser, tmp_path) as open_page:
        yield open_page
