"""Break a piece of the algebra, and the claims of chapter 17 notice."""

import numpy as np
import pytest

from rope_lab import audit
from rope_lab.algebra import rotation
from rope_lab.claims import load
from tests.claims.broken import failing, holding

load()  # before anything is broken: some claims compute when they are imported


def test_a_quarter_turn_answers_with_the_partner_alone():
    half = rotation.rotation_matrix(1, theta=[np.pi / 2, 0.0], layout="half")
    np.testing.assert_allclose(half[:, 0], [0, 0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(half.T[:, 0], [0, 0, -1, 0], atol=1e-15)  # clockwise


def test_half_a_position_tells_a_turn_more():
    one, other = (rotation.rotation_2d(0.5 * theta) for theta in (1.0, 1.0 + 2 * np.pi))
    np.testing.assert_allclose(one, -other, atol=1e-12)


def test_counting_from_one_is_harmless():
    q, k = np.random.default_rng(0).normal(size=(2, 4))
    theta = rotation.frequencies(4)
    at_zero, at_one = (
        rotation.rotate(q, 3 + start, theta=theta) @ rotation.rotate(k, 7 + start, theta=theta) for start in (0, 1)
    )
    assert at_zero == pytest.approx(at_one, abs=1e-12)


def test_a_sign_lost(monkeypatch):
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: np.abs(right(angle)))
    assert holding({"book.audit-column", "book.audit-read", "book.audit-flip", "book.audit-shift-test"}) == set()


def test_clockwise_for_counter_clockwise(monkeypatch):
    right = rotation.rotation_2d
    monkeypatch.setattr(rotation, "rotation_2d", lambda angle: right(-np.asarray(angle)))
    assert holding({"book.audit-column", "book.audit-read"}) == set()


def test_planes_counted_from_one(monkeypatch):
    right = rotation.frequencies
    monkeypatch.setattr(rotation, "frequencies", lambda d, *, base=1e4: right(d, base=base) * base ** (-2 / d))
    assert holding({"book.audit-base-line", "book.audit-ntk"}) == set()


def test_the_layouts_mixed_up(monkeypatch):
    right = rotation.layout_permutation
    monkeypatch.setattr(rotation, "layout_permutation", lambda d: np.roll(right(d), 1))
    assert holding({"book.audit-column", "book.audit-carry"}) == set()


def test_a_converter_that_goes_the_other_way(monkeypatch):
    right = audit.permute_rotary

    def reversed_way(weight, *, layout_from, layout_to, **sizes):
        return right(weight, layout_from=layout_to, layout_to=layout_from, **sizes)

    monkeypatch.setattr(audit, "permute_rotary", reversed_way)
    assert failing("book.audit-[!g]*") == {"book.audit-convert"}


@pytest.mark.deep
def test_a_law_that_always_holds_is_missed_in_the_gallery(monkeypatch):
    laws = audit.law_suite.CHECKS
    monkeypatch.setitem(laws, "non-vacuity", lambda _: (True, "", ""))
    assert holding({"book.audit-gallery"}) == set()
