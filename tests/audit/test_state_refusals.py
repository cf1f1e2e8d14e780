"""State dicts that would come out wrong without a word: they are refused, and the model is left as it was."""

import numpy as np
import pytest

from rope_lab.audit import permute_state

pytestmark = pytest.mark.usefixtures("untyped")

Q, K = np.arange(16.0)[:, None], np.arange(8.0)[:, None]  # four heads of q and two of k, each of four
GROUPED = {"n_heads": 4, "n_kv_heads": 2, "layout_from": "half", "layout_to": "interleaved"}


def llama(*, layers=2, **more):
    both = {"q_proj.weight": Q, "k_proj.weight": K}
    return {f"layers.{i}.{name}": x for i in range(layers) for name, x in both.items()} | more


def test_control_a_whole_model_is_carried():
    moved = permute_state(llama(), **GROUPED)
    assert moved["layers.1.k_proj.weight"].ravel().tolist() == [0, 2, 1, 3, 4, 6, 5, 7]


@pytest.mark.parametrize("kv_heads", [None, 1, 4])
def test_keys_of_another_number_of_heads(kv_heads):
    """Grouped queries without n_kv_heads: the keys have rows enough to be cut into heads of half the size."""
    said = r"state: expected . heads of 4 in layers\.0\.k_proj\.weight, got 8 rows; give n_heads and n_kv_heads"
    with pytest.raises(ValueError, match=said):
        permute_state(llama(), **GROUPED | {"n_kv_heads": kv_heads})


@pytest.mark.parametrize(("missing", "has", "lacks"), [("k", "q", "k"), ("q", "k", "q")])
def test_a_layer_with_one_of_the_two(missing, has, lacks):
    state = llama()
    del state[f"layers.1.{missing}_proj.weight"]
    said = f"expected q_proj and k_proj in each layer, got {has}_proj without {lacks}_proj in 'layers.1'; .*parts="
    with pytest.raises(ValueError, match=said):
        permute_state(state, **GROUPED)


@pytest.mark.parametrize("name", ["q_proj.lora_A.weight", "q_proj.base_layer.weight", "k_proj.scale", "q_proj.a"])
def test_what_is_beside_a_weight(name):
    """Rows of an adapter or a scale are no rows of a head, also where their number fits."""
    with pytest.raises(ValueError, match=rf"got 'layers\.0\.{name}'; merge adapters"):
        permute_state(llama() | {f"layers.0.{name}": Q}, **GROUPED)


def test_a_norm_of_another_size():
    assert permute_state(llama() | {"layers.0.q_norm.weight": np.arange(4.0)}, **GROUPED)  # the control
    with pytest.raises(ValueError, match=r"expected 4 heads of 4 in layers\.0\.q_norm\.weight, got 8 rows"):
        permute_state(llama() | {"layers.0.q_norm.weight": np.arange(8.0)}, **GROUPED)


def test_layers_may_have_heads_of_their_own_width():
    wide = {
        "layers.2.q_proj.weight": np.arange(32.0),
        "layers.2.k_proj.weight": np.arange(16.0),
        "layers.2.q_norm.weight": np.arange(8.0),
    }
    moved = permute_state(llama() | wide, **GROUPED)
    assert moved["layers.2.q_norm.weight"].tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    assert moved["layers.2.k_proj.weight"].tolist()[8:12] == [8, 12, 9, 13]
    assert moved["layers.0.k_proj.weight"].ravel().tolist()[:4] == [0, 2, 1, 3]


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"n_heads": 0}, ValueError, "n_heads: expected a whole number of at least 1, got 0"),
        ({"n_kv_heads": 0}, ValueError, "n_kv_heads: expected a whole number of at least 1, got 0"),
        ({"n_kv_heads": 2.0}, TypeError, "n_kv_heads: expected a whole number of at least 1, got 2.0"),
        ({"n_heads": 32}, ValueError, "expected 32 heads of 0"),
        ({"parts": "q_proj"}, ValueError, "parts: expected four names"),
        ({"parts": ("q", "k")}, ValueError, "parts: expected four names, .* got \\('q', 'k'\\)"),
    ],
)
def test_options_that_mean_nothing(change, error, said):
    with pytest.raises(error, match=said):
        permute_state(llama(), **GROUPED | change)


@pytest.mark.parametrize("wrong", [None, [[1.0]], 3.0, np.float64(1)])
def test_what_is_no_array(wrong):
    with pytest.raises(TypeError, match=r"a numpy array or a torch tensor in layers\.0\.q_proj\.weight, got"):
        permute_state(llama() | {"layers.0.q_proj.weight": wrong}, **GROUPED)
