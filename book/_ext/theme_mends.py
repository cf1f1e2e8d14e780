"""Mends of the theme and of docutils that axe-core, file:// and a page's weight ask for.

Two moments: ``html-page-context`` sees the body of each page that is written, ``build-finished`` all files of the
site, written now or earlier. Each mend leaves what it has already mended as it is, so a warm build changes nothing.
"""

import re
from html import escape
from pathlib import Path

# What is replaced in the body of a page, as docutils and the theme write it.
BODY = (
    # A list whose children are no list items; the entries read well as plain paragraphs.
    ('<div role="list" class="citation-list">', '<div class="citation-list">'),
    # A box that scrolls must be reachable by keyboard, and then it needs a name.
    (
        '<div class="pst-scrollable-table-container">',
        '<div class="pst-scrollable-table-container" tabindex="0" role="region" aria-label="Table">',
    ),
)

# What is taken out of every page.
DROPPED = (
    # From file:// a preload with crossorigin is refused and logged as an error; the scripts are loaded anyway.
    r'[ \t]*<link rel="preload"[^>]*>\n?',
    # 1.5 MB of script that redraws icons which the style sheet's font already draws.
    r'[ \t]*<script src="[^"]*fontawesome[^"]*\.js[^"]*"></script>\n?',
    # The second and third copy of one line.
    r'(?<=initial-scale=1\.0" />)<meta name="viewport"[^>]*>',
    r'[ \t]*<meta name="viewport" content="width=device-width, initial-scale=1"/>\n?',
)

# What is named: the arrow that unfolds a chapter's pages in the side bar.
ARROW = '<summary><span class="toctree-toggle"'
NAMED = '<summary aria-label="Pages of this chapter"><span class="toctree-toggle"'

REDIRECT = """<!DOCTYPE html>
<html lang="{lang}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="refresh" content="0; url={to}">
    <title>{title}</title>
    <link rel="icon" href="{icon}">
  </head>
  <body><main><h1>{title}</h1><p><a href="{to}">Open the book</a></p></main></body>
</html>
"""


def mend_body(app, pagename, templatename, context, doctree):  # noqa: ARG001  (Sphinx fixes the signature)
    for old, new in BODY:
        if "body" in context:
            context["body"] = context["body"].replace(old, new)


def mend_page(text):
    """A page without what costs an error or a megabyte, its arrows named."""
    for pattern in DROPPED:
        text = re.sub(pattern, "", text)
    return text.replace(ARROW, NAMED)


def mend_search_options(text):
    """Summaries of search results are fetched, and a page opened from file:// may fetch nothing."""
    return text.replace("SHOW_SEARCH_SUMMARY: true", 'SHOW_SEARCH_SUMMARY: location.protocol !== "file:"')


def mend_redirect(text, app):
    """The page at / has a title, a language and an icon; without the icon browsers ask for /favicon.ico in vain."""
    bare = re.fullmatch(r'\s*<meta http-equiv="Refresh" content="0; url=([^"]+)" />\s*', text)
    if not bare:
        return text
    config = app.config
    icon = f"_static/{Path(config.html_favicon).name}" if config.html_favicon else "data:,"
    title = escape(config.html_title or config.project)
    return REDIRECT.format(lang=config.language or "en", to=bare[1], title=title, icon=icon)


def rewrite(path, mend):
    """Apply ``mend`` to the text of a file, touching the file only if that changes it."""
    if not path.exists():
        return
    text = path.read_text(encoding="utf-8")
    if (new := mend(text)) != text:
        path.write_text(new, encoding="utf-8")


def mend_site(app, exception):
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for page in out.rglob("*.html"):
        if "_static" not in page.relative_to(out).parts:  # the theme copies its templates there
            rewrite(page, mend_page)
    rewrite(out / "index.html", lambda text: mend_redirect(text, app))
    rewrite(out / "_static" / "documentation_options.js", mend_search_options)


def setup(app):
    app.add_css_file("theme_mends.css", priority=600)  # after the theme's own
    app.add_js_file("theme_mends.js", loading_method="defer")
    app.connect("html-page-context", mend_body)
    app.connect("build-finished", mend_site, priority=900)  # after the table of contents has written the redirect
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
