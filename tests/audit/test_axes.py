"""Positions of several axes: which planes each axis turns, how they are dealt out, and what turns of a head."""

import numpy as np
import pytest
import torch

from rope_lab.algebra import axial_frequencies, interleaved_frequencies, mixed_frequencies, section_frequencies
from rope_lab.audit import fingerprint
from rope_lab.audit.fingerprints import arrangement, axes_of
from rope_lab.nn import Rotary, RotaryConfig
from rope_lab.nn.rotary import rotary_table, rotate

ALTERNATING = np.kron(np.eye(2), np.ones((8, 1))) * 10000.0 ** (-np.r_[0:16:2, 1:16:2] / 16)[:, None]  # as in Pixtral
TABLES = {
    "by sections of 4, 6, 6 planes": section_frequencies([4, 6, 6]),
    "in turn (interleaved), 6, 5, 5 planes": interleaved_frequencies([6, 5, 5]),
    "in turn (interleaved), 10, 3, 3 planes": interleaved_frequencies([10, 3, 3]),
    "axial: blocks of 8, 8 planes": axial_frequencies(32),
    "mixed: a plane turns with several axes": mixed_frequencies(32, angles=0.7),
    "in another order, 5, 6, 5 planes": np.roll(interleaved_frequencies([6, 5, 5]), 1, axis=1),
}


def asked(table, layout="half"):
    """What `axes_of` finds in our own rotation with this table."""
    rotary, count = Rotary(RotaryConfig.of_axes(table, layout=layout)), table.shape[1]

    def along(axis):
        def turned(x, positions):
            n = torch.as_tensor(np.asarray(positions, dtype=np.float64))
            places = torch.stack([n * (axis in (None, a)) for a in range(count)], dim=-1)
            return rotary(torch.as_tensor(np.asarray(x)), positions=places).numpy()

        return turned

    return axes_of(along, axes=count, head_dim=2 * len(table))


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("words", TABLES)
def test_the_arrangement_is_named_and_each_axis_has_its_planes(words, layout):
    table = TABLES[words]
    found = asked(table, layout)
    assert arrangement(found) == words
    for axis, column in zip(found, table.T, strict=True):
        assert axis.planes == tuple(np.flatnonzero(column))
        np.testing.assert_allclose(np.abs(axis.frequencies), np.abs(column[column != 0]), rtol=1e-5)


def test_the_alternating_list_of_pixtral_is_axial_with_the_second_block_between():
    rows, columns = asked(ALTERNATING)
    assert arrangement((rows, columns)) == "axial: blocks of 8, 8 planes"
    assert rows.base == pytest.approx(10000)
    assert "every frequency times 0.56" in columns.words  # 10000 ** (-1/16): half a step further


@pytest.mark.parametrize(
    ("words", "theta"),
    [("first coordinates", 10000.0 ** (-np.arange(4) / 4)), ("proportional", 10000.0 ** (-np.arange(4) / 8))],
)
def test_the_two_conventions_of_a_part_differ_in_their_exponent(words, theta):
    """16 coordinates, half of them turn: as a head of 8, or as the first planes of a head of 16."""
    share = {"partial_rotary_factor": 0.5, "head_dim": 16, "rope_theta": 1e4}
    kind = {"rope_type": "proportional"} if words == "proportional" else {}
    config = RotaryConfig.from_hf({**share, "rope_parameters": {"partial_rotary_factor": 0.5, **kind}})

    def turned(x, positions):
        return rotate(torch.as_tensor(x), rotary_table(positions, config, dtype=torch.float64)).numpy()

    seen = fingerprint(turned, head_dim=16)
    assert len(seen.pairs) * 2 == 8
    assert seen.pairs[0] == ((0, 8) if words == "proportional" else (0, 4))
    np.testing.assert_allclose(seen.frequencies, theta, rtol=1e-6)
    assert ("Proportional(share=0.5)" in seen.scheme) == (words == "proportional")


def test_a_part_at_the_end_of_a_head_is_named():
    config = RotaryConfig(8)

    def turned(x, positions):
        x = torch.as_tensor(x)
        return torch.cat(
            (x[..., :8], rotate(x[..., 8:], rotary_table(positions, config, dtype=torch.float64))), -1
        ).numpy()

    seen = fingerprint(turned, head_dim=16)
    assert (len(seen.pairs) * 2, seen.pairs[0]) == (8, (8, 9))
    assert "begin at 8" in seen.notes[0]
