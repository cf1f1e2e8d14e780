"""On the chapters of the built book: every static picture has a caption with its number, and the numbers count."""

import re

import pytest
from bs4 import BeautifulSoup

from tests.site.pages import page_names

CHAPTERS = [name for name in page_names() if re.fullmatch(r"book/\d\d_\w+", name)]


def wrong_in_captions(text: str, chapter: int) -> list[str]:
    """Pictures without a caption, and numbers that do not count from 1."""
    page = BeautifulSoup(re.sub("(?s)<(m-tex|svg|script)\\b.*?</\\1>", "", text), "html.parser")
    framed = [picture.find_parent("figure") for picture in page.select("div.rope-svg")]
    found = [f"picture {n} has no caption" for n, one in enumerate(framed, 1) if not (one and one.figcaption)]
    numbers = [number.get_text().strip() for number in page.select("figcaption .caption-number")]
    wanted = [f"Figure {chapter}.{n}" for n in range(1, len(numbers) + 1)]
    return found + ([] if numbers == wanted else [f"the numbers are {', '.join(numbers)}"])


@pytest.mark.deep(keep=12)
@pytest.mark.parametrize("name", CHAPTERS)
def test_every_picture_has_a_numbered_caption(html, name):
    text = (html / f"{name}.html").read_text(encoding="utf-8")
    assert 'class="rope-svg"' in text
    assert wrong_in_captions(text, int(name[5:7])) == []


def test_control_a_bare_picture_and_a_wrong_number_are_seen():
    bare = '<div class="rope-svg"></div>'
    framed = f'<figure>{bare}<figcaption><span class="caption-number">Figure {{}} </span></figcaption></figure>'
    assert wrong_in_captions(framed.format("2.1"), 2) == []
    assert wrong_in_captions(bare, 2) == ["picture 1 has no caption"]
    assert wrong_in_captions(framed.format("1"), 2) == ["the numbers are Figure 1"]
