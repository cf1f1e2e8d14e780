"""Marks under equations: each form is seen, and what is wrong stays wrong when the build is repeated."""

import random
import re

import pytest
from equation_marks import comparisons, print_of

from rope_lab.algebra import rotation
from rope_lab.claims import claim
from tests.site_ext.tiny_book import ROOT, build

FORMS = r"""# One plane

Dollars with a label:

$$
R_m^\top R_n = R_{n-m}
$$ (eq-relative)
{claim}`su19.rot-law` {step}`su19.qk-relative` and prose with an inline mark, {claim}`blog.len2`.

No blank line above:
$$ o_m = \sum_i \alpha_{m,i} v_n $$
{claim}`blog.output-sum`

```{math}
:label: eq-rotation
R = 1
```
{defines}`rotation` more words.

\begin{align*}
x &= r
\end{align*}

{step}`blog.props`

- in a list

  $$ 2 = 2 $$
  {step}`blog.props`

> in a quote
>
> $$ 3 = 3 $$
> {step}`blog.props`

Inline $x$ is not counted.

(notation-rotation)=
## The rotation
"""


def plant(**changes):
    entry = {"locus": "here", "statement": "so", "chapter": 1, "holds": 1, "control": 2}
    claim("book.planted", **entry | changes)(lambda subject: subject == 1)


@pytest.mark.deep
def test_every_form_of_equation_is_seen_and_counted_also_from_the_cache(tmp_path):
    for page in (FORMS, None):  # the second build reads only the ledger's page
        app, told, warnings = build(tmp_path, page, "ch1")
        assert warnings == ""
        assert "equation coverage: 6 of 6 (claim 2, step 3, defines 1)" in told
        assert app.claim_results.found


def test_what_is_wrong_is_told_on_every_build(tmp_path):
    page = """# One

$$ 1 = 1 $$

$$ 2 = 2 $$
Words first, {claim}`blog.props`.

$$ 3 = 3 $$
{claim}`blog.nothing` {step}`blog.nothing` {defines}`nothing`

```{prf:proof}
Of nothing.
```
"""
    for given in (page, None):
        _, told, warnings = build(tmp_path, given, extensions=["sphinx_proof"])
        assert "a proof of nothing" in warnings
        for line in (3, 5):
            assert re.search(rf"01_one_plane.md:{line}: WARNING: equation without a mark: add {{claim}}", warnings)
        assert warnings.count("equation without a mark") == 2
        assert "mark {claim}: no claim 'blog.nothing' in the ledger" in warnings
        assert "mark {step}: no claim 'blog.nothing' in the ledger" in warnings
        assert "no entry of the notation page has the label notation-nothing" in warnings
        assert "equation coverage: 1 of 3" in told


def test_a_marked_claim_that_fails_stops_a_build_that_was_green(tmp_path, monkeypatch):
    page = "# One\n\n$$ 1 = 1 $$\n{claim}`blog.angle`\n\n$$ 2 = 2 $$\n{step}`blog.angle`\n"
    assert build(tmp_path, page, "blog.angle")[2] == ""
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: right(-1 * angle))
    (tmp_path / "claim-results.json").unlink()  # the sources are as they were: only this process is broken
    _, _, warnings = build(tmp_path)
    for kind in ("claim", "step"):
        assert f"mark {{{kind}}}: claim blog.angle fails" in warnings


@pytest.mark.usefixtures("ledger")
def test_a_control_that_passes_stops_the_build(tmp_path):
    plant(control=1)
    _, _, warnings = build(tmp_path, "# One\n\n$$ 1 = 1 $$\n{claim}`book.planted`\n", "book.planted")
    assert "mark {claim}: claim book.planted fails: the check accepts its control" in warnings
    assert "ledger.md:3: WARNING: claim book.planted fails" in warnings


@pytest.mark.usefixtures("ledger")
def test_an_equation_needs_a_check_with_a_control_and_a_sentence_does_not(tmp_path):
    plant(date="2026-01-31", holds=None, control=None)
    page = "# One\n\nRead about {claim}`book.planted`.\n\n$$ 1 = 1 $$\n"
    assert build(tmp_path, page + "{step}`blog.props`", "*.p[rl]*")[2] == ""
    assert "an equation needs a check with a control" in build(tmp_path, page + "{claim}`book.planted`", "*.p[rl]*")[2]


def test_a_verdict_that_changed_is_shown_at_once(tmp_path, ledger):
    page = "# One\n\n$$ 1 = 1 $$\n{claim}`book.planted`\n"
    for changes, words in (({"verdict": "true"}, "true"), ({"verdict": "ambiguous", "correction": "so"}, "ambiguous")):
        ledger.pop("book.planted", None)
        plant(**changes)
        build(tmp_path, page, "book.planted")
        html = (tmp_path / "out" / "book" / "01_one_plane.html").read_text(encoding="utf-8")
        assert f"book.planted</a> · {words} ·" in html
        page = None


FORMULA = re.compile(r"\$\$(.+?)\$\$(?: *\([\w-]+\))?[ ]*\n(?:[> ]*\n)?[> ]*((?:\{\w+\}`[^`]+`\s*)*)", re.DOTALL)
PAGES = sorted(page for page in (ROOT / "book").glob("*.md") if "$$" in page.read_text(encoding="utf-8"))


def formulas(page):
    """The displayed formulas of a page with their marks, as a reader of its source finds them."""
    for tex, marks in FORMULA.findall(page.read_text(encoding="utf-8")):
        found = re.findall(r"\{(claim|step|defines)\}`([^`]+)`", marks)
        yield re.sub(r"^>", "", tex, flags=re.MULTILINE), found


def test_a_sign_that_changed_in_a_formula_is_noticed():
    compared = comparisons(ROOT)
    prints = {page.stem: {print_of(*formula) for formula in formulas(page)} for page in PAGES}
    assert {name: set(known["formulas"].split()) for name, known in compared.items()} == prints  # none is left over
    places = [
        (page, tex, marks, at) for page in PAGES for tex, marks in formulas(page) for at in re.finditer("[+-]", tex)
    ]
    for page, tex, marks, at in random.Random(20).sample(places, 120):
        known = compared[page.stem]["formulas"].split()
        other = tex[: at.start()] + {"+": "-", "-": "+"}[at[0]] + tex[at.end() :]
        assert print_of(other, marks) not in known
