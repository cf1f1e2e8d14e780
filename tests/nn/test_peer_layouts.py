"""The table of chapter 3: which layout each library turns in, found by one probe of the code that is installed."""

import pytest
import torch

from tests.nn.peer import load

HALF = ["llama", "gpt_neox", "mistral", "qwen2", "qwen3", "gemma", "phi3"]
INTERLEAVED = ["cohere", "glm"]
HEAD_DIM = 16
ANGLES = torch.linspace(0.4, 1.1, HEAD_DIM // 2)
X = torch.eye(HEAD_DIM)[0].reshape(1, 1, 1, HEAD_DIM)  # (batch, heads, T, head_dim): coordinate 0 alone


def partner(turned):
    """The coordinate that coordinate 0 turns with."""
    return 1 + int(turned.flatten()[1:].abs().argmax())


def tables(interleaved):
    spread = ANGLES.repeat_interleave(2) if interleaved else ANGLES.repeat(2)
    return spread.cos()[None, None], spread.sin()[None, None]


@pytest.mark.parametrize("model", HALF + INTERLEAVED)
def test_a_model_in_transformers(model):
    module = load(f"transformers.models.{model}.modeling_{model}")
    q, _ = module.apply_rotary_pos_emb(X, X, *tables(model in INTERLEAVED))
    assert partner(q) == (1 if model in INTERLEAVED else HEAD_DIM // 2)


def test_gptj_in_transformers():
    module = load("transformers.models.gptj.modeling_gptj")
    cos, sin = ANGLES.cos()[None, None], ANGLES.sin()[None, None]  # (batch, T, planes)
    assert partner(module.apply_rotary_pos_emb(X, sin, cos)) == 1


def test_llama4_in_transformers():
    module = load("transformers.models.llama4.modeling_llama4")
    q, _ = module.apply_rotary_emb(X, X, torch.polar(torch.ones(1, 1, len(ANGLES)), ANGLES[None, None]))
    assert partner(q) == 1


def test_rotary_embedding_torch():
    rotary = load("rotary_embedding_torch").RotaryEmbedding(dim=HEAD_DIM)
    assert partner(rotary.rotate_queries_or_keys(X, offset=1)) == 1


def test_x_transformers():
    module = load("x_transformers.x_transformers")
    frequencies, _ = module.RotaryEmbedding(HEAD_DIM).forward_from_seq_len(2)
    assert partner(module.apply_rotary_pos_emb(X.expand(1, 1, 2, HEAD_DIM), frequencies)[..., 1, :]) == 1


def test_deepseek_reads_neighbours_and_writes_halves():
    module = load("transformers.models.deepseek_v3.modeling_deepseek_v3")
    second = torch.eye(HEAD_DIM)[1].reshape(X.shape)
    q, k = module.apply_rotary_pos_emb_interleave(X, second, *tables(interleaved=False))
    assert q.flatten().nonzero().flatten().tolist() == [0, HEAD_DIM // 2]
    assert k.flatten().nonzero().flatten().tolist() == [0, HEAD_DIM // 2]
