"""Chapter 7: places with several coordinates."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from rope_lab.algebra.generators import block_diag
from rope_lab.algebra.many_axes import interleaved_frequencies, largest_turns, section_frequencies
from rope_lab.algebra.rotation import frequencies, rotation_2d
from rope_lab.exercises.core import Question, Task


def _how_far_the_width():
    far = largest_turns(section_frequencies([16, 24, 24], base=1e6), steps=64)[2]
    return [far > 20, 1 < far < 20, 0.1 < far < 1, far < 0.1]


def _wavelength():
    return float(2 * np.pi / interleaved_frequencies([24, 20, 20], base=1e6)[2, 2])


def plane_turns(place, table):
    return [float(np.dot(place, row)) for row in table]


@st.composite
def _places(draw):
    axes, planes = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    row = st.lists(st.floats(-2, 2), min_size=axes, max_size=axes)
    place = st.lists(st.integers(-9, 9).map(float), min_size=axes, max_size=axes)
    return draw(place), draw(st.lists(row, min_size=planes, max_size=planes))


def grid_rotate(v, x, y, theta):
    out = np.empty(len(v))
    for i, (a, b) in enumerate(theta):
        angle = x * a + y * b
        c, s = np.cos(angle), np.sin(angle)
        out[2 * i] = c * v[2 * i] - s * v[2 * i + 1]
        out[2 * i + 1] = s * v[2 * i] + c * v[2 * i + 1]
    return out


def _plane_angles(v, angles):
    blocks = block_diag(*(rotation_2d(angle) for angle in angles))
    return blocks @ v


_numbers = st.integers(-8, 8).map(lambda n: n / 4)


@st.composite
def _on_a_grid(draw):
    planes = draw(st.integers(1, 3))
    v = draw(st.lists(_numbers, min_size=2 * planes, max_size=2 * planes))
    theta = draw(st.lists(st.tuples(_numbers, _numbers), min_size=planes, max_size=planes))
    return np.array(v), draw(_numbers), draw(_numbers), np.array(theta)


EXERCISES = (
    Question(
        id="ch21.predict-width",
        kind="prediction",
        prompt=r"A model has 64 planes, from one list with base $10^6$: as in chapter 2, plane $i$ turns by "
        r"$10^{-6i/64}$. The first 16 turn with time, the next 24 with the height, the last 24 with the width. A "
        r"frame of the video is 64 patches wide. By how much does the fastest plane of the width turn across it?",
        choices=("many whole turns", "about a turn", "about a tenth of a turn", "almost not at all"),
        answer="D",
        truth=_how_far_the_width,
        why=r"The width has the last 24 planes of the list, and they are its slowest: plane 40 turns by $10^{-3.75}$ "
        r"radians for each patch. Across 64 patches that is a hundredth of a radian.",
        feedback={
            "A": r"The fastest plane of time turns that far. Which planes are left for the width?",
            "B": r"That is nearer to the height, whose fastest plane is plane 16.",
            "C": r"Compute $10^{6 \cdot (-40/64)}$, and take it times 64.",
        },
    ),
    Question(
        id="ch21.wavelength",
        prompt=r"Interleaved M-RoPE with sections $[24, 20, 20]$ and base $10^6$. How many patches make a full "
        r"turn of the fastest plane of the width?",
        answer=9.68,
        tolerance=0.06,
        unit="patches",
        truth=_wavelength,
        hint=r"It is plane 2 of 64: $\theta_2 = \mathrm{base}^{-2/64}$.",
        why=r"$2\pi / \theta_2 = 2\pi \cdot 10^{6/32} = 9.68$.",
        feedback={
            "6.28": r"This is plane 0, which turns with time.",
            "7.8": r"This is plane 1, which turns with the height.",
        },
    ),
    Task(
        id="ch21.plane-turns",
        statement=r"Write `plane_turns(place, table)`. `place` is a list of coordinates, and `table` has a row for "
        r"each plane with one frequency for each coordinate. Return the list of angles by which the planes turn.",
        solution=plane_turns,
        examples=_places(),
        mistakes={
            "the first coordinate for all planes": lambda place, table: [place[0] * sum(row) for row in table],
            "a distance in place of a sum": lambda place, table: [
                float(np.linalg.norm(np.multiply(place, row))) for row in table
            ],
            "coordinates exchanged": lambda place, table: plane_turns(place[::-1], table),
        },
        hint=r"Each angle is the product of two vectors: $p \cdot \theta_i$.",
        why=r"All schemes of the chapter are this function with another table.",
    ),
    Task(
        id="ch07.grid-rotate",
        statement=r"""
        Positions on a grid. `v` has $d$ entries, neighbours make a plane; `theta` has one row for each plane, with two
        numbers. Write `grid_rotate(v, x, y, theta)`: plane $i$ of `v` turned by
        $x\,\theta_{i,1} + y\,\theta_{i,2}$ radians, counter-clockwise.
        """,
        solution=grid_rotate,
        examples=_on_a_grid(),
        mistakes={
            r"it turns clockwise": lambda v, x, y, theta: grid_rotate(v, -x, -y, theta),
            r"x and y change places": lambda v, x, y, theta: grid_rotate(v, y, x, theta),
            r"the angle is a distance": lambda v, x, y, theta: _plane_angles(
                v, np.hypot(x * theta[:, 0], y * theta[:, 1])
            ),
            r"y is forgotten": lambda v, x, y, theta: grid_rotate(v, x, 0.0, theta),  # noqa: ARG005
        },
        hint=r"One angle for each plane: `theta @ [x, y]`. Then it is chapter 2's rotation.",
        why=r"The axial form is the case where each row of `theta` has a zero.",
    ),
)


# --- what the lab alone asks: a patch looks for its place, and a picture gets another width ---


def find_place(seen, keys):
    agreement = keys @ seen
    return int(np.argmax(agreement))


def _keys(seed: int, places: int, planes: int) -> tuple[np.ndarray, np.ndarray]:
    """A turned key with noise, and the keys of all places, of one length."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, size=(places, planes))
    keys = np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(places, -1)
    return keys[rng.integers(places)] + 0.3 * rng.normal(size=2 * planes), keys


def _column_in_a_wider_picture() -> float:
    n, there, width = np.arange(10 * 12), 5 * 12 + 6 + 8, 12
    return float(np.cos(np.outer(n - there, frequencies(32))).sum(axis=1).argmax() % width)


LAB = (
    Task(
        id="ch07.find-place",
        statement=r"""
        A patch has lost its place. `seen` is its key, turned by that place, with some noise: an array of length $d$.
        `keys` has a row for each place of the picture: the key as it would look there, without noise. All rows have
        one length. Write `find_place(seen, keys)`: the number of the row that agrees best with `seen`.
        """,
        solution=find_place,
        examples=st.builds(_keys, st.integers(0, 9999), st.integers(2, 9), st.integers(1, 4)),
        mistakes={
            r"the row that agrees least is taken": lambda seen, keys: int(np.argmin(keys @ seen)),
            r"the sign of the agreement is lost": lambda seen, keys: int(np.argmax(np.abs(keys @ seen))),
            r"only the first plane is looked at": lambda seen, keys: int(np.argmax(keys[:, :2] @ seen[:2])),
        },
        hint=r"It is what attention does: `keys @ seen` has a logit for each place.",
        why=r"Where all keys have one length, the largest product belongs to the nearest key.",
    ),
    Question(
        id="ch07.other-width",
        prompt=r"The head that counts patches row by row learned on pictures of 8 columns to look at the patch below. "
        r"Now a picture has 12 columns, and the marked patch stands in row 5, column 6, both counted from 0. In which "
        r"column does the head look?",
        answer=2,
        tolerance=0.1,
        truth=_column_in_a_wider_picture,
        feedback={"6": "It would be right below if the head knew rows. It counts 8 patches on."},
        hint=r"Give the experiment the width, the row and the column, and look for the strongest cell of the map.",
        why=r"It counts 8 patches on, and the row ends after column 11: it looks at column $6 + 8 - 12 = 2$ of the "
        r"next row.",
    ),
)
