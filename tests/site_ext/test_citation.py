"""The foot of a page: an entry of BibTeX that names page, book and version, and no address that is none."""

from types import SimpleNamespace

import pytest

import rope_lab
from book._ext import citation


def app(base: str) -> SimpleNamespace:
    config = SimpleNamespace(project="RoPE Lab", author="The Authors", copyright="2026", html_baseurl=base)
    return SimpleNamespace(config=config, builder=SimpleNamespace(get_target_uri=lambda page: f"{page}.html"))


@pytest.mark.parametrize("base", ["", "https://me.org/lab/"])
def test_a_page_says_how_to_cite_it(base):
    context = {"title": "Keys_and <em>values</em>"}
    citation.foot(app(base), "book/08_values", "page.html", context, doctree=object())
    said = context["theme_extra_footer"]
    assert f"RoPE Lab {rope_lab.__version__}: cite this page" in said
    assert r"title = {Keys\_and values}," in said
    assert "@incollection{rope_lab_08_values," in said
    assert "author = {{The Authors}}," in said
    assert ("url = {https://me.org/lab/book/08_values.html}," in said) is bool(base)
    assert ("url" in said) is bool(base)


def test_a_page_without_a_text_has_no_foot():
    context = {"title": "Search"}
    citation.foot(app(""), "search", "search.html", context, doctree=None)
    assert "theme_extra_footer" not in context
