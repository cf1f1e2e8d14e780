"""Those who tried a placement are not named, and the day on which we read them is."""

import pytest

from rope_lab.claims import load


@pytest.mark.parametrize("name", ["su19.zh-roper", "su19.zh-poyo", "su19.en-zh-diff"])
def test_who_tried_it_is_not_printed(name):
    entry = load()[name]
    assert "@" not in entry.statement + entry.correction + entry.witness
    assert entry.date
