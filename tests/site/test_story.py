"""The small model in a browser: the published text, the logits of its twin, and what a reader can do wrong."""

import base64
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from rope_lab.show.widgets.kit import join
from rope_lab.show.widgets.story import Story, weights
from rope_lab.story import Knobs, load_story, published_text, story_tokenizer
from rope_lab.story import logits as twin
from rope_lab.story.pieces import FIRST
from tests.site import conftest
from tests.site.pages import drawn
from tests.site.test_widget_kit import reading, slider

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "rope_lab" / "show" / "widgets" / "story_model.js"
TOLERANCE = 1e-4
PROMPTS = ["Once upon a time", "Tom and Ann saw a big dog. “Zoë!” said Ann, 日本 😀."]
ALTERED = {
    "as trained": {},
    "shift": {"shift": 100_000},
    "layout": {"layout": "half"},
    "direction": {"direction": -1},
    "base": {"base": 700.0},
    "frozen": {"frozen": (2, 4)},
    "stretch": {"stretch": 0.37, "shift": 5},
    "none": {"none": True},
    "none, scaling": {"none": True, "scaling": "yarn", "factor": 8.0},
    "round_angles bfloat16": {"round_angles": "bfloat16", "shift": 300},
    "round_angles float16": {"round_angles": "float16", "shift": 3000},
    "round_positions bfloat16": {"round_positions": "bfloat16", "shift": 1000},
    "round_positions float16": {"round_positions": "float16", "shift": 5000},
    "linear": {"scaling": "linear", "factor": 4.0},
    "ntk": {"scaling": "ntk", "factor": 4.0},
    "yarn": {"scaling": "yarn", "factor": 4.0},
    "yarn, base 100": {"scaling": "yarn", "factor": 16.0, "base": 100.0},
    "window": {"window": 8},
    "sinks": {"window": 8, "sinks": 4},
    "returned": {"window": 8, "returned": True},
    "sinks, returned": {"window": 8, "sinks": 4, "returned": True, "stretch": 1.5},
}
LOGITS = """async ([script, weights, cases]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { Model, Run, decoded } = await import(url), model = new Model(decoded(weights));
  return cases.map(([knobs, tokens]) => {
    const run = new Run(model, knobs);
    return tokens.map((token) => Array.from(run.step(token)));
  });
}"""
TOKENS = """async ([script, pieces, texts]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const vocabulary = new (await import(url)).Vocabulary(pieces);
  return texts.map((text) => [vocabulary.encode(text), vocabulary.decode(vocabulary.encode(text))]);
}"""


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A folder with the book's loader and the weights beside it."""
    loader = tmp_path / "static" / "rope-widgets.js"
    loader.parent.mkdir()
    shutil.copy(conftest.LOADER, loader)
    monkeypatch.setattr(conftest, "LOADER", loader)
    file = loader.with_name("story-weights.js")
    file.write_text(f'globalThis.ropeStoryWeights = "{base64.b64encode(weights()).decode()}";\n', encoding="utf-8")
    return file


def done(page):
    """Wait until both texts are written and read: a change is drawn in the next frame, and asks for them then."""
    drawn(page)
    page.wait_for_function(
        "() => (({ done, asked }) => done && done === asked)(document.querySelector('.rope-story').dataset)"
    )


def words(page, side):
    return page.locator(f".rope-side-{side} .rope-words")


def ask(page, prompt):
    page.get_by_label("Both texts begin with").fill(prompt)


@pytest.mark.usefixtures("book")
def test_the_text_as_trained_is_the_published_one(show):
    page = show(Story(n_tokens=256, shift=1000))
    words(page, "trained").focus()
    done(page)
    for side in ("trained", "altered"):
        assert words(page, side).text_content().startswith(published_text())
    expect(page.locator(".rope-verdict")).to_have_text("Word for word the same.")


def test_control_another_rotation_writes_another_text(show, book):
    assert book.exists()
    page = show(Story(n_tokens=256, pairing="half"))
    words(page, "trained").focus()
    done(page)
    assert not words(page, "altered").text_content().startswith(published_text()[:50])
    expect(page.locator(".rope-verdict")).to_have_text("They part at word 5 after the prompt.")


@pytest.fixture(scope="module")
def logits(blank):
    """The browser and Python: (script, names of cases) -> the largest difference of any logit."""
    model = load_story(dtype=torch.float64)

    def compare(script, *names):
        cases = [(ALTERED[name], story_tokenizer().encode(prompt)) for name in names for prompt in PROMPTS]
        ours = [twin(model, torch.tensor([ids]), knobs=Knobs(**knobs))[0].numpy() for knobs, ids in cases]
        theirs = blank.evaluate(LOGITS, [script, base64.b64encode(weights()).decode(), cases])
        return max(float(np.abs(np.array(one) - other).max()) for one, other in zip(ours, theirs, strict=True))

    return compare


@pytest.mark.deep
def test_logits_are_those_of_the_twin(logits):
    assert logits(join(SCRIPT), *ALTERED) < TOLERANCE


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize(
    ("right", "wrong", "seen"),
    [
        ("a * c[i] - b * s[i]", "a * c[i] + b * s[i]", "as trained"),
        ("position * knobs.stretch + knobs.shift", "position + knobs.shift", "stretch"),
        ("headDim / (headDim - 2)", "headDim / headDim", "ntk"),
        ("0.1 * Math.log(factor)", "0.1", "yarn"),
        ("rest === 0.5 && down % 2 !== 0", "rest === 0.5", "round_positions bfloat16"),
        ("(this.knobs.sinks + 1) * kv", "kv", "sinks"),
        ("returned ? row : this.at", "this.at", "returned"),
    ],
)
def test_control_wrong_logits_are_reported(right, wrong, seen, logits):
    script = join(SCRIPT)
    assert right in script
    assert logits(script.replace(right, wrong), seen) > TOLERANCE


def test_tokens_are_those_of_the_twin(blank):
    texts = ["", " ", "Once upon a time", "a  b\n\tc", "“Zoë” 日本 😀 ~^`", "\x00é\ufffd", "x" * 700, published_text()]
    pieces = story_tokenizer().pieces[FIRST:]
    for text, (ids, again) in zip(texts, blank.evaluate(TOKENS, [join(SCRIPT), pieces, texts]), strict=True):
        assert ids == story_tokenizer().encode(text)
        assert again == text


def test_nothing_loads_before_the_first_touch(show, book):
    widget = Story(knobs=("pairing",), pairing="half")
    widget.transcribe()
    page = show(widget)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    before = [words(page, side).text_content() for side in ("trained", "altered")]
    assert before[0].startswith(published_text()[:100])
    expect(page.locator(".rope-verdict")).to_have_text("They part at word 5 after the prompt.")
    drawn(page)
    assert asked == []
    page.get_by_label("halves").focus()
    page.keyboard.press("ArrowLeft")
    done(page)
    assert asked == [book.as_uri()]
    expect(page.locator(".rope-verdict")).to_have_text("Word for word the same.")
    page.get_by_label("halves").check()
    done(page)
    assert [words(page, side).text_content() for side in ("trained", "altered")] == before


def test_a_chapter_shows_its_knob_alone(show, book):
    assert book.exists()
    page = show(Story(knobs=("shift",), curve=False))
    expect(page.locator("input")).to_have_count(1)
    expect(page.locator("figure, svg")).to_have_count(0)
    slider(page, "shift").press("End")
    done(page)
    expect(page.locator(".rope-verdict")).to_have_text("Word for word the same.")
    expect(reading(page, "change")).to_have_text(re.compile(r"10−\d+|^0.000$"))


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "The model did not load: the file story-weights.js is missing or damaged; load the page again."),
        ("globalThis.ropeStoryWeights = ", "The model did not load: the file story-weights.js is missing or damaged"),
        ("bytes", "The model did not load: its weights are damaged, for their check sum is"),
    ],
)
def test_a_damaged_file_gets_a_sentence(content, says, show, book):
    if content is None:
        book.unlink()
    else:
        text = book.read_text()
        book.write_text(text.replace("AAAA", "AAAB", 1) if content == "bytes" else content)
    page = show(Story(), complains=True)
    page.get_by_role("button", name="Fine at first").click()
    expect(page.locator(".rope-status")).to_contain_text(says)
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.usefixtures("book")
def test_a_prompt_that_cannot_be_read_gets_a_sentence(show):
    page = show(Story())
    status = page.locator(".rope-status")
    for prompt, says in (
        ("  ", "The prompt is empty: write a word or two for the story to begin with."),
        ("z1" * 400, "The prompt has 802 tokens, and the model was trained on at most 512: shorten it."),
    ):
        ask(page, prompt)
        expect(status).to_have_text(says)
    ask(page, "One day")
    done(page)
    expect(status).to_have_text("")
    assert words(page, "trained").text_content().startswith("One day")


@pytest.mark.usefixtures("book")
def test_bytes_are_shown_as_bytes(show):
    page = show(Story())
    ask(page, "日 and Zoë")
    done(page)
    expect(words(page, "trained").locator(".rope-prompt code")).to_have_text(["E6", "97", "A5", "C3", "AB"])


@pytest.mark.usefixtures("book")
def test_infinite_positions_get_a_sentence(show):
    page = show(Story(shift=90_000))
    page.get_by_text("Rounding").click()
    page.get_by_role("group", name="round the positions to").get_by_label("float16", exact=True).check()
    expect(page.locator(".rope-status")).to_contain_text("float16 ends at 65,504")


@pytest.mark.usefixtures("book")
def test_a_link_carries_the_prompt_and_the_knobs(show):
    prompt = "A “cat”; & a=dog: 100% ~ #1?"
    page = show(Story())
    ask(page, prompt)
    page.get_by_role("button", name="Repeats itself").click()
    done(page)
    page.get_by_role("button", name="Link to this state").click()
    link = page.evaluate("location.hash")
    texts = [words(page, side).text_content() for side in ("trained", "altered")]
    again = show(Story(), after=link)
    done(again)
    expect(again.get_by_label("Both texts begin with")).to_have_value(prompt)
    expect(again.get_by_label("do not turn at all")).to_be_checked()
    assert [words(again, side).text_content() for side in ("trained", "altered")] == texts


@pytest.mark.deep
@pytest.mark.usefixtures("book")
def test_each_symptom_sets_its_knobs_and_names_its_chapter(show):
    page = show(Story())
    symptoms = page.get_by_role("group", name="symptoms").get_by_role("button")
    for i in range(symptoms.count()):
        button = symptoms.nth(i)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(symptoms.and_(page.locator("[aria-pressed=true]"))).to_have_count(1)
        link = page.locator(".rope-says a")
        assert (ROOT / "book" / link.get_attribute("href").replace(".html", ".md")).exists()
        assert f"Chapter {int(link.get_attribute('href')[:2])} " in link.inner_text()
        done(page)
        same = page.locator(".rope-verdict").inner_text() == "Word for word the same."
        assert same == (button.inner_text() == "Nothing changes")


@pytest.mark.usefixtures("book")
def test_draws_repeat_with_their_seed(show):
    page = show(Story(temperature=0.8, shift=17))
    page.get_by_text("Length, temperature, seed").click()
    done(page)
    found = []
    for key in ("ArrowRight", "ArrowLeft", "ArrowRight"):
        slider(page, "seed").press(key)
        done(page)
        found.append(words(page, "trained").text_content())
        assert words(page, "altered").text_content() == found[-1]
    assert found[0] == found[2] != found[1]


@pytest.mark.usefixtures("book")
def test_a_head_can_be_looked_into(show):
    page = show(Story())
    page.get_by_text("Inside one head").click()
    done(page)
    note = page.locator(".rope-more .rope-says")
    expect(note).to_contain_text(" at 12 gives ")
    slider(page, "query").press("Home")
    expect(note).to_have_text("Token 0, “start”, does not see token 11.")
    slider(page, "key").press("Home")
    expect(note).to_have_text("“start” at 0 gives “start” at 0 the weight 1.000.")
    box = page.get_by_role("img", name="Attention of one head").bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + min(box["width"], 380) - 2)
    expect(slider(page, "query")).to_have_value("63")
    expect(note).to_contain_text(" at 63 gives “start” at 0 the weight ")


@pytest.mark.usefixtures("book")
def test_the_page_stays_alive_while_the_model_writes(show):
    # By a clock that goes on by a millisecond whenever somebody looks: how busy the machine is does not matter.
    page = show(Story(n_tokens=256, base=1000))
    page.evaluate("""() => {
      window.pauses = 0;
      let time = performance.now();
      performance.now = () => ++time;
      const send = MessagePort.prototype.postMessage;
      MessagePort.prototype.postMessage = function (...said) {
        pauses += 1;
        return send.apply(this, said);
      };
    }""")
    words(page, "trained").focus()
    done(page)
    # Two texts are written and read, with a look at the clock for each token and a rest after 12 ms.
    assert page.evaluate("pauses") > 4 * 256 / 20
