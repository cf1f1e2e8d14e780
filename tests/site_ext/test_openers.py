"""What a chapter opens with: the line above its title, its question, the figure of its prediction, its facts."""

import io
import re
from pathlib import Path
from types import SimpleNamespace

import openers
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

ROOT = Path(__file__).resolve().parents[2]

PARTS = [("I. Rotate", ["book/01_one", "book/02_two"]), ("II. Complete & more", ["book/03_three"])]


@pytest.mark.parametrize(
    ("page", "said", "lit"),
    [
        ("book/01_one", "Part I · Rotate chapter 1 of 3", 0),
        ("book/03_three", "Part II · Complete &amp; more chapter 3 of 3", 2),
    ],
)
def test_a_chapter_says_its_part_and_its_place(page, said, lit):
    line = openers.line(PARTS, page)
    assert " ".join(re.sub(r"<[^>]+>", " ", line).split()) == said
    assert [bool(tick) for tick in re.findall(r"<s( class='lit')?>", line)].index(True) == lit
    assert line.count("class='lit'") == 1


def test_the_line_stands_above_the_title_of_a_chapter_alone(monkeypatch):
    monkeypatch.setattr(openers, "chapters_by_part", lambda _: dict(PARTS))
    shown = {page: {"body": "<h1>"} for page in ("book/02_two", "book/ledger")} | {"book/01_one": {}}
    for page, context in shown.items():
        openers.open_chapter(SimpleNamespace(env=None), page, "page.html", context, None)
    assert shown == {
        "book/02_two": {"body": openers.line(PARTS, "book/02_two") + "<h1>"},
        "book/ledger": {"body": "<h1>"},
        "book/01_one": {},  # a page that Sphinx writes without a body
    }


def test_control_another_page_has_no_place():
    with pytest.raises(ValueError, match="book/notation"):
        openers.line(PARTS, "book/notation")


HEAD = """# Two

```{{question}}
:needs: {needs}

How *far*?
```

At stake.

```{{quiz}} ch01.predict-cache
```

:::{{container}} tag_opener
a figure
:::

```{{aims}}
turn a hand.
```

## More

:::{{fold}} Folded
:::

{words}

```{{task}} ch01.rotate
```

## Code

- none
"""


def as_a_cell(_, doctree):
    """The directive {container} writes another name of the class."""
    for node in doctree.findall(nodes.container):
        node["classes"] = [name.replace("tag-opener", "tag_opener") for name in node["classes"]]


def opened(tmp_path, page, name="02_two"):
    """A page of a small book: its text as a tree, and the warnings."""
    book = tmp_path / "source"
    for folder in ("book", "notebooks"):
        (book / folder).mkdir(parents=True)
    (book / "book" / f"{name}.md").write_text(page, encoding="utf-8")
    (book / "book" / "01_one.md").write_text("# One", encoding="utf-8")
    (book / "notebooks" / f"{name}.md").write_text("# Lab", encoding="utf-8")
    (book / "index.md").write_text(
        f"# T\n\n```{{toctree}}\nbook/01_one\nbook/{name}\nnotebooks/{name}\n```", encoding="utf-8"
    )
    settings = {
        "extensions": ["myst_parser", "openers"],
        "html_theme": "basic",
        "myst_enable_extensions": ["colon_fence", "dollarmath"],
        "html_static_path": [str(ROOT / "book" / "_static")],
        "mathjax_path": "none.js",
    }
    warnings = io.StringIO()
    with patch_docutils(), docutils_namespace():
        app = Sphinx(book, None, tmp_path / "out", tmp_path / "trees", "html", settings, status=None, warning=warnings)
        app.connect("doctree-read", as_a_cell, priority=100)
        app.events.listeners["html-page-context"] = []  # the table of contents that the line above a title reads
        app.build()
    html = (tmp_path / "out" / "book" / f"{name}.html").read_text(encoding="utf-8")
    return BeautifulSoup(html, "html.parser"), re.sub(r"\x1b\[[\d;]*m", "", warnings.getvalue())


def test_a_chapter_opens_with_its_question_its_figure_and_its_facts(tmp_path):
    page, warnings = opened(tmp_path, HEAD.format(needs=1, words="word " * 400))
    assert warnings == ""
    asked = page.select_one("h1 + p.question")
    assert asked.get_text() == "How far?"
    form = page.select_one("form.quiz.opener-form")
    kinds = [child.get("class", [child.name])[0] for child in form.fieldset.find_all(recursive=False)]
    assert kinds == ["legend", "quiz-prompt", "opener-figure", "div"]
    assert form.select_one(".opener-figure").get_text(strip=True) == "a figure"
    assert form.select(".opener-figure + div .quiz-choices")
    facts = page.select_one("p.aims + p.facts")
    assert [fact.get_text() for fact in facts.find_all("span", recursive=False)] == [
        "8 minutes with all folds",
        "needs chapter 1",
        "1 question, 1 task",
        "Lab",
        "Code",
    ]
    links = [link["href"] for link in facts.select("a")]
    assert links == ["01_one.html", "../notebooks/02_two.html", "#code"]


def test_control_each_figure_without_a_prediction_is_told(caplog):
    page = nodes.section("", *(nodes.container(classes=["tag_opener"]) for _ in range(2)))
    openers.arrange(SimpleNamespace(env=None), page)
    assert caplog.text.count("a cell tagged opener stands on a page without a prediction") == 2


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (":needs: 1", ":needs: 1 2", "needs chapter 2, which does not come before this one"),
        ("How *far*?", "How far.", "one sentence that ends with a question mark"),
        ("How *far*?", "How far?\n\nWhy?", "one sentence that ends with a question mark"),
        ("```{quiz} ch01.predict-cache\n```", "", "a cell tagged opener stands on a page without a prediction"),
    ],
)
def test_control_what_an_opener_refuses(tmp_path, old, new, said):
    page = HEAD.format(needs=1, words="")
    assert old in page
    assert said in opened(tmp_path, page.replace(old, new))[1]
