"""The directives {quiz} and {task}: what they write into a page, and how the forms answer in a browser."""

import base64
import html
import io
import json
import math
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from rope_lab.exercises import Question, core, load

ROOT = Path(__file__).resolve().parents[2]
EXTRA = (
    Question(
        id="ch01.minus-sixth",
        prompt="Which angle?",
        answer=-math.pi / 6,
        tolerance=1e-3,
        unit="radians",
        truth=lambda: -math.pi / 6,
        hint="Turn *back*.",
        why="It turns **back**.",
    ),
    Question(
        id="ch01.guess",
        kind="prediction",
        prompt="How many?",
        answer=12,
        tolerance=0.5,
        truth=lambda: 12,
        why="A dozen.",
    ),
    Question(
        id="ch01.long",
        kind="prediction",
        prompt="Which?",
        choices=("one\n\ntwo", "three"),
        answer="A",
        truth=None,
        why="So.",
    ),
)
SHOWN = ("ch01.predict-shift", "ch01.between", "ch01.one-logit", "ch01.minus-sixth", "ch01.guess")


@pytest.fixture(scope="module", autouse=True)
def _more_exercises():
    known = load() | {item.id: item for item in EXTRA}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "load", lambda: known)
        yield


def build(folder, text, builder="html"):
    """Build one page (and a lab of the same name); returns what it holds, the warnings, and the environment."""
    source = folder / "source"
    for name, content in {
        "index": "# T\n\n```{toctree}\nbook/01_x\nnotebooks/01_x\n```",
        "book/01_x": text,
        "notebooks/01_x": "# Lab",
    }.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / f"{name}.md").write_text(content, encoding="utf-8")
    settings = {
        "extensions": ["myst_parser", "quiz"],
        "myst_enable_extensions": ["dollarmath"],
        "html_theme": "basic",
        "html_static_path": [str(ROOT / "book" / "_static")],
        "mathjax_path": "none.js",
    }
    warnings = io.StringIO()
    with patch_docutils(), docutils_namespace():
        app = Sphinx(source, None, folder / "out", folder / "trees", builder, settings, status=None, warning=warnings)
        app.build()
    page = folder / "out" / "book" / ("01_x.html" if builder == "html" else "01_x.txt")
    return page, re.sub(r"\x1b\[\d+m", "", warnings.getvalue()), app.env


def quiz(*names):
    return "\n\n".join(["# One", *(f"```{{quiz}} {name}\n```" for name in names)])


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    text = quiz(*SHOWN) + "\n\n```{task} ch01.rotate\n```\n"
    path, warnings, env = build(tmp_path_factory.mktemp("quiz"), text)
    assert warnings == ""
    assert any(str(name).endswith("ch01_one_plane.py") for name in env.dependencies["book/01_x"])
    return path


def test_a_form_stands_on_its_own(page):
    text = page.read_text(encoding="utf-8")
    assert re.findall(r'<form [^>]*id="quiz-([^"]+)"', text) == [name.replace(".", "-") for name in SHOWN]
    form = re.search(r'<form [^>]*id="quiz-ch01-between".*?</form>', text, re.DOTALL)[0]
    assert form.count('type="radio"') == 4
    assert form.count("<details") == form.count("</details>") == 2
    assert r"\(R_{-7}\)" in form
    key = re.search(r'data-key="([^"]+)"', form)[1]
    assert json.loads(base64.b64decode(key))["answer"] == "C"
    outside = re.sub(r"<details.*?</details>", "", form, flags=re.DOTALL)
    assert "The answer" not in outside
    assert "between" in outside


def test_a_task_shows_the_solution_that_is_tested(page):
    text = re.search(r'<div class="task".*', page.read_text(encoding="utf-8"), re.DOTALL)[0]
    plain = html.unescape(re.sub(r"<[^>]+>", "", text))
    assert load()["ch01.rotate"].source in plain
    assert 'check("ch01.rotate", rotate)' in plain
    assert 'href="../notebooks/01_x.html"' in text
    assert plain.index("Hint") < plain.index("Solution")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (quiz("ch01.betwen"), "no exercise has the id 'ch01.betwen'; did you mean one of: ch01.between"),
        (quiz("ch01.rotate"), "ch01.rotate is a task; show it with its own directive"),
        (quiz("ch01.long"), "ch01.long: a choice is one line of text"),
        ("# One\n\n```{task} ch01.between\n```", "ch01.between is a question"),
    ],
)
def test_a_wrong_id_fails_the_build(tmp_path, text, says):
    assert says in build(tmp_path, text)[1]


def test_other_builders_write_the_words(tmp_path):
    path, warnings, _ = build(tmp_path, quiz("ch01.minus-sixth"), "text")
    assert warnings == ""
    assert "Which angle?" in path.read_text(encoding="utf-8")


# --- in a browser ---


@pytest.fixture
def tab(browser, page):
    context = browser.new_context()
    context.set_default_timeout(3000)
    tab = context.new_page()
    errors = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("request", lambda request: errors.append(request.url) if not request.url.startswith("file:") else None)
    tab.goto(page.as_uri())
    yield tab
    context.close()
    assert errors == []


class Form:
    """A form as a reader meets it."""

    def __init__(self, tab, name):
        self.form = tab.locator(f"#quiz-{name.replace('.', '-')}")
        self.says = self.form.get_by_role("status")
        self.hint, self.answer = self.form.locator(".quiz-hint"), self.form.locator(".quiz-answer")

    def choose(self, letter):
        self.form.locator(f"input[value={letter}]").check()
        self.submit()

    def type(self, text):
        self.form.get_by_role("textbox").fill(text)
        self.submit()

    def submit(self):
        self.form.locator("[type=submit]").click()

    def restart(self):
        self.form.get_by_role("button", name="Start again").click()


def test_hint_after_two_tries_and_memory(tab):
    form = Form(tab, "ch01.between")
    form.submit()
    expect(form.says).to_have_text("Choose an answer first.")
    form.choose("A")
    form.choose("A")  # the same answer is no second try
    expect(form.says).to_have_text("Not yet. Try once more.")
    expect(form.hint).to_be_hidden()
    form.choose("B")
    expect(form.says).to_have_text("Not yet. A hint stands below.")
    expect(form.hint).to_contain_text("Transposing")
    form.choose("C")
    expect(form.says).to_have_text("Right, after 3 tries.")
    expect(form.hint).to_be_hidden()
    expect(form.answer).to_have_attribute("open", "")
    expect(tab.locator(".quiz-progress")).to_contain_text("1 of 5 questions")
    tab.reload()
    expect(form.says).to_have_text("Right, after 3 tries.")
    expect(form.form.locator("input[value=C]")).to_be_checked()
    form.restart()
    tab.reload()
    expect(form.says).to_be_empty()
    expect(tab.locator(".quiz-progress")).to_contain_text("0 of 5 questions")


def test_a_prediction_tells_nothing_before_it_is_committed(tab):
    form = Form(tab, "ch01.predict-shift")
    expect(form.answer).to_be_hidden()
    form.form.locator("input[value=A]").check()
    expect(form.says).to_be_empty()
    expect(form.answer).to_be_hidden()
    assert "Walking 1000 positions" not in form.form.inner_text()
    form.submit()
    for _ in range(2):  # and the same after the page is opened again
        expect(form.says).to_have_text("You said A. The answer is B, and why stands below.")
        expect(form.answer).to_be_visible()
        expect(form.form.locator("input[value=C]")).to_be_disabled()
        expect(form.form.locator("[type=submit]")).to_be_disabled()
        expect(form.form.locator("label.quiz-given")).to_contain_text("shrinks")
        expect(form.form.locator("label.quiz-right")).to_contain_text("stays exactly")
        tab.reload()
    form.restart()
    expect(form.answer).to_be_hidden()
    expect(form.form.locator("input[value=C]")).to_be_enabled()
    expect(form.form.locator("label.quiz-right")).to_have_count(0)


def test_a_number_may_be_predicted(tab):
    form = Form(tab, "ch01.guess")
    form.type("7")
    expect(form.says).to_have_text("You said 7. The answer is 12, and why stands below.")
    expect(tab.locator(".quiz-progress")).to_contain_text("1 of 5 questions")


@pytest.mark.parametrize(
    ("name", "right", "wrong", "unread"),
    [
        (
            "ch01.one-logit",
            ("0.5", " 1/2 ", "0,5", ".5", "+.50", "5e-1", "0.504", "-1/-2"),
            ("-0.5", "−0,5", "0.51", "5", "0", "2/1"),
            ("", "half", "1,000", "0x1", "1/0", "1/2/3", "--1", "Infinity", "e", "1 of 2", "1/"),
        ),
        (
            "ch01.minus-sixth",
            ("-pi/6", "−π/6", "-2 π/12", "-0.5236", "-0.5*pi/3"),
            ("pi/6", "π", "-30"),
            ("pi pi", "p"),
        ),
    ],
)
def test_numbers_are_read_as_people_write_them(tab, name, right, wrong, unread):
    said = tab.evaluate(
        """([id, texts]) => {
          const form = document.getElementById(id);
          return texts.map((text) => {
            form.reset();
            form.elements.answer.value = text;
            form.requestSubmit();
            return form.querySelector('.quiz-says').textContent;
          });
        }""",
        [f"quiz-{name.replace('.', '-')}", [*right, *wrong, *unread]],
    )
    expected = ["Right."] * len(right) + ["Not yet. Try once more."] * len(wrong) + [None] * len(unread)
    for text, heard, awaited in zip([*right, *wrong, *unread], said, expected, strict=True):
        assert heard == (awaited or "Type a number, such as 1.25, -3/4 or pi/6."), text


def test_the_keyboard_is_enough(tab):
    form = Form(tab, "ch01.predict-shift")
    tab.keyboard.press("Tab")
    while "quiz" not in (tab.evaluate("document.activeElement.closest('form')?.className") or ""):
        tab.keyboard.press("Tab")
    for key in ("Space", "ArrowDown", "Enter"):
        tab.keyboard.press(key)
    expect(form.says).to_have_text("You said B. The answer is B, and why stands below.")
    assert tab.evaluate("document.activeElement.matches('#quiz-ch01-predict-shift summary')")


@pytest.mark.parametrize("kept", ["{", "null", json.dumps({"key": "of an older question", "tries": 1, "given": "A"})])
def test_what_was_kept_may_be_odd(tab, kept):
    tab.evaluate("(kept) => localStorage.setItem('rope-lab:quiz-ch01-between', kept)", kept)
    tab.reload()
    form = Form(tab, "ch01.between")
    expect(form.says).to_be_empty()
    expect(form.form.locator("input:checked")).to_have_count(0)
    form.choose("C")
    expect(form.says).to_have_text("Right.")


def test_a_browser_that_keeps_nothing(tab):
    tab.add_init_script(
        "Storage.prototype.getItem = Storage.prototype.setItem = (key) => {"
        " if (key.startsWith('rope-lab')) throw new Error('no'); return null; }"
    )
    tab.reload()
    form = Form(tab, "ch01.between")
    form.choose("C")
    expect(form.says).to_have_text("Right.")


def test_without_javascript_question_and_folded_answer_stand_there(browser, page):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(page.as_uri())
    form = Form(tab, "ch01.predict-shift")
    expect(form.form).to_contain_text("walk 1000 positions further")
    expect(form.form.locator("button").first).to_be_hidden()
    expect(form.form.locator(".quiz-plain")).to_contain_text("folded below")
    form.answer.locator("summary").click()
    expect(form.answer).to_contain_text("The answer: B.")
    expect(form.answer.locator("p").last).to_be_visible()
    context.close()
