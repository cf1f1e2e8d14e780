"""The witnesses of chapter 2, computed again by hand; then the algebra is broken, and the ledger notices."""

import math

import numpy as np
import pytest

from rope_lab.algebra import rotation, schedule
from rope_lab.claims import load, run, select, verify


def theta(d, base=1e4):
    return [base ** (-2 * i / d) for i in range(d // 2)]


def mean_cosine(r, d=128):
    return sum(math.cos(r * t) for t in theta(d)) / (d // 2)


def test_slowest_plane():
    assert theta(128)[-1] == pytest.approx(1.1548e-4, rel=1e-4)
    assert 2 * math.pi / theta(8)[-1] == pytest.approx(2000 * math.pi)


def test_planes_that_never_turn():
    for base, never in ((1e4, 18), (5e5, 32)):
        assert sum(4096 * t < 2 * math.pi for t in theta(128, base)) == never


def test_decay():
    assert [round(mean_cosine(r), 2) for r in (1, 10, 100, 1000)] == [0.97, 0.67, 0.48, 0.16]
    law = [1 - (math.log(r) + 0.5772156649) / math.log(1e4) for r in (1, 10, 100, 1000)]
    assert [round(value, 2) for value in law] == [0.94, 0.69, 0.44, 0.19]
    assert mean_cosine(12) > mean_cosine(11)


def test_integral():
    def simpson(r, n=20000):
        u = np.linspace(0, 1, n + 1)
        f = np.cos(r * 1e4**-u)
        return (f[0] + f[-1] + 4 * f[1:-1:2].sum() + 2 * f[2:-1:2].sum()) / (3 * n)

    assert [round(simpson(r), 4) for r in (1, 10, 100, 1000)] == [0.9740, 0.6824, 0.4368, 0.1877]


def test_long_vectors():
    for angle in (0, 0.3, math.pi / 2):
        c, s = math.cos(angle) ** 2, math.sin(angle) ** 2
        R = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        M = np.diag([1.9, 0.1])
        assert np.trace(M @ R @ M @ R.T) == pytest.approx(3.62 * c + 0.38 * s)


def test_planes_that_point_together():
    directions = np.exp(2j * np.pi * np.arange(12) / 12)
    for r, mean_square in ((0, 2.0), (1, 0.0)):  # theta = (pi, 0)
        logit = [(np.conj(w) * u * (np.exp(1j * r * np.pi) + 1)).real for w in directions for u in directions]
        assert np.mean(np.square(logit)) == pytest.approx(mean_square)


def test_base_stretch():
    assert 2 ** (4 / (4 - 2)) * 1e4 == 4e4
    assert theta(4, 4e4) == pytest.approx([1, 0.005])


def holding(claims) -> set[str]:
    """Those of the claims that hold."""
    return {name for name in claims if not run(load()[name]).failed}


def test_nothing_fails_as_it_is():
    assert [result.claim.id for result in verify("ch2") if result.failed] == []
    assert len(select("ch2")) >= 16


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
