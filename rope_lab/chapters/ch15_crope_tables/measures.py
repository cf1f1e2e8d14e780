"""How much of a trained projection is complex-linear and how much conjugate-linear, and what each part is worth.

The planes of a head's queries and keys are fixed by the rotation; those of the residual stream are not. So a share is
taken over several pairings of the stream: the one that CRoPE would lay out, one drawn at random, and the best one
(`rope_lab.algebra.pairing`), for one projection alone, for Q and K of a layer together, and for all layers together.

``rounded`` asks another thing: what eight or four bits for each weight of q, k and v cost.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from rope_lab.algebra.arguments import Layout
from rope_lab.algebra.pairing import best_pairing, linear_part, linear_share, random_pairing
from rope_lab.algebra.widely_linear import times_i
from rope_lab.errors import ArgumentError
from rope_lab.nn.complex_linear import ComplexLinear
from rope_lab.nn.gpt import GPT, GPTConfig
from rope_lab.training.data.batches import Batches
from rope_lab.training.run.config import RunConfig
from rope_lab.training.run.learner import Learner
from rope_lab.training.run.measures import Measure
from rope_lab.training.run.validation import validate

TUNING = 100  # steps of the fine-tune
Pairings = Sequence[np.ndarray]  # one for each layer


def linear_shares(model: GPT, *, seed: int) -> dict[str, Any]:
    """Complex-linear shares of W_q and W_k by pairing, role and layer, also of the untrained model of that seed.

    ``planes``: under the best pairing of each layer, by role, layer, head and frequency.
    """
    untrained = GPT(model.config, seed=seed)
    return {"trained": _shares(model, seed), "untrained": _shares(untrained, seed), "planes": _planes(model)}


def projected(config: RunConfig, learner: Learner, corpus: Any) -> dict[str, float]:
    """Validation loss when W_q, W_k (and W_v) are replaced by their complex-linear part, before and after tuning.

    A tuned model takes `TUNING` steps at the run's last rate, and is projected again after each of them. "whole, tuned"
    does the same without projecting: what the extra steps alone are worth.
    """
    losses = {"whole": _loss(config, learner, corpus, learner.model)}
    for roles in ("qk", "qkv"):
        for name, pairings in _pairings(learner.model, roles, seed=config.seed).items():
            model = copy.deepcopy(learner.model)
            project(model, roles, pairings)
            losses[f"{roles}, {name}"] = _loss(config, learner, corpus, model)
    chosen = _pairings(learner.model, "qkv", seed=config.seed)
    for name, kept in {"whole": None, "qkv, laid out": chosen["laid out"], "qkv, best": chosen["best"]}.items():
        losses[f"{name}, tuned"] = _tuned(config, learner, corpus, kept)
    return losses


@torch.no_grad()
def rounded(config: RunConfig, learner: Learner, corpus: Any) -> dict[str, float]:
    """Validation loss when W_q, W_k and W_v have few bits: one scale for each output, or for each complex output."""
    losses = {"whole": _loss(config, learner, corpus, learner.model)}
    for bits in (8, 4):
        model = copy.deepcopy(learner.model)
        for block in model.blocks:
            for layer in (getattr(block.attention, role) for role in "qkv"):
                weights = [layer.a, layer.b] if isinstance(layer, ComplexLinear) else [layer.weight]
                most = torch.cat(weights, 1).abs().amax(1, keepdim=True).clamp_min(1e-12)  # or a row of zeros is nan
                step = most / (2 ** (bits - 1) - 1)
                for weight in weights:
                    weight.copy_((weight / step).round() * step)
        losses[f"{bits} bits"] = _loss(config, learner, corpus, model)
    return losses


@torch.no_grad()
def project(model: GPT, roles: str, pairings: Pairings) -> None:
    """Replace the weights of ``roles`` by their complex-linear part over each layer's pairing, in place."""
    for block, J in zip(model.blocks, pairings, strict=True):
        for role in roles:
            weight = getattr(block.attention, role).weight
            part = linear_part(_array(weight), J, **_outputs(model))
            weight.copy_(torch.from_numpy(part))


def _pairings(model: GPT, roles: str, *, seed: int) -> dict[str, Pairings]:
    config, rng = model.config, np.random.default_rng(seed)
    layers = [[_array(getattr(block.attention, role).weight) for role in roles] for block in model.blocks]
    everything = best_pairing(*(W for layer in layers for W in layer), **_outputs(model))
    return {
        "laid out": [times_i(config.d_model, layout=config.layout)] * len(layers),
        "random": [random_pairing(config.d_model, rng)] * len(layers),
        "best of all layers": [everything] * len(layers),
        "best": [best_pairing(*layer, **_outputs(model)) for layer in layers],
    }


def _shares(model: GPT, seed: int) -> dict[str, dict[str, list[float]]]:
    shares: dict[str, dict[str, list[float]]] = {}
    for name, pairings in _pairings(model, "qk", seed=seed).items():
        shares[name] = {role: [_share(model, layer, role, J) for layer, J in enumerate(pairings)] for role in "qk"}
    alone = {role: [_share(model, layer, role, None) for layer in range(len(model.blocks))] for role in "qk"}
    return {**shares, "best of one": alone}


def _share(model: GPT, layer: int, role: str, J: np.ndarray | None) -> float:
    W = _array(getattr(model.blocks[layer].attention, role).weight)
    J = best_pairing(W, **_outputs(model)) if J is None else J
    return round(linear_share(W, J, **_outputs(model)), 6)


def _planes(model: GPT) -> dict[str, list[list[list[float]]]]:
    config, best = model.config, _pairings(model, "qk", seed=0)["best"]
    energies: dict[str, list[list[list[float]]]] = {role: [] for role in "qk"}
    for block, J in zip(model.blocks, best, strict=True):
        for role in "qk":
            heads = _array(getattr(block.attention, role).weight).reshape(config.n_heads, config.width, -1)
            parts = [(linear_part(W, J, layout=config.layout), W) for W in heads]
            energies[role].append([_by_plane(part**2, config.layout, W**2) for part, W in parts])
    return energies


def _by_plane(part: np.ndarray, layout: Layout, whole: np.ndarray) -> list[float]:
    """Energy of each plane's two rows, as a share of the whole's."""
    first, second = np.nonzero(np.triu(times_i(len(part), layout=layout) != 0))  # J pairs first with second
    sums = [(energy[first] + energy[second]).sum(1) for energy in (part, whole)]
    return np.round(sums[0] / sums[1], 4).tolist()


def _loss(config: RunConfig, learner: Learner, corpus: Any, model: GPT) -> float:
    return validate(
        lambda x, y: learner.nats(x, y, model=model),
        corpus.valid[: config.eval_tokens or None],
        seq_len=config.seq_len,
        batch_size=config.eval_batch_size or config.batch_size,
        bos=corpus.vocab_size if config.bos else None,
        group=learner.group,
    ).loss


def _tuned(config: RunConfig, learner: Learner, corpus: Any, pairings: Pairings | None) -> float:
    tuner = Learner(replace(config, compile="never"), learner.model.config, learner.group, notice=lambda _: None)
    tuner.model.load_state_dict(learner.model.state_dict())
    batches = Batches(
        corpus.train,
        seq_len=config.seq_len,
        batch_size=config.batch_size,
        steps=TUNING,
        seed=config.seed + 1_000_003,
        bos=corpus.vocab_size if config.bos else None,
        device=learner.group.device,
    )
    rate = config.learning_rate(config.steps - 1)
    for step in range(TUNING):
        if pairings is not None:
            project(tuner.model, "qkv", pairings)
        tuner.step(*batches[step], lr=rate)
    if pairings is not None:
        project(tuner.model, "qkv", pairings)
    return _loss(config, learner, corpus, tuner.model)


def _outputs(model: GPT) -> Mapping[str, Any]:
    return {"layout": model.config.layout, "out_heads": model.config.n_heads}


def _array(weight: torch.Tensor) -> np.ndarray:
    return weight.detach().cpu().double().numpy()


def _expect_dense(config: RunConfig, model: GPTConfig, name: str, *, tokens: int) -> None:  # noqa: ARG001
    if model.complex_linear:
        raise ArgumentError(
            f"measure: expected dense projections for {name!r}, got complex_linear="
            f"{model.complex_linear!r}: leave one of the two out"
        )
    if model.d_latent is not None or model.n_kv_heads not in (None, model.n_heads):
        raise ArgumentError(
            f"measure: expected as many heads of keys as of queries for {name!r}, got d_latent="
            f"{model.d_latent}, n_kv_heads={model.n_kv_heads}: leave one of the two out"
        )
    if model.d_model % 2 or model.width % 2:
        raise ArgumentError(
            f"measure: expected even widths for {name!r}, got d_model={model.d_model} and heads of "
            f"{model.width}: a plane takes two coordinates"
        )


def _halves(config: RunConfig, learner: Learner, corpus: Any) -> dict[str, Any]:  # noqa: ARG001
    return linear_shares(learner.model, seed=config.seed)


def _expect_projections(config: RunConfig, model: GPTConfig, name: str, *, tokens: int) -> None:  # noqa: ARG001
    if model.d_latent is not None:
        raise ArgumentError(f"measure: expected projections q, k and v for {name!r}, got d_latent={model.d_latent}")


MEASURES = {
    "halves": Measure(_halves, _expect_dense),
    "projected": Measure(projected, _expect_dense),
    "rounded": Measure(rounded, _expect_projections),
}
