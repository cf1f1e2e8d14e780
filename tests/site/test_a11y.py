"""axe-core on each page: nothing serious or critical, on a desk (1280, light) and on a phone (390, dark).

What frames a page, its side bars say, is the same on all of them: a few pages are asked in both themes at both widths.
Of the others each second that is visited is asked by one of its two ways, and all by both in the deep run.
"""

import pytest

from tests.site import checks
from tests.site.checks import nothing
from tests.site.conftest import visits
from tests.site.pages import IN_BOTH, page_names


@pytest.mark.parametrize("visit", list(visits(every=2)), indirect=True)
def test_axe(visit):
    own, other = ("dark", "light") if visit.phone else ("light", "dark")
    for scheme in (other, own) if visit.name in IN_BOTH else (own,):
        visit.theme(scheme)
        nothing(checks.serious_to_axe(visit.page))


def test_the_pages_asked_in_both_are_there():
    assert set(page_names()) >= IN_BOTH


def test_title_and_language(visit):
    assert visit.page.title()
    assert visit.page.evaluate("() => document.documentElement.lang") == "en"
    assert visit.page.locator("h1").locator("visible=true").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_control_axe(planted, scheme):
    planted.theme(scheme)
    found = checks.serious_to_axe(planted.page)
    assert any(line.startswith("button-name (critical)") for line in found)
    assert any("#dim" in line for line in found) == (scheme == "dark")
