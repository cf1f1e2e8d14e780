"""Numbered captions under the pictures of a chapter."""

import pytest
from bs4 import BeautifulSoup

from tests.site_ext.tiny_book import build

CELL = """:::{{container}} cell
```{{raw}} html
<div class="rope-svg"><style></style><svg height="9" width="450" viewBox="0 0 9 9"><title id="t">{}</title></svg></div>
```
:::
"""
PAGE = f"""# One plane

See {{numref}}`fig-one`.

{CELL.format("Which angles &lt; 1 occur")}
{CELL.format("One turn")}
```{{caption}} fig-one
Filled marks *turn*.
```

After.

{CELL.format("Which angles &lt; 1 occur")}
"""
MORE = {"extensions": ["captions"], "numfig": True, "numfig_format": {"figure": "Figure %s"}}


def figures(folder):
    page = (folder / "out" / "book" / "01_one_plane.html").read_text(encoding="utf-8")
    return BeautifulSoup(page, "html.parser").select("figure")


def words(figure):
    for link in figure.select("a.headerlink"):
        link.decompose()
    return " ".join(figure.figcaption.get_text().split())


def test_each_picture_has_one_caption_and_a_number(tmp_path):
    _, _, warnings = build(tmp_path, PAGE, **MORE)
    assert warnings == ""
    first, second, again = figures(tmp_path)
    assert words(first) == "Figure 1 Which angles < 1 occur."
    assert words(second) == "Figure 2 One turn. Filled marks turn."
    assert second.figcaption.em.get_text() == "turn"
    assert all(figure.select_one(".rope-svg svg") for figure in (first, second, again))


def test_a_figure_can_be_referred_to(tmp_path):
    build(tmp_path, PAGE, **MORE)
    second = figures(tmp_path)[1]
    link = second.find_previous("a", string="Figure 2") or second.find_previous(string="Figure 2").find_parent("a")
    assert link["href"] == f"#{second['id']}"


@pytest.mark.parametrize(
    ("width", "says", "beside"),
    [("450", "Short.", True), ("474", "Short.", True), ("475", "Short.", False), ("450", "Long, " * 19, False)],
)
def test_a_short_caption_of_a_narrow_picture_may_stand_beside_it(tmp_path, width, says, beside):
    build(tmp_path, PAGE.replace("Filled marks *turn*.", says).replace('"450"', f'"{width}"'), **MORE)
    _, second, again = figures(tmp_path)
    assert ("beside" in second["class"]) is beside
    assert ("beside" in again["class"]) is (width != "475")


def test_a_picture_shown_again_has_the_number_of_the_first(tmp_path):
    build(tmp_path, PAGE, **MORE)
    first, _, again = figures(tmp_path)
    assert words(again) == "Figure 1 once more: Which angles < 1 occur."
    assert again.figcaption.a["href"] == f"#{first['id']}"
    assert not again.get("id")


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("# One\n\n```{caption} fig-x\nWords.\n```\n", "stands right below a cell that shows a picture"),
        ("# One\n\n```{caption} fig-x\n- a list\n```\n", "holds one paragraph"),
    ],
)
def test_control_a_caption_of_nothing_is_told(tmp_path, page, said):
    _, _, warnings = build(tmp_path, page, **MORE)
    assert said in warnings


def test_control_without_the_extension_there_is_no_caption(tmp_path):
    build(tmp_path, PAGE.replace("{caption} fig-one", "{note}").replace("{numref}", ""), extensions=[])
    assert figures(tmp_path) == []


def test_numbers_outside_the_chapters_begin_anew_on_each_page(tmp_path):
    (book := tmp_path / "source" / "book").mkdir(parents=True)
    names = ["newer_encodings", "01_one_plane"]
    (book.parent / "index.md").write_text(
        "# T\n\n```{toctree}\nbook/" + "\nbook/".join(names) + "\n```", encoding="utf-8"
    )
    for name in names:
        (book / f"{name}.md").write_text(PAGE.replace("fig-one", f"fig-{name}"), encoding="utf-8")
    build(tmp_path, **MORE)
    first, second, again = figures(tmp_path)
    assert [words(first)[:8], words(second)[:8], words(again)[:8]] == ["Figure 1", "Figure 2", "Figure 1"]
    assert second.find_previous(string="Figure 2")
