"""Answers to a reader: `check` looks for an example where theirs and the solution differ, and shows the smallest.

Hypothesis draws the examples, the same ones on every run, and keeps nothing on disk. Whatever the reader's function
does, they get a `Reply`, never a traceback.
"""

from __future__ import annotations

import copy
import inspect
import io
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rope_lab.exercises.comparing import differs, kind, plain, show
from rope_lab.exercises.core import LETTERS, Question, Task, exercise
from rope_lab.exercises.reply import Reply

EXAMPLES = 100  # drawn per check: well under a second for anything a reader writes here
HINT_AFTER, SOLUTION_AFTER = 2, 3  # wrong tries

_TRIES: Counter[str] = Counter()  # wrong tries of this session, by exercise


@dataclass(frozen=True)
class _Attempt:
    """What one call of a reader's function did."""

    value: Any
    raised: str
    printed: str


def check(name: str, answer: Any) -> Reply:
    """Compare the reader's function (or, for a question, their letter or number) with the solution.

    Args:
        name: The id of the exercise, such as "ch01.rotate".
        answer: For a task, the reader's function itself. For a question, the letter of a choice or a number, in the
            unit that the question names.

    Returns:
        A reply that shows itself in a notebook; its `ok` says whether the answer is right. An error inside the
        reader's function is reported there too. A hint comes after two wrong tries.

    Raises:
        ValueError: If no exercise has this id. Nothing else is raised.

    >>> check("ch01.one-logit", 0.5).ok
    True
    """
    item = exercise(name)
    reply = _answer_question(item, answer) if isinstance(item, Question) else _answer_task(item, answer)
    if not reply.judged:
        return reply
    if reply.ok:
        tries = _TRIES.pop(name, 0) + 1
        return replace(reply, says=f"Right{f', after {tries} tries' if tries > 1 else ''}. {reply.says}")
    _TRIES[name] += 1
    if _TRIES[name] < HINT_AFTER:
        return replace(reply, diagnosis="")
    where = f'The solution is folded on the chapter\'s page; `print(solution("{name}"))` shows it here.'
    return replace(reply, hint=item.hint, where=where if _TRIES[name] >= SOLUTION_AFTER else "")


def solution(name: str) -> str:
    """A task's solution as source, or a question's answer and why.

    Args:
        name: The id of the exercise, such as "ch01.rotate".

    Returns:
        Text to print.

    Raises:
        ValueError: If no exercise has this id.
    """
    item = exercise(name)
    return item.source if isinstance(item, Task) else f"{item.shown_answer}. {item.why}"


def _answer_question(item: Question, answer: Any) -> Reply:
    wanted = f"a letter, {LETTERS[0]} to {LETTERS[len(item.choices) - 1]}" if item.choices else "a number"
    if answer is None or answer is ...:
        return Reply(item.id, False, f"Put your answer in place of the dots: {wanted}.", judged=False)
    if item.choices:
        given = str(answer).strip().upper()
        if len(given) != 1 or given not in LETTERS[: len(item.choices)]:
            return Reply(item.id, False, f"Answer with {wanted}.", judged=False)
        ok, feedback = given == item.answer, item.feedback_for(given)
    else:
        if problem := differs(answer, float(item.answer), None):
            return Reply(item.id, False, f"Answer with {wanted}: {problem}.", judged=False)
        number = float(np.asarray(plain(answer)))
        given, ok, feedback = f"{number:g}", item.accepts(number), item.feedback_for(number)
    if item.kind == "prediction":
        says = (f"You said {given}.", feedback, f"The answer is {solution(item.id)}")
        return Reply(item.id, ok, " ".join(filter(None, says)), judged=False)
    return Reply(item.id, ok, item.why if ok else f"Not yet. {feedback}".rstrip())


def _answer_task(task: Task, fn: Any) -> Reply:
    if problem := _uncallable(task, fn):
        return Reply(task.id, False, problem)
    failing, seen, flaky = _search(task, fn)
    if failing is None:
        return Reply(task.id, True, f"It holds on all {len(seen)} examples.")
    attempt, target = _run(fn, failing), _run(task.solution, failing).value
    says = _complaint(task, failing, attempt)
    if flaky or not says:
        says = "your function gives different results for one and the same input"
    names = inspect.signature(task.solution).parameters
    return Reply(
        task.id,
        False,
        says[0].upper() + says[1:].rstrip(".") + ".",
        call=_typed(task.name, dict(zip(names, failing, strict=True))),
        yours=attempt.raised or show(attempt.value),
        target=show(target),
        printed=attempt.printed,
        diagnosis=_diagnosis(task, fn, seen[:40]),
        judged=bool(attempt.raised) or (attempt.value is not None and attempt.value is not ...),
    )


def _typed(name: str, arguments: dict[str, Any]) -> str:
    """A call as it would be typed; in a long one each argument has a line of its own, or an array would be cut."""
    given = [f"{key}={show(value)}" for key, value in arguments.items()]
    call = f"{name}({', '.join(given)})"
    if len(given) == 1:  # the further rows of an array stand below its first
        return call.replace("\n", "\n" + (len(name) + len(next(iter(arguments))) + 2) * " ")
    if len(call) <= 72 and "\n" not in call:
        return call
    below = [text.replace("\n", "\n" + (len(key) + 5) * " ") for key, text in zip(arguments, given, strict=True)]
    return f"{name}(\n" + "".join(f"    {text},\n" for text in below) + ")"


def _uncallable(task: Task, fn: Any) -> str:
    if not callable(fn):
        return f"Expected a function, got {kind(fn)}. Hand over `{task.name}` itself, without parentheses after it."
    count = len(inspect.signature(task.solution).parameters)
    try:
        inspect.signature(fn).bind(*range(count))
    except TypeError:
        return f"Expected a function called as `{task.signature}`; yours does not take these {count} arguments."
    except ValueError:  # a builtin without a signature: calling it will tell
        pass
    return ""


def _search(task: Task, fn: Callable, *, smallest: bool = True) -> tuple[tuple | None, list[tuple], bool]:
    """The smallest example where the function is wrong (or None), those seen, and whether it contradicted itself.

    Without ``smallest`` it is the first one that was met, which takes a fifth of the time.
    """
    from hypothesis import Phase, configuration, errors, find, settings  # here: importing the package stays light

    seen: list[tuple] = []
    wrong: list[tuple] = []

    def fails(arguments: tuple) -> bool:
        seen.append(arguments)
        if bad := bool(_complaint(task, arguments, _run(fn, arguments))):
            wrong.append(arguments)
        return bad

    phases = (Phase.generate, Phase.shrink) if smallest else (Phase.generate,)
    quick = settings(max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, phases=phases)
    try:
        with tempfile.TemporaryDirectory() as folder:  # what Hypothesis notes about loaded modules is thrown away
            configuration.set_hypothesis_home_dir(folder)
            return find(task.examples, fails, settings=quick), seen, False
    except errors.NoSuchExample:
        return None, seen, False
    except errors.Flaky:
        return wrong[-1], seen, True
    finally:
        configuration.set_hypothesis_home_dir(None)


class _Kept(io.StringIO):
    """What is printed; a function that closes it cannot take it away."""

    def close(self) -> None:
        pass


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # their own __str__ may be what fails
        return "an error that cannot be shown"


def _run(fn: Callable, arguments: tuple) -> _Attempt:
    """Call on a copy of the arguments, so that a function that writes into them harms no one."""
    printed = _Kept()
    try:
        with redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = fn(*copy.deepcopy(arguments))
    except (Exception, SystemExit) as error:  # whatever the reader's function does is an answer, and is shown
        return _Attempt(None, f"{type(error).__name__}: {_text(error)}", printed.getvalue())
    return _Attempt(value, "", printed.getvalue())


def _complaint(task: Task, arguments: tuple, attempt: _Attempt) -> str:
    """The fault of this result, or ""."""
    if attempt.raised:
        return f"your function raised {attempt.raised}"
    target = task.solution(*copy.deepcopy(arguments))
    if task.judge is None:
        return differs(attempt.value, target, task.tolerance)
    return differs(attempt.value, target, None) or task.judge(attempt.value, *copy.deepcopy(arguments))


def _diagnosis(task: Task, fn: Callable, seen: list[tuple]) -> str:
    """The known mistake that gives the reader's own numbers on every example seen, if there is one."""
    for sentence, mistake in task.mistakes.items():
        pairs = [(_run(fn, arguments), _run(mistake, arguments)) for arguments in seen]
        if all(not a.raised and not b.raised and not differs(a.value, b.value, task.tolerance) for a, b in pairs):
            return f"It looks as if {sentence}."
    return ""
