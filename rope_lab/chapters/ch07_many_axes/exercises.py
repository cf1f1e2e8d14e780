"""Chapter 7: places with several coordinates."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.linalg import block_diag

from rope_lab.algebra.many_axes import interleaved_frequencies, largest_turns, section_frequencies
from rope_lab.algebra.rotation import rotation_2d
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
        prompt=r"A model has 64 planes, from one list with base $10^6$. The first 16 turn with time, the next 24 with "
        r"the height, the last 24 with the width. A frame of the video is 64 patches wide. By how much does the "
        r"fastest plane of the width turn across the whole frame?",
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
