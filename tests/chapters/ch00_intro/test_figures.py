"""The map of the introduction: every chapter once, and each to the right of what it needs."""

import re
from pathlib import Path

import pytest

from rope_lab.chapters.ch00_intro.figures import NEEDS, PLACES, TOUR, book_map

BOOK = Path(__file__).resolve().parents[3] / "book"
CHAPTERS = {int(page.name[:2]) for page in BOOK.glob("[0-9][0-9]_*.md")}


def wrong_in_map(needs, places):
    """Chapters that are missing, and needs that point backwards."""
    found = [f"{n} is not there" for n in sorted(CHAPTERS - places.keys())]
    return found + [
        f"{n} stands left of {m}" for n, needed in needs.items() for m in needed if places[m][0] >= places[n][0]
    ]


def needs_of_pages():
    """What the heads of the chapters say, without what a needed chapter needs itself."""
    told = {}
    for n in sorted(CHAPTERS):
        (page,) = BOOK.glob(f"{n:02}_*.md")
        said = re.search(r"^:needs: (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        told[n] = set(map(int, said[1].split())) if said else set()
    behind = {}
    for n, needed in told.items():
        behind[n] = needed.union(*(behind[m] for m in needed))
    return {n: tuple(sorted(m for m in told[n] if not any(m in behind[o] for o in told[n]))) for n in told if told[n]}


def test_the_map_says_what_the_chapters_say():
    assert {n: NEEDS[n] for n in sorted(NEEDS)} == needs_of_pages()


def test_every_chapter_is_there_and_right_of_what_it_needs():
    assert wrong_in_map(NEEDS, PLACES) == []
    assert all(set(NEEDS.get(n, ())) <= set(TOUR) for n in TOUR)  # the tour needs nothing outside it
    assert re.findall(r"\*\*An engineer's tour[^\n]*?without", (BOOK / "intro.md").read_text())
    assert "17 needs 3" in str(book_map()._repr_html_())


@pytest.mark.parametrize(
    ("needs", "places", "said"),
    [
        (NEEDS | {2: (17,)}, PLACES, "2 stands left of 17"),
        (NEEDS, {n: place for n, place in PLACES.items() if n != 7} | {7.5: (0, 0)}, "7 is not there"),
    ],
)
def test_control_a_wrong_map(needs, places, said):
    needs = {n: [m for m in needed if m in places] for n, needed in needs.items() if n in places}
    assert said in wrong_in_map(needs, places)
