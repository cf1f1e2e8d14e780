"""The foot of a page: version, commit and licences, and an entry of BibTeX with no address that is none."""

import subprocess
from types import SimpleNamespace

import pytest

import rope_lab
from book._ext import citation


def app(base: str) -> SimpleNamespace:
    config = SimpleNamespace(project="RoPE Lab", author="The Authors", copyright="2026", html_baseurl=base)
    config.root_doc = "book/intro"
    uri = SimpleNamespace(get_target_uri=lambda page: f"{page}.html", get_relative_uri=lambda _, to: f"../{to}.html")
    return SimpleNamespace(config=config, builder=uri, confdir="/")


@pytest.mark.parametrize("base", ["", "https://me.org/lab/"])
def test_a_page_says_how_to_cite_it(base):
    context = {"title": "Keys_and <em>values</em>"}
    citation.foot(app(base), "book/08_values", "page.html", context, doctree=object())
    said = context["theme_extra_footer"]
    assert f"<p>RoPE Lab {rope_lab.__version__}. Text" in said  # no commit where there is no repository
    assert "Cite this page" in said
    assert r"title = {Keys\_and values}," in said
    assert "@incollection{rope_lab_08_values," in said
    assert "author = {{The Authors}}," in said
    assert ("url = {https://me.org/lab/book/08_values.html}," in said) is bool(base)
    assert ("url" in said) is bool(base)


def test_a_page_without_a_text_is_not_cited():
    context = {"title": "Search"}
    citation.foot(app(""), "search", "search.html", context, doctree=None)
    assert 'href="../book/intro.html#take-it-with-you"' in context["theme_extra_footer"]
    assert "ite this page" not in context["theme_extra_footer"]


def test_the_commit_has_its_date_and_says_when_the_tree_differs(tmp_path):
    def git(*asked):
        name = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        return subprocess.run(["git", *name, *asked], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-qm", "one", "--date", "2020-02-02T00:00:00Z")
    name, day = git("log", "-1", "--format=%h %cs").split()
    assert citation.commit(tmp_path) == f"commit {name} of {day}"
    citation.commit.cache_clear()
    (tmp_path / "a").write_text("2")
    assert citation.commit(tmp_path) == f"commit {name}+ of {day}"
