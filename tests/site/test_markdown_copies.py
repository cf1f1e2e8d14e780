"""The Markdown copies of the built book: each page has one, all are listed, and none holds what only Sphinx reads."""

import re

import pytest

from tests.site.pages import MADE_BY_SPHINX, page_names

PAGES = [name for name in page_names() if name not in (*MADE_BY_SPHINX, "404")]
REMNANTS = {
    "a directive": r"^\s*(?:```+|:::+)\{[\w:-]+\}",
    "a role or a claim's mark": r"\{(?:claim|step|defines|ref|eq|numref|cite(?::\w)?|doc)\}`",
    "a label": r"^\([\w-]+\)=$",
    "an option of a directive": r"^:(?:tags|label|class|name): ",
    "HTML": r"</?(?:div|span|section|p|svg|m(?:jx)?-\w+|details|script|label)\b",
    "mathematics that is no TeX between dollars": r"\\\\\(|\\\(",
}


def remnants(text: str) -> list[str]:
    """What is left of Sphinx, MyST and HTML outside of code."""
    fenced = re.compile(r"^( *)```(?!\{).*?^\1```$", re.DOTALL | re.MULTILINE)
    prose = re.sub(r"(?<!`)`[^`\n]+`(?!`)", "``", fenced.sub("", text))
    hits = {what: re.search(form, prose, re.MULTILINE) for what, form in REMNANTS.items()}
    return [f"{what}: {hit[0]!r}" for what, hit in hits.items() if hit]


def dead(html, page: str, text: str) -> list[str]:
    """Links to copies that are not there."""
    links = re.findall(r"\]\(([^)\s:]+\.md)\)", text)
    return [link for link in links if not (html / page).parent.joinpath(link).resolve().is_file()]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_a_clean_copy_and_names_it(html, name):
    text = (html / f"{name}.md").read_text(encoding="utf-8")
    assert re.match(r"# \S.*\n\n> \S.*\n\n", text), text[:200]
    assert remnants(text) == []
    assert dead(html, name, text) == []
    assert len(re.findall(r"^```", text, re.MULTILINE)) % 2 == 0
    head = (html / f"{name}.html").read_text(encoding="utf-8").partition("</head>")[0]
    assert f'<link rel="alternate" type="text/markdown" href="{name.rpartition("/")[2]}.md"' in head


def test_the_list_is_complete(html):
    text = (html / "llms.txt").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[.+\]\((\S+)\.md\): \S", text, re.MULTILINE)
    assert sorted(listed) == sorted(PAGES)


@pytest.mark.parametrize("name", ["llms.txt", "feed.xml"])
def test_the_list_and_the_feed_name_the_book(html, name):
    text = (html / name).read_text(encoding="utf-8")
    assert re.search(r"^(?:# |    <title>)RoPE Lab(?:</title>)?$", text, re.MULTILINE)
    assert "not set" not in text.partition("<item>")[0]


@pytest.mark.parametrize(
    "text",
    ["```{note}\nx\n```", "see {claim}`a.b`", "(label)=", ":tags: [x]", "a <span>b</span>", r"so \(a\)", ":::{fold} x"],
)
def test_control_remnants_are_seen(text):
    assert remnants(text)


def test_control_code_may_hold_anything(html):
    assert remnants("```python\nx = '{claim}`a`' # <div>\n```\n\nand `<div>`") == []
    assert dead(html, "book/x", "[a](no_such_page.md)") == ["no_such_page.md"]
