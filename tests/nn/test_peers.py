"""Two independent implementations, one for each layout, agree with ours. Where CI is set, a missing one fails."""

import pytest
import torch

from rope_lab.nn.rotary import RotaryConfig, rotary_table, rotate
from tests.nn.peer import load

HEAD_DIM, LENGTH = 16, 40
X = torch.randn(2, 3, LENGTH, HEAD_DIM, generator=torch.Generator().manual_seed(0))
ATOL = 2e-5  # the peers build their angles in float32


def ours(layout, *, start=0, base=10000.0, rotary_dim=None):
    config = RotaryConfig(HEAD_DIM, base=base, layout=layout, rotary_dim=rotary_dim)
    return rotate(X, rotary_table(torch.arange(start, start + LENGTH), config))


@pytest.mark.parametrize("base", [10000.0, 500.0])
@pytest.mark.parametrize("start", [0, 17])
def test_interleaved_is_rotary_embedding_torch(start, base):
    module = load("rotary_embedding_torch")
    theirs = module.RotaryEmbedding(dim=HEAD_DIM, theta=base).rotate_queries_or_keys(X, offset=start)
    assert torch.allclose(ours("interleaved", start=start, base=base), theirs, atol=ATOL)
    assert not torch.allclose(ours("half", start=start, base=base), theirs, atol=0.1)  # control


def test_partial_interleaved_is_rotary_embedding_torch():
    theirs = load("rotary_embedding_torch").RotaryEmbedding(dim=8).rotate_queries_or_keys(X)
    assert torch.allclose(ours("interleaved", rotary_dim=8), theirs, atol=ATOL)
    assert not torch.allclose(ours("interleaved"), theirs, atol=0.1)  # control


@pytest.mark.parametrize("base", [10000.0, 500.0])
@pytest.mark.parametrize("start", [0, 17])
def test_half_is_transformers_llama(start, base):
    llama = load("transformers.models.llama.modeling_llama")
    config = llama.LlamaConfig(
        hidden_size=3 * HEAD_DIM, num_attention_heads=3, rope_parameters={"rope_type": "default", "rope_theta": base}
    )
    cos, sin = llama.LlamaRotaryEmbedding(config)(X, torch.arange(start, start + LENGTH)[None])
    theirs, of_k = llama.apply_rotary_pos_emb(X, 2 * X, cos, sin)
    assert torch.allclose(ours("half", start=start, base=base), theirs, atol=ATOL)
    assert torch.allclose(2 * ours("half", start=start, base=base), of_k, atol=2 * ATOL)
    assert not torch.allclose(ours("interleaved", start=start, base=base), theirs, atol=0.1)  # control


def test_control_a_missing_peer_fails_in_ci(monkeypatch):
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception, match="required in CI"):
        load("a_peer_that_is_not_there")
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception):
        load("a_peer_that_is_not_there")
