"""Search finds a word with no server behind it, and finds nothing for a word that is not there."""

import re
from urllib.parse import quote_plus

import pytest

from tests.site.checks import nothing
from tests.site.pages import page_names, visiting
from tests.site_ext.test_search_sections import TYPED

RESULTS = "#search-results ul.search li"


def ask(page, word: str) -> list[str]:
    """Ask as a reader does, with the button or Ctrl+K of any page; the addresses of the results."""
    page.keyboard.press("Control+k")
    field = page.locator("dialog input[type=search], .search-button__search-container input[type=search]").first
    field.fill(word)
    with page.expect_navigation(url=re.compile(r"search\.html\?q=")):
        field.press("Enter")
    return results(page)


def results(page) -> list[str]:
    page.wait_for_function(
        "() => /found|did not match/i.test(document.querySelector('#search-results')?.innerText ?? '')"
    )
    return page.locator(f"{RESULTS} > a").evaluate_all("all => all.map((link) => link.getAttribute('href'))")


def search(reader, words: str) -> list[str]:
    """The results at the address to which ``ask`` leads."""
    reader.goto(f"search.html?q={quote_plus(words)}")
    return results(reader)


@pytest.fixture(scope="module")
def reader(browser, site):
    """One page for all searches."""
    page = browser.new_page(base_url=site.http)
    yield page
    page.close()


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("local", [False, True], ids=["http", "file"])
def test_search(browser, site, local):
    root, chapter = page_names()[0], next(name for name in page_names() if re.match(r"book/\d\d_", name))
    text = (site.html / f"{chapter}.html").read_text(encoding="utf-8")
    words = re.findall(r"[a-z]{6,}", re.search(r"<main.*?<p\b[^>]*><span>(.*?)</span>", text, re.DOTALL)[1].lower())
    with visiting(browser, site, root, local=local) as visit:
        found = ask(visit.page, words[0])
        assert any(chapter.split("/")[-1] in address for address in found)
        visit.page.locator(f"{RESULTS} > a").first.click()
        visit.page.wait_for_load_state("load")
        assert visit.page.locator("h1").locator("visible=true").inner_text()
        nothing(visit.foreign_requests + visit.refused + visit.errors)


@pytest.mark.deep
def test_a_summary_is_of_the_article_alone(reader):
    assert search(reader, "wavelength")
    reader.locator(f"{RESULTS} p.context").first.wait_for()
    for told in reader.locator(f"{RESULTS} p.context").all_inner_texts():
        assert not re.search(r"\bColab\b|\bContents\b|chapter \d+ of \d+", told), told


def test_a_symptom_is_found_in_the_words_of_those_who_meet_it(reader):
    found = search(reader, "twenty words gibberish")
    assert any(address.endswith("symptoms.html#fine-for-twenty-words-then-gibberish") for address in found)


@pytest.mark.deep
def test_a_title_stands_above_what_mentions_it(reader):
    found = search(reader, "precision")
    assert found[0].endswith("18_precision.html")
    assert len({address for address in found if "18_precision.html" in address}) > 1  # its sections, further down


@pytest.mark.deep
def test_a_page_that_is_its_title_stands_there_once(reader):
    found = search(reader, "generators")
    assert sum(address.endswith("book/05_generators.html") for address in found) == 1


@pytest.mark.deep(keep=1)  # tests/site_ext/test_search_sections.py asks all without a browser
@pytest.mark.parametrize("typed", TYPED)
def test_a_symptom_stands_among_the_first_three(reader, typed):
    assert any(address.endswith(f"symptoms.html#{TYPED[typed]}") for address in search(reader, typed)[:3])


def test_one_word_of_several_is_enough_and_more_of_them_rank_higher(reader):
    found = search(reader, "zyzzyvaquux wavelength cosine")
    scores = [float(link.get_attribute("data-score")) for link in reader.locator(f"{RESULTS} > a").all()]
    assert len(found) > 5
    assert scores == sorted(scores, reverse=True)
    assert scores[0] - scores[-1] > 1  # two words of two, and one


def test_with_no_hit_it_says_where_to_go(reader):
    assert search(reader, "zyzzyvaquux") == []
    ways = reader.locator("#search-results .search-ways")
    assert "rope-lab audit" in ways.inner_text()
    ways.get_by_role("link", name="index by symptom").click()
    reader.wait_for_url("**/symptoms.html")


def test_a_result_leads_to_the_section_with_the_word(reader):
    found = search(reader, "wavelengths")
    inside = ["#" in address for address in found]
    assert inside[0]
    assert sum(inside) >= 3
    with reader.expect_navigation():
        reader.locator(f"{RESULTS} > a").first.click()
    section = reader.evaluate("() => document.getElementById(decodeURIComponent(location.hash.slice(1))).innerText")
    assert "wavelength" in section.lower()
