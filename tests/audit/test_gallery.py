"""A mistake is called by its name where the answers are those of the gallery, and nothing else is."""

import numpy as np
import pytest

from rope_lab.audit import GALLERY, audit, examine
from rope_lab.audit.audits import report
from rope_lab.audit.gallery import MEANT, halves_on_neighbours, like_in_gallery
from tests.audit.implementations import rotary

SEEN = [m for m in GALLERY if m.keys is None and not m.expected and m.f.__class__.__name__ == "function"]


@pytest.mark.parametrize("mistake", SEEN, ids=lambda m: m.name)
def test_each_mistake_of_one_callable_is_called_by_its_name(mistake):
    found = like_in_gallery(mistake.f, head_dim=8)
    if mistake.name == "bf16 positions":  # near 0 its answers are right ones
        assert found is None
    else:
        assert found is not None
        assert found.name == mistake.name


def test_a_table_of_another_base_in_the_other_order():
    """As in V-JEPA 2: tables of halves on neighbouring pairs."""
    found = examine("one", lambda x, n: halves_on_neighbours(x, n, base=100.0), head_dim=8)
    assert found.like.name == "tables of halves on neighbours"
    assert "Like a mistake of the gallery, tables of halves on neighbours: The other way round" in report(found)
    assert found.row["like_in_gallery"] == "tables of halves on neighbours"


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_control_a_sound_one_and_one_of_its_own_kind_are_like_nothing(layout):
    assert like_in_gallery(rotary(layout=layout), head_dim=8) is None
    assert like_in_gallery(lambda x, n: 1.1 * rotary(layout=layout)(x, np.sqrt(np.abs(n))), head_dim=8) is None
    assert like_in_gallery(lambda: 0, head_dim=8) is None
    seen = audit("rope_lab.audit.gallery:right", head_dim=8)
    assert seen.like is None
    assert "gallery," not in report(seen)


def test_what_is_lawful_is_no_mistake_that_answers_show():
    """Another base, layout or direction is wrong for a model and not in itself."""
    lawful = [m for m in GALLERY if m.expected and m.keys is None and set(m.expected) == set(MEANT)]
    assert len(lawful) >= 4
    assert not {like_in_gallery(m.f, head_dim=8) for m in lawful} - {None}
