"""What the layers are given and cannot read: each refusal says what was expected, what came, and how to fix it."""

import pytest
import torch

from rope_lab.nn.attention import AttentionConfig, CausalAttention, KVCache, attend
from rope_lab.nn.complex_linear import ComplexLinear
from rope_lab.nn.complex_products import PRODUCTS
from rope_lab.nn.gpt import GPT, GPTConfig
from rope_lab.nn.latent_attention import LatentConfig, SharedLatentAttention, SplicedLatentAttention

pytestmark = pytest.mark.usefixtures("untyped")


def ones(*shape, dtype=torch.float32):
    return torch.ones(shape, dtype=dtype)


HEADS = "as many heads of values as of keys, a divisor of the heads of queries, and batches that broadcast, got q"
SHAPES = {
    "heads that do not divide": ((3, 4, 8), (2, 4, 8), (2, 4, 8), HEADS),
    "more heads of keys": ((2, 4, 8), (4, 4, 8), (4, 4, 8), HEADS),
    "fewer heads of values": ((4, 4, 8), (4, 4, 8), (2, 4, 8), HEADS),
    "no heads of keys": ((4, 4, 8), (0, 4, 8), (0, 4, 8), HEADS),
    "keys without a head axis": ((4, 4, 8), (4, 8), (4, 8), HEADS),
    "queries without a head axis": ((4, 8), (2, 4, 8), (2, 4, 8), HEADS),
    "another batch": ((3, 2, 4, 8), (2, 2, 4, 8), (2, 2, 4, 8), HEADS),
    "another batch, fewer heads": ((3, 4, 4, 8), (2, 2, 4, 8), (2, 2, 4, 8), HEADS),
    "another head_dim": ((2, 4, 8), (2, 4, 6), (2, 4, 8), r"of one head_dim, at least 1, got q .*k \(2, 4, 6\)"),
    "nothing to multiply": ((2, 4, 0), (2, 4, 0), (2, 4, 8), "one head_dim, at least 1"),
    "fewer keys": ((2, 3, 8), (2, 2, 8), (2, 2, 8), "3 queries, 2 keys, 2 values"),
    "fewer values": ((2, 3, 8), (2, 5, 8), (2, 4, 8), "5 keys, 4 values"),
    "one vector": ((8,), (8,), (8,), r"q: expected \(..., T, head_dim\), got shape \(8,\); write .* q\[None"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_what_does_not_fit_together_is_not_attended(name):
    q, k, v, said = SHAPES[name]
    with pytest.raises(ValueError, match=said):
        attend(ones(*q), ones(*k), ones(*v))


@pytest.mark.parametrize(
    ("q", "k", "v", "width"),
    [
        ((4, 4, 8), (2, 6, 8), (2, 6, 8), 8),
        ((3, 4, 4, 8), (1, 2, 4, 8), (1, 2, 4, 8), 8),
        ((3, 4, 4, 8), (2, 4, 8), (2, 4, 8), 8),
        ((4, 8), (4, 8), (4, 6), 6),
        ((2, 0, 8), (2, 3, 8), (2, 3, 8), 8),
        ((0, 4, 8), (0, 4, 8), (0, 4, 8), 8),
    ],
)
def test_control_what_fits_together_is(q, k, v, width):
    assert attend(ones(*q), ones(*k), ones(*v)).shape == (*q[:-1], width)


@pytest.mark.parametrize(
    ("q", "k", "v"),
    [
        (torch.float32, torch.float64, torch.float64),
        (torch.float32, torch.float32, torch.float64),
        (torch.bfloat16, torch.float32, torch.float32),
        (torch.float32, torch.bfloat16, torch.bfloat16),
    ],
)
def test_another_dtype_is_not_attended(q, k, v):
    three = [ones(2, 4, 8, dtype=dtype) for dtype in (q, k, v)]
    with pytest.raises(TypeError, match=rf"in one dtype, got {q}, {k}, {v}; convert with"):
        attend(*three)


@pytest.mark.parametrize("name", "qkv")
@pytest.mark.parametrize("wrong", [ones(2, 4, 8, dtype=torch.int64), ones(2, 4, 8) > 0, [[1.0]], None])
def test_what_is_no_floating_tensor_is_not_attended(name, wrong):
    three = {"q": ones(2, 4, 8), "k": ones(2, 4, 8), "v": ones(2, 4, 8), name: wrong}
    with pytest.raises(TypeError, match=rf"^{name}: expected a real floating-point tensor, got .*convert with"):
        attend(*three.values())


LATENT = {"d_model": 8, "n_heads": 2, "head_dim": 4, "d_latent": 8}
LAYERS = {
    "attention": lambda: CausalAttention(AttentionConfig(d_model=8, n_heads=2, head_dim=4, rotated="")),
    "shared latent": lambda: SharedLatentAttention(LatentConfig(**LATENT)),
    "spliced latent": lambda: SplicedLatentAttention(LatentConfig(**LATENT, d_rope=4)),
    **{name: lambda name=name: ComplexLinear(8, 4, layout="half", product=name) for name in PRODUCTS},
}


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("x", "said"),
    [
        (ones(2, 3, 8, dtype=torch.int64), "real floating-point tensor, got dtype torch.int64"),
        (ones(2, 3, 8, dtype=torch.complex64), "real floating-point tensor, got dtype torch.complex64"),
        ([[1.0] * 8], "real floating-point tensor, got list"),
        (ones(2, 3, 8, dtype=torch.float64), "torch.float32, the dtype of the layer's weights, got torch.float64"),
        (ones(2, 3, 8, dtype=torch.bfloat16), r"or the layer with .to\(torch.bfloat16\)"),
    ],
)
def test_a_layer_refuses_what_its_weights_cannot_multiply(layer, x, said):
    with pytest.raises(TypeError, match=f"^x: expected .*{said}"):
        LAYERS[layer]()(x)


@pytest.mark.parametrize("layer", LAYERS)
def test_under_autocast_a_half_type_is_welcome_and_float64_is_not(layer):
    made = LAYERS[layer]()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert made(ones(2, 3, 8)).shape == made(ones(2, 3, 8, dtype=torch.bfloat16)).shape
        with pytest.raises(TypeError, match=r"got torch\.float64"):
            made(ones(2, 3, 8, dtype=torch.float64))


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("shape", [(3, 6), (3, 16), (3, 0), ()])
def test_another_width_than_in_features_is_refused(product, shape):
    with pytest.raises(ValueError, match=r"x: expected \(\.\.\., 8\), got .*; the layer's in_features are 8"):
        LAYERS[product]()(ones(*shape))


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
@pytest.mark.parametrize("name", "kv")
def test_a_cache_takes_vectors_alone(wrong, error, said, name):
    cache = KVCache()
    with pytest.raises(error, match=rf"^{name}: expected .*{said}"):
        cache.extend(*{"k": ones(2, 3, 8), "v": ones(2, 3, 8), name: wrong}.values())
    assert cache.seen == 0


@pytest.mark.parametrize("wrong", [{}, [KVCache()], True])
def test_a_layer_takes_one_cache(wrong):
    with pytest.raises(TypeError, match="cache: expected a KVCache, got"):
        LAYERS["attention"]()(ones(2, 3, 8), cache=wrong)


@pytest.mark.parametrize(
    ("tokens", "error", "said"),
    [
        ([[1, 2]], TypeError, "int64 or int32, got list"),
        (ones(1, 2), TypeError, "got dtype torch.float32"),
        (torch.tensor([1, 2]), ValueError, r"expected \(batch, T\), got \(2,\); write one text as tokens\[None\]"),
        (torch.tensor([[1, 20]]), ValueError, "numbers from 0 to 19, got 1 to 20"),
        (torch.tensor([[-1, 3]]), ValueError, "numbers from 0 to 19, got -1 to 3"),
    ],
)
def test_a_prompt_of_another_kind_is_refused(tokens, error, said):
    model = GPT(GPTConfig(vocab_size=20, seq_len=8, n_layers=1, n_heads=2, d_model=8))
    with pytest.raises(error, match=f"tokens: expected .*{said}|tokens: {said}"):
        model.generate(tokens, n_tokens=2)
    assert model.generate(torch.tensor([[0, 19]]), n_tokens=2).shape == (1, 4)  # the control


def test_as_many_caches_as_blocks():
    model = GPT(GPTConfig(vocab_size=20, seq_len=8, n_layers=2, n_heads=2, d_model=8))
    with pytest.raises(ValueError, match="caches: expected 2, one for each block, got 1"):
        model(torch.tensor([[1]]), caches=[KVCache()])
