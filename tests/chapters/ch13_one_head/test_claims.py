"""Cards of chapter 13, five seeds of each variant; and where a head first returns."""

import pytest

from rope_lab.algebra import one_head, rotation, schedule
from rope_lab.training.results import cards


@pytest.mark.parametrize("variant", ["RoPE", "CRoPE", "absolute", "absolute, moved"])
def test_every_variant_has_five_seeds(variant):
    assert [card.seed for card in cards.load_all("one-head", "cpu") if card.variant == variant] == list(range(5))


@pytest.mark.parametrize(("head_dim", "until", "first"), [(8, 10, [6]), (16, 600_000, [596_274]), (64, 600_000, [])])
def test_a_head_first_returns_where_the_page_says(head_dim, until, first):
    theta = rotation.frequencies(head_dim)
    assert one_head.returns(theta, above=float(schedule.decay(1, theta=theta)), until=until)[:1] == first
