"""Break a table of frequency vectors, the mask or the turn, and the claims of chapter 21 notice."""

import numpy as np

from rope_lab.algebra import many_axes, rotation
from rope_lab.nn import attention, rotary
from tests.claims.broken import holding


def test_an_angle_that_is_no_sum_is_noticed(monkeypatch):
    right = many_axes.plane_angles
    monkeypatch.setattr(many_axes, "plane_angles", lambda p, table: right(np.abs(p), table))
    assert holding({"book.axes-generators", "book.axes-axial", "book.axes-flat"}) == set()


def test_sections_dealt_in_turn_are_noticed(monkeypatch):
    monkeypatch.setattr(many_axes, "section_frequencies", many_axes.interleaved_frequencies)
    assert holding({"book.axes-width"}) == set()


def test_one_list_for_all_blocks_is_noticed(monkeypatch):
    def shared(head_dim, *, axes=2, base=10000.0):
        one = rotation.frequencies(head_dim, base=base)
        return one[:, None] * (np.arange(len(one))[:, None] * axes // len(one) == np.arange(axes))

    monkeypatch.setattr(many_axes, "axial_frequencies", shared)
    assert holding({"book.axes-axial", "book.axes-mixed", "book.axes-order", "book.axes-vision-base"}) == set()


def test_a_rotation_that_forgets_its_place_is_noticed(monkeypatch):
    right = rotation.rotate
    monkeypatch.setattr(
        rotation, "rotate", lambda x, positions, **more: right(x, np.square(positions) + np.asarray(positions), **more)
    )
    assert holding({"book.norm-before", "book.norm-pairs", "book.norm-products", "book.two-bases"}) == set()


def test_attention_without_a_mask_is_noticed(monkeypatch):
    right = attention.attend

    def unmasked(q, k, v):
        return right(q, k, v).flip(-2)

    monkeypatch.setattr(attention, "attend", unmasked)
    assert holding({"book.nope-count"}) == set()


def test_a_part_in_another_place_is_noticed(monkeypatch):
    right = rotary.rotate
    monkeypatch.setattr(rotary, "rotate", lambda x, table, **more: right(x.flip(-1), table, **more).flip(-1))
    assert holding({"book.partial-planes"}) == set()
