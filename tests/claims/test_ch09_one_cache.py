"""Chapter 9: break the algebra and see which claims notice; and the witnesses, computed again by hand."""

import numpy as np
import pytest

from rope_lab.algebra import cache_size, latent, rotation
from rope_lab.claims import select, verify


def failing() -> set[str]:
    return {result.claim.id for result in verify("ch9") if result.failed}


def test_nothing_fails_as_it_is():
    assert failing() == set()
    assert len([entry for entry in select("ch9") if entry.source == "su19"]) == 7


def test_an_output_that_is_not_turned_back(monkeypatch):
    right = latent.decode
    monkeypatch.setattr(
        latent, "decode", lambda q, c, way, **at: right(q, c, "turned values" if way == "undo" else way, **at)
    )
    assert failing() == {"su19.mla-vo-shared"}


def test_offsets_the_wrong_way_round(monkeypatch):
    right = latent.relative
    monkeypatch.setattr(
        latent, "relative", lambda q, c, *, positions, theta: right(q, c, positions=-np.asarray(positions), theta=theta)
    )
    assert failing() == {"su19.mla-vo-shared"}


def test_a_transpose_dropped_in_the_absorption(monkeypatch):
    right = latent.absorbed
    monkeypatch.setattr(latent, "absorbed", lambda q, c, *, W_k, W_v: right(q, c, W_k=W_k.transpose(0, 2, 1), W_v=W_v))
    assert failing() == {"su19.mla-mqa-approx"}


def test_a_cache_that_turns_once_what_it_should_turn_again(monkeypatch):
    right = latent.decode
    monkeypatch.setattr(latent, "decode", lambda q, c, way, **at: right(q, c, way, **at)._replace(turned=len(c)))
    assert failing() == {"su19.mla-dilemma-share"}


@pytest.mark.parametrize(
    ("scheme", "extra", "hit"), [("mha", 1, {"book.cache-formulas"}), ("shared", 512, {"book.cache-formulas"})]
)
def test_a_miscounted_cache(scheme, extra, hit, monkeypatch):
    right = cache_size.numbers_per_token
    monkeypatch.setattr(cache_size, "numbers_per_token", lambda s, shape: right(s, shape) + extra * (s == scheme))
    assert failing() == hit


def test_a_sign_lost_in_the_rotation(monkeypatch):
    def broken(angle):
        cos, sin = np.cos(angle), np.sin(angle)
        return np.moveaxis(np.array([[cos, sin], [sin, cos]]), (0, 1), (-2, -1))

    monkeypatch.setattr(rotation, "rotation_2d", broken)
    assert {"su19.mla-vo-shared", "su19.mla-dilemma-abs", "book.latent-splice", "book.latent-one-speed"} <= failing()


# --- by hand: nothing below calls the package ---


def soft(s):
    return np.exp(s) / np.exp(s).sum()


def test_the_exponential_once_and_twice():
    assert soft(np.array([0.0, 1.0])).round(4).tolist() == [0.2689, 0.7311]
    assert soft(np.exp([0.0, 1.0])).round(4).tolist() == [0.1521, 0.8479]


def test_one_head_two_tokens():
    c = np.array([0.3, -0.8])
    made = soft(1 * (2 * c)) @ (3 * c)
    absorbed = 3 * (soft((2 * 1) * c) @ c)
    assert np.isclose(made, absorbed)


def test_two_rows_that_have_no_training_form():
    W = np.array([[1.0, 0, 1, 0], [0, 1, 0, 2]])
    R = np.zeros((4, 4))
    R[:2, :2] = np.array([[3, -4], [4, 3]]) / 5
    R[2:, 2:] = np.array([[5, -12], [12, 5]]) / 13
    assert np.linalg.matrix_rank(np.vstack([W, W @ R])) == 4


def test_deepseek_counts():
    assert 2 * 128 * 128 == 32768
    assert 512 + 64 == 576 == 2.25 * (2 * 128)
    assert (128 + 64 + 128, 512 + 64 + 512, 512 + 512) == (320, 1088, 1024)
