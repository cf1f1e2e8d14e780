"""Chapter 2, Many planes: a schedule of frequencies, from one radian per position to almost none."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra import schedule
from rope_lab.algebra.rotation import frequencies, rotation_2d
from rope_lab.exercises.core import Question, Task

# --- the first prediction: 64 planes, 8192 positions, base 500,000 ---


def _how_many_never_turn() -> list[bool]:
    never = (schedule.turns(8192, theta=frequencies(128, base=5e5)) < 1).sum()
    return [bool(never == 0), bool(5 <= never <= 15), bool(25 <= never <= 35), bool(never >= 55)]


# --- the second prediction: how often does one step further raise the logit of equals? ---


def _how_often_up() -> list[bool]:
    steps = np.diff(schedule.decay(np.arange(4096), theta=frequencies(128)))
    up = (steps > 0).mean()
    return [bool(up == 0), bool(0.05 < up < 0.15), bool(0.4 < up < 0.6), bool(up == 1)]


# --- which pair of random draws has a flat spread ---


def _spreads_that_are_flat() -> list[bool]:
    theta, r = frequencies(8), np.arange(200)
    long, across = np.diag(np.tile([1.9, 0.1], 4)), np.diag(np.tile([0.1, 1.9], 4))
    round_ = np.diag(np.repeat([3.0, 1.0, 0.5, 0.1], 2))
    flat = []
    for M_q, M_k in ((long, long), (long, round_), (long, across)):
        v = schedule.logit_variance(r, theta=theta, q_moments=M_q, k_moments=M_k)
        flat.append(bool(np.ptp(v) < 1e-9 * v[0]))
    return flat


# --- the first task: planes that never complete a turn ---


def unfinished(head_dim, base, window):
    i = np.arange(head_dim // 2)
    wavelength = 2 * np.pi * base ** (2 * i / head_dim)
    return int((wavelength > window).sum())


def _count(head_dim, condition) -> int:
    return int(sum(condition(i) for i in range(head_dim // 2)))


def _near_a_wavelength(head_dim, base, i, beyond):
    """The last window in which a plane does not complete a turn, or the first in which it does."""
    return head_dim, base, int(2 * np.pi * base ** (2 * (i % (head_dim // 2)) / head_dim)) + beyond


_widths = st.integers(1, 64).map(lambda n: 2 * n)
_bases = st.sampled_from([100.0, 10000.0, 500000.0, 1000000.0])
_sizes = st.one_of(
    st.tuples(_widths, _bases, st.integers(7, 200000)),
    st.builds(_near_a_wavelength, _widths, _bases, st.integers(0, 63), st.integers(0, 1)),
    st.builds(_near_a_wavelength, st.just(128), st.just(1e6), st.integers(-4, -1), st.integers(0, 1)),  # pi has digits
)


# --- the second task: partial rotary ---


def rotate_partial(x, position, theta):
    y = np.array(x, dtype=float)
    for i, frequency in enumerate(theta):
        pair = slice(2 * i, 2 * i + 2)
        y[pair] = rotation_2d(position * frequency) @ y[pair]
    return y


def _schedule_of_the_whole_head(x, position, theta):
    return rotate_partial(x, position, frequencies(len(x))[: len(theta)])


def _float(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False).map(lambda value: round(value, 3))


@st.composite
def _partial_cases(draw):
    planes = draw(st.integers(1, 4))
    turning = draw(st.integers(1, planes))
    x = draw(st.lists(_float(-3, 3), min_size=2 * planes, max_size=2 * planes).map(np.array))
    return x, draw(_float(-20, 20)), np.array(draw(st.lists(_float(0, 2), min_size=turning, max_size=turning)))


EXERCISES = (
    Question(
        id="ch02.predict-turns",
        kind="prediction",
        prompt=r"In Llama 3 8B a head has 64 planes. The first turns by one radian per position; each of the others is "
        r"slower than the one before it by the same factor, and the last needs 2.6 million positions for one turn. In "
        r"training the model read 8192 tokens at a time. About how many of the 64 planes never turned all the way "
        r"round?",
        choices=(r"none", r"about 10", r"about 30", r"about 60"),
        answer="C",
        truth=_how_many_never_turn,
        why=r"Counting planes is counting on a logarithmic axis. From 6.3 positions to 2.6 million is a factor of "
        r"407,000, and the window is 1300 times 6.3. $\ln(1300)/\ln(407000)$ is a little over one half: 35 planes turn "
        r"at least once, and 29 do not.",
        feedback={
            "A": r"The slowest plane needs 2.6 million positions for a turn, and the window has 8192.",
            "B": r"Put 6.3, 8192 and 2.6 million on a logarithmic axis, and look how much of it lies above 8192.",
            "D": r"8192 is a small part of 2.6 million on an ordinary axis. But the planes are evenly spaced on a "
            r"logarithmic one, since each is slower by the same factor.",
        },
    ),
    Question(
        id="ch02.predict-steps",
        kind="prediction",
        prompt=r"Query and key are equal, with the same length in each of 64 planes, and the base is 10,000. Together "
        r"at first, they drift apart, one position at a time, 4095 steps in all. Their logit falls from its maximum "
        r"to about zero. In how many of these steps does it go **up**?",
        choices=(r"in none: it falls at every step", r"in about one of ten", r"in about half of them", r"in all"),
        answer="C",
        truth=_how_often_up,
        why=r"The decay is a trend, and far out it is a very slow one. The fast planes go on turning, and each full "
        r"turn lifts the sum about as often as it lowers it. A single step says almost nothing about the trend.",
        feedback={
            "A": r"That would be so if every cosine were still on its way down. A plane that has passed half of its "
            r"turn is on its way up.",
            "B": r"The trend does go down, but slowly. In a single step the fast planes lift or lower the sum by much "
            r"more than that.",
            "D": r"Then the logit could not fall from its maximum to about zero.",
        },
    ),
    Question(
        id="ch02.slowest",
        prompt=r"A small head: `head_dim` 8, base 10000. How many positions does its slowest plane need for one turn?",
        answer=6283.185307179586,
        tolerance=10.0,
        unit="positions",
        truth=lambda: float(schedule.wavelengths(8)[-1]),
        feedback={
            "62831.85": r"That plane would have the number 4. Count the planes of a head of 8 components, from 0.",
            "1000": r"In that many positions the slowest plane turns by one radian. How many make a whole turn?",
            "198.7": r"Half of the exponent is missing: it is $2i/d$.",
            "10000": r"The base is not a wavelength: there is a factor of $2\pi$, and the last exponent is below 1.",
        },
        hint=r"There are four planes, so the slowest has $i = 3$, not $4$. Its exponent is $2i/d$.",
        why=r"$\lambda_3 = 2\pi \cdot 10000^{6/8} = 2\pi \cdot 1000$. With $i = 4$ it would be $2\pi \cdot 10000$, "
        r"and no plane of a head is ever that slow: the last exponent is $1 - 2/d$.",
    ),
    Question(
        id="ch02.flat-spread",
        prompt=r"Queries and keys are drawn independently, with mean zero, and so are the planes of each. "
        r"*Round* means: in each plane, every direction is as likely as any other. *Stretched*: in each plane, "
        r"one axis has a variance of 1.9 and the other of 0.1. For which pair is the variance of the logit the same at "
        r"every offset?",
        choices=(
            r"query stretched and key stretched, both along the first axis of each plane",
            r"query stretched along the first axis, key round, with a different size in each plane",
            r"query stretched along the first axis, key stretched along the second",
        ),
        answer="B",
        truth=_spreads_that_are_flat,
        hint=r"Turn the key by an offset, and compare the cloud of all keys before and after. For which of the three "
        r"does the cloud look as before?",
        why=r"A round key looks the same after any turn: $\mathcal R_r M_k \mathcal R_r^\top = M_k$. One round partner "
        r"is enough; its planes may differ in length. If neither is round, the variance may change with the offset.",
        feedback={
            "A": r"At offset 0 the two long axes lie on top of each other. Now turn one of them by a right angle.",
            "C": r"At offset 0 the long axis of one lies on the short axis of the other. Now turn one of them by a "
            r"right angle.",
        },
    ),
    Task(
        id="ch02.unfinished",
        statement=r"Write `unfinished(head_dim, base, window)`: how many planes of a head never complete a turn in "
        r"`window` positions, that is, have a wavelength of more than `window`. Plane $i$ turns by "
        r"$\theta_i = \mathrm{base}^{-2i/\mathrm{head\_dim}}$ radians per position, with $i$ from 0. Return an `int`.",
        solution=unfinished,
        examples=_sizes,
        mistakes={
            "a turn is one radian, not a whole circle": lambda d, base, w: _count(d, lambda i: base ** (2 * i / d) > w),
            "planes are counted from one": lambda d, base, w: unfinished(d, base, w / base ** (2 / d)),
            "those that do complete a turn are counted": lambda d, base, w: d // 2 - unfinished(d, base, w),
            "half of the exponent is lost": lambda d, base, w: _count(d, lambda i: 2 * np.pi * base ** (i / d) > w),
        },
        hint=r"A turn is $2\pi$ radians, so the wavelength is $2\pi/\theta_i$. How many $i$ are there?",
        why=r"With base 10000 and 4096 positions, 18 of the 64 planes of a head stay on their first turn.",
    ),
    Task(
        id="ch02.rotate-partial",
        statement=r"Write `rotate_partial(x, position, theta)`. `x` has shape `(d,)`; `theta` has `p` frequencies, at "
        r"most `d / 2` of them. Turn the first `p` pairs, `(x[0], x[1])`, `(x[2], x[3])` and so on, counter-clockwise, "
        r"pair $i$ by the angle `position * theta[i]`. All further components stay as they are. Return an array of "
        r"shape `(d,)` and leave `x` itself alone.",
        solution=rotate_partial,
        examples=_partial_cases(),
        mistakes={
            "the rest is dropped": lambda x, n, theta: rotate_partial(x, n, theta)[: 2 * len(theta)],
            "the rest becomes zero": lambda x, n, theta: (
                rotate_partial(x, n, theta) * (np.arange(len(x)) < 2 * len(theta))
            ),
            "it turns clockwise": lambda x, n, theta: rotate_partial(x, -n, theta),
            "the frequencies are those of the whole head": _schedule_of_the_whole_head,
            "every pair turns by the first frequency": lambda x, n, theta: rotate_partial(x, n, theta[0] + 0 * theta),
        },
        hint=r"Copy `x` first, in floating point. Then go through the frequencies and replace one pair at a time; what "
        r"you do not touch stays.",
        why=r"It is the full rotation with the frequency 0 for the remaining planes, so every theorem of this chapter "
        r"holds for it unchanged.",
    ),
)


# --- what the lab alone asks: a base for a window, an order upset, far words that are louder ---


def _growth_of_the_base() -> float:
    def base_for(window: int) -> float:
        low, high = 1.0, 1e12
        for _ in range(60):
            middle = np.sqrt(low * high)
            low, high = (low, middle) if unfinished(128, middle, window) >= 32 else (middle, high)
        return float(high)

    return base_for(16384) / base_for(8192)


def _first_rise() -> float:
    f = schedule.decay(np.arange(100), theta=frequencies(128))
    return int(np.argmax(f[1:] > f[:-1])) + 1


def _how_much_louder() -> float:
    across = {"q_moments": np.diag(np.tile([1.9, 0.1], 4)), "k_moments": np.diag(np.tile([0.1, 1.9], 4))}
    near, far = (schedule.logit_variance(r, theta=frequencies(8), **across) for r in (0, np.arange(100, 200000, 7)))
    return float(far.mean() / near)


LAB = (
    Question(
        id="ch02.base-for-window",
        prompt=r"A head has 64 planes. `base_for(window)` is the smallest base at which 32 of them never complete a "
        r"turn in the window. The window doubles. By which factor must this base grow?",
        answer=4,
        tolerance=0.04,
        truth=_growth_of_the_base,
        hint=r"Halve an interval of bases again and again: `unfinished(128, base, window)` grows with the base. "
        r"Do it for 8192 and for 16384.",
        feedback={
            "2": r"With twice the base the slowest plane is nearly twice as slow. The plane in the middle is not.",
            "1.414": r"It is the other way round: the plane in the middle slows with the root of the base.",
        },
        why=r"The plane in the middle, $i = d/4$, has the wavelength $2\pi\,\mathrm{base}^{1/2}$. To double it takes "
        r"four times the base.",
    ),
    Question(
        id="ch02.first-rise",
        prompt=r"Query and key are equal, with the same length in each of 64 planes, and the base is 10,000. Which is "
        r"the smallest offset whose logit is larger than that of the offset before it?",
        answer=12,
        tolerance=0.1,
        unit="positions",
        truth=_first_rise,
        hint=r"Compare `f[1:]` with `f[:-1]`. `np.argmax` finds the first `True`; to which offset does it belong?",
        feedback={"11": r"That is the last one before the rise.", "10": r"You counted two places too early."},
        why=r"The fastest plane has made nearly two turns, $4\pi = 12.6$, and some others come round as well.",
    ),
    Question(
        id="ch02.louder-far",
        prompt=r"Independent $q$ and $k$ have mean zero and independent components, and in each plane one axis has a "
        r"variance of 1.9 and the other of 0.1. You choose which. How many times as large as at offset 0 can the "
        r"variance of the logit be, on average over offsets at which all planes have turned many times?",
        answer=1 / 0.19,
        tolerance=0.1,
        unit="times",
        truth=_how_much_louder,
        hint=r"At offset 0 the logit should be small: what must long axes do there? And what do they do after a "
        r"quarter of a turn?",
        feedback={
            "0.5525": r"Your words are quieter when they are far apart. Which axis of the key should be the long one?",
            "1": r"One round partner makes the spread flat. Stretch both.",
            "9.526": r"That is the largest spread of one plane, after a quarter of a turn. Take the average.",
        },
        why=r"Put the long axes of the keys across those of the queries. A plane then adds $2 - 1.62 \cos 2r\theta_i$, "
        r"which is 0.38 at offset 0 and 2 on average.",
    ),
)
