"""Chapter 11, Complex form and the sigma basis: what complex-linear maps can do, and what a conjugate is for."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra import rotation, widely_linear
from rope_lab.exercises.core import Question, Task


def _images_of_the_second_arrow() -> list[bool]:
    """A turn with a stretch sends (1, 0) to (0, 2): which of the four may be the image of (0, 1)?"""
    A = widely_linear.to_complex([0.0, 2.0]).item()  # the image of 1 is the factor itself
    image = widely_linear.to_real([A * 1j])
    said = ([0.0, 1.0], [-2.0, 0.0], [2.0, 0.0])
    return [*(bool(np.allclose(image, candidate)) for candidate in said), False]


def _share_of_a_stretch() -> float:
    linear, conjugate = widely_linear.energies([[3.0, 0.0], [0.0, 1.0]])
    return linear / (linear + conjugate)


def _what_a_forgotten_conjugate_sees() -> list[bool]:
    theta, q, k = [0.7], [1.0, 0.3], [0.4, -2.0]

    def score(m, n):
        q_m, k_n = (widely_linear.to_complex(rotation.rotate(v, at, theta=theta)) for v, at in ((q, m), (k, n)))
        return float((q_m * k_n).sum().real)

    def same(a, b):
        return abs(score(*a) - score(*b)) < 1e-9

    offset, total = same((2, 5), (9, 12)), same((2, 5), (3, 4))
    return [offset, total, offset and total, not offset and not total]


# --- the first task: the nearest complex matrix ---


def nearest_complex(W):
    p, q = W[0::2, 0::2], W[0::2, 1::2]
    r, s = W[1::2, 0::2], W[1::2, 1::2]
    return ((p + s) + 1j * (r - q)) / 2


def _quarters(W):
    n, m = W.shape[0] // 2, W.shape[1] // 2
    p, q, r, s = W[:n, :m], W[:n, m:], W[n:, :m], W[n:, m:]
    return ((p + s) + 1j * (r - q)) / 2


def _matrix(n, m, numbers):
    return np.resize(np.array(numbers, dtype=float), (2 * n, 2 * m))


_numbers = st.lists(st.integers(-9, 9), min_size=7, max_size=23)
_matrices = st.builds(_matrix, st.integers(1, 3), st.integers(1, 3), _numbers)


# --- the second task: two arrows at once ---


def two_arrows(z, w):
    rows = [[one, one.conjugate()] for one in z]
    return np.linalg.solve(np.array(rows), np.array(w))


def _arrows(turn, lengths, opening, images):
    """Two arrows that are far from parallel, and two places to carry them to."""
    z = tuple(
        complex(length * np.exp(1j * angle)) for length, angle in zip(lengths, (turn, turn + opening), strict=True)
    )
    return z, tuple(complex(a, b) / 4 for a, b in images)


_places = st.tuples(st.integers(-8, 8), st.integers(-8, 8))
_two = st.builds(
    _arrows,
    st.integers(0, 62).map(lambda n: n / 10),
    st.tuples(*[st.integers(2, 8).map(lambda n: n / 4)] * 2),
    st.integers(5, 26).map(lambda n: n / 10),
    st.tuples(_places, _places),
)

# --- in the lab: the four sliders of a map, and the phases after which nothing shows ---


def sliders(M):
    (p, q), (r, s) = M
    return np.array([p + s, q + r, r - q, p - s]) / 2


def _first_return(bias: float) -> float:
    """The smallest common phase above zero that brings the logits of real weights back."""
    rng = np.random.default_rng(0)
    W_q, W_k, words = rng.normal(size=(3, 4, 4))

    def logits(phase):
        x = widely_linear.to_real(np.exp(1j * phase) * widely_linear.to_complex(words))
        places: dict[str, Any] = {"q_positions": np.arange(4.0), "k_positions": np.arange(4.0), "theta": [1.0, 0.1]}
        return rotation.logits(x @ W_q.T + bias, x @ W_k.T, **places)

    phases = np.arange(1, 97) * np.pi / 48
    return float(next(phase for phase in phases if np.allclose(logits(phase), logits(0.0))))


EXERCISES = (
    Question(
        id="ch11.predict-second-arrow",
        kind="prediction",
        prompt=r"A map of the plane multiplies complex numbers by one fixed number. You take hold of the arrow "
        r"$(1, 0)$ and drag it to $(0, 2)$. Where does the arrow $(0, 1)$ go?",
        choices=(
            r"It stays at $(0, 1)$.",
            r"To $(-2, 0)$.",
            r"To $(2, 0)$.",
            r"Wherever you like: it is a second arrow, and can be dragged on its own.",
        ),
        answer="B",
        truth=_images_of_the_second_arrow,
        feedback={
            "A": r"This number moves every point of the plane except zero.",
            "C": r"The two arrows would change their order, and a turn never does that.",
            "D": r"The number is one complex number, and the first arrow has used up both of its parts.",
        },
        why=r"The map must be multiplication by $2\mathrm i$, because $1 \mapsto 2\mathrm i$. So $\mathrm i \mapsto "
        r"2\mathrm i^2 = -2$. One arrow decides everything, and $(2, 0)$ would need a mirror.",
    ),
    Question(
        id="ch11.share-of-a-stretch",
        prompt=r"The matrix $\mathrm{diag}(3, 1)$ stretches the first axis. What share of its energy is "
        r"complex-linear?",
        answer=0.8,
        tolerance=0.005,
        truth=_share_of_a_stretch,
        feedback={
            "0.5": r"One half is the share of a random matrix. This matrix is no random one: find its two halves.",
            "1": r"A complex-linear map stretches both axes alike. This one does not.",
            "2/3": r"That is the ratio of lengths. An energy is a sum of squares.",
            "0.9": r"That is the share of the first column. Both halves have something in both columns.",
            "0.2": r"That is the share of the other half, the conjugate-linear one.",
            "80": r"The right number in percent. The field asks for a share between 0 and 1.",
        },
        hint=r"Write it as $A z + B\bar z$. Where does it send $1$, and where $\mathrm i$?",
        why=r"$A + B = 3$ and $A - B = 1$, so $A = 2$ and $B = 1$. The energies are $2A^2 = 8$ and $2B^2 = 2$, "
        r"together $3^2 + 1^2 = 10$.",
    ),
    Question(
        id="ch11.forgotten-conjugate",
        prompt=r"Somebody turns queries and keys by their own positions, stores them as complex numbers, and writes "
        r"`(q * k).sum().real` for the logit. What do the positions do to it?",
        choices=(
            r"It depends on $n - m$ alone, as it should.",
            r"It depends on $m + n$ alone.",
            r"It depends on neither.",
            r"It depends on $m$ and $n$ in a way that neither sum nor difference describes.",
        ),
        answer="B",
        truth=_what_a_forgotten_conjugate_sees,
        feedback={
            "A": r"That is what the conjugate is for: it changes the sign of one phase, and here it is missing.",
            "C": r"The real part of the product changes with its phase, and this phase contains both positions.",
            "D": r"The two phase factors are multiplied, and that joins the positions in one simple way.",
        },
        hint=r"Multiply $e^{\mathrm i m\theta}$ by $e^{\mathrm i n\theta}$.",
        why=r"Phases add when their factors are multiplied: $e^{\mathrm i (m + n)\theta}$. A conjugate on one factor "
        r"makes it $e^{\mathrm i (n - m)\theta}$. With `q.conj() * k` the line is right.",
    ),
    Task(
        id="ch11.nearest-complex",
        statement=r"""
        Write `nearest_complex(W)`. `W` is a real matrix with $2n$ rows and $2m$ columns in the interleaved layout: rows
        $2i, 2i + 1$ belong together, and so do columns. Return the complex $n \times m$ matrix of the complex-linear
        map that is nearest to `W`.
        """,
        solution=nearest_complex,
        examples=st.tuples(_matrices),
        mistakes={
            r"the sign of the imaginary part is wrong": lambda W: nearest_complex(W).conj(),
            r"the two halves are added, not averaged": lambda W: 2 * nearest_complex(W),
            r"the blocks are those of the half-split layout": _quarters,
            r"this is the first column of each block: as if the map were complex-linear already": lambda W: (
                W[0::2, 0::2] + 1j * W[1::2, 0::2]
            ),
        },
        hint=r"One block at a time. In $\begin{pmatrix} a & -b\\ b & a\end{pmatrix}$ each of $a$ and $b$ stands twice; "
        r"average the two places. `W[0::2, 1::2]` takes the right upper corner of every block.",
        why=r"The complex-linear half is an orthogonal projection, so it is the nearest point. What is left over is "
        r"$B$, and it is conjugate-linear.",
    ),
    Task(
        id="ch11.two-arrows",
        statement=r"""
        One vector goes anywhere with $A$ alone. For two you need both halves. `z` and `w` are pairs of complex
        numbers, and the two in `z` are not parallel. Write `two_arrows(z, w)`: return the array $(A, B)$ with
        $A z_0 + B \bar z_0 = w_0$ and $A z_1 + B \bar z_1 = w_1$.
        """,
        solution=two_arrows,
        examples=_two,
        tolerance=1e-6,
        mistakes={
            r"$B$ has been conjugated": lambda z, w: two_arrows(z, w) * [1, 0] + two_arrows(z, w).conj() * [0, 1],
            r"A and B have traded places": lambda z, w: two_arrows(z, w)[::-1],
            r"only the first arrow is carried": lambda z, w: np.array([w[0] / z[0], 0]),
        },
        hint=r"Two linear equations for the two unknowns $A$ and $B$. `np.linalg.solve` takes complex numbers.",
        why=r"The determinant is $z_0\bar z_1 - \bar z_0 z_1$, which is $-2\mathrm i$ times the area between the "
        r"arrows. It is zero if and only if they are parallel.",
    ),
)

_entry = st.integers(-9, 9).map(lambda n: n / 4)

LAB = (
    Task(
        id="ch11.four-sliders",
        statement=r"""
        Write `sliders(M)`. `M` is a real $2 \times 2$ array. Return the array $(a_0, a_1, a_2, a_3)$ with
        $M = a_0\sigma_0 + a_1\sigma_1 + a_2\sigma_2 + a_3\sigma_3$. Here $\sigma_0$ is the identity, $\sigma_1$ has
        the rows $(0, 1)$ and $(1, 0)$, $\sigma_2$ has $(0, -1)$ and $(1, 0)$, and $\sigma_3$ has $(1, 0)$ and
        $(0, -1)$.
        """,
        solution=sliders,
        examples=st.tuples(st.tuples(*[_entry] * 4).map(lambda e: np.array(e).reshape(2, 2))),
        mistakes={
            r"every slider is twice as large": lambda M: 2 * sliders(M),
            r"the quarter turn has the wrong sign": lambda M: sliders(M) * [1, 1, -1, 1],
            r"$\sigma_1$ and $\sigma_2$ have traded places": lambda M: sliders(M)[[0, 2, 1, 3]],
            r"these are the four entries of M": np.ravel,
        },
        hint=r"Each entry of $M$ is a sum of two sliders: the left upper one is $a_0 + a_3$. Which other entry has the "
        r"same two?",
        why=r"$a_0 + \mathrm i a_2$ is the complex-linear half and $a_3 + \mathrm i a_1$ the conjugate-linear one.",
    ),
    Question(
        id="ch11.smallest-phase",
        prompt=r"All words are multiplied by $e^{\mathrm i\varphi}$. With real weights the attention map changes, and "
        r"at some $\varphi$ it is as it was at $0$. What is the smallest such $\varphi > 0$?",
        answer=np.pi,
        tolerance=0.06,
        unit="radians",
        truth=lambda: _first_return(0.0),
        feedback={
            "2pi": r"There the words themselves are back. Does the map come back earlier?",
            "pi/2": r"A quarter turn changes the map as far as it can go. Go on turning.",
        },
        hint=r"What does half a turn do to a query, and what to a key?",
        why=r"Half a turn multiplies every word by $-1$. Query and key both change their sign, and their product "
        r"does not.",
    ),
    Question(
        id="ch11.phase-with-bias",
        prompt=r"Now the queries have a bias, $W_q x + b$, and the keys have none. What is the smallest $\varphi > 0$ "
        r"that brings the map back?",
        answer=2 * np.pi,
        tolerance=0.06,
        unit="radians",
        truth=lambda: _first_return(1.0),
        feedback={"pi": r"There all keys have changed their sign. Has the query done so, with its bias?"},
        hint=r"The bias does not turn with the words. What does its product with a key do?",
        why=r"The bias times a key has the phase once, and not twice. So it is back only after a whole turn, with "
        r"complex weights as well: a bias makes even these see the phase.",
    ),
)
