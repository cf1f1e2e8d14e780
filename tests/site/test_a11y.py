"""axe-core on each page: nothing serious or critical, in both themes, on a desk (1280) and on a phone (390)."""

import pytest

from tests.site import checks
from tests.site.checks import nothing


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe(visit, scheme):
    # axe finds nothing on an error page: first see that this one is a page of the book.
    assert visit.page.locator("h1").locator("visible=true").inner_text()
    assert visit.page.title()
    visit.theme(scheme)
    nothing(checks.serious_to_axe(visit.page))


def test_title_and_language(visit):
    assert visit.page.evaluate("() => document.documentElement.lang") == "en"
    assert visit.page.locator("h1").locator("visible=true").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_control_axe(planted, scheme):
    planted.theme(scheme)
    found = checks.serious_to_axe(planted.page)
    assert any(line.startswith("button-name (critical)") for line in found)
    assert any("#dim" in line for line in found) == (scheme == "dark")
