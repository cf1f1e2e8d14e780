"""The cards of chapter 13: five seeds of each variant."""

import pytest

from rope_lab.training.results import cards


@pytest.mark.parametrize("variant", ["RoPE", "CRoPE", "absolute", "absolute, moved"])
def test_every_variant_has_five_seeds(variant):
    assert [card.seed for card in cards.load_all("one-head", "cpu") if card.variant == variant] == list(range(5))
