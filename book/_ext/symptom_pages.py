"""``{symptoms}``: the index by symptom, made from ``book/symptoms.yml``, whose head says what a row holds.

For each row: the symptom as a heading, what people also call it, a few lines of code, what they print, which likely
cause each answer speaks for, and links to the section of the book and to threads. The code runs when the page is read,
and what it prints must hold what the row says is seen.
"""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

log = logging.getLogger(__name__)
ROWS = Path(__file__).resolve().parents[1] / "symptoms.yml"
COMMAND = "$ "

Row = dict[str, Any]


def rows() -> list[Row]:
    """The rows in the order in which they stand, those of a group together."""
    found = yaml.safe_load(ROWS.read_text(encoding="utf-8"))
    groups = list(dict.fromkeys(row["group"] for row in found))
    return sorted(found, key=lambda row: groups.index(row["group"]))


def printed(test: str) -> str:
    """The output of a row's test: Python, or a command of ours after ``$ ``."""
    if test.startswith(COMMAND):
        name, *words = shlex.split(test.removeprefix(COMMAND))
        called = [str(Path(sys.executable).with_name(name)), *words]
        return subprocess.run(called, check=False, capture_output=True, text=True).stdout
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        exec(compile(test, "symptoms.yml", "exec"), {})
    return told.getvalue()


class Symptoms(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(ROWS))
        groups = [(name, list(some)) for name, some in groupby(rows(), key=lambda row: row["group"])]
        return [self.contents(groups), *(self.group(name, some) for name, some in groups)]

    def contents(self, groups: list[tuple[str, list[Row]]]) -> nodes.Element:
        """All symptoms as links, at the top of the page."""
        box = nodes.container(classes=["symptom-list"])
        for name, some in groups:
            links = (nodes.reference("", row["heading"], refid=anchor(row), internal=True) for row in some)
            items = (nodes.list_item("", nodes.paragraph("", "", link)) for link in links)
            box += [nodes.paragraph("", "", nodes.strong("", name)), nodes.bullet_list("", *items)]
        return box

    def group(self, name: str, some: list[Row]) -> nodes.section:
        label = nodes.make_id(name)
        return nodes.section("", nodes.title("", name), *map(self.row, some), ids=[label], names=[label])

    def row(self, row: Row) -> nodes.section:
        test, told = row["test"].rstrip(), printed(row["test"]).rstrip()
        if not re.search(row["sees"], told):
            log.warning(
                "symptom %r: expected %r in what its test prints, got:\n%s",
                row["heading"],
                row["sees"],
                told,
                location=self.get_location(),
            )
        language = "sh" if test.startswith(COMMAND) else "python"
        code = nodes.literal_block("", test.removeprefix(COMMAND), language=language)
        shown = nodes.container("", nodes.literal_block("", told, language="none"), classes=["symptom-output"])
        return nodes.section(
            "",
            nodes.title("", row["heading"]),
            nodes.paragraph("", "", nodes.emphasis("", "Also called: "), nodes.Text(row["also"]), classes=["also"]),
            *self.myst(row["symptom"]),
            code,
            shown,
            self.causes(row["causes"]),
            self.where(row),
            ids=[anchor(row)],
            names=[anchor(row)],
        )

    def causes(self, causes: dict[str, str]) -> nodes.field_list:
        fields = []
        for shows, cause in causes.items():
            (term,) = self.myst(shows)
            fields.append(
                nodes.field("", nodes.field_name("", "", *term.children), nodes.field_body("", *self.myst(cause)))
            )
        return nodes.field_list("", *fields, classes=["symptom-causes"])

    def where(self, row: Row) -> nodes.paragraph:
        """The section of the book that has the answer, and the threads."""
        page = self.env.app.builder.get_relative_uri(self.env.docname, row["page"])
        chapter = re.match(r"book/(\d\d)_", row["page"])
        to = f"{page}#{nodes.make_id(row['section'])}"
        link = nodes.reference("", row["section"], refuri=to, internal=True)
        answer = nodes.paragraph("", "", nodes.strong("", "Answer: "), link, classes=["symptom-where"])
        answer += nodes.Text(f", chapter {int(chapter[1])}." if chapter else ".")
        if threads := row.get("threads"):
            answer += nodes.Text(" Met in ")
            for at, thread in enumerate(threads):
                repository, _, number = thread.partition("#")
                name = f"{repository.partition('/')[2]}#{number}"
                answer += [
                    *([nodes.Text(", ")] if at else []),
                    nodes.reference("", name, refuri=f"https://github.com/{repository}/issues/{number}"),
                ]
            answer += nodes.Text(f" (looked up {row['seen']}).")
        return answer

    def myst(self, text: str) -> list[nodes.Node]:
        parent = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), self.env.docname), self.content_offset, parent)
        return parent.children


def anchor(row: Row) -> str:
    return nodes.make_id(row["heading"])


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_css_file("symptoms.css")
    app.add_directive("symptoms", Symptoms)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
