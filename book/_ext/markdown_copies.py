"""A Markdown copy of each page beside its HTML, and ``llms.txt``, which lists them with their descriptions.

For machines that read, and for people who paste a page into one. A copy is made from the page as it is written: TeX
between dollars, what cells printed as text, a picture as its title and description, a widget as the sentences that it
says where no script runs, a question with its choices and its answer. Links lead from copy to copy.
"""

import re
from pathlib import Path
from posixpath import normpath
from typing import Any

from bs4 import BeautifulSoup, Tag
from docutils import nodes
from markdownify import ATX, MarkdownConverter
from page_head import description
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

# What serves the page and not its reader.
DROPPED = {"script", "style", "button", "input"}
DROPPED_CLASSES = {"headerlink", "opener", "argument", "chapter-links", "marks", "claims-of-page", "toctree-wrapper"}
DROPPED_CLASSES |= {"quiz-plain", "quiz-says", "quiz-feedback", "quiz-where"}
DROPPED_CLASSES |= {"settled-says", "settled-form", "ledger-filter"}
TOLD = re.compile(r"(?s)<(?:title|desc)\b.*?</(?:title|desc)>")  # what a picture says of itself
LANGUAGE = re.compile(r"highlight-(\w+)")


def language(pre: Tag) -> str:
    """The language of a box of code; none for what a cell printed."""
    found = LANGUAGE.search(" ".join(name for parent in pre.parents for name in parent.get("class") or ()))
    return "python" if found and found[1] in ("ipython3", "python", "python3") else ""


class Converter(MarkdownConverter):
    """HTML of our pages to Markdown."""

    class Options(MarkdownConverter.DefaultOptions):
        heading_style = ATX
        bullets = "-"
        escape_misc = False
        code_language_callback = staticmethod(language)

    def convert_span(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A formula in a sentence; other spans are their text."""
        if "math" not in el.get("class", ()):
            return text
        made = " ".join(tex(el).split())
        return "$" + (made.replace("|", r"\vert ") if "td" in parent_tags else made) + "$"

    def convert_div(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A displayed formula with its number; a picture as words."""
        names = el.get("class", ())
        if "math" in names:
            number = el.select_one(".eqno")
            tag = f"\n\\tag{{{number.get_text().strip('()')}}}" if number else ""
            return f"\n\n$$\n{tex(el)}{tag}\n$$\n\n"
        if "rope-svg" in names:
            told = [part.get_text().rstrip(".") for part in map(el.find, ("title", "desc")) if part]
            return f"\n\n> Picture: {'. '.join(told)}.\n\n" if told else ""
        return super().convert_div(el, text, parent_tags)

    def convert_summary(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002
        return f"\n\n**{text.strip()}**\n\n"

    convert_legend = convert_summary

    def convert_noscript(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002
        return f"\n\n> {text.strip()}\n\n"

    def convert_label(self, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002
        return f"\n- {' '.join(text.split())}"

    def convert_p(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A title that is set as a paragraph is bold."""
        title = {"settled-title", "task-title", "admonition-title"} & set(el.get("class", ()))
        return super().convert_p(el, f"**{text.strip()}**" if title else text, parent_tags)

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Links stay; those within the page are their words, for a copy has no anchors."""
        to = el.get("href", "")
        return super().convert_a(el, text, parent_tags) if to and not to.startswith("#") else text


def tex(math: Tag) -> str:
    """The TeX of a formula, typeset or not."""
    if "data-tex" in math.attrs:
        return str(math["data-tex"]).strip()
    text = "".join(math.find_all(string=True, recursive=False))
    return re.sub(r"^\s*\\[(\[]|\\[)\]]\s*$", "", text).strip()


def copy(body: str, about: str, page: str, pages: set[str]) -> str:
    """The copy of one page: its title, the line ``about`` that says what it is about, and the rest."""
    soup = BeautifulSoup(light(body), "html.parser")
    for node in soup.find_all(dropped):
        node.decompose()
    for link in soup.find_all("a", href=True):
        retarget(link, page, pages)
    title, _, text = plain(soup).partition("\n")
    return f"{title}\n\n> {about}\n{text}"


def light(body: str) -> str:
    """The page without the half of its tags that say nothing in a copy, and that take long to parse."""
    body = re.sub("(?s)<m-tex.*?</m-tex>", "", body)  # formulas have TeX beside them
    body = re.sub("(?s)<pre>.*?</pre>", lambda pre: re.sub("</?span[^>]*>", "", pre[0]), body)  # the colours of code
    return re.sub("(?s)(<svg[^>]*>)(.*?)</svg>", lambda svg: f"{svg[1]}{''.join(TOLD.findall(svg[2]))}</svg>", body)


def dropped(tag: Tag) -> bool:
    """Whether a tag serves the page and not its reader; a selector asks the same in six times the time."""
    return tag.name in DROPPED or "hidden" in tag.attrs or not DROPPED_CLASSES.isdisjoint(tag.get("class") or ())


def retarget(link: Tag, page: str, pages: set[str]) -> None:
    """Lead a link to the copy of the page it names; one to a page that has none becomes its words."""
    to = str(link["href"]).partition("#")[0]
    link.attrs.pop("title", None)  # of a citation: the whole entry
    if to.endswith(".html") and "://" not in to:
        if normpath(f"{page}/../{to}").removesuffix(".html") in pages:
            link["href"] = to.removesuffix(".html") + ".md"
        else:
            link.unwrap()


def plain(soup: Tag) -> str:
    """Markdown with no space at the end of a line and no two empty lines."""
    text = re.sub(r"[ \t]+\n", "\n", Converter().convert_soup(soup))
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def address(app: Sphinx, page: str) -> str:
    """The address of a page in the site, without an ending."""
    return app.builder.get_target_uri(page).removesuffix(".html")


def write_copy(
    app: Sphinx,
    pagename: str,
    templatename: str,  # noqa: ARG001  (Sphinx fixes the signature)
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Write the copy of a page, and name it in the page's head."""
    if doctree:
        to = Path(app.outdir, here := address(app, pagename)).with_suffix(".md")
        to.parent.mkdir(parents=True, exist_ok=True)
        about = description(doctree, app.env.titles[pagename].astext(), app.config.html_title)
        to.write_text(
            copy(context["body"], about, here, {address(app, page) for page in app.env.found_docs}), encoding="utf-8"
        )
        link = f'<link rel="alternate" type="text/markdown" href="{to.name}" title="This page in Markdown" />'
        context["metatags"] = f"{context.get('metatags', '')}\n    {link}"


def listing(out: Path, parts: list[tuple[str, list[str]]], *, title: str, base: str) -> str:
    """``llms.txt``: the pages of each part, with the line below their titles."""
    lines = []
    for caption, pages in parts:
        lines += ["", f"## {caption}", ""]
        for page in pages:
            name, _, about = (out / f"{page}.md").read_text(encoding="utf-8").split("\n")[:3]
            lines.append(f"- [{name.removeprefix('# ')}]({base}{page}.md): {about.removeprefix('> ')}")
    return "\n".join([f"# {title}", *lines, ""])


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Write ``llms.txt`` when an HTML build has succeeded."""
    if exception or app.builder.format != "html":
        return
    site = app.env.external_site_map  # type: ignore[attr-defined]

    def below(page: str) -> list[str]:
        return [page, *(one for item in site[page].child_files() for one in below(item))]

    parts = [(part.caption, [one for page in part.files() for one in below(page)]) for part in site.root.subtrees]
    text = listing(
        Path(app.outdir),
        [("Start", [address(app, site.root.docname)]), *parts],
        title=app.config.project,
        base=app.config.html_baseurl,
    )
    Path(app.outdir, "llms.txt").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("html-page-context", write_copy, priority=550)  # the body is whole, the links at its end are not there
    app.connect("build-finished", finish)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
