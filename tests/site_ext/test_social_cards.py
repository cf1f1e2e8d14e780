"""Cards for links: one for each chapter and its lab, 1200 x 630, small, and none without an address."""

from pathlib import Path
from types import SimpleNamespace

import matplotlib.image
import pytest
import social_cards
from docutils import nodes

ROOT = Path(__file__).resolve().parents[2]


def environment():
    parts = [SimpleNamespace(caption="I. Rotate", items=["book/01_one_plane"])]
    pages = {"book/01_one_plane": "One plane", "notebooks/01_one_plane": "Lab", "book/ledger": "Ledger"}
    return SimpleNamespace(
        external_site_map=SimpleNamespace(root=SimpleNamespace(subtrees=parts)),
        found_docs=set(pages),
        titles={page: nodes.title("", title) for page, title in pages.items()},
    )


def application(out, address):
    config = SimpleNamespace(html_baseurl=address)
    return SimpleNamespace(outdir=str(out), srcdir=str(ROOT), builder=SimpleNamespace(format="html"), config=config)


def test_a_chapter_and_its_lab_share_a_card():
    found = social_cards.plan(environment())
    assert found["book/01_one_plane"] == found["notebooks/01_one_plane"]
    assert found["book/01_one_plane"] == ("01_one_plane", "Part I. Rotate", "1. One plane")
    assert found["book/ledger"][0] == "book"


@pytest.mark.deep
def test_cards_are_drawn_once_and_named_for_the_pages(tmp_path):
    app = application(tmp_path, "https://name.org/")
    social_cards.make(app, environment())
    assert set(app.social_cards) == environment().found_docs
    paths = {tmp_path / name for name in app.social_cards.values()}
    assert len(paths) == 2
    for path in paths:
        assert matplotlib.image.imread(path).shape[:2] == (630, 1200)
        assert path.stat().st_size < 150_000
    times = {path: path.stat().st_mtime_ns for path in paths}
    social_cards.make(app, environment())
    assert {path: path.stat().st_mtime_ns for path in paths} == times


def test_without_an_address_there_are_none(tmp_path):
    app = application(tmp_path, "")
    social_cards.make(app, environment())
    assert app.social_cards == {}
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "has"), [("01_one_plane", True), ("notation", False)])
def test_a_card_shows_the_first_figure_of_its_chapter(name, has):
    picture = social_cards.first_figure(ROOT / "book" / f"{name}.md")
    assert (picture is not None) is has
