"""Every definition is proven by running it; a malformed one is refused, and says why."""

import ast
import inspect
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from hypothesis import strategies as st

from rope_lab.exercises import Question, Task, checking, core, exercise, load
from rope_lab.exercises.checking import _answer_task, _search
from rope_lab.exercises.core import LETTERS
from tests.mutation import run

BOOK = Path(__file__).resolve().parents[2] / "book"
ALL = load()
TASKS = {name: item for name, item in ALL.items() if isinstance(item, Task)}
CHAPTERS = [prefix for prefix, module in core.modules().items() if module.EXERCISES]  # some are asked in labs alone


def prove(item: Question | Task) -> str:
    """Run a definition against itself: "" when its answer is right and every mistake is caught, else what is wrong."""
    if isinstance(item, Task):
        reply = _answer_task(item, item.solution)
        passed = [name for name, mistake in item.mistakes.items() if _search(item, mistake, smallest=False)[0] is None]
        return f"the solution fails: {reply}" if not reply.ok else f"the check accepts: {passed}" if passed else ""
    if item.truth is None:  # it cannot be computed
        return ""
    truth = item.truth()
    if not isinstance(truth, Sequence):
        close = math.isfinite(truth) and abs(truth - float(item.answer)) <= (item.tolerance or 0) / 2
        return "" if close else f"answer={item.answer!r}, but truth() gives {truth!r}"
    right = [LETTERS[i] for i, holds in enumerate(truth) if holds]
    return "" if right == [item.answer] and len(truth) == len(item.choices) else f"truth() finds {right} right"


@pytest.mark.deep(keep=20)
@pytest.mark.parametrize("name", ALL)
def test_every_definition_is_proven(name):
    assert prove(ALL[name]) == ""


@pytest.mark.parametrize("name", TASKS)
def test_solutions_fit_a_page(name):
    source = ALL[name].source
    assert max(map(len, source.splitlines())) <= 76
    assert source.startswith(f"def {ALL[name].name}(")


@pytest.mark.parametrize("prefix", CHAPTERS)
def test_a_chapter_predicts_and_then_asks(prefix):
    items = core.modules()[prefix].EXERCISES
    (page,) = BOOK.glob(f"{prefix[2:]}_*.md")
    exercises = page.read_text(encoding="utf-8").partition("\n## Exercises\n")[2].partition("\n## ")[0]
    unfolded = re.findall(r"^[`:]{3,}\{(?:quiz|task)\}", exercises.partition(":::{fold}")[0], flags=re.MULTILINE)
    predictions = [item for item in items if isinstance(item, Question) and item.kind == "prediction"]
    assert len(predictions) >= 1
    assert items[0] is predictions[0]
    assert 2 <= len(unfolded) <= 4


@pytest.mark.parametrize("prefix", CHAPTERS)
def test_what_is_defined_stands_on_the_page(prefix):
    """Each exercise once, under its own directive, in the order of the definitions."""
    (page,) = BOOK.glob(f"{prefix[2:]}_*.md")
    shown = re.findall(r"^[`:]{3,}\{(quiz|task)\} (\S+)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    defined = [(("task" if isinstance(i, Task) else "quiz"), i.id) for i in core.modules()[prefix].EXERCISES]
    assert shown == defined


# --- wrong answers: mutants of each solution, and some that readers may give ---

SILLY = {"LShift", "RShift", "BitOr", "BitAnd", "BitXor", "Mod", "Pow", "FloorDiv"}  # nobody writes these by mistake


def _made(task: Task, code: str):
    names = dict(inspect.unwrap(task.solution).__globals__)  # the tests wrap it
    exec(code, names)
    return names[task.name]


def _ways(node: ast.AST) -> Iterator[ast.AST]:
    """What is left of a node after a term, a keyword, an index or a transpose was lost, or two arguments exchanged."""
    match node:
        case ast.BinOp():
            yield from (node.left, node.right)
        case ast.Attribute(value=value, attr="T" | "real") | ast.Subscript(value=value):
            yield value
        case ast.Call(func=func, args=args, keywords=keywords):
            if len(args) > 1:
                yield ast.Call(func, [args[1], args[0], *args[2:]], keywords)
            yield from (ast.Call(func, args, [k for k in keywords if k is not one]) for one in keywords)


def _changed(code: str) -> Iterator[str]:
    nodes = list(ast_nodes(get_ast(code)))
    for name in [name for names in run._kinds().values() for name in names]:
        old, new = [*name.split("_"), "", ""][1:3]
        if new not in SILLY or old in SILLY:
            for i in range(sum(len(list(get_operator(name)().mutation_positions(node))) for node in nodes)):
                yield mutate_code(code, get_operator(name)(), i)
    begins = [0, *accumulate(len(line) for line in code.splitlines(keepends=True))]
    for node in ast.walk(ast.parse(code)):
        for new in _ways(node):
            first, last = begins[node.lineno - 1] + node.col_offset, begins[node.end_lineno - 1] + node.end_col_offset
            yield f"{code[:first]}({ast.unparse(new)}){code[last:]}"


def mutants(task: Task) -> dict:
    """The solution with one thing changed, by the line before and after."""
    before, found = ast.unparse(ast.parse(task.source)), {}
    for code in _changed(task.source):
        after = ast.unparse(ast.parse(code))
        if after != before:
            lines = zip(before.splitlines(), [*after.splitlines(), ""], strict=False)
            old, new = next((a.strip(), b.strip()) for a, b in lines if a != b)
            found[f"`{old}` -> `{new}`"] = _made(task, after)
    return found


@pytest.mark.deep(keep=3)
@pytest.mark.parametrize("name", TASKS)
def test_a_changed_solution_is_refused(name, monkeypatch):
    """All but those that survivors.md lists, because they change no answer."""
    monkeypatch.setattr(checking, "SECONDS", 1.0)
    equivalent = run.LISTED.read_text(encoding="utf-8")
    lives = [what for what, fn in mutants(TASKS[name]).items() if _search(TASKS[name], fn, smallest=False)[0] is None]
    assert [what for what in lives if f"- {name}: {what}" not in equivalent] == []


@pytest.mark.parametrize(
    ("name", "old", "new", "right"),
    [
        ("ch20.move-down", r"np.asarray\(theta\)", "np.array([1, 0.1, 0.01])", False),
        ("ch21.plane-turns", "place, row", "place[:2], row[:2]", False),
        ("ch21.plane-turns", r"\[.*\]", "np.array(table) @ place", True),
        ("ch02.rotate-partial", r"np.array\(.*\)", "x", False),
        ("ch02.unfinished", "2 [*] np.pi", "6.28", False),
        ("ch02.unfinished", "2 [*] np.pi", "6.28318", False),
        ("ch02.unfinished", "2 [*] np.pi", "6.28318530718", True),
        ("ch05.power", "60", "25", False),
        ("ch05.power", "60", "40", True),
        ("ch08.fate", "1, 2, 5", "1,", False),
        ("ch08.fate", "1, 2, 5", "5,", False),
        ("ch08.fate", "1, 2, 5", "2, 3, 4", True),
        *[
            ("ch08.fate", r"(moved_\w+), (\w+)\)", rf"\1{of}, \2{of})", False)
            for of in ("[0]", "[1]", "[2]", "[3]", ".sum(0)")
        ],
        ("ch16.still-decided", ">", ">=", False),
        ("ch16.still-decided", r"level / \(len\(p\) - k\)", "1 - (1 - level) ** (1 / (len(p) - k))", False),
        ("ch16.still-decided", r"value > level / (.*):", r"value * \1 > level:", True),
        ("ch17.signed-frequencies", r"arctan2\(.*\]\)\)", "arctan(y[b] / y[a]))", False),
        ("ch17.signed-frequencies", r"arctan2\(.*\]\)\)", "arcsin(y[b]))", False),
        ("ch17.signed-frequencies", r"arctan2\(.*\]\)\)", "sign(y[b]) * np.arccos(y[a]))", True),
    ],
)
def test_other_ways_to_write_it(name, old, new, right):
    code, count = re.subn(old, new, TASKS[name].source)
    assert count
    assert (_search(TASKS[name], _made(TASKS[name], code), smallest=False)[0] is None) == right


# --- controls: what must be refused ---


def _question(**changes):
    fields = {
        "id": "ch01.x",
        "prompt": "How much is $1 + 1$?",
        "answer": 2,
        "tolerance": 0.1,
        "truth": lambda: 1 + 1,
        "hint": "Count.",
        "why": "Counted.",
    }
    return Question(**fields | changes)


def test_feedback_names_the_mistake_that_was_foreseen():
    assert _question().feedback_for(-2) == ""
    question = _question(feedback={"-2": "Backwards.", "2.2": "Near.", "2.3": "Far.", "pi": "Round."})
    said = [question.feedback_for(given) for given in (-2, -2.09, -2.11, 2.12, 2.24, 2.26, math.pi, 2.09)]
    assert said == ["Backwards.", "Backwards.", "", "Near.", "Near.", "Far.", "Round.", ""]
    choice = _question(**CHOICE | {"feedback": {"A": "One is $1$."}})
    assert [choice.feedback_for(letter) for letter in "AB"] == ["One is $1$.", ""]


def double(x):
    return 2 * x


def _task(**changes):
    fields = {
        "id": "ch01.y",
        "statement": "Write `double(x)`.",
        "solution": double,
        "examples": st.tuples(st.integers(0, 9)),
        "mistakes": {"it squares": lambda x: x * x},
        "hint": "Add.",
    }
    return Task(**fields | changes)


CHOICE = {"choices": ("one", "two"), "answer": "B", "tolerance": None, "truth": lambda: [False, True]}


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"id": "sum"}, "an id is a chapter"),
        ({"kind": "quiz"}, "kind= is"),
        ({"hint": ""}, "needs hint="),
        ({"kind": "prediction"}, "a prediction has none"),
        ({"why": ""}, "must say something"),
        ({"answer": "2"}, "the answer is a number"),
        ({"answer": True}, "the answer is a number"),
        ({"tolerance": None}, "needs tolerance="),
        ({"tolerance": -1.0}, "needs tolerance="),
        ({"truth": None}, "needs truth="),
        ({"prompt": "an angle \theta"}, "raw string"),
        ({"why": "$$2$$"}, "displayed mathematics"),
        ({"hint": "it costs $2"}, "without its partner"),
        (CHOICE | {"answer": "C"}, "the letter of a choice"),
        (CHOICE | {"answer": 1}, "the letter of a choice"),
        (CHOICE | {"choices": ("one",)}, "2 to 8 different"),
        (CHOICE | {"choices": ("one", "one")}, "2 to 8 different"),
        (CHOICE | {"choices": ("one", "\beta")}, "raw string"),
        (CHOICE | {"tolerance": 0.1}, "go with a number"),
        (CHOICE | {"feedback": {"B": "No."}}, "for wrong answers, and 'B' is right"),
        (CHOICE | {"feedback": {"C": "No."}}, "by the letter of a choice (A, B), got 'C'"),
        (CHOICE | {"feedback": {"a": "No."}}, "by the letter of a choice (A, B), got 'a'"),
        (CHOICE | {"feedback": {"A": ""}}, "say something about 'A'"),
        (CHOICE | {"feedback": {"A": "it costs $2"}}, "without its partner"),
        (CHOICE | {"feedback": {"A": "an angle \theta"}}, "raw string"),
        ({"feedback": {"2.05": "No."}}, "for wrong answers, and '2.05' is right"),
        ({"feedback": {"4/2": "No."}}, "for wrong answers, and '4/2' is right"),
        ({"feedback": {"many": "No."}}, "by numbers such as '1.25', '-3/4' or '2pi/3', got 'many'"),
        ({"feedback": {"3": ""}}, "say something about '3'"),
    ],
)
def test_malformed_questions_are_refused(changes, says):
    with pytest.raises(ValueError, match=f"exercise .*: .*{re.escape(says)}"):
        _question(**changes)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"id": "ch1.double"}, "an id is a chapter"),
        ({"hint": ""}, "must say something"),
        ({"solution": lambda x: 2 * x}, "a function with a name"),
        ({"solution": 4}, "a function with a name"),
        ({"mistakes": {}}, "at least one wrong function"),
        ({"mistakes": {"it squares": 4}}, "at least one wrong function"),
        ({"mistakes": {"it uses $x": double}}, "without its partner"),
        ({"tolerance": 0.0}, "above zero"),
    ],
)
def test_malformed_tasks_are_refused(changes, says):
    with pytest.raises(ValueError, match=f"exercise .*: .*{re.escape(says)}"):
        _task(**changes)


def test_controls_of_the_proof():
    """A wrong key, a choice that is right as well, a solution that fails, a mistake that passes: all are found."""
    assert prove(_question()) == ""
    assert "truth() gives 3" in prove(_question(truth=lambda: 3))
    assert "truth() gives nan" in prove(_question(truth=lambda: float("nan")))
    assert prove(_question(**CHOICE)) == ""
    assert "['A', 'B']" in prove(_question(**CHOICE | {"truth": lambda: [True, True]}))
    assert "['A']" in prove(_question(**CHOICE | {"truth": lambda: [True, False]}))
    assert prove(_question(**CHOICE | {"truth": lambda: [False, True, False]})) != ""
    assert prove(_task()) == ""
    assert "the check accepts: ['it adds']" in prove(_task(mistakes={"it adds": lambda x: x + x}))
    assert "the solution fails" in prove(_task(judge=lambda result, x: "never"))  # noqa: ARG005


def test_ids_are_used_once(monkeypatch):
    class Chapter:
        __name__ = "ch02_many_planes"
        EXERCISES = (_question(),)

    monkeypatch.setattr(core, "modules", lambda: {"ch01": Chapter, "ch01.": Chapter})
    with pytest.raises(ValueError, match=r"an id that no other exercise has, got 'ch01\.x'"):
        load()


def test_an_unknown_id_names_its_neighbours():
    with pytest.raises(
        ValueError, match=r"expected the id of an exercise, got 'ch01\.rotat'; did you mean .*ch01\.rotate"
    ):
        exercise("ch01.rotat")


def test_what_is_shown_does_not_tell_the_answer():
    question, task = _question(**CHOICE), _task()
    assert "**A** one" in question._repr_markdown_()
    assert "Counted" not in repr(question)
    assert "Add." not in repr(task)
    assert task.signature == "double(x)"
    assert replace(question, unit="").shown_answer == "B"
    assert _question(unit="radians").shown_answer == "2 radians"
