"""The picture that a shared link shows: 1200 x 630 pixels, with the chapter's title and its first figure.

A chapter and its lab share a card; all other pages share that of the book, the tapestry. Cards are drawn when the
book's address is set (page_head.py): without one no page may name its picture. A card that is already there is kept:
its name carries a digest of all that it is made from.
"""

import hashlib
import re
import textwrap
import time
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from chapters import chapters_by_part
from matplotlib.figure import Figure
from matplotlib.image import imread
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

from rope_lab.algebra import frequencies
from rope_lab.show import figures, style
from rope_lab.show.svg import Picture

log = logging.getLogger(__name__)
CHAPTER = re.compile(r"(?:book|notebooks)/((\d\d)_\w+)")
FIGURE = re.compile(r"from rope_lab\.show\.figures import (\w+)")
FOLDER = "_static/cards"
INK, MUTED, PAPER = (style.LIGHT[role] for role in ("ink", "muted", "paper"))


def plan(env: BuildEnvironment) -> dict[str, tuple[str, str, str]]:
    """The name of each page's card, the line above its title, and the title."""
    caption = {page: part for part, pages in chapters_by_part(env).items() for page in pages}
    cards = {}
    for page in sorted(env.found_docs):
        chapter = CHAPTER.fullmatch(page)
        home = f"book/{chapter[1]}" if chapter else ""
        if chapter and home in env.titles:
            title = f"{int(chapter[2])}. {env.titles[home].astext()}"
            cards[page] = (chapter[1], f"Part {caption.get(home, '')}", title)
        else:
            cards[page] = (
                "book",
                "An executable book on rotary position embedding",
                "Where a word stands is an angle.",
            )
    return cards


def first_figure(source: Path) -> Picture | None:
    """The first picture that a chapter shows, if it can be drawn without the chapter."""
    named = FIGURE.search(source.read_text(encoding="utf-8")) if source.exists() else None
    try:
        return getattr(figures, named[1])() if named else None
    except TypeError:  # it shows what the chapter has computed
        return None


def cloth(axes: Any, *, columns: int, planes: int) -> None:
    """The tapestry of the fastest planes of Llama 3: a column for each position, ink where a plane points backwards."""
    theta = frequencies(128, base=500000.0)[:planes]
    ink = (1 - np.cos(np.outer(theta, np.arange(columns)))) / 2
    paper, full = (np.array(mpl.colors.to_rgb(colour)) for colour in (PAPER, INK))
    axes.imshow(paper + ink[..., None] * 0.9 * (full - paper), aspect="auto", interpolation="nearest")
    axes.axis("off")


def draw(path: Path, kicker: str, title: str, picture: Picture | None) -> None:
    """One card."""
    sheet = Figure(figsize=(12, 6.3), dpi=100, facecolor=PAPER)
    lines = textwrap.wrap(title, 15 if picture else 27)
    sheet.text(0.055, 0.885, kicker, color=MUTED, fontsize=19)
    size = 44 if max(map(len, lines)) < 13 or not picture else 37
    sheet.text(0.055, 0.80, "\n".join(lines), color=INK, fontsize=size, weight="bold", va="top", linespacing=1.15)
    if picture:
        cloth(sheet.add_axes((0, 0.13, 1, 0.1)), columns=400, planes=24)
        shown = imread(picture.png(dpi=140))
        axes = sheet.add_axes((0.5, 0.27, 0.455, 0.68))
        axes.imshow(shown)
        axes.axis("off")
    else:
        axes = sheet.add_axes((0, 0.13, 1, 0.4))
        cloth(axes, columns=160, planes=36)
        for at, role in ((44, "query"), (76, "key")):
            axes.axvline(at, color=style.LIGHT[role], lw=4)
    sheet.text(0.055, 0.045, "RoPE Lab", color=INK, fontsize=21, weight="bold")
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.savefig(path)


def make(app: Sphinx, env: BuildEnvironment) -> None:
    """Draw the cards that are not there yet, and tell page_head.py what they are called."""
    app.social_cards = {}  # type: ignore[attr-defined]
    if not app.config.html_baseurl or app.builder.format != "html":
        return
    start, names, drawn = time.monotonic(), {}, 0
    for page, (name, kicker, title) in plan(env).items():
        if name not in names:
            picture = None if name == "book" else first_figure(Path(app.srcdir) / "book" / f"{name}.md")
            made_from = f"{kicker}\n{title}\n{picture.svg if picture else ''}\n{Path(__file__).read_text('utf-8')}"
            names[name] = f"{FOLDER}/{name}-{hashlib.sha256(made_from.encode()).hexdigest()[:8]}.png"
            path = Path(app.outdir) / names[name]
            if not path.exists():
                for old in path.parent.glob(f"{name}-????????.png"):
                    old.unlink()
                draw(path, kicker, title, picture)
                drawn += 1
        app.social_cards[page] = names[name]  # type: ignore[attr-defined]
    log.info("social cards: %d, of them %d drawn now (%.1f s)", len(names), drawn, time.monotonic() - start)


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("env-updated", make)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
