"""What chapter 18 says of the Llama layer of transformers, seen on the version that it names."""

import re
from pathlib import Path

import pytest
import torch

from tests.nn.peer import load

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def llama():
    return load("transformers.models.llama.modeling_llama")


def layer(llama):
    return llama.LlamaRotaryEmbedding(llama.LlamaConfig(hidden_size=128, num_attention_heads=1))


def test_the_page_names_the_version_that_is_pinned():
    page = (ROOT / "book/18_precision.md").read_text(encoding="utf-8")
    pins = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
    (read,) = re.findall(r"transformers \(we read version (\d+\.\d+)\)", page)
    assert re.search(rf"^transformers=={re.escape(read)}\.", pins, re.MULTILINE)


def test_angles_in_float32_then_a_table_in_the_model_s_type(llama):
    x, at = torch.zeros(1, 1, 128, dtype=torch.bfloat16), torch.tensor([[100_001]])
    cos, sin = layer(llama)(x, at)
    angles = at[..., None].float() * layer(llama).inv_freq
    assert cos.dtype == sin.dtype == torch.bfloat16
    assert torch.equal(cos[..., :64], angles.cos().bfloat16())
    assert torch.equal(sin[..., :64], angles.sin().bfloat16())
    assert not torch.equal(cos[..., :64], angles.bfloat16().float().cos().bfloat16())  # control: an angle in bfloat16


def test_a_cast_of_the_layer_rounds_its_frequencies(llama):
    exact = layer(llama).inv_freq
    low = layer(llama).to(torch.bfloat16).inv_freq
    assert exact.dtype == torch.float32
    assert low.dtype == torch.bfloat16
    assert not torch.equal(low.float(), exact)
