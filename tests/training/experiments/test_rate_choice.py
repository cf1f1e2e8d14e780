"""The plan's rule for a rate: the lowest mean, the lower of two equal ones, never at an edge, never without a card."""

import pytest

from rope_lab.training.experiments.rate_choice import UndecidedError, at_rates_of_others, best_rates
from tests.training.tiny import card

GRID, SEEDS = (0.001, 0.002, 0.004), (0, 1)


def cards(by_rate, variant="a"):
    return [card(variant, s, loss + s, config={"lr": rate}) for rate, loss in by_rate.items() for s in SEEDS]


def best(found, variants=("a",)):
    return best_rates(found, variants=variants, rates=GRID, seeds=SEEDS)


def test_the_lowest_mean_over_the_seeds_chooses():
    found = [*cards({0.001: 3.0, 0.002: 2.9, 0.004: 3.1}), *cards({0.001: 4.0, 0.002: 2.0, 0.004: 2.5}, "b")]
    assert best(found, ("a", "b")) == {"a": 0.002, "b": 0.002}
    first = {0.0005: 9.0, 0.001: 2.0, 0.002: 3.0, 0.004: 4.0}  # one seed says 0.001, the mean of both 0.002
    second = {0.0005: 9.0, 0.001: 5.0, 0.002: 3.0, 0.004: 4.0}
    mixed = [
        card("a", s, loss, config={"lr": rate}) for s, of in enumerate((first, second)) for rate, loss in of.items()
    ]
    assert best_rates(mixed, variants=("a",), rates=tuple(first), seeds=SEEDS) == {"a": 0.002}


def test_of_equal_means_the_lower_rate_is_taken():
    grid = (0.0005, *GRID)
    found = cards({0.0005: 4.0, 0.001: 3.0, 0.002: 3.0, 0.004: 3.5})
    assert best_rates(found, variants=("a",), rates=grid, seeds=SEEDS) == {"a": 0.001}


def test_a_card_that_is_missing_leaves_everything_undecided():
    with pytest.raises(UndecidedError, match="6 in all; 1 are missing"):
        best(cards({0.001: 3.0, 0.002: 2.9, 0.004: 3.1})[:-1])


@pytest.mark.parametrize(("low", "high"), [(2.0, 4.0), (4.0, 2.0)])
def test_an_edge_is_no_answer(low, high):
    with pytest.raises(UndecidedError, match=r"found at its edge: a at 0\.00[14]; extend the grid"):
        best(cards({0.001: low, 0.002: 3.0, 0.004: high}))


def test_a_seed_is_judged_at_the_rate_that_the_others_choose():
    tried = {0.1: {0: 2.0, 1: 1.0, 2: 3.0}, 0.2: {0: 1.0, 1: 2.0, 2: 1.5}, 0.4: {0: 5.0, 1: 5.0, 2: 5.0}}
    assert at_rates_of_others({"x": tried}) == {"x": {0: 1.0, 1: 2.0, 2: 3.0}}  # 2 is judged at 0.1, of equal ones
    ahead = {rate: dict.fromkeys(range(3), rate) for rate in (0.1, 0.2, 0.4)}
    assert at_rates_of_others({"x": ahead}, slack=0.11)["x"] == {0: 0.1, 1: 0.1, 2: 0.1}
    with pytest.raises(UndecidedError, match=r"found 0.1 at its edge"):
        at_rates_of_others({"x": ahead}, slack=0.09)
    assert at_rates_of_others({"x": tried | {0.3: {0: 0.0}}}) == {"x": {0: 1.0, 1: 2.0, 2: 3.0}}  # a seed is missing
