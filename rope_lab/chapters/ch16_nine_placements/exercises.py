"""Chapter 16, Nine placements: many comparisons, orders, planes in a short window."""

from __future__ import annotations

from itertools import combinations
from math import comb, log, pi
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import stats

from rope_lab.algebra.placements import moved
from rope_lab.algebra.rankings import exchanges, paired_p
from rope_lab.algebra.rotation import frequencies
from rope_lab.algebra.schedule import turns
from rope_lab.exercises.core import Question, Task
from rope_lab.training.results import cards

# --- the prediction: nine equals, all pairs compared ---


def _false_decisions() -> list[bool]:
    """Nine variants without any difference, five seeds: pairs whose 95 % interval leaves zero out, on average."""
    losses = np.random.default_rng(16).normal(size=(4000, 9, 5))  # trial, variant, seed
    quantile, counts = stats.t.ppf(0.975, 4), np.zeros(4000)
    for i, j in combinations(range(9), 2):
        d = losses[:, i] - losses[:, j]
        counts += np.abs(d.mean(1)) > quantile * d.std(1, ddof=1) / np.sqrt(5)
    return [bool(abs(counts.mean() - guess) < 0.2) for guess in (0.05, 1.8, 9, 18)]


# --- the second prediction: the same windows, begun elsewhere ---


NINE = ("", "q", "k", "v", "o", "qk", "vo", "qkv", "qkvo")


def _who_stays() -> list[bool]:
    """The placements whose outputs keep still when all positions move."""
    x, places = np.random.default_rng(16).normal(size=(3, 4, 2)), np.arange(4)
    along: dict[str, Any] = {"q_positions": places, "k_positions": places, "theta": [0.7]}
    stay = {p for p in NINE if max(max(moved(*x, shift=s, rotated=p, **along)) for s in (1, 5)) < 1e-9}
    return [stay == guess for guess in (set(NINE), {""}, {"", "qk", "vo", "qkvo"}, {"", "qk", "qkv", "qkvo"})]


# --- exchanges of neighbours, and tau ---


def _tau_of_five() -> float:
    ours, theirs = ({name: rank for rank, name in enumerate(order)} for order in ("BACED", "ABCDE"))
    return 1 - 2 * exchanges(ours, theirs) / comb(5, 2)


# --- planes that wrap ---


def _planes_at_4096() -> float:
    return float((turns(4096, theta=frequencies(128, base=5e5)) > 0.5).sum())


# --- the first task: count exchanges from losses ---


def discordant(a, b):
    count = 0
    for x, y in combinations(a, 2):
        if (a[x] - a[y]) * (b[x] - b[y]) < 0:
            count += 1
    return count


def _displaced(a, b):
    return sum(x != y for x, y in zip(sorted(a, key=a.get), sorted(b, key=b.get), strict=True))


def _as_listed(a, b):
    """A wrong attempt: the numbers are matched in the order in which they stand, not by name."""
    x, y = list(a.values()), list(b.values())
    return sum((x[i] - x[j]) * (y[i] - y[j]) < 0 for i, j in combinations(range(len(x)), 2))


def _two_lists(ranks):
    names = "QKVOXYZ"[: len(ranks[0])]
    a = {name: 3 + rank / 8 for name, rank in zip(names, ranks[0], strict=True)}
    b = {names[i]: 2.5 + ranks[1][i] / 8 for i in reversed(range(len(names)))}
    return a, b


_orders = st.integers(3, 7).flatmap(
    lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n))).map(_two_lists)
)


# --- the second task: how many decisions are left ---


def still_decided(p, level):
    kept = 0
    for k, value in enumerate(sorted(p)):
        if value > level / (len(p) - k):
            break
        kept += 1
    return kept


def _without_a_stop(p, level):
    return sum(value <= level / (len(p) - k) for k, value in enumerate(sorted(p)))


def _step_up(p, level):
    """A wrong attempt, which has its own use: Benjamini and Hochberg's rule."""
    good = [k + 1 for k, value in enumerate(sorted(p)) if value <= level * (k + 1) / len(p)]
    return max(good, default=0)


_p_values = st.tuples(
    st.lists(st.sampled_from((0.001, 0.005, 0.009, 0.012, 0.018, 0.03, 0.04, 0.2)), min_size=1, max_size=7),
    st.sampled_from((0.05, 0.1)),
)
_AT_A_BOUND = (  # and just above one: 1 - (1 - level)^(1/N) is a little larger than level / N
    ([0.05], 0.05),
    ([0.1, 0.03], 0.1),
    ([0.03, 0.025], 0.05),
    ([0.0126, 0.02, 0.02, 0.02], 0.05),
    ([0.0252, 0.001, 0.03], 0.05),
    ([0.034, 0.04, 0.04], 0.1),
    ([0.0125, 0.04, 0.0125, 0.04], 0.05),
)


EXERCISES = (
    Question(
        id="ch16.predict-false",
        kind="prediction",
        prompt=r"Nine variants of a model are, in truth, all equally good. Somebody trains each with five seeds and "
        r"compares every pair by its 95 % interval. There are 36 pairs. How many of them will be declared different, "
        r"on average?",
        choices=("Almost never any.", "About two.", "About nine.", "About half of them."),
        answer="B",
        truth=_false_decisions,
        why=r"Each interval misses zero by chance once in twenty times. The mean of a sum is the sum of the means, "
        r"also where comparisons share a variant: $36 \cdot 0.05 = 1.8$. So a board of 36 pairs with one or two "
        r"surprises would be no surprise.",
        feedback={
            "A": "An interval of 95 % is wrong once in twenty times. What happens when it is asked 36 times?",
            "C": "That would be one false decision in four. Each interval is wrong once in twenty times.",
            "D": "An interval of 95 % is not a coin: it misses the truth once in twenty times.",
        },
    ),
    Question(
        id="ch16.predict-shift",
        kind="prediction",
        prompt=r"All windows began at position 0. Now the finished models read the same windows from other positions, "
        r"at random up to 512. Whose loss stays as it is?",
        choices=(
            "That of all nine: weights and text are the same.",
            "That of NoPE alone, which rotates nothing.",
            "Those of NoPE, QK, VO and QKVO.",
            "Those of NoPE, QK, QKV and QKVO, where Q and K turn together.",
        ),
        answer="C",
        truth=_who_stays,
        why=r"Scores need both of $q, k$ turned or neither, and values need both of $v, o$ or neither (chapter 8). In "
        r"the five others the angles depend on where the window stands, and the model has built on them.",
        feedback={
            "A": "The same weights see other angles. Where nothing turns them back, the outputs change.",
            "B": "In QK both turns move on together. What is left in the scores?",
            "D": "In QKV the scores stay. But the values arrive turned by their position, and nobody turns them back.",
        },
    ),
    Question(
        id="ch16.tau",
        prompt=r"One experiment puts five variants in the order A, B, C, D, E, best first. Another finds B, A, C, E, "
        r"D. What is Kendall's $\tau$?",
        answer=0.6,
        tolerance=0.005,
        truth=_tau_of_five,
        hint=r"How many exchanges of neighbours lead from one order to the other? How many pairs are there in all?",
        feedback={
            "0.8": "Ten pairs, two of them the other way round: right. But each of those is missing from one share and "
            "added to the other, so it counts twice.",
            "0.2": "You counted the four things that changed their place. Count pairs that changed their order.",
            "-0.6": r"The sign: $\tau$ is $1$ for equal orders, and these two are nearly equal.",
        },
        why=r"Two exchanges, A with B and D with E, of $\binom52 = 10$ pairs: $\tau = 1 - 2 \cdot 2/10$.",
    ),
    Question(
        id="ch16.planes",
        prompt=r"A head of width 128 with base 500,000 is trained in windows of 4096 positions. Plane $i$ turns by "
        r"$500000^{-2i/128}$ radians a position, for $i = 0, \dots, 63$. How many planes turn by more than half a turn "
        r"within a window?",
        answer=35,
        tolerance=0.5,
        unit="planes",
        truth=_planes_at_4096,
        hint=r"Within the window plane $i$ turns by $4096 \cdot 500000^{-i/64}$. Set this equal to $\pi$, and take "
        r"logarithms.",
        feedback={
            "34": r"Planes count from zero: $i = 0$ is one of them.",
            "32": r"These turn by more than a *whole* turn. Half a turn is $\pi$.",
            "70": r"A head of width 128 has 64 planes: the exponent is $-2i/128 = -i/64$.",
            "29": "These are the planes that do not. Which ones do?",
        },
        why=rf"$64 \cdot \ln(4096/\pi)/\ln(500000) \approx {64 * log(4096 / pi) / log(5e5):.2f}$, and the planes count "
        r"from zero: $i = 0, \dots, 34$. The other 29 are slow enough to tell every distance in the window by their "
        r"cosine.",
    ),
    Task(
        id="ch16.discordant",
        statement=r"Write `discordant(a, b)`. Both arguments are dictionaries from the same names to losses, such as "
        r"`{'QK': 3.07, 'VO': 3.2}`, perhaps listed in different orders, without equal losses. Return the number of "
        r"pairs of names that the two put the other way round.",
        solution=discordant,
        examples=_orders,
        mistakes={
            r"things in another place are counted, not pairs in another order": _displaced,
            r"losses are matched in the order in which they are listed": _as_listed,
            r"every pair is counted twice": lambda a, b: 2 * discordant(a, b),
            r"pairs in the *same* order are counted": lambda a, b: comb(len(a), 2) - discordant(a, b),
        },
        hint=r"`itertools.combinations(a, 2)` gives every pair of names once. A pair is the other way round if the "
        r"product of the two differences is negative.",
        why=r"Divide by the number of pairs, double, subtract from one: that is Kendall's $\tau$.",
    ),
    Task(
        id="ch16.still-decided",
        statement=r"Holm's rule. `p` is a list of $N$ p-values, `level` the chance of a false decision that we allow, "
        r"for all of them together. Write `still_decided(p, level)`: sort the p-values; keep the $k$-th, $k = 1, 2, "
        r"\dots$, as long as it is at most `level` divided by $N - k + 1$; stop at the first that is not. Return how "
        r"many were kept.",
        solution=still_decided,
        examples=_p_values | st.sampled_from(_AT_A_BOUND),
        mistakes={
            r"no correction at all": lambda p, level: sum(x <= level for x in p),
            r"the divisor stays at N": lambda p, level: sum(x <= level / len(p) for x in p),
            r"it does not stop at the first that fails": _without_a_stop,
            r"the bound grows as k times level / N": _step_up,
        },
        hint=r"`enumerate(sorted(p))` counts from 0, so the divisor is `len(p) - k`. Use `break`.",
        why=r"The first bound is `level / N`, as if all were equal in truth. With each decision one comparison "
        r"fewer can be a false one, and the next bound is a little wider.",
    ),
)


# --- what the lab alone asks: the smallest change that turns a verdict, and how often equals are told apart ---


def verdict(d):
    return int(np.sign(np.mean(d))) * (paired_p(np.array(d, dtype=float)) < 0.05)


def fewest(d):
    for k in range(1, len(d) - 1):
        rests = combinations(d, len(d) - k)
        if any(verdict(rest) != verdict(d) for rest in rests):
            return k
    return len(d) - 1


def _of_the_mean(d):
    ways = range(1, len(d) - 1)
    sides = (k for k in ways if any(np.mean(x) * np.mean(d) < 0 for x in combinations(d, len(d) - k)))
    return next(sides, len(d) - 1)


def _hang_on_one_seed() -> float:
    loss: dict[str, dict[int, float]] = {}
    for card in cards.load_all("placements-shifted", "cpu"):
        loss.setdefault(card.variant, {})[card.seed] = card.loss()
    return sum(fewest([loss[a][s] - loss[b][s] for s in range(5)]) == 1 for a, b in combinations(loss, 2))


def _equals_told_apart() -> list[bool]:
    d, hit = np.random.default_rng(16).normal(size=(40_000, 5)), np.zeros(40_000, dtype=bool)
    for rest in (range(5), *combinations(range(5), 4)):
        x, n = d[:, list(rest)], len(rest)
        hit |= np.abs(x.mean(1)) > stats.t.ppf(0.975, n - 1) * x.std(1, ddof=1) / np.sqrt(n)
    return [bool(abs(hit.mean() - guess) < 0.01) for guess in (0.05, 0.1, 0.17, 0.26)]


LAB = (
    Task(
        id="ch16.fewest",
        statement=r"Write `fewest(d)`. `d` is a list of at least three paired differences, one for each seed, and "
        r"`verdict` and `combinations` are there. Return the smallest number of seeds that somebody must leave out so "
        r"that the verdict of the rest is not `verdict(d)`. A verdict needs at least two seeds: if none of these "
        r"choices turns it, return `len(d) - 1`.",
        solution=fewest,
        examples=st.lists(st.integers(-5, 14), min_size=3, max_size=6).map(lambda d: (d,)),
        mistakes={
            "only the first seeds are left out": lambda d: next(
                (k for k in range(1, len(d) - 1) if verdict(d[k:]) != verdict(d)), len(d) - 1
            ),
            "the seeds that stay are counted": lambda d: len(d) - fewest(d),
            "the sign of the mean alone is watched": _of_the_mean,
            "only one seed is ever left out": lambda d: (
                1 if any(verdict(rest) != verdict(d) for rest in combinations(d, len(d) - 1)) else len(d) - 1
            ),
        },
        hint=r"Try $k = 1, 2, \dots$ in turn. `combinations(d, len(d) - k)` gives every choice of the seeds that stay.",
        why=r"The smallest change that turns a verdict says more about it than the verdict does.",
    ),
    Question(
        id="ch16.one-seed",
        prompt=r"At the last step, with windows from position 0: for how many of the 36 pairs is it enough to leave "
        r"out *one* seed to turn the verdict of the five?",
        answer=4,
        tolerance=0.1,
        unit="pairs",
        truth=_hang_on_one_seed,
        hint=r"`gaps('step 2000')` has the differences of every pair. Ask your `fewest` about each of them.",
        feedback={"3": "A verdict can also turn from undecided to decided.", "1": "Count the decided pairs too."},
        why=r"Two of them are verdicts against the article, one is as published, and one was undecided. The others "
        r"need two seeds or more.",
    ),
    Question(
        id="ch16.lawyer-luck",
        prompt=r"Two things are equally good, and each has five seeds. A lawyer may leave out one seed, any one, or "
        r"none. How often can he show a verdict other than 0?",
        choices=("In 5 % of the worlds.", "In about 10 %.", "In about 17 %.", "In about 26 %."),
        answer="C",
        truth=_equals_told_apart,
        hint=r"Put `left_out = 1` in the experiment and look at the bar for one pair.",
        feedback={
            "A": "So often with all five seeds. The lawyer has six intervals to choose from.",
            "B": "He has five more intervals, and not only one.",
            "D": r"That would be $1 - 0.95^6$, for six independent intervals. His share most of their seeds.",
        },
        why=r"He has six intervals, and each misses zero in 5 % of the worlds. They share seeds, so they often miss "
        r"together; else it would be $1 - 0.95^6 \approx 0.26$.",
    ),
)
