"""The Markdown copy of a page, and the list of all copies."""

from types import SimpleNamespace

from docutils import nodes
from markdown_copies import copy, listing, write_copy
from page_head import description

PAGES = {"book/01_one", "book/02_two", "notebooks/01_one"}
MATH = '<span class="math notranslate" data-tex="a_b = |c|"><m-tex>glyphs</m-tex></span>'


def body(html):
    return f'<section><h1>1. One<a class="headerlink" href="#x">#</a></h1>{html}</section>'


def made(html):
    return copy(body(html), "What it is about.", "book/01_one", PAGES)


def test_a_copy_says_below_its_title_what_the_page_is_about():
    assert made("<p>First sentence. Second.</p>") == "# 1. One\n\n> What it is about.\n\nFirst sentence. Second.\n"


def test_a_copy_says_what_the_page_says_of_itself_and_keeps_its_aims(tmp_path):
    aims = nodes.paragraph("", "", nodes.Text("In 5 minutes you can read "), nodes.math("", "a_b"), classes=["aims"])
    doctree = nodes.section("", nodes.title("", "One"), nodes.paragraph("", "Text."), aims)
    env = SimpleNamespace(titles={"one": doctree[0]}, found_docs={"one"})
    app = SimpleNamespace(outdir=tmp_path, env=env, config=SimpleNamespace(html_title="Book"))
    app.builder = SimpleNamespace(get_target_uri=lambda page: f"{page}.html")
    math = '<span class="math notranslate" data-tex="a_b"></span>'
    context = {"body": body(f'<p>Text.</p><p class="aims"><strong>In 5 minutes</strong> you can read {math}</p>')}
    write_copy(app, "one", "page.html", context, doctree)
    said = "# 1. One\n\n> In 5 minutes you can read a_b\n\nText.\n\n**In 5 minutes** you can read $a_b$\n"
    assert (tmp_path / "one.md").read_text() == said
    assert description(doctree, "One", "Book") == "In 5 minutes you can read a_b"


def test_mathematics_is_its_tex():
    assert "see $a_b = |c|$ here" in made(f"<p>see {MATH} here</p>")
    number = '<span class="eqno">(1.2)<a class="headerlink" href="#y">#</a></span>'
    block = f'<p>T.</p><div class="math notranslate" data-tex="a_b\n= 1">{number}<m-tex>g</m-tex></div>'
    assert "$$\na_b\n= 1\n\\tag{1.2}\n$$" in made(block)
    table = f"<p>T.</p><table><thead><tr><th>x</th></tr></thead><tbody><tr><td>{MATH}</td></tr></tbody></table>"
    assert r"| $a_b = \vert c\vert $ |" in made(table)


def test_code_and_what_it_printed_are_told_apart():
    cell = (
        '<p>T.</p><div class="cell"><div class="highlight-ipython3"><div><pre>a = 1\n</pre></div></div>'
        '<div class="highlight-myst-ansi"><div class="highlight"><pre>1\n</pre></div></div></div>'
    )
    assert "```python\na = 1\n```\n\n```\n1\n```" in made(cell)


def test_pictures_and_widgets_are_words():
    drawn = "<svg><title>One turn</title><desc>It goes round.</desc><text>7</text></svg>"
    picture = f'<p>T.</p><div class="rope-svg">{drawn}</div>'
    assert "> Picture: One turn. It goes round.\n" in made(picture)
    widget = '<p>T.</p><div><noscript><p class="rope-fallback">Interactive figure: two hands.</p></noscript></div>'
    assert "> Interactive figure: two hands.\n" in made(widget)


def test_a_question_has_its_choices_and_its_answer():
    form = (
        '<p>T.</p><form class="quiz"><fieldset><legend>Exercise</legend><p>Which?</p>'
        '<label><input type="radio"/><span class="quiz-letter">A</span> <span>this</span></label>'
        '<label><input type="radio"/><span class="quiz-letter">B</span> <span>that</span></label>'
        '<p class="quiz-says"></p><div class="quiz-feedback"><div hidden="">No.</div></div>'
        "<details><summary>The answer, and why</summary><p>The answer is B.</p></details></fieldset></form>"
    )
    text = made(form)
    assert "**Exercise**\n\nWhich?\n\n- A this\n- B that\n\n**The answer, and why**\n\nThe answer is B." in text
    assert "No." not in text


def test_links_lead_to_copies():
    links = (
        '<p>T.</p><p><a href="02_two.html#a" title="long">two</a> <a href="../notebooks/01_one.html">lab</a> '
        '<a href="../genindex.html">index</a> <a href="#b">here</a> <a href="https://a.org/x.html">far</a></p>'
    )
    assert "[two](02_two.md) [lab](../notebooks/01_one.md) index here [far](https://a.org/x.html)" in made(links)


def test_what_serves_the_page_alone_is_left_out():
    page = '<p>T.</p><span class="marks">sign</span><nav class="chapter-links">next</nav><div hidden="">cards</div>'
    assert made(page).endswith("T.\n")


def test_the_list_names_each_copy_with_its_sentence(tmp_path):
    for page in ("a", "b"):
        (tmp_path / f"{page}.md").write_text(f"# Title {page}\n\n> About {page}.\n\nText.\n")
    text = listing(tmp_path, [("Start", ["a"]), ("I. Rotate", ["b"])], title="Book", base="https://b.org/")
    assert text.splitlines() == [
        "# Book",
        "",
        "## Start",
        "",
        "- [Title a](https://b.org/a.md): About a.",
        "",
        "## I. Rotate",
        "",
        "- [Title b](https://b.org/b.md): About b.",
    ]
