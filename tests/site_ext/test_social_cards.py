"""Cards for links: one for each chapter and its lab, 1200 x 630, small, and none without an address."""

from pathlib import Path
from types import SimpleNamespace

import matplotlib.colors
import matplotlib.image
import numpy as np
import pytest
import social_cards
from docutils import nodes
from matplotlib.backends.backend_agg import FigureCanvasAgg

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


def test_a_card_is_drawn_once_for_all_its_pages(tmp_path, monkeypatch):
    def drawn(path, *_):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(exist_ok=False)

    monkeypatch.setattr(social_cards, "draw", drawn)
    monkeypatch.setattr(social_cards, "first_figure", lambda _: None)
    app = application(tmp_path, "https://name.org/")
    for _ in range(2):
        social_cards.make(app, environment())
        assert set(app.social_cards) == environment().found_docs
        assert {tmp_path / name for name in app.social_cards.values()} == set(tmp_path.rglob("*.png"))
    assert app.social_cards["book/01_one_plane"] == app.social_cards["notebooks/01_one_plane"]


def test_the_cloth_is_paper_where_a_plane_points_forwards_and_ink_where_it_points_backwards():
    shown = []
    axes = SimpleNamespace(imshow=lambda image, **_: shown.append(image), axis=lambda _: None)
    social_cards.cloth(axes, columns=4, planes=2)
    paper, ink = (np.array(matplotlib.colors.to_rgb(name)) for name in (social_cards.PAPER, social_cards.INK))
    assert shown[0].shape == (2, 4, 3)
    assert np.allclose(shown[0][:, 0], paper)
    assert np.allclose(shown[0][0, 3], paper + 0.9 * (1 - np.cos(3)) / 2 * (ink - paper))


@pytest.mark.parametrize("title", ["12. What CRoPE removes", "8. RoPE on values"])
def test_a_title_ends_before_the_picture(title, monkeypatch, tmp_path):
    sheets = []
    monkeypatch.setattr(social_cards.Figure, "savefig", lambda sheet, _: sheets.append(sheet))
    monkeypatch.setattr(social_cards, "imread", lambda _: np.zeros((2, 2, 3)))
    social_cards.draw(tmp_path / "card.png", "Part I. Rotate", title, SimpleNamespace(png=lambda **_: None))
    words = next(text for text in sheets[0].texts if text.get_text().startswith(title[:2]))
    ends = words.get_window_extent(FigureCanvasAgg(sheets[0]).get_renderer()).x1
    assert 400 < ends < 600


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
