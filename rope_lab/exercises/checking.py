"""Answers to a reader: `check` looks for an example where theirs and the solution differ, and shows the smallest.

Hypothesis draws the examples, the same ones on every run, and keeps nothing on disk. Whatever the reader's function
does, they get a `Reply`, never a traceback; a `_Guard` stands around each call, ends one that runs too long, and undoes
what it changed in the libraries.
"""

from __future__ import annotations

import builtins
import copy
import inspect
import io
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from operator import is_
from typing import Any

import numpy as np

from rope_lab.exercises.comparing import differs, kind, plain, same, show
from rope_lab.exercises.core import LETTERS, Exercise, Question, Task, exercise
from rope_lab.exercises.reply import Reply
from rope_lab.exercises.scoring import note

EXAMPLES = 100  # drawn per check: well under a second for anything a reader writes here
UNTOUCHED = (lambda: None).__code__.co_code  # a function of three dots, or of nothing at all
TELLING = 40  # of them are looked through for one that tells the most to who has not begun
SECONDS = 10.0  # for one call of the reader's function, where there are signals
HINT_AFTER, SOLUTION_AFTER = 2, 3  # wrong tries
WATCHED = {"builtins", "cmath", "copy", "itertools", "math", "numpy", "rope_lab", "scipy"}  # and what lies in them

_TRIES: Counter[str] = Counter()  # wrong tries of this session, by exercise


@dataclass(frozen=True)
class _Attempt:
    """What one call of a reader's function did, in words."""

    arguments: tuple
    fault: str  # "" for a right result
    shown: str = ""  # the result, or the error
    printed: str = ""
    ended: bool = False  # it ran too long
    empty: bool = False  # it returned nothing


def check(name: str | Exercise, answer: Any) -> Reply:
    """Compare the reader's function (or, for a question, their letter or number) with the solution.

    Args:
        name: The id of the exercise, such as "ch01.rotate"; or the exercise.
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
    item, guard = exercise(name) if isinstance(name, str) else name, _Guard()
    try:
        reply = _answer_question(item, answer) if isinstance(item, Question) else _answer_task(item, answer, guard)
    except KeyboardInterrupt:
        return Reply(item.id, False, "You stopped the check: call it again for an answer.", judged=False)
    except BaseException as error:  # their own class may raise anything wherever it is looked at
        reply = Reply(item.id, False, f"What you handed over cannot be read: it raised {_described(error)}.")
    finally:
        guard.restore()
    if not reply.judged:
        return reply
    note(item.id, right=reply.ok)
    if reply.ok:
        tries = _TRIES.pop(item.id, 0) + 1
        return replace(reply, says=f"Right{f', after {tries} tries' if tries > 1 else ''}. {reply.says}")
    _TRIES[item.id] += 1
    if _TRIES[item.id] < HINT_AFTER:
        return replace(reply, diagnosis="")
    where = f'`print(solution("{item.id}"))` shows the solution.'
    return replace(reply, hint=item.hint, where=where if _TRIES[item.id] >= SOLUTION_AFTER else "")


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


def _answer_task(task: Task, fn: Any, guard: _Guard | None = None) -> Reply:
    if problem := _uncallable(task, fn):
        return Reply(task.id, False, problem)
    if getattr(getattr(fn, "__code__", None), "co_code", b"") == UNTOUCHED:
        call, target = _telling(task)
        target = "" if task.judge else target  # one right result of many would give the riddle away
        return Reply(task.id, False, f"`{task.name}` is yours to write.", call=call, target=target, judged=False)
    guard = guard or _Guard()
    failing, seen, flaky = _search(task, fn, guard)
    if failing is None:
        return Reply(task.id, True, f"It holds on all {len(seen)} examples.")
    says = "your function gives different results for one and the same input" if flaky else failing.fault
    names = inspect.signature(task.solution).parameters
    return Reply(
        task.id,
        False,
        says[0].upper() + says[1:].rstrip(".") + ".",
        call=_typed(task.name, dict(zip(names, failing.arguments, strict=True))),
        yours=failing.shown,
        target=show(task.solution(*copy.deepcopy(failing.arguments))),
        printed=failing.printed,
        diagnosis="" if failing.ended else _diagnosis(task, fn, seen[:40], guard),
        judged=not failing.empty,
    )


def _telling(task: Task) -> tuple[str, str]:
    """A call and its target: the shortest of those drawn that tell the most known mistakes apart."""
    names = inspect.signature(task.solution).parameters
    found = []
    for arguments in _search(task, task.solution)[1][:TELLING]:
        fault, apart = _fault(task, arguments), 0
        for mistake in task.mistakes.values():
            try:
                apart += bool(fault(mistake(*copy.deepcopy(arguments))))
            except Exception:  # a mistake may fail where the solution does not
                apart += 1
        call = _typed(task.name, dict(zip(names, arguments, strict=True)))
        found.append((-apart, len(call), call, show(task.solution(*copy.deepcopy(arguments)))))
    return min(found)[2:]


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


def _search(
    task: Task, fn: Callable, guard: _Guard | None = None, *, smallest: bool = True
) -> tuple[_Attempt | None, list[tuple], bool]:
    """The smallest example where the function is wrong (or None), those seen, and whether it contradicted itself.

    Without ``smallest`` it is the first one that was met, which takes a fifth of the time.
    """
    from hypothesis import Phase, configuration, errors, find, settings  # here: importing the package stays light

    guard = guard or _Guard()
    seen: list[tuple] = []
    wrong: list[_Attempt] = []
    ended: list[_Attempt] = []

    def fails(arguments: tuple) -> bool:
        if ended:  # each further example could take as long
            return False
        seen.append(arguments)
        attempt = guard.call(fn, arguments, _fault(task, arguments))
        (ended if attempt.ended else wrong if attempt.fault else []).append(attempt)
        return bool(attempt.fault) and not attempt.ended

    phases = (Phase.generate, Phase.shrink) if smallest else (Phase.generate,)
    quick = settings(max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, phases=phases)
    flaky = False
    try:
        with tempfile.TemporaryDirectory() as folder:  # what Hypothesis notes about loaded modules is thrown away
            configuration.set_hypothesis_home_dir(folder)
            find(task.examples, fails, settings=quick)
    except errors.NoSuchExample:
        pass
    except errors.Flaky:
        flaky = not ended
    finally:
        configuration.set_hypothesis_home_dir(None)
    return next(iter(ended or wrong[-1:]), None), seen, flaky


def _fault(task: Task, arguments: tuple) -> Callable[[Any], str]:
    """A function that says what is wrong with a result, or "". The solution runs now, before the reader's function."""
    target = task.solution(*copy.deepcopy(arguments))

    def fault(value: Any) -> str:
        if task.judge is None:
            return differs(value, target, task.tolerance)
        return differs(value, target, None) or task.judge(value, *copy.deepcopy(arguments))

    return fault


def _diagnosis(task: Task, fn: Callable, seen: list[tuple], guard: _Guard) -> str:
    """The known mistake that gives the reader's own numbers on every example seen, if there is one."""
    for sentence, mistake in task.mistakes.items():
        for arguments in seen:
            try:
                target = mistake(*copy.deepcopy(arguments))
            except Exception:  # a mistake may fail where the reader's function does not
                break
            if guard.call(fn, arguments, lambda value: differs(value, target, task.tolerance)).fault:  # noqa: B023
                break
        else:
            return f"It looks as if {sentence}."
    return ""


# --- around a call ---


class _Kept(io.StringIO):
    """What is printed; a function that closes it cannot take it away."""

    def close(self) -> None:
        pass


def _described(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}".removesuffix(": ")
    except BaseException:  # their own __str__ may be what fails
        return f"{type(error).__name__}: an error that cannot be shown"


class _Guard:
    """Calls a reader's function, ends it after a while, and keeps the libraries as they were when it was made."""

    def __init__(self) -> None:
        self.modules = {name: sys.modules[name] for name in list(sys.modules) if name.split(".")[0] in WATCHED}
        ours = [vars(module).values() for name, module in self.modules.items() if name.startswith("rope_lab")]
        classes = {c for values in ours for c in values if isinstance(c, type) and "rope_lab" in str(c.__module__)}
        holders: list[Any] = [*self.modules.values(), *classes]
        self.before = [(holder, dict(vars(holder))) for holder in holders]
        self.builtins = (vars(builtins), dict(vars(builtins)))
        self.running, self.ended = False, 0

    def restore(self) -> None:
        """Undo what was put into the watched modules and our classes, or taken out of them."""
        now, before = self.builtins
        now.update(before)  # first, and without a builtin: the lines below need them
        sys.modules.update(self.modules)
        for holder, before in self.before:
            now = vars(holder)
            if len(now) == len(before) and all(map(is_, now.values(), before.values())):
                continue
            for name in {*now, *before}:
                if name in before and now.get(name, self) is not before[name]:
                    setattr(holder, name, before[name])
                elif name not in before and f"{holder.__name__}.{name}" not in sys.modules:
                    with suppress(AttributeError, TypeError):  # what Python itself keeps in a class stays
                        delattr(holder, name)

    def call(self, fn: Callable, arguments: tuple, fault_of: Callable[[Any], str]) -> _Attempt:
        """Call on a copy of the arguments, and look at the result while the libraries are as they were.

        Raises:
            KeyboardInterrupt: If Ctrl-C came meanwhile, even if the function caught it.
        """
        printed, given, restore = _Kept(), copy.deepcopy(arguments), self.restore
        fault, shown, empty, doing = "", "", False, "your function raised"
        limit, before = sys.getrecursionlimit(), (redirect_stderr(sys.stderr), np.errstate(), np.printoptions())
        with redirect_stdout(printed), warnings.catch_warnings(), before[0], before[1], before[2]:
            warnings.simplefilter("ignore")
            try:
                self._set_alarm()
                value = fn(*given)
                restore()
                doing = "what your function returned cannot be read: it raised"
                fault, shown, empty = fault_of(value), show(value), value is None or value is ...
                if not fault and not same(given, arguments):
                    fault = "the result is right, but your function changes what it was given: work on a copy"
                self.running = False
            except BaseException as error:  # whatever the reader's function does is an answer, and is shown
                self.running = False
                restore()
                if isinstance(error, KeyboardInterrupt):
                    self.ended = self.ended or signal.SIGINT
                shown = _described(error)
                fault = f"{doing} {shown}"
            finally:
                self.running = False
                self._take_alarm_back()
                sys.setrecursionlimit(limit)
                restore()
        if self.ended == signal.SIGINT:
            raise KeyboardInterrupt
        if self.ended:
            shown = f"no result after {SECONDS:g} seconds"
            fault = f"your function was stopped after {SECONDS:g} seconds: look for a loop that does not end"
        return _Attempt(arguments, fault, shown, printed.getvalue(), bool(self.ended), empty)

    def _set_alarm(self) -> None:
        """Let the clock and Ctrl-C end the call; without signals (a browser, Windows, a thread) nothing does."""
        self.running, self.ended, self.handlers, self.tracer = True, 0, {}, sys.gettrace()
        with suppress(AttributeError, ValueError):
            clock = signal.setitimer
            for number in (signal.SIGALRM, signal.SIGINT):
                self.handlers[number] = signal.signal(number, self._stop)
            self.timer = clock(signal.ITIMER_REAL, SECONDS, 0.01)

    def _take_alarm_back(self) -> None:
        sys.settrace(self.tracer)
        if self.handlers:
            signal.setitimer(signal.ITIMER_REAL, *self.timer)
        for number, handler in self.handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)

    def _stop(self, number: int, frame: Any) -> None:
        """Raise in the reader's code. It may catch that, so every further line of theirs will raise as well."""
        if self.ended != signal.SIGINT and (self.running or number == signal.SIGINT):
            self.ended = number
        if self.running and "hypothesis" not in frame.f_code.co_filename:  # its hooks lose errors
            sys.settrace(self._again)
            while frame is not None and frame.f_code.co_filename != __file__:
                frame.f_trace, frame = self._again, frame.f_back
            raise KeyboardInterrupt

    def _again(self, frame: Any, event: str, _: Any) -> Callable:
        if event == "line" and self.running and "hypothesis" not in frame.f_code.co_filename:
            signal.raise_signal(self.ended)
        return self._again
