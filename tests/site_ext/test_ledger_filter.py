"""The filter of the ledger's page, as a reader uses it: typed, chosen, sent as an address, and without a script."""

import pytest
from ledger_text import check_source
from playwright.sync_api import expect

from rope_lab.claims import select
from tests.site_ext.tiny_book import build


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filter")
    assert build(folder, "# One\n", "blog.*", ["sphinx_copybutton", "page_head"])[2] == ""
    return (folder / "out" / "book" / "ledger.html").as_uri()


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    context.set_default_timeout(15_000)
    page = context.new_page()
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    yield page
    assert page.wrong == []
    context.close()


def shown(page) -> set[str]:
    return {row.get_attribute("id").removeprefix("claim-") for row in page.locator(".ledger-entry:visible").all()}


def said(page) -> str:
    return page.locator(".ledger-filter output").inner_text()


def ids(keep=lambda _: True) -> set[str]:
    return {entry.id.lower() for entry in select("blog.*") if keep(entry)}


def test_a_choice_hides_the_others_and_is_kept_in_the_address(page, address):
    page.goto(address)
    assert said(page) == f"{len(ids())} of {len(ids())} claims"
    page.select_option("[name=evidence]", "exact")
    exact = ids(lambda entry: entry.evidence == "exact")
    assert shown(page) == exact
    assert said(page) == f"{len(exact)} of {len(ids())} claims"
    page.select_option("[name=chapter]", "3")
    both = exact & ids(lambda entry: entry.chapter == 3)
    assert shown(page) == both
    kept = page.url
    assert kept.endswith("?chapter=3&evidence=exact")
    page.goto("about:blank")
    page.goto(kept)
    assert shown(page) == both
    page.click("[type=reset]")
    page.wait_for_function("!location.search")
    assert shown(page) == ids()


@pytest.mark.deep
def test_words_are_looked_for_in_the_whole_entry(page, address):
    page.goto(address)
    page.fill("[name=q]", "SWAPS moves")
    expect(page.locator(".ledger-filter output")).to_have_text(f"1 of {len(ids())} claims")
    assert shown(page) == {"blog.row-swaps"}
    computed = ids(lambda entry: "computed=" in check_source(entry))  # the code was not in the page at first
    page.fill("[name=q]", "computed=")
    expect(page.locator(".ledger-filter output")).to_have_text(f"{len(computed)} of {len(ids())} claims")
    assert shown(page) == computed != set()
    page.fill("[name=q]", "zyzzyvaquux")
    assert shown(page) == set()
    assert said(page).startswith("Nothing is found: 0 of ")


def test_whoever_arrives_by_an_anchor_finds_the_entry_open(page, address):
    page.goto(f"{address}?chapter=1#claim-blog.row-swaps")
    row = page.locator("[id='claim-blog.row-swaps']")
    page.wait_for_function("document.getElementById('claim-blog.row-swaps').open")
    assert row.is_visible()
    assert said(page).endswith("and the one you were led to")
    assert shown(page) == ids(lambda entry: entry.chapter == 1) | {"blog.row-swaps"}
    page.wait_for_function("document.getElementById('claim-blog.row-swaps').getBoundingClientRect().top < 400")
    page.evaluate("location.hash = 'claim-blog.props'")
    page.wait_for_function("document.getElementById('claim-blog.props').open")
    assert not row.is_visible()


def test_a_chip_shows_one_kind_dims_the_other_dots_and_stays_in_the_address(page, address):
    page.goto(f"{address}?kind=conditional")
    conditional = ids(lambda entry: entry.verdict == "conditional")
    assert shown(page) == conditional
    assert page.locator(".ledger-chips :checked").get_attribute("value") == "conditional"
    dots = page.locator(".ledger-picture .claim-shape:not(.out)").evaluate_all("dots => dots.map((dot) => dot.hash)")
    assert {dot.removeprefix("#claim-") for dot in dots} == conditional
    assert page.locator(".ledger-chapter:visible").count() == len(
        {e.chapter for e in select("blog.*") if e.id.lower() in conditional}
    )
    page.locator(".ledger-chips [value=print]").check()
    assert shown(page) == ids(lambda entry: entry.verdict == "false")
    assert page.url.endswith("?kind=print")
    page.click("[type=reset]")
    page.wait_for_function("!location.search")
    assert shown(page) == ids()


def test_the_arrow_keys_walk_the_picture_and_enter_opens_the_entry(page, address):
    page.goto(address)
    lines = page.locator(".ledger-picture li > span").evaluate_all(
        "lines => lines.map((line) => [...line.children].map((dot) => dot.hash))"
    )
    assert page.locator(".ledger-picture .claim-shape[tabindex='0']").count() == 1  # one stop of the Tab key
    page.locator(".ledger-picture .claim-shape").first.focus()
    here = "document.activeElement.hash"
    for key, to in [
        ("ArrowRight", lines[0][1]),
        ("End", lines[0][-1]),
        ("ArrowRight", lines[1][0]),
        ("ArrowUp", lines[0][0]),
        ("ArrowUp", lines[0][0]),
        ("ArrowDown", lines[1][0]),
    ]:
        page.keyboard.press(key)
        assert page.evaluate(here) == to, key
    page.keyboard.press("Enter")
    page.wait_for_function("id => document.getElementById(id).open", arg=lines[1][0].removeprefix("#"))


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize(
    "query", ["?kind=nobody", "?source=nobody", "?q=&chapter=99", "?unknown=1", "#claim-nothing", "#%20"]
)
def test_an_odd_address_shows_all(page, address, query):
    page.goto(address + query)
    assert shown(page) == ids()


def test_a_keyboard_is_enough(page, address):
    page.goto(address)
    page.locator(".ledger-entry summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".ledger-entry").first.evaluate("row => row.open")
    page.locator("[name=verdict]").focus()
    page.keyboard.press("ArrowDown")
    assert len(shown(page)) < len(ids())


def test_an_entry_that_is_opened_tells_everything(page, address):
    page.goto(address)
    assert page.locator(".ledger-check").count() == 0
    page.locator(".ledger-entry > summary").first.click()
    expect(page.locator(".ledger-entry[open] .ledger-check")).to_be_visible()
    expect(page.locator(".ledger-entry[open]")).not_to_contain_text("The full entry stands in")
    page.locator(".ledger-entry > summary").last.click()
    expect(page.locator(".ledger-check")).to_have_count(2)  # the page of all entries has 40,000 elements
    assert page.locator("script[src*=ledger-entries]").count() == 1


def test_one_click_copies_a_check_once(page, address):
    page.goto(address)
    page.locator(".ledger-entry > summary").first.click()
    button = page.locator(".ledger-entry[open] .copybtn")
    expect(button).to_have_count(1)
    page.evaluate("window.copies = 0; addEventListener('copy', () => { window.copies += 1; }, true)")
    button.press("Enter")  # a mouse hits the icon, which the first answer replaces, so a second one would not come
    expect(button).to_have_attribute("data-tooltip", "Copied!")
    assert page.evaluate("window.copies") == 1


def test_an_entry_whose_script_is_missing_leads_to_the_copy(page, address):
    page.route("**/ledger-entries.js*", lambda route: route.abort())
    page.goto(address)
    page.locator(".ledger-entry > summary").first.click()
    expect(page.locator(".ledger-entry[open] a[href='ledger.md']")).to_be_visible()


def test_without_a_script_every_row_is_there_and_leads_to_the_copy(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert len(page.locator(".ledger-entry > summary:visible").all()) == len(ids())
    assert not page.locator(".ledger-filter").is_visible()
    page.locator(".ledger-entry > summary").first.click()
    assert page.locator(".ledger-entry a[href='ledger.md']").first.is_visible()
    context.close()
