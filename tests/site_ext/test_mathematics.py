"""Mathematics is typeset in the build: ready in the page, with its words and its TeX, and an error stops the build."""

import json
import re

import mathematics
import pytest
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont

from tests.site_ext.tiny_book import build

PAGE = r"""# One

The query $q_m$, then *the logit $q_m^\top k_n$*. It has a tail, $x<y$: so.

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
        r"\begin{split}a = \boldsymbol{b} \\ c = \mathbb{R}\end{split}",
        r"\begin{align} a &= \frac{1}{2} \end{align}",
    ]
    for formula in formulas:
        assert formula.select("m-c")
        assert formula.select("m-heard > math")
        assert formula.find("mjx-math")["aria-hidden"] == "true"
    assert formulas[0].math.get_text() == "qm"
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
        marked = soup.select("m-heard mi[class]")
        assert len(marked) == len(soup.select("m-mi[class*=rope-]"))
        return [(letter.get_text(), letter["class"][0]) for letter in marked]

    yield worn
    setter.close()


QUERY, KEY, VALUE, OUTPUT = ("q", "rope-query"), ("k", "rope-key"), ("v", "rope-value"), ("o", "rope-output")


@pytest.mark.parametrize(
    ("tex", "letters", "coloured"),
    [
        (r"q_m^\top k_n, o_m = \sum_n a_{mn} v_n", "", [QUERY, KEY, OUTPUT, VALUE]),
        (r"\tilde q_{2i}^\dagger", "", [QUERY]),
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


def test_a_page_says_which_bare_letters_it_means(tmp_path):
    for head, marked in (("", 0), ("---\nmath_letters: qk\n---\n", 2)):
        build(tmp_path, f"{head}# One\n\nThe query $q$, the key $k$.\n", extensions=["mathematics"])
        text = (tmp_path / "out" / "book" / "01_one_plane.html").read_text(encoding="utf-8")
        assert len(re.findall(r'<mi class="rope-\w+">', text)) == marked


def test_a_number_and_its_reference(soup):
    (block,) = soup.select("#equation-two-lines")
    assert block.select_one(".eqno").get_text().startswith("(1)")
    assert soup.select_one('a[href="#equation-two-lines"]')


def test_a_stop_is_kept_with_the_formula_before_it_and_a_word_is_not(soup):
    assert [kept.get_text() for kept in soup.select(".unbroken")] == ["qm,", "x<y:"]


def test_styles_have_the_glyphs_and_the_fonts_that_are_used_and_no_others(made, soup):
    styles = (made[0] / "_static" / "mathematics.css").read_text(encoding="utf-8")
    for glyph in {" ".join(glyph["class"]) for glyph in soup.select("m-c[class]")}:
        assert f"m-c.{glyph.replace(' ', '.')}::before" in styles
    assert "mjx-c2135" not in styles  # an aleph
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
    assert "mjx-msub" in same.html("q_m", display=False, location=None)
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
