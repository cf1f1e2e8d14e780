"""Laws of the two layouts: counts against a search through all permutations, the fast form against the matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra import layouts, rotation
from rope_lab.chapters.ch03_two_layouts.claims_book import _fewest, _moved, _swapped

orders = st.integers(1, 40).flatmap(lambda n: st.permutations(range(n)))
plane_counts = st.integers(1, 8)
kinds = st.sampled_from(["interleaved", "half"])


@pytest.mark.parametrize(("count", "step"), [(layouts.minimal_swaps, _swapped), (layouts.minimal_moves, _moved)])
def test_counts_are_the_fewest_for_every_permutation(count, step):
    found = _fewest(5, step)
    assert len(found) == 120
    assert all(count(list(row)) == steps for row, steps in found.items())
    other = layouts.minimal_moves if count is layouts.minimal_swaps else layouts.minimal_swaps
    assert any(other(list(row)) != steps for row, steps in found.items())  # control


@given(order=orders)
def test_swaps_and_moves_put_every_row_in_order(order):
    swaps, moves = list(order), list(order)
    for a, b in layouts.row_swaps(order):
        swaps[a], swaps[b] = swaps[b], swaps[a]
    for a, b in layouts.row_moves(order):
        moves.insert(b, moves.pop(a))
    assert swaps == moves == sorted(order)
    assert len(layouts.row_swaps(order)) == layouts.minimal_swaps(order)
    assert len(layouts.row_moves(order)) == layouts.minimal_moves(order)


@given(order=orders)
def test_cycles_and_parity(order):
    found = layouts.cycles(order)
    assert sorted(member for cycle in found for member in cycle) == list(range(len(order)))
    assert all(order[a] == b for cycle in found for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True))
    assert layouts.parity(order) == round(np.linalg.det(np.eye(len(order))[list(order)]))


@given(planes=plane_counts, kind=kinds, seed=st.integers(0, 2**32 - 1))
def test_the_elementwise_form_is_the_matrix(planes, kind, seed):
    rng = np.random.default_rng(seed)
    theta, x, positions = rotation.frequencies(2 * planes), rng.normal(size=(3, 2 * planes)), rng.uniform(-99, 99, 3)
    want = rotation.rotate(x, positions, theta=theta, layout=kind)
    assert np.allclose(layouts.rotate_elementwise(x, positions, theta=theta, layout=kind), want, atol=1e-12)
    turned = x * np.cos(1) + layouts.quarter_turn(x, layout=kind) * np.sin(1)
    assert np.allclose(turned, rotation.rotate(x, 1, theta=np.ones(planes), layout=kind))
    if planes > 1:
        other = "half" if kind == "interleaved" else "interleaved"
        assert not np.allclose(layouts.rotate_elementwise(x, positions, theta=theta, layout=other), want)  # control


@given(heads=st.integers(1, 4), planes=plane_counts, still=st.integers(0, 3))
def test_projections_go_there_and_back(heads, planes, still):
    sizes = (heads, 2 * planes + 2 * still)
    there = layouts.projection_permutation(*sizes, rotary_dim=2 * planes)
    back = layouts.projection_permutation(*sizes, rotary_dim=2 * planes, to="interleaved")
    assert there[back].tolist() == list(range(len(there)))
    assert there[: 2 * planes].tolist() == rotation.layout_permutation(2 * planes).tolist()
    assert set(there // sizes[1] - np.arange(len(there)) // sizes[1]) == {0}  # no row leaves its head


def test_refusals():
    with pytest.raises(ValueError, match="each of 0"):
        layouts.cycles([0, 0])
    with pytest.raises(TypeError, match="integers"):
        layouts.cycles([0.5])
    with pytest.raises(ValueError, match="rotary_dim: expected at most head_dim = 4, got 6"):
        layouts.projection_permutation(2, 4, rotary_dim=6)
    with pytest.raises(ValueError, match="build theta"):
        layouts.rotate_elementwise(np.ones(4), 0, theta=[1.0])
    with pytest.raises(ValueError, match="even"):
        layouts.quarter_turn(np.ones(3))


def test_a_projection_needs_a_head():
    with pytest.raises(ValueError, match="n_heads: expected a whole number of at least 1, got 0"):
        layouts.projection_permutation(0, 4)
