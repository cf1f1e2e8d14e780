"""The definitions behind every exercise: a question the page asks, a task the lab checks.

One definition serves both. A chapter's module ``exercises.py`` ends in ``EXERCISES``, a tuple of `Question` and
`Task` in the order of the page, and in ``LAB``, those that its lab alone asks, in the order of the lab. `load` collects
them. Texts are MyST in raw strings, mathematics inline between dollar signs. A malformed definition is refused when it
is made, so the import fails and says why.
"""

from __future__ import annotations

import inspect
import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import ModuleType
from typing import Any, Literal

from rope_lab import chapters
from rope_lab.errors import MissingPackageError

LETTERS = "ABCDEFGH"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Question:
    """A question with one right answer: one of some choices, or a number.

    A "prediction" is committed to before the answer is seen: it has no tries and no hint. ``truth`` finds the answer
    again by running: the number, or one truth value per choice. ``None`` says that this choice can't be computed.
    ``feedback`` names the mistake behind a wrong answer, by the letter of the choice or by a foreseen wrong number as a
    reader would type it: ``{"-0.5": "You turned the other way."}``.
    """

    id: str  # "ch01.turned-angle"
    prompt: str  # what is asked
    choices: tuple[str, ...] = ()  # two to eight; none: the answer is a number
    answer: str | float  # the letter of the right choice, or the number
    tolerance: float | None = None  # a number's: how far off is still right
    unit: str = ""  # a number's: "radians"
    truth: Callable[[], float | Sequence[bool]] | None
    hint: str = ""  # shown after two tries
    why: str  # shown with the answer; a prediction's stands where the text settles it
    feedback: Mapping[str, str] = field(default_factory=dict)  # shown to those who gave that wrong answer
    kind: Literal["exercise", "prediction"] = "exercise"

    def __post_init__(self) -> None:
        _refuse(self.id, _id_problem(self.id) or _text_problem(self) or self._problem())

    def _problem(self) -> str:
        if self.kind not in ("exercise", "prediction"):
            return f"kind= is 'exercise' or 'prediction', got {self.kind!r}"
        if (self.kind == "prediction") == bool(self.hint):
            return "an exercise needs hint=; a prediction has none"
        if not self.prompt or not self.why:
            return "prompt= and why= must say something"
        if self.choices:
            letters = tuple(LETTERS[: len(self.choices)])
            if not 2 <= len(self.choices) <= len(LETTERS) or len(set(self.choices)) < len(self.choices):
                return f"choices= holds 2 to {len(LETTERS)} different texts, got {len(self.choices)}"
            if self.answer not in letters:
                return f"answer= is the letter of a choice ({', '.join(letters)}), got {self.answer!r}"
            if self.tolerance or self.unit:
                return "tolerance= and unit= go with a number, not with choices"
            return self._feedback_problem(letters)
        if isinstance(self.answer, (bool, str)) or not isinstance(self.answer, (int, float)):
            return f"without choices= the answer is a number, got {self.answer!r}"
        if not self.tolerance or self.tolerance < 0:
            return f"a number needs tolerance= above zero, got {self.tolerance!r}"
        if self.truth is None:
            return "a number needs truth=, a function that computes it"
        return self._feedback_problem()

    def _feedback_problem(self, letters: tuple[str, ...] = ()) -> str:
        for given, text in self.feedback.items():
            if not text:
                return f"feedback= must say something about {given!r}"
            if given == self.answer or (not letters and self.accepts(read_number(given))):
                return f"feedback= is for wrong answers, and {given!r} is right"
            if letters and given not in letters:
                return f"feedback= goes by the letter of a choice ({', '.join(letters)}), got {given!r}"
            if not letters and math.isnan(read_number(given)):
                return f"feedback= goes by numbers such as '1.25', '-3/4' or '2pi/3', got {given!r}"
        return ""

    def accepts(self, number: float) -> bool:
        """Whether this number is right, within the tolerance; False where the answer is a letter."""
        return not isinstance(self.answer, str) and abs(number - self.answer) <= (self.tolerance or 0)

    def feedback_for(self, given: str | float) -> str:
        """The feedback on a wrong answer, a letter or a number; "" if it was not foreseen."""
        if isinstance(given, str):
            return self.feedback.get(given, "")
        foreseen = [(abs(read_number(key) - given), text) for key, text in self.feedback.items()]
        gap, text = min(foreseen, default=(math.inf, ""))
        return text if gap <= (self.tolerance or 0) and not self.accepts(given) else ""

    @property
    def lettered(self) -> list[tuple[str, str]]:
        """The choices with their letters."""
        return list(zip(LETTERS, self.choices, strict=False))

    @property
    def shown_answer(self) -> str:
        """The answer in words: ``B``, or ``1.5 radians``."""
        return self.answer if isinstance(self.answer, str) else f"{self.answer:.10g} {self.unit}".strip()

    def _repr_markdown_(self) -> str:
        lines = [inspect.cleandoc(self.prompt), "", *(f"- **{letter}** {choice}" for letter, choice in self.lettered)]
        kind = "the letter" if self.choices else f"your number{self.unit and f', in {self.unit},'}"
        return "\n".join([*lines, "", f'Then put {kind} in place of the dots: `check("{self.id}", ...)`.'])

    __repr__ = _repr_markdown_  # not the dataclass's own, which would tell the answer


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Task:
    """A function that the reader writes in the lab.

    ``examples`` is a Hypothesis strategy of tuples, the positional arguments. The reader's result is compared with
    the solution's within ``tolerance * max(1, |target|)``; where many results are right, ``judge(result, *arguments)``
    returns "" for a right one and otherwise a sentence that says what is wrong with it. ``mistakes`` are wrong
    attempts, each under a sentence that tells a reader what happened; the check must reject every one.
    """

    id: str  # "ch01.rotate"
    statement: str  # what to write, with the meaning and shape of each argument
    solution: Callable[..., Any]  # its name, signature and source are what the reader sees
    examples: Any
    mistakes: Mapping[str, Callable[..., Any]]
    hint: str  # shown after two tries
    why: str = ""  # shown under the solution
    tolerance: float = 1e-9
    judge: Callable[..., str] | None = None

    def __post_init__(self) -> None:
        _refuse(self.id, _id_problem(self.id) or _text_problem(self) or self._problem())

    def _problem(self) -> str:
        if not self.statement or not self.hint:
            return "statement= and hint= must say something"
        if not inspect.isfunction(self.solution) or self.name == "<lambda>":
            return f"solution= is a function with a name, defined with def, got {self.solution!r}"
        if not self.mistakes or not all(callable(mistake) for mistake in self.mistakes.values()):
            return "mistakes= names at least one wrong function that the check must reject"
        return "" if self.tolerance > 0 else f"tolerance= is above zero, got {self.tolerance!r}"

    @property
    def name(self) -> str:
        return self.solution.__name__

    @property
    def signature(self) -> str:
        """``rotate(x, m, theta)``: without annotations, as a reader would type it."""
        plain = inspect.signature(self.solution)
        bare = [p.replace(annotation=inspect.Parameter.empty) for p in plain.parameters.values()]
        return self.name + str(plain.replace(parameters=bare, return_annotation=inspect.Signature.empty))

    @property
    def source(self) -> str:
        """The solution as it stands in the file, so what the page shows is what was run."""
        return textwrap.dedent(inspect.getsource(self.solution)).rstrip()

    def _repr_markdown_(self) -> str:
        return f'{inspect.cleandoc(self.statement)}\n\nThen call `check("{self.id}", {self.name})`.'

    __repr__ = _repr_markdown_  # not the dataclass's own, which would tell the hint


Exercise = Question | Task
"""The type of an exercise: a `Question` or a `Task`."""


def modules() -> dict[str, ModuleType]:
    """Every chapter's module of exercises, by chapter: ``{"ch01": <module ...>}``."""
    try:
        return {module.__name__.split(".")[-2][:4]: module for module in chapters.modules("exercises")}
    except ModuleNotFoundError as error:
        raise MissingPackageError.of("rope_lab.exercises", error) or error from error


def load() -> dict[str, Exercise]:
    """Import every chapter's module and return its exercises by id, in the order of chapters, pages and labs.

    An id keeps the chapter of its birth when its exercise moves: readers' answers are kept under it.
    """
    by_id: dict[str, Exercise] = {}
    for module in modules().values():
        for item in (*module.EXERCISES, *getattr(module, "LAB", ())):
            if item.id in by_id:
                raise ValueError(f"{module.__name__}: expected an id that no other exercise has, got {item.id!r}")
            by_id[item.id] = item
    return by_id


def exercise(name: str) -> Exercise:
    """The exercise with this id; in a notebook its text is displayed.

    Args:
        name: The id: a chapter, a dot and words, such as "ch01.rotate".

    Returns:
        A question or a task.

    Raises:
        ValueError: If no exercise has this id; the message names ids that are close.

    >>> exercise("ch01.rotate").signature
    'rotate(x, m, theta)'
    """
    known = load()
    if not isinstance(name, str) or name not in known:
        near = get_close_matches(f"{name!s:.80}", known, n=3, cutoff=0.4) or list(known)[:3]
        raise ValueError(f"expected the id of an exercise, got {name!r:.80}; did you mean one of: {', '.join(near)}?")
    return known[name]


def read_number(text: str) -> float:
    """A number as people write it, read as ``quiz.js`` reads it on a page; NaN for anything else.

    Args:
        text: Such as "0.5", "-3/4", "2pi/3", "1e-3" or "0,5".

    Returns:
        The number, or NaN.

    >>> read_number("-3/4"), read_number("0,5"), read_number("a half")
    (-0.75, 0.5, nan)
    """
    text = re.sub(r"\s+", "", text.lower()).replace("−", "-").replace("–", "-").replace("π", "pi")
    if re.search(r"[0-9],[0-9]{3}(?![0-9])", text):
        return math.nan
    digits = r"[0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?|\.[0-9]+(?:e[+-]?[0-9]+)?"
    values = []
    for part in text.replace(",", ".", 1).split("/"):
        read = re.fullmatch(rf"([+-]?)({digits})?\*?(pi)?", part)
        if not read or not (read[2] or read[3]):
            return math.nan
        values.append((-1 if read[1] == "-" else 1) * float(read[2] or 1) * (math.pi if read[3] else 1))
    if len(values) > 2 or values[1:] == [0]:
        return math.nan
    value = values[0] / values[1] if len(values) == 2 else values[0]
    return value if math.isfinite(value) else math.nan


def _refuse(name: str, problem: str) -> None:
    if problem:
        raise ValueError(f"exercise {name!r}: {problem}")


def _id_problem(name: str) -> str:
    if re.fullmatch(r"ch\d\d\.[a-z0-9]+(-[a-z0-9]+)*", name):
        return ""
    return "an id is a chapter, a dot and lower-case words: ch01.turned-angle"


def _text_problem(item: Exercise) -> str:
    """Slips that would only show on the page: a string that isn't raw, a lost dollar, an unmarked display."""
    texts = [value for value in vars(item).values() if isinstance(value, str)] + list(getattr(item, "choices", ()))
    for text in texts + list(getattr(item, "mistakes", ())) + list(getattr(item, "feedback", {}).values()):
        if re.search(r"[\x00-\x09\x0b-\x1f]", text):
            return rf"a control character: write the text as a raw string, r'...', so that \t of \theta stays: {text!r}"
        if "$$" in text:
            return f"displayed mathematics belongs in the chapter, where it is marked; use $...$: {text!r}"
        if len(re.findall(r"(?<!\\)\$", text)) % 2:
            return f"a dollar sign without its partner: {text!r}"
    return ""
