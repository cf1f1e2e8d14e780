"""Two orders: laws of exchanges, exact counts against brute force, and the corrections for many comparisons."""

from fractions import Fraction
from itertools import combinations, permutations
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rope_lab.algebra import rankings as r

orders = st.integers(2, 7).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n))))


def named(order):
    return {f"x{i}": float(v) for i, v in enumerate(order)}


@given(orders)
def test_the_two_orders_may_change_places(pair):
    a, b = map(named, pair)
    assert r.exchanges(a, b) == r.exchanges(b, a)
    assert r.exchanges(a, a) == 0
    assert r.exchanges(a, {k: -v for k, v in a.items()}) == comb(len(a), 2)


@given(orders)
def test_the_coefficients_are_those_of_scipy(pair):
    a, b = map(named, pair)
    assert r.kendall_tau(a, b) == pytest.approx(stats.kendalltau(*pair).statistic)
    assert r.spearman_rho(a, b) == pytest.approx(stats.spearmanr(*pair).statistic)


@given(orders)
def test_one_exchange_of_neighbours_changes_the_count_by_one(pair):
    a, b = map(named, pair)
    first, second = sorted(a, key=a.__getitem__)[:2]
    swapped = a | {first: a[second], second: a[first]}
    assert abs(r.exchanges(swapped, b) - r.exchanges(a, b)) == 1


@pytest.mark.parametrize("n", range(2, 7))
def test_the_exact_chances_are_those_of_counting(n):
    fixed, every = named(range(n)), [named(p) for p in permutations(range(n))]
    assert sum(r.orders_at(n)) == factorial(n)
    for one in every[:: max(1, len(every) // 12)]:
        D, rho = r.exchanges(one, fixed), r.spearman_rho(one, fixed)
        assert r.kendall_p(one, fixed) == Fraction(sum(r.exchanges(o, fixed) <= D for o in every), len(every))
        as_good = sum(r.spearman_rho(o, fixed) >= rho - 1e-9 for o in every)
        assert r.spearman_p(one, fixed) == Fraction(as_good, len(every))


def test_nine_things_as_scipy_counts_them():
    a, b = named([0, 1, 2, 3, 4, 5, 6, 7, 8]), named([1, 0, 4, 3, 2, 5, 8, 6, 7])
    assert float(r.kendall_p(a, b)) == pytest.approx(
        stats.kendalltau(list(a.values()), list(b.values()), method="exact", alternative="greater").pvalue
    )


@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=3, max_size=8).filter(lambda d: np.std(d) > 1e-3))
def test_a_p_below_five_per_cent_is_an_interval_without_zero(d):
    p, half = r.paired_p(d), stats.t.ppf(0.975, len(d) - 1) * np.std(d, ddof=1) / np.sqrt(len(d))
    assert (p < 0.05) == (abs(np.mean(d)) > half)
    assert p == pytest.approx(stats.ttest_1samp(d, 0).pvalue)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_lies_between_bonferroni_and_no_correction(p):
    named_p = dict(enumerate(p))
    kept = set(r.holm(named_p))
    assert {k for k, v in named_p.items() if v <= 0.05 / len(p)} <= kept <= {k for k, v in named_p.items() if v <= 0.05}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7), st.floats(0.001, 0.3))
def test_holm_is_its_definition_by_all_subsets(p, level):
    """Closed testing: rejected are those that Bonferroni rejects in every subset that holds them."""
    names = range(len(p))
    subsets = [s for n in range(1, len(p) + 1) for s in combinations(names, n)]
    rejected = {s for s in subsets if min(p[name] for name in s) <= level / len(s)}
    kept = r.holm(dict(enumerate(p)), level=level)
    assert set(kept) == {n for n in names if all(s in rejected for s in subsets if n in s)}
    assert [p[name] for name in kept] == sorted(p[name] for name in kept)


def test_holm_stops_at_the_first_that_fails():
    assert r.holm({"a": 0.001, "b": 0.03, "c": 0.04}) == ["a"]  # c is below 0.05, and its turn does not come


def test_differences_without_spread():
    assert (r.paired_p([0.1, 0.1]), r.paired_p([0.0, 0.0])) == (0.0, 1.0)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: r.exchanges({"a": 1, "b": 2}, {"a": 1, "c": 2}), "same two or more names"),
        (lambda: r.exchanges({"a": 1, "b": 1}, {"a": 1, "b": 2}), "a tie"),
        (lambda: r.orders_at(0), "n: expected a whole number of at least 1, got 0"),
        (lambda: r.spearman_p(*[{str(i): i for i in range(13)}] * 2), "at most 12"),
        (lambda: r.paired_p([1.0]), "two at least"),
        (lambda: r.holm({"a": 1.5}), "from 0 to 1"),
    ],
)
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
