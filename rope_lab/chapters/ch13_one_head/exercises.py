"""Chapter 13, One head that looks ahead: who wins the softmax, what a lead costs, and two heads to build."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra.additive_head import least_tilt_range
from rope_lab.algebra.one_head import neighbour_gap, offset_logits, target_weight
from rope_lab.algebra.rotation import frequencies
from rope_lab.algebra.schedule import decay
from rope_lab.exercises.core import Question, Task


def _what_concentrates() -> list[bool]:
    small, large = (frequencies(d) for d in (128, 8192))
    ratio_falls = bool(decay(1, theta=large) < 0.5 * decay(1, theta=small))
    weight_grows = target_weight(32, theta=large) > 0.99
    return [ratio_falls == ratio and weight_grows == weight for ratio, weight in ((1, 1), (0, 1), (1, 0), (0, 0))]


def _printed_query_finds() -> list[bool]:
    keys = np.arange(-4, 5)
    top = keys[offset_logits(keys, offset=-2, theta=frequencies(64)).argmax()]  # e^(-2i theta), with the dagger
    return [bool(top == wanted) for wanted in (2, 1, -2, 0)]


def head_query(offsets, weights, theta):
    turned = np.exp(1j * np.outer(offsets, theta))
    return np.asarray(weights) @ turned


def _other_way(offsets, weights, theta):
    return head_query(-np.asarray(offsets), weights, theta)


def amplitude_for(share, theta, window):
    k = np.arange(1, window + 1)
    behind = (1 - np.cos(np.outer(k, theta))).sum(axis=1)

    def weight(c):
        return 1 / (1 + 2 * np.exp(-c * behind).sum())

    low, high = 0.0, 1.0
    while weight(high) < share:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if weight(middle) < share:
            low = middle
        else:
            high = middle
    return high


def _judge_amplitude(result, share, theta, window) -> str:
    try:
        c = float(result)
    except (TypeError, ValueError):
        return f"expected one number, got {result!r}"
    if not np.isfinite(c) or c <= 0:
        return f"expected a positive number, got {c:g}"
    right = amplitude_for(share, theta, window)
    if abs(c - right) <= 1e-3 * right:
        return ""
    got = target_weight(window, theta=theta, amplitude=c)
    return f"with the amplitude {c:.4g} the wanted key has the weight {got:.4f}, and {share:.4f} was asked for"


def _lead_of_the_softmax(share, theta, window):
    """A wrong attempt: all other keys count as if they were as near as the neighbours."""
    return np.log(2 * window * share / (1 - share)) / neighbour_gap(theta)


_thetas = st.sampled_from([(8, 1e4), (16, 500.0), (16, 1e4), (64, 1e4)]).map(lambda d: frequencies(d[0], base=d[1]))
_offsets = st.lists(st.integers(-6, 6), min_size=1, max_size=3, unique=True).filter(any).map(np.array)
_weights = st.lists(st.integers(-4, 4).filter(bool).map(lambda n: n / 2), min_size=3, max_size=3).map(np.array)
_heads = st.tuples(_offsets, _weights, _thetas).map(lambda drawn: (drawn[0], drawn[1][: len(drawn[0])], drawn[2]))

EXERCISES = (
    Question(
        id="ch13.predict-concentration",
        kind="prediction",
        prompt=r"A head looks for the next word; no mask hides it. "
        r"Each of its $\tfrac d2$ planes gives 1 at the wanted key, so the logit there is $\tfrac d2$. "
        r"Divide the logit of the key beside it by this, and call the result the *ratio*. Among the keys up to 32 "
        r"places away, softmax gives the wanted one a *weight*. What happens to ratio and weight as $d$, the width of "
        r"the head, grows?",
        choices=(
            r"The ratio falls towards 0, and the weight goes to 1.",
            r"The ratio stays near 1, and still the weight goes to 1.",
            r"The ratio falls towards 0, and the weight stays away from 1.",
            r"The ratio stays near 1, so the weight stays away from 1.",
        ),
        answer="B",
        truth=_what_concentrates,
        feedback={
            "A": r"The weight is right. But most of RoPE's planes are slow: one step hardly turns them.",
            "C": r"Neither. Most of RoPE's planes are slow, so the ratio hardly moves; and softmax sees no ratios.",
            "D": r"The ratio is right. But softmax looks at differences of logits, and the logits grow.",
        },
        why=r"The ratio tends to $0.974$, for base $10^4$. But softmax looks at differences: the same 2.6 % of a "
        r"growing logit grow as well. At $d = 1024$ they are $13.6$, and the weight is above $0.9999$.",
    ),
    Question(
        id="ch13.printed-query",
        prompt=r"Somebody gives a head the query $\tilde q = (e^{-2\mathrm i\theta_0}, e^{-2\mathrm i\theta_1}, "
        r"\dots)$, and every key is $(1, 1, \dots)$. The logit is $\mathrm{Re}[\tilde q^\dagger e^{\mathrm "
        r"i(n-m)\theta}\, \tilde k]$. Which key gets the most weight?",
        choices=(
            r"The one two places ahead, $n = m + 2$.",
            r"The next one, $n = m + 1$.",
            r"The one two places back, $n = m - 2$.",
            r"The token itself.",
        ),
        answer="C",
        truth=_printed_query_finds,
        feedback={
            "A": r"This would be right for the query with the other sign in its exponents.",
            "B": r"The 2 in the exponents is the distance; one place is another query.",
            "D": r"At $n = m$ the phases are $2\theta_i$, and they do not vanish.",
        },
        hint=r"The dagger conjugates: $e^{-2\mathrm i\theta}$ becomes $e^{+2\mathrm i\theta}$. For which $n - m$ do "
        r"all the phases vanish at once?",
        why=r"The phases are $(n - m + 2)\,\theta_i$. They vanish together at $n - m = -2$.",
    ),
    Question(
        id="ch13.tilt",
        prompt=r"A head with absolute positions looks one or two places ahead, everywhere in a window of $1002$ "
        r"positions, and the wanted key leads by $5$ nats. The tilt at a key is what *next-next* adds to its logit, "
        r"less what *next* adds. How far must the tilt reach at least, from its lowest key to its highest?",
        answer=10000.0,
        tolerance=1.0,
        unit="nats",
        truth=lambda: least_tilt_range(1002, margin=5.0),
        feedback={
            "5000": r"Each kind of token asks for the lead of $5$ nats. The two demands add up.",
            "10": r"That is one step. The tilt rises at every step of the window.",
            "5": r"That is the lead. The tilt has to rise by more, and at every step of the window.",
            "10020": r"Not every position is a step: count the keys that somebody looks at.",
            "10010": r"Nearly: count again the steps from one wanted key to the next. Nobody looks at the first key.",
        },
        hint=r"From each key to the next it must rise by twice the lead. How many such steps are there?",
        why=r"$2\varepsilon (N - 2) = 2 \cdot 5 \cdot 1000$. A head with RoPE needs the same lead of $5$, and no tilt.",
    ),
    Task(
        id="ch13.head-query",
        statement=r"""
        A head may want several places at once. `offsets` lists them, `weights` says how much it wants each, and `theta`
        are the frequencies, one for each plane. Every key is $(1, 1, \dots)$.
        Write `head_query(offsets, weights, theta)`:
        the complex query, one number for each plane, whose logit is
        $\sum_j w_j \sum_i \cos((n - m - s_j)\,\theta_i)$.
        """,
        solution=head_query,
        examples=_heads,
        mistakes={
            r"it looks back: the sign of the exponent": _other_way,
            r"the first offset only": lambda offsets, weights, theta: head_query(offsets[:1], weights[:1], theta),
            r"one query for the mean offset": lambda offsets, weights, theta: (
                sum(weights) * np.exp(1j * np.mean(offsets) * theta) * (1 if len(offsets) > 1 else -1)
            ),
        },
        hint=r"The logit is linear in the query. What is the query for a single offset?",
        why=r"This sum is complex-linear in the weights: a row of such columns is the $\tilde W_q$ of the page.",
    ),
    Task(
        id="ch13.amplitude",
        statement=r"""
        Write `amplitude_for(share, theta, window)`: the amplitude $c$ at which the wanted key gets exactly the weight
        `share`, a number between $0.5$ and $1$. The logits are $c \sum_i \cos(k\,\theta_i)$ for keys at distances
        $k$ from
        `-window` to `window`. Three right digits are enough.
        """,
        solution=amplitude_for,
        judge=_judge_amplitude,
        examples=st.tuples(st.sampled_from([0.55, 0.6, 0.75, 0.9, 0.99]), _thetas, st.integers(1, 40)),
        mistakes={
            r"every other key counted as a neighbour": _lead_of_the_softmax,
            r"the keys on one side only": lambda share, theta, window: amplitude_for(
                share / (2 - share), theta, window
            ),
        },
        hint=r"The weight is $1 / (1 + 2\sum_{k=1}^{w} e^{-c\,b_k})$ with $b_k = \sum_i (1 - \cos k\theta_i)$, and it "
        r"grows with $c$. Halve an interval again and again.",
        why=r"The amplitude does not grow with the window for long: far keys are far below. With few planes it does, "
        r"when some offset comes back near to 0.",
    ),
)


def _smallest_width() -> float:
    return next(d for d in range(2, 1000, 2) if target_weight(64, theta=frequencies(d)) >= 0.99)


def _ghost() -> float:
    """The place where a head of four planes comes nearest to its top again, 10 to 400 places from the wanted key."""
    far = np.arange(10, 401)
    return float(far[decay(far, theta=frequencies(8)).argmax()])


LAB = (
    Question(
        id="ch13.smallest-width",
        prompt=r"The amplitude is 1, the base $10^4$, and keys stand up to 64 places to either side of the wanted one. "
        r"Which is the smallest even width $d$ at which the wanted key gets at least $0.99$ of the weight?",
        answer=390.0,
        tolerance=1.0,
        truth=_smallest_width,
        feedback={
            "256": r"There the needed amplitude is still above 1.",
            "512": r"There the amplitude 1 is enough, but a narrower head can do it too.",
            "204": r"This is the width for the weight 0.9.",
        },
        hint=r"Your `amplitude_for` falls as the width grows. Give the experiment widths between 256 and 512, and go "
        r"closer where the two lines cross.",
        why=r"The lead over a neighbour grows in proportion to $d$. By the chapter's law the missing weight is about "
        r"$2e^{(\cos 1 - 1)/2}\,e^{-\frac d2 (1 - g(1))}$, and it has to fall to $0.01$.",
    ),
    Question(
        id="ch13.ghost",
        prompt=r"A head of width 8 has the base $10^4$, so $\theta = (1, 0.1, 0.01, 0.001)$. How far from the wanted "
        r"key is its worst ghost, from 10 to 400 places?",
        answer=63.0,
        tolerance=0.5,
        unit="places",
        truth=_ghost,
        feedback={
            "44": r"There the first plane has nearly come round (seven turns). Where is the second one?",
            "377": r"There the two quick planes have come round, but the third has made more than half a turn.",
            "1": r"That is the neighbour. A ghost stands at least 10 places away.",
        },
        hint=r"Keep width and base as they are. `at` holds the distances, `logit` the curve. Where is the top of "
        r"`logit[10:]`?",
        why=r"After $20\pi \approx 62.8$ places the first plane has turned ten times and the second once. The two slow "
        r"planes have hardly moved.",
    ),
)
