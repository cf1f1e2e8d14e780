"""Links to the files of a release: there when the book has an address, and only then."""

import sys
import types

import pytest
from bs4 import BeautifulSoup

from tests.site_ext.tiny_book import build

PAGE = "# One plane\n\nText.\n\n```{downloads}\n```\n"
REPOSITORY = "https://git.org/me/rope-lab"


@pytest.mark.parametrize("base", ["https://me.org/rope-lab/", ""])
def test_links_stand_there_when_the_book_has_an_address(tmp_path, base):
    _, _, warnings = build(tmp_path, PAGE, extensions=["downloads", "with_repository"], html_baseurl=base)
    assert warnings == ""
    page = BeautifulSoup((tmp_path / "out" / "book" / "01_one_plane.html").read_text(encoding="utf-8"), "html.parser")
    found = [link["href"] for link in page.select(".downloads a")]
    names = ("rope-lab.pdf", "rope-lab-book.zip", "rope-lab-figures.zip")
    files = [f"{REPOSITORY}/releases/latest/download/{name}" for name in names]
    assert found == (files if base else [])


@pytest.fixture(autouse=True)
def with_repository(monkeypatch):
    """The option of the theme, which the plain theme of a tiny book does not know."""
    module = types.ModuleType("with_repository")

    def setup(app):
        def add(app, _):
            app.config.html_theme_options = {"repository_url": REPOSITORY}

        app.connect("env-updated", add)
        return {"version": "1"}

    module.setup = setup
    monkeypatch.setitem(sys.modules, "with_repository", module)
