"""The page of the atlas: its filter chooses rows, keeps the choice in the address, and a row says how to repeat it."""

import pytest
from playwright.sync_api import expect

SHOWN = "table.atlas tbody tr:not([hidden])"


@pytest.fixture
def atlas_page(browser, site):
    def visit(query="", *, way="file", name="atlas"):
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{getattr(site, way)}book/{name}.html{query}")
        expect(page.locator("#atlas-filter")).to_be_visible()
        return page

    yield visit
    for context in browser.contexts:
        context.close()


def test_words_find_a_class_by_a_name_that_shares_its_code(atlas_page):
    page = atlas_page()
    everything = page.locator(SHOWN).count()
    page.locator("#atlas-filter input").fill("modeling_llama:LlamaRotary")
    expect(page.locator(SHOWN)).to_have_count(1)
    expect(page.locator("#atlas-filter output")).to_have_text(f"1 of {everything} rows")
    page.locator(f"{SHOWN} summary").click()
    expect(page.locator(f"{SHOWN} details")).to_contain_text("rope-lab audit transformers.models.")
    page.locator("#atlas-filter button").click()
    expect(page.locator(SHOWN)).to_have_count(everything)
    nothing_is_found(page, everything)


def test_the_search_stands_first_and_each_row_says_what_a_cast_does(atlas_page):
    page = atlas_page()
    form, table = (page.locator(name).bounding_box() for name in ("#atlas-filter", "table.atlas"))
    assert form["y"] < 500 < table["y"]
    said = page.locator("table.atlas td[data-what='a cast']").all_inner_texts()
    assert set(said) <= {"spoils it", "harmless", "not asked", "not recorded"}
    assert len(said) == page.locator("table.atlas tbody tr:not([data-laws='not answered'])").count()


def nothing_is_found(page, everything):
    """Where nothing is found a sentence says so, with the command for one's own class, and no head stands alone."""
    page.locator("#atlas-filter input").fill("no such word")
    expect(page.locator("#atlas-filter output")).to_have_text(f"Nothing is found: 0 of {everything} rows")
    expect(page.locator("table.atlas")).not_to_be_visible()
    expect(page.locator(".atlas-own")).to_contain_text("rope-lab audit")
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("table.atlas")).to_be_visible()
    expect(page.locator(".atlas-own")).not_to_be_visible()
    expect(page.locator(SHOWN)).to_have_count(everything)


@pytest.mark.deep
def test_a_choice_stands_in_the_address_and_comes_back(atlas_page):
    page = atlas_page(way="http")
    page.locator("#atlas-filter [name=laws]").select_option("by design")
    count = page.locator(SHOWN).count()
    page.wait_for_function("location.search === '?laws=by+design'")
    page.reload()
    expect(page.locator(SHOWN)).to_have_count(count)
    expect(page.locator(f"{SHOWN} td[data-what=laws]").first).to_contain_text("by design")


def test_a_choice_that_no_row_has_shows_all(atlas_page):
    page = atlas_page("?layout=nothing")
    assert page.locator(SHOWN).count() == page.locator("table.atlas tbody tr").count()


def test_families_are_found_by_a_function_and_chosen_by_what_turns(atlas_page):
    page = atlas_page(name="atlas_families", way="http")
    everything = page.locator(SHOWN).count()
    page.locator("#atlas-filter input").fill("modeling_nanochat:apply_rotary")
    expect(page.locator(SHOWN)).to_have_count(1)
    page.locator(f"{SHOWN} summary").click()
    expect(page.locator(f"{SHOWN} details")).to_contain_text("rope-lab audit --model nanochat --probe")
    page.locator("#atlas-filter button").click()
    expect(page.locator(SHOWN)).to_have_count(everything)
    page.locator("#atlas-filter [name=turns]").select_option("a part of the head")
    page.wait_for_function("location.search === '?turns=a+part+of+the+head'")  # page.url learns of it later
    expect(page.locator(f"{SHOWN} td[data-what=coordinates]").first).to_contain_text(" of ")
    page.locator("#atlas-filter button").click()
    expect(page.locator(SHOWN)).to_have_count(everything)
    nothing_is_found(page, everything)
