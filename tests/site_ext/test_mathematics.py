"""Mathematics is typeset in the build: ready in the page, with its words and its TeX, and an error stops the build."""

import json
import re
import unicodedata

import mathematics
import pytest
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont

from tests.site_ext.tiny_book import ROOT, build

PAGE = r"""# One

The query $q_m$, then *the logit $q_m^\top k_n$*. It has a tail, $x<y$: so. A link, [$z$](https://name.org), too.

$$a = \boldsymbol{b} \\ c = \mathbb{R}$$ (two-lines)

\begin{align}
a &= \frac{1}{2}
\end{align}

See {eq}`two-lines`.
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    app, _, warnings = build(folder, PAGE, extensions=["mathematics"])
    assert "MathJax" not in warnings
    return folder / "out", app


@pytest.fixture(scope="module")
def soup(made):
    return BeautifulSoup((made[0] / "book" / "01_one_plane.html").read_text(encoding="utf-8"), "html.parser")


def test_every_formula_is_there_with_glyphs_words_and_tex(soup):
    formulas = soup.select(".math")
    assert [formula["data-tex"] for formula in formulas] == [
        "q_m",
        r"q_m^\top k_n",
        "x<y",
        "z",
        r"\begin{split}a = \boldsymbol{b} \\ c = \mathbb{R}\end{split}",
        r"\begin{align} a &= \frac{1}{2} \end{align}",
    ]
    for formula in formulas:
        assert formula.select("m-c")
        assert formula.select("m-heard > math")
        assert formula.find("m-math")["aria-hidden"] == "true"
    assert formulas[0].math.get_text() == "qm"
    assert [formula.math.get("display") for formula in formulas] == [None] * 4 + ["block"] * 2
    assert "\\" not in soup.get_text()


def test_no_script_for_mathematics_is_loaded_or_shipped(made, soup):
    assert not [script["src"] for script in soup.select("script[src]") if "mathjax" in script["src"].lower()]
    assert not (made[0] / "_static" / "mathjax").exists()


@pytest.fixture(scope="module")
def worn(tmp_path_factory):
    """A function that returns the letters of a formula that wear a colour, each with its role."""
    setter = mathematics.Typesetter(tmp_path_factory.mktemp("kept") / "kept.json", "")

    def worn(tex, letters):
        soup = BeautifulSoup(setter.html(tex, display=False, location=None, letters=letters), "html.parser")
        worn = [(sign(letter), letter["class"][-1]) for letter in soup.select("[class*=rope-]")]
        assert not soup.select("m-heard [class]")
        return worn

    yield worn
    setter.close()


def sign(glyph):
    """The letter that a glyph draws, upright."""
    return unicodedata.normalize("NFKC", chr(int(glyph["class"][0].removeprefix("c"), 16)))


QUERY, KEY, VALUE, OUTPUT = ("q", "rope-query"), ("k", "rope-key"), ("v", "rope-value"), ("o", "rope-output")


@pytest.mark.parametrize(
    ("tex", "letters", "coloured"),
    [
        (r"q_m^\top k_n, o_m = \sum_n a_{mn} v_n", "", [QUERY, KEY, OUTPUT, VALUE]),
        (r"\tilde q_{2i}^\dagger", "", [QUERY]),
        (r"q_t^\top k_t + q_r^\top k_r", "", [QUERY, KEY, QUERY, KEY]),  # what turns, and the rest
        (r"q^\top R k, v, o", "", []),  # bare letters mean other things on many pages
        (r"q^\top R k, v, o", "qk", [QUERY, KEY]),
        (r"q_m v_i", "qk", [QUERY]),  # a page that says which letters means no others
        (r"W_q, \lambda_k, \theta^k, R^{q_m}", "qkvo", []),  # an index is an index
        (r"2\pi + k - 1, k + 2", "qk", []),  # a number
        (r"\operatorname{q}, \mathrm k, \text{k and q}, o(1)", "qk", []),
        (r"\frac{q'}{|k|} \begin{pmatrix} q \\ k \end{pmatrix}", "qk", [QUERY, KEY, QUERY, KEY]),
    ],
)
def test_letters_of_queries_keys_values_and_outputs_wear_their_colours(worn, tex, letters, coloured):
    assert worn(tex, letters) == coloured


@pytest.mark.deep
def test_a_page_says_which_bare_letters_it_means(tmp_path):
    for head, marked in (("", 0), ("---\nmath_letters: qk\n---\n", 2)):
        build(tmp_path, f"{head}# One\n\nThe query $q$, the key $k$.\n", extensions=["mathematics"])
        text = (tmp_path / "out" / "book" / "01_one_plane.html").read_text(encoding="utf-8")
        assert len(re.findall(r'<m-c class="c\w+ I rope-\w+">', text)) == marked


def test_a_number_and_its_reference(soup):
    (block,) = soup.select("#equation-two-lines")
    assert block.select_one(".eqno").get_text().startswith("(1)")
    assert soup.select_one('a[href="#equation-two-lines"]')


def test_a_stop_is_kept_with_the_formula_before_it_and_a_word_is_not(soup):
    assert [kept.get_text() for kept in soup.select(".unbroken")] == ["qm,", "x<y:", "z,"]
    assert soup.select_one(".unbroken > a > .math")


def test_styles_have_the_glyphs_and_the_fonts_that_are_used_and_no_others(made, soup):
    styles = (made[0] / "_static" / "mathematics.css").read_text(encoding="utf-8")
    for glyph in {" ".join(glyph["class"]).partition(" rope-")[0] for glyph in soup.select("m-c[class]")}:
        assert f"m-c.{glyph.replace(' ', '.')}::before" in styles
    assert "m-c.c1D45E.I::before" in styles
    assert "c2135" not in styles  # an aleph
    named = set(re.findall(r'url\("mathematics/([^"]+)"\)', styles))
    shipped = {path.name for path in (made[0] / "_static" / "mathematics").iterdir()}
    assert named == shipped
    assert {"MathJax_Math-Italic.woff", "MathJax_Math-BoldItalic.woff", "MathJax_AMS-Regular.woff"} <= shipped
    assert not [name for name in shipped if "Fraktur" in name]


def test_a_font_has_the_signs_that_are_drawn_and_no_others(made):
    source = mathematics.mathjax() / "output" / "chtml" / "fonts" / "woff-v2" / "MathJax_AMS-Regular.woff"
    whole, made_here = TTFont(source), TTFont(made[0] / "_static" / "mathematics" / source.name)
    assert ord("R") in made_here.getBestCmap()
    assert ord("Z") in whole.getBestCmap()
    assert ord("Z") not in made_here.getBestCmap()
    assert made_here["hhea"].ascent == whole["hhea"].ascent


def test_a_formula_carries_no_style_in_full_and_no_space_to_hear(made):
    text = (made[0] / "book" / "01_one_plane.html").read_text(encoding="utf-8")
    assert 'style="' in text
    assert not re.search(r'<m(?:jx)?-[^>]* style="[^"]*(?:: |; |;"|:0\.)', text)
    assert "MJX-TEX" not in text
    assert not re.search(r"<math>.*?<mspace", text)


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize(
    ("tex", "drawn"),
    [
        ("x_1", '<m-c class="c1D465 I"></m-c><m-script><m-c class="c31"></m-c></m-script>'),
        ("x^{a+1}", '<m-script style="vertical-align:.363em"><m-c class="c1D44E I"></m-c><m-c class="c2B"></m-c>'),
        (
            r"a = \cos x",
            '<m-c class="c3D" space="4"></m-c><m-mi space="4"><m-c class="c63"></m-c>',
        ),  # one space for three
        (
            r"\cos x",
            '<m-c class="c73"></m-c><m-c class="c1D465 I" space="2"></m-c></m-math>',
        ),  # nothing for "applied to"
        (r"x_{\displaystyle y}", '<m-TeXAtom><m-c class="c1D466 I" style="font-size:141.4%"></m-c></m-TeXAtom>'),
        (r"x_{\text{ab}}", '<m-script><m-c class="c61"></m-c><m-c class="c62"></m-c></m-script>'),
    ],
)
def test_no_box_holds_a_glyph_and_does_nothing_else(tmp_path, tex, drawn):
    setter = mathematics.Typesetter(tmp_path / "kept.json", "")
    html = setter.html(tex, display=False, location=None)
    setter.close()
    assert drawn in html
    assert not re.search(r"<m-(?:m[ion]|mtext|mrow|mstyle|msu[bp]|msubsup)>", html)


# Where each glyph stands within its formula; the same formulas, with all their boxes and with none to spare.
PLACES = """() => [...document.querySelectorAll("m-tex")].map((formula) => {
  const { left, top } = formula.getBoundingClientRect();
  return [...formula.querySelectorAll("m-c")].map((glyph) => {
    const box = glyph.getBoundingClientRect();
    return [box.left - left, box.top - top, parseFloat(getComputedStyle(glyph).fontSize)];
  });
})"""
FORMULAS = [
    r"q_m^\top k_n = \alpha_{mn}",
    r"\sum_{i=1}^{d/2} e^{\mathrm i (m-n)\theta_i} + 10^{-3} \le \sqrt{x_1^2 + y}",
    r"\begin{aligned} R_m^{-1} &= R_m^\top \\ \lVert x_{i_j}\rVert &= \tilde x_{\text{half}} \end{aligned}",
    r"\frac{a_1}{\overline{b}^2} \operatorname{Re}\bigl(z_{\displaystyle y}\bigr) \quad W_q",
]


def test_glyphs_stand_where_mathjax_set_them(browser, tmp_path, monkeypatch):
    script = mathematics.SCRIPT.read_text(encoding="utf-8")
    (tmp_path / "whole.js").write_text(
        script.replace("lighten(adaptor.first", "(() => 0)(adaptor.first"), encoding="utf-8"
    )
    rules = (ROOT / "book" / "_static" / "formulas.css").read_text(encoding="utf-8")
    none = rules.replace("m-script", "m-none")

    def places(name, rules):
        setter = mathematics.Typesetter(tmp_path / f"{name}.json", "")
        body = "".join(f"<p>{setter.html(tex, display=False, location=None)}</p>" for tex in FORMULAS)
        (tmp_path / f"{name}.html").write_text(f"<style>{setter.styles()}{rules}</style>{body}", encoding="utf-8")
        setter.close()
        page = browser.new_page()
        page.goto((tmp_path / f"{name}.html").as_uri())
        found = page.evaluate(PLACES)
        page.close()
        return found

    light, control = places("light", rules), places("control", none)
    monkeypatch.setattr(mathematics, "SCRIPT", tmp_path / "whole.js")
    whole = places("whole", none)
    assert '<m-mi class="m-i">' in (tmp_path / "whole.html").read_text(encoding="utf-8")
    assert sum(map(len, whole)) > 60
    for before, after in zip(whole, light, strict=True):
        assert after == [pytest.approx(place, abs=0.05) for place in before]
    assert control != light  # without the rules for what stands in an index


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    ("tex", "why"),
    [
        (r"\frac{1}{", "Missing close brace"),
        (r"\unknown x", r"Undefined control sequence \unknown"),
        (r"\left( x", "left"),
    ],
)
def test_tex_that_cannot_be_read_is_a_warning_with_page_and_line(tmp_path, tex, why):
    _, _, warnings = build(tmp_path, f"# One\n\nWell.\n\nThe ${tex}$ fails.\n", extensions=["mathematics"])
    assert re.search(r"01_one_plane\.md:5: WARNING: MathJax cannot read", warnings)
    assert why in warnings


def test_what_was_typeset_is_kept_unless_the_tools_have_changed(made, monkeypatch, tmp_path):
    kept = made[0].parent / "trees" / "mathematics.json"
    key = json.loads(kept.read_text(encoding="utf-8"))["key"]
    monkeypatch.setattr(mathematics, "NODE", tmp_path / "nowhere")
    same = mathematics.Typesetter(kept, key)
    assert "m-script" in same.html("q_m", display=False, location=None)
    with pytest.raises(FileNotFoundError):
        same.html("q_x", display=False, location=None)
    with pytest.raises(FileNotFoundError):
        mathematics.Typesetter(kept, "another").html("q_m", display=False, location=None)


def test_what_a_cell_printed_as_html_is_typeset(made):
    _, app = made
    app.typesetter.node = None
    context = {"body": r'<p>Hint: <span class="math">\(a &lt; b\)</span>.</p>'}
    mathematics.finish_body(app, "page", "page.html", context, None)
    app.typesetter.close()
    assert 'data-tex="a &lt; b"' in context["body"]
    assert r"\(" not in context["body"]


def test_a_typesetter_that_stops_says_so(monkeypatch, tmp_path):
    (tmp_path / "broken.js").write_text("process.exit(3)")
    monkeypatch.setattr(mathematics, "SCRIPT", tmp_path / "broken.js")
    with pytest.raises(mathematics.ExtensionError, match=r"broken\.js stopped"):
        mathematics.Typesetter(tmp_path / "kept.json", "").html("x", display=False, location=None)
