"""Chapter 9's widget and figures, against the algebra."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_lab.algebra.cache_size import MODELS, SCHEMES, CacheShape, bytes_per_token, numbers_per_token
from rope_lab.chapters.ch09_one_cache import figures as one_cache
from rope_lab.chapters.ch09_one_cache.cache_calculator import MEMORY, CacheCalculator
from tests.show.drawn import random_state


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_calculator_is_the_algebra(seed):
    drawn = random_state(CacheCalculator, np.random.default_rng(seed))
    drawn["kv_heads"] = max(g for g in range(1, drawn["kv_heads"] + 1) if drawn["heads"] % g == 0)
    shape = CacheShape(
        "drawn", *(drawn[field] for field in ("layers", "heads", "kv_heads", "head_dim", "latent", "rope"))
    )
    found, size = CacheCalculator.compute(drawn), int(drawn["size"])
    assert found["numbers"] == [numbers_per_token(scheme, shape) for scheme in SCHEMES]
    assert found["per_token"] == [bytes_per_token(scheme, shape, size=size) for scheme in SCHEMES]
    for text, fit in zip(found["text"], found["fit"], strict=True):
        assert fit * text <= MEMORY < (fit + 1) * text


def test_more_groups_than_heads_are_as_many_as_heads():
    found = CacheCalculator.compute(CacheCalculator(heads=4, kv_heads=9).state())
    assert found["numbers"][1] == found["numbers"][0]


def test_the_buttons_carry_published_shapes():
    known = {shape.name: shape for shape in MODELS}
    for preset in CacheCalculator()._presets:
        shape = known[preset["name"]]
        assert all(preset[field] == getattr(shape, field) for field in ("layers", "heads", "kv_heads", "head_dim"))
        assert CacheCalculator(**{k: v for k, v in preset.items() if k not in ("name", "built")})
        if shape.latent:
            assert (preset["latent"], preset["rope"]) == (shape.latent, shape.rope)


def test_the_figure_lists_every_model_with_its_bytes():
    listed = dict(re.findall(r"(?:\. |; )([^;:]+), \w+: ([\d,.]+\d)", one_cache.bytes_for_each_token().desc))
    expected = {s.name: f"{bytes_per_token(s.built, s) / 1024:,.1f}" for s in MODELS}
    assert listed == expected


def test_the_drawn_sum_is_the_relative_one_and_a_wrong_turn_is_noticed(monkeypatch):
    assert "turned back" in one_cache.one_step().desc
    right = one_cache.rotation_2d
    monkeypatch.setattr(one_cache, "rotation_2d", lambda angle: right(abs(angle)))  # turned on instead of back
    with pytest.raises(ArithmeticError, match="not the relative one"):
        one_cache.one_step()
