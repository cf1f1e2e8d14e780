"""``{quiz} id``, ``{task} id`` and ``{settled} id``: an exercise of ``rope_lab.exercises`` on a page.

A question becomes a plain HTML form, and ``quiz.js`` checks its answer; without JavaScript, or in print, a reader still
has the question and its folded answer. A task shows what to write, and folds its hint and its solution, which is the
source that the tests run. ``{settled}`` stands where the text settles a prediction of the page, and holds its answer
and why; the form then gives a verdict alone, and a link. The texts are parsed as MyST, so mathematics, links and search
work as on the rest of the page. An unknown id fails the build.
"""

import base64
import inspect
import json
import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from rope_lab.exercises import Question, Task, exercise
from rope_lab.exercises.core import LETTERS, modules, read_number

log = logging.getLogger(__name__)
VOID = ("input",)


class tag(nodes.General, nodes.Element):  # noqa: N801  (docutils names its nodes in lower case)
    """One HTML element, in builders that write HTML; elsewhere only its content."""


def html(name: str, /, *children: nodes.Node | str, **attributes: str) -> tag:
    """``html("label", child, for_="x", data_key="y", hidden="")``: text may be given as a string."""
    named: dict[str, Any] = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    if "id" in named:
        named["ids"] = [named.pop("id")]  # docutils' own name for it
    node = tag(tag=name, attributes=named)
    node.extend(nodes.Text(child) if isinstance(child, str) else child for child in children)
    return node


def visit_tag(self: Any, node: tag) -> None:
    """Open the element; self is the translator of the builder."""
    void = node["tag"] in VOID
    self.body.append(self.starttag(node, node["tag"], "", empty=void, **node["attributes"]))


def depart_tag(self: Any, node: tag) -> None:
    """Close the element, unless it is a void one."""
    if node["tag"] not in VOID:
        self.body.append(f"</{node['tag']}>\n")


def pass_by(self: Any, node: tag) -> None:  # noqa: ARG001  (docutils fixes the signature)
    """In other builders: write nothing but the content, and nothing of what only a script shows."""
    if "hidden" in node["attributes"]:
        raise nodes.SkipNode


def to_page(env: BuildEnvironment, name: str, text: str) -> addnodes.pending_xref:
    """A link to a page of the book."""
    where = {"reftype": "doc", "reftarget": "/" + name, "refexplicit": True, "refwarn": True, "refdoc": env.docname}
    return addnodes.pending_xref("", nodes.inline("", text), refdomain="std", **where)


class FromExercises(SphinxDirective):
    """What the two directives share: the definition by its id, and MyST inside HTML."""

    required_arguments = 1
    kind: type

    def definition(self) -> Any:
        """The question or task that the directive names."""
        try:
            item = exercise(self.arguments[0])
        except ValueError as error:
            raise self.error(str(error)) from error
        if not isinstance(item, self.kind):
            raise self.error(f"{item.id} is a {type(item).__name__.lower()}; show it with its own directive")
        # The page is read again when the definition changes.
        for home in [module for module in modules().values() if item in module.EXERCISES]:
            self.env.note_dependency(str(home.__file__))
        return item

    def blocks(self, text: str) -> list[nodes.Node]:
        """The text as paragraphs and the like."""
        node = nodes.container()
        self.state.nested_parse([inspect.cleandoc(text)], self.content_offset, node)
        return node.children

    def words(self, text: str) -> list[nodes.Node]:
        """The text as words within a line."""
        parsed = self.blocks(text)
        if len(parsed) != 1 or not isinstance(parsed[0], nodes.paragraph):
            raise self.error(f"{self.arguments[0]}: a choice is one line of text, got {text!r}")
        return parsed[0].children

    def fold(self, title: str, *content: nodes.Node, **attributes: str) -> tag:
        """The content, folded under a title."""
        return html("details", html("summary", title), *content, **attributes)

    def answer(self, question: Question) -> nodes.paragraph:
        """The answer in a sentence."""
        words = [nodes.Text("The answer is "), nodes.strong("", question.shown_answer)]
        if question.choices:
            choice = question.choices[LETTERS.index(str(question.answer))]
            words += [nodes.Text(": "), *self.words(choice.rstrip("."))]
        return nodes.paragraph("", "", *words, nodes.Text("."))


def asked_in_bold(blocks: list[nodes.Node]) -> list[nodes.Node]:
    """Set the last sentence of the blocks in bold where it is a question, so that a glance finds it."""
    asked = blocks[-1]
    if not isinstance(asked, nodes.paragraph) or not asked.astext().endswith("?"):
        return blocks
    before: list[nodes.Node] = []
    question = asked.children
    for place, child in reversed(list(enumerate(asked.children))):
        ends = [stop.end() for stop in re.finditer(r"[.]\s", child)] if isinstance(child, nodes.Text) else []
        if ends:
            before = [*asked.children[:place], nodes.Text(child[: ends[-1]])]
            question = [nodes.Text(child[ends[-1] :]), *asked.children[place + 1 :]]
            break
    asked.children = []
    asked.extend([*before, nodes.strong("", "", *question)])
    return blocks


class Quiz(FromExercises):
    """A question as a form."""

    kind = Question

    def run(self) -> list[nodes.Node]:
        question = self.definition()
        name = "quiz-" + question.id.replace(".", "-")
        prediction = question.kind == "prediction"
        key = {"answer": question.answer, "tolerance": question.tolerance, "shown": question.shown_answer}
        wanted = html("span", " choose an answer" if question.choices else " write a number", class_="quiz-wanted")
        without = "Without JavaScript nothing is checked here; the answer is folded below."
        form = html(
            "form",
            html(
                "fieldset",
                html("legend", "Your prediction:" if prediction else "Exercise:", wanted),
                html("div", *asked_in_bold(self.blocks(question.prompt)), class_="quiz-prompt", id=f"{name}-prompt"),
                *(self.choices(question, name) if question.choices else self.number(question, name)),
                html(
                    "p",
                    html("button", "This is my answer" if prediction else "Check", type="submit"),
                    html("button", "Start again", type="reset"),
                    class_="quiz-buttons",
                    hidden="",
                ),
                html("p", without, class_="quiz-plain"),
                html("p", class_="quiz-says", role="status"),
                *self.feedback(question),
                *([self.fold("Hint", *self.blocks(question.hint), class_="quiz-hint")] if question.hint else []),
                self.fold(
                    "The answer, and why", self.answer(question), *self.blocks(question.why), class_="quiz-answer"
                ),
            ),
            class_="quiz",
            id=name,
            autocomplete="off",
            data_kind=question.kind,
            # This is no secret; it only keeps the answer from being read by accident.
            data_key=base64.b64encode(json.dumps(key).encode()).decode(),
        )
        form["asks"] = question.id
        return [form]

    def feedback(self, question: Question) -> list[nodes.Node]:
        """The feedback on wrong answers, each hidden until somebody gives it."""
        told = [
            html("div", *self.blocks(text), hidden="", data_for=given if question.choices else repr(read_number(given)))
            for given, text in question.feedback.items()
        ]
        return [html("div", *told, class_="quiz-feedback", aria_live="polite")] if told else []

    def choices(self, question: Question, name: str) -> list[nodes.Node]:
        """One radio button for each choice."""
        labels = [
            html(
                "label",
                html("input", type="radio", name="answer", value=letter),
                html("span", letter, class_="quiz-letter"),
                html("span", *self.words(choice), class_="quiz-text"),
                class_="quiz-choice",
            )
            for letter, choice in zip(LETTERS, question.choices, strict=False)
        ]
        return [html("div", *labels, class_="quiz-choices", role="radiogroup", aria_labelledby=f"{name}-prompt")]

    def number(self, question: Question, name: str) -> list[nodes.Node]:
        """A field for a number."""
        label = f"Your number ({question.unit})" if question.unit else "Your number"
        field = html(
            "input",
            type="text",
            name="answer",
            id=f"{name}-answer",
            autocomplete="off",
            spellcheck="false",
            aria_describedby=f"{name}-prompt {name}-form",
        )
        how = html("span", "such as 1.25, −3/4 or pi/6", class_="quiz-format", id=f"{name}-form")
        return [html("p", html("label", label, for_=f"{name}-answer"), field, how, class_="quiz-number")]


class Settled(FromExercises):
    """The answer of a prediction, where the text settles it."""

    kind = Question

    def run(self) -> list[nodes.Node]:
        question = self.definition()
        if question.kind != "prediction":
            raise self.error(f"{question.id} is an exercise: only a prediction is settled by the text")
        name = question.id.replace(".", "-")
        box = html(
            "div",
            html("p", "Your prediction", class_="settled-title"),
            html(
                "p",
                html("span", class_="settled-says"),
                html("a", "Go to the question", href=f"#quiz-{name}", class_="settled-form"),
            ),
            # Open where no script runs; quiz.js closes it until there is a prediction.
            self.fold("The answer, and why", self.answer(question), *self.blocks(question.why), open=""),
            class_="quiz-settled",
            id=f"settled-{name}",
            data_form=f"quiz-{name}",
        )
        box["settles"] = question.id
        self.set_source_info(box)
        return [box]


def join_settled(app: Sphinx, doctree: nodes.document) -> None:  # noqa: ARG001  (Sphinx fixes the signature)
    """Keep only the verdict in the form of a prediction that the text settles; its answer becomes a link."""
    tags = list(doctree.findall(tag))
    forms = {form["asks"]: form for form in tags if "asks" in form}
    seen = set()
    for box in [node for node in tags if "settles" in node]:
        name = box["settles"]
        if name not in forms:
            log.warning("%s is settled here, and its {quiz} is not on this page", name, location=box)
        elif name in seen:
            log.warning("%s is settled twice on this page", name, location=box)
        else:
            seen.add(name)
            for part in [node for node in forms[name].findall(tag) if part_of_form(node)]:
                part.replace_self(settling_part(part, box["attributes"]["ids"][0]))


def part_of_form(node: tag) -> bool:
    """Is this what a form without a place in the text shows of its answer?"""
    return node["attributes"].get("class") in ("quiz-plain", "quiz-answer")


def settling_part(part: tag, place: str) -> tag:
    """The part of a form for a prediction that the text settles."""
    if part["attributes"]["class"] == "quiz-plain":
        return html("p", "Without JavaScript nothing is checked here.", class_="quiz-plain")
    link = html("a", "Where the text settles it", href=f"#{place}")
    return html("p", link, class_="quiz-where")


class TaskOnPage(FromExercises):
    """A task with its folded hint and solution."""

    kind = Task

    def run(self) -> list[nodes.Node]:
        task = self.definition()
        return [
            html(
                "div",
                html("p", f"Exercise: write {task.name}", class_="task-title"),
                *self.blocks(task.statement),
                self.code(f"def {task.signature}:\n    ..."),
                nodes.paragraph(
                    "",
                    "",
                    *self.lab(),
                    nodes.literal("", f'check("{task.id}", {task.name})'),
                    nodes.Text(" draws examples and shows the first one that goes wrong."),
                    nodes.Text("" if self.at_home(task.id) else " Its name keeps an older numbering of the chapters."),
                ),
                html("div", *self.diagnoses(task), class_="task-mistakes", role="status"),
                self.fold("Hint", *self.blocks(task.hint), class_="task-hint"),
                self.fold("Solution", self.code(task.source), *self.blocks(task.why), class_="task-solution"),
                class_="task",
                id="task-" + task.id.replace(".", "-"),
            )
        ]

    def at_home(self, name: str) -> bool:
        """Whether an exercise has the name of the chapter that it stands in: names stay when an exercise moves."""
        return f"/{name[2:4]}_" in self.env.docname

    def diagnoses(self, task: Task) -> list[tag]:
        """Return the sentences about known mistakes, each hidden until somebody makes it here."""
        return [html("div", *self.blocks(f"It looks as if {words}."), hidden="") for words in task.mistakes]

    def lab(self) -> list[nodes.Node]:
        """The words before the call that checks an answer, with a link to the lab of the page if it has one."""
        name = "notebooks/" + self.env.docname.rpartition("/")[2]
        if name not in self.env.found_docs:
            return [nodes.Text("The lab checks it: ")]
        return [nodes.Text("The "), to_page(self.env, name, "lab"), nodes.Text(" checks it: ")]

    def code(self, text: str) -> nodes.literal_block:
        return nodes.literal_block(text, text, language="python")


def setup(app: Sphinx) -> ExtensionMetadata:
    others: dict[str, Any] = dict.fromkeys(("latex", "text", "man", "texinfo"), (pass_by, pass_by))
    app.add_node(tag, html=(visit_tag, depart_tag), **others)
    app.add_directive("quiz", Quiz)
    app.add_directive("settled", Settled)
    app.add_directive("task", TaskOnPage)
    app.connect("doctree-read", join_settled)
    app.add_js_file("quiz.js", loading_method="defer")
    app.add_css_file("quiz.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
