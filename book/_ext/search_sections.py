"""Search leads to the section where the words stand: Sphinx's index knows the pages only.

When a page is read, the words of each of its sections are counted, without those of the sections inside it, and
stemmed as Sphinx does. The search page gets them all in ``_static/section-words.js``, and search_sections.js uses
them. The words in Sphinx's own index, by which nobody looks then, are left out of it.
"""

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.search import languages
from sphinx.util.typing import ExtensionMetadata

ENGLISH = languages["en"]
LANGUAGE = ENGLISH({})
UNSEEN = (nodes.section, nodes.raw, nodes.math, nodes.math_block, nodes.comment, nodes.system_message)

INNER = {"proof-content", "exercise-content", "solution-content"}  # the text in a box: a part of the section around it

# Its anchor, its title, other words for it (a paragraph of the class "also"), and how often it has a stem.
Section = tuple[str, str, str, dict[str, int]]


@cache
def stem(word: str) -> str:
    """The stem of a word; the same few thousand words stand on all pages."""
    return LANGUAGE.stem(word)


def own_text(node: nodes.Node) -> Iterator[str]:
    """The text of a section, without what Sphinx's index leaves out and without the sections inside it."""
    for child in node.children:
        if isinstance(child, nodes.Text):
            yield child.astext()
        elif not isinstance(child, UNSEEN) or is_inner(child):
            yield from own_text(child)


def is_inner(node: nodes.Node) -> bool:
    return isinstance(node, nodes.section) and not INNER.isdisjoint(node["ids"])


def sections_of(doctree: nodes.document) -> list[Section]:
    """The sections of a page in their order; the anchor of the first, which is the page, is empty."""
    sections: list[Section] = []
    for section in doctree.findall(lambda node: isinstance(node, nodes.section) and not is_inner(node)):
        words = (word for text in own_text(section) for word in LANGUAGE.split(text))
        stems = Counter(stem(word) for word in words if LANGUAGE.word_filter(word))
        also = " ".join(node.astext() for node in section if "also" in node.get("classes", ()))
        sections.append((section["ids"][0] if sections else "", section[0].astext(), also, dict(stems)))
    return sections


def index(pages: dict[str, list[Section]]) -> dict[str, Any]:
    """For each stem the sections that have it: how many sections further on, and how often, ``[step, count, ...]``."""
    sections, words, last = [], dict[str, list[int]](), dict[str, int]()
    for page, found in sorted(pages.items()):
        for anchor, title, also, stems in found:
            here = len(sections)
            for stem, count in stems.items():
                words.setdefault(stem, []).extend((here - last.get(stem, 0), count))
                last[stem] = here
            sections.append((page, anchor, title, also))
    return {"sections": sections, "words": words}


def known(env: BuildEnvironment) -> dict[str, list[Section]]:
    """The sections of all pages that were read, by page; kept with the environment."""
    if not hasattr(env, "sections_by_page"):
        env.sections_by_page = {}  # type: ignore[attr-defined]
    return env.sections_by_page  # type: ignore[attr-defined]


def read(app: Sphinx, doctree: nodes.document) -> None:
    known(app.env)[app.env.docname] = sections_of(doctree)


def purge(_: Sphinx, env: BuildEnvironment, docname: str) -> None:
    known(env).pop(docname, None)


def merge(_: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment) -> None:
    known(env).update({name: found for name, found in known(other).items() if name in docnames})


def link(
    app: Sphinx,
    pagename: str,
    templatename: str,  # noqa: ARG001  (Sphinx fixes the signature)
    context: dict[str, Any],  # noqa: ARG001
    doctree: nodes.document | None,  # noqa: ARG001
) -> None:
    """Add the scripts to the search page alone; deferred, they come after Sphinx's own and before the search."""
    if pagename == "search":
        app.add_js_file("section-words.js", loading_method="defer")
        app.add_js_file("search_sections.js", loading_method="defer")


def write(app: Sphinx, exception: Exception | None = None) -> None:
    if exception or app.builder.format != "html":
        return
    target = Path(app.outdir, "_static", "section-words.js")
    target.parent.mkdir(exist_ok=True)
    found = index(known(app.env)) | {"root": app.config.root_doc}
    told = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    target.write_text(f"globalThis.ropeSections = {told};\n", encoding="utf-8")
    target = Path(app.outdir, "searchindex.js")
    if target.exists():
        begin, end = "Search.setIndex(", ")"
        known_to_sphinx = json.loads(target.read_text(encoding="utf-8").removeprefix(begin).removesuffix(end))
        told = json.dumps(known_to_sphinx | {"terms": {}, "titleterms": {}}, separators=(",", ":"))
        target.write_text(f"{begin}{told}{end}", encoding="utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("doctree-read", read, priority=900)  # when the other extensions have put their words in
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    app.connect("html-page-context", link)
    app.connect("build-finished", write)
    return {"version": "1", "env_version": 2, "parallel_read_safe": True, "parallel_write_safe": True}
