"""The pictures of the book as files, from the built site: ``make figures``.

Each figure becomes an SVG that needs no style sheet and a PNG on white paper, each widget a PNG as it stands when the
page opens. A table says what each file shows and on which page it stands.
"""

import csv
import io
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml
from playwright.sync_api import Page, sync_playwright

from book import chromium
from book.pdf import LEFT_OUT, ROOT, parts_of
from rope_lab.show import style

# Nothing over a picture, and what is folded is in the book, too.
ALONE = 'header, .bd-header-article, .skip-link, [class^="way-"] { display: none !important }'
OPEN = "document.querySelectorAll('details').forEach(d => { d.open = true })"
NAMED = """e => {
  const words = e.closest('figure')?.querySelector('figcaption') ?? e.querySelector('svg > title')
  const said = words?.textContent ?? e.querySelector('[aria-label]')?.ariaLabel ?? ''
  return said.trim().replace(/#$/, '').replace(/\\s+/g, ' ')
}"""


class Picture(NamedTuple):
    """One picture of a page: the files that show it, by their endings, and what they show."""

    name: str
    page: str
    shows: str
    files: dict[str, bytes]


def standalone(svg: str) -> str:
    """An inline figure as a file: the page's inks become the light colours, its face any without serifs."""
    svg = re.sub(r"var\(--rope-[a-z]+, (#[0-9a-f]{6})\)", r"\1", svg).replace("currentColor", style.LIGHT["ink"])
    return svg.replace("<svg ", '<svg font-family="sans-serif" ', 1)


def pictures(tab: Page, html: Path, page: str) -> Iterator[Picture]:
    """The figures and widgets of a page, in its order."""
    tab.goto((html / f"{page}.html").as_uri())
    tab.wait_for_selector(".rope-widget:not([data-ready=true])", state="detached")
    tab.add_style_tag(content=ALONE)
    tab.evaluate(OPEN)
    for kind, chosen in (("figure", ".rope-svg"), ("widget", ".rope-widget")):
        shown = [one for one in tab.locator(chosen).all() if one.is_visible()]
        for number, one in enumerate(shown, 1):
            files = {".png": one.screenshot(animations="disabled")}
            if kind == "figure":
                files[".svg"] = standalone(one.locator("svg").first.evaluate("e => e.outerHTML")).encode()
            yield Picture(f"{page.rpartition('/')[2]}-{kind}-{number}", page, one.evaluate(NAMED), files)


def make(tab: Page, html: Path, pages: list[str], to: Path) -> int:
    """Write the pictures of these pages into a zip; returns how many there are."""
    listed = io.StringIO()
    table, count = csv.writer(listed, lineterminator="\n"), 0
    table.writerow(("file", "page", "shows"))
    to.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as pack:
        for page in pages:
            for picture in pictures(tab, html, page):
                count += 1
                for ending, content in picture.files.items():
                    pack.writestr(f"rope-lab-figures/{picture.name}{ending}", content)
                    table.writerow((picture.name + ending, picture.page, picture.shows))
        pack.writestr("rope-lab-figures/figures.csv", listed.getvalue())
        pack.write(ROOT / "LICENSE-text", "rope-lab-figures/LICENSE-text")
    return count


def main() -> int:
    html, to = ROOT / "_build" / "html", ROOT / "dist" / "rope-lab-figures.zip"
    if not (html / "index.html").exists():
        print(f"expected the built book in {html}: run `make book` first")
        return 1
    parts = parts_of(yaml.safe_load((ROOT / "_toc.yml").read_text()))
    pages = [page for _, own in parts for page in own if not page.startswith(LEFT_OUT)]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.path(), args=["--no-sandbox"])
        tab = browser.new_page(color_scheme="light", device_scale_factor=2, reduced_motion="reduce")
        count = make(tab, html, pages, to)
    print(f"{count} pictures, {to.stat().st_size / 1e6:.1f} MB: {to}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
