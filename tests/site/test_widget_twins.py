"""Each widget's compute in JavaScript and its twin in Python return the same numbers for the same random states."""

import copy
import math

import numpy as np
import pytest

from rope_lab.chapters.ch01_one_plane.two_hands import TwoHands
from tests.show.drawn import catalogue, random_state

RUN = """async ([script, states]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { compute } = await import(url);
  return states.map((state) => {
    const before = JSON.stringify(state), values = compute(state);
    if (JSON.stringify(state) !== before) throw new Error("compute changed its state");
    return values;
  });
}"""


@pytest.mark.deep(keep=16)
@pytest.mark.parametrize("states", [5, pytest.param(40, marks=pytest.mark.deep)])
@pytest.mark.parametrize("cls", catalogue(), ids=lambda cls: cls.slug)
def test_twins_agree(cls, states, blank):
    assert not disagreements(cls, cls._esm, blank, states)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(m + shift) * theta", "(m + shift + 1e-7) * theta"),
        ("offset: n - m", "offset: m - n"),
        ("q[0] * k[1] - q[1] * k[0]", "q[0] * k[1] + q[1] * k[0]"),
        ("offset: n - m, between", "between"),
    ],
)
def test_control_a_wrong_twin_is_reported(right, wrong, blank):
    assert right in TwoHands._esm
    assert disagreements(TwoHands, TwoHands._esm.replace(right, wrong), blank)


def disagreements(cls, script: str, page, number: int = 10) -> list[str]:
    """Where the script and the class differ by more than 1e-9 (relative above 1), in words."""
    rng = np.random.default_rng(20)
    states = [cls().state(), *(cls(**random_state(cls, rng)).state() for _ in range(number))]
    expected = [cls.compute(copy.deepcopy(state)) for state in states]
    found = page.evaluate(RUN, [script, states])
    return [line for i, pair in enumerate(zip(expected, found, strict=True)) for line in differ(*pair, f"state {i}")]


def differ(one, other, at: str) -> list[str]:
    if isinstance(one, dict) and isinstance(other, dict) and set(one) == set(other):
        return [line for key in one for line in differ(one[key], other[key], f"{at}.{key}")]
    if isinstance(one, list | tuple) and isinstance(other, list) and len(one) == len(other):
        return [line for i, pair in enumerate(zip(one, other, strict=True)) for line in differ(*pair, f"{at}[{i}]")]
    if isinstance(one, bool | str | None) or isinstance(other, bool | str | None):
        return [] if one == other else [f"{at}: {one!r} in Python, {other!r} in JavaScript"]
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    if numbers and (math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(one) and math.isnan(other))):
        return []
    return [f"{at}: {one!r} in Python, {other!r} in JavaScript"]
