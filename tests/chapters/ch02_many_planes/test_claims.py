"""Break a piece of the algebra, and the claims of chapter 2 notice."""

import numpy as np
import pytest

from rope_lab.algebra import rotation, schedule
from tests.claims.broken import holding


def test_a_schedule_that_starts_one_plane_late(monkeypatch):
    right = rotation.frequencies
    late = lambda d, *, base=1e4: right(d, base=base) * float(base) ** (-2 / d)  # noqa: E731
    for module in (rotation, schedule):
        monkeypatch.setattr(module, "frequencies", late)
    assert holding({"blog.theta", "cross.theta-index", "unsaid.theta-choice"}) == set()


def test_a_minus_lost_in_the_reference(monkeypatch):
    def broken(angle):
        cos, sin = np.cos(angle), np.sin(angle)
        return np.moveaxis(np.array([[cos, sin], [sin, cos]]), (0, 1), (-2, -1))

    monkeypatch.setattr(rotation, "rotation_2d", broken)
    hit = {
        "blog.block-R",
        "su6.blockdiag-form",
        "book.sum-of-cosines",
        "book.plane-bound",
        "book.real-positions",
        "book.isotropic-flat",
        "book.correlated-planes",
        "unsaid.partial",
        "unsaid.decay",
    }
    assert holding(hit) == set()


@pytest.mark.parametrize(
    ("name", "claims"),
    [
        ("decay", {"unsaid.decay", "book.decay-integral"}),
        ("dense_decay", {"book.decay-integral"}),
        ("logit_variance", {"book.logit-variance"}),
        ("wavelengths", {"unsaid.theta-choice"}),
    ],
)
def test_each_function_is_watched(monkeypatch, name, claims):
    right = getattr(schedule, name)
    monkeypatch.setattr(schedule, name, lambda *args, **options: 1.1 * right(*args, **options))
    assert holding(claims) == set()
