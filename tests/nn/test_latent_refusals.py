"""What the latent layers and their cache are given and cannot read: expected, got, advice; and then nothing is kept."""

import pytest
import torch

from rope_lab.nn.attention import AttentionConfig, CausalAttention
from rope_lab.nn.cache import KVCache
from rope_lab.nn.latent_attention import LatentCache, LatentConfig, SharedLatentAttention, SplicedLatentAttention
from rope_lab.nn.rotary import Rotary, RotaryConfig

pytestmark = pytest.mark.usefixtures("untyped")

SHAPE = {"d_model": 12, "n_heads": 3, "head_dim": 4, "d_latent": 8}
FORMS = {
    "shared": lambda **more: SharedLatentAttention(LatentConfig(**SHAPE | more)),
    "spliced": lambda **more: SplicedLatentAttention(LatentConfig(**SHAPE | {"d_rope": 6} | more)),
}
forms = pytest.mark.parametrize("form", FORMS)


def ones(*shape, dtype=torch.float32):
    return torch.ones(shape, dtype=dtype)


@forms
@pytest.mark.parametrize("shape", [(2, 3, 8), (2, 3, 0), (12,), ()])
def test_another_width_than_the_stream_is_refused(form, shape):
    with pytest.raises(ValueError, match=r"x: expected \(\.\.\., T, d_model\) with d_model = 12, got \("):
        FORMS[form]()(ones(*shape))


@forms
@pytest.mark.parametrize("shape", [(2, 0, 12), (0, 3, 12), (3, 12), (2, 1, 1, 12)])
def test_control_no_tokens_no_texts_and_more_axes_are_welcome(form, shape):
    cache = LatentCache()
    assert FORMS[form]()(ones(*shape)).shape == shape
    assert FORMS[form]()(ones(*shape), cache=cache).shape == shape
    assert cache.seen == shape[-2]


@forms
@pytest.mark.parametrize("offset", [-1, 1.5, None, True, "3", torch.tensor(3)])
@pytest.mark.parametrize("cached", [False, True])
def test_a_place_is_a_whole_number(form, offset, cached):
    with pytest.raises((TypeError, ValueError), match=r"^offset: expected an integer of at least 0, got .*; count"):
        FORMS[form]()(ones(2, 3, 12), offset=offset, cache=LatentCache() if cached else None)


def test_the_advice_names_arguments_that_are_there():
    """Only a Rotary has positions=; neither a length nor a cache does."""
    config = RotaryConfig(head_dim=4)
    with pytest.raises(ValueError, match="a Rotary takes other places as positions="):
        Rotary(config)(ones(3, 4), offset=-1)
    for make in (lambda: Rotary(config, length=-1), lambda: KVCache(offset=-1)):
        with pytest.raises(ValueError, match="got -1; count from 0"):
            make()


@forms
@pytest.mark.parametrize("wrong", [{}, [LatentCache()], True, KVCache()])
def test_a_layer_takes_one_latent_cache(form, wrong):
    with pytest.raises(TypeError, match="cache: expected a LatentCache, got"):
        FORMS[form]()(ones(2, 3, 12), cache=wrong)


def test_control_keys_and_values_take_no_latent_cache():
    with pytest.raises(TypeError, match="cache: expected a KVCache, got LatentCache"):
        CausalAttention(AttentionConfig(d_model=12, n_heads=3, head_dim=4, rotated=""))(
            ones(2, 3, 12), cache=LatentCache()
        )


@forms
@pytest.mark.parametrize(
    ("new", "said"),
    [
        (ones(3, 2, 12), r"like those held, \(2, 3, .*, got \(3, 2, "),
        (ones(2, 12), r".*got \(2, "),
        (ones(1, 2, 2, 12), r".*got \(1, 2, 2"),
    ],
)
def test_a_cache_belongs_to_one_batch_and_keeps_what_it_held(form, new, said):
    made, cache = FORMS[form](), LatentCache()
    made(ones(2, 3, 12), cache=cache)
    held = cache.held
    with pytest.raises(ValueError, match=f"cache: expected tokens {said}.*LatentCache of its own"):
        made(new, cache=cache)
    assert cache.held is held


def test_a_cache_belongs_to_one_layer_and_one_dtype():
    cache, layers = LatentCache(), {name: make() for name, make in FORMS.items()}
    layers["shared"](ones(2, 3, 12), cache=cache)
    with pytest.raises(ValueError, match=r"got \(2, 3, 14\); each layer"):
        layers["spliced"](ones(2, 3, 12), cache=cache)
    with pytest.raises(ValueError, match=r"expected torch\.float32, as held, got torch\.float64; start a LatentCache"):
        layers["shared"].double()(ones(2, 3, 12, dtype=torch.float64), cache=cache)
    assert (cache.seen, cache.held.dtype) == (3, torch.float32)


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        ([[1.0]], TypeError, "got list"),
        (None, TypeError, "got NoneType"),
        (ones(3, 8, dtype=torch.int64), TypeError, "got dtype torch.int64"),
        (ones(8), ValueError, r"got shape \(8,\)"),
        (ones(), ValueError, r"got shape \(\)"),
    ],
)
def test_a_cache_takes_vectors_alone(wrong, error, said):
    cache = LatentCache()
    with pytest.raises(error, match=f"^new: expected .*{said}"):
        cache.extend(wrong)
    assert cache.held is None


@pytest.mark.parametrize(
    ("form", "change", "error", "said"),
    [
        ("shared", {"d_latent": 7}, ValueError, "d_latent: expected a positive even integer, got 7"),
        ("shared", {"rotary_dim": 10}, ValueError, "rotary_dim: expected at most d_latent = 8, got 10; leave it out"),
        ("shared", {"rotary_dim": 3}, ValueError, "rotary_dim: expected a positive even integer, got 3"),
        ("shared", {"d_rope": None}, TypeError, "d_rope: expected a positive even integer, got None"),
        ("spliced", {"d_rope": True}, TypeError, "d_rope: expected a positive even integer, got True"),
        ("spliced", {"length": -1}, ValueError, "length: expected an integer of at least 0, got -1"),
    ],
)
def test_a_refused_size_goes_by_the_name_that_was_given(form, change, error, said):
    with pytest.raises(error, match=said):
        FORMS[form](**change)


def test_control_the_spliced_latent_may_be_odd():
    assert FORMS["spliced"](d_latent=7)(ones(1, 2, 12)).shape == (1, 2, 12)


@pytest.mark.deep
@forms
def test_the_checks_compile(form):
    torch.compiler.reset()
    made = FORMS[form](length=16)
    compiled = torch.compile(made, backend="eager", fullgraph=True)
    for offset in (0, 3, 5):
        x = torch.randn(2, 4, 12)
        torch.testing.assert_close(compiled(x, offset=offset), made(x, offset=offset))
