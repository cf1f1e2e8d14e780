"""Fixes for the HTML that the theme and docutils write: accessibility, use from ``file://``, and the size of a page.

The body of a page is fixed when it is written (``html-page-context``), whole files when the build has finished. A file
that is already fixed stays as it is, so a second build changes nothing.
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from rope_lab.show.style import css

# What is replaced in the body of a page, as docutils and the theme write it.
BODY = (
    # A list whose children are not list items. The entries read well as plain paragraphs.
    ('<div role="list" class="citation-list">', '<div class="citation-list">'),
    # The text of a theorem, and a proof, would each have the same name as all others.
    ('<section class="theorem-content" id="proof-content">', '<section class="theorem-content">'),
    (' admonition" id="proof">', ' admonition">'),
    # A box that scrolls must be reachable by keyboard, and then it needs a name.
    (
        '<div class="pst-scrollable-table-container">',
        '<div class="pst-scrollable-table-container" tabindex="0" role="region" aria-label="Table">',
    ),
)

# Where a page's first widget stands: it starts there, and need not wait for the rest of the page.
FIRST_VIEW = re.compile(r'(<script type="application/vnd\.jupyter\.widget-view\+json">.*?</script>)', re.DOTALL)
STARTS = '<script>dispatchEvent(new Event("rope-view"))</script>'

# A signature of several lines is a list of definitions without terms, inside the term of another list.
SIGNATURE = re.compile(r'(<span class="sig-paren">\(</span>)\s*<dl>(.*?)</dl>', re.DOTALL)

# In a signature each word is marked twice and each blank once, in the contents of a page each name twice.
SIGNED = re.compile(r'<dt class="sig .*?</dt>|<nav class="bd-toc-nav.*?</nav>', re.DOTALL)
BLANK = '<span class="w"> </span>'
WORD = re.compile(r'<span class="pre">([^<]*)</span>')

# What is removed from the head of every page, as regular expressions.
DROPPED = (
    # From file:// a preload with crossorigin is refused and logged as an error; the scripts are loaded anyway.
    r'[ \t]*<link rel="preload"[^>]*>\n?',
    # Two fonts and 1.5 MB of script for some twenty icons, which icons.css draws.
    r'[ \t]*<script src="[^"]*fontawesome[^"]*\.js[^"]*"></script>\n?',
    r'[ \t]*<link href="[^"]*fontawesome[^"]*\.css[^"]*" rel="stylesheet" />\n?',
    # The second and third copy of one line.
    r'(?<=initial-scale=1\.0" />)<meta name="viewport"[^>]*>',
    r'[ \t]*<meta name="viewport" content="width=device-width, initial-scale=1"/>\n?',
)

# Scripts of the theme that the parser would wait for, and nothing before the page is read needs them.
NOT_YET = re.compile(
    r'<script src="([^"]*/(?:clipboard\.min|copybutton|sphinx-book-theme|bootstrap|pydata-sphinx-theme)\.js[^"]*)">'
)

# What serves some pages only: the link to a file goes from a page that has none of its marks.
SPARE = {
    r"mystnb\.\w+\.css": r"\bcell_(?:input|output)\b",
    r"ledger\.css": r'class="(?:ledger-|claim-shape|[^"]*\b(?:erratum|slip)\b)',
    r"ledger\.js": 'class="ledger-filter"',
    r"quiz\.(?:css|js)": r'class="(?:quiz|task|[^"]*\bquiz-)|\brope-reply\b',
    r"proof\.css": r'class="[^"]*\bproof\b',
    r"exercise\.css": r'class="[^"]*\b(?:exercise|solution)\b',
    r"symptoms\.css": r'class="[^"]*\bsymptom-',
}
LINK = r'[ \t]*<(?:link rel="stylesheet"[^>]*href|script[^>]* src)="[^"]*/{file}(?:\?[^"]*)?"[^>]*>(?:</script>)?\n?'

# Some three hundred rules for colours in the output of a terminal, which no cell of the book prints.
ANSI = re.compile(r"^div\.highlight \.-Color[^{}]*\{[^}]*\}\n*", re.MULTILINE)

# On a first visit the theme waits for its last script before it asks whether the reader's screen is dark.
WAITS = 'dataset.theme = localStorage.getItem("theme") || "auto";'
ASKS = (
    'dataset.theme = localStorage.getItem("theme") || '
    '(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");'
)

# The arrow that unfolds a chapter's pages in the side bar, and the same with a name.
ARROW = '<summary><span class="toctree-toggle"'
NAMED = '<summary aria-label="Pages of this chapter"><span class="toctree-toggle"'

# Where the side bar is folded away, its button is followed by the book's name, which leads home.
LOGO = re.compile(r'<a class="navbar-brand logo" href="([^"]*)"')
BUTTON = re.compile(
    r'(<button class="sidebar-toggle primary-toggle[^<]*(?:<(?!/button>)[^<]*)*</button></div>)'
    r'(?!<div class="header-article-item home">)'
)
HOME = '<div class="header-article-item home"><a href="{}">RoPE Lab</a></div>'

# The theme joins the title of its page of search to that of the book by a hyphen, all others by a dash.
SEARCH_TITLE = ("<title>Search - ", "<title>Search &#8212; ")

# The list of contents marks a section from its first line on: by default a tenth of it must be seen, which is too much
# of a section that is longer than ten such parts of the window.
MARKED_FROM = ('data-bs-spy="scroll"', 'data-bs-spy="scroll" data-bs-threshold="0,0.1,0.5,1"')

# What the summary of a search result leaves out of an article.
NOT_TOLD = (
    "script, style, svg, form, h1, h2, h3, h4, div.math, "
    ".headerlink, .opener, .marks, .mark-texts, .claims-of-page, [hidden]"
)
# And the signs that its formulas keep, or d/2 would read d2.
SIGNS = (
    'for (const e of htmlElement.querySelectorAll("mfrac, msup, msubsup")) '
    'e.lastElementChild.prepend(e.matches("mfrac") ? "/" : "^");'
)
BLOCK_ENDS = r"/<\/(p|li|d[dt]|div|h\d|t[dh]|summary|figcaption|pre)>/g"  # where words would run together


def fix_body(
    app: Sphinx,  # noqa: ARG001  (Sphinx fixes the signature)
    pagename: str,  # noqa: ARG001
    templatename: str,  # noqa: ARG001
    context: dict[str, Any],
    doctree: nodes.document | None,  # noqa: ARG001
) -> None:
    """Fix the body of one page, and start its first widget early; its figures take their palette from rope.css."""
    if "body" in context:
        for old, new in BODY:
            context["body"] = context["body"].replace(old, new)
        body = SIGNATURE.sub(plain_lines, context["body"].replace(f"<style>{css()}</style>", ""))
        context["body"] = FIRST_VIEW.sub(rf"\1{STARTS}", body, count=1)


def plain_lines(signature: re.Match[str]) -> str:
    """The lines of a signature as plain boxes."""
    lines = signature[2].replace("<dd>", '<div class="sig-line">').replace("</dd>", "</div>")
    return f"{signature[1]}{lines}"


def fix_page(text: str) -> str:
    """Leave out what a page can do without, name its arrows, and choose its theme before it is drawn."""
    head, end, rest = text.partition("</head>")
    for pattern in DROPPED:
        head = re.sub(pattern, "", head)
    for file, marks in SPARE.items():
        if not re.search(marks, text):
            head = re.sub(LINK.format(file=file), "", head)
    text = f"{head}{end}{rest}"
    text = SIGNED.sub(lambda names: WORD.sub(r"\1", names[0].replace(BLANK, " ")), text)
    if logo := LOGO.search(text):
        text = BUTTON.sub(rf"\1{HOME.format(logo[1])}", text)
    text = NOT_YET.sub(r'<script defer="defer" src="\1">', text)
    return text.replace(ARROW, NAMED).replace(WAITS, ASKS).replace(*SEARCH_TITLE).replace(*MARKED_FROM)


def fix_search_options(text: str) -> str:
    """Switch off the summaries of search results on file://, where a page may not fetch them."""
    return text.replace("SHOW_SEARCH_SUMMARY: true", 'SHOW_SEARCH_SUMMARY: location.protocol !== "file:"')


def fix_search(text: str) -> str:
    """Take the summary of a result from the article alone, word by word, speak of no categories: there are none, and
    mark what was searched for on the page of a result, not on whatever page is opened next."""
    if SIGNS in text:
        return text
    kept = 'localStorage.setItem("sphinx_highlight_terms", [...highlightTerms].join(" "))'
    text = text.replace(kept, f'addEventListener("click", (e) => e.target.closest("#search-results a") && {kept});')
    text = text.replace('[".headerlink", "script", "style"]', json.dumps([NOT_TOLD]))
    text = text.replace("    for (const removalQuery", f"    {SIGNS}\n    for (const removalQuery")
    text = text.replace("FromString(htmlString,", f'FromString(htmlString.replace({BLOCK_ENDS}, "$& "),')
    text = text.replace(" and that you've selected enough categories.", ".")
    text = text.replace("page(s) matching the search query", "places: pages, sections and names")
    return text.replace('[role="main"]', "article.bd-article")


def fix_highlight(text: str) -> str:
    """Let a word that was searched for stand in the title of a drawing, which has no box to mark."""
    return text.replace("if (isInSVG) {", "if (isInSVG && parent.getBBox) {")


def rewrite(path: Path, fix: Callable[[str], str]) -> None:
    """Apply ``fix`` to the text of a file, and write the file only if its text changes."""
    if not path.exists():
        return
    text = path.read_text(encoding="utf-8")
    if (new := fix(text)) != text:
        path.write_text(new, encoding="utf-8")


def fix_site(app: Sphinx, exception: Exception | None) -> None:
    """Fix all files of the site when an HTML build has succeeded."""
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for page in out.rglob("*.html"):
        if "_static" not in page.relative_to(out).parts:  # the theme copies its templates there
            rewrite(page, fix_page)
    shutil.rmtree(out / "_static" / "vendor" / "fontawesome", ignore_errors=True)  # no page asks for it now
    for sheet in (out / "_static").glob("mystnb.*.css"):
        rewrite(sheet, lambda text: ANSI.sub("", text))
    rewrite(out / "_static" / "documentation_options.js", fix_search_options)
    rewrite(out / "_static" / "searchtools.js", fix_search)
    rewrite(out / "_static" / "sphinx_highlight.js", fix_highlight)


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_css_file("shell.css", priority=600)  # after the theme's own
    app.connect("html-page-context", fix_body)
    app.connect("build-finished", fix_site, priority=900)  # when all pages are written
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
