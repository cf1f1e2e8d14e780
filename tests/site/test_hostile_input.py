"""What a link, a store or a window brings breaks no page, and no page reaches another machine."""

import random
import re

import pytest
from playwright.sync_api import expect

from tests.deep import sampled
from tests.site.pages import Server, page_names

CHAPTER = "book/02_many_planes"
WAYS = pytest.mark.parametrize("way", ["http", "file"])
WIDER = "document.documentElement.scrollWidth - innerWidth"  # than its window, in pixels
HOSTILE = ["NaN", "1e400", "-1e400", "constructor", "__proto__", "%", "%E0%A4%A", "~zz", "", "0", "a" * 20_000, "true"]
DENIED = """for (const name of ["localStorage", "sessionStorage", "indexedDB"])
  Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } });"""
TRIES = """other => {
  const add = (kind, own) => document.body.append(Object.assign(document.createElement(kind), own));
  window.refused = new Set();
  addEventListener("securitypolicyviolation", ({ blockedURI }) => refused.add(new URL(blockedURI).pathname.slice(1)));
  fetch(`${other}fetch`, { mode: "no-cors" }).catch(() => {});
  navigator.sendBeacon(`${other}beacon`);
  new WebSocket(`${other.replace("http", "ws")}socket`);
  for (const kind of ["img", "script", "iframe", "video"]) add(kind, { src: `${other}${kind}` });
  add("link", { rel: "stylesheet", href: `${other}style` });
  new FontFace("other", `url(${other}font)`).load().catch(() => {});
  add("form", { action: `${other}form`, id: "leaving" });
}"""
TRIED = {"fetch", "beacon", "socket", "img", "script", "iframe", "video", "style", "font"}
STATES = """() => [...document.querySelectorAll('script[type$="widget-state+json"]')]
  .flatMap((one) => Object.values(JSON.parse(one.textContent).state)).map(({ state }) => state)
  .filter(({ _name }) => _name && document.querySelector(`[data-rope-key=${_name}]`))
  .map((state) => [state._name, state._initial, state._limits])"""


@pytest.fixture
def page(browser):
    """A narrow page; what its scripts throw fails the test."""
    context = browser.new_context(viewport={"width": 320, "height": 640}, reduced_motion="reduce")
    page, thrown = context.new_page(), []
    page.on("pageerror", lambda error: thrown.append(str(error)))
    yield page
    context.close()
    assert not thrown


@pytest.mark.parametrize("policy", [True, False])
@WAYS
def test_no_page_reaches_another_machine_and_without_its_policy_it_does(page, site, tmp_path, way, policy):
    text = (site.html / "404.html").read_text(encoding="utf-8")
    meta = "<meta http-equiv=.Content-Security-Policy[^>]*>"
    (tmp_path / "404.html").write_text(text if policy else re.sub(meta, "", text), encoding="utf-8")
    (tmp_path / "_static").symlink_to(site.html / "_static")
    with Server(tmp_path) as server, Server(tmp_path) as other:
        page.goto(f"{server.url if way == 'http' else f'{tmp_path.as_uri()}/'}404.html")
        page.evaluate(TRIES, other.url)
        for _ in range(1500):
            arrived = {path[1:] for _, path, _ in other.log} & TRIED
            if page.evaluate("refused.size") == len(TRIED) or arrived == TRIED:
                break
            page.wait_for_timeout(20)
        page.evaluate("document.querySelector('#leaving').submit()")
        if policy:
            page.wait_for_function("refused.has('form')")
            assert not other.log
        else:
            page.wait_for_url(f"{other.url}form?")
            assert arrived == TRIED


@WAYS
def test_a_browser_that_refuses_its_stores(page, site, way):
    page.add_init_script(DENIED)
    page.goto(f"{getattr(site, way)}{CHAPTER}.html")
    form = page.locator("form.quiz:has([type=radio])").first
    form.locator("[type=radio]").first.check()
    form.locator("[type=submit]").click()
    expect(form.locator(".quiz-says")).not_to_be_empty()
    expect(page.locator(".quiz-progress")).to_contain_text("keeps no answers")
    page.goto(f"{getattr(site, way)}search.html?q=wavelength")
    page.locator("#search-results li").first.wait_for()


def test_what_the_browser_kept_may_be_odd_and_names_the_book(page, site):
    page.goto(f"{site.file}{CHAPTER}.html")
    assert page.evaluate("ropeMemory.book") == f"rope-lab:{site.html}/:"
    for kept in ('{"chapters": null}', "7", '{"chapters": {"02_many_planes": 5}}', '{"chapters": {}, "last": "x"}'):
        page.evaluate("kept => { for (const n of ['way', 'marks']) localStorage[ropeMemory.book + n] = kept }", kept)
        page.evaluate("Object.assign(localStorage, { theme: '<b>', mode: '__proto__' })")
        page.reload()
        assert page.evaluate("[ropeMemory.way().chapters, localStorage.theme]") == [{}, "light"]


def test_a_place_that_is_no_text_and_a_search_for_what_every_object_has(page, site):
    for name in (CHAPTER, "book/ledger"):
        for place in ("%", "%E0%A4%A"):
            page.goto("about:blank")
            page.goto(f"{site.file}{name}.html#{place}")
    for words in ("constructor", "__proto__", "wavelength", "%", "a" * 20_000):
        page.goto(f"{site.http}search.html?q={words}")
        expect(page.locator("#search-results")).to_contain_text(re.compile("found|did not match"))
        page.wait_for_load_state("networkidle")  # the summaries
        assert page.evaluate(WIDER) <= 0


@pytest.mark.parametrize("name", sampled(page_names(), ["book/api_algebra", "book/14_tiny_gpt", "prf-prf"]))
def test_no_page_is_wider_than_a_narrow_or_magnified_window(page, site, name):
    page.goto(f"{site.http}{name}.html")
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    for width in (320, 640):  # the second: a window of 1280 at 200 %
        page.set_viewport_size({"width": width, "height": 640})
        page.evaluate("() => new Promise(requestAnimationFrame)")
        assert page.evaluate(WIDER) <= 0


@pytest.mark.parametrize("name", sampled(page_names(), ["index", "book/17_which_rope"]))
def test_no_link_stops_a_figure(page, site, name):
    page.goto(f"{site.http}{name}.html")
    rng = random.Random(name)
    for key, initial, limits in page.evaluate(STATES):
        page.locator(f'[data-rope-key="{key}"] .rope').wait_for(state="attached")
        for _ in range(60):
            asked = {"model": "yours"}
            for part in rng.sample([*initial, "__proto__", "columns"], k=min(5, len(initial))):
                ends = limits.get(part, [0, 1])
                asked[part] = rng.choice([*ends, rng.uniform(*ends), rng.randint(*map(int, ends)), *HOSTILE])
            link = f"{key}=" + ";".join(f"{part}:{value}" for part, value in asked.items())
            page.evaluate("link => { location.hash = link; return new Promise(requestAnimationFrame) }", link)
            assert not page.locator(".rope-failed").count(), link
        assert page.evaluate(WIDER) <= 0, key
