"""Chapter 4, The relative identity, proven: which maps of queries and keys leave the offset alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra.rotation import rotation_2d
from rope_lab.algebra.solutions import solution
from rope_lab.exercises.core import Question, Task

_FLIP = np.diag([1.0, -1.0])
_power = np.linalg.matrix_power


@dataclass(frozen=True)
class Family:
    """A family of matrices, one for each whole number n; it shows its formula, with T the turn by 1 radian."""

    formula: str
    compute: Callable[[int], np.ndarray]

    def __call__(self, n) -> np.ndarray:
        return np.array(self.compute(int(n)), dtype=float)

    def __repr__(self) -> str:
        return f"n -> {self.formula}"


def _turn(n):
    return rotation_2d(float(n))


FAMILIES = (
    Family("T^n", _turn),
    Family("the identity", lambda _: np.eye(2)),
    Family("zero", lambda _: np.zeros((2, 2))),
    Family("diag(1, 0)", lambda _: np.diag([1.0, 0.0])),
    Family("2 T^n", lambda n: 2 * _turn(n)),
    Family("T diag(1, -1)^n", lambda n: _turn(1) @ _power(_FLIP, n)),
    Family("diag(1, -1)^n", lambda n: _power(_FLIP, n)),
    Family("diag((-1)^n, 0)", lambda n: np.diag([(-1.0) ** n, 0.0])),
    Family("the identity if 3 divides n, else diag(1, -1)", lambda n: np.diag([1.0, -1.0 if n % 3 else 1.0])),
    Family("T^|n|", lambda n: _turn(abs(n))),
    Family("T^(n^2)", lambda n: _turn(n * n)),
    Family("minus diag(1, 0)", lambda _: np.diag([-1.0, 0.0])),
    Family("[[1, n], [0, 1]]", lambda n: np.array([[1.0, n], [0.0, 1.0]])),
    Family("diag(T^n, 0)", lambda n: np.pad(_turn(n), (0, 1))),
    Family("diag(T^n, (-1)^n)", lambda n: np.diag([0.0, 0.0, (-1.0) ** n]) + np.pad(_turn(n), (0, 1))),
)


def _which_are_relative() -> list[bool]:
    """Does the product of the two maps change when both positions move, for each of the four changes?"""
    gamma = 0.9
    far = rotation_2d(0.5)  # a step of another base
    maps = (
        (lambda m: gamma**m * _turn(m), lambda n: gamma**n * _turn(n)),
        (lambda m: gamma**m * _turn(m), lambda n: gamma**-n * _turn(n)),
        (_turn, lambda n: gamma**n * _turn(n)),
        (_turn, lambda n: _power(far, n)),
    )
    pairs = [(m, n, s) for m in (0, 2) for n in (1, 3) for s in (1, 4)]
    return [all(np.allclose(A(m).T @ B(n), A(m + s).T @ B(n + s)) for m, n, s in pairs) for A, B in maps]


def _square_angle_steps():
    """The two sides of each step, in one plane, when position n turns by n squared."""
    m, n = 1, 2
    R_m, R_n = rotation_2d(float(m * m)), rotation_2d(float(n * n))
    back = rotation_2d(-float(m * m))
    return (R_m.T, R_m.T), (R_m.T, back), (R_m.T @ R_n, back @ R_n), (back @ R_n, rotation_2d(float((n - m) ** 2)))


def _trace_of_a_rank_one_solution() -> float:
    family = solution([[-1.0]], basis=rotation_2d(0.7))
    return float(np.trace(family(7)))


# --- the first task: what the keys need when the queries grow ---


def key_map(S, n):
    return np.linalg.matrix_power(np.linalg.inv(S).T, n)


def _step(a, b, c):
    """An invertible matrix far from singular: its determinant is at least one half."""
    return np.array([[1.0 + a, b], [c, 1.0]])


_eighths = st.integers(-4, 4).map(lambda n: n / 8)
_steps = st.builds(_step, st.integers(0, 8).map(lambda n: n / 8), _eighths, _eighths)


# --- the second task: an instrument for families ---


def rank_of_solution(R):
    for m in range(-3, 4):
        for n in range(-3, 4):
            if not np.allclose(R(m).T @ R(n), R(n - m)):
                return -1
    return round(np.trace(R(0)))


def _rank_after(R, pairs) -> int:
    """A wrong attempt: the law is tried on these pairs only."""
    if all(np.allclose(R(m).T @ R(n), R(n - m)) for m, n in pairs):
        return round(np.trace(R(0)))
    return -1


# --- in the lab: the law as a map, a mistake in a table, and a law for keys that stand behind the query ---


def defect(R, size):
    table = np.zeros((size, size))
    for m in range(size):
        for n in range(size):
            table[m, n] = np.abs(R(m).T @ R(n) - R(n - m)).max()
    return table


def _turned(size, change):
    """Return the same function with something changed: the distance of what ``change`` gives for each two positions."""
    return np.array([[np.abs(change(m, n)).max() for n in range(size)] for m in range(size)])


def one_sided(positions):
    return rotation_2d(np.abs(positions))


def _judge_one_sided(result, positions) -> str:
    R = dict(zip(positions.tolist(), np.asarray(result, dtype=float), strict=True))
    pairs = [(m, n) for m in range(max(R) + 1) for n in range(max(R) + 1)]
    broken = [(m, n) for m, n in pairs if not np.allclose(R[m].T @ R[n], R[n - m])]
    if late := [(m, n) for m, n in broken if m <= n]:
        return f"The law fails for the query at {late[0][0]} and the key at {late[0][1]}."
    return "" if broken else "The law holds for keys before the query, too."


EXERCISES = (
    Question(
        id="ch04.predict-two-maps",
        kind="prediction",
        prompt=r"RoPE turns a query by its position $m$ and a key by its position $n$, here with base 10,000. Somebody "
        r"changes that in one of four ways, where $\gamma$ is a number between 0 and 1. After which change does the "
        r"logit still depend on the offset $n - m$ alone?",
        choices=(
            r"Queries times $\gamma^m$, keys times $\gamma^n$.",
            r"Queries times $\gamma^m$, keys times $\gamma^{-n}$.",
            r"Keys times $\gamma^n$, queries unchanged.",
            r"Base 500,000 for keys alone.",
        ),
        answer="B",
        truth=_which_are_relative,
        feedback={
            "A": r"Multiply the two factors. Does their product know $n - m$, or another combination of $m$ and $n$?",
            "C": r"Move both words ten places along the text. The query's factor stays 1; what happens to the key's?",
            "D": r"Both maps are rotations, but the planes no longer turn together. Move both words by one place: by "
            r"how much does each of the two turn?",
        },
        why=r"The factors make $\gamma^m \gamma^{-n} = \gamma^{m-n}$, and between the two turns only $n - m$ is left. "
        r"One of the two maps shrinks and the other grows. With base 10,000 on one side and 500,000 on the other, no "
        r"single step $M$ fits both.",
    ),
    Question(
        id="ch04.first-broken-line",
        prompt=r"Somebody's position angles grow with the square: position $n$ turns its plane by $n^2\theta$. The "
        r"lines of the proof are: 2, transpose each block; 3, a transposed block turns back by the same angle; 4, "
        r"multiply block by block; 5, angles add to the angle of $n - m$; 6, collect the blocks. Which line is "
        r"the first that fails?",
        choices=(
            r"Line 2: transpose each block.",
            r"Line 3: a transposed block turns back by the same angle.",
            r"Line 4: multiply block by block.",
            r"Line 5: angles add to the angle of $n - m$.",
        ),
        answer="D",
        truth=lambda: [bool(np.abs(a - b).max() > 1e-9) for a, b in _square_angle_steps()],
        hint=r"The blocks are still rotations, by $m^2\theta$ and by $n^2\theta$. Follow one block through the "
        r"steps, with $m = 1$ and $n = 2$.",
        feedback={
            "A": r"This step is true of every block-diagonal matrix, whatever its blocks are.",
            "B": r"The block for position $m$ turns by $m^2\theta$. It is a rotation; what is its transpose?",
            "C": r"Both factors still have their blocks in the same places, and this is all that the step needs.",
        },
        why=r"Rotations they still are, so the first three steps stand. The product turns by $(n^2 - m^2)\,\theta$, "
        r"and the angle that belongs to $n - m$ is $(n-m)^2\,\theta$. With $m = 1$, $n = 2$: $3\theta$ against "
        r"$\theta$.",
    ),
    Task(
        id="ch04.key-map",
        statement=r"""
        Queries are mapped by $Q_m = S^m$, where `S` is an invertible $2 \times 2$ matrix that need not be orthogonal.
        Write `key_map(S, n)`: the matrix $K_n$ for the key at position `n`, a whole number, with $K_0 = I$ and
        $Q_m^\top K_n$ a function of $n - m$ alone.
        """,
        solution=key_map,
        examples=st.tuples(_steps, st.integers(-3, 3)),
        mistakes={
            r"the keys get the same map as the queries": _power,
            r"the inverse is there and the transpose is not": lambda S, n: _power(np.linalg.inv(S), n),
            r"the transpose is there and the inverse is not": lambda S, n: _power(S.T, n),
        },
        hint=r"$Q_m^\top K_n = (S^\top)^m K_n$. Which $K_n$ turns this into a power with the exponent $m - n$?",
        why=r"In the theorem's letters $M = S^{-\top}$. If $S$ is orthogonal, $S^{-\top} = S$ and keys may use the "
        r"queries' map.",
    ),
    Task(
        id="ch04.rank-of-solution",
        statement=r"""
        An instrument. `R` is a function: `R(n)` is a square matrix for each whole number `n`, negative ones too. Write
        `rank_of_solution(R)`. It returns `-1` if the law $R_m^\top R_n = R_{n-m}$ fails for some pair of positions, and
        otherwise the rank of $R_0$. For the families that `check` draws, positions from -3 to 3 are enough.
        """,
        solution=rank_of_solution,
        examples=st.tuples(st.sampled_from(FAMILIES)),
        mistakes={
            r"the law is not tried": lambda R: int(np.linalg.matrix_rank(R(0))),
            r"the query always stands at position 0": lambda R: _rank_after(R, [(0, n) for n in range(-3, 4)]),
            r"query and key always stand at the same position": lambda R: _rank_after(
                R, [(n, n) for n in range(-3, 4)]
            ),
            r"the size of the matrix is taken for the rank": lambda R: -1 if rank_of_solution(R) < 0 else len(R(0)),
        },
        hint=r"Two loops over positions, one comparison. For the rank: $R_0$ is a projection, so its trace counts.",
        why=r"The trace of a projection is the dimension of the space it projects on. `np.linalg.matrix_rank` says "
        r"the same.",
    ),
    Question(
        id="ch04.rank-one",
        prompt=r"You test code that builds a family of $2 \times 2$ matrices, and look at the trace, the sum of "
        r"the diagonal entries. The family satisfies the law at all whole positions, $R_0$ has rank one, and "
        r"$R_1 \ne R_0$. What must the trace of $R_7$ be?",
        answer=-1.0,
        tolerance=0.01,
        truth=_trace_of_a_rank_one_solution,
        hint=r"Write $R_n = U\,\mathrm{diag}(O^n, 0)\,U^\top$. Here $O$ is one number, and it is orthogonal.",
        feedback={
            "1": r"That is the trace of $R_0$. If $R_7$ had it too, $R_1$ would be $R_0$.",
            "0": r"The block of rank one does not vanish: $R_7^\top R_7 = R_0$, and $R_0$ has rank one.",
            "-2": r"That would be $-I$, of rank two.",
            "7": r"The position is an exponent here, not a factor.",
        },
        why=r"An orthogonal number is $1$ or $-1$. It is not $1$, or $R_1$ would be $R_0$. So "
        r"$R_7 = U\,\mathrm{diag}((-1)^7, 0)\,U^\top$, and a change of basis keeps the trace: $-1$.",
    ),
)

LAB = (
    Task(
        id="ch04.defect",
        statement=r"""
        `R(n)` is a square matrix for each whole number `n`, negative ones too. Write `defect(R, size)`: a
        square array of that size. Its entry in row $m$ and column $n$, both counted from $0$, is the largest entry of
        $|R_m^\top R_n - R_{n-m}|$.
        """,
        solution=defect,
        examples=st.tuples(st.sampled_from(FAMILIES), st.integers(1, 5)),
        mistakes={
            r"the transpose is not there": lambda R, size: _turned(size, lambda m, n: R(m) @ R(n) - R(n - m)),
            r"the offset is $m - n$": lambda R, size: _turned(size, lambda m, n: R(m).T @ R(n) - R(m - n)),
            r"rows and columns are exchanged": lambda R, size: defect(R, size).T,
        },
        hint=r"Two loops over `range(size)`. `R(m).T @ R(n) - R(n - m)` is a matrix; what is the largest of its sizes?",
    ),
    Question(
        id="ch04.suspect",
        prompt=r"Two entries of the table have traded places. What is the smaller of their two positions?",
        answer=16,
        tolerance=0.1,
        truth=lambda: float(np.random.default_rng(4).choice(np.arange(1, 24), 2, replace=False).min()),
        feedback={"22": r"This is one of the two. Which is the other, smaller one?"},
        hint=r"Look for the rows of the map that are spoiled nearly everywhere: `defect(suspect, 24).sum(axis=1)`.",
        why=r"The law asks the table three times: for $R_m$, for $R_n$ and for $R_{n-m}$. So one wrong entry spoils a "
        r"row, a column and two diagonals.",
    ),
    Task(
        id="ch04.one-sided",
        statement=r"""
        `positions` is an array of whole numbers from $-N$ to $N$. Write `one_sided(positions)`: an array with one
        $2 \times 2$ matrix $R_n$ for each of them. The law $R_m^\top R_n = R_{n-m}$ holds for all $m$ and $n$ with
        $0 \le m \le n \le N$, and it fails for some with $0 \le n < m \le N$. Many families are right.
        """,
        solution=one_sided,
        examples=st.tuples(st.integers(2, 4).map(lambda n: np.arange(-n, n + 1))),
        judge=_judge_one_sided,
        mistakes={
            r"the law holds everywhere": lambda positions: rotation_2d(0.5 * positions),
            r"the angle grows with the square": lambda positions: rotation_2d(0.5 * positions**2),
        },
        hint=r"With $m \le n$ the law never asks for a matrix at a negative position. What may stand there?",
        why=r"Only pairs with the key before the query tie $R_{-n}$ to $R_n$. The test needs both orders.",
    ),
)
