"""What a reader has read and answered: kept in the browser, shown in the side bar, forgotten on request."""

import json

import pytest

from tests.site.checks import nothing, serious_to_axe
from tests.site.pages import DESK, visiting

CHAPTER = "book/02_many_planes"
READING = 1200  # ms of the page's clock: a little longer than a section must be in view
PLACE = "planes-that-never-turn-once"


@pytest.fixture
def chapter(request, browser, site):
    """A chapter that is open for the first time: on a desk over http, on a phone from a file."""
    with visiting(browser, site, CHAPTER, phone=request.param, local=request.param, clock=True) as visit:
        yield visit


HTTP, FILE = (  # in each run; the other way in the deep run
    pytest.mark.parametrize("chapter", [way, pytest.param(not way, marks=pytest.mark.deep)], indirect=True)
    for way in (False, True)
)


def way(page):
    return page.evaluate("ropeMemory.way()")


def read(page, section):
    """Scroll to a section, and stay there for as long as reading takes at least."""
    page.evaluate(
        """id => new Promise((seen) => {
          const section = document.getElementById(id);
          section.scrollIntoView({ behavior: "instant" });
          new IntersectionObserver(seen).observe(section);  // it is told after the page's own, which is older
        })""",
        section,
    )
    page.clock.run_for(READING)


def sections(page):
    return page.evaluate("[...document.querySelectorAll('.bd-article > section > section[id]')].map(s => s.id)")


def marks(page):
    """The chapters with marks, and what these say."""
    shown = """links => links.map(({ pathname, lastElementChild }) =>
        [pathname.match(/book.(\\d\\d)_/)[1], lastElementChild.textContent.trim()])"""
    return dict(page.locator(".bd-links a:has(> .way-marks)").evaluate_all(shown))


def answer(form, *, right):
    """Give the right answer of a form, or another."""
    key = json.loads(form.evaluate("form => atob(form.dataset.key)"))
    radios = form.locator("input[type=radio]")
    if radios.count():
        wanted = [r for r in radios.all() if (r.get_attribute("value") == key["answer"]) == right]
        wanted[0].check()
    else:
        form.locator("input").fill(str(key["answer"] + (0 if right else 100)))
    form.locator("[type=submit]").click()


@FILE
def test_continue_leads_back_to_where_the_reader_stopped(chapter):
    page = chapter.page
    read(page, PLACE)
    home = page.url.replace("book/02_many_planes", "index")
    page.goto(home)
    link = page.locator(".continue a")
    assert link.inner_text() == "2. Many planes, Planes that never turn once"
    link.click()
    page.wait_for_url(f"**/02_many_planes.html#{PLACE}")
    assert chapter.errors == []


def test_control_whoever_has_not_been_here_has_nothing_to_continue(browser, site):
    with visiting(browser, site, "index") as visit:
        assert not visit.page.locator(".continue").is_visible()
        assert not visit.page.locator(".way-foot").count()


@HTTP
def test_a_chapter_is_read_when_its_sections_were_seen_up_to_keep(chapter):
    page = chapter.page
    every = sections(page)
    read(page, every[-1])  # the control: a jump to the end is no reading
    assert not way(page).get("chapters", {}).get("02_many_planes", {}).get("read")
    assert marks(page) == {}
    core = every[: every.index("keep") + 1]
    for section in core[:-1]:
        read(page, section)
    assert not way(page)["chapters"]["02_many_planes"].get("read")
    read(page, "keep")
    assert way(page)["chapters"]["02_many_planes"]["read"] is True
    assert marks(page) == {"02": "(read)"}


@pytest.mark.deep
@FILE
def test_answers_are_marked_and_all_is_forgotten_on_request(chapter):
    page = chapter.page
    for form in page.locator("form.quiz[data-kind=prediction]").all():
        answer(form, right=False)
    assert marks(page) == {"02": "(predicted)"}
    for form in page.locator("form.quiz:not([data-kind=prediction])").all():
        answer(form, right=True)
    assert marks(page) == {"02": "(predicted, exercises done)"}
    page.reload()
    assert marks(page) == {"02": "(predicted, exercises done)"}
    page.evaluate("ropeMemory.write('marks', 'off')")  # a setting, not progress
    page.on("dialog", lambda asked: asked.accept())
    with page.expect_navigation():
        page.locator(".way-forget").evaluate("button => button.click()")  # on a phone the side bar is shut
    assert marks(page) == {}
    left = page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('rope-lab:'))")
    assert [key.rpartition(":")[2] for key in left] == ["marks"]
    assert page.locator("form.quiz:not([data-state=open])").count() == 0


@FILE
def test_the_line_grows_with_the_page(chapter):
    page = chapter.page
    grown = "parseFloat(getComputedStyle(document.querySelector('.way-line')).scale)"
    assert page.evaluate(grown) == 0
    page.evaluate("scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
    page.wait_for_function(f"{grown} > 0.95")


LINES = """[...document.querySelectorAll(".bd-links a")]
  .map((link) => [link.href, link.offsetTop, link.offsetHeight, link.offsetWidth].join(" "))"""


@pytest.mark.deep
@HTTP
def test_marks_move_no_line_of_the_side_bar(chapter):
    page = chapter.page
    page.reload()  # the visit has unfolded what folds
    before = page.evaluate(LINES)
    done = {"read": True, "predicted": True, "done": True}
    names = page.evaluate(
        "[...document.querySelectorAll('.bd-links a')].map(a => a.href.match(/book.(\\d\\d_\\w+)/)?.[1])"
    )
    chapters = {name: done for name in names if name}
    assert len(chapters) > 10
    page.evaluate("way => ropeMemory.write('way', way)", {"chapters": chapters})
    page.reload()
    assert len(marks(page)) == len(chapters)
    assert page.evaluate(LINES) == before


@pytest.mark.deep
@FILE
def test_marks_and_their_foot_can_be_read(chapter):
    page = chapter.page
    answer(page.locator("form.quiz[data-kind=prediction]").first, right=True)
    read(page, PLACE)
    page.on("dialog", lambda asked: asked.dismiss())
    page.locator(".way-forget").evaluate("button => button.click()")
    assert way(page)["last"]["section"] == PLACE  # who does not confirm keeps it
    if chapter.phone:  # the side bar, as its button shows it
        page.evaluate("document.querySelector('.primary-toggle').click()")
    for scheme in ("light", "dark"):
        chapter.theme(scheme)
        assert page.locator(".way-forget").is_visible()
        nothing(serious_to_axe(page))


def test_the_list_at_the_side_shows_the_page_that_is_open(browser, site):
    """The theme puts the list back to where it stood on the page before, which is too high for a late chapter."""
    inside = """() => {
      const list = document.querySelector(".bd-sidebar-primary").getBoundingClientRect();
      const page = document.querySelector(".bd-sidebar-primary .current.active > a").getBoundingClientRect();
      return page.top >= list.top && page.bottom <= list.bottom;
    }"""
    with visiting(browser, site, CHAPTER) as visit:
        for name in ("book/18_precision", CHAPTER):
            visit.page.goto(f"{site.http}{name}.html")
            visit.page.wait_for_function(inside)


@pytest.mark.deep
def test_what_stays_above_the_list_does_not_cover_the_page_that_is_open(browser, site):
    """The list is put back so that the entry lies under the search, which stays."""
    page = browser.new_context(viewport=DESK).new_page()
    page.goto(f"{site.http}book/18_precision.html")
    under = """() => {
      const list = document.querySelector(".bd-sidebar-primary");
      const entry = list.querySelector(".current.active > a").getBoundingClientRect();
      list.scrollTop += entry.top - list.getBoundingClientRect().top - 20;
    }"""
    page.evaluate(under)
    page.reload()
    page.wait_for_function("""() => {
      const list = document.querySelector(".bd-sidebar-primary");
      const entry = list.querySelector(".current.active > a");
      const { left, top, bottom } = entry.getBoundingClientRect();
      return entry.contains(document.elementFromPoint(left + 5, (top + bottom) / 2));
    }""")
    page.context.close()
