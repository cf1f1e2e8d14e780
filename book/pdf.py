"""The book as one PDF, from the built site: ``.venv/bin/python -m book.pdf``, after ``make book``.

Chromium opens each page and hands it over as it stands on paper; all of them together are printed as one page, so that
every link between them is a link of the PDF. It is printed twice: the first time tells on which sheet each place of the
contents stands. The labs and the API reference are left out: they are to run, and to look up.
"""

import json
import shutil
import sys
from html import escape
from pathlib import Path
from typing import NamedTuple

import yaml
from playwright.sync_api import Browser, Page, sync_playwright
from pypdf import PdfReader, PdfWriter, apply_configuration

from book import chromium
from book._ext.page_head import book_address

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).parent
PAPER = {"width": 612, "height": 960}  # what A4 leaves between the margins of pdf.css, in CSS pixels
LEFT_OUT = ("notebooks/", "book/api")
IN_EACH = ("Exercises", "Keep", "Further reading", "Code")  # sections that every chapter ends with
LONGEST = 10_000_000  # entries of an array: the tags of the whole book are more than pypdf takes from strangers


class Chapter(NamedTuple):
    """A page of the site on paper."""

    page: str
    html: str
    title: str
    sections: list[dict[str, str]]

    @property
    def id(self) -> str:
        return self.page.replace("/", "-")


Part = tuple[str, list[Chapter]]


def parts_of(toc: dict) -> list[tuple[str, list[str]]]:
    """The parts of the table of contents, with the pages that are printed."""
    parts = [(part["caption"], [entry["file"] for entry in part["chapters"]]) for part in toc["parts"]]
    return [(caption, [page for page in pages if not page.startswith(LEFT_OUT)]) for caption, pages in parts]


def take(browser_page: Page, html: Path, pages: list[str], page: str, address: str) -> tuple[Chapter, dict, list[str]]:
    """One page of the site as a chapter, with the styles of its widgets and the addresses of its style sheets."""
    browser_page.goto((html / f"{page}.html").as_uri())
    browser_page.wait_for_load_state("load")
    browser_page.wait_for_selector(".rope-widget:not([data-ready=true])", state="detached")
    browser_page.evaluate("async () => { await document.fonts.ready }")
    asked = {"page": page, "pages": pages, "address": address}
    made = browser_page.evaluate("asked => bookOnPaper.chapter(asked)", asked)
    chapter = Chapter(page, made["html"], made["title"], made["sections"])
    return chapter, dict(made["styles"]), made["links"]


def each_once(links: list[str]) -> list[str]:
    """The style sheets of all pages, each once: a page links only those that it needs. Ours come last, then paper's."""
    ours = {sheet.name for sheet in (ROOT / "book" / "_static").glob("*.css")}

    def late(link: str) -> tuple[bool, bool]:
        name = link.partition("?")[0].rpartition("/")[2]
        return name == "print.css", name in ours

    return sorted(dict.fromkeys(links), key=late)


def contents(parts: list[Part]) -> str:
    """The table of contents, with one line for the sections that every chapter has; the page numbers come later."""

    def line(to: str, title: str) -> str:
        return f'<a href="#{escape(to)}">{escape(title)}<span data-to="{escape(to)}">000</span></a>'

    blocks = []
    for caption, chapters in parts:
        items = []
        for chapter in chapters:
            own, ends = ([one for one in chapter.sections if (one["title"] in IN_EACH) is end] for end in (False, True))
            inner = "".join(f"<li>{line(one['id'], one['title'])}</li>" for one in own)
            if ends:
                inner += f'<li class="ends">{"".join(line(one["id"], one["title"]) for one in ends)}</li>'
            items.append(f"<li>{line(chapter.id, chapter.title)}<ol>{inner}</ol></li>")
        blocks.append(f'<p class="caption">{escape(caption)}</p><ol>{"".join(items)}</ol>')
    return f'<nav class="book-contents"><h1>Contents</h1>{"".join(blocks)}</nav>'


def book(parts: list[Part], *, title: str, author: str, address: str, styles: dict, links: list[str]) -> str:
    """All chapters on one page, each under the running head of its title."""
    heads = []
    for caption, chapters in parts:
        for chapter in chapters:
            left, right = (json.dumps(text, ensure_ascii=False) for text in (caption, chapter.title))
            font = 'font: 8.5pt "Inter", sans-serif; color: #57606e'
            heads.append(
                f"@page {chapter.id}-sheet {{ @top-left {{ content: {left}; {font} }}"
                f" @top-right {{ content: {right}; {font} }} }}\n#{chapter.id} {{ page: {chapter.id}-sheet }}"
            )
    sheets = "".join(f'<link rel="stylesheet" href="{escape(link)}">' for link in links)
    told = f'<p>The moving book: <a href="{escape(address)}">{escape(address)}</a></p>' if address else ""
    about = "<p>Rotary position embeddings, executed</p>"
    cover = f'<div class="cover"><h1>{escape(title)}</h1>{about}<p>{escape(author)}</p>{told}</div>'
    return (
        f'<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title>{sheets}<style>{''.join(styles.values())}</style>"
        f"<style>{(HERE / 'pdf.css').read_text()}\n{chr(10).join(heads)}</style></head><body>{cover}{contents(parts)}"
        f"{''.join(chapter.html for _, chapters in parts for chapter in chapters)}</body></html>"
    )


def sheets(printed: PdfReader) -> dict[str, int]:
    """The page, counted from 1, of each place that a link leads to."""
    pages = {}
    for name, place in printed.named_destinations.items():
        number = printed.get_destination_page_number(place)
        if number is not None:
            pages[name.lstrip("/")] = number + 1
    return pages


def finish(printed: PdfReader, parts: list[Part], to: Path, *, title: str, author: str) -> None:
    """Write the PDF with its bookmarks: parts, chapters and their sections."""
    with apply_configuration(array_maximum_element_count=LONGEST):
        writer, numbers = PdfWriter(clone_from=printed), sheets(printed)
    for caption, chapters in parts:
        first = numbers[chapters[0].id] - 1
        part = writer.add_outline_item(title=caption, page_number=first)
        for chapter in chapters:
            own = writer.add_outline_item(title=chapter.title, page_number=numbers[chapter.id] - 1, parent=part)
            for section in chapter.sections:
                writer.add_outline_item(title=section["title"], page_number=numbers[section["id"]] - 1, parent=own)
    writer.page_mode = "/UseOutlines"
    writer.add_metadata({"/Title": title, "/Author": author})
    to.parent.mkdir(parents=True, exist_ok=True)
    writer.write(to)


def make(
    browser: Browser, html: Path, to: Path, parts: list[tuple[str, list[str]]], *, title: str, author: str, address: str
) -> None:
    """Print some parts of a built site into one PDF.

    Raises:
        RuntimeError: If something is cut at the edge of the paper.
    """
    pages, scratch = [page for _, own in parts for page in own], html / "_pdf"
    context = browser.new_context(viewport=PAPER, color_scheme="light", reduced_motion="reduce")
    context.set_default_timeout(120_000)
    context.add_init_script(path=HERE / "pdf.js")
    tab, styles, links, printed = context.new_page(), {}, [], []
    for caption, own in parts:
        chapters = []
        for page in own:
            chapter, more, linked = take(tab, html, pages, page, address)
            styles |= more
            links += linked
            chapters.append(chapter)
        printed.append((caption, chapters))
    scratch.mkdir(exist_ok=True)  # within the site, so that its styles and fonts are found
    whole, draft = scratch / "book.html", scratch / "draft.pdf"
    text = book(printed, title=title, author=author, address=address, styles=styles, links=each_once(links))
    whole.write_text(text, encoding="utf-8")
    tab.goto(whole.as_uri())
    tab.emulate_media(media="print", color_scheme="light")
    tab.evaluate("document.fonts.ready")
    if cut := tab.evaluate("bookOnPaper.fit()"):
        raise RuntimeError("expected all to fit on the paper, and these do not: " + "; ".join(cut))
    for _ in range(2):
        tab.pdf(path=draft, prefer_css_page_size=True, print_background=True, tagged=True)
        numbers = {place: str(number) for place, number in sheets(PdfReader(draft)).items()}
        tab.evaluate("numbers => bookOnPaper.number(numbers)", numbers)
    context.close()
    finish(PdfReader(draft), printed, to, title=title, author=author)
    shutil.rmtree(scratch)


def cover(config: dict) -> dict[str, str]:
    """The words of the cover, from ``_config.yml``."""
    address = book_address(config["html"].get("baseurl"))
    return {"title": config["title"], "author": config["author"], "address": address}


def main() -> int:
    html, config = ROOT / "_build" / "html", yaml.safe_load((ROOT / "_config.yml").read_text())
    if not (html / "index.html").exists():
        print(f"expected the built book in {html}: run `make book` first")
        return 1
    to = ROOT / "dist" / "rope-lab.pdf"
    parts = parts_of(yaml.safe_load((ROOT / "_toc.yml").read_text()))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.path(), args=["--no-sandbox"])
        make(browser, html, to, parts, **cover(config))
    print(f"{len(PdfReader(to).pages)} pages, {to.stat().st_size / 1e6:.1f} MB: {to}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
