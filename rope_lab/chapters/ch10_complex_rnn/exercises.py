"""Chapter 10, From attention to a complex RNN: decays that turn, states that resume, gradients that run back."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra.recurrence import impulse_response, sign_changes
from rope_lab.exercises.core import Question, Task


def _most_sign_changes() -> list[bool]:
    """Over many sums of three positive decays, one of them made to alternate as long as it can."""
    decays, n = np.array([0.2, 0.5, 0.8]), np.arange(60)[:, None]
    alternating = np.linalg.solve(decays ** n[:3], [1.0, -1.0, 1.0])
    rng = np.random.default_rng(0)
    weights = [alternating, *rng.normal(size=(50, 3))]
    most = max(sign_changes((w * decays**n).sum(axis=1)) for w in weights)
    return [most > 3, most == 3, most == 2, most <= 1]


def _real_ones() -> list[bool]:
    kernels = (impulse_response(30, gamma=0.9, theta=theta)[:, 0].real for theta in (np.pi / 2, 2 * np.pi / 3, np.pi))
    one_decay = [bool(np.allclose(k[1:], k[1] * k[:-1])) for k in kernels]
    return [*one_decay, not any(one_decay)]


# --- the first task: go on from a state ---


def resume(h, v, gamma, theta):
    out = []
    for v_t in v:
        h = gamma * np.exp(-1j * theta) * h + v_t
        out.append(h)
    return np.array(out)


def _resume(h, v, rate, *, first=True):
    out = []
    for t, v_t in enumerate(v):
        h = (h if t == 0 and not first else rate * h) + v_t
        out.append(h)
    return np.array(out)


# --- the second task: the gradient ---


def gradient(g, gamma, theta):
    rate = gamma * np.exp(1j * theta)
    back, out = 0j, []
    for g_t in g[::-1]:
        back = rate * back + g_t
        out.append(back)
    return np.array(out[::-1])


# --- in the lab: a counter with one plane, and the repair of a trained one ---


def readout(modulus):
    angles = 2 * np.pi * np.arange(modulus) / modulus
    return np.array([np.cos(angles), -np.sin(angles)])


def _judge_readout(C, modulus) -> str:
    C, n = np.array(C, dtype=float), np.arange(2 * modulus)
    if C.shape != (2, modulus):
        return f"It has the shape {C.shape}; expected are 2 rows and {modulus} columns."
    state = np.exp(-2j * np.pi * n / modulus)
    scores = np.column_stack([state.real, state.imag]) @ C
    right = scores[n, n % modulus]
    scores[n, n % modulus] = -np.inf
    wrong = n[~(right - scores.max(axis=1) > 1e-9)]  # NaN is wrong, too
    return f"After {wrong[0]} step(s) the score of {wrong[0] % modulus} is not the largest." if len(wrong) else ""


def _repairs() -> list[bool]:
    from rope_lab.nn import DiagonalRNN
    from rope_lab.training.experiments import counting_accuracy, train_counting

    layer = DiagonalRNN(1, 16, 7, decay="complex", seed=0)
    train_counting(layer, steps=200, length=64, rate=0.03)
    found, turn = {name: value.clone() for name, value in layer.state_dict().items()}, 2 * np.pi / 7
    theta, b = found["theta"], found["b"]
    whole, counts = (theta / turn).round() * turn, []
    for angles, bias in ((whole, b), (theta, 0 * b), (whole, 0 * b)):
        layer.load_state_dict(found | {"theta": angles, "b": bias})
        counts.append(counting_accuracy(layer, length=512) > 0.99)
    return [*counts, not any(counts)]


_parts = st.integers(-8, 8).map(lambda n: n / 4)
_numbers = st.builds(complex, _parts, _parts)
_sequences = st.lists(_numbers, min_size=1, max_size=6).map(np.array)
_decays = st.integers(2, 9).map(lambda n: n / 10)
_turns = st.integers(1, 12).map(lambda n: n / 4)

EXERCISES = (
    Question(
        id="ch10.predict-signs",
        kind="prediction",
        prompt=r"A recurrent layer keeps three real numbers and multiplies each by its decay, $0 < \lambda_k < 1$, at "
        r"every step. A word $r$ steps back counts as $c_1 \lambda_1^r + c_2 \lambda_2^r + c_3 \lambda_3^r$. You may "
        r"choose the $c_k$ and the $\lambda_k$. How often can the sum change its sign, over all $r = 0, 1, 2, \dots$? "
        r"(In the figure such a sum, the dashed line, tries to follow a value that fades and turns by $\theta$.)",
        choices=(
            r"As often as you like, if they are chosen well.",
            r"Three times at most.",
            r"Twice at most.",
            r"Once at most.",
        ),
        answer="C",
        truth=_most_sign_changes,
        feedback={
            "A": "You thought of a wave. But late in the sequence the slowest decay outlasts all others, and it keeps "
            "its sign.",
            "B": "You are near. Count again with a single decay: how often does it change its sign?",
            "D": "You thought of two decays, one that wins early and one that wins late. Three may take turns.",
        },
        why=r"$N$ positive decays allow $N - 1$ changes, and no more, however long you look. One decay that turns, "
        r"$\gamma^n \cos n\theta$, changes sign for ever.",
    ),
    Question(
        id="ch10.back-on-axis",
        prompt=r"A value $\tilde v = 1$ enters a plane with $\gamma = 0.9$ and $\theta = 2\pi/7$; nothing follows. The "
        r"state turns and shrinks. How large is it when it lies on the positive real axis for the first time again?",
        answer=0.9**7,
        tolerance=0.002,
        truth=lambda: impulse_response(8, gamma=0.9, theta=2 * np.pi / 7)[7, 0].real,
        feedback={
            "1": "You turned the value and did not let it fade. Each step multiplies by $0.9$ as well.",
            "0.531": "You counted six steps. A seventh of a turn in each step: how many steps until it is back?",
            "0.43": "You counted eight steps. The value enters unturned, and each later step turns it once.",
            "7": "That is the number of steps. The question is for the size that is left then.",
        },
        hint=r"It turns by $\theta$ in each step. How many steps make a whole turn?",
        why=r"Seven steps make one turn, and each of them multiplies by $0.9$: $0.9^7 \approx 0.478$.",
    ),
    Question(
        id="ch10.which-is-real",
        prompt=r"Which of these complex decays $\gamma e^{-\mathrm i\theta}$ gives a kernel $\gamma^n \cos n\theta$ "
        r"that a *single real* decay gives too, perhaps a negative one?",
        choices=(r"$\theta = \pi/2$", r"$\theta = 2\pi/3$", r"$\theta = \pi$", r"None of them."),
        answer="C",
        truth=_real_ones,
        feedback={
            "A": r"Write the first values: $1, 0, -\gamma^2, 0$. What does a single decay do after it has been $0$?",
            "B": r"Write the first values, with $\cos(2\pi/3) = -\tfrac12$. By which factor does each come from the "
            r"one before?",
            "D": "You thought of positive decays only. A real decay may be negative, too.",
        },
        hint=r"A single real decay multiplies by the same number at each step. Write the kernel's first four values.",
        why=r"$\cos n\pi = (-1)^n$, so the kernel is $(-\gamma)^n$. At $\pi/2$ the values are $1, 0, -\gamma^2, 0$: "
        r"after a zero, a single decay would stay at zero.",
    ),
    Task(
        id="ch10.resume",
        statement=r"""
        One plane, in complex numbers. `h` is the state that an earlier part of the sequence left. `v` is an array with
        the values that come next, one complex number each. Write `resume(h, v, gamma, theta)`: the array of the states
        after each of them, by $h_t = \gamma e^{-\mathrm i\theta} h_{t-1} + v_t$. `np` is there.
        """,
        solution=resume,
        examples=st.tuples(_numbers.filter(bool), _sequences, _decays, _turns),
        mistakes={
            r"the state turns the other way": lambda h, v, g, t: _resume(h, v, g * np.exp(1j * t)),
            r"the old state is forgotten": lambda h, v, g, t: _resume(0 * h, v, g * np.exp(-1j * t)),
            r"the old state does not decay before the first value comes": lambda h, v, g, t: _resume(
                h, v, g * np.exp(-1j * t), first=False
            ),
        },
        hint=r"One loop over `v`. In each round the state is multiplied first, and then the value is added.",
        why=r"The state is all that is left of the past: one complex number, however long the past was.",
    ),
    Task(
        id="ch10.gradient",
        statement=r"""
        The same plane, backwards. `g[t]` is the gradient of a loss with respect to $h_t$ alone, as a complex number:
        its real part belongs to the real part of $h_t$, its imaginary part to the imaginary part. Write
        `gradient(g, gamma, theta)`: the array of the gradients with respect to each $v_t$, when $h_0 = 0$.
        """,
        solution=gradient,
        examples=st.tuples(_sequences, _decays, _turns),
        mistakes={
            r"it runs forwards": lambda g, c, t: _resume(0j, g, c * np.exp(1j * t)),
            r"the rate is not conjugated": lambda g, c, t: _resume(0j, g[::-1], c * np.exp(-1j * t))[::-1],
            r"the result is in reversed order": lambda g, c, t: _resume(0j, g[::-1], c * np.exp(1j * t)),
        },
        hint=r"$v_t$ acts on $h_t, h_{t+1}, \dots$, each through one more factor. Transposed, a rotation turns back.",
        why=r"It is the recurrence from the other end with $\gamma e^{+\mathrm i\theta}$. So the backward pass costs "
        r"what the forward pass costs.",
    ),
)

LAB = (
    Question(
        id="ch10.two-faults",
        prompt=r"The layer was trained on 64 steps. Which repair makes it count through 512 steps?",
        choices=(
            r"Round every angle to a whole number of sevenths of a turn.",
            r"Set the bias of the read-out to zero.",
            r"Only the two together.",
            r"None of these.",
        ),
        answer="C",
        truth=_repairs,
        feedback={
            "A": r"The state fades and the bias does not. Late in the sequence the bias alone decides.",
            "B": r"An angle that is a little wrong is wrong by that much at each step, and the steps add up.",
            "D": r"Try all four combinations of the two switches.",
        },
        hint=r"Each repair alone has a curve. Look at its right end.",
        why=r"A small error of an angle grows with the steps, and a bias outlasts a state that fades. Each is harmless "
        r"on 64 steps, so training had no reason to remove it.",
    ),
    Task(
        id="ch10.clock-readout",
        statement=r"""
        A plane turns by $2\pi/m$ in each step. So $n$ steps after the bell its state is a positive number times
        $(\cos 2\pi n/m,\ -\sin 2\pi n/m)$. Write `readout(modulus)`: an array of shape $(2, m)$. The state times this
        array gives a score for each answer $0, \dots, m - 1$, and the score of $n$ modulo $m$ must be the largest.
        Many arrays are right.
        """,
        solution=readout,
        examples=st.tuples(st.integers(3, 12)),
        judge=_judge_readout,
        mistakes={
            r"it counts backwards": lambda m: readout(m) * [[1], [-1]],
            r"every answer is one too large": lambda m: np.roll(readout(m), -1, axis=1),
            r"the two rows have traded places": lambda m: readout(m)[::-1],
            r"the cosine alone can't tell $n$ from $-n$": lambda m: readout(m) * [[1], [0]],
        },
        hint=r"A dot product of two arrows of one length is largest if they point the same way.",
        why=r"Column $n$ is the arrow of the state after $n$ steps. A state that fades keeps its direction, so the "
        r"order of the scores stays.",
    ),
)
