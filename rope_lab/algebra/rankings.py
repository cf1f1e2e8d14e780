"""Two orders of the same things: by how many exchanges they differ, and how often chance does as well.

>>> ours, theirs = {"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 5.0, "b": 7.0, "c": 6.0}
>>> exchanges(ours, theirs), round(kendall_tau(ours, theirs), 3), kendall_p(ours, theirs)
(1, 0.333, Fraction(1, 2))
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import expect_float, expect_kind, expect_real, expect_shapes, expect_whole, shown


def exchanges(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> int:
    r"""The pairs that two orders put the other way round: the least exchanges of neighbours from one to the other.

    $D = \#\{\{i,j\} : (x_i - x_j)(y_i - y_j) < 0\}$, between 0 and $\binom n2$

    Args:
        ours: A number for every name; smaller comes first.
        theirs: The same names.

    Returns:
        An int.

    Raises:
        ValueError: If the names differ, there are fewer than two, or two numbers are equal.

    Claims:
        ``book.kendall-exchanges``

    >>> exchanges({"a": 1, "b": 2, "c": 3}, {"a": 3, "b": 2, "c": 1})
    3
    """
    x, y = _two_orders(ours, theirs)
    return sum((x[i] - x[j]) * (y[i] - y[j]) < 0 for i, j in combinations(range(len(x)), 2))


def kendall_tau(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> float:
    r"""Kendall's rank correlation: the share of pairs in the same order less the share of the others.

    $\tau = 1 - 2D / \binom n2$: 1 for equal orders, -1 for opposite ones

    Args:
        ours: A number for every name; smaller comes first.
        theirs: The same names.

    Returns:
        A float from -1 to 1.

    Raises:
        ValueError: As in `exchanges`.

    Claims:
        ``book.kendall-exchanges``

    >>> kendall_tau({"a": 1, "b": 2, "c": 3}, {"a": 3, "b": 2, "c": 1})
    -1.0
    """
    return 1 - 2 * exchanges(ours, theirs) / comb(len(ours), 2)


def orders_at(n: int) -> tuple[int, ...]:
    r"""Count those of the n! orders that are D exchanges away from a given one, for D = 0, 1, ....

    $\sum_D c_D\, x^D = \prod_{k=1}^{n} (1 + x + \dots + x^{k-1})$

    Args:
        n: How many things, 1 or more.

    Returns:
        $\binom n2 + 1$ exact ints.

    Raises:
        ValueError: If n is below 1.

    Claims:
        ``book.kendall-counts``

    >>> orders_at(4)
    (1, 3, 5, 6, 5, 3, 1)
    """
    n = expect_whole(n, name="n", least=1, limit=100, fix="it counts the things to order")
    counts = [1]
    for k in range(2, n + 1):  # the k-th thing enters at one of k places: 0 to k - 1 exchanges from the end
        longer = [0] * (len(counts) + k - 1)
        for shift in range(k):
            for D, count in enumerate(counts):
                longer[D + shift] += count
        counts = longer
    return tuple(counts)


def kendall_p(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Fraction:
    r"""The probability that an order drawn at random is at least as near to ``theirs`` as ``ours`` is.

    $p = \frac{1}{n!} \sum_{D' \le D} c_{D'}$ with the counts of `orders_at`

    One-sided and exact.

    Args:
        ours: A number for every name; smaller comes first.
        theirs: The same names.

    Returns:
        A fraction.

    Raises:
        ValueError: As in `exchanges`.

    Claims:
        ``book.kendall-counts``

    >>> kendall_p({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2, "c": 3})
    Fraction(1, 6)
    """
    D = exchanges(ours, theirs)
    return Fraction(sum(orders_at(len(ours))[: D + 1]), factorial(len(ours)))


def spearman_rho(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> float:
    r"""Spearman's rank correlation: the ordinary correlation of the two lists of ranks.

    $\rho = 1 - \frac{6 \sum_i d_i^2}{n(n^2-1)}$ with $d_i$ the difference of the ranks of thing i

    Args:
        ours: A number for every name; smaller comes first.
        theirs: The same names.

    Returns:
        A float from -1 to 1.

    Raises:
        ValueError: As in `exchanges`.

    Claims:
        ``book.spearman``

    >>> round(spearman_rho({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "c": 2}), 3)
    0.5
    """
    d, n = _rank_gaps(ours, theirs), len(ours)
    return 1 - 6 * int(d @ d) / (n * (n * n - 1))


def spearman_p(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Fraction:
    r"""The probability that an order drawn at random has at least the $\rho$ of these two.

    $p = \#\{\pi : \sum_i (i - \pi_i)^2 \le \sum_i d_i^2\} / n!$

    One-sided and exact: orders are counted through the sets of places taken.

    Args:
        ours: A number for every name, at most 12 of them; smaller comes first.
        theirs: The same names.

    Returns:
        A fraction.

    Raises:
        ValueError: If there are more than 12 names, and as in `exchanges`.

    Claims:
        ``book.spearman``

    >>> spearman_p({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "c": 2})
    Fraction(1, 2)
    """
    d, n = _rank_gaps(ours, theirs), len(ours)
    if n > 12:
        raise ValueError(f"expected at most 12 things, got {n}; the exact count grows as 2 to the power n")
    ways: dict[int, dict[int, int]] = {0: {0: 1}}  # places taken -> sum of squares -> orders
    for i in range(n):
        longer: dict[int, dict[int, int]] = {}
        for taken, sums in ways.items():
            for place in range(n):
                if not taken >> place & 1:
                    into = longer.setdefault(taken | 1 << place, {})
                    for total, count in sums.items():
                        more = total + (i - place) ** 2
                        into[more] = into.get(more, 0) + count
        ways = longer
    (sums,) = ways.values()
    return Fraction(sum(count for total, count in sums.items() if total <= int(d @ d)), factorial(n))


def paired_p(differences: ArrayLike) -> float:
    r"""The p-value of paired differences: two-sided, from Student's t with n - 1 degrees of freedom.

    $p = P\bigl(|t_{n-1}| \ge |\bar d| \sqrt n / s\bigr)$; below 0.05 if and only if the 95 % interval leaves zero out

    Args:
        differences: Two at least, of any unit.

    Returns:
        A float from 0 to 1.

    Raises:
        ValueError: If there are fewer than two.

    Claims:
        ``book.paired-p``

    >>> round(paired_p([1.0, 2.0, 3.0]), 4)
    0.0742
    """
    from scipy import stats

    d = expect_real(differences, name="differences")
    if d.ndim != 1 or len(d) < 2:
        raise ValueError(f"differences: expected two at least, in one list, got shape {d.shape}")
    spread = d.std(ddof=1)
    if spread == 0:
        return 0.0 if d.any() else 1.0
    return float(2 * stats.t.sf(abs(d.mean()) * np.sqrt(len(d)) / spread, len(d) - 1))


def holm(p: Mapping[Any, float], *, level: float = 0.05) -> list[Any]:
    """The comparisons that stay decided when all of them are made at once, the surest first.

    The k-th smallest of N p-values must be at most level / (N - k + 1); the first that is not ends the list.

    With it the chance of even one false decision is at most ``level``, whatever the dependence between the comparisons.

    Args:
        p: A p-value for each name.
        level: The chance that is accepted.

    Returns:
        The names, the surest first.

    Raises:
        ValueError: If a p is outside 0 to 1.

    Claims:
        ``book.holm``

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.02, "d": 0.03})
    ['a']
    """
    level = expect_float(level, name="level", least=0)
    for name, value in expect_kind(p, Mapping, name="p").items():
        if not expect_float(value, name=f"p of {shown(name)}", least=0) <= 1:
            raise ValueError(f"p of {name!r}: expected a number from 0 to 1, got {value!r}")
    kept: list[Any] = []
    for k, name in enumerate(sorted(p, key=p.__getitem__)):
        if p[name] > level / (len(p) - k):
            break
        kept.append(name)
    return kept


def _two_orders(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    for order, name in ((ours, "ours"), (theirs, "theirs")):
        expect_shapes(**{name: ([*expect_kind(order, Mapping, name=name).values()], "names")})
    if set(ours) != set(theirs) or len(ours) < 2:
        raise ValueError(
            f"expected two orders of the same two or more names, got {shown([*ours])} and {shown([*theirs])}"
        )
    for order in (ours, theirs):
        if len(set(order.values())) < len(order):
            raise ValueError(f"expected different numbers, got a tie in {dict(order)}; give them more digits")
    return [ours[name] for name in ours], [theirs[name] for name in ours]


def _rank_gaps(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> np.ndarray:
    x, y = (np.argsort(np.argsort(order)) for order in _two_orders(ours, theirs))
    return x - y
