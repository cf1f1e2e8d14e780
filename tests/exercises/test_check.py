"""What `check` answers to readers: words for everything that can go wrong, and never a traceback."""

# ruff: noqa: ARG001, ARG005  (wrong functions ignore their arguments)

import builtins
import math
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra.rotation import rotation_2d
from rope_lab.exercises import Task, check, checking, core, exercise, solution
from rope_lab.exercises.comparing import differs, show

ROTATE = "ch01.rotate"


@pytest.fixture(autouse=True)
def _fresh_reader():
    checking._TRIES.clear()


def right(x, m, theta):
    return rotation_2d(m * theta) @ x


def clockwise(x, m, theta):
    return right(x, -m, theta)


@pytest.mark.parametrize(
    "fn",
    [
        right,
        lambda a, b, c: list(right(a, b, c)),
        lambda x, m, theta=1: torch.tensor(right(x, m, theta), requires_grad=True),
        lambda *args, scale=1: scale * right(*args),
    ],
    ids=["array", "list", "tensor", "any names"],
)
def test_right_functions_pass(fn):
    reply = check(ROTATE, fn)
    assert reply.ok
    assert bool(reply)
    assert "100 examples" in repr(reply)


def _raises(x, m, theta):
    raise KeyError("odd")


class Shy:
    def __repr__(self):
        raise RuntimeError("no")


def _unspeakable(x, m, theta):
    class Unspeakable(Exception):  # noqa: N818 - any name a reader may choose
        def __str__(self):
            raise KeyError

    raise Unspeakable


def _writes(x, m, theta):
    x[:] = 0
    return x


def _writes_what_is_right(x, m, theta):
    x[:] = right(x, m, theta)
    return x


class Hostile:
    def __getattribute__(self, name):
        raise GeneratorExit(name)


def _throws(error):
    def throw(x, m, theta):
        raise error

    return throw


@pytest.mark.parametrize(
    ("fn", "says"),
    [
        (clockwise, "The numbers differ."),
        (_raises, "Your function raised KeyError: 'odd'."),
        (lambda x, m, theta: exit(), "Your function raised SystemExit"),
        (_writes, "The numbers differ."),
        (_writes_what_is_right, "The result is right, but your function changes what it was given: work on a copy."),
        (_throws(BaseException("no")), "Your function raised BaseException: no."),
        (_throws(GeneratorExit()), "Your function raised GeneratorExit."),
        (lambda x, m, theta: type("Exits", (), {"__array__": sys.exit})(), "Expected an array of numbers, got "),
        (lambda x, m, theta: type("Odd", (), {"detach": 1})(), "Expected an array of numbers, got an object"),
        (lambda x, m, theta: Hostile(), "Expected an array of numbers, got an object of type Hostile."),
        (lambda x, m, theta: x[0], "Expected an array of shape (2,), got "),
        (lambda x, m, theta: x[:, None], "Expected an array of shape (2,), got an array of shape (2, 1)."),
        (lambda x, m, theta: x * np.nan, "The result holds NaN, which is not a number."),
        (lambda x, m, theta: x + np.inf, "The result holds an infinite number."),
        (lambda x, m, theta: x * 1j, "Expected real numbers, got complex ones."),
        (lambda x, m, theta: "x", "Expected an array of numbers, got 'x' of type str."),
        (lambda x, m, theta: [1, [2, 3]], "Expected an array of numbers, got [1, [2, 3]] of type list."),
        (lambda x, m, theta: print, "Expected an array of numbers"),
        (lambda x, m, theta: Shy(), "Expected an array of numbers, got an object of type Shy"),
        (lambda x, m, theta: x @ x[:1], "Your function raised ValueError"),
        (lambda x, m, theta: np.zeros(10**6), "Expected an array of shape (2,), got an array of shape (1000000,)."),
        (_unspeakable, "Your function raised Unspeakable: an error that cannot be shown."),
        (lambda x, m, theta: sys.stdout.close() or x[0], "Expected an array of shape (2,)"),
        (lambda x, m, theta: torch.ones(2, dtype=torch.bfloat16), "The numbers differ."),
        (lambda x: x, "Expected a function called as `rotate(x, m, theta)`"),
        (np.zeros(2), "Expected a function, got an array of shape (2,). Hand over `rotate` itself"),
        (None, "Expected a function, got nothing (None)"),
        (max, "Your function raised "),
    ],
)
def test_wrong_functions_get_words(fn, says):
    reply = check(ROTATE, fn)
    assert not reply.ok
    assert reply.says.startswith(says)
    assert reply.judged


@pytest.mark.parametrize("name", [ROTATE, "ch01.between", "ch01.one-logit"])
def test_an_answer_that_cannot_be_read_gets_words(name):
    assert not check(name, Hostile()).ok


# --- around a call ---


def _sometimes_for_ever(x, m, theta):
    while m > 3:
        pass
    return right(x, m, theta)


def _catches_all(x, m, theta):
    while True:
        with suppress(BaseException):
            time.sleep(0.01)


def _catches(what):
    def fn(x, m, theta):
        with suppress(BaseException):
            what()
        return right(x, m, theta)

    return fn


STOPPED = "Your function was stopped after 0.2 seconds: look for a loop that does not end."
INTERRUPTED = "You stopped the check: call it again for an answer."


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="nothing ends a loop there")
@pytest.mark.parametrize(
    ("fn", "says"),
    [
        (_sometimes_for_ever, STOPPED),
        (_catches_all, STOPPED),
        (_catches(lambda: time.sleep(9)), STOPPED),
        (lambda x, m, theta: type("Endless", (), {"__array__": lambda *a, **k: _catches_all(0, 0, 0)})(), STOPPED),
        (lambda x, m, theta: signal.raise_signal(signal.SIGINT), INTERRUPTED),
        (_catches(lambda: signal.raise_signal(signal.SIGINT)), INTERRUPTED),
        (_throws(KeyboardInterrupt()), INTERRUPTED),
    ],
)
def test_the_clock_and_ctrl_c_end_a_call(fn, says, monkeypatch):
    monkeypatch.setattr(checking, "SECONDS", 0.2)
    before = signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGINT), sys.gettrace()
    reply = check(ROTATE, fn)
    assert (reply.says, reply.judged, reply.ok) == (says, says == STOPPED, False)
    assert (signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGINT), sys.gettrace()) == before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_there_may_be_no_signals(monkeypatch):
    replies = []
    thread = threading.Thread(target=lambda: replies.append(check(ROTATE, right)))
    thread.start()
    thread.join()
    monkeypatch.delattr(signal, "SIGALRM", raising=False)
    assert [reply.ok for reply in [*replies, check(ROTATE, right), check(ROTATE, clockwise)]] == [True, True, False]


def _patches_libraries(x, m, theta):
    np.cos = math.cos = lambda angle: 1.0
    np.sin = math.sin = lambda angle: 0.0
    core.np = checking.np = None
    checking.differs = lambda *args: ""
    checking._Guard.restore = lambda self: None
    core.Task.new = 1
    np.pi = np.float32(np.pi)  # equal to what it was, in the precision of the one
    del math.tau
    sys.modules["numpy"] = sys.stderr = None
    builtins.len = builtins.sum = print
    sys.setrecursionlimit(900)
    np.seterr(all="raise")
    return x


@pytest.mark.usefixtures("untyped")  # the check of a signature, made at the first call, needs builtins too
def test_what_a_function_patches_is_put_back():
    def state():
        ours = (checking.np, checking.differs, checking._Guard.restore, hasattr(core, "np"), hasattr(core.Task, "new"))
        libraries = (np.cos, np.sin, math.cos, math.tau, len, sum, sys.modules["numpy"], sys.stderr, type(np.pi))
        return ours, libraries, sys.getrecursionlimit(), np.geterr()

    before = state()
    assert check(ROTATE, _patches_libraries).says == "The numbers differ."
    assert state() == before


def test_a_long_tuple_stands_below_itself():
    assert show((np.zeros((2, 2)), 1)) == "(array([[0., 0.],\n        [0., 0.]]),\n 1)"


def test_a_call_that_is_long_has_a_line_for_each_argument():
    typed = checking._typed
    assert typed("f", {"a": 1, "name": (2, 3)}) == "f(a=1, name=(2, 3))"
    rows = "f(\n    A=array([[1., 0.],\n             [0., 1.]]),\n    b=1,\n)"
    assert typed("f", {"A": np.eye(2), "b": 1}) == rows
    assert typed("f", {"a": 10**50, "b": 10**20}) == f"f(\n    a={10**50},\n    b={10**20},\n)"


def test_the_example_is_the_smallest_and_stands_beside_the_target():
    reply = check(ROTATE, clockwise)
    assert reply.call == "rotate(x=array([0., 1.]), m=1.0, theta=1.0)"
    assert reply.target == repr(right(np.array([0.0, 1.0]), 1.0, 1.0))
    assert reply.yours == repr(clockwise(np.array([0.0, 1.0]), 1.0, 1.0))


def test_help_comes_step_by_step():
    first, second, third = (check(ROTATE, clockwise) for _ in range(3))
    assert first.notes == []
    assert second.diagnosis == "It looks as if it turns clockwise."
    assert "Which of the two sines" in second.hint
    assert not second.where
    assert 'solution("ch01.rotate")' in third.where
    assert check(ROTATE, right).says.startswith("Right, after 4 tries.")
    assert check(ROTATE, right).says.startswith("Right. ")
    assert solution(ROTATE).startswith("def rotate(x, m, theta):")


def test_an_empty_function_is_no_try():
    for _ in range(5):
        reply = check(ROTATE, lambda x, m, theta: ...)
        assert not reply.judged
        assert "perhaps a `return` is missing" in reply.says
        assert not reply.notes


def test_a_function_that_contradicts_itself():
    calls = count()
    reply = check(ROTATE, lambda x, m, theta: right(x, m, theta) if next(calls) != 3 else x + 9)
    assert not reply.ok
    assert "different results for one and the same input" in reply.says


def test_what_a_reader_prints_is_kept_for_the_example(capsys):
    def chatty(x, m, theta):
        print("m is", m)
        return clockwise(x, m, theta)

    reply = check(ROTATE, chatty)
    assert capsys.readouterr().out == ""
    assert reply.printed == "m is 1.0\n"
    assert "m is 1.0" in repr(reply)


def test_the_reply_shows_itself_safely():
    reply = check(ROTATE, lambda x, m, theta: "<script>")
    shown = reply._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert shown.count("<dt") == 3
    assert shown.startswith('<div class="rope-reply" role="status"')
    helped = check(ROTATE, 3)._repr_html_()
    assert '<code style="color:inherit">rotate' in helped
    assert r'<span class="math">\(\begin{pmatrix}' in helped
    assert "$" not in helped


def test_the_same_examples_on_every_run():
    assert [repr(check(ROTATE, _raises)) for _ in range(3)][2] == repr(check(ROTATE, _raises))


@pytest.mark.deep
def test_nothing_is_left_on_disk(tmp_path):
    code = "from rope_lab.exercises import check; print(check('ch01.rotate', lambda x, m, theta: x))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "ch01.rotate" in done.stdout
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_the_package_stays_light():
    code = (
        "import sys, rope_lab.exercises; print([m for m in ('hypothesis', 'torch', 'matplotlib') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


# --- questions in a lab ---


def test_questions_take_letters_and_numbers():
    assert check("ch01.between", " c ").ok
    assert check("ch01.one-logit", np.float32(0.5)).ok
    assert check("ch01.one-logit", 0.504).ok
    assert not check("ch01.one-logit", 0.506).ok
    for odd in ("E", "", 2, None, "CC"):
        assert not check("ch01.between", odd).judged
    for odd in ("0.5", None, [0.5], 0.5j, True):
        assert not check("ch01.one-logit", odd).judged
    assert check("ch01.between", ...).says == "Put your answer in place of the dots: a letter, A to D."
    assert check("ch01.one-logit", ...).says == "Put your answer in place of the dots: a number."
    assert not check("ch01.between", "A").hint
    assert "Transposing" in check("ch01.between", "A").hint


@pytest.mark.parametrize("how", [{"requires_grad": True}, {"dtype": torch.bfloat16}, {"dtype": torch.float64}])
def test_a_number_may_be_a_tensor_of_any_kind(how):
    assert check("ch01.one-logit", torch.tensor(0.5, **how)).ok
    reply = check("ch01.one-logit", torch.tensor(0.75, **how))
    assert (reply.ok, reply.judged) == (False, True)


@pytest.fixture
def foreseen(monkeypatch):
    """Three questions with feedback, in place of the book's."""
    choice = replace(exercise("ch01.between"), feedback={"A": "That is $R_7$."})
    number = replace(exercise("ch01.one-logit"), feedback={"-0.5": "You turned the other way."})
    prediction = replace(exercise("ch01.predict-cache"), feedback={"A": "Nothing shrinks."})
    items = {item.id: item for item in (choice, number, prediction)}
    monkeypatch.setattr(core, "load", lambda: items)


@pytest.mark.usefixtures("foreseen")
def test_a_foreseen_mistake_is_named():
    assert check("ch01.between", "a").says == "Not yet. That is $R_7$."
    assert check("ch01.between", "B").says == "Not yet."
    assert "R_7" not in check("ch01.between", "C").says
    assert check("ch01.one-logit", -0.504).says == "Not yet. You turned the other way."
    assert check("ch01.one-logit", torch.tensor(-0.5)).says == "Not yet. You turned the other way."
    assert check("ch01.one-logit", 0.51).says == "Not yet."
    assert check("ch01.predict-cache", "A").says.startswith("You said A. Nothing shrinks. The answer is B. ")
    assert "shrinks. " not in check("ch01.predict-cache", "B").says


def test_a_prediction_gives_no_verdict_but_the_reason():
    for letter in "AB":
        reply = check("ch01.predict-cache", letter)
        assert reply.says.startswith(f"You said {letter}. ")
        assert "The answer is B. " in reply.says
        assert "Not yet" not in repr(reply)
        assert reply.sign == "·"
        assert reply.ok == (letter == "B")


# --- tasks where many results are right ---


def elsewhere(m, n):
    far = 1000 + abs(m) + abs(n)
    return m + far, n + far


def _judge(result, m, n):
    if result[0] - m != result[1] - n:
        return "query and key moved by different amounts"
    return "" if min(result) >= 1000 else "that is not far"


def test_a_judge_decides_where_many_results_are_right(monkeypatch):
    task = Task(
        id="ch01.elsewhere",
        statement="Move both far away.",
        solution=elsewhere,
        examples=st.tuples(st.integers(-99, 99), st.integers(-99, 99)),
        mistakes={"only the query moves": lambda m, n: (m + 5000, n)},
        hint="Both.",
        judge=_judge,
    )
    monkeypatch.setattr(core, "load", lambda: {task.id: task})
    assert checking._answer_task(task, elsewhere).ok
    assert not checking._answer_task(task, task.mistakes["only the query moves"]).ok
    assert check(task.id, lambda m, n: (m + 5000, n + 5000)).ok
    assert check(task.id, lambda m, n: (m + 1000, n + 1000)).says == "That is not far."
    assert check(task.id, lambda m, n: m + n).says.startswith("Expected 2 values, got ")
    assert check(task.id, lambda m, n: (m, "n")).says.startswith("Value 2: expected a number, got ")
    assert check(task.id, lambda m, n: (m + 5000, n)).diagnosis == "It looks as if only the query moves."


# --- the comparison ---


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=4), st.floats(1e-12, 1e-2))
def test_equal_within_the_tolerance_and_not_beyond(numbers, tolerance):
    target = np.array(numbers)
    slack = tolerance * max(1, abs(target).max())
    assert differs(target, target, tolerance) == ""
    assert differs(target + slack * 0.9, target, tolerance) == ""
    assert differs(target + slack * 1.1, target, tolerance) == "the numbers differ"


def test_an_untouched_function_is_told_that_it_is_the_readers_and_sees_a_telling_example():
    task = exercise("ch01.rotate")

    def rotate(x, m, theta): ...

    reply = check(task.id, rotate)
    assert (reply.ok, reply.judged, reply.says) == (False, False, "`rotate` is yours to write.")
    made = {"rotate": task.solution, "array": np.array}
    assert not differs(eval(reply.call, made), eval(reply.target, made), 1e-6)
    wrong = [
        mistake
        for mistake in task.mistakes.values()
        if differs(eval(reply.call, made | {"rotate": mistake}), eval(reply.target, made), 1e-6)
    ]
    assert len(wrong) == len(task.mistakes)


def test_control_a_function_that_only_returns_nothing_is_told_so():
    def rotate(x, m, theta):
        _ = x * m * theta

    assert "a `return` is missing" in check("ch01.rotate", rotate).says
