"""Chapter 19: which angles are new in a longer text, and what each schedule of frequencies does about it."""

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra.frequency_schedules import NTK, Divided, DynamicNTK, Llama3
from rope_lab.algebra.rotation import frequencies
from rope_lab.algebra.schedule import turns
from rope_lab.exercises.core import Question, Task

LLAMA, WINDOW = frequencies(128, base=500000.0), 8192


def _new_hands():
    """Count the hands that point, somewhere in an eight times longer text, in a direction that they never had."""
    count, turn = 0, 2 * np.pi
    for theta in LLAMA:
        had = np.sort(np.arange(WINDOW) * theta % turn)
        had = np.array([had[-1] - turn, *had, had[0] + turn])
        later = np.arange(WINDOW, 8 * WINDOW) * theta % turn
        after = np.searchsorted(had, later)
        gap = np.minimum(later - had[after - 1], had[after] - later).max()
        count += int(gap > theta)  # up to a step it is no new direction
    return count


def _without_a_turn():
    return int((turns(WINDOW, theta=LLAMA) < 1).sum())


def _how_many_are_new():
    count, hands = _new_hands(), len(LLAMA)
    between = hands / 3 < count < hands / 2 and count == _without_a_turn()
    return [count == 0, between, count == hands, 0 < count <= 3]


def _what_the_neighbour_does():
    """The list for a text of 1000 tokens, alone and beside one of 20,000."""
    made = DynamicNTK(factor=4, window=WINDOW)
    alone, beside = (made.at(n).frequencies(128, base=500000.0) for n in (1000, 20000))
    off = np.abs(1000 * (alone - beside)).max()
    return [off == 0, 0 < off < 1e-3, off > 1, False]


def _new_wavelength():
    theta = 2 * np.pi / 4000
    base = theta**-2.0  # so that the second of two planes has it
    return float(2 * np.pi / Llama3(factor=8, window=WINDOW).frequencies(4, base=base)[1])


def _what_the_factor_multiplies():
    m, rng = 1.1, np.random.default_rng(0)
    q, k = rng.normal(size=(2, 256))
    turning, rest = q[:64] @ k[:64], q[64:] @ k[64:]
    q[:64], k[:64] = m * q[:64], m * k[:64]
    now = q @ k
    return [bool(np.isclose(now, x)) for x in (m**2 * (turning + rest), m**2 * turning + rest, turning + m**2 * rest)]


def by_parts(theta, window, factor, slow, fast):
    theta = np.asarray(theta)
    made = window * theta / (2 * np.pi)
    kept = np.clip((made - slow) / (fast - slow), 0, 1)
    return theta * (kept + (1 - kept) / factor)


def _by_wavelength(theta, window, factor, slow, fast):
    theta = np.asarray(theta)
    kept = np.clip((turns(window, theta=theta) - slow) / (fast - slow), 0, 1)
    return 1 / (kept / theta + (1 - kept) * factor / theta)


def _kept_and_slowed_exchanged(theta, window, factor, slow, fast):
    theta = np.asarray(theta)
    kept = np.clip((turns(window, theta=theta) - slow) / (fast - slow), 0, 1)
    return theta * (kept / factor + (1 - kept))


_settings = st.tuples(
    st.sampled_from([100.0, 10000.0, 500000.0]).map(lambda base: frequencies(16, base=base)),
    st.sampled_from([512, 4096]),
    st.sampled_from([2.0, 8.0]),
    st.sampled_from([1.0, 2.0]),
    st.sampled_from([4.0, 32.0]),
)


def new_planes(trained, used, window, length):
    met = window * np.asarray(trained)
    further = length * np.asarray(used) > met
    return int(((met < 2 * np.pi) & further).sum())


def _factor_of_ntk():
    old = frequencies(128, base=10000.0)
    new = (new_planes(old, NTK(s).frequencies(128, base=10000.0), 4096, 4 * 4096) for s in range(1, 50))
    return float(list(new).index(0) + 1)


def _which_hand_moves_the_break():
    """Each hand a third faster: with which one do the places 1792 to 2303 get worse by more than a nat?"""
    from torch import no_grad
    from torch.nn.functional import cross_entropy

    from rope_lab.nn import read_long
    from rope_lab.story import load_story, story_stream

    model, text = load_story(), story_stream()[:2305]

    def loss(divisors):
        with no_grad():
            seen = read_long(model, text[None, :-1], schedule=Divided(divisors))
        return cross_entropy(seen[0, 1792:], text[1793:])

    lists = [tuple(0.7 if i == plane else 1.0 for i in range(4)) for plane in range(4)]
    far = [float(loss(divisors) - loss((1.0,) * 4)) for divisors in lists]
    return [gap > 1 and gap == max(far) for gap in far]


EXERCISES = (
    Question(
        id="ch19.predict-new-angles",
        kind="prediction",
        prompt=r"A head has 64 clock hands, fast and slow. It was trained on texts of 8,192 tokens. Now it reads a "
        r"text eight times as long. On the way, how many of its hands come to directions that they never had?",
        choices=("none, hands go round", "between a third and a half, the slow ones", "all", "only the fastest ones"),
        answer="B",
        truth=_how_many_are_new,
        why=r"A hand that made a whole turn in training has been everywhere. A slow hand has not: it stopped somewhere "
        r"on its first turn, and now it goes on. In Llama 3 8B "
        + f"{_without_a_turn()} of {len(LLAMA)} hands are slow in this sense.",
        feedback={
            "A": r"A hand that goes round has been everywhere. Do all hands go round within 8,192 tokens?",
            "C": r"The fastest hand makes a turn in six tokens. Is there a direction that it never had?",
            "D": r"The fastest hand makes a turn in about six tokens. Look at the other end.",
        },
    ),
    Question(
        id="ch19.predict-neighbour",
        kind="prediction",
        prompt=r"A server runs on transformers and uses dynamic NTK. It reads a short text alone, and then once more "
        r"in a batch, beside a long text. Do the logits of the short text change?",
        choices=(
            "no, texts of a batch do not see each other",
            "yes, by rounding",
            "yes, as much as under another base",
            "only if the padding is on the left",
        ),
        answer="C",
        truth=_what_the_neighbour_does,
        why=r"The schedule asks for a length, and the code takes the largest position of the whole batch. So the short "
        r"text is read with the list of the long one.",
        feedback={
            "A": r"Attention keeps them apart. Who tells the schedule how long the text is?",
            "B": r"Rounding is there too. But the list of frequencies itself is another one.",
            "D": r"Where the padding stands does not matter. What does the schedule take as the length?",
        },
    ),
    Question(
        id="ch19.wavelength",
        prompt=r"Llama 3.1 slows its planes by up to 8, for a window of 8,192 tokens, with 1 and 4 turns. A plane had "
        r"a wavelength of 4,000 tokens. What is it now, in tokens?",
        answer=9288.0,
        tolerance=60.0,
        unit="tokens",
        truth=_new_wavelength,
        hint=r"It made $8192/4000 = 2.048$ turns. Which share of its *frequency* stays?",
        why=r"The share $(2.048 - 1)/3 = 0.349$ stays. The frequency is multiplied by $0.349 + 0.651/8 = 0.4307$, and "
        r"the wavelength is divided by it.",
        feedback={
            "4000": r"Only planes with four turns or more stay.",
            "32000": r"Only planes with less than one turn are slowed by all of 8.",
            "22219": r"You mixed the wavelengths. The rule mixes frequencies.",
        },
    ),
    Question(
        id="ch19.temperature",
        prompt=r"A head has 256 coordinates and turns 64 of them. YaRN multiplies cosines and sines by its attention "
        r"factor $m$. What becomes of a logit?",
        choices=(
            r"All of it is multiplied by $m^2$.",
            r"The part of the 64 turning coordinates is multiplied by $m^2$, the rest stays.",
            r"The part of the 192 others is multiplied by $m^2$.",
        ),
        answer="B",
        truth=_what_the_factor_multiplies,
        hint="Which coordinates of the query meet a cosine or a sine?",
        why="Only coordinates that turn are multiplied by cosines and sines. So this is no temperature of the softmax.",
        feedback={
            "A": r"This is so if every coordinate turns. Here 192 never meet a cosine.",
            "C": r"These meet no cosine and no sine.",
        },
    ),
    Task(
        id="ch19.by-parts",
        statement=r"Write `by_parts(theta, window, factor, slow, fast)`. `theta` is an array of frequencies. A plane "
        r"that makes `fast` turns or more in `window` tokens stays, one with `slow` turns or fewer is slowed by "
        r"`factor`, the stretch, and between them the share that stays grows in a straight line with the turns. Return "
        r"the new frequencies.",
        solution=by_parts,
        examples=_settings,
        mistakes={
            "wavelengths mixed, where frequencies are": _by_wavelength,
            "fast planes slowed, and slow ones kept": _kept_and_slowed_exchanged,
            "every plane slowed alike": lambda theta, window, factor, slow, fast: np.asarray(theta) / factor,  # noqa: ARG005
        },
        hint=r"The turns are `window * theta / (2 * np.pi)`, and `np.clip` keeps a share between 0 and 1.",
        why=r"With 1 and 4 turns this is Llama 3's rule. With 1 and 32 it is the one of YaRN's paper.",
    ),
)

LAB = (
    Question(
        id="ch19.which-hand",
        prompt=r"One hand decides where this model breaks. Which of its four?",
        choices=("plane 1, the fastest", "plane 2", "plane 3", "plane 4, the slowest"),
        answer="D",
        truth=_which_hand_moves_the_break,
        hint=r"Make one hand faster: a divisor of 0.7 for it alone, 1 for the others. Does the break move?",
        why=r"With $0.7$ the break comes at about $0.7$ of the old place, and with $0.5$ at half of it. So it comes at "
        r"a certain *angle* of plane 4. That angle is far beyond the $0.51$ radians of the training.",
        feedback={"C": r"This one costs something everywhere. Does the *place* of the break move?"},
    ),
    Task(
        id="ch19.new-planes",
        statement=r"Write `new_planes(trained, used, window, length)`. A plane that turned by less than $2\pi$ in "
        r"`window` tokens met the angles up to `window * trained` only. Return how many such planes turn further than "
        r"that in `length` tokens, with the frequencies `used`. Both lists are arrays.",
        solution=new_planes,
        examples=st.builds(
            lambda base, s, window, longer: (
                frequencies(16, base=base),
                NTK(s).frequencies(16, base=base),
                window,
                longer * window,
            ),
            st.sampled_from([100.0, 10000.0]),
            st.sampled_from([1.0, 2.0, 50.0]),
            st.integers(2, 200),
            st.sampled_from([1, 4]),
        ),
        mistakes={
            "planes with a whole turn are counted": lambda trained, used, window, length: int(
                (length * used > window * trained).sum()
            ),
            "the new list is not looked at": lambda trained, used, window, length: new_planes(  # noqa: ARG005
                trained, trained, window, length
            ),
            "half a turn": lambda trained, used, window, length: int(
                ((window * trained < np.pi) & (length * used > window * trained)).sum()
            ),
        },
        hint=r"Two conditions, joined by `&`, and `.sum()`.",
    ),
    Question(
        id="ch19.ntk-factor",
        prompt=r"Llama 2 has heads of 128, base 10,000 and a window of 4,096. Which is the smallest whole stretch of "
        r"NTK-aware scaling with which no plane is at a new angle in a text of four windows?",
        answer=7.0,
        tolerance=0.5,
        truth=_factor_of_ntk,
        hint=r"`NTK(factor=s).frequencies(128, base=10_000.0)` for `s` from 1 on, and your `new_planes`.",
        why=r"The first plane without a whole turn has the number $i^* = 46$, and $4^{63/46} = 6.7$.",
        feedback={"4": r"Then only the very last plane is slowed by 4, and the others by less."},
    ),
)
