"""The checks of a visited page: each returns what is wrong, as a list of sentences. An empty list is a pass.

The half that looks from inside the page is ``checks.js``; here is what a reader's hands do.
"""

import re
from collections.abc import Callable

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Error, Locator, Page
from playwright.sync_api import TimeoutError as TooLate

WORD = re.compile(r"\w")
ANSWER_MS = 60_000  # a widget or a form that says nothing for so long does not answer


def nothing(found: list[str]) -> None:
    """Assert that a check found nothing, or show all that it found."""
    assert not found, "\n".join(["", *found])


def asked(check: str) -> Callable[[Page], list[str]]:
    """A check of ``checks.js``, as a function of a page."""
    return lambda page: page.evaluate(f"siteChecks.{check}()")


literal_tex = asked("literalTex")
unset_mathematics = asked("unsetMathematics")
sideways = asked("sideways")
small_labels = asked("smallLabels")
stray_design = asked("strayDesign")
crowded = asked("crowded")
nameless_figures = asked("namelessFigures")
untold_mistakes = asked("untoldMistakes")
unsettled_predictions = asked("unsettledPredictions")


def serious_to_axe(page: Page) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate("siteChecks.seriousToAxe()")


def idle_widgets(page: Page, *, touch: bool) -> list[str]:
    """Widgets that did not start, or whose drawing does not answer a key press and a drag."""
    views = page.locator('script[type="application/vnd.jupyter.widget-view+json"]').count()
    widgets = page.locator(".rope-widget").all()
    wrong = [] if len(widgets) == views else [f"{views} widgets in the page, {len(widgets)} on it"]
    for number, widget in enumerate(widgets, 1):
        if widget.get_attribute("data-ready") != "true":
            wrong.append(f"widget {number} did not start: {widget.inner_text()[:200]}")
        elif widget.locator(".rope-hero").count():
            wrong += [f"widget {number} {fault}" for fault in opener_faults(page, widget, touch=touch)]
        elif not widget.locator(".rope-needs-python").count():
            wrong += [f"widget {number} {fault}" for fault in faults(page, widget, touch=touch)]
    return wrong


def opener_faults(page: Page, widget: Locator, *, touch: bool) -> list[str]:
    """What is wrong with the figure of a prediction: it stands still, and moves once the reader has committed."""
    form = widget.locator("xpath=ancestor::form")
    try:
        widget.locator("input:disabled, select:disabled, button:disabled").first.wait_for(timeout=ANSWER_MS)
    except TooLate:
        return ["does not wait for the answer to its question"]
    control = first_control(widget)[0]
    if control is None or control.is_enabled():
        return ["does not wait for the answer to its question"]
    answer(form)
    if not control.is_enabled():
        return ["does not move after the answer to its question"]
    wrong = faults(page, widget, touch=touch)
    form.locator("button[type=reset]").click()
    return wrong if control.is_disabled() else [*wrong, "moves on although its question is open again"]


def answer(form: Locator) -> None:
    """Give a form an answer, right or wrong."""
    field = form.locator("input[name=answer]").first
    if field.get_attribute("type") == "radio":
        field.check(timeout=ANSWER_MS)
    else:
        field.fill("1", timeout=ANSWER_MS)
    form.locator("button[type=submit]").click(timeout=ANSWER_MS)


def faults(page: Page, widget: Locator, *, touch: bool) -> list[str]:
    """What a reader with a keyboard, and then one with a finger or a mouse, would miss."""
    wrong = []
    control, key = first_control(widget)
    if control is None:
        return ["has no control"]
    widget.evaluate(REMEMBER)
    control.focus()
    if key == "ArrowRight" and control.evaluate("c => Number(c.value) + Number(c.step || 1) > Number(c.max)"):
        key = "ArrowLeft"  # it stands at its end
    control.press(key)
    if not changes(widget):
        wrong.append(f"does not answer {key} on {control.evaluate('c => c.outerHTML')[:160]}")
    handle = widget.locator("[data-drag]").first
    if handle.count() and not widget.locator(".rope-hero").count():
        handle.scroll_into_view_if_needed()
        widget.evaluate(REMEMBER)
        box = handle.bounding_box()
        (touch_drag if touch else mouse_drag)(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        if not changes(widget):
            wrong.append(f"does not answer a {'finger' if touch else 'mouse'} on its handle")
    said = widget.locator("[aria-live], [role=status], output")
    if not any(live.inner_text().strip() or live.text_content().strip() for live in said.all()):
        wrong.append("announces nothing")
    return wrong


def first_control(widget: Locator) -> tuple[Locator | None, str]:
    for kind, key in (
        ("input[type=range]", "ArrowRight"),
        ("select, input[type=radio]:checked", "ArrowDown"),  # from another one the arrow may lead to the checked one
        ("input[type=radio]", "ArrowDown"),
        ("input[type=checkbox], button", "Space"),
    ):
        control = widget.locator(kind).locator("visible=true").first
        if control.count():
            return control, key
    return None, ""


REMEMBER = "(widget) => { widget.drawnBefore = siteChecks.drawing(widget); }"


def changes(widget: Locator) -> bool:
    """Whether the widget draws something other than what it was told to remember."""
    other = "(widget) => siteChecks.drawing(widget) !== widget.drawnBefore"
    try:
        widget.page.wait_for_function(other, arg=widget.element_handle(), timeout=ANSWER_MS)
    except TooLate:
        return False
    return True


def mouse_drag(page: Page, x: float, y: float) -> None:
    page.mouse.move(x, y)
    page.mouse.down()
    for step in (12, 24, 36):
        page.mouse.move(x - step, y - step / 2)
    page.mouse.up()


def touch_drag(page: Page, x: float, y: float) -> None:
    finger = page.context.new_cdp_session(page)
    for kind, step in (("touchStart", 0), ("touchMove", 12), ("touchMove", 24), ("touchMove", 36), ("touchEnd", None)):
        points = [] if step is None else [{"x": x - step, "y": y - step / 2}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    finger.detach()


def silent_forms(page: Page) -> list[str]:
    """Quiz forms that say nothing to an answer."""
    wrong = []
    for form in page.locator("form.quiz").all():
        name = form.get_attribute("id") or form.evaluate("f => f.outerHTML.slice(0, 80)")
        try:
            answer(form)
            form.locator(".quiz-says").filter(has_text=WORD).first.wait_for(timeout=ANSWER_MS)
        except (TooLate, Error) as error:
            wrong.append(f"{name} does not answer: {str(error).splitlines()[0]}")
    return wrong
