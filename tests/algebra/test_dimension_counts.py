"""Closed counts against Jacobian ranks: for many shapes, for frequencies that coincide, and refusals in words."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_lab.algebra import dimension_counts as counts

shapes = {"head_dim": st.sampled_from([2, 4, 6]), "width": st.sampled_from([2, 4, 6]), "complex_linear": st.booleans()}
ANGLES = (*counts.TURNS[:2], (Fraction(3, 5), Fraction(-4, 5)), (1, 0), (-1, 0), (0, 1))


@settings(max_examples=40, deadline=None)
@given(**shapes, offset=st.integers(0, 9), seed=st.integers(0, 99))
def test_the_form_at_one_offset(offset, seed, **shape):
    assert counts.jacobian_rank(**shape, offsets=[offset], seed=seed) == counts.form_dimension(**shape)


@settings(max_examples=40, deadline=None)
@given(**shapes, seed=st.integers(0, 99))
def test_the_family_over_all_offsets(seed, **shape):
    offsets = range(shape["head_dim"] + 1)
    assert counts.jacobian_rank(**shape, offsets=offsets, seed=seed) == counts.family_dimension(**shape)


@settings(max_examples=40, deadline=None)
@given(
    turns=st.lists(st.sampled_from(ANGLES), min_size=2, max_size=2),
    width=st.sampled_from([4, 6]),
    complex_linear=st.booleans(),
)
def test_frequencies_that_coincide(turns, width, complex_linear):
    shape = {"head_dim": 4, "width": width, "complex_linear": complex_linear}
    theta = [math.atan2(sin, cos) for cos, sin in turns]
    rank = counts.jacobian_rank(**shape, offsets=range(5), turns=turns)
    assert rank == counts.family_dimension(**shape, theta=theta)


@pytest.mark.parametrize("complex_linear", [False, True])
def test_two_offsets_are_not_all_offsets(complex_linear):
    shape = {"head_dim": 6, "width": 4, "complex_linear": complex_linear}
    assert counts.jacobian_rank(**shape, offsets=range(2)) < counts.family_dimension(**shape)


@pytest.mark.parametrize("complex_linear", [False, True])
def test_a_whole_turn_more_changes_nothing(complex_linear):
    shape = {"head_dim": 4, "width": 6, "complex_linear": complex_linear}
    seen = {counts.family_dimension(**shape, theta=[0.3, 0.3 + k * 2 * math.pi]) for k in (-1, 0, 2)}
    assert len(seen) == 1


@given(head_dim=st.sampled_from([2, 4, 32]), width=st.sampled_from([4, 128]), complex_linear=st.booleans())
def test_what_is_left_over_is_the_gauge(head_dim, width, complex_linear):
    shape = {"head_dim": head_dim, "width": width, "complex_linear": complex_linear}
    left = counts.weight_dimension(**shape) - counts.family_dimension(**shape)
    assert left == counts.gauge_dimension(head_dim=head_dim)


@pytest.mark.parametrize("complex_linear", [False, True])
@pytest.mark.parametrize(("d", "n"), [(2, 2), (2, 6), (4, 4), (4, 8)])
def test_values(d, n, complex_linear):
    shape = {"head_dim": d, "width": n, "complex_linear": complex_linear}
    assert counts.value_rank(**shape) == counts.value_dimension(**shape)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: counts.form_dimension(head_dim=3, width=4, complex_linear=True), "head_dim: expected a positive even"),
        (lambda: counts.family_dimension(head_dim=4, width=5, complex_linear=True), "width: expected a positive even"),
        (lambda: counts.family_dimension(head_dim=4, width=6, complex_linear=True, theta=[1.0]), "2 frequencies"),
        (lambda: counts.value_dimension(head_dim=8, width=4, complex_linear=True), "at most the width 4"),
        (lambda: counts.jacobian_rank(head_dim=10, width=4, complex_linear=True, offsets=[0]), "give turns"),
    ],
)
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_exact_turns_are_turns_and_differ():
    assert all(cos**2 + sin**2 == 1 for cos, sin in counts.TURNS)
    assert len({(cos, abs(sin)) for cos, sin in counts.TURNS}) == len(counts.TURNS)
    assert all(sin > 0 and cos not in (0, Fraction(1, 2)) for cos, sin in counts.TURNS)
