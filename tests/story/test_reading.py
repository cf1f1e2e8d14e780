"""Each knob does what its formula says, and what it says of the relative position holds in the whole model."""

import dataclasses
import math

import pytest
import torch

from rope_lab.algebra import round_to
from rope_lab.nn import GPT
from rope_lab.story import (
    Knobs,
    greedy,
    load_story,
    logits,
    losses,
    published_text,
    story_texts,
    story_tokenizer,
    tell,
    turned,
)

MODEL, TOKENIZER = load_story(dtype=torch.float64), story_tokenizer()
TOKENS = torch.tensor([TOKENIZER.encode(text)[:48] for text in story_texts()[:2]])
PLAIN = MODEL(TOKENS)
PROMPT = TOKENIZER.encode("Once upon a time")


def moved(**knobs):
    """By how much the largest logit moves."""
    return float((logits(MODEL, TOKENS, knobs=Knobs(**knobs)) - PLAIN).abs().max())


def slow(knobs, tokens):
    """The model again, from the docstring of the knobs: one token after the other, one head after the other."""
    rows = []  # (token, k before its turn, v) of each token held, by layer
    out = []
    held = [[] for _ in MODEL.blocks]
    for t, token in enumerate(tokens):
        if knobs.window and len(held[0]) == knobs.window:
            for rows in held:
                del rows[knobs.sinks]
        places = range(len(held[0]) + 1) if knobs.returned else [*(row[0] for row in held[0]), t]
        x = MODEL.embedding.weight[token]
        for block, rows in zip(MODEL.blocks, held, strict=True):
            y = block.attention_norm(x)
            a = block.attention
            rows.append((t, a.k(y), a.v(y)))
            heads = []
            for head in range(8):
                own, shared = slice(8 * head, 8 * head + 8), slice(8 * (head // 2), 8 * (head // 2) + 8)
                q = turn(a.q(y)[own], places[-1], knobs)
                keys = torch.stack([turn(k[shared], n, knobs) for n, (_, k, _) in zip(places, rows, strict=True)])
                values = torch.stack([v[shared] for *_, v in rows])
                heads.append((keys @ q / 8**0.5).softmax(0) @ values)
            x = x + a.o(torch.cat(heads))
            x = x + block.mlp(block.mlp_norm(x))
        out.append(MODEL.embedding.weight @ MODEL.norm(x))
    return torch.stack(out)


def turn(x, n, knobs):
    p = torch.tensor(float(knobs.stretch * n + knobs.shift), dtype=torch.float64)
    i, s = torch.arange(4, dtype=torch.float64), knobs.factor
    base = knobs.base * s ** (8 / 6) if knobs.scaling == "ntk" else knobs.base
    theta, size = base ** (-2 * i / 8), 1.0
    if knobs.scaling == "linear":
        theta = theta / s
    if knobs.scaling == "yarn":
        kept = torch.tensor([1.0, 0.5, 0.0, 0.0]).double()  # at base 10,000: a = 0, b = 2
        theta, size = theta * (kept + (1 - kept) / s), 0.1 * math.log(s) + 1
    theta = knobs.direction * theta
    theta[[plane - 1 for plane in knobs.frozen]] = 0
    if knobs.none:
        theta, size = 0 * theta, 1.0
    if knobs.round_positions != "none":
        p = torch.tensor(round_to(p.numpy(), dtype=knobs.round_positions))
    angles = p * theta
    if knobs.round_angles != "none":
        angles = torch.tensor(round_to(angles.numpy(), dtype=knobs.round_angles))
    z = torch.polar(torch.as_tensor(size, dtype=torch.float64).expand(4), angles)
    if knobs.layout == "half":
        w = torch.complex(x[:4], x[4:]) * z
        return torch.cat((w.real, w.imag))
    return torch.view_as_real(torch.view_as_complex(x.reshape(4, 2)) * z).flatten()


EACH = {
    "shift": {"shift": 1000},
    "layout": {"layout": "half"},
    "direction": {"direction": -1},
    "base": {"base": 500.0},
    "frozen": {"frozen": (2, 4)},
    "stretch": {"stretch": 0.5},
    "none": {"none": True},
    "none, scaled": {"none": True, "scaling": "yarn", "factor": 4.0},
    "angles": {"round_angles": "bfloat16"},
    "positions": {"round_positions": "float16", "shift": 5000},
    "linear": {"scaling": "linear", "factor": 4.0},
    "ntk": {"scaling": "ntk", "factor": 4.0},
    "yarn": {"scaling": "yarn", "factor": 4.0},
    "window": {"window": 9},
    "sinks": {"window": 9, "sinks": 4},
    "returned": {"window": 9, "sinks": 4, "returned": True},
    "returned yarn": {"window": 9, "sinks": 4, "returned": True, "scaling": "yarn", "factor": 4.0, "layout": "half"},
    "all": {"shift": 3, "direction": -1, "base": 900.0, "stretch": 1.1, "frozen": (3,), "round_angles": "float16"},
}


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("name", EACH)
def test_each_knob_is_what_its_formula_says(name):
    knobs = Knobs(**EACH[name])
    tokens = TOKENS[:, :12]
    fast = logits(MODEL, tokens, knobs=knobs)
    assert torch.allclose(fast[0], slow(knobs, tokens[0].tolist()), atol=1e-9)
    alters = name not in ("shift",)
    assert bool((fast - PLAIN[:, :12]).abs().max() > 1e-3) == alters  # control: it is another model


def test_the_knobs_as_trained_change_nothing_and_the_model_stays_as_it_was():
    assert moved() < 1e-9
    turned(MODEL, Knobs(layout="half"))(TOKENS)
    assert torch.equal(MODEL(TOKENS), PLAIN)
    assert all(a is b for a, b in zip(turned(MODEL, Knobs()).parameters(), MODEL.parameters(), strict=True))


@pytest.mark.parametrize("shift", [1, 1000, 100_000])
def test_the_whole_model_sees_only_relative_positions(shift):
    assert moved(shift=shift) < 1e-8
    assert moved(shift=shift, layout="half", direction=-1, base=77.0) == pytest.approx(
        moved(layout="half", direction=-1, base=77.0), abs=1e-7
    )
    rounded = moved(shift=shift, round_positions="bfloat16")  # control: rounded positions are not relative
    assert (rounded > 1e-3) == (shift > 128)


def test_the_half_split_knob_is_half_split_code():
    code = GPT(dataclasses.replace(MODEL.config, layout="half")).double()
    code.load_state_dict(MODEL.state_dict())
    assert torch.allclose(code(TOKENS), logits(MODEL, TOKENS, knobs=Knobs(layout="half")), atol=1e-9)


@pytest.mark.deep
def test_a_window_that_drops_nothing_is_no_window():
    assert moved(window=48) < 1e-9
    assert moved(window=48, sinks=4, returned=True) < 1e-9
    assert moved(window=47) > 1e-6  # control


@pytest.mark.deep
def test_without_first_tokens_re_turning_changes_nothing():
    """Everything that is held moves together. With first tokens kept, their distance shrinks."""
    ways = [logits(MODEL, TOKENS, knobs=Knobs(window=12, returned=r)) for r in (False, True)]
    assert torch.allclose(*ways, atol=1e-8)
    ways = [logits(MODEL, TOKENS, knobs=Knobs(window=12, sinks=4, returned=r)) for r in (False, True)]
    assert (ways[0] - ways[1]).abs().max() > 0.1


@pytest.mark.deep
def test_texts():
    model = load_story()
    assert tell(model, TOKENIZER, n_tokens=256) == published_text()
    assert published_text().startswith(tell(model, TOKENIZER, n_tokens=64, knobs=Knobs(shift=1000)))
    assert tell(model, TOKENIZER, "Lily had a", n_tokens=0) == "Lily had a"
    for knobs in (Knobs(window=8, sinks=2, returned=True), Knobs(layout="half")):
        tokens = greedy(model, PROMPT, n_tokens=30, knobs=knobs)
        again = logits(model, torch.tensor([tokens]), knobs=knobs).argmax(-1)[0].tolist()
        assert again[len(PROMPT) - 1 : -1] == tokens[len(PROMPT) :]
        assert tokens != greedy(model, PROMPT, n_tokens=30)


def test_losses_are_of_the_next_token():
    by_hand = -PLAIN.log_softmax(-1)[:, :-1].gather(2, TOKENS[:, 1:, None])[..., 0]
    assert torch.allclose(losses(MODEL, TOKENS), by_hand, atol=1e-10)


def test_beyond_the_window_of_the_training_it_reads_on():
    tokens = torch.tensor([[token for text in story_texts()[:3] for token in TOKENIZER.encode(text)]])
    assert tokens.shape[1] > 1024
    assert losses(MODEL, tokens).shape == (1, tokens.shape[1] - 1)
    with pytest.raises(ValueError, match="at most 512"):
        MODEL(tokens)


def test_what_has_no_number_is_refused():
    for name in ("round_positions", "round_angles"):
        with pytest.raises(ValueError, match=f"^{name}: expected numbers up to 65,504"):
            logits(MODEL, TOKENS, knobs=Knobs(shift=66_000, **{name: "float16"}))
        assert moved(shift=66_000, **{name: "bfloat16"}) > 1e-3
    with pytest.raises(ValueError, match="turning heads of 8, got 32"):
        turned(GPT(dataclasses.replace(MODEL.config, n_heads=2, n_kv_heads=2)), Knobs())
