"""What a chapter opens with: its place, its question, the figure of its prediction, and a line of facts.

``{question}`` asks the chapter's question in one sentence, and its option ``:needs:`` names the chapters to read
before. A code cell tagged ``opener`` shows ``Widget(...).hero(...)``: it moves into the form of the page's first
prediction, between what is asked and the choices, and ``quiz.js`` and the widgets' kit hold it still until the reader
commits to an answer. The facts stand behind the ``{aims}``: chapters needed, exercises, lab and code.
"""

from collections.abc import Iterator
from html import escape
from typing import Any

from chapters import CHAPTER, chapters_by_part
from docutils import nodes
from docutils.parsers.rst import directives
from quiz import html, tag, to_page
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

log = logging.getLogger(__name__)


def line(parts: list[tuple[str, list[str]]], page: str) -> str:
    """The line of one chapter: ``Part I · Rotate``, a tick for each chapter with this one lit, ``chapter 1 of 18``."""
    chapters = [chapter for _, pages in parts for chapter in pages]
    number, caption = chapters.index(page) + 1, next(caption for caption, pages in parts if page in pages)
    roman, _, title = caption.partition(". ")
    ticks = "".join("<s class='lit'></s>" if chapter == page else "<s></s>" for chapter in chapters)
    return (
        f'<p class="opener"><span>Part {escape(roman)} · {escape(title)}</span>'
        f'<span class="ticks" aria-hidden="true">{ticks}</span><span>chapter {number} of {len(chapters)}</span></p>'
    )


def open_chapter(
    app: Sphinx,
    pagename: str,
    templatename: str,  # noqa: ARG001  (Sphinx fixes the signature)
    context: dict[str, Any],
    doctree: nodes.document | None,  # noqa: ARG001
) -> None:
    """Put the line above the title of a chapter."""
    if not CHAPTER.fullmatch(pagename) or "body" not in context:
        return
    parts = list(chapters_by_part(app.env).items())
    context["body"] = line(parts, pagename) + context["body"]


class Question(SphinxDirective):
    """``{question}``: what the chapter answers, in one sentence."""

    has_content = True
    option_spec = {"needs": directives.positive_int_list}  # noqa: RUF012  (docutils fixes the name and the kind)

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        node = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, node)
        asked = node[0]
        if len(node) != 1 or not isinstance(asked, nodes.paragraph) or not asked.astext().endswith("?"):
            raise self.error("{question} holds one sentence that ends with a question mark")
        asked["classes"].append("question")
        asked["needs"] = self.options.get("needs", [])
        return [asked]


def arrange(app: Sphinx, doctree: nodes.document) -> None:
    """Bring the figure into the form of the prediction, and write the facts of a chapter."""
    forms = [node for node in doctree.findall(tag) if "asks" in node]
    for cell in [node for node in doctree.findall(nodes.container) if "tag_opener" in node["classes"]]:
        if not forms:
            log.warning("a cell tagged opener stands on a page without a prediction", location=cell)
            continue
        open_form(forms[0], cell)
    for aims in [node for node in doctree.findall(nodes.paragraph) if "aims" in node["classes"]]:
        facts = nodes.paragraph("", "", classes=["facts"])
        for fact in chapter_facts(app.env, doctree):
            facts += nodes.inline("", "", *fact)
        if len(facts):
            aims.parent.insert(aims.parent.index(aims) + 1, facts)


def open_form(form: tag, cell: nodes.container) -> None:
    """The question, the figure, and then what there is to answer: side by side where there is room."""
    fieldset = form.children[0]
    legend, prompt, *rest = fieldset.children
    cell.parent.remove(cell)
    fieldset.children = []
    fieldset.extend([legend, prompt, html("div", cell, class_="opener-figure"), html("div", *rest)])
    form["attributes"]["class"] += " opener-form"


def chapter_facts(env: BuildEnvironment, doctree: nodes.document) -> Iterator[list[nodes.Node]]:
    """Each fact as words and links: minutes with all folds, chapters needed, questions and tasks, lab, code."""
    core, every = env.metadata[env.docname]["minutes"]  # written by reading_time
    if every > core:
        yield [nodes.Text(f"{every} minutes with all folds")]
    for asked in [node for node in doctree.findall(nodes.paragraph) if "question" in node["classes"]]:
        pages = {int(found[1]): name for name in sorted(env.found_docs) if (found := CHAPTER.fullmatch(name))}
        pages = {n: name for n, name in pages.items() if name < env.docname}
        for n in sorted(set(asked["needs"]) - set(pages)):
            log.warning("{question} needs chapter %d, which does not come before this one", n, location=asked)
        needed = [pages[n] for n in asked["needs"] if n in pages]
        words: list[nodes.Node] = [nodes.Text("needs chapter" + "s" * (len(needed) > 1))]
        for place, page in enumerate(needed):
            words.append(nodes.Text(" " if not place else " and " if page == needed[-1] else ", "))
            words.append(to_page(env, page, str(int(page[5:7]))))
        if needed:
            yield words
    classes = [str(node["attributes"].get("class", "")).split() for node in doctree.findall(tag)]
    counts = {word: sum(name in each for each in classes) for word, name in (("question", "quiz"), ("task", "task"))}
    told = [f"{n} {word}{'s' * (n > 1)}" for word, n in counts.items() if n]
    if told:
        yield [nodes.Text(", ".join(told))]
    lab = "notebooks/" + env.docname.rpartition("/")[2]
    if lab in env.found_docs:
        yield [to_page(env, lab, "Lab")]
    for section in doctree.findall(nodes.section):
        if section[0].astext() == "Code":
            yield [nodes.reference("", "Code", internal=True, refid=section["ids"][0])]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("quiz")
    app.setup_extension("reading_time")
    app.add_css_file("openers.css")
    app.add_directive("question", Question)
    app.connect("doctree-read", arrange, priority=600)  # behind reading_time, which writes the aims
    app.connect("html-page-context", open_chapter)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
