"""The fixes of the theme: each removes what it is for, leaves the rest, and changes nothing the second time."""

from types import SimpleNamespace

import pytest
import theme_fixes

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


@pytest.mark.parametrize(("old", "new"), theme_fixes.BODY)
def test_body(old, new):
    once = body(f"<p>before</p>{old}<p>after</p></div>")
    assert once == f"<p>before</p>{new}<p>after</p></div>"
    assert body(once) == once


def test_a_page_without_a_body_is_left_alone():
    context = {}
    theme_fixes.fix_body(None, "search", "search.html", context, None)
    assert context == {}


def test_search_fetches_no_summaries_from_files():
    once = theme_fixes.fix_search_options("  SHOW_SEARCH_SUMMARY: true,\n")
    assert 'location.protocol !== "file:"' in once
    assert theme_fixes.fix_search_options(once) == once


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
