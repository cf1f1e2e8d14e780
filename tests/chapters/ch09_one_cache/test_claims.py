"""Chapter 9: break the algebra and see which claims notice."""

import numpy as np
import pytest

from rope_lab.algebra import cache_size, latent, rotation
from tests.claims.broken import failing, holding


def test_an_output_that_is_not_turned_back(monkeypatch):
    right = latent.decode
    monkeypatch.setattr(
        latent, "decode", lambda q, c, way, **at: right(q, c, "turned values" if way == "undo" else way, **at)
    )
    assert failing("ch9") == {"su19.mla-vo-shared"}


def test_offsets_the_wrong_way_round(monkeypatch):
    right = latent.relative
    monkeypatch.setattr(
        latent, "relative", lambda q, c, *, positions, theta: right(q, c, positions=-np.asarray(positions), theta=theta)
    )
    assert failing("ch9") == {"su19.mla-vo-shared"}


def test_a_transpose_dropped_in_the_absorption(monkeypatch):
    right = latent.absorbed
    monkeypatch.setattr(latent, "absorbed", lambda q, c, *, W_k, W_v: right(q, c, W_k=W_k.transpose(0, 2, 1), W_v=W_v))
    assert failing("ch9") == {"su19.mla-mqa-approx"}


def test_a_cache_that_turns_once_what_it_should_turn_again(monkeypatch):
    right = latent.decode
    monkeypatch.setattr(latent, "decode", lambda q, c, way, **at: right(q, c, way, **at)._replace(turned=len(c)))
    assert failing("ch9") == {"su19.mla-dilemma-share"}


@pytest.mark.parametrize(
    ("scheme", "extra", "hit"), [("mha", 1, {"book.cache-formulas"}), ("shared", 512, {"book.cache-formulas"})]
)
def test_a_miscounted_cache(scheme, extra, hit, monkeypatch):
    right = cache_size.numbers_per_token
    monkeypatch.setattr(cache_size, "numbers_per_token", lambda s, shape: right(s, shape) + extra * (s == scheme))
    assert failing("ch9") == hit


def test_a_sign_lost_in_the_rotation(monkeypatch):
    def broken(angle):
        cos, sin = np.cos(angle), np.sin(angle)
        return np.moveaxis(np.array([[cos, sin], [sin, cos]]), (0, 1), (-2, -1))

    monkeypatch.setattr(rotation, "rotation_2d", broken)
    assert (
        holding({"su19.mla-vo-shared", "su19.mla-dilemma-abs", "book.latent-splice", "book.latent-one-speed"}) == set()
    )
