"""Folds: what is folded, what stays in view, and what a page may not fold."""

import re

from bs4 import BeautifulSoup

from tests.site_ext.tiny_book import build

PAGE = """# One plane

## Series

Stays in view.

```{fold} Where the **half** comes from.
```

Goes away.

### Below

Goes away too.

## After

:::{fold} What you should see
The same number.
:::

Stands after.

```{prf:theorem}
It holds.
```

```{prf:proof}
:class: fold

{proves}`unsaid.norm` It does.
```

```{prf:proof}
{proves}`unsaid.norm` Seen.
```
"""


def soup(folder):
    return BeautifulSoup((folder / "out" / "book" / "01_one_plane.html").read_text(encoding="utf-8"), "html.parser")


def test_a_fold_takes_the_rest_of_its_section_or_its_own_content(tmp_path):
    app, _, warnings = build(tmp_path, PAGE, extensions=["sphinx_proof", "folds"])
    assert warnings == ""
    page = soup(tmp_path)
    rest, answer, proof, _ = page.select("details.fold")  # and the claims of the page
    assert rest.summary.get_text() == "Where the half comes from."
    assert rest.summary.strong.get_text() == "half"
    assert [p.get_text() for p in rest.select("p")] == ["Goes away.", "Goes away too."]
    assert rest.select_one("section h3")
    assert [p.get_text() for p in answer.select("p")] == ["The same number."]
    assert page.select("details.fold-see") == [answer]
    assert proof.summary.get_text() == "Proof"
    assert proof.select_one("div.proof").get_text().strip() == "It does."
    for seen in ("Stays in view.", "Stands after.", "It holds.", "Proof. Seen."):
        assert page.find("p", string=seen).find_parent("details") is None
    assert "Below" in app.env.tocs["book/01_one_plane"].astext()  # the contents beside the page name it all the same


def test_a_fold_without_content_stands_in_a_section(tmp_path):
    _, _, warnings = build(tmp_path, "# One\n\n- x\n\n  ```{fold} So.\n  ```\n", extensions=["folds"])
    assert "it stands right in one" in warnings


def test_control_without_the_option_a_proof_is_in_view(tmp_path):
    page = re.sub(r":class: fold\n\n", "", PAGE)
    build(tmp_path, page, extensions=["sphinx_proof", "folds"])
    (proof,) = [p for p in soup(tmp_path).select("p") if " ".join(p.get_text().split()) == "Proof. It does."]
    assert proof.find_parent("details") is None
