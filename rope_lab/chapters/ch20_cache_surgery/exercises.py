"""Chapter 20: what a cache of turned keys can be made to do, and what rounding does to it."""

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra import rounded_cache
from rope_lab.algebra.rotation import frequencies, rotate
from rope_lab.algebra.rounded_cache import still_below
from rope_lab.exercises.core import Question, Task

THETA = frequencies(128)


def _which_planes():
    keys = np.random.default_rng(20).normal(size=(8, 128))
    miss = rounded_cache.turn_miss(keys, theta=THETA, steps=1000, store="bfloat16").mean(axis=0)
    fast, middle, slow = miss[:20].mean(), miss[36:50].mean(), miss[58:].mean()
    return [
        fast > 2 * max(middle, slow),
        middle > 2 * max(fast, slow),
        slow > 2 * max(fast, middle),
        max(fast, middle, slow) < 0.02,
    ]


def _how_many_freeze():
    return int((still_below("bfloat16") > THETA).sum())


def _which_are_exact():
    """Two layers without weights in the way: what a token holds in the second has read the tokens before it."""
    rng = np.random.default_rng(3)
    x, theta = rng.normal(size=(8, 8)), frequencies(8)

    def layers(x):
        at, seen = np.arange(len(x)), np.tril(np.ones((len(x), len(x)), dtype=bool))
        q = rotate(x, at, theta=theta)
        weights = np.where(seen, np.exp(q @ q.T), 0)
        return q, rotate(x + weights / weights.sum(axis=1, keepdims=True) @ x, at, theta=theta)

    def differ(kept):
        by = np.array(kept)
        pairs = zip(layers(x), layers(x[kept]), strict=True)
        return [
            bool(np.abs(rotate(held[kept], -by + np.arange(len(by)), theta=theta) - fresh).max() > 1e-9)
            for held, fresh in pairs
        ]

    first, second = differ([2, 3, 4, 5, 6, 7])
    return [not first and not second, not first and second, first and second, not any(differ([4, 5, 6, 7]))]


def move_down(held, dropped, theta):
    return held * np.exp(-1j * dropped * np.asarray(theta))


def _worst(block, store):
    """The worst plane after 1,024 places, the median of 64 keys."""
    keys = np.random.default_rng(5).normal(size=(64, 128))
    miss = rounded_cache.turn_miss(keys, theta=THETA, steps=1024 // block, by=block, store=store)
    return np.median(miss, axis=0).max()


def _smallest_block(store):
    return float(next(b for b in (2**k for k in range(11)) if _worst(b, store) < 0.06))


def first_wrong(here, there):
    wrong = np.abs(here - there).max(axis=(1, 2)) > 1e-6
    return int(np.append(wrong, True).argmax())


def _read_twice(layer, token, by):
    here, there = np.ones((2, 2, 2, 1))
    there[layer:, token] += by
    return here, there


_reads = st.builds(_read_twice, st.integers(0, 2), st.integers(0, 1), st.sampled_from([1.0, -1.0, 1e-8]))

_planes = st.tuples(st.complex_numbers(max_magnitude=10), st.integers(0, 200).map(lambda n: n / 100))
_caches = st.builds(
    lambda planes, dropped: (np.array([key for key, _ in planes]), dropped, np.array([theta for _, theta in planes])),
    st.lists(_planes, min_size=1, max_size=4),
    st.integers(0, 50),
)


EXERCISES = (
    Question(
        id="ch20.predict-planes",
        kind="prediction",
        prompt=r"The head has 64 planes, from $\theta_0 = 1$ down to about $0.0001$ radians per place. Its cache holds "
        r"bfloat16. A thousand times, the oldest token is dropped and all keys are turned back by one place. In which "
        r"planes are the keys most wrong afterwards?",
        choices=("the fastest few", "those two thirds of the way down", "the slowest few", "in none, turns add up"),
        answer="B",
        truth=_which_planes,
        why=r"A turn that is smaller than half the step to the next number is lost. So the slow planes stand still. "
        r"The slowest would have turned by a tenth of a radian only, and miss little. Those two "
        r"thirds of the way down stand still or nearly so, and should have turned by a radian or more.",
        feedback={
            "A": r"A fast plane turns by a large angle, and most of its rounding errors cancel.",
            "C": r"They do stand still. By how much should they have turned in a thousand places?",
            "D": r"Exact turns add up. What becomes of a turn that is smaller than the step between two numbers?",
        },
    ),
    Question(
        id="ch20.predict-layers",
        kind="prediction",
        prompt=r"Drop the first tokens of a text, and turn all other keys to their new places, without any rounding. "
        r"In which layers does the cache now hold what a reading of the shortened text would give?",
        choices=("in all", "in the first only", "in none", "in all, if the dropped tokens stood at the beginning"),
        answer="B",
        truth=_which_are_exact,
        why=r"A key of the first layer is made from its own token and its place. A key of the second is made from what "
        r"the first layer's attention returned, and that has read the tokens that are gone.",
        feedback={
            "A": r"The places are right in all of them. What else is in a key of the second layer?",
            "C": r"In one layer a key knows nothing but its own token and its place.",
            "D": r"All later tokens have read the beginning. Which tokens has nobody read?",
        },
    ),
    Question(
        id="ch20.freeze-count",
        prompt=r"A head of 128 with base 10,000, in bfloat16. In how many of its 64 planes does a shift by one place "
        r"leave a pair with two equal coordinates where it was? Use $\varphi < 2^{-9}$.",
        answer=20.0,
        tolerance=0.5,
        unit="planes",
        truth=_how_many_freeze,
        hint=r"$\theta_i = 10000^{-i/64}$. From which $i$ on is it below $1/512$?",
        why=r"$10000^{-i/64} < 2^{-9}$ for $i > 64 \cdot 9 \ln 2 / \ln 10000 = 43.3$. So the planes 44 to 63 stand.",
        feedback={
            "44": r"These move. How many are left?",
            "21": r"Plane 43 turns by 0.00205 radians, a little more than $1/512$.",
            "6": r"This is float16's step. bfloat16 has eight significant bits.",
        },
    ),
    Task(
        id="ch20.move-down",
        statement=r"Write `move_down(held, dropped, theta)`. `held` is a list of complex numbers, one for each plane: "
        r"a cached key. `dropped` tokens in front of it go, a whole number. `theta` has the planes' frequencies. "
        r"Return the key at its new place, as an array.",
        solution=move_down,
        examples=_caches,
        mistakes={
            "turned the wrong way": lambda held, dropped, theta: move_down(held, -dropped, theta),
            "every plane by the first frequency": lambda held, dropped, theta: move_down(held, dropped, theta[:1]),
            "turned by one place only": lambda held, dropped, theta: move_down(held, min(dropped, 1), theta),
        },
        hint=r"A key at place $n$ was multiplied by $e^{\mathrm i n\theta_i}$. Its new place is $n$ minus `dropped`.",
        why=r"The key's own place is not needed. This is why a cache can be mended at all.",
    ),
)

LAB = (
    Task(
        id="ch20.first-wrong",
        statement=r"Write `first_wrong(here, there)`. Both are arrays of keys: layers, tokens, coordinates. Return the "
        r"number of the first layer, counted from 0, in which some coordinate differs by more than $10^{-6}$. If no "
        r"layer differs, return the number of layers.",
        solution=first_wrong,
        examples=_reads,
        mistakes={
            "the first token that differs": lambda here, there: int(
                np.append(np.abs(here - there).max(axis=(0, 2)) > 1e-6, True).argmax()
            ),
            "the sign is forgotten": lambda here, there: int(
                np.append((here - there).max(axis=(1, 2)) > 1e-6, True).argmax()
            ),
            "rounding counts as well": lambda here, there: int(
                np.append((here != there).any(axis=(1, 2)), True).argmax()
            ),
            "0 where nothing differs": lambda here, there: int((np.abs(here - there).max(axis=(1, 2)) > 1e-6).argmax()),
        },
        hint="Take the largest difference of each layer first. Then look for the first one that is too large.",
    ),
    Question(
        id="ch20.smallest-block",
        prompt=r"A cache in bfloat16 forgets 1,024 tokens, in blocks of $B$, a power of two. Which is the smallest $B$ "
        r"with which the worst plane misses less than 6 % of its length?",
        answer=32.0,
        tolerance=0.5,
        unit="tokens",
        truth=lambda: _smallest_block("bfloat16"),
        hint=r"Change `block` above until the top of the curve lies below 0.06.",
        why=r"A plane stands still if $B\theta < 2^{-9}$. Then it lags by $1024\,\theta$, which is less than $2/B$.",
        feedback={"1": r"The block of one token is the worst of all.", "1024": r"This is right too, but not smallest."},
    ),
    Question(
        id="ch20.half-block",
        prompt=r"And for float16, with the same 6 %? A power of two.",
        answer=4.0,
        tolerance=0.5,
        unit="tokens",
        truth=lambda: _smallest_block("float16"),
        hint=r"float16 has three binary digits more than bfloat16.",
        why=r"Its steps are eight times as fine, so a turn that survives may be eight times as small.",
    ),
)
