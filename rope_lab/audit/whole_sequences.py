"""A rotary embedding that takes whole sequences from position 0 on: tokens are put at the places that are asked.

>>> def turn(x):  # (rows, length, 2): its place turns each token
...     z = (x[..., 0] + 1j * x[..., 1]) * np.exp(1j * np.arange(x.shape[1]))
...     return np.stack([z.real, z.imag], axis=-1)
>>> f = whole_sequences(turn, longest=8)
>>> f(np.array([[[1.0, 0.0], [1.0, 0.0]]]), np.array([0, 1])).round(2).tolist()
[[[1.0, 0.0], [0.54, 0.84]]]
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rope_lab.audit.probe import RotaryCallable
from rope_lab.audit.table_calls import PLACES


def whole_sequences(call: Callable[[Any], Any], *, longest: int) -> RotaryCallable:
    """f(x, positions) of a call for sequences (rows, length, head_dim) whose first token has position 0.

    All tokens of different positions go into one sequence, so that a question costs one call; that a token does not
    change others is tried with the first question, and if it does, each token gets a sequence of its own.
    """
    alone: list[bool] = []

    def f(x: Any, positions: Any) -> Any:
        x, positions = np.asarray(x), np.asarray(positions)
        if positions.dtype.kind != "i" or positions.min() < 0 or positions.max() >= longest:
            raise IndexError(f"places are 0, 1, 2, ...; asked up to {longest - 1}")
        if not alone:
            tried, at = np.ones((1, 3, x.shape[-1])) * np.arange(1, 4)[:, None], np.array([0, 2, 3])
            each, together = (_asked(call, tried, at, single=single) for single in (True, False))
            alone.append(not np.allclose(each, together, atol=1e-5))
        return _asked(call, x, positions, single=alone[0])

    return f


def whole_sequence_call(module: Any, names: list[str]) -> Callable[[Any], Any] | None:
    """The call of a module that takes sequences from position 0 on, for numpy; None if it is no such module.

    Args:
        module: The rotary embedding.
        names: The names of the parameters of its call: (x, key) of Equinox, (q, k), or (x, offset).
    """
    if names == ["x", "key"]:
        import jax

        return jax.vmap(module)
    if names[:2] not in (["q", "k"], ["x", "offset"]) or set(names[2:]) & set(PLACES):
        return None
    both = names[0] == "q"
    if any(owner.__module__.partition(".")[0] == "mlx" for owner in type(module).__mro__):
        import mlx.core as mx

        return lambda x: np.array(module(mx.array(x)))

    def call(x: Any) -> Any:
        import torch

        given = torch.from_numpy(x)
        with torch.no_grad():
            return (module(given, given.clone())[0] if both else module(given)).numpy()

    return call


def _asked(call: Callable[[Any], Any], x: Any, positions: Any, *, single: bool) -> Any:
    rows = x.reshape(-1, *x.shape[-2:])
    y = np.empty_like(rows)
    length = 1 << int(positions.max()).bit_length()  # few lengths, for libraries that compile for each
    for group in groups(positions, single=single):
        sequence = np.zeros((len(rows), length, x.shape[-1]), dtype=np.float32)
        sequence[:, positions[group]] = rows[:, group]
        y[:, group] = np.asarray(call(sequence))[:, positions[group]]
    return y.reshape(x.shape)


def groups(positions: Any, *, single: bool) -> list[list[int]]:
    """The numbers of the tokens, so that no two of one group have the same position; with ``single`` each alone."""
    found: list[list[int]] = []
    for t, n in enumerate(positions):
        fitting = next((g for g in found if not single and all(positions[s] != n for s in g)), None)
        if fitting is None:
            found.append([t])
        else:
            fitting.append(t)
    return found
