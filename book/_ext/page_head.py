"""What a page says of itself to machines: policy, description, tags, address, sitemap, 404, old addresses.

All absolute addresses come from one setting, ``html: baseurl:`` in ``_config.yml``. While it is empty, or names an
example, nothing absolute is written.
"""

import re
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

log = logging.getLogger(__name__)
# No page reaches another machine, and no worker that runs a reader's Python: a blob inherits it. `file:` stands for
# "self" where the book is opened as a file.
POLICY = (
    "default-src 'self' file:; script-src 'self' file: blob: 'unsafe-inline' 'wasm-unsafe-eval'; "
    "style-src 'self' file: 'unsafe-inline'; img-src 'self' file: data: blob:; connect-src {asks}; "
    "worker-src blob:; form-action 'self' file:; object-src 'none'; base-uri 'none'"
)
LONGEST = 200  # characters of a description: what a page of results shows, and a little more
# Pages that nobody should be led to from elsewhere, with what they are: their titles stand in the theme's templates.
NOT_LISTED = {"search": "Search", "genindex": "Index", "prf-prf": "Theorems and examples", "404": "No page stands here"}

SIGNS = {  # of TeX, where an alphabet has them; other macros are left out
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "theta": "θ",
    "lambda": "λ",
    "mu": "μ",
    "pi": "π",
    "sigma": "σ",
    "phi": "φ",
    "omega": "ω",
    "cdot": "·",
    "times": "×",
    "approx": "≈",
    "pm": "±",
    "to": "→",
    "ldots": "…",
    "dots": "…",
    "top": "T",
}

LEADS_ON = """<!DOCTYPE html>
<html lang="{lang}">
  <head>
    <meta charset="utf-8">
    {policy}
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="refresh" content="0; url={to}">
    <title>{title}</title>
    {tags}
    <link rel="icon" href="{icon}">
    <style>:root {{ color-scheme: light dark }}</style>
  </head>
  <body><noscript><p><a href="{to}">{title}</a></p></noscript></body>
</html>
"""
TAG = re.compile(
    r'<meta (?:name="(?:description|twitter:\w+)"|property="og:\w+(?::\w+)?")[^>]*>|<link rel="canonical"[^>]*>'
)
LOCAL = re.compile(r'(?<= )((?:href|src|data-content_root)=")(?![a-z]+:|[#/"])(?:\./)?')


def book_address(written: str | None) -> str:
    """The address of the book from its setting, with a slash at the end; empty while it is none or a placeholder.

    Raises:
        ValueError: If it is no address.
    """
    parts = urlsplit(written or "")
    if not written or "example" in (parts.hostname or "").split("."):
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"html: baseurl: expected an address like https://name.org/rope-lab/, got {written!r}")
    return written.rstrip("/") + "/"


def clean_address(_: Sphinx, config: Config) -> None:
    """Leave an address or nothing in the setting, for all that read it after this."""
    try:
        config.html_baseurl = book_address(config.html_baseurl)
    except ValueError as error:
        log.warning("%s", error)
        config.html_baseurl = ""


def words(node: nodes.Node) -> str:
    """The text of a paragraph, with its mathematics as a reader would type it."""
    if isinstance(node, nodes.math):
        text = re.sub(r"\\([A-Za-z]+) ?", lambda macro: SIGNS.get(macro[1], ""), node.astext())
        return re.sub(r"[{}\\]", "", text)
    if isinstance(node, nodes.Text):
        return node.astext()
    return "".join(map(words, node.children))


def shortened(text: str) -> str:
    """At most `LONGEST` characters: whole sentences if there is one so short, or else whole words."""
    text = " ".join(text.split())
    if len(text) <= LONGEST:
        return text
    ends = [end.end() for end in re.finditer(r"[.?!](?= )", text) if 60 <= end.end() <= LONGEST]
    return text[: ends[-1]] if ends else text[: text.rindex(" ", 0, LONGEST)].rstrip(",;:") + "…"


def in_the_text(paragraph: nodes.paragraph) -> bool:
    """Does it stand right in a section, or lead the page?"""
    return isinstance(paragraph.parent, nodes.section) or "lede" in paragraph.parent.get("classes", ())


def description(doctree: nodes.Node | None, title: str, book: str) -> str:
    """The description of a page: what it says its reader can do afterwards, or its first paragraph."""
    found = list(doctree.findall(nodes.paragraph)) if doctree else []
    told = [p for p in found if "aims" in p["classes"]]
    first = [p for p in found if in_the_text(p) and len(p.astext()) >= 60]
    text = shortened(words((told or first or [nodes.paragraph()])[0]))
    return text or f"{title}: a page of {book}."


def tags(app: Sphinx, page: str, *, title: str, about: str, image: str = "") -> str:
    """The tags of one page. Its address and its picture are absolute, or left out."""
    root, base = page == app.config.root_doc, app.config.html_baseurl
    told = {
        "og:type": "website" if root else "article",
        "og:site_name": app.config.html_title,
        "og:title": title,
        "og:description": about,
    }
    if base:
        told["og:url"] = base + app.builder.get_target_uri(page)
    if base and image:
        told |= {"og:image": base + image, "og:image:width": "1200", "og:image:height": "630", "og:image:alt": title}
    card = "summary_large_image" if "og:image" in told else "summary"
    lines = [f'<meta name="description" content="{escape(about)}" />']
    lines += [f'<meta property="{name}" content="{escape(value)}" />' for name, value in told.items()]
    lines += [f'<meta name="twitter:card" content="{card}" />']
    lines += ['<meta name="robots" content="noindex" />'] if page in NOT_LISTED else []
    return "\n    ".join(lines)


def policy(page: str) -> str:
    """The tag of a page's content security policy; the search may read the pages that it finds."""
    allowed = POLICY.format(asks="'self'" if page == "search" else "'none'")
    return f'<meta http-equiv="Content-Security-Policy" content="{allowed}" />'


def write_head(
    app: Sphinx,
    pagename: str,
    templatename: str,  # noqa: ARG001  (Sphinx fixes the signature)
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Give a page its tags; the root its own title."""
    if pagename == app.config.root_doc and app.config.head_title:
        context |= {"title": app.config.head_title, "docstitle": ""}
    title = re.sub(r"<[^>]+>", "", context.get("title") or NOT_LISTED.get(pagename) or app.config.html_title)
    about = description(doctree, title, app.config.html_title)
    image = getattr(app, "social_cards", {}).get(pagename, "")
    first = f'{policy(pagename)}\n    <script src="{context["pathto"]("_static/memory.js", 1)}"></script>'
    about_page = tags(app, pagename, title=title, about=about, image=image)
    context["metatags"] = f"{first}\n    {context.get('metatags', '')}\n    {about_page}"
    if pagename in NOT_LISTED:
        context["pageurl"] = None  # no canonical address


def missing_page(app: Sphinx) -> list[tuple[str, dict[str, Any], str]]:
    """The page for an address that leads nowhere."""
    start = app.builder.get_relative_uri("404", app.config.root_doc)
    places = [(start, "the beginning of the book"), ("search.html", "the search"), ("genindex.html", "the index")]
    links = "".join(f'<li><a href="{escape(to)}">{text}</a></li>' for to, text in places)
    title, why = NOT_LISTED["404"], "The address is mistyped, or the page has moved. Go on from"
    body = f"<section><h1>{title}</h1><p>{why}</p><ul>{links}</ul></section>"
    return [("404", {"title": title, "body": body}, "page.html")]


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Write old addresses and the sitemap, and let the page for wrong addresses work from any folder."""
    if exception or app.builder.format != "html":
        return
    out, base = Path(app.outdir), app.config.html_baseurl
    root = app.config.root_doc
    moved = app.config.moved_pages | ({root: root} if app.builder.get_target_uri(root) != f"{root}.html" else {})
    for old, new in moved.items():
        lead_on(app, old, new)
    if base:
        pages = [base + app.builder.get_target_uri(page) for page in sorted(app.env.found_docs)]
        listed = "".join(f"  <url><loc>{escape(page)}</loc></url>\n" for page in pages)
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        start = '<?xml version="1.0" encoding="UTF-8"?>\n'
        write(out / "sitemap.xml", f'{start}<urlset xmlns="{space}">\n{listed}</urlset>\n')
        lost = out / "404.html"
        write(lost, LOCAL.sub(rf"\g<1>{urlsplit(base).path}", lost.read_text(encoding="utf-8")))
    else:
        (out / "sitemap.xml").unlink(missing_ok=True)


def lead_on(app: Sphinx, old: str, new: str) -> None:
    """Write a page that leads to another one, and from a place of a page that has moved to the same place."""
    builder, config = app.builder, app.config
    head = Path(builder.get_outfilename(new)).read_text(encoding="utf-8").partition("</head>")[0]  # type: ignore[attr-defined]
    title = re.search(r"<title>(.*?)</title>", head, re.DOTALL)
    above = "../" * old.count("/")
    icon = f"{above}_static/{Path(config.html_favicon).name}" if config.html_favicon else "data:,"
    to, said = above + builder.get_target_uri(new), TAG.findall(head)
    said.append(f'<script>location.replace("{to}" + location.search + location.hash)</script>')
    lang, tagged = config.language or "en", "\n    ".join(said)
    text = LEADS_ON.format(
        lang=lang, to=to, title=title[1] if title else "", tags=tagged, icon=icon, policy=policy(old)
    )
    write(Path(app.outdir, f"{old}.html"), text)


def write(path: Path, text: str) -> None:
    """Write a file only if its text changes."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_config_value("head_title", "", "html", str)  # of the root page, whose heading is no name of a book
    app.add_config_value("moved_pages", {}, "html", dict)  # an old address of a page, and the page
    app.connect("config-inited", clean_address)
    app.connect("html-page-context", write_head)
    app.connect("html-collect-pages", missing_page)
    app.connect("build-finished", finish, priority=950)  # after theme_fixes has finished the pages
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
