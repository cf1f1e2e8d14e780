"""Python in the page: what runs there prints what the build printed, and what a reader writes harms nothing."""

import base64
import gzip
import json
import re

import pytest
from playwright.sync_api import expect

from book.live.cells import cells_of
from tests.deep import sampled
from tests.site import checks
from tests.site.pages import ROOT, visiting

PAGES = ["01_one_plane", "05_generators", "16_nine_placements"]  # in each run; a page with a figure, one with cards
ENDED = "bar => ['done', 'stopped'].includes(bar.dataset.state)"
pytestmark = pytest.mark.xdist_group("live")  # Python is started once for the tests of one page
PATIENCE = 180_000  # milliseconds: a first run starts Python, beside other tests
BEFORE_A_CLICK = 10_000  # bytes
GONE = [
    "fetch",
    "XMLHttpRequest",
    "WebSocket",
    "EventSource",
    "indexedDB",
    "caches",
    "Worker",
    "navigator",
    "postMessage",
]


@pytest.fixture(scope="module")
def live(html):
    if not (html / "live").is_dir():
        pytest.skip("the book was built without Python in its pages")
    return html / "live"


def manifest(live) -> dict:
    text = (live / "manifest.js").read_text().split('"')[3]
    return json.loads(gzip.decompress(base64.b64decode(text)))


def opened(page):
    page.evaluate(
        "document.querySelectorAll('article details:not(.ledger-entry)').forEach(one => { one.open = true; })"
    )
    return page


def pressed(page, bar, name="Run"):
    bar.get_by_role("button", name=name, exact=True).click()
    page.wait_for_function(ENDED, arg=bar.element_handle(), timeout=PATIENCE)
    return bar


def pages_with_cells() -> list[str]:
    return sorted(page.stem for page in (ROOT / "book").glob("*.md") if any(not c["hidden"] for c in cells_of(page)))


@pytest.mark.parametrize("name", sampled(pages_with_cells(), PAGES))
@pytest.mark.parametrize("local", [True, pytest.param(False, marks=pytest.mark.deep)])
def test_every_cell_prints_what_the_build_printed(browser, site, live, name, local):
    there = [cell for cell in manifest(live)["pages"].get(name, []) if not (cell["hidden"] or cell["why"])]
    with visiting(browser, site, f"book/{name}", local=local) as visit:
        page = opened(visit.page)
        bars = page.locator(".cell > .live-bar:not(.live-no)")
        assert bars.count() == len(there)
        verdicts = {}
        for index in range(bars.count()):
            bar = pressed(page, bars.nth(index))
            verdicts[index] = bar.get_attribute("data-verdict")
        assert set(verdicts.values()) <= {"same", "silent"}, verdicts
        assert not visit.foreign_requests + visit.refused + visit.errors


def test_a_page_loads_little_before_a_click(live):
    first = sum((live / name).stat().st_size for name in ("buttons.js", "live.css"))
    assert first < BEFORE_A_CLICK


@pytest.fixture(scope="module")
def page(browser, site, live):  # noqa: ARG001 - without Python there is nothing to visit
    with visiting(browser, site, "book/05_generators", local=True) as visit:
        page = opened(visit.page)
        page.visit = visit
        bar = pressed(page, page.locator(".cell > .live-bar").first)
        bar.get_by_role("button", name="Edit").click()
        yield page


def ran(page, code: str):
    """Run a text of one's own in the first cell; the bar and what it shows."""
    bar = page.locator(".cell > .live-bar").first
    page.locator(".live-code").fill(code)
    return pressed(page, bar), page.locator(".cell > .live-output").first


def test_an_own_text_runs_and_its_errors_name_the_line(page):
    bar, out = ran(page, "x = 6\nx * 7")
    expect(out).to_have_text("42")
    assert bar.get_attribute("data-verdict") == "edited"
    assert "no end" in ran(page, "print('no end', end='')")[1].inner_text()
    bar, out = ran(page, "x = 1\nx.nothing")
    expect(out.locator(".live-error")).to_contain_text("line 2")
    expect(out.locator(".live-error")).to_contain_text("AttributeError")


def test_a_figure_is_shown_as_a_picture(page):
    _, out = ran(page, "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    picture = out.locator("img.live-figure")
    picture.wait_for()
    assert picture.evaluate("one => one.decode().then(() => one.naturalWidth)") > 100
    assert checks.serious_to_axe(page) == []


def test_enter_keeps_the_indentation(page):
    page.locator(".live-code").fill("")
    page.locator(".live-code").press_sequentially("for i in range(2):\nif i:\nprint(i)\nprint(2)")
    assert page.locator(".live-code").input_value() == (
        "for i in range(2):\n    if i:\n        print(i)\n        print(2)"
    )


def test_a_table_is_shown_without_what_could_run(page):
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    _, out = ran(
        page,
        'class A:\n    def _repr_html_(self):\n        return "<img src=x onerror=alert(1)><table><tr><td '
        'onclick=alert(2)>five</td></tr></table><script>alert(3)</script>"\nA()',
    )
    expect(out.locator("td")).to_have_text("five")
    assert out.locator("img, script, [onclick]").count() == 0


def test_what_leads_out_of_the_worker_is_gone(page):
    _, out = ran(page, f"import js\nprint([name for name in {GONE!r} if getattr(js, name, None) is not None])")
    expect(out).to_have_text("[]")
    _, out = ran(page, 'import js\nprint(js.Function.new("return typeof fetch + typeof indexedDB")())')
    expect(out).to_contain_text("Content Security Policy")  # a text is no script


def test_an_endless_loop_is_stopped_and_python_starts_anew(page):
    page.locator(".live-code").fill("print('begun')\nwhile True: pass")
    bar = page.locator(".cell > .live-bar").first
    bar.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".cell > .live-output").first).to_have_text("begun", timeout=PATIENCE)
    assert page.evaluate("1 + 1") == 2
    pressed(page, bar, "Stop")
    expect(bar.locator(".live-status")).to_contain_text("Stopped")
    _, out = ran(page, "print(2)")
    expect(out).to_have_text("2")


def test_reset_brings_the_printed_text_back(page):
    bar = page.locator(".cell > .live-bar").first
    bar.get_by_role("button", name="Reset").click()
    assert pressed(page, bar).get_attribute("data-verdict") == "same"


def test_a_check_runs_in_its_card_and_rejects_a_wrong_candidate(page):
    page.locator("a.mark-sign[data-claims]").first.click()
    card = page.locator(".mark-card")
    pressed(page, card.locator(".live-bar").first, "Run this check")
    expect(card.locator(".live-said").first).to_contain_text("It holds")
    expect(card.locator(".live-said").first).to_contain_text("The control, a wrong one, is rejected")
    expect(card.locator(".live-said").first).to_be_in_viewport(ratio=1)
    second = card.locator(".live-output .live-bar").first
    pressed(page, second, "Put the wrong one in")
    expect(card.locator(".live-said").first).to_contain_text("The check rejects it")
    pressed(page, second, "Put the right one back")
    expect(card.locator(".live-said").first).to_contain_text("It holds")


@pytest.fixture
def exercise(browser, site, live):  # noqa: ARG001 - without Python there is nothing to answer
    """The exercise of chapter 1, with its field open."""
    with visiting(browser, site, "book/01_one_plane", local=True) as visit:
        task = visit.page.locator("#task-ch01-rotate")
        task.get_by_role("button", name="Answer it here").click()
        task.locator(".live-code").wait_for()
        task.visit = visit
        yield task


def answered(task, code: str) -> str:
    """Hand an answer in; what is said of it."""
    task.locator(".live-code").fill(code)
    pressed(task.page, task.locator(".live-bar"), "Check")
    return task.locator(".live-output").inner_text()


def test_an_exercise_is_judged_on_its_page_and_the_text_stays(exercise):
    stub = exercise.locator(".live-code").input_value()
    assert "is yours to write" in answered(exercise, stub)
    wrong = TURN.format("-m * theta")
    assert "example" in answered(exercise, wrong)
    assert "A hint stands below" in answered(exercise, wrong)
    assert exercise.locator(".task-mistakes").inner_text().strip() == "It looks as if it turns clockwise."
    assert exercise.locator(".task-hint").get_attribute("open") is not None
    assert checks.serious_to_axe(exercise.page) == []
    assert "Right" in answered(exercise, TURN.format("m * theta"))
    assert exercise.locator(".task-mistakes").inner_text().strip() == ""
    exercise.page.reload()
    exercise.get_by_role("button", name="Answer it here").click()
    exercise.locator(".live-code").wait_for()
    assert exercise.locator(".live-code").input_value() == TURN.format("m * theta")
    exercise.get_by_role("button", name="Start again").click()
    assert exercise.locator(".live-code").input_value() == stub
    exercise.get_by_role("button", name="Put my text back").click()
    assert exercise.locator(".live-code").input_value() == TURN.format("m * theta")
    assert not exercise.visit.foreign_requests + exercise.visit.refused + exercise.visit.errors


TURN = """def rotate(x, m, theta):
    c, s = np.cos({0}), np.sin({0})
    return np.array([c * x[0] - s * x[1], s * x[0] + c * x[1]])
"""


def pages_with_tasks() -> list[str]:
    return sorted(page.stem for page in (ROOT / "book").glob("*.md") if "```{task}" in page.read_text())


@pytest.mark.deep
@pytest.mark.parametrize("name", pages_with_tasks())
def test_each_solution_is_right_on_its_page(browser, site, live, name):
    tasks = manifest(live)["tasks"]
    with visiting(browser, site, f"book/{name}", local=True) as visit:
        page = opened(visit.page)
        for task in page.locator("div.task").all():
            entry = tasks[task.get_attribute("id")]
            room = f"import {entry['module']} as room\nglobals().update(vars(room))\n"  # with the helpers of its module
            task.get_by_role("button", name="Answer it here").click()
            task.locator(".live-code").wait_for()
            said = answered(task, room + task.locator(".task-solution .highlight pre").inner_text())
            assert "Right" in said, (entry["id"], said)


def come_out(page, number):
    """Wait for so many rows; ``expect`` would take a picture of the whole page at each look."""
    enough = "number => document.querySelectorAll('[data-ran=yes]').length >= number"
    page.wait_for_function(enough, arg=number, polling=250, timeout=PATIENCE)


def test_the_ledger_offers_what_runs_here_and_goes_on_after_a_stop(browser, site, live):
    claims = manifest(live)["claims"]
    whole = sum(not claim["why"] for claim in claims.values())
    assert {claim["why"] for claim in claims.values()} <= {"", "torch"}
    with visiting(browser, site, "book/ledger", local=True) as visit:
        visit.page.evaluate("Object.defineProperty(navigator, 'hardwareConcurrency', { get: () => 1 })")  # one engine
        bar = visit.page.locator("#ledger-filter + .live-bar")
        bar.get_by_role("button", name=f"Run all {whole} checks here").click()
        come_out(visit.page, 4)
        pressed(visit.page, bar, "Stop")
        had = visit.page.locator("[data-ran=yes]").count()
        bar.get_by_role("button", name=re.compile("Run all")).click()
        come_out(visit.page, had + 2)
        assert visit.page.locator("[data-ran=no]").count() == 0
        pressed(visit.page, bar, "Stop")


@pytest.mark.deep
def test_every_claim_of_the_ledger_comes_out_here_as_in_the_build(browser, site, live):
    with visiting(browser, site, "book/ledger", local=True) as visit:
        bar = visit.page.locator("#ledger-filter + .live-bar")
        bar.get_by_role("button", name=re.compile("Run all")).click()
        visit.page.wait_for_function(ENDED, arg=bar.element_handle(), timeout=600_000)
        whole = sum(not claim["why"] for claim in manifest(live)["claims"].values())
        expect(bar.locator(".live-status")).to_contain_text(f"All {whole} came out as the book says")
