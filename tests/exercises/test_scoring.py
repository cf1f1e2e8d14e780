"""The score sheet: what was answered, and after how many tries."""

import csv
import io

import pytest

from rope_lab.exercises import check, exercise, scores, scoring


@pytest.fixture(autouse=True)
def a_session_of_its_own(monkeypatch):
    monkeypatch.setattr(scoring, "_ANSWERED", {})


def test_tries_count_until_the_first_right_answer():
    task = exercise("ch01.rotate")
    wrong = next(iter(task.mistakes.values()))
    for answer in (wrong, wrong, task.solution, wrong):
        check(task.id, answer)
    check("ch01.one-logit", 99.0)
    assert dict(scores().answered) == {"ch01.rotate": (3, True), "ch01.one-logit": (1, False)}
    rows = list(csv.DictReader(io.StringIO(scores().as_csv())))
    assert rows[0] == {"exercise": "ch01.rotate", "right": "1", "tries": "3"}
    assert repr(scores()).startswith("1 of 2 answered exercises are right")


def test_what_is_no_answer_is_not_written_down():
    def rotate(x, m, theta): ...

    check("ch01.rotate", rotate)
    check("ch01.one-logit", ...)
    check("ch01.predict-cache", "A")
    assert dict(scores().answered) == {}
