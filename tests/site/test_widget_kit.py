"""What the kit promises of every widget, on a page of its own opened from a file."""

import re

import numpy as np
import pytest
from ipywidgets import HTML, FloatProgress, HBox, IntSlider, VBox, jslink
from playwright.sync_api import expect

from rope_lab.chapters.ch00_intro.shift_sentence import ShiftSentence
from rope_lab.chapters.ch01_one_plane.ride import Ride
from rope_lab.chapters.ch01_one_plane.two_hands import TwoHands
from rope_lab.chapters.ch04_relative_identity.proof_stepper import ProofStepper
from rope_lab.chapters.ch05_generators.so4_explorer import So4Explorer
from rope_lab.chapters.ch08_rope_on_values.placement_board import PlacementBoard
from rope_lab.chapters.ch09_one_cache.cache_calculator import CacheCalculator
from rope_lab.chapters.ch10_complex_rnn.impulse_response import ImpulseResponse
from rope_lab.chapters.ch12_what_crope_removes.budget_calculator import BudgetCalculator
from rope_lab.chapters.ch15_crope_tables.table_explorer import TableExplorer
from rope_lab.chapters.ch16_nine_placements.ordering_explorer import OrderingExplorer
from rope_lab.chapters.ch17_which_rope.fingerprint_playground import FingerprintPlayground
from rope_lab.chapters.ch18_precision.bf16_positions import BfPositions
from tests.show.drawn import catalogue, random_state
from tests.site.pages import drawn


def slider(page, name):
    return page.locator(f'input[type=range][data-name="{name}"]')


def reading(page, name):
    return page.locator(f'dd[data-name="{name}"]')


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("width", [390, 1280])
def test_every_widget_starts_and_fits(width, show):
    page = show(*(cls() for cls in catalogue()), viewport={"width": width, "height": 800})
    expect(page.locator(".rope-widget[data-ready=true]")).to_have_count(len(catalogue()))
    expect(page.get_by_role("alert")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = "all => all.filter((e) => e.getBoundingClientRect().height < 32).map((e) => e.outerHTML)"
    held = "input[type=range], button, select, summary, .rope-choice label, .rope-toggle label"
    assert page.locator(f":is({held}):visible").evaluate_all(small) == []
    torn = "all => all.filter((e) => new Set([...e.children].slice(1).map((c) => c.offsetTop)).size > 1)"
    rows = page.locator(".rope-choice:not(.rope-grid):visible").evaluate_all(f"{torn}.map((e) => e.outerHTML)")
    assert rows == []
    for board in page.locator(".rope-board").all():  # its cells fill their places
        cells = board.get_by_role("button").evaluate_all("all => all.map((e) => Math.round(e.offsetWidth))")
        assert max(cells) - min(cells) <= 1
        assert min(cells) > board.evaluate("e => e.offsetWidth") / 5
    assert unnamed(page) == []


@pytest.mark.deep
def test_shifting_both_leaves_the_logit_and_moving_one_does_not(show):
    page = show(TwoHands(m=2, n=7))
    before = reading(page, "logit").inner_text()
    for _ in range(4):
        slider(page, "shift").press("ArrowRight")
    expect(slider(page, "shift")).to_have_value("4")
    expect(page.locator("svg text", has_text="R6q")).to_be_visible()
    expect(reading(page, "logit")).to_have_text(before)
    slider(page, "n").press("ArrowRight")
    expect(reading(page, "offset")).to_have_text("6")
    expect(reading(page, "logit")).not_to_have_text(before)
    assert slider(page, "n").get_attribute("aria-valuetext") == "8"
    logit = TwoHands.compute(TwoHands(m=2, n=8, shift=4).state())["logit"]
    expect(page.locator("[aria-live=polite]")).to_have_text(f"Query at 6, key at 12, offset 6, logit {logit:.3f}")


def test_a_hand_follows_the_pointer_and_its_sliders_follow_the_hand(show):
    page = show(TwoHands(m=0, n=0))
    grip = page.locator("[data-drag=q]").bounding_box()
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    page.mouse.move(grip["x"] - 60, grip["y"] - 10, steps=5)
    page.mouse.up()
    moved = page.locator("[data-drag=q]").bounding_box()
    assert abs(moved["x"] + moved["width"] / 2 - grip["x"] + 60) < 2
    assert float(slider(page, "q_angle").input_value()) > 1.0
    page.mouse.move(0, 0)
    assert page.locator("[data-drag=q]").bounding_box() == moved


@pytest.mark.deep
def test_motion_eases_unless_the_reader_wants_none(show):
    for reduced, still in (("reduce", True), ("no-preference", False)):
        page = show(TwoHands(m=0, n=0, k_angle=0.0, q_angle=0.0), reduced_motion=reduced, paused=True)
        assert page.locator(".rope-play").count() == (not still)
        page.evaluate("""() => {
          window.readings = new Set();
          const logit = document.querySelector("dd[data-name=logit]");
          const watch = () => { readings.add(logit.textContent); requestAnimationFrame(watch); };
          watch();
        }""")
        slider(page, "n").press("End")
        page.clock.run_for(700)
        assert (page.evaluate("readings.size") == 2) is still


@pytest.mark.parametrize("button", ["Pause", "Reset"])
def test_walking_stops_at_the_end_and_when_a_button_is_pressed(show, button):
    page = show(TwoHands(shift=22), reduced_motion="no-preference", paused=True)
    walk = page.get_by_role("button", name="Walk both along")
    walk.click()
    page.clock.run_for(2000)
    expect(slider(page, "shift")).to_have_value("24")
    expect(walk).to_have_text("Walk both along")
    walk.click()
    page.clock.run_for(200)
    page.get_by_role("button", name=button).click()
    page.clock.run_for(2000)
    assert int(slider(page, "shift").input_value()) < 24


def test_a_walk_says_pause_while_it_runs_and_can_be_paused(show):
    page = show(TwoHands(), reduced_motion="no-preference", paused=True)
    page.get_by_role("button", name="Walk both along").click()
    pause = page.get_by_role("button", name="Pause")
    expect(pause).to_be_visible()
    page.clock.run_for(1000)
    expect(slider(page, "shift")).not_to_have_value("0")
    pause.click()
    expect(pause).to_have_count(0)
    page.clock.run_for(50)
    held = slider(page, "shift").input_value()  # the last step of the walk is drawn by now
    page.clock.run_for(1000)
    assert slider(page, "shift").input_value() == held


def test_who_wants_no_motion_walks_step_by_step(show):
    page = show(TwoHands(shift=23))
    step = page.get_by_role("button", name="Walk both along: one step")
    for value in ("24", "0", "1"):
        step.press("Enter")
        expect(slider(page, "shift")).to_have_value(value)


@pytest.mark.deep
def test_a_logarithmic_slider_walks_by_factors_and_its_arrows_by_one(show):
    page = show(BfPositions(n=1), reduced_motion="no-preference", paused=True)
    where, reach = slider(page, "n"), BfPositions().traits()["n"].max
    expect(where).to_have_attribute("aria-valuetext", "1")
    # 3 + 1 is doubled: 0 has a place on the track
    for key, value in (("ArrowRight", "2"), ("ArrowRight", "3"), ("PageUp", "7"), ("End", f"{reach:,.0f}")):
        where.press(key)
        page.clock.run_for(50)
        expect(where).to_have_attribute("aria-valuetext", value)
    page.get_by_role("button", name="Walk").click()
    page.clock.run_for(4000)
    place, n = float(where.input_value()), int(where.get_attribute("aria-valuetext").replace(",", ""))
    assert 0.25 < place < 0.99
    assert n == pytest.approx((reach + 1) ** place, rel=0.05)


def test_on_a_phone_the_picture_stays_in_view_and_covers_no_focus(show):
    page = show(So4Explorer(), BfPositions(), viewport={"width": 390, "height": 844})
    pinned = page.locator(".rope-so4_explorer .rope-pinned")
    for control in page.locator(".rope-so4_explorer :is(input[type=range], button):visible").all():
        control.focus()
        picture, own = pinned.bounding_box(), control.bounding_box()
        assert picture["y"] >= 0
        assert picture["height"] < 0.46 * 844
        assert picture["y"] + picture["height"] <= own["y"] < 844
    gone = """picture => {
        scrollTo(0, document.documentElement.scrollHeight);  // again, while the next widget is drawn
        return picture.getBoundingClientRect().bottom < 60;
    }"""
    page.wait_for_function(gone, arg=pinned.element_handle())  # it leaves with its own widget
    wide = show(So4Explorer(), viewport={"width": 1280, "height": 800})
    expect(wide.locator(".rope-pinned")).to_have_css("position", "static")


def test_a_try_shows_its_state_from_wherever_the_reader_is(show):
    widget = TwoHands(m=5)
    tries = 'ui.tries({ "far apart": { n: 16 } }); const strip'
    widget._esm = widget._esm.replace("const strip", tries)
    page = show(widget)
    slider(page, "m").press("End")
    page.get_by_role("button", name="Try: far apart").click()
    expect(slider(page, "n")).to_have_value("16")
    expect(slider(page, "m")).to_have_value("5")


LABELS = {
    "query": r"\bquer(y|ies)\b|\bq\b",
    "key": r"\bkeys?\b|\bk\b",
    "value": r"\bvalues?\b",
    "output": r"\boutputs?\b",
}


def unnamed(page) -> list[str]:
    """Widgets that draw in a reserved colour and do not name, where a reader sees it, what has that colour."""
    found = []
    for root in page.locator(".rope-widget .rope").all():
        words = root.evaluate(
            "e => [...e.querySelectorAll('*')].map((n) => [...n.childNodes].filter((c) =>"
            " c.nodeType === 3).map((c) => c.data).join('')).join(' ')"
        )
        for role, name in LABELS.items():
            if root.locator(f".{role}").count() and not re.search(name, words, re.IGNORECASE):
                found.append(f"{root.get_attribute('aria-label')}: {role}")
    return found


@pytest.mark.deep
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.deep)])
def test_the_colours_of_query_key_value_and_output_are_for_those_alone(seed, show):
    widgets = [cls(**random_state(cls, np.random.default_rng(seed))) for cls in catalogue()]
    assert unnamed(show(*widgets)) == []


def test_control_a_borrowed_colour_is_found(show):
    widget = So4Explorer()
    widget._esm = widget._esm.replace('"small one"', '"small output"')
    page = show(widget)
    expect(page.locator(".rope .output").first).to_be_attached()
    assert unnamed(page) == [f"{So4Explorer.title}: output"]


def test_reset_restores_the_state_that_the_page_gave(show):
    page = show(TwoHands(m=5, n=9))
    slider(page, "m").press("End")
    expect(slider(page, "m")).to_have_value("16")
    page.get_by_role("button", name="Reset").click()
    expect(slider(page, "m")).to_have_value("5")
    expect(slider(page, "n")).to_have_value("9")


@pytest.mark.deep
def test_link_holds_the_state_of_several_widgets(show):
    page = show(TwoHands(), ShiftSentence(), TwoHands(), after="#two_hands=m:11")
    expect(slider(page, "m").first).to_have_value("11")
    expect(slider(page, "m").last).to_have_value("2")
    slider(page, "n").last.press("End")
    slider(page, "shift").nth(1).press("ArrowRight")
    for button in page.locator(".rope-tools button:last-child").all():
        button.click()
        expect(button).to_have_text(re.compile("Link (copied|is in the address bar)"))
    fragment = page.evaluate("location.hash")
    assert sorted(fragment[1:].split("&")) == ["shift_sentence=shift:1", "two_hands-2=n:16", "two_hands=m:11"]
    again = show(TwoHands(), ShiftSentence(), TwoHands(), after=fragment)
    expect(slider(again, "m").first).to_have_value("11")
    expect(slider(again, "n").last).to_have_value("16")
    expect(slider(again, "shift").nth(1)).to_have_value("1")


def test_a_broken_link_changes_nothing(show):
    page = show(TwoHands(), after="#two_hands=m:x")
    for bad in ("m:", "m:NaN;n:1e999", "nonsense:3", "mode:4", "m", "__proto__:3", "%E0%A4%A", "shift:;"):
        page.evaluate(
            """(bad) => new Promise((heard) => {
              addEventListener("hashchange", heard, { once: true });  // after the widget, which listens for longer
              location.hash = `two_hands=${bad}`;
            })""",
            bad,
        )
        drawn(page)
        expect(slider(page, "m")).to_have_value("2")
        expect(slider(page, "n")).to_have_value("7")


def test_a_link_is_held_to_the_range_and_the_steps(show):
    page = show(TwoHands(), after="#two_hands=m:99;n:-5;shift:3.4;theta:0.123")
    for name, held in (("m", "16"), ("n", "0"), ("shift", "3"), ("theta", "0.12")):
        expect(slider(page, name)).to_have_value(held)


def test_arrow_keys_stay_in_the_widget_and_shortcuts_leave_it(show):
    page = show(TwoHands())
    page.evaluate("window.keys = []; document.addEventListener('keydown', (e) => keys.push(e.key))")
    slider(page, "m").press("ArrowRight")
    slider(page, "m").press("Control+s")
    assert page.evaluate("keys") == ["Control", "s"]


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("function drawStrip(", "function drawSlip(", "The interactive figure stopped: drawStrip is not defined"),
        ("function build(ui) {", "function build(ui) { throw new Error('no ink');", "could not start: no ink"),
        ("export function compute", "export function compute(", "The interactive figure could not start: "),
    ],
)
def test_a_widget_that_throws_shows_why(right, wrong, says, show):
    widget = TwoHands()
    assert right in widget._esm
    widget._esm = widget._esm.replace(right, wrong)
    page = show(widget, complains=True)
    expect(page.get_by_role("alert")).to_contain_text(says)


def test_a_control_that_needs_python_says_so(show):
    page = show(IntSlider(), VBox([TwoHands(), IntSlider()]))
    expect(page.locator(".rope-needs-python")).to_have_count(2)
    expect(slider(page, "m")).to_be_visible()


@pytest.mark.deep
def test_a_progress_bar_is_no_control(show):
    bar = HBox([HTML("100%"), FloatProgress(80, max=80), HTML("80/80")])  # as tqdm puts it together
    page = show(bar, IntSlider())
    expect(page.locator(".rope-needs-python")).to_have_count(1)
    expect(page.locator(".rope-widget")).to_have_count(1)


def test_linked_widgets_move_together(show):
    one, other = TwoHands(m=3), TwoHands(m=9)
    jslink((one, "m"), (other, "m"))
    page = show(one, other)
    slider(page, "m").first.press("End")
    expect(slider(page, "m").last).to_have_value("16")


def test_steps_stop_at_both_ends_and_keep_the_focus(show):
    widget = TwoHands(m=1)
    steps = 'ui.steps("m", { label: "steps", titles: ["one", "two", "$R_3$"] });'
    widget._esm = widget._esm.replace("const strip", f"{steps} const strip")
    page = show(widget)
    row = page.get_by_role("group", name="steps")
    expect(row).to_contain_text("2 of 3: two")
    forward = row.get_by_role("button", name="Next")
    for _ in range(3):
        forward.press("Enter")
    expect(row).to_contain_text("3 of 3: R3")
    expect(forward).to_have_attribute("aria-disabled", "true")
    expect(forward).to_be_focused()


@pytest.mark.deep
def test_a_cell_of_the_board_is_empty_until_its_placement_is_tried(show):
    page = show(PlacementBoard())
    cells = page.locator(".rope-board button")
    expect(cells).to_have_count(16)
    expect(cells.filter(has_text="?")).to_have_count(16)
    for placement, fate in (("vo", "same"), ("v", "turned"), ("kvo", "weights")):
        cell = page.locator(f"[data-placement={placement}]")
        cell.click()
        expect(cell).to_contain_text("?")  # chosen, not yet tried
        slider(page, "shift").press("ArrowRight")
        expect(cell).to_contain_text(fate)
    expect(cells.filter(has_text="?")).to_have_count(13)
    page.get_by_role("button", name="Reset").click()
    expect(cells.filter(has_text="?")).to_have_count(16)


@pytest.mark.deep
def test_the_calculator_asks_before_it_tells(show):
    page = show(CacheCalculator())
    expect(reading(page, "gqa")).to_have_text("?")
    page.get_by_role("button", name="Show how many").click()
    expect(reading(page, "gqa")).to_have_text("80 texts, 1 GiB each")
    page.get_by_role("button", name="Llama 2 7B").click()
    expect(reading(page, "mha")).to_have_text("20 texts, 4 GiB each")


@pytest.mark.deep
def test_the_texts_that_fit_are_tiles_of_their_true_size(show):
    page = show(CacheCalculator())
    # The boxes of the first scheme's tiles, in pixels of the strip: [how many, width of a whole one, width of a line].
    measure = """() => {
      const find = (what) => document.querySelector(`.rope-cache_calculator ${what}`);
      const pieces = find("path.tiles").getAttribute("d").match(/h[\\d.]+/g);
      const line = Number(find("rect.card").getAttribute("width"));
      const widths = pieces.map((h) => Number(h.slice(1)));
      return [pieces.length, Math.max(...widths), widths.reduce((a, b) => a + b), line];
    }"""
    expect(page.locator(".rope-cache_calculator path.tiles").first).to_be_attached()
    pieces, widest, _, line = page.evaluate(measure)
    assert pieces == 1  # before the answer one text alone lies there
    assert widest == pytest.approx(3 * line / 20 - 1, abs=0.02)
    page.get_by_role("button", name="Show how many").click()
    expect(reading(page, "mha")).to_have_text("20 texts, 4 GiB each")
    _, widest, covered, line = page.evaluate(measure)
    assert covered == pytest.approx(3 * line - 20, abs=0.5)  # 20 texts fill the card, but for a seam each
    slider(page, "log_context").press("End")
    expect(page.locator(".rope-cache_calculator path.wrong")).not_to_have_count(0)  # one text is larger than the card


@pytest.mark.deep
def test_the_proof_shows_hands_and_where_they_part(show):
    page = show(ProofStepper(variant="layouts"))
    hands, ghosts = (page.locator(f".rope-proof_stepper svg path.fill{kind}") for kind in (":not(.wrong)", ".wrong"))
    expect(hands).to_have_count(4)  # two planes of two matrices
    expect(ghosts).to_have_count(0)
    page.get_by_role("button", name="Next").press("Enter")
    expect(ghosts).to_have_count(0)  # the transposed blocks are right
    for _ in range(2):
        page.get_by_role("button", name="Next").press("Enter")
    expect(ghosts).to_have_count(2)  # where the line before had its hands


def test_an_arrow_follows_the_value_step_by_step(show):
    page = show(ImpulseResponse(gamma=0.9, theta=0.5))
    arrow = page.locator(".rope-impulse_response svg line.hand.value")
    x, y = (arrow.get_attribute(name) for name in ("x1", "y1"))
    tips = []
    for step in range(3):
        expect(page.locator("svg text", has_text=f"the value after {step} steps")).to_be_visible()
        tips.append(page.locator(".rope-impulse_response svg path.fill.value").get_attribute("d").split("L")[0][1:])
        slider(page, "n").press("ArrowRight")
    gone = [complex(*(float(a) - float(b) for a, b in zip(tip.split(), (x, y), strict=True))) for tip in tips]
    assert gone[1] / gone[0] == pytest.approx(0.9 * np.exp(0.5j), abs=1e-3)  # the page counts y downwards
    assert gone[2] / gone[1] == pytest.approx(0.9 * np.exp(0.5j), abs=1e-3)


@pytest.mark.deep
def test_the_budget_shows_bars_and_folds_its_shape(show):
    page = show(BudgetCalculator())
    expect(slider(page, "log_width")).to_be_visible()
    expect(slider(page, "vocab")).to_be_hidden()
    grip = page.locator("[data-drag=vocab]").bounding_box()
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    page.mouse.move(grip["x"] + grip["width"] / 2 + 30, grip["y"], steps=4)
    page.mouse.up()
    page.get_by_text("The rest of the model’s shape").click()
    expect(slider(page, "vocab")).to_be_visible()
    assert 0 < int(slider(page, "vocab").input_value()) < 50


@pytest.mark.deep
def test_a_puzzle_has_an_address_and_a_score(show):
    page = show(FingerprintPlayground(), after="?puzzle=17")
    state = FingerprintPlayground(puzzle=17).state()
    setting = FingerprintPlayground.compute(state)["setting"]
    score = page.locator(".rope-fingerprint_playground .rope-score")
    expect(score).to_have_text("Puzzle 17 of 60.")
    for name in ("pairing", "direction", "turning"):
        page.locator(f'.rope-guess input[data-name="guess_{name}"][value="{setting[name]}"]').check()
    reveal = page.get_by_label("show the fingerprint and the settings")
    reveal.check()
    expect(score).to_have_text("Puzzle 17 of 60. Your score: 3 of 3 points.")
    reveal.uncheck()
    page.locator(f'.rope-guess input[data-name="guess_turning"]:not([value="{setting["turning"]}"])').first.check()
    reveal.check()
    expect(score).to_contain_text("3 of 3 points")  # a puzzle counts once
    page.get_by_role("button", name="Another one to guess").click()
    expect(score).not_to_contain_text("Puzzle 17 of")
    page.get_by_role("button", name="Link to this puzzle").click()
    number = score.inner_text().split()[1]
    page.wait_for_function(f"location.search === '?puzzle={number}'")
    expect(score).to_contain_text("3 of 3 points")
    page.get_by_role("button", name="Reset").click()
    expect(score).to_be_hidden()


def test_the_sixty_puzzles_are_sixty():
    settings = [FingerprintPlayground.compute(FingerprintPlayground(puzzle=n).state())["setting"] for n in range(1, 61)]
    assert len({tuple(setting.values()) for setting in settings}) == 60


@pytest.mark.deep
def test_each_row_of_the_table_has_its_verdict_beside_it(show):
    page = show(TableExplorer(margin=0.02))
    ends = {
        "within": "is within ±0.020",
        "worse": "is above 0.020",
        "better": "is below −0.020",
        "open": "reaches across 0.020 or −0.020",
    }
    expect(page.locator(".rope-table_explorer svg text").first).to_be_attached()
    texts = page.locator(".rope-table_explorer svg text").all_text_contents()
    for row in TableExplorer.compute(TableExplorer(margin=0.02).state())["rows"]:
        verdict = texts[texts.index(row["variant"]) + 2]  # the name, the difference, the verdict
        assert verdict == f"the interval {ends[row['verdict']]}"


@pytest.mark.deep
def test_a_reader_moves_a_sentence_of_their_own(show):
    page = show(ShiftSentence(shift=9))
    line = page.get_by_label("your own words")
    line.fill("one two one three")
    shown = page.locator(".rope-shift_sentence .rope-rotated svg text.word")
    expect(shown).to_have_text(["one", "two", "one", "three"])
    expect(reading(page, "rotated")).to_have_text("0.000")
    line.fill("alone")
    expect(shown).to_have_text(["the", "cat", "sat", "on", "the", "mat"])


def test_what_a_finger_holds_is_large_enough(show):
    page = show(TwoHands(), BfPositions(), viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    expect(page.locator(".rope-widget[data-ready=true]")).to_have_count(2)
    held = ":is(input[type=range], .rope-panel button, .rope-choice label, .rope-toggle label):visible"
    heights = page.locator(held).evaluate_all("all => all.map((e) => e.getBoundingClientRect().height)")
    assert min(heights) >= 44


@pytest.mark.deep
def test_two_clocks_show_what_a_cast_does_to_the_word_before(show):
    page = show(BfPositions(n=256))
    logits = page.locator(".rope-bf16_positions svg text", has_text="logit")
    expect(logits).to_have_text(["logit 0.686", "logit 0.686"])
    slider(page, "n").press("ArrowRight")
    expect(logits).to_have_text(["logit 0.686", "logit 1.000"])  # 256 and 257 fall on one position


@pytest.mark.deep
def test_a_reader_orders_the_nine_before_anything_is_shown(show):
    page = show(OrderingExplorer(revealed=False), viewport={"width": 800, "height": 900})
    names = page.locator(".rope-ordering .rope-name")
    expect(names).to_have_text(["K", "NoPE", "O", "Q", "QK", "QKV", "QKVO", "V", "VO"])
    expect(page.get_by_text("as published")).to_be_hidden()
    up = page.get_by_role("button", name="Move QK up")
    for _ in range(3):
        up.press("Enter")
        expect(up).to_be_focused()
    expect(names).to_have_text(["K", "QK", "NoPE", "O", "Q", "QKV", "QKVO", "V", "VO"])
    row, top = (page.locator(f'.rope-ordering li[data-name="{name}"]').bounding_box() for name in ("V", "K"))
    page.mouse.move(row["x"] + 60, row["y"] + row["height"] / 2)
    page.mouse.down()
    page.mouse.move(top["x"] + 60, top["y"] + 2, steps=12)
    page.mouse.up()
    expect(names).to_have_text(["V", "K", "QK", "NoPE", "O", "Q", "QKV", "QKVO", "VO"])
    page.get_by_role("button", name="Show both orders and all pairs").click()
    expect(page.get_by_role("button", name="Move QK up")).to_be_hidden()
    mine = names.all_text_contents()
    far = OrderingExplorer.compute(OrderingExplorer(mine=mine).state())["mine"]
    expect(page.locator(".rope-orders tr").last).to_have_text(f"{far['here']} of 36{far['said']} of 36")
    expect(page.get_by_label("yours")).to_be_visible()
    page.get_by_role("button", name="Reset").click()
    expect(names.first).to_have_text("K")
    expect(page.locator(".rope-orders")).to_be_hidden()


@pytest.mark.deep
def test_a_factor_of_the_formula_turns_what_it_turns(show):
    page = show(Ride(shift=7), viewport={"width": 1000, "height": 900})
    drawn = page.locator(".rope-ride svg > g").first
    ground, riding = page.get_by_label("on the ground"), page.get_by_label("riding on the query")
    scene, words = (page.get_by_role("button", name=f"turns {what}") for what in ("the scene", "each word"))
    before = drawn.inner_html()
    scene.hover()
    expect(riding).to_be_checked()
    expect(page.locator(".rope-ride svg text", has_text="me")).to_have_count(1)
    page.mouse.move(0, 0)
    expect(ground).to_be_checked()
    assert drawn.inner_html() == before
    words.focus()
    page.keyboard.press("Shift+Tab")  # only the keyboard's focus is a question
    expect(riding).to_be_checked()
    page.keyboard.press("Enter")  # it stays
    page.keyboard.press("Tab")
    expect(riding).to_be_checked()
    expect(words).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Tab")
    expect(words).to_have_attribute("aria-pressed", "true")
    expect(scene).to_have_attribute("aria-pressed", "true")


@pytest.mark.deep
def test_a_tapped_word_reads_and_the_query_carries_its_reader_along(show):
    page = show(Ride(), viewport={"width": 390, "height": 900}, has_touch=True)
    page.locator(".rope-ride .hit").nth(4).tap()
    expect(slider(page, "reader")).to_have_value("5")
    page.get_by_label("riding on the query").check()
    expect(page.locator(".rope-ride .rope-verdict")).to_have_text("From the query’s seat there are only offsets.")
    still = reading(page, "hands_moved").inner_text(), page.locator(".rope-ride svg .fill.key").first.get_attribute("d")
    slider(page, "shift").press("End")
    expect(page.locator(".rope-ride .rope-verdict")).to_have_text("From the query’s seat nothing has moved.")
    moved = reading(page, "hands_moved").inner_text(), page.locator(".rope-ride svg .fill.key").first.get_attribute("d")
    assert moved[0] == still[0] == "0.000"
    numbers = [[float(x) for x in re.findall(r"-?\d+\.?\d*", path)] for path in (still[1], moved[1])]
    assert numbers[0] == pytest.approx(numbers[1], abs=1e-6)
    page.get_by_label("forget the transpose").check()
    expect(reading(page, "hands_moved")).not_to_have_text("0.000")
