"""Lists of layers without rotation, as the installed library reads them."""

import pytest

from rope_lab.chapters.ch21_norms_and_layers.claims_book import _listed
from tests.nn.peer import load


@pytest.mark.parametrize("layers", [4, 8])
def test_one_means_that_the_layer_turns(layers):
    load("transformers")
    configs = load("transformers.models.smollm3.configuration_smollm3")
    code = load("transformers.models.smollm3.modeling_smollm3")
    config = configs.SmolLM3Config(
        num_hidden_layers=layers, hidden_size=16, num_attention_heads=2, num_key_value_heads=2, pad_token_id=0
    )
    assert config.no_rope_layers == _listed(layers)
    turns = [bool(code.SmolLM3Attention(config, layer).use_rope) for layer in range(layers)]
    assert turns == [bool(one) for one in _listed(layers)]
    assert turns.index(False) == 3
