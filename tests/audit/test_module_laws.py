"""Modules built from a configuration: the rule that it names, in short texts and in long ones, and a cast."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from rope_lab.algebra.hf_schedules import rope_settings
from rope_lab.audit.constructions import Built
from rope_lab.audit.law_suite import configured_rule, module_laws
from rope_lab.audit.probe import Probe
from tests.audit.implementations import from_table, rotary

PLAIN = {"head_dim": 16, "rope_theta": 10000.0, "max_position_embeddings": 2048}
LONG = {
    **PLAIN,
    "original_max_position_embeddings": 2048,
    "rope_scaling": {
        "type": "longrope",
        "factor": 4.0,
        "short_factor": [1.0] * 8,
        "long_factor": [1.0 + i / 2 for i in range(8)],
    },
}


def turned(theta, factor=1.0):
    return lambda x, n: factor * rotary(layout="half", theta=theta(int(np.max(n)) + 1))(x, n)


def asked(f, config):
    settings = rope_settings(config)
    return configured_rule(Probe(f, head_dim=16), settings, window=2048)


def rule(config, length):
    settings = rope_settings(config)
    return settings.schedule.at(length).frequencies(16, base=settings.base)


def test_a_schedule_that_follows_its_configuration():
    assert asked(turned(lambda _: rule(PLAIN, 1)), PLAIN).ok
    factor = rope_settings(LONG).schedule.attention_factor
    assert factor > 1.05
    assert asked(turned(lambda length: rule(LONG, length), factor), LONG).ok


def test_control_short_frequencies_in_a_long_text():
    """As in PhiMoE: beyond the window the lengths are those of long texts, and the frequencies those of short ones."""
    factor = rope_settings(LONG).schedule.attention_factor
    found = asked(turned(lambda _: rule(LONG, 1), factor), LONG)
    assert not found.ok
    assert found.broken
    assert found.saw.startswith("in a text of 4096 tokens the turn from 0 to 1 is off by")


@pytest.mark.parametrize(
    ("f", "config", "words"),
    [
        (turned(lambda _: rule({**PLAIN, "rope_theta": 500.0}, 1)), PLAIN, "in a text of 1025 tokens the turn from"),
        (turned(lambda length: rule(LONG, length)), LONG, "in a text of 1025 tokens lengths are times 1, expected 1."),
        (turned(lambda _: rule(PLAIN, 1)[::-1] * 0.999), PLAIN, "in a text of 1025 tokens the turn from"),
    ],
)
def test_control_another_rule(f, config, words):
    found = asked(f, config)
    assert not found.ok
    assert found.saw.startswith(words)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"head_dim": 42, "partial_rotary_factor": 0.5}, "not asked: "),
        ({"head_dim": 64}, "not asked: 32 planes, wider than the head"),
    ],
)
def test_a_width_that_is_no_number_of_planes_is_not_asked(config, words):
    found = asked(turned(lambda _: rule(PLAIN, 1)), {**PLAIN, **config})
    assert found.ok
    assert found.saw.startswith(words)


@pytest.mark.parametrize(("turning", "config"), [(16, {**PLAIN, "partial_rotary_factor": 0.5}), (8, PLAIN)])
def test_control_another_number_of_coordinates_is_named_first(turning, config):
    own = np.zeros(8)
    own[: turning // 2] = rule(PLAIN, 1)[: turning // 2]
    found = asked(turned(lambda _: own), config)
    assert not found.ok
    assert found.saw.startswith(f"{turning} of 16 coordinates turn, expected {24 - turning}; in a text of 1025 tokens")


def test_a_table_that_ends_early_is_not_asked():
    """As far as it goes it may be right; no text of a thousand tokens fits."""
    found = asked(from_table(length=64), PLAIN)
    assert (found.ok, found.saw) == (True, "not asked: a table ends before these texts")


def test_the_order_of_the_planes_and_of_the_coordinates_does_not_count():
    order = np.random.default_rng(0).permutation(16)
    assert asked(turned(lambda _: rule(PLAIN, 1)[::-1]), PLAIN).ok
    assert asked(lambda x, n: rotary()(x, n)[..., order], PLAIN).ok


class Tables(torch.nn.Module):
    """Frequencies in a buffer, or made anew in each call."""

    def __init__(self, *, held):
        super().__init__()
        self.register_buffer("inv_freq", torch.tensor(1e4 ** (-np.arange(0, 16, 2) / 16), dtype=torch.float32))
        self.held = held

    def forward(self, x, n):
        theta = self.inv_freq.double().numpy() if self.held else 1e4 ** (-np.arange(0, 16, 2) / 16)
        return torch.from_numpy(rotary(layout="half", theta=theta)(x.double().numpy(), n.numpy())).to(x.dtype)


@pytest.mark.parametrize("held", [True, False])
def test_a_cast_is_a_caution_and_never_a_break(held):
    module = Tables(held=held)
    before = module.inv_freq.clone()
    found = {law.name: law for law in module_laws(module, 16, Built(module, rope_settings(PLAIN), 2048))}
    assert found["configured rule"].ok
    cast = found["survives casting"]
    assert cast.ok is not held
    assert not cast.broken
    assert str(cast).startswith("care" if held else "ok")
    assert torch.equal(module.inv_freq, before)  # the module is as it was


def test_a_table_from_earlier_calls_is_not_a_cast_one():
    """It would answer from there, whatever the cast did to its frequencies."""

    class Caching(Tables):
        def forward(self, x, n):
            self.table = getattr(self, "table", self.inv_freq.clone())
            return torch.from_numpy(rotary(layout="half", theta=self.table.double().numpy())(x.numpy(), n.numpy()))

    module = Caching(held=True)
    (law,) = module_laws(module, 16, Built(module, None, None))
    assert (law.ok, law.saw) == (True, "not asked: table keeps what earlier calls made")


@pytest.mark.parametrize("f", [lambda x, _n: 0 * x, lambda: 0])
def test_what_has_no_inverse_or_no_answer_is_for_other_laws(f):
    assert module_laws(f, 16, Built(Tables(held=True), rope_settings(PLAIN), 2048)) == []


def test_a_rule_that_we_do_not_know_is_not_asked():
    module = Tables(held=False)
    names = [law.name for law in module_laws(module, 16, Built(module, None, None))]
    assert names == ["survives casting"]
    bare = SimpleNamespace(buffers=lambda: (), parameters=lambda: ())
    (law,) = module_laws(module, 16, Built(bare, None, None))
    assert law.saw == "the module holds no numbers that a cast could change"
