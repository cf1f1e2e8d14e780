"""The two forms that cache one latent: equal to their slow definitions, decoding equal to the full pass, relative."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_lab.algebra import latent as slow
from rope_lab.algebra.cache_size import CacheShape, bytes_per_token
from rope_lab.algebra.rotation import frequencies
from rope_lab.nn.latent_attention import LatentCache, LatentConfig, SharedLatentAttention, SplicedLatentAttention

SHAPE = {"d_model": 12, "n_heads": 3, "head_dim": 4, "d_latent": 8, "base": 100.0}
FORMS = {
    "shared": lambda **more: SharedLatentAttention(LatentConfig(**SHAPE | more)),
    "shared, partial": lambda **more: SharedLatentAttention(LatentConfig(**SHAPE | {"rotary_dim": 4} | more)),
    "spliced": lambda **more: SplicedLatentAttention(LatentConfig(**SHAPE | {"d_rope": 6} | more)),
}
forms = pytest.mark.parametrize("form", FORMS)
layouts = pytest.mark.parametrize("layout", ["half", "interleaved"])


def layer(form, *, seed=0, dtype=torch.float32, **more):
    """Weights large enough that the softmax is not flat."""
    torch.manual_seed(seed)
    made = FORMS[form](**more).to(dtype)
    for p in made.parameters():
        torch.nn.init.normal_(p, std=0.4)
    return made


def tokens(length=9, *, dtype=torch.float32, seed=1):
    return torch.randn(2, length, 12, generator=torch.Generator().manual_seed(seed)).to(dtype)


def definition(made, x):
    """Both forms from the algebra, head by head; ``x`` is one sequence in float64."""
    config, W = made.config, {name: p.detach().numpy() for name, p in made.named_parameters()}
    x = x.numpy()
    c, T = x @ W["c.weight"].T, len(x)
    q = (x @ W["q.weight"].T).reshape(T, config.n_heads, -1).transpose(1, 0, 2)
    at = {"positions": np.arange(T)}
    if isinstance(made, SplicedLatentAttention):
        root = np.sqrt(config.head_dim + config.d_rope)
        q_rope = (x @ W["q_rope.weight"].T).reshape(T, config.n_heads, -1).transpose(1, 0, 2)
        theta = frequencies(config.d_rope, base=config.base)
        parts = {"q_rope": q_rope / root, "k_rope": x @ W["k_rope.weight"].T, "W_k": W["up_k"], "W_v": W["up_v"]}
        heads = slow.spliced(q / root, c, theta=theta, **parts, **at)
    else:
        turning = config.rotary_dim or config.d_latent
        theta = np.concatenate([frequencies(turning, base=config.base), np.zeros((config.d_latent - turning) // 2)])
        lifted = [W["up_k"][h].T @ row / np.sqrt(config.head_dim) for h in range(config.n_heads) for row in q[h]]
        lifted = np.array(lifted).reshape(config.n_heads, T, -1)
        heads = [slow.relative(lifted[h], c, theta=theta, **at) @ W["up_v"][h].T for h in range(config.n_heads)]
    return np.concatenate(list(heads), axis=-1) @ W["o.weight"].T


@forms
def test_each_form_equals_its_definition(form):
    made, x = layer(form, dtype=torch.float64, layout="interleaved"), tokens(dtype=torch.float64)
    with torch.no_grad():
        found = made(x).numpy()
    for one, expected in zip(found, (definition(made, s) for s in x), strict=True):
        np.testing.assert_allclose(one, expected, atol=1e-11)


@forms
@layouts
@settings(max_examples=15)
@given(cuts=st.lists(st.integers(1, 8), max_size=4), offset=st.integers(0, 1000))
def test_decoding_in_any_pieces_equals_the_full_pass(form, layout, cuts, offset):
    made, x = layer(form, layout=layout, dtype=torch.float64), tokens(dtype=torch.float64)
    edges = sorted({0, *cuts, x.shape[1]})
    cache = LatentCache(offset=offset)
    with torch.no_grad():
        pieces = [made(x[:, a:b], cache=cache) for a, b in itertools.pairwise(edges)]
        torch.testing.assert_close(torch.cat(pieces, 1), made(x, offset=offset), atol=1e-11, rtol=0)
    assert cache.seen == x.shape[1]


@forms
@layouts
@pytest.mark.parametrize("shift", [1, 17, 4096, 100_000])
def test_no_shift_is_seen_in_float32(form, layout, shift):
    made, x = layer(form, layout=layout), tokens()
    with torch.no_grad():
        assert (made(x) - made(x, offset=shift)).abs().max() < 1e-5


@forms
def test_control_without_the_undoing_a_shift_is_seen(form, monkeypatch):
    made, x = layer(form), tokens()
    right = made.rotary.forward

    def forget(x, *, offset=0, inverse=False):
        return x if inverse else right(x, offset=offset)

    monkeypatch.setattr(made.rotary, "forward", forget)
    with torch.no_grad():
        moved = (made(x) - made(x, offset=17)).abs().max()
    assert moved > 1e-2 if form != "spliced" else moved < 1e-5  # the splice has nothing to undo


@forms
def test_no_token_sees_a_later_one(form):
    made, x = layer(form), tokens().requires_grad_()
    made(x)[:, 4].sum().backward()
    assert x.grad[:, 5:].abs().max() == 0
    assert x.grad[:, :5].abs().min() > 0


@pytest.mark.parametrize(("form", "scheme"), [("shared", "shared"), ("spliced", "mla")])
@pytest.mark.parametrize(("dtype", "size"), [(torch.float32, 4), (torch.bfloat16, 2)])
def test_the_cache_holds_as_many_bytes_as_counted(form, scheme, dtype, size):
    made, cache = layer(form, dtype=dtype), LatentCache()
    with torch.no_grad():
        made(tokens(dtype=dtype)[:1], cache=cache)
    shape = CacheShape("this layer", 1, 3, 3, 4, latent=8, rope=6)
    assert cache.bytes == 9 * bytes_per_token(scheme, shape, size=size)
    assert cache.held.dtype == dtype


def test_an_empty_cache_has_no_bytes():
    assert (LatentCache().bytes, LatentCache().seen) == (0, 0)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: FORMS["shared"](d_rope=4), "d_rope: expected 0 for the shared form, got 4"),
        (lambda: FORMS["spliced"](d_rope=0), "d_rope: expected the width of the rotary key"),
        (lambda: FORMS["spliced"](rotary_dim=2), "rotary_dim: expected None, got 2"),
        (lambda: FORMS["spliced"](d_rope=3), "d_rope: expected a positive even integer, got 3"),
        (lambda: FORMS["shared"](d_latent=7), "expected a positive even integer, got 7"),
        (lambda: FORMS["shared"](n_heads=0), "n_heads: expected a whole number of at least 1, got 0"),
    ],
)
def test_refusals(make, says):
    with pytest.raises(ValueError, match=says):
        make()


@forms
def test_gradients_do_not_depend_on_the_form(form):
    """Trained on the full pass or on the cached one, every weight moves the same way."""
    found = []
    for cache in (None, LatentCache()):
        made, x = layer(form, dtype=torch.float64), tokens(dtype=torch.float64)
        (made(x, cache=cache) ** 2).sum().backward()
        found.append({name: p.grad for name, p in made.named_parameters()})
    for name, grad in found[0].items():
        assert grad.abs().max() > 1e-3
        torch.testing.assert_close(found[1][name], grad, atol=1e-9, rtol=1e-9)
