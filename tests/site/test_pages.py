"""Each page of the book in a browser: nothing leaves the machine, nothing fails, nothing is cut off, all is typeset."""

import re
from collections import Counter

import pytest

from tests.site import checks
from tests.site.checks import nothing
from tests.site.pages import MOVED, page_names, visiting

HEAVY = 1_620_000  # bytes of a page, all that a first view loads included; the page of cards is the heaviest
LATER = ("-entries.js", "story-weights.js")  # loaded when a reader opens an entry or moves a knob: the visit does both
VIEW = 'type="application/vnd.jupyter.widget-view+json"'
ELSEWHERE = re.compile(
    r"""<(?:script|img|source|iframe|video|audio|embed)\b[^>]*\b(?:src|srcset)=["'](?:https?:)?//[^"']*"""
    r"""|<link\b(?![^>]*rel="canonical")[^>]*\bhref=["'](?:https?:)?//[^"']*"""
)
ELSEWHERE_CSS = re.compile(r"""(?:@import\s+(?:url\()?|url\()\s*["']?(?:https?:)?//[^"')]*""")


def test_nothing_leaves_the_machine_or_fails_and_the_console_is_quiet(visit):
    nothing(visit.foreign_requests + visit.refused + visit.errors)


def test_no_sideways_scroll(visit):
    nothing(checks.sideways(visit.page))


def test_figures_have_words_that_can_be_read_and_have_room(visit):
    nothing(checks.nameless_figures(visit.page) + checks.small_labels(visit.page) + checks.crowded(visit.page))


def test_a_page_keeps_to_the_scale_of_type_and_to_one_kind_of_box(visit):
    nothing(checks.stray_design(visit.page))


def test_weight(visit, record_property):
    first = visit.page.evaluate("() => window.firstWidgetAt")
    if first is not None and not visit.phone:
        record_property("first widget", (visit.name, visit.size, first / 1000))
    later = sum(size for _, path, size in visit.served() if any(name in path for name in LATER))
    assert visit.size - later <= HEAVY


def test_every_built_page_is_visited(html):
    built = {path.relative_to(html).with_suffix("").as_posix() for path in html.rglob("*.html")}
    built = {name for name in built if not name.startswith("_static/")}  # the theme's templates
    assert built - {*MOVED} == set(page_names())  # what only leads on has tests of its own


def elsewhere(folder) -> list[str]:
    """What a file asks for on another machine, also where no test happens to look."""
    found = []
    for path in sorted(p for p in folder.rglob("*") if p.suffix in (".html", ".css") and p.is_file()):
        pattern = ELSEWHERE_CSS if path.suffix == ".css" else ELSEWHERE
        found += [f"{path.relative_to(folder)}: {match[0]}" for match in pattern.finditer(path.read_text("utf-8"))]
    return found


def test_no_file_names_another_machine(html):
    nothing(elsewhere(html))


def repeated_names(folder) -> list[str]:
    """Names that two places of a page share, drawings aside: a chapter may show one again at its end."""
    found = []
    for path in folder.rglob("*.html"):
        text = re.sub(r"<(svg|script)\b.*?</\1>", "", path.read_text("utf-8"), flags=re.DOTALL)
        names = Counter(re.findall(r'<[^<>]*\sid="([^"]+)"', text))
        found += [f"{path.relative_to(folder)}: {name}" for name, count in names.items() if count > 1]
    return sorted(found)


def test_each_place_of_a_page_has_a_name_of_its_own(html):
    assert repeated_names(html) == ["search.html: search-input"]  # the theme's, which has two fields


def waiting(folder) -> list[str]:
    """Pages whose widgets are not started by a plain script in the head: deferred, it would wait for the whole page."""
    pages = {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*.html")}
    starts = re.compile(r'<script src="[^"]*rope-widgets\.js[^"]*"></script>')
    return sorted(name for name, text in pages.items() if VIEW in text and not starts.search(text.split("</head>")[0]))


def test_a_chapter_has_the_number_of_its_file(html):
    """Sphinx counts the pages of the numbered parts: a chapter left out would shift all that follow."""
    chapters = [path for path in (html / "book").glob("[0-9][0-9]_*.html") if f"book/{path.stem}" not in MOVED]
    numbers = {path.name[:2]: path.read_text("utf-8") for path in chapters}
    assert len(numbers) > 20
    for number, text in numbers.items():
        assert f'<h1><span class="section-number">{int(number)}. </span>' in text
        assert set(re.findall(r'class="eqno">\((\d+)\.', text)) <= {str(int(number))}


def test_widgets_do_not_wait(html):
    assert VIEW in (html / "book" / "01_one_plane.html").read_text("utf-8")
    nothing(waiting(html))


@pytest.mark.parametrize(
    ("name", "prose"),
    [("book/20_cache_surgery", ".threads td:last-child"), ("book/notation", "#attention td:nth-child(3)")],
)
def test_a_table_of_prose_is_read_without_scrolling_sideways_on_a_phone(browser, site, name, prose):
    with visiting(browser, site, name, phone=True, local=True) as visit:
        for cell in visit.page.locator(prose).all():
            box = cell.bounding_box()
            assert box["width"] > 300
            assert box["x"] + box["width"] <= 390


# Controls: each check must speak up on the page that was made wrong, and only there.


def test_control_sound(sound):
    page = sound.page
    nothing(sound.foreign_requests + sound.refused + sound.errors)
    nothing(checks.unset_mathematics(page) + checks.literal_tex(page))
    nothing(checks.sideways(page) + checks.nameless_figures(page))
    nothing(checks.small_labels(page) + checks.crowded(page) + checks.stray_design(page))
    nothing(checks.idle_widgets(page, touch=sound.phone) + checks.silent_forms(page))
    for scheme in ("dark", "light"):
        sound.theme(scheme)
        nothing(checks.serious_to_axe(page))


def test_control_repeated_names(tmp_path):
    (tmp_path / "page.html").write_text(
        '<p id="a"></p><p id="b"></p><svg id="b"></svg><b class="x" id="a"></b>', "utf-8"
    )
    assert repeated_names(tmp_path) == ["page.html: a"]


def test_control_waiting(tmp_path):
    for name, how in (("plain", ""), ("late", 'defer="defer" '), ("none", "")):
        script = f'<script {how}src="../_static/rope-widgets.js?v=1"></script>' if name != "none" else ""
        (tmp_path / f"{name}.html").write_text(f"<head>{script}</head><script {VIEW}>", encoding="utf-8")
    (tmp_path / "bare.html").write_text("<head></head>", encoding="utf-8")
    assert waiting(tmp_path) == ["late.html", "none.html"]


def test_control_requests(planted):
    assert planted.foreign_requests == ["https://elsewhere.example/picture.png"]
    assert any("missing.png" in line for line in planted.refused)


def test_control_weight(planted, html):
    styles = (html / "_static" / "mathematics.css").stat().st_size
    assert planted.size > styles


def test_control_console(planted):
    said = "\n".join(planted.errors)
    assert "planted error" in said
    assert "planted exception" in said


def test_control_mathematics(planted):
    unset = checks.unset_mathematics(planted.page)
    assert [line.split(":")[0] for line in unset] == ["not typeset", "MathJax", "MathJax"]
    (literal,) = checks.literal_tex(planted.page)
    assert "$x^2$" in literal


def test_control_sideways(planted):
    assert len(checks.sideways(planted.page)) == 2
    try:
        planted.page.evaluate("() => document.querySelector('main').classList.add('cut')")
        (cut,) = checks.sideways(planted.page)  # hidden overflow stops the scroll, and the reader too
        assert cut.startswith("cut off")
    finally:
        planted.page.evaluate("() => document.querySelector('main').classList.remove('cut')")


def test_control_figures(planted):
    wordless = checks.nameless_figures(planted.page)
    assert len(wordless) == 3
    assert sum("for the image" in line for line in wordless) == 2


def test_control_labels(planted):
    (small,) = checks.small_labels(planted.page)
    assert small.startswith("7.0 pixels high: half")
    try:
        planted.page.evaluate(FIGURES)
        _, small, both, narrow = checks.small_labels(planted.page)
        assert small.startswith("10.5 pixels high: figure")
        assert both.startswith("drawings 790 and 358 wide in 790")
        assert narrow.startswith("drawings 400 and 0 wide in 790")
    finally:
        planted.page.evaluate("() => document.querySelector('#figures').remove()")


FIGURES = """() => document.querySelector("main").insertAdjacentHTML("beforeend", `
  <div id="figures" style="width: 790px">
  <div class="rope-svg"><svg width="90" height="20"><text y="15" font-size="10.5">figure</text></svg></div>
  <div class="rope-svg"><svg width="790" height="9"></svg><svg width="358" height="9"></svg></div>
  <div class="rope-svg"><svg width="400" height="9"></svg><svg style="display: none"></svg></div></div>`)"""


def test_control_design(planted):
    nothing(checks.stray_design(planted.page))
    try:
        planted.page.evaluate(STRAY)
        small, sizes, shadow, table = checks.stray_design(planted.page)
        assert small.startswith("9.5 pixels high: word")
        assert sizes.startswith("17 sizes of type")
        assert shadow.startswith("a shadow: boxed")
        assert table.startswith("too wide by 20")
    finally:
        planted.page.evaluate("() => document.querySelector('#stray').remove()")


STRAY = """() => document.querySelector("main").insertAdjacentHTML("beforeend", `<div id="stray">
  ${Array.from({ length: 12 }, (_, i) => `<i style="font-size: ${9.5 + 3.3 * i}px">word</i>`).join(" ")}
  <div class="admonition" style="box-shadow: 0 0 2px">boxed</div>
  <div class="pst-scrollable-table-container" style="width: 400px; overflow: auto">
    <div style="width: 420px">cells</div></div></div>`)"""


def test_control_words_without_room(planted):
    assert checks.crowded(planted.page) == ["over each other: 0 with 1 / 2 with 3", "a link alone on its line: Full"]


@pytest.mark.parametrize(
    "line",
    [
        '<script src="https://elsewhere.example/a.js"></script>',
        "<img alt='x' src='//elsewhere.example/a.png'>",
        '<link rel="stylesheet" href="https://elsewhere.example/a.css">',
    ],
)
def test_control_elsewhere(line, tmp_path):
    (tmp_path / "page.html").write_text(f"<a href='https://fine.example'>a link may lead away</a>\n{line}")
    (tmp_path / "style.css").write_text('@import "https://elsewhere.example/b.css"; p { background: url(local.svg) }')
    assert len(elsewhere(tmp_path)) == 2
