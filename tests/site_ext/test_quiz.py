"""The directives {quiz}, {settled} and {task}: what they write into a page, and how the forms answer in a browser."""

import base64
import html
import io
import json
import math
import re
from contextlib import contextmanager
from dataclasses import replace
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
        id="ch01.sixth",
        prompt="Which angle?",
        answer=math.pi / 6,
        tolerance=1e-3,
        truth=lambda: math.pi / 6,
        hint="Turn.",
        why="It turns.",
        feedback={"-pi/6": "You turned the *other* way.", "0.5": r"A half is near $\pi/6$, and not near enough."},
    ),
    Question(
        id="ch01.three",
        prompt="Which?",
        choices=("one", "two", "three"),
        answer="B",
        truth=None,
        hint="Between.",
        why="So.",
        feedback={"A": r"Less than $\tfrac{3}{2}$."},
    ),
    Question(
        id="ch01.shift",
        kind="prediction",
        prompt="A query and a key walk 1000 positions further. Their dot product?",
        choices=("It shrinks.", "It stays exactly the same.", "It changes its sign."),
        answer="B",
        truth=None,
        why="Walking 1000 positions turns both.",
    ),
    Question(
        id="ch01.turn",
        kind="prediction",
        prompt="Which way?",
        choices=("to the left", "to the $x$ axis", "nowhere"),
        answer="B",
        truth=None,
        why="The *sign* says it.",
        feedback={"A": "That is $R_7$ and not $R_{-7}$.", "C": "It turns."},
    ),
    Question(
        id="ch01.dozen",
        kind="prediction",
        prompt="How many?",
        answer=12,
        tolerance=0.5,
        truth=lambda: 12,
        why="Twelve of them.",
        feedback={"13": "That is one too many."},
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
        id="ch01.two-sentences",
        kind="prediction",
        prompt="A first sentence.\nThen another one with $a. b$ in it. What is $a$, and why?",
        choices=("one", "two"),
        answer="A",
        truth=None,
        why="So.",
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
SETTLED = ("ch01.turn", "ch01.dozen")
SHOWN = ("ch01.shift", "ch01.between", "ch01.one-logit", "ch01.minus-sixth", "ch01.guess", "ch01.two-sentences")


@pytest.fixture(scope="module", autouse=True)
def _more_exercises():
    plain = {name: replace(item, feedback={}) if isinstance(item, Question) else item for name, item in load().items()}
    known = plain | {item.id: item for item in EXTRA}
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
        "extensions": ["myst_parser", "quiz", "page_head"],
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
    assert any(str(name).endswith("ch01_one_plane/exercises.py") for name in env.dependencies["book/01_x"])
    return path


def settled(*names):
    return "\n\n".join(f"```{{settled}} {name}\n```" for name in names)


@pytest.fixture(scope="module")
def settled_page(tmp_path_factory):
    """Two predictions that the text settles, two exercises with feedback, and a task at the end."""
    text = "\n\n".join(
        [
            quiz(*SETTLED),
            "In between.",
            settled(*SETTLED),
            "```{quiz} ch01.three\n```\n\n```{quiz} ch01.sixth\n```\n\n```{task} ch01.rotate\n```",
        ]
    )
    path, warnings, _ = build(tmp_path_factory.mktemp("settled"), text)
    assert warnings == ""
    return path


def test_what_is_asked_and_what_is_wanted_are_seen_at_a_glance(page):
    text = page.read_text(encoding="utf-8")
    form = re.search(r'<form [^>]*id="quiz-ch01-two-sentences".*?</form>', text, re.DOTALL)[0]
    assert "Your prediction:<span" in form.replace("\n", "")
    assert "choose an answer" in form
    (bold,) = re.findall(r"<strong>(.*?)</strong>", form.split("quiz-choices")[0], re.DOTALL)
    assert bold.startswith("What is ")
    assert bold.endswith(", and why?")
    number = re.search(r'<form [^>]*id="quiz-ch01-guess".*?</form>', text, re.DOTALL)[0]
    assert "write a number" in number
    assert "<strong>How many?</strong>" in number


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
    told = re.search(r'<div class="task-mistakes".*?<details', text, re.DOTALL)[0]
    said = [html.unescape(one).strip() for one in re.findall(r"<div hidden[^>]*>\s*<p>(.*?)</p>", told, re.DOTALL)]
    assert said == [f"It looks as if {words}." for words in load()["ch01.rotate"].mistakes]


@pytest.mark.deep(keep=3)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (quiz("ch01.betwen"), "expected the id of an exercise, got 'ch01.betwen'; did you mean one of: ch01.between"),
        (quiz("ch01.rotate"), "ch01.rotate is a task; show it with its own directive"),
        (quiz("ch01.long"), "ch01.long: a choice is one line of text"),
        ("# One\n\n```{task} ch01.between\n```", "ch01.between is a question"),
        (quiz("ch01.turn") + "\n\n" + settled("ch01.turm"), "expected the id of an exercise, got 'ch01.turm'"),
        (
            quiz("ch01.three") + "\n\n" + settled("ch01.three"),
            "ch01.three is an exercise: only a prediction is settled",
        ),
        (settled("ch01.rotate"), "ch01.rotate is a task"),
        (
            quiz("ch01.dozen") + "\n\n" + settled("ch01.turn"),
            "ch01.turn is settled here, and its {quiz} is not on this",
        ),
        (quiz("ch01.turn") + "\n\n" + settled("ch01.turn", "ch01.turn"), "ch01.turn is settled twice on this page"),
    ],
)
def test_a_wrong_id_fails_the_build(tmp_path, text, says):
    assert says in build(tmp_path, text)[1]


def test_other_builders_write_the_words(tmp_path):
    path, warnings, _ = build(tmp_path, quiz("ch01.minus-sixth"), "text")
    assert warnings == ""
    assert "Which angle?" in path.read_text(encoding="utf-8")


def test_a_settled_prediction_keeps_its_answer_in_the_text(settled_page):
    text = settled_page.read_text(encoding="utf-8")
    form = re.search(r'<form [^>]*id="quiz-ch01-turn".*?</form>', text, re.DOTALL)[0]
    assert "The answer" not in form
    assert "says it" not in form
    assert 'href="#settled-ch01-turn"' in form
    box = text[text.index('id="settled-ch01-turn"') : text.index('id="settled-ch01-dozen"')]
    assert 'href="#quiz-ch01-turn"' in box
    plain = " ".join(html.unescape(re.sub(r"<[^>]+>", "", box)).split())
    assert r"The answer is B: to the \(x\) axis. The sign says it." in plain


def test_feedback_is_hidden_until_it_is_needed(settled_page):
    text = settled_page.read_text(encoding="utf-8")
    told = re.findall(r"<div ([^>]*data-for=[^>]*)>", text)
    assert len(told) == 6
    assert all("hidden" in attributes for attributes in told)
    assert f'data-for="{-math.pi / 6!r}"' in text
    assert r"\(R_{-7}\)" in text


def test_other_builders_leave_out_what_only_a_script_shows(tmp_path):
    page = quiz("ch01.turn") + "\n\n" + settled("ch01.turn")
    path, warnings, _ = build(tmp_path, page, "text")
    assert warnings == ""
    text = path.read_text(encoding="utf-8")
    assert "Which way?" in text
    assert "says it" in text
    assert "It turns." not in text
    assert "I commit" not in text


# --- in a browser ---


@contextmanager
def opened(browser, page, **how):
    """The page in a tab; nothing may go wrong in it, and nothing may be asked of the network."""
    context = browser.new_context(**how)
    context.set_default_timeout(15_000)
    tab = context.new_page()
    errors = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("request", lambda request: errors.append(request.url) if not request.url.startswith("file:") else None)
    tab.goto(page.as_uri())
    yield tab
    context.close()
    assert errors == []


@pytest.fixture
def tab(browser, page):
    with opened(browser, page) as tab:
        yield tab


@pytest.fixture
def settled_tab(browser, settled_page):
    with opened(browser, settled_page) as tab:
        yield tab


class Form:
    """A form as a reader meets it."""

    def __init__(self, tab, name):
        name = name.replace(".", "-")
        self.form = tab.locator(f"#quiz-{name}")
        self.box = tab.locator(f"#settled-{name}")
        self.feedback = self.form.locator(".quiz-feedback > div")
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


@pytest.mark.deep
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
    expect(tab.locator(".quiz-progress")).to_contain_text("1 of 6 questions")
    tab.reload()
    expect(form.says).to_have_text("Right, after 3 tries.")
    expect(form.form.locator("input[value=C]")).to_be_checked()
    form.restart()
    tab.reload()
    expect(form.says).to_be_empty()
    expect(tab.locator(".quiz-progress")).to_contain_text("0 of 6 questions")


def test_a_prediction_tells_nothing_before_it_is_committed(tab):
    form = Form(tab, "ch01.shift")
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
    expect(tab.locator(".quiz-progress")).to_contain_text("1 of 6 questions")


@pytest.mark.parametrize(
    ("name", "right", "wrong", "unread"),
    [
        (
            "ch01.one-logit",
            ("0.5", " 1/2 ", "0,5", ".5", "+.50", "5e-1", "0.504", "-1/-2", "0,5000"),
            ("-0.5", "−0,5", "–.5", "0.51", "5.", "0", "2/1", "1/1e400"),
            (
                "",
                "half",
                "1,000",
                "0x1",
                "1/0",
                "0/0",
                "1/2/3",
                "--1",
                "Infinity",
                "NaN",
                "1e400",
                "1_0",
                "١",
                "e",
                "1/",
                "1,5,5",
            ),
        ),
        (
            "ch01.minus-sixth",
            ("-pi/6", "−π/6", "-2 π/12", "-0.5236", "-0.5*pi/3"),
            ("pi/6", "π", "-30", "PI", "3*"),
            ("pi pi", "p", "*"),
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
    read = {text: core.read_number(text) for text in [*right, *wrong, *unread]}  # as the definitions read them
    assert [text for text in read if math.isnan(read[text])] == list(unread)
    assert [text for text in read if core.exercise(name).accepts(read[text])] == list(right)


def test_the_keyboard_is_enough(tab):
    form = Form(tab, "ch01.shift")
    tab.keyboard.press("Tab")
    while "quiz" not in (tab.evaluate("document.activeElement.closest('form')?.className") or ""):
        tab.keyboard.press("Tab")
    for key in ("Space", "ArrowDown", "Enter"):
        tab.keyboard.press(key)
    expect(form.says).to_have_text("You said B. The answer is B, and why stands below.")
    assert tab.evaluate("document.activeElement.matches('#quiz-ch01-shift summary')")


OWN = '{"key": KEY, "tries": %s, "given": "%s", "right": true}'  # of this question, and not written by its form
ODD = ["{", "null", "5", '{"key": "of an older question", "tries": 1, "given": "A"}']


@pytest.mark.deep(keep=3)
@pytest.mark.parametrize("kept", [*ODD, OWN % (1, "constructor"), OWN % (0, "C"), OWN % (1, "C" * 200_000)])
def test_what_was_kept_may_be_odd(tab, kept):
    key = tab.evaluate("JSON.stringify(document.getElementById('quiz-ch01-between').dataset.key)")
    keep = "kept => localStorage.setItem(`${ropeMemory.book}quiz-ch01-between`, kept)"
    tab.evaluate(keep, kept.replace("KEY", key))
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
    with opened(browser, page, java_script_enabled=False) as tab:
        form = Form(tab, "ch01.shift")
        expect(form.form).to_contain_text("walk 1000 positions further")
        expect(form.form.locator("button").first).to_be_hidden()
        expect(form.form.locator(".quiz-plain")).to_contain_text("folded below")
        form.answer.locator("summary").click()
        expect(form.answer).to_contain_text("The answer is B: It stays exactly the same.")
        expect(form.answer.locator("p").last).to_be_visible()


# --- feedback, and predictions that the text settles ---


def shown(form):
    return [text.inner_text().strip() for text in form.feedback.all() if text.is_visible()]


def test_a_foreseen_choice_is_told_why_it_is_wrong(settled_tab):
    form = Form(settled_tab, "ch01.three")
    assert shown(form) == []
    form.choose("C")
    expect(form.says).to_have_text("Not yet. Try once more.")
    assert shown(form) == []
    form.choose("A")
    for _ in range(2):  # and the same after the page is opened again
        expect(form.says).to_have_text("Not yet. A hint stands below.")
        assert shown(form) == [r"Less than \(\tfrac{3}{2}\)."]
        settled_tab.reload()
    form.choose("B")
    assert shown(form) == []
    form.restart()
    assert shown(form) == []
    form.choose("A")
    expect(form.says).to_have_text("Not yet.")


@pytest.mark.deep
def test_a_foreseen_number_is_told_why_it_is_wrong(settled_tab):
    form = Form(settled_tab, "ch01.sixth")
    for given, said in {
        "-pi/6": ["You turned the other way."],
        "-0.5236": ["You turned the other way."],
        "0.53": [],
        "1/2": [r"A half is near \(\pi/6\), and not near enough."],
        "pi/6": [],
    }.items():
        form.type(given)
        assert shown(form) == said, given


def test_a_settled_prediction_is_settled_in_the_text(settled_tab):
    form = Form(settled_tab, "ch01.turn")
    where = form.form.locator(".quiz-where")
    expect(where).to_be_hidden()
    expect(form.box).to_contain_text("You have not committed to an answer yet.")
    expect(form.box.get_by_text("says it")).to_be_hidden()
    form.box.locator("summary").click()
    expect(form.box.get_by_text("says it")).to_be_visible()
    form.choose("C")
    assert settled_tab.evaluate("document.activeElement.matches('#quiz-ch01-turn .quiz-where a')")
    for _ in range(2):
        expect(form.says).to_have_text("You said C: not right.")
        assert shown(form) == ["It turns."]
        expect(form.form.locator("label.quiz-given")).to_contain_text("nowhere")
        expect(form.form.locator("label.quiz-right")).to_have_count(0)
        expect(form.box).to_contain_text("You said C.")
        expect(form.box).to_contain_text("The answer is B")
        expect(form.box.get_by_text("says it")).to_be_visible()
        expect(form.box.locator("summary")).to_be_hidden()
        settled_tab.reload()
    where.get_by_role("link").click()
    expect(form.box).to_be_in_viewport()
    form.restart()
    expect(where).to_be_hidden()
    expect(form.box.get_by_text("says it")).to_be_hidden()
    assert shown(form) == []


def test_a_right_prediction_is_marked(settled_tab):
    form = Form(settled_tab, "ch01.turn")
    form.choose("B")
    expect(form.says).to_have_text("You said B: right.")
    expect(form.form.locator("label.quiz-right")).to_contain_text("axis")
    expect(form.box).to_contain_text("You said B, and that is right.")
    assert shown(form) == []


def test_a_predicted_number_is_settled_too(settled_tab):
    form = Form(settled_tab, "ch01.dozen")
    form.type("13.2")
    expect(form.says).to_have_text("You said 13.2: not right.")
    assert shown(form) == ["That is one too many."]
    expect(form.box).to_contain_text("You said 13.2.")
    expect(form.box).to_contain_text("The answer is 12.")
    form.restart()
    form.type("12.4")
    expect(form.says).to_have_text("You said 12.4: right.")


def test_the_count_stands_after_the_last_exercise(settled_tab):
    expect(settled_tab.locator("div.task + .quiz-progress")).to_contain_text("0 of 4 questions")


def test_until_its_script_has_come_a_box_tells_nothing(settled_tab):
    box = Form(settled_tab, "ch01.turn").box
    box.evaluate("box => { delete box.dataset.state; box.querySelector('details').open = true; }")
    expect(box.get_by_text("says it")).to_be_hidden()


def test_without_javascript_the_text_settles_it(browser, settled_page):
    with opened(browser, settled_page, java_script_enabled=False) as tab:
        form = Form(tab, "ch01.turn")
        expect(form.form.locator(".quiz-plain")).to_have_text("Without JavaScript nothing is checked here.")
        expect(form.form.locator(".quiz-where")).to_be_visible()
        expect(form.box.get_by_text("says it")).to_be_visible()
        expect(form.box.get_by_text("The answer is B")).to_be_visible()
        expect(form.feedback.first).to_be_hidden()


def test_on_paper_the_text_settles_it(settled_tab):
    form = Form(settled_tab, "ch01.turn")
    settled_tab.emulate_media(media="print")
    settled_tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(form.box.get_by_text("says it")).to_be_visible()
    expect(form.box.locator("summary")).to_be_hidden()
    expect(form.feedback.first).to_be_hidden()
    settled_tab.evaluate("dispatchEvent(new Event('afterprint'))")
    settled_tab.emulate_media(media="screen")
    expect(form.box.get_by_text("says it")).to_be_hidden()
