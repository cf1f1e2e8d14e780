"""When a reader sees the first widget of a page: seconds since the visit began, on a page that was never seen before.

``rope-lab bench first_widget`` needs the built book and Chromium. Every page with a widget is opened from its file in a
fresh context, the pages in turn, `ROUNDS` times. The bar is `LIMIT` seconds, for the median of the slowest page.
"""

import json
import statistics
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright
from rich.table import Table

from benchmarks.harness import ROOT, card, in_a_fresh_process
from book import chromium

ROUNDS = 5
LIMIT = 0.6  # seconds
SEEN = """new MutationObserver((_, self) => {
  if (!document.querySelector(".rope-widget[data-ready]")) return;
  window.firstWidgetAt = performance.now();
  self.disconnect();
}).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-ready"] });"""


def run() -> dict[str, Any]:
    """Measure, in a fresh process, keep the card in benchmarks/cards/first_widget.json and return it."""
    return in_a_fresh_process("benchmarks.first_widget")


def table(card: dict[str, Any]) -> Table:
    """The card as a table, the slowest page first."""
    slowest = card["rows"][0]
    verdict = "within" if slowest["seconds"] <= card["limit"] else "above"
    shown = Table(
        title=f"first widget: median and maximum of {card['rounds']} visits, in seconds",
        caption=f"{slowest['page']} is {verdict} the limit of {card['limit']} s",
        caption_justify="left",
    )
    for name in ("page", "median", "max", "over the limit"):
        shown.add_column(name, justify="left" if name == "page" else "right")
    for row in card["rows"]:
        shown.add_row(row["page"], f"{row['seconds']:.2f}", f"{row['max']:.2f}", f"{row['ratio_to_limit']:.2f}")
    return shown


def visit(browser: Browser, page: Path) -> float:
    """Seconds until the first widget of a page stands there, in a browser that has never seen it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        context.add_init_script(SEEN)
        tab = context.new_page()
        tab.goto(page.as_uri())
        tab.wait_for_function("window.firstWidgetAt")
        return tab.evaluate("window.firstWidgetAt") / 1000
    finally:
        context.close()


def main() -> dict[str, Any]:
    """Measure in this process, which should have been started by `run`."""
    book = ROOT / "_build" / "html" / "book"
    pages = sorted(page for page in book.glob("*.html") if "widget-view+json" in page.read_text(encoding="utf-8"))
    if not pages:
        raise SystemExit(f"expected pages with widgets in {book}, got none; build the book first: make book")
    seconds: dict[str, list[float]] = {page.stem: [] for page in pages}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.path(chromium.WHOLE), args=["--no-sandbox"])
        visit(browser, pages[0])  # the first visit of all starts the browser's own processes
        for _ in range(ROUNDS):
            for page in pages:
                seconds[page.stem].append(visit(browser, page))
        browser.close()
    rows = [
        {
            "page": page,
            "seconds": round(statistics.median(found), 3),
            "max": round(max(found), 3),
            "ratio_to_limit": round(statistics.median(found) / LIMIT, 3),
        }
        for page, found in seconds.items()
    ]
    rows.sort(key=lambda row: -row["seconds"])
    return card("first_widget", packages=("playwright",), limit=LIMIT, rounds=ROUNDS, rows=rows)


if __name__ == "__main__":
    print(json.dumps(main()))
