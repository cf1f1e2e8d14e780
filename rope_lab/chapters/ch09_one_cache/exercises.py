"""Chapter 9, One cache: what a decoder keeps, and how one tensor can be key and value."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra.cache_size import CacheShape, bytes_per_token
from rope_lab.algebra.latent import decode, softmax, training_form
from rope_lab.algebra.rotation import frequencies, rotate, rotation_matrix
from rope_lab.exercises.core import Question, Task


def _what_a_shift_does() -> list[bool]:
    """Decode with turned values at two places: do the outputs agree, and if not, does one rotation explain it all?"""
    rng, theta, s = np.random.default_rng(0), frequencies(8), 5.0
    q, c = rng.normal(size=(2, 6, 8))
    here, there = (decode(q, c, "turned values", positions=np.arange(6) + at, theta=theta).outputs for at in (0, s))
    same = bool(np.abs(there - here).max() < 1e-9)
    turned = bool(np.abs(there - here @ rotation_matrix(s, theta=theta).T).max() < 1e-9)
    return [same, turned and not same, not turned and not same]


# --- the first task: one step of decoding ---


def decode_step(q, c, cache, theta):
    m = len(cache)
    cache = np.vstack([cache, rotate(c, m, theta=theta)])
    s = cache @ rotate(q, m, theta=theta)
    a = np.exp(s - s.max())
    return rotate((a / a.sum()) @ cache, -m, theta=theta), cache


def _step(q, c, cache, theta, *, place=0, back=-1, keep_plain=False, turn_query=True):
    """A step of decoding with one thing changed."""
    m = len(cache) + place
    cache = np.vstack([cache, c if keep_plain else rotate(c, m, theta=theta)])
    s = cache @ (rotate(q, m, theta=theta) if turn_query else q)
    return rotate(softmax(s) @ cache, back * m, theta=theta), cache


def _state(seed, rows, planes):
    """A query, a latent and a cache of some rows, or of none."""
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(2 + rows, 2 * planes)).round(2)
    return drawn[0], drawn[1], drawn[2:], rng.uniform(0.1, 2, size=planes).round(2)


_states = st.builds(_state, st.integers(0, 9999), st.integers(0, 5), st.integers(1, 3))


# --- the second task: is there a training form? ---


def has_training_form(W, theta):
    WR = W @ rotation_matrix(1.0, theta=theta)
    rank = np.linalg.matrix_rank
    return bool(rank(np.vstack([W, WR])) == rank(W))


_FREQUENCIES = st.sampled_from(  # two planes alike, three alike, half a turn, a quarter of one
    [(1.0, 0.4, 0.1), (1.0, 1.0, 0.1), (0.4, 0.4, 0.4), (1.0, 0.4, np.pi), (1.0, np.pi / 2, 0.1)]
).map(np.array)
_PLANES = [np.eye(6)[2 * i : 2 * i + 2] for i in range(3)]
_MIXES = (
    _PLANES[0],
    np.vstack([_PLANES[0], _PLANES[2]]),
    np.array([[1.0, 2.0], [0.5, -1.0]]) @ _PLANES[1],
    np.eye(6)[[0, 2]],
    _PLANES[0] + _PLANES[1],
    np.eye(6)[[0, 1, 2]],
    np.vstack([_PLANES[0], _PLANES[0]]),
    np.ones((2, 6)),
    np.eye(6),
    np.zeros((2, 6)),
)


EXERCISES = (
    Question(
        id="ch09.predict-shift",
        kind="prediction",
        prompt=r"All heads read one vector $c_n$ for each token $n$. As keys these vectors are turned by their "
        r"positions, $k_n = \mathcal R_n c_n$. To save memory you use the turned vectors as values too."
        r" Now the same text begins five positions later. What happens to the outputs?",
        choices=(
            r"Nothing. The attention weights are relative, so the outputs are.",
            r"Every output is turned, all by one and the same rotation.",
            r"They change in a way that no single rotation explains.",
        ),
        answer="B",
        truth=_what_a_shift_does,
        feedback={
            "A": "You looked at the attention weights. What they weigh has changed: each value was turned further.",
            "C": "You expected that turns of different sizes mix. But each value is turned further by the same five "
            "positions.",
        },
        why=r"The attention weights stay. Every value has been turned by $\mathcal R_5$ more, and a sum of turned "
        r"vectors is the turned sum. One rotation, known in advance, the same for all tokens: that can be undone.",
    ),
    Question(
        id="ch09.bytes",
        prompt=r"A model has 48 layers with 40 heads of width 128 in 8 groups. Its cache takes one byte for a number. "
        r"How many GiB, of $2^{30}$ bytes each, does it take for a text of $2^{15} = 32768$ tokens?",
        answer=3.0,
        tolerance=0.02,
        unit="GiB",
        truth=lambda: 2**15 * bytes_per_token("gqa", CacheShape("asked", 48, 40, 8, 128), size=1) / 2**30,
        feedback={
            "15": "You counted a key and a value for each head. They are shared: there are 8 groups.",
            "6": "You took two bytes for a number. This cache takes one.",
            "1.5": "You counted the keys and left out the values, or the other way round.",
            "0.0625": "You counted one layer. There are 48.",
        },
        hint=r"A key and a value in each group of each layer. The 40 heads do not matter.",
        why=r"A token takes $48 \cdot 2 \cdot 8 \cdot 128 = 98304$ bytes, that is 96 KiB; $2^{15}$ of them take "
        r"$96 \cdot 2^{25}$ bytes, that is 3 GiB. With 40 keys and values it would be five times as much.",
    ),
    Question(
        id="ch09.which-w",
        prompt=r"The latent has two planes, with the frequencies $1$ and $0.1$. A head reads it through $W_v$. For "
        r"which of these can the head make its values first, and have a matrix $X$ with $W_v \mathcal R_1 = X W_v$ "
        r"turn them?",
        choices=(
            r"$\begin{pmatrix} 1 & 0 & 0 & 0 \\ 0 & 0 & 1 & 0 \end{pmatrix}$",
            r"$\begin{pmatrix} 1 & 0 & 1 & 0 \\ 0 & 1 & 0 & 1 \end{pmatrix}$",
            r"$\begin{pmatrix} 0 & 0 & 3 & 1 \\ 0 & 0 & 1 & 1 \end{pmatrix}$",
        ),
        answer="C",
        truth=lambda: [
            training_form(np.array(W, dtype=float), theta=[1.0, 0.1])[1] < 1e-9
            for W in ([[1, 0, 0, 0], [0, 0, 1, 0]], [[1, 0, 1, 0], [0, 1, 0, 1]], [[0, 0, 3, 1], [0, 0, 1, 1]])
        ],
        feedback={
            "A": "It reads half of each plane. A vector that it does not see, such as $(0, 1, 0, 0)$, is turned into "
            "one that it sees.",
            "B": "It adds the two planes, and their frequencies differ. Two that cancel now do not cancel after a "
            "step.",
        },
        hint=r"What is the kernel of each, and where does the rotation send it?",
        why=r"The third reads the second plane whole, through an invertible matrix $A$; its kernel is the first plane, "
        r"and planes stay where they are. $X = A R A^{-1}$ with the rotation $R$ of that plane. The second adds two "
        r"planes of two frequencies: the vector $(1, 0, -1, 0)$ is in its kernel, and turned it is not.",
    ),
    Task(
        id="ch09.decode-step",
        statement=r"""
        One step of decoding with one cache. `q` and `c` are the new token's query and latent, arrays of length $d$, not
        yet turned. `cache` holds the turned latents of the tokens before, one in each row; the first stands at
        position 0. Write `decode_step(q, c, cache, theta)`: it returns the output of the new token and the longer
        cache. `rotation.rotate(x, position, theta=theta)` turns; no logit is divided by anything.
        """,
        solution=decode_step,
        examples=_states,
        mistakes={
            r"the output is not turned back": lambda q, c, cache, theta: _step(q, c, cache, theta, back=0),
            r"the output is turned on instead of back": lambda q, c, cache, theta: _step(q, c, cache, theta, back=1),
            r"the new latent is cached as it came": lambda q, c, cache, theta: _step(
                q, c, cache, theta, keep_plain=True
            ),
            r"the query is not turned": lambda q, c, cache, theta: _step(q, c, cache, theta, turn_query=False),
            r"the position is counted from 1": lambda q, c, cache, theta: _step(q, c, cache, theta, place=1),
        },
        hint=r"The new token's position is the length of the cache before it. Turn $c$, append it, and only then "
        r"attend: a token attends to itself too.",
        why=r"The cache is read twice and turned never. What is turned is one query, one latent and one output.",
    ),
    Task(
        id="ch09.has-training-form",
        statement=r"""
        Write `has_training_form(W, theta)`. `W` is an array of shape $(d_v, d_c)$; `theta` holds $d_c/2$ frequencies.
        Return `True` if there is a matrix $X$ with $W \mathcal R_1 = X W$, and `False` if there is none.
        `rotation.rotation_matrix(1.0, theta=theta)` is $\mathcal R_1$.
        """,
        solution=has_training_form,
        examples=st.tuples(st.sampled_from(_MIXES), _FREQUENCIES),
        mistakes={
            r"only the dimension of the kernel is looked at": lambda W, theta: bool(  # noqa: ARG005
                (W.shape[1] - np.linalg.matrix_rank(W)) % 2 == 0
            ),
            r"it asks for $W \mathcal R_1 = W$": lambda W, theta: bool(
                np.allclose(W @ rotation_matrix(1.0, theta=theta), W)
            ),
            r"it asks whether $W$ has an inverse": lambda W, theta: bool(  # noqa: ARG005
                np.linalg.matrix_rank(W) == W.shape[1]
            ),
        },
        hint=r"$X W$ is a set of combinations of the rows of $W$. When are the rows of $W \mathcal R_1$ such "
        r"combinations? Compare two ranks.",
        why=r"If the rows of $W \mathcal R_1$ add nothing to those of $W$, the rank stays. `latent.training_form` "
        r"finds the best $X$ with a pseudoinverse and says how far it misses.",
    ),
)


# --- what the lab alone asks: a place that leaks out, and a mistake that a shift does not show ---


def how_far(here, there, theta):
    turned = [rotate(here, s, theta=theta) for s in range(100)]
    return int(np.argmin([np.abs(y - there).max() for y in turned]))


_FIRST = np.array([1, 1j, 0, 0, 0, 0])  # the first plane as a complex number


def _two_places(seed: int, s: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outputs, the same ones turned by s positions, and the frequencies; the numbers are a little off."""
    rng, theta = np.random.default_rng(seed), np.array([1.0, 0.3, 0.05])
    here = rng.normal(size=(4, 6))
    return here, rotate(here, s, theta=theta) + 1e-6 * rng.normal(size=(4, 6)), theta


def _mistakes(shift: int, *, back: float = -1.0, late: int = 0, gains=1.0, base=10_000.0) -> np.ndarray:
    """Outputs for six tokens that begin at ``shift``, with one thing changed."""
    (q, c), n = np.random.default_rng(9).normal(size=(2, 6, 8)), np.arange(6) + shift
    kept, asked = gains * rotate(c, n, theta=frequencies(8)), rotate(q, n + late, theta=frequencies(8))
    y = np.array([softmax(kept[: m + 1] @ asked[m]) @ kept[: m + 1] for m in range(6)])
    return rotate(y, back * (n + late), theta=frequencies(8, base=base))


def _unseen() -> list[bool]:
    wrong: tuple[dict[str, Any], ...] = ({"back": 0.0}, {"base": 500.0}, {"gains": np.linspace(1, 2, 8)}, {"late": 1})
    still = [np.allclose(_mistakes(5, **change), _mistakes(0, **change)) for change in wrong]
    return [s and not np.allclose(_mistakes(0, **c), _mistakes(0)) for s, c in zip(still, wrong, strict=True)]


LAB = (
    Question(
        id="ch09.unseen",
        prompt=r"Which of these decoders gives wrong outputs, and the shift test says that all is well?",
        choices=(
            r"It does not turn the sum back.",
            r"It turns the sum back with other frequencies.",
            r"It multiplies the rotated latents by gains that differ inside a plane.",
            r"It believes that each query stands one position later, when it turns the query and when it turns back.",
        ),
        answer="D",
        truth=_unseen,
        feedback={
            "A": "Its outputs turn with the shift.",
            "B": "Two turns that differ do not cancel, and a shift makes the difference larger.",
            "C": "Such gains do not commute with the rotation, so the products change with the position.",
        },
        hint=r"In the picture, look for a decoder whose bar is long against the right one and zero for the shift.",
        why=r"All offsets are wrong by the same one position, wherever the text stands. So the layer is relative, and "
        r"it is another layer. Only a comparison with a right one shows it.",
    ),
    Task(
        id="ch09.how-far",
        statement=r"""
        Two outputs of a decoder that does not turn back, for one text at two places: `here` and `there`, arrays of
        shape $(T, d)$. Write `how_far(here, there, theta)`: by how many positions was the text moved? It is a whole
        number from 0 to 99. `rotation.rotate(x, s, theta=theta)` turns all rows by `s` positions.
        """,
        solution=how_far,
        examples=st.builds(_two_places, st.integers(0, 9999), st.integers(0, 99)),
        mistakes={
            r"it turns there instead of here": lambda here, there, theta: how_far(there, here, theta),
            r"the turns that are complete are lost": lambda here, there, theta: round(
                float(np.angle(np.vdot(here @ _FIRST, there @ _FIRST)) % (2 * np.pi) / theta[0])
            ),
        },
        hint=r"Try all hundred numbers: which one brings `here` nearest to `there`? `np.argmin` finds it.",
        why=r"The harm is one rotation, so the outputs tell where the text begins, and it can be undone.",
    ),
)
