"""Rotary embeddings written here, apart from the package's own: what the instruments are tried on."""

# ruff: noqa: ARG001, ARG005 - a callable under test need not use its arguments
import json
import sys
from contextlib import contextmanager

import numpy as np

from rope_lab.audit import worker
from rope_lab.commands.audit_process import Auditor


def frequencies(dim, base):
    return base ** (-np.arange(0, dim, 2) / dim)


def rotary(*, layout="interleaved", base=10000.0, rotary_dim=None, direction=1, theta=None, dtype=np.float64):
    """f(x, positions) with separate slices and no matrix."""

    def f(x, positions):
        r = x.shape[-1] if rotary_dim is None else rotary_dim
        angle = np.multiply.outer(positions, frequencies(r, base) if theta is None else theta).astype(dtype)
        cos, sin = np.cos(angle), direction * np.sin(angle)
        y = np.array(x, copy=True)
        a, b = (slice(0, r, 2), slice(1, r, 2)) if layout == "interleaved" else (slice(0, r // 2), slice(r // 2, r))
        y[..., a], y[..., b] = x[..., a] * cos - x[..., b] * sin, x[..., a] * sin + x[..., b] * cos
        return y

    return f


def in_torch(f):
    """The same for torch tensors and for nothing else."""
    import torch

    def g(x, positions):
        return torch.from_numpy(f(x.detach().numpy(), positions.numpy()))

    return g


def from_table(*, length=2048, base=10000.0):
    """Rows looked up: whole positions only, and a last row. Negative ones read the table from its end, silently."""

    def f(x, positions):
        angle = np.arange(length)[:, None] * frequencies(x.shape[-1], base)
        cos, sin = np.cos(angle)[positions], np.sin(angle)[positions]
        a, b = np.split(x, 2, axis=-1)
        return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)

    return f


def counting():
    """Another answer at every call."""
    calls = [0]

    def f(x, positions):
        calls[0] += 1
        return x + calls[0]

    return f


def in_place(x, positions):
    x[...] = rotary()(x, positions)
    return x


def moves_positions(x, positions):
    y = rotary()(x, positions)
    positions += 1
    return y


def exits(x, positions):
    raise SystemExit("goodbye")


class NoArray:
    """It has the method, and the method fails."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("not today")


def generator_exit(x, positions):
    raise GeneratorExit("odd")


def itself(x, positions):
    return itself(x, positions)


# What a hostile callable does -> a word of the report.
HOSTILE = {
    "raises": (lambda x, n: 1 / 0, "raised ZeroDivisionError: division by zero"),
    "exits": (exits, "raised SystemExit: goodbye"),
    "another shape": (lambda x, n: x[..., :2], "returned shape (2, 3, 4, 2), expected (2, 3, 4, 8)"),
    "nothing": (lambda x, n: None, "returned NoneType"),
    "a list": (lambda x, n: x.tolist(), "returned list"),
    "another dtype": (lambda x, n: x.astype(int), "returned dtype int64, expected float64"),
    "complex": (lambda x, n: x * 1j, "returned dtype complex128"),
    "NaN": (lambda x, n: x * np.nan, "returned NaN or infinity at position 0"),
    "not callable": (3, "is not callable: int"),
    "no arguments": (lambda: 0, "raised TypeError"),
    "a square": (lambda x, n: x**2, "not linear: f(2x) is not 2 f(x)"),
    "a limit": (lambda x, n: np.clip(rotary()(x, n), -6, 6), "not linear: f(2x) is not 2 f(x)"),
    "a constant": (lambda x, n: x + 1, "not linear: f(0) is not 0"),
    "no function": (counting(), "not linear: the same call gives another answer"),
    "a norm": (lambda x, n: x / np.linalg.norm(x, axis=-1, keepdims=True), "not linear"),
    "in place": (in_place, "writes into the x it is given"),
    "moves positions": (moves_positions, "writes into the positions it is given"),
    "narrows": (lambda x, n: rotary()(x, n).astype(np.float32), "returns float32 for float64"),
    "a stretch": (lambda x, n: x * np.linspace(1, 2, x.shape[-1]), "not orthogonal"),
    "a growth": (lambda x, n: rotary()(x, n) * 1.001 ** np.asarray(n)[:, None], "lengths change with the position"),
    "no array": (lambda x, n: NoArray(), "returned NoArray, which cannot be read"),
    "an odd exception": (generator_exit, "raised GeneratorExit: odd"),
    "no end": (itself, "raised RecursionError"),
    "huge": (lambda x, n: x * 1e300, "not"),
    "growing": (lambda x, n: x * np.exp(np.asarray(n))[:, None], "not orthogonal"),
    "backwards": (lambda x, n: x[..., ::-1], "nothing turns: f is the same map at every position"),
    "its own place": (lambda x, n: rotary()(x, np.arange(len(n))), "the position is ignored"),
    "nothing turns": (lambda x, n: x, "nothing turns"),
    "a mean over tokens": (lambda x, n: rotary()(x, n) - x.mean(axis=-2, keepdims=True), "not treated alike"),
}


def counted(count):
    """Halves, by another way of counting: ``count`` makes of the positions what is multiplied with the frequencies."""

    def f(x, positions):
        return rotary(layout="half")(x, count(np.asarray(positions)))

    return f


# Positions that are not what was asked, though each small step looks right -> the law that sees it.
MISCOUNTED = {
    "eight bits": (counted(lambda n: n.astype(np.int8)), "long positions"),
    "sixteen bits": (counted(lambda n: n.astype(np.int16)), "long positions"),
    "cut at 32767": (counted(lambda n: np.clip(n, -32767, 32767)), "long positions"),
    "round and round": (counted(lambda n: np.fmod(n, 5000)), "long positions"),
    "slower beyond 2048": (counted(lambda n: np.where(n > 2048, n / 4, n)), "long positions"),
    "a root": (counted(lambda n: np.sign(n) * np.sqrt(np.abs(n))), "relativity"),
    "even and odd": (counted(lambda n: n + 0.01 * (n % 2)), "relativity"),
    "from the least": (counted(lambda n: n - n.min()), "non-vacuity"),
}


def in_narrow_torch(dtype, *, positions=None, scale=1.0):
    """Answers for ``dtype`` alone, tables in it too; angles in float32, positions in ``positions``."""
    import torch

    def f(x, n):
        if x.dtype != dtype:
            raise TypeError(f"{dtype} only")
        n = n.to(positions or torch.float32).float()
        angle = torch.outer(n, torch.tensor(frequencies(x.shape[-1], 10000.0)).float())
        cos, sin = angle.cos().to(dtype), angle.sin().to(dtype)
        a, b = x.chunk(2, dim=-1)
        return scale * torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

    return f


@contextmanager
def module_in(folder, monkeypatch, name):
    """A function that writes a module of this name, once or again, and returns the name; forgotten at the end."""
    monkeypatch.syspath_prepend(folder)

    def write(text):
        sys.modules.pop(name, None)
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        return name

    yield write
    sys.modules.pop(name, None)


class Here(Auditor):
    """Asks in this process, and answers what comes through a pipe else; another process takes seconds to start."""

    def _put(self, question, **_):
        return json.loads(json.dumps(worker.answer(question)))


def gpt(**settings):
    """A model of ours, as small as it can be."""
    from rope_lab.nn import GPT, GPTConfig

    return GPT(GPTConfig(vocab_size=32, n_layers=2, n_heads=2, d_model=16, seq_len=512, std=0.3, **settings))
