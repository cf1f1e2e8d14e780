"""Cards of what a page refers to: equations and theorems of any chapter, and letters at their first use."""

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from reference_cards import Entry, parts, symbols_of

from tests.site_ext.tiny_book import build

pytestmark = pytest.mark.xdist_group("reference cards")  # two pages, built once

NOTATION = r"""# Notation

```{list-table}
:header-rows: 1

* - Symbol
  - In code
  - Meaning
  - Chapter
* - (notation-rotation)=
    $R_\varphi$
  - `rotation_2d`
  - The turn by $\varphi$.
  - 1
* - (notation-gamma)=
    $\gamma$
  - `gamma`
  - A decay.
  - 8
* - (notation-euler)=
    $\gamma$
  - `euler`
  - Euler's constant.
  - 1; 2
* - (notation-window)=
    $L$
  - `window`
  - The window.
  - 2
```
"""
FIRST = r"""# One plane

The law is {eq}`eq-law`, and {prf:ref}`thm-far` says more. Again {eq}`eq-law`.

$$ R_m^\top R_n = R_{n-m} $$ (eq-law)

$$ 5 = 5 $$ (eq-nobody)

```{toctree}
:hidden:

03_far
notation
```

## A letter $L$

The turn $R_\varphi$ and $\gamma$, $L$ and $R_\varphi$ again.

$$ R = 1 $$
{defines}`rotation`
"""
OTHER = r"""# Far away

See {eq}`eq-law` of chapter 1. The turn $R_\varphi$, a window $L$ and $\gamma$.

```{prf:theorem} Far
:label: thm-far

By {eq}`eq-far`, it holds for {prf:ref}`thm-far` too.

$$ a = b $$ (eq-far)
```
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("references")
    book = folder / "source" / "book"
    book.mkdir(parents=True)
    (book / "notation.md").write_text(NOTATION)
    (book / "03_far.md").write_text(OTHER)
    extensions = ["sphinx_proof", "reference_cards"]
    _, _, warnings = build(folder, FIRST, extensions=extensions, numfig=True, suppress_warnings=["myst.header"])
    wrong = [line for line in warnings.splitlines() if "equation without a mark" not in line]
    assert wrong == []

    def page(name):
        text = (folder / "out" / "book" / f"{name}.html").read_text(encoding="utf-8")
        return BeautifulSoup(text.replace("template", "section"), "html.parser")  # it does not look into a template

    return page("01_one_plane"), page("03_far")


def card(page, anchor):
    return page.select_one(f"section.mark-texts [id='card-{anchor}']")


def test_an_equation_has_its_card_on_every_page_that_refers_to_it(pages):
    here, there = pages
    for page, link in ((here, "#equation-eq-law"), (there, "01_one_plane.html#equation-eq-law")):
        shown = card(page, "equation-eq-law")
        assert r"R_m^\top R_n = R_{n-m}" in shown.get_text()
        assert not shown.select("[id]")
        assert shown.select_one(".mark-more a")["href"] == link
        assert len(page.select("section.mark-texts [id='card-equation-eq-law']")) == 1
    assert card(there, "equation-eq-law").select_one(".mark-more").get_text() == "Go to (1), in “One plane”"


def test_a_page_carries_what_it_refers_to_and_no_more(pages):
    here, there = pages
    assert card(here, "equation-eq-nobody") is None
    assert card(there, "notation-gamma") is None
    assert not here.select(".mark-texts .mark-texts")


def test_a_theorem_has_its_card(pages):
    shown = card(pages[0], "thm-far")
    assert shown.p.get_text() == "Far"
    assert "a = b" in shown.get_text()
    assert shown.select_one(".mark-more a")["href"] == "03_far.html#thm-far"


def test_the_first_use_of_a_letter_leads_to_its_entry(pages):
    here, there = pages
    (turn, euler) = here.select("a.symbol")
    assert turn["href"] == "notation.html#notation-rotation"
    assert turn["aria-label"] == "rotation"  # a formula is no name for a link
    assert euler["href"] == "notation.html#notation-euler"  # that entry names the chapter
    assert card(here, "notation-rotation").select_one("code").get_text() == "rotation_2d"
    assert "The turn by" in card(here, "notation-rotation").get_text()
    (turn,) = there.select("a.symbol")  # a bare letter and one of two meanings: only where their entries say
    assert turn["href"] == "notation.html#notation-rotation"


def test_no_id_is_given_twice(pages):
    for page in pages:
        ids = [tag["id"] for tag in page.select("[id]")]
        assert sorted(ids) == sorted(set(ids))


@pytest.mark.parametrize(
    ("formula", "symbols"),
    [
        (r"\rho_q, \rho_k", [r"\rho_q", r"\rho_k"]),
        ("P = R_0", ["P"]),
        ("R_{x,y}", ["R_{x,y}"]),
        (r"\mathrm{fl}(x)", [r"\mathrm{fl}(x)"]),
    ],
)
def test_the_symbols_of_a_row(formula, symbols):
    assert parts(formula) == symbols


@pytest.mark.parametrize(
    ("chapter", "known"),
    [(1, {}), (2, {"L": 0}), (3, {r"\theta": 1}), (14, {r"\theta": 1, "L": 2}), (15, {r"\theta": 1})],
)
def test_a_letter_with_two_meanings_counts_only_where_an_entry_says_so(chapter, known):
    def entry(anchor, symbol, *chapters):
        return Entry(anchor, [nodes.entry()], frozenset({symbol}), frozenset(chapters))

    entries = [entry("window", "L", 2), entry("frequency", r"\theta", 3), entry("blocks", "L", 14)]
    assert symbols_of(entries, chapter) == {symbol: entries[place] for symbol, place in known.items()}
