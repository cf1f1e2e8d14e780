"""Chapter 15, CRoPE's tables: what three seeds decide, a yardstick, a random pairing, and the smallest margin."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from hypothesis import strategies as st
from scipy import stats

from rope_lab.algebra.pairing import linear_share, random_pairing
from rope_lab.algebra.widely_linear import times_i
from rope_lab.exercises.core import Question, Task
from rope_lab.training.experiments.rate_choice import losses_by_rate
from rope_lab.training.results import plan_answers

# --- the prediction: three seeds, all on one side ---

GAPS = np.array([0.0346, 0.0242, 0.0143])


def _half(d, *, quantile=0.975, ddof=1, root=True):
    """Half the interval's width; the arguments other than ``d`` make it wrong."""
    d = np.asarray(d, float)
    n = len(d)
    return stats.t.ppf(quantile, n - 1) * d.std(ddof=ddof) / (math.sqrt(n) if root else 1)


def _three_seeds() -> list[bool]:
    low, high = GAPS.mean() - _half(GAPS), GAPS.mean() + _half(GAPS)
    return [bool(low > 0.01), bool(0 < low <= 0.01), bool(low <= 0 < high), bool(high <= 0)]


# --- the yardstick: two numbers after ±, and the same pages ---

SPREAD, ALIKE = 0.115, 0.98  # nats over pieces of text, each model; the correlation of the two losses


def _paired_spread() -> float:
    covariance = SPREAD**2 * np.array([[1, ALIKE], [ALIKE, 1]])
    return float(np.sqrt(np.array([1, -1]) @ covariance @ np.array([1, -1])))


# --- a complex-linear map over a pairing drawn at random ---


def _over_random_pairings() -> list[bool]:
    rng, J = np.random.default_rng(0), times_i(16)
    W = rng.normal(size=(16, 16))
    W = (W - J @ W @ J) / 2  # complex-linear, all of it, over the pairing J
    mean = np.mean([linear_share(W, random_pairing(16, rng)) for _ in range(400)])
    return [bool(abs(mean - guess) < 0.05) for guess in (1.0, 0.75, 0.5, 0.0)]


# --- the task: the smallest margin ---


def smallest_margin(d):
    n = len(d)
    half = stats.t.ppf(0.975, n - 1) * np.std(d, ddof=1) / n**0.5
    return abs(np.mean(d)) + half


_examples = st.lists(st.integers(-60, 60).map(lambda n: n / 1000), min_size=3, max_size=6, unique=True).map(
    lambda d: (np.array(d),)
)


EXERCISES = (
    Question(
        id="ch15.predict-three-seeds",
        kind="prediction",
        prompt=r"A model with half of the weights behind Q, K and V has three seeds. It ends a little *above* its "
        r"rival each time: by $0.0346$, $0.0242$ and $0.0143$ nats. What does the 95 % interval of these say?",
        choices=(
            r"Worse, by a good margin: the interval begins above $0.01$.",
            r"Worse, but barely: it begins between $0$ and $0.01$.",
            r"Nothing about the sign: it holds zero.",
            r"Better: it lies below zero.",
        ),
        answer="C",
        truth=_three_seeds,
        feedback={
            "A": r"Three times the same sign convinces. But three seeds also have to say how much seeds differ, and "
            r"Student's $t$ charges for that: its factor for three is $4.30$, not $1.96$.",
            "B": r"You are close: work out $4.30 \cdot s_d / \sqrt 3$ and compare it with the mean.",
            "D": "The differences are above zero, and a larger loss is worse.",
        },
        why=r"The mean is $0.0244$, the standard deviation $0.0102$, and for three seeds $t_{0.975,\,2} = 4.30$. "
        r"Half the width is $4.30 \cdot 0.0102 / \sqrt 3 \approx 0.025$. One sign three times has the probability "
        r"$\tfrac14$ when there is no difference at all.",
    ),
    Question(
        id="ch15.yardstick",
        prompt=r"Two models read the same pieces of text. The losses of each have the standard deviation $0.115$ nats "
        r"over the pieces, like the numbers after ± in row 2 of the paper's Table 2, and over the pieces they are "
        r"correlated with $0.98$ (we made this number up). What is the standard deviation of the paired differences?",
        answer=0.023,
        tolerance=0.0005,
        unit="nats",
        truth=_paired_spread,
        hint=r"$\operatorname{Var}(a - b) = s_a^2 + s_b^2 - 2 \rho\, s_a s_b$.",
        feedback={
            "0.163": r"That is the root of $s_a^2 + s_b^2$, as if the two had read different pieces. What a hard piece "
            r"adds to both cancels.",
            "0.016": r"Both models vary: their variances add before the covariance is taken away twice.",
            "0.00053": "That is the variance. Take its root.",
        },
        why=r"$\sqrt{2 \cdot 0.02} \cdot 0.115 = 0.2 \cdot 0.115 = 0.023$: a seventh of the paper's yardstick "
        r"$\sqrt{s_a^2 + s_b^2} \approx 0.163$. A difference of 0.1 nats is hidden by the one, and plain by "
        r"the other.",
    ),
    Task(
        id="ch15.smallest-margin",
        statement=r"Write `smallest_margin(d)`. The argument is an array of paired differences, one for each seed. "
        r"Return the smallest $\delta$ for which their 95 % interval lies within $\pm\delta$: what these seeds have "
        r"shown the difference not to exceed. `np` and `scipy.stats` are there.",
        solution=smallest_margin,
        examples=_examples,
        mistakes={
            "the width of the interval is forgotten": lambda d: abs(np.mean(d)),
            "the interval is taken to be centred at zero": _half,
            "the sign of the mean is kept": lambda d: np.mean(d) + _half(d),
            "the standard deviation divides by n, not by n - 1": lambda d: abs(np.mean(d)) + _half(d, ddof=0),
            "the square root of n is forgotten": lambda d: abs(np.mean(d)) + _half(d, root=False),
            "1.96 stands where Student's t belongs": lambda d: (
                abs(np.mean(d)) + 1.959964 * np.std(d, ddof=1) / np.sqrt(len(d))
            ),
        },
        hint=r"The interval ends at $\bar d - h$ and $\bar d + h$. Which of the two is farther from zero, and how far?",
        why=r"The farther end lies at $|\bar d| + h$. A paper that wants to show that a difference is negligible can "
        r"print this one number.",
    ),
    Question(
        id="ch15.random-pairing",
        prompt=r"A real matrix is *exactly* complex-linear over one pairing of its inputs. You do not know which, and "
        r"look at it over a pairing drawn at random. How much of it will look complex-linear, on average?",
        choices=("All of it.", "Three quarters.", "Half of it.", "Nothing."),
        answer="C",
        truth=_over_random_pairings,
        hint=r"A pairing $J$ and its reverse $-J$ are equally likely. What do the two shares add up to?",
        feedback={
            "A": "Only over the pairing for which it was made, and this one was drawn blindly.",
            "B": "A random pairing is not nearly the right one. Is it any nearer to the right one, $J$, than to $-J$?",
            "D": r"Nothing would be left over the *reverse* of the right pairing. A random one is no nearer to it "
            r"than to the right one.",
        },
        why=r"The shares over $J$ and over $-J$ add up to one, for every map. Both pairings are equally likely, so the "
        r"mean is one half. A share of one half is what you find when you look in the wrong basis, whatever is there.",
    ),
)


# --- what the lab alone asks: each model at its best of what was tried, all such stories, and all choices of seeds ---


def at_own_best(a, b):
    best_a = min(a, key=lambda rate: np.mean(a[rate]))
    best_b = min(b, key=lambda rate: np.mean(b[rate]))
    return a[best_a] - b[best_b]


def _at_the_first_s_best(a, b):
    rate = min(a, key=lambda r: np.mean(a[r]))
    return a[rate] - b[min(b, key=lambda r: abs(r - rate))]


def _two_models(table):
    rows = np.array(table) / 1000
    return dict(zip((0.004, 0.0057, 0.008), rows[:3], strict=True)), dict(zip((0.004, 0.008), rows[3:], strict=True))


_TABLES = st.lists(st.lists(st.integers(3300, 3400), min_size=4, max_size=4), min_size=5, max_size=5)


def _close(variant: str) -> dict[float, np.ndarray]:
    rates = losses_by_rate(plan_answers.close_cards())[variant]
    return {rate: np.array([of[seed] for seed in sorted(of)]) for rate, of in rates.items() if 0.003 < rate < 0.012}


def _choices(own: dict[float, np.ndarray]) -> list[dict[float, np.ndarray]]:
    return [{r: own[r] for r in c} for k in range(1, len(own) + 1) for c in combinations(own, k)]


def _stories_below_zero() -> float:
    ours, theirs = _choices(_close("CRoPE QKV")), _choices(_close("RoPE"))
    return sum(bool(d.mean() + _half(d) < 0) for d in (at_own_best(a, b) for a in ours for b in theirs))


def _seeds_enough() -> float:
    d = at_own_best(_close("CRoPE QKV"), _close("RoPE"))
    return min(k for k in range(2, 9) if all(smallest_margin(c) <= 0.02 for c in combinations(d, k)))


LAB = (
    Task(
        id="ch15.at-own-best",
        statement=r"Write `at_own_best(a, b)`. Each argument is a dictionary from learning rates to arrays of losses, "
        r"one for each seed; the two may have different rates. Each model takes the rate at which its own mean loss is "
        r"lowest. Return the array of differences there, `a` minus `b`, seed by seed. `np` is there.",
        solution=at_own_best,
        examples=_TABLES.map(_two_models),
        mistakes={
            "both models got the rate of the first, or the nearest to it": _at_the_first_s_best,
            "each seed took a rate of its own": lambda a, b: (
                np.min([*a.values()], axis=0) - np.min([*b.values()], axis=0)
            ),
            "it is `b` minus `a`": lambda a, b: -at_own_best(a, b),
            "the rate with the one luckiest seed was taken": lambda a, b: (
                a[min(a, key=lambda r: a[r].min())] - b[min(b, key=lambda r: b[r].min())]
            ),
            "the first rate of each was taken": lambda a, b: a[min(a)] - b[min(b)],
        },
        hint=r"`min(a, key=...)` gives a rate of `a`: the key is the mean of `a[rate]`.",
        why=r"It is fair to the models, and it still depends on which rates were tried.",
    ),
    Question(
        id="ch15.stories",
        prompt=r"CRoPE QKV minus RoPE, eight seeds, no seed left out: in how many of the 105 stories is CRoPE QKV "
        r"*better*, with the whole 95 % interval below zero?",
        answer=28,
        tolerance=0.1,
        unit="stories",
        truth=_stories_below_zero,
        hint=r"Count those of `gaps` for which `gap.mean + gap.half` is below zero. Have you put the models back?",
        feedback={
            "19": "In these stories the interval lies above zero: a larger loss is worse.",
            "47": "These leave zero out on either side. Count the lower side alone.",
            "8": "These lie below the margin. Ask for those below zero.",
        },
        why=r"In all of them RoPE was never tried at $0.0057$. Where it was, no choice for CRoPE QKV makes it better.",
    ),
    Question(
        id="ch15.seeds-enough",
        prompt=r"CRoPE QKV and RoPE, each at its best of all close rates. How many seeds must count at least, so that "
        r"*every* choice of so many of the eight has its 95 % interval within $\pm 0.02$ nats?",
        answer=6,
        tolerance=0.1,
        unit="seeds",
        truth=_seeds_enough,
        hint=r"Where does the curve of the worst choice cross the margin? Print `lines` if the picture is too small.",
        feedback={"5": "Not every choice of five: look at the worst one.", "2": "That is the best choice of two."},
        why=r"With six or more no lawyer can choose seeds that leave the margin. Of five, the worst choice does.",
    ),
)
