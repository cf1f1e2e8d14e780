"""Widgets and quizzes answer: to a key, a mouse (on a desk), a finger (on a phone), and a reader's choice."""

import pytest

from tests.site import checks
from tests.site.checks import nothing
from tests.site.pages import has, page_names

QUIZ, WIDGET = r"\{quiz\}", "from rope_lab.show.widgets import"


def test_the_pages_with_a_quiz_or_a_widget_are_asked_and_no_others(html):
    for name in page_names():
        text = (html / f"{name}.html").read_text("utf-8")
        assert has(name, QUIZ) == ('class="quiz' in text), name
        assert has(name, f"{WIDGET}|\\bplay\\(") == ("vnd.jupyter.widget-view+json" in text), name


@pytest.mark.where(WIDGET)
def test_widgets_answer(visit):
    nothing(checks.idle_widgets(visit.page, touch=visit.phone))
    nothing(visit.errors)


@pytest.mark.where(QUIZ)
def test_quizzes_answer(visit):
    nothing(checks.untold_mistakes(visit.page))
    nothing(checks.silent_forms(visit.page))
    nothing(checks.unsettled_predictions(visit.page))
    nothing(visit.errors)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(checks, "ANSWER_MS", 200)  # what never answers need not be waited for


@pytest.mark.usefixtures("impatient")
def test_control_widgets(planted):
    wrong = "\n".join(checks.idle_widgets(planted.page, touch=planted.phone))
    for fault in (
        "widget 1 does not answer ArrowLeft",
        "widget 1 does not answer a ",
        "widget 1 announces nothing",
        "widget 2 did not start",
    ):
        assert fault in wrong


@pytest.mark.usefixtures("impatient")
def test_control_missing_widget(planted):
    second = planted.page.locator(".rope-widget").nth(1).element_handle()
    second.evaluate("(w) => w.classList.remove('rope-widget')")
    try:
        assert "2 widgets in the page, 1 on it" in checks.idle_widgets(planted.page, touch=planted.phone)
    finally:
        second.evaluate("(w) => w.classList.add('rope-widget')")


@pytest.mark.usefixtures("impatient")
def test_control_quizzes(planted):
    (wrong,) = checks.silent_forms(planted.page)
    assert wrong.startswith("quiz-deaf does not answer")


def test_control_feedback_and_settled_predictions(planted):
    assert checks.untold_mistakes(planted.page) == ["quiz-deaf says nothing about B"]
    (wrong,) = checks.unsettled_predictions(planted.page)
    assert wrong.startswith("settled-never does not settle what was predicted: You have not committed")


def test_sound_feedback_and_settled_predictions(sound):
    nothing(checks.untold_mistakes(sound.page))
    nothing(checks.silent_forms(sound.page))
    nothing(checks.unsettled_predictions(sound.page))
