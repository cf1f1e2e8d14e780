"""A figure takes the page's inks, says what it shows, and is the same text each time."""

import html
import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from rope_lab.chapters.ch01_one_plane import figures as one_plane
from rope_lab.show import style, svg


def draw(colour: str | None = None, title: str = "A line") -> svg.Picture:
    with svg.figure(title=title, desc="It rises & falls.") as fig:
        axes = fig.subplots()
        axes.plot([0, 1, 2], [0, 1, 0], **svg.line("query") | ({"color": colour} if colour else {}), marker="o")
        axes.set(xlabel="offset $n-m$", ylabel="logit", title="query")
    return fig.picture


@pytest.mark.parametrize("make", [draw, one_plane.same_offset])
def test_figure_is_a_citizen_of_the_page(make):
    picture = make()
    root = ET.fromstring(picture.svg)
    space = "{http://www.w3.org/2000/svg}"
    assert root.get("role") == "img"
    assert [root.find(space + tag).text for tag in ("title", "desc")] == [picture.title, picture.desc]
    ids = [node.get("id") for node in root.iter() if node.get("id")]
    assert len(ids) == len(set(ids))
    used = re.findall(r'(?:href="|url\()#([^")]+)', picture.svg)
    assert set(used) <= set(ids)
    assert {root.get("aria-labelledby"), root.get("aria-describedby")} <= set(ids)
    assert "font-family" not in picture.svg
    assert "<style" not in picture.svg
    bare = re.sub(r"var\(--rope-[a-z]+, #[0-9a-f]{6}\)", "", picture.svg)
    assert not re.search(r"(?<=: )#[0-9a-f]{6}", bare)


def test_same_drawing_gives_the_same_text_and_another_gives_other_ids():
    assert draw().svg == draw().svg
    ids = [set(re.findall(r' id="([^"]+)"', draw(title=title).svg)) for title in ("One", "Two")]
    assert not ids[0] & ids[1]


def test_words_stay_words_and_mathematics_becomes_outlines():
    text = draw().svg
    assert ">logit</text>" in text
    assert "$" not in text


def test_a_colour_outside_the_palette_is_refused():
    with pytest.raises(ValueError, match=r"expected a colour of style.LIGHT, got #ff00ff"):
        draw("#ff00ff")


@pytest.mark.parametrize("label", ["query", "$R_5q$", "queries"])
def test_a_colour_of_query_names_a_query(label):
    assert "var(--rope-query," in borrow("query", label).svg


@pytest.mark.deep(keep=4)
@pytest.mark.parametrize("role", style.RESERVED)
@pytest.mark.parametrize("label", ["", r"a frequency", r"$\theta_i$"])
def test_a_borrowed_colour_is_refused(role, label):
    with pytest.raises(ValueError, match=f"a label that names the {role}"):
        borrow(role, label)


def borrow(role: str, label: str) -> svg.Picture:
    with svg.figure(title="A line", desc="It rises.") as fig:
        fig.subplots().set_title(label)
        fig.axes[0].plot([0, 1], [0, 1], **svg.line(role))
    return fig.picture


def test_what_plays_says_where_it_comes_from_and_the_picture_is_the_end():
    with svg.figure(title="A hand", desc="It turns.") as fig:
        axes = fig.subplots()
        (hand,) = axes.plot([0, 0], [0, 1], color=style.LIGHT["ink"])
        fig.plays(hand, turn=np.pi / 2, seconds=2)
    picture = fig.picture
    (said,) = re.findall(r'data-plays="([^"]+)"', picture.svg)
    plays = json.loads(html.unescape(said))
    assert (plays["turn"], plays["seconds"]) == (90, 2)
    place = axes.transData.transform((0, 0))
    assert plays["at"] == pytest.approx([place[0], fig.bbox.height - place[1]], abs=0.06)
    assert re.sub(' data-plays="[^"]+"', "", picture.svg).count("<path") == picture.svg.count("<path")
    assert '<button type="button" class="rope-play-once" hidden aria-label="Play: A hand">' in picture._repr_html_()
    assert "<button" not in draw()._repr_html_()


def test_a_figure_of_numbers_is_laid_out_twice_and_has_its_words_once():
    with svg.figure(title="Two lines", desc="They rise.", heights=(2.0, 3.0)) as fig:
        axes = fig.subplots()
        for name, end in (("low, solid", 1.0), ("high", 1.01)):
            axes.plot([0, 1], [0, end], label=name, **svg.line("one"))
        fig.name_lines(axes)
        axes.set_xticks([0, 1], ["left", "right"])
        fig.on_phone = lambda: svg.two_rows(axes)
    wide, narrow = (ET.fromstring(drawn) for drawn in (fig.picture.svg, fig.picture.narrow))
    assert [one.get("width") for one in (wide, narrow)] == ["790", "358"]
    assert wide.get("aria-labelledby") == narrow.get("aria-labelledby")
    shown = fig.picture._repr_html_()
    assert shown.count("They rise.") == 1
    ids = re.findall(r' id="([^"]+)"', shown)
    assert len(ids) == len(set(ids))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["left", "\nright"]  # as on the phone
    assert [name.get_text() for name in axes.texts] == ["low,\nsolid", "high"]
    low, high = (name.get_window_extent() for name in axes.texts)
    assert not low.overlaps(high)
    assert "container" not in draw()._repr_html_()


def test_what_draws_no_group_cannot_play():
    with pytest.raises(ValueError, match="expected one group for move-0, got 0"):
        play_nothing()


def play_nothing() -> None:
    with svg.figure(title="Nothing", desc="Nothing is drawn.") as fig:
        fig.plays(fig.subplots().text(0, 0, ""), appear=True)


def test_a_figure_without_words_is_refused():
    with pytest.raises(ValueError, match="expected a desc in words"):
        svg.Picture(title="A line", desc=" ")


def test_an_unknown_role_is_refused():
    with pytest.raises(ValueError, match="expected one of query, key"):
        svg.line("querry")


def test_picture_shows_inline_with_both_themes_and_as_a_sentence():
    picture = draw()
    assert style.css() in picture._repr_html_()
    assert picture.svg in picture._repr_html_()
    assert repr(picture) == "A line. It rises & falls."


def test_one_plane_says_the_one_logit_that_both_clocks_show():
    picture = one_plane.same_offset(m=2, n=3, shift=11)
    shown = re.findall(r">logit (-?\d\.\d\d)</text>", picture.svg)
    assert len(shown) == 2
    assert len(set(shown)) == 1
    assert shown[0] in picture.desc
