"""What breaks a law and harms nothing is told apart from what is broken."""

import numpy as np
import pytest

from rope_lab.audit import fingerprint, laws
from rope_lab.audit.gallery import GALLERY, right
from rope_lab.audit.probe import TURNED

ORDER = np.array([4, 0, 5, 1, 6, 2, 7, 3])
HARMLESS = {
    "a factor": (lambda x, n: 1.25 * right(x, n), "a constant factor 1.25 on lengths"),
    "another order": (lambda x, n: right(x, n)[..., ORDER], "the answer has its coordinates in another order"),
    "counting from one": (lambda x, n: right(x, np.asarray(n) + 1), "positions count from 1"),
    "counting from a half": (lambda x, n: right(x, np.asarray(n) + 0.5), "positions count from 0.5"),
    "two of them": (
        lambda x, n: 0.5 * right(x, np.asarray(n) - 3),
        "a constant factor 0.5 on lengths, positions count from -3",
    ),
}


def on_half(x, n):
    y = np.array(x)
    y[..., :4] = 1.5 * right(x[..., :4], n)
    return y


@pytest.mark.parametrize("name", HARMLESS)
def test_it_is_named_and_nothing_is_broken(name):
    f, words = HARMLESS[name]
    found = laws(f, head_dim=8)
    assert {law.by_design for law in found if not law.ok} == {words}
    assert not any(law.broken for law in found)
    assert str(next(law for law in found if law.by_design)).startswith("note  ")


def test_a_factor_on_what_turns_alone():
    assert {law.by_design for law in laws(on_half, head_dim=8) if not law.ok} == {"a constant factor 1.5 on lengths"}


def test_a_first_position_is_a_note_of_the_fingerprint():
    seen = fingerprint(HARMLESS["counting from one"][0], head_dim=8)
    assert (seen.problems, seen.notes, seen.base) == ((), ("positions count from 1",), 10000.0)


BROKEN = {
    "a stretch": lambda x, n: right(x, n) * np.linspace(1, 2, 8),
    "a factor on half of each plane": lambda x, n: right(x, n) * np.repeat([1.2, 1], 4),
    "a factor on one coordinate": lambda x, n: right(x, n) * np.array([1.5, *[1] * 7]),
    "nothing turns": lambda x, n: 2 * x,  # noqa: ARG005
    "another mix": lambda x, n: right(x, n) @ np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0],
    "each plane from elsewhere": lambda x, n: right(x, n) @ np.kron(np.eye(4), [[0.6, 0.8], [-0.8, 0.6]]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_control_other_things_stay_broken(name):
    found = laws(BROKEN[name], head_dim=8)
    assert any(law.broken for law in found)
    assert not any(law.by_design for law in found)


@pytest.mark.parametrize("name", ["a factor on half of each plane", "a factor on one coordinate"])
def test_control_a_factor_that_parts_a_plane_is_no_attention_factor(name):
    found = {law.name: law for law in laws(BROKEN[name], head_dim=8)}
    assert found["relativity"].broken
    assert not fingerprint(BROKEN[name], head_dim=8).ok


def test_control_q_and_k_must_begin_alike():
    found = laws(right, head_dim=8, keys=HARMLESS["another order"][0])
    assert any(law.broken for law in found)
    assert not any(law.by_design for law in found)


def test_the_gallery_keeps_its_faults():
    harmless = {mistake.name for mistake in GALLERY if not any(law.broken for law in mistake.examine())}
    assert harmless == {"counting from one"}


def test_another_start_is_a_problem_still():
    assert TURNED in fingerprint(BROKEN["another mix"], head_dim=8).problems
