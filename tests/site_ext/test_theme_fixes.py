"""The fixes of the theme: each removes what it is for, leaves the rest, and changes nothing the second time."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import sphinx
import theme_fixes

from rope_lab.show.style import css

KEPT = """<head>
    <meta name="viewport" content="width=device-width, initial-scale=1.0" />
    <link href="_static/styles/theme.css" rel="stylesheet" />
    <script src="_static/doctools.js"></script>
</head><summary aria-label="Pages of this chapter"><span class="toctree-toggle" role="presentation"></span></summary>"""
HEAD = (
    KEPT.replace(' aria-label="Pages of this chapter"', "")
    .replace('initial-scale=1.0" />', 'initial-scale=1.0" /><meta name="viewport" content="width=device-width" />')
    .replace(
        "    <script",
        '    <link href="_static/vendor/fontawesome/6.5.2/css/all.min.css" rel="stylesheet" />\n    <script',
    )
    .replace("</head>", '  <script src="_static/vendor/fontawesome/6.5.2/js/all.min.js?digest=1"></script>\n</head>')
    .replace(
        "<head>\n", '<head>\n  <link rel="preload" as="font" crossorigin href="_static/vendor/fa-solid-900.woff2" />\n'
    )
)


def application(out):
    return SimpleNamespace(outdir=str(out), builder=SimpleNamespace(format="html"))


def body(html):
    context = {"body": html}
    theme_fixes.fix_body(None, "page", "page.html", context, None)
    return context["body"]


def test_head_loses_what_costs_and_nothing_else():
    assert theme_fixes.fix_page(HEAD) == KEPT
    assert theme_fixes.fix_page(KEPT) == KEPT


SHEET = '<link rel="stylesheet" type="text/css" href="../_static/{}" />'
LINKS = {
    "mystnb": (
        '<link rel="stylesheet" type="text/css" href="../_static/mystnb.4510f1fc.css" />',
        '<div class="cell_input">',
    ),
    "ledger.css": ('<link rel="stylesheet" type="text/css" href="../_static/ledger.css?v=1" />', '<b class="erratum">'),
    "ledger.js": ('<script defer="defer" src="../_static/ledger.js?v=1"></script>', '<form class="ledger-filter">'),
    "quiz.css": (SHEET.format("quiz.css?v=1"), '<div class="task">'),
    "quiz.js": ('<script defer="defer" src="../_static/quiz.js?v=1"></script>', '<form class="quiz opener-form">'),
    "proof.css": (SHEET.format("proof.css"), '<div class="proof theorem admonition">'),
    "exercise.css": (SHEET.format("exercise.css"), '<div class="admonition exercise">'),
    "symptoms.css": (SHEET.format("symptoms.css"), '<pre class="symptom-output">'),
}


@pytest.mark.parametrize(("link", "mark"), LINKS.values(), ids=LINKS)
def test_a_style_or_script_is_linked_where_something_uses_it(link, mark):
    other = '<script src="_static/doctools.js"></script>\n'
    assert theme_fixes.fix_page(f"{link}\n{other}<p>cell_inputs</p>") == f"{other}<p>cell_inputs</p>"
    used = f"{link}\n{other}{mark}"
    assert link in theme_fixes.fix_page(used)


def test_the_colours_of_a_terminal_leave_the_sheet(tmp_path):
    sheet, kept = tmp_path / "_static" / "mystnb.4510f1fc.css", "div.cell { border: 0 }\n"
    sheet.parent.mkdir()
    sheet.write_text(f"div.highlight .-Color-Bold {{\n  font-weight: bold;\n}}\n\n{kept}")
    theme_fixes.fix_site(application(tmp_path), None)
    assert sheet.read_text() == kept


def test_a_figure_brings_no_palette_of_its_own():
    assert body(f"<figure><style>{css()}</style><svg></svg></figure>") == "<figure><svg></svg></figure>"
    own = "<style>.mine { color: red }</style>"
    assert body(own) == own


@pytest.mark.parametrize(("old", "new"), theme_fixes.BODY)
def test_body(old, new):
    once = body(f"<p>before</p>{old}<p>after</p></div>")
    assert once == f"<p>before</p>{new}<p>after</p></div>"
    assert body(once) == once


def test_the_first_widget_of_a_page_starts_where_it_stands():
    view = '<script type="application/vnd.jupyter.widget-view+json">{}</script>'
    assert body(f"<p></p>{view}<p></p>{view}") == f"<p></p>{view}{theme_fixes.STARTS}<p></p>{view}"


def test_the_parser_waits_for_no_script_that_the_page_does_not_need():
    needed = '<script src="../_static/doctools.js?v=1"></script><script src="../_static/rope-widgets.js"></script>'
    other = '<script src="../_static/copybutton.js?v=1"></script><script src="scripts/bootstrap.js?digest=1"></script>'
    assert theme_fixes.fix_page(needed + other) == needed + other.replace("src=", 'defer="defer" src=')


def test_a_word_of_a_signature_or_of_the_contents_is_marked_once():
    word, code = '<span class="pre">x</span>', '<code><span class="pre">x</span></code>'
    signed = f'<dt class="sig py">{word}<span class="w"> </span>y</dt>'
    contents = f'<nav class="bd-toc-nav page-toc"><code>{word}</code></nav>'
    fixed = theme_fixes.fix_page(signed + contents + code)
    assert fixed == f'<dt class="sig py">x y</dt><nav class="bd-toc-nav page-toc"><code>x</code></nav>{code}'


def test_the_title_of_the_search_is_joined_as_all_titles_are():
    assert theme_fixes.fix_page("<title>Search - RoPE Lab</title>") == "<title>Search &#8212; RoPE Lab</title>"


def test_a_page_without_a_body_is_left_alone():
    context = {}
    theme_fixes.fix_body(None, "search", "search.html", context, None)
    assert context == {}


def test_search_fetches_no_summaries_from_files():
    once = theme_fixes.fix_search_options("  SHOW_SEARCH_SUMMARY: true,\n")
    assert 'location.protocol !== "file:"' in once
    assert theme_fixes.fix_search_options(once) == once
    own = Path(sphinx.__file__).with_name("themes") / "basic/static/searchtools.js"
    assert theme_fixes.SIGNS in (once := theme_fixes.fix_search(own.read_text(encoding="utf-8")))
    assert theme_fixes.fix_search(once) == once


def test_a_warm_build_touches_no_file(tmp_path):
    for name, text in {"book/page.html": HEAD, "_static/macros.html": HEAD, "search.html": KEPT}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    theme_fixes.fix_site(application(tmp_path), None)
    assert (tmp_path / "book/page.html").read_text() == KEPT
    assert (tmp_path / "_static/macros.html").read_text() == HEAD  # a template, no page
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.html")}
    theme_fixes.fix_site(application(tmp_path), None)
    assert times == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.html")}


def test_a_failed_build_is_left_as_it_is(tmp_path):
    (tmp_path / "page.html").write_text(HEAD)
    theme_fixes.fix_site(application(tmp_path), RuntimeError("planted"))
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_text() == HEAD


def test_the_button_of_the_side_bar_is_followed_by_the_way_home():
    logo = '<a class="navbar-brand logo" href="../book/intro.html">'
    button = '<div><button class="sidebar-toggle primary-toggle btn">\n</button></div>'
    once = theme_fixes.fix_page(logo + button + "<div><button>Play</button></div>")
    assert '</button></div><div class="header-article-item home"><a href="../book/intro.html">RoPE Lab</a>' in once
    assert theme_fixes.fix_page(once) == once
    assert theme_fixes.fix_page(button) == button  # a page without a logo has no home
