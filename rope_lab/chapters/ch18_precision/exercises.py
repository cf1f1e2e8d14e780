"""Chapter 18: what rounding does to positions, angles and tables."""

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra import half_precision
from rope_lab.algebra.half_precision import Rounding
from rope_lab.algebra.rotation import frequencies
from rope_lab.exercises.core import Question, Task

THETA = frequencies(128, base=5e5)


def _which_count():
    left = len(np.unique(half_precision.round_to(np.arange(2**17), dtype="bfloat16")))
    return [abs(np.log(left / guess)) < 0.3 for guess in (131_072, 65_536, 16_384, 1400)]


def _how_the_table_errs():
    def worst(start):
        positions = np.arange(start, start + 100)
        return half_precision.turn_errors(positions, theta=THETA, rounding=Rounding(table="bfloat16")).max()

    growth = worst(100_000) / worst(10)
    return [abs(growth - 1) < 0.3, 30 < growth < 300, growth > 3000, growth < 0.3]


def _sharing():
    n = np.arange(2**16, 2**17)
    shared = np.unique(half_precision.round_to(n, dtype="bfloat16"), return_counts=True)[1]
    return float(shared[1:-1].mean())  # the two at the ends of the stretch have neighbours outside


def _who_keeps_the_law():
    q, k = np.random.default_rng(18).normal(size=(2, 128))
    m = np.arange(50_000, 100_000, 997)  # the offset is longer than a step

    def spread(**where):
        at = {"q_positions": m, "k_positions": m - 700, "theta": THETA}
        return np.ptp(half_precision.rounded_logits(q, k, rounding=Rounding(**where), **at))

    return [spread(**{where: "bfloat16"}) < 1e-6 for where in ("position", "theta", "angle", "table")]


def step(n, p):
    return 2 ** max(0, int(n).bit_length() - p)


def to_bfloat16(word):
    last = (word >> 16) & 1
    return (word + 0x7FFF + last) >> 16


_positions = st.one_of(st.integers(1, 2**20), st.integers(0, 20).map(lambda e: 2**e))
_words = st.one_of(
    st.floats(width=32, allow_nan=False, min_value=-(2.0**127), max_value=2.0**127).map(
        lambda x: int(np.float32(x).view(np.uint32))
    ),
    st.builds(lambda upper, lower: (upper << 16) | lower, st.integers(0, 0x7F00), st.sampled_from([0x8000, 0x7FFF])),
)

EXERCISES = (
    Question(
        id="ch18.predict-left",
        kind="prediction",
        prompt=r"A model reads 131,072 tokens, at the positions 0 to 131,071. To save memory, somebody stores the "
        r"positions in bfloat16. How many *different* positions are left?",
        choices=("all 131,072", "about 65,000", "about 16,000", "about 1,400"),
        answer="D",
        truth=_which_count,
        why=r"bfloat16 has eight significant bits. It holds the integers up to 256, and from there on only 128 numbers "
        r"between each power of two and the next. From 256 to 131,072 there are nine such stretches: 256 and 9 times "
        r"128 make 1,408, and 131,072 itself one more.",
        feedback={
            "A": r"Sixteen bits make 65,536 patterns, so 131,072 positions cannot all differ.",
            "B": r"There are that many patterns of sixteen bits. But most of them are fractions, negative or huge.",
            "C": r"This would be an integer of fourteen bits. How many digits does bfloat16 keep?",
        },
    ),
    Question(
        id="ch18.predict-table",
        kind="prediction",
        prompt=r"Now nothing is cast until the very end: positions and angles are exact, and only the finished cosines "
        r"and sines are stored in bfloat16. How large is the worst error of a rotated vector near position 100,000, "
        r"compared to the worst near position 10?",
        choices=("about the same", "about 100 times", "about 10,000 times", "smaller"),
        answer="A",
        truth=_how_the_table_errs,
        why=r"A cosine is a number between $-1$ and $1$, wherever it came from. Rounding it costs at most "
        r"$2^{-9}$, at every position.",
        feedback={
            "B": r"An angle grows with the position. What is rounded here is no longer an angle.",
            "C": r"This is how far apart the positions are. Which of them does the rounding still see?",
            "D": r"Nothing gets better far out: the entries are of the same kind at every position.",
        },
    ),
    Question(
        id="ch18.sharing",
        prompt=r"Positions are cast to bfloat16. About how many neighbouring tokens near position 100,000 get the very "
        r"same rotation?",
        answer=512.0,
        tolerance=1.5,
        unit="tokens",
        truth=_sharing,
        hint=r"Which powers of two stand around 100,000? Between $2^e$ and $2^{e+1}$ the steps "
        r"are $2^{e-7}$.",
        why=r"$2^{16} \le 100{,}000 < 2^{17}$, so the numbers lie $2^{16-7} = 512$ apart, and each serves for the "
        r"512 tokens around it. A token exactly between two numbers goes to one of them: the count may be off by one.",
        feedback={
            "256": r"This is half a step, the farthest that a token moves. Tokens on both sides of a mark share it.",
            "1024": r"Too high by one power of two. Between which two powers does 100,000 lie?",
            "128": r"This is how many numbers the format has in each stretch. How long is the stretch?",
        },
    ),
    Question(
        id="ch18.which-law",
        prompt=r"One of the four is rounded to bfloat16, the rest stays in float64. In which case does the logit still "
        r"depend on the offset alone?",
        choices=("the position", "the frequency", "the angle, their product", "the cosine and the sine"),
        answer="B",
        truth=_who_keeps_the_law,
        hint=r"What counts is $\varepsilon_n - \varepsilon_m$, the difference of the two errors. For which of the four "
        r"is it a function of $n - m$?",
        why=r"With a rounded frequency the error is $n(\hat\theta - \theta)$, and the difference of two is "
        r"$(n-m)(\hat\theta - \theta)$. It is an exact RoPE with slightly other frequencies.",
        feedback={
            "A": r"Two tokens with one offset may land on the same number, or on numbers a whole step apart.",
            "C": r"The error of a rounded product looks like noise: it depends on the position itself.",
            "D": r"This error is small everywhere. But it is not the same at two pairs of positions with one offset.",
        },
    ),
    Task(
        id="ch18.step",
        statement=r"Write `step(n, p)`: how far apart the numbers of a format with `p` significant bits lie around the "
        r"position `n`, if we look at integers only. `n` is an `int`, at least 1, and `p` an `int`, at least 2. So the "
        r"result is an `int`, 1 as long as $n < 2^p$.",
        solution=step,
        examples=st.tuples(_positions, st.integers(2, 24)),
        mistakes={
            "the leading 1 is forgotten": lambda n, p: step(n, p + 1),
            "below 2^p it is a fraction": lambda n, p: 2.0 ** (int(n).bit_length() - p),
            "a power of two still belongs to the stretch below": lambda n, p: step(max(1, n - 1), p),
            "it grows with the position itself": lambda n, p: max(1, n // 2**p),
        },
        hint=r"`n.bit_length()` is $e + 1$, where $2^e \le n < 2^{e+1}$.",
        why=r"For bfloat16 take $p = 8$, for float16 $p = 11$, for float32 $p = 24$.",
    ),
    Task(
        id="ch18.to-bfloat16",
        statement=r"Write `to_bfloat16(word)`. `word` is the 32-bit pattern of a float32, as an `int`. Return the "
        r"16-bit pattern of the nearest bfloat16, as an `int`; of two equally near, the one whose last bit is 0. A "
        r"bfloat16 is the upper half of a float32. Infinity and NaN do not occur.",
        solution=to_bfloat16,
        examples=st.tuples(_words),
        mistakes={
            "the lower half is cut off": lambda word: word >> 16,
            "ties go up": lambda word: (word + 0x8000) >> 16,
            "ties go down": lambda word: (word + 0x7FFF) >> 16,
            "ties go to the odd one": lambda word: (word + 0x8000 - ((word >> 16) & 1)) >> 16,
        },
        hint=r"Add something just below half of the last kept bit, and one more if that bit is 1. A carry may run into "
        r"the exponent; that is right.",
        why=r"This is what processors and libraries do. The widget of this chapter does it in JavaScript.",
    ),
)


# --- what the lab alone asks ---


def lost(table):
    return np.flatnonzero((table[1:] == table[:-1]).all(axis=1)) + 1


def _few_turns(rows: int, planes: int, seed: int):
    real, imaginary = np.random.default_rng(seed).integers(0, 2, size=(2, rows, planes))
    return (real + 1j * imaginary,)


def _first_lost() -> float:
    n, where = np.arange(4000), Rounding(angle="bfloat16")
    return float(lost(half_precision.rounded_turns(n, theta=THETA, rounding=where))[0])


def _crossing() -> float:
    n, where = np.arange(2**15, 2**16), Rounding(theta="float32", angle="float32")
    errors = half_precision.turn_errors(n, theta=THETA, rounding=where).max(axis=-1)
    return float(n[errors > np.sqrt(2) * 2.0**-9][0])


LAB = (
    Task(
        id="ch18.lost",
        statement=r"`table` has a row for each position and a column for each plane: rounded cosine and sine as one "
        r"complex number. Write `lost(table)`: an array with the numbers of the rows, counted from 0, that equal the "
        r"row before in *every* plane.",
        solution=lost,
        examples=st.builds(_few_turns, st.integers(2, 8), st.integers(1, 2), st.integers(0, 99)),
        mistakes={
            "one plane that stands still is enough": lambda table: (
                np.flatnonzero((table[1:] == table[:-1]).any(axis=-1)) + 1
            ),
            "the row before the lost one is counted": lambda table: lost(table) - 1,
            "only the cosines are compared": lambda table: lost(table.real),
            "every row is compared with the first": lambda table: (
                np.flatnonzero((table[1:] == table[0]).all(axis=-1)) + 1
            ),
        },
        hint=r"Compare `table[1:]` with `table[:-1]`. Row 0 of this comparison is about row 1 of the table.",
        why=r"Whatever a model computes from such a row, it computes from the row before as well.",
    ),
    Question(
        id="ch18.first-lost",
        prompt=r"The angles are rounded to bfloat16, and the base is 500,000. Which is the first lost token of a head "
        r"with head_dim 128?",
        answer=2379.0,
        tolerance=0.5,
        truth=_first_lost,
        hint=r"The last bar has the number, and `found[0]` has all its digits.",
        why=r"Each of the 64 planes stands still at tokens of its own. Where the width doubles, the old planes "
        r"stay among the new ones, so the first token at which all of them do cannot come sooner.",
        feedback={
            "257": r"This is the first token that a rounded position loses. Here the angles are rounded.",
            "2380": r"This is a rounded number. Print `found[0]`.",
            "2378": r"This is the token before it, which it cannot be told from.",
        },
    ),
    Question(
        id="ch18.crossing",
        prompt=r"About from which position on do float32 angles (head_dim 128, base 500,000) err by more than "
        r"$\sqrt2 \cdot 2^{-9}$, which a table in bfloat16 never does?",
        answer=45000.0,
        tolerance=8000.0,
        truth=_crossing,
        hint=r"In the picture the rising curve meets the flat one. Print `starts` and the errors beside it.",
        why=r"The error of an angle grows with the position and that of a table does not. In a text of 128 thousand "
        r"tokens the angles do the greater harm in the larger part.",
    ),
)
