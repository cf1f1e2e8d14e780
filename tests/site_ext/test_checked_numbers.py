"""The book's numbers: counted, linked to what they count, and a name that nobody counts is refused."""

import re

import pytest

from rope_lab.claims import load
from rope_lab.claims.errata import errata_items
from rope_lab.training.results.cards import load_every
from tests.site_ext import tiny_book

PAGE = """# One plane

There are {count}`claims` claims.

```{checked-numbers}
```

$$ a = b $$

{claim}`su19.rot-law`
"""


def test_each_number_is_counted_and_leads_to_what_it_counts(tmp_path):
    tiny_book.build(tmp_path, PAGE, extensions=["checked_numbers"])
    text = (tmp_path / "out" / "book" / "01_one_plane.html").read_text()
    claims = load().values()
    assert f"There are {len(claims)} claims." in text
    rows = dict(re.findall(r'href="([^"]+)"><strong>([\d,]+)</strong>', text))
    assert rows["ledger.html"] == str(len(claims))
    assert rows["ledger.html?evidence=exact"] == str(sum(claim.evidence == "exact" for claim in claims))
    assert rows["ledger.html?kind=conditional"] == str(sum(claim.verdict == "conditional" for claim in claims))
    assert rows["errata.html"] == str(len(errata_items()))
    assert rows["result_cards.html"] == f"{len(load_every()):,}"
    assert rows["how_checked.html"] == "1"


def test_control_a_name_that_nobody_counts_is_refused(tmp_path):
    with pytest.raises(Exception, match="got 'lemons'"):
        tiny_book.build(tmp_path, "# T\n\nThere are {count}`lemons`.\n", extensions=["checked_numbers"])
