"""How fast the small model writes in a browser: how long after a knob's change the text stands there, for two lengths.

``rope-lab bench story`` needs the built book and Chromium. The page of the model is opened from its file, and a knob is
changed `ROUNDS` times, for 64 tokens and for 512. The bars are `LEAST` tokens a second, and `LIMIT` seconds for 64.
"""

import json
import statistics
from typing import Any

from playwright.sync_api import Page, sync_playwright
from rich.table import Table

from benchmarks.harness import ROOT, card, in_a_fresh_process
from book import chromium

ROUNDS = 15
LEAST = 500  # tokens a second
LIMIT = 0.3  # seconds
# From the reader's click to the frame in which the altered text is another one.
CHANGE = """(name) => new Promise((done) => {
  const text = document.querySelector(".rope-story .rope-side-altered .rope-words"), before = text.textContent;
  const began = performance.now();
  new MutationObserver((_, self) => {
    if (text.textContent === before) return;
    self.disconnect();
    requestAnimationFrame(() => done((performance.now() - began) / 1000));
  }).observe(text, { childList: true, subtree: true });
  document.querySelector(`.rope-story input[data-name="${name}"]:not(:checked)`).click();
})"""


def run() -> dict[str, Any]:
    """Measure, in a fresh process, keep the card in benchmarks/cards/story.json and return it."""
    return in_a_fresh_process("benchmarks.story")


def table(card: dict[str, Any]) -> Table:
    """The card as a table, one row for each length of the text."""
    shown = Table(
        title=f"the model in the browser: median and maximum of {card['rounds']} changes of a knob, in seconds",
        caption=f"bars: {card['least']} tokens a second, {card['limit']} s for 64 tokens",
        caption_justify="left",
    )
    for name in ("tokens", "median", "max", "tokens a second"):
        shown.add_column(name, justify="right")
    for row in card["rows"]:
        shown.add_row(str(row["tokens"]), f"{row['seconds']:.3f}", f"{row['max']:.3f}", f"{row['per_second']:.0f}")
    return shown


def changes(page: Page, tokens: int) -> list[float]:
    """Seconds of each change, for a text of so many tokens."""
    place = page.locator('.rope-story input[data-name="n_tokens"]')
    place.evaluate("(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }", tokens)
    page.wait_for_timeout(3000)  # the text as trained is written and read meanwhile
    found = []
    for _ in range(ROUNDS):
        found.append(page.evaluate(CHANGE, "pairing"))
        page.wait_for_timeout(700)  # the loss along the text is measured meanwhile
    return found


def main() -> dict[str, Any]:
    """Measure in this process, which should have been started by `run`."""
    place = ROOT / "_build" / "html" / "book" / "small_model.html"
    if not place.exists():
        raise SystemExit(f"expected the page {place}, got none; build the book first: make book")
    rows = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.path(chromium.WHOLE), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(place.as_uri())
        page.get_by_role("button", name="Nothing changes").click()
        page.wait_for_selector(".rope-story[data-done]")
        for tokens in (64, 512):
            seconds = changes(page, tokens)
            median = statistics.median(seconds)
            rows.append(
                {
                    "tokens": tokens,
                    "seconds": round(median, 4),
                    "max": round(max(seconds), 4),
                    "per_second": round(tokens / median),
                }
            )
        browser.close()
    return card("story", packages=("playwright",), least=LEAST, limit=LIMIT, rounds=ROUNDS, rows=rows)


if __name__ == "__main__":
    print(json.dumps(main()))
