"""The landing page: what it is and where to go stand on the first screen, nothing jumps, and every number holds."""

import re
from urllib.parse import urljoin

import pytest

from tests.site.pages import MOVED, shift

MOST = 0.05  # of layout shift; a search engine calls more than 0.1 bad
DOORS = ("book/01_one_plane.html", "book/17_which_rope.html", "book/ledger.html")
SIZES = {"desk": (1440, 900), "tablet": (768, 1024), "phone": (390, 844)}


@pytest.fixture
def landing(browser, site):
    contexts = []

    def open_page(size="desk"):
        width, height = SIZES[size]
        contexts.append(browser.new_context(viewport={"width": width, "height": height}))
        page = contexts[-1].new_page()
        page.goto(site.http)
        page.wait_for_selector(".rope-widget[data-ready] >> nth=1")
        page.wait_for_load_state("load")
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("size", SIZES)
def test_nothing_jumps_and_the_first_screen_says_what_it_is_and_where_to_go(landing, size):
    page = landing(size)
    assert shift(page) < MOST
    height = SIZES[size][1]
    for place in (".bd-article h1", ".lede", *(f'.doors a[href$="{door}"]' for door in DOORS), ".rope-loom svg"):
        box = page.locator(place).first.bounding_box()
        assert box["y"] >= 0, place
        assert box["y"] + min(box["height"], 60) <= height, place
    assert "rotary position embedding" in page.locator(".lede").inner_text()
    assert page.title() == "RoPE Lab: rotary position embedding, proved, run and turned"
    page.evaluate("document.querySelector('.bd-article h1').style.marginTop = '300px'")
    assert shift(page) > MOST  # the control


@pytest.mark.deep
def test_doors_lead_where_they_say(landing):
    page = landing()
    home = page.url
    for door in DOORS:
        if page.url != home:
            page.go_back()
        page.locator(f'.doors a[href$="{door}"]').click()
        page.wait_for_url(re.compile(re.escape(door)))
        assert page.locator("h1").first.inner_text()


@pytest.mark.deep
def test_a_number_is_the_one_that_its_page_shows(landing, site):
    page = landing()
    links = page.locator(".checked-numbers a").evaluate_all(
        "all => all.map((a) => [a.getAttribute('href'), a.querySelector('strong').textContent])"
    )
    ledger = [(href, number) for href, number in links if "ledger.html" in href]
    assert len(ledger) >= 3
    page.goto(urljoin(f"{site.http}book/", ledger[0][0]))
    for href, number in ledger:  # one page, and the addresses that lead back and forth on it
        page.evaluate("to => { history.pushState(null, '', to); dispatchEvent(new PopStateEvent('popstate')); }", href)
        told = page.locator(".ledger-filter output").inner_text()
        assert told.startswith(f"{number} of "), href


def test_the_map_has_every_part_with_its_picture(landing):
    page = landing()
    cards = page.locator(".part-card")
    assert cards.count() >= 6
    for card in cards.all():
        assert card.locator("svg title").count() == 1
        assert card.locator("li a").count()
        assert len(card.locator("p").nth(1).inner_text().split()) >= 5


def heads(html):
    for path in sorted(html.rglob("*.html")):
        name = path.relative_to(html).with_suffix("").as_posix()
        if not name.startswith("_static/") and name not in MOVED:
            yield path.relative_to(html).as_posix(), path.read_text("utf-8").partition("</head>")[0]


def test_every_page_has_one_description_of_its_own(html):
    told = {}
    for name, head in heads(html):
        found = re.findall(r'<meta name="description" content="([^"]*)"', head)
        assert len(found) == 1, name
        assert not re.search(r"\\[a-zA-Z]|\$", found[0]), (name, found[0])
        assert 20 <= len(found[0]) <= 300, name
        told.setdefault(found[0], []).append(name)
    assert [names for names in told.values() if len(names) > 1] == []


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("old", MOVED)
def test_an_old_address_leads_to_the_page_and_to_the_place_of_a_page(browser, site, old, local):
    page = browser.new_page()
    page.goto(f"{site.file if local else site.http}{old}.html#exercises")
    page.wait_for_url(f"**/{MOVED[old]}.html#exercises")
    assert page.locator("h1").locator("visible=true").inner_text()
    page.close()


def test_the_root_is_the_landing_page_itself(html):
    text = (html / "index.html").read_text("utf-8")
    assert 'http-equiv="refresh"' not in text
    assert 'class="doors' in text
    head = (html / "index.html").read_text("utf-8")
    for part in (
        "rotary position embedding, proved, run and turned</title>",
        'name="description"',
        'property="og:title"',
    ):
        assert part in head
