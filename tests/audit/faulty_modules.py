"""Faulty modules with their mended twins, over all laws: each fault is found, and each twin is blamed for nothing.

``python -m tests.audit.faulty_modules`` asks all of them and prints the table, with what was missed and what was blamed
falsely; a word after it chooses those with this word in their law or name. A row is a law, a name, the faulty
callable and the sound one; with a pair, queries and keys. A callable takes x (batch, heads, T, head_dim) and positions.
"""

# ruff: noqa: ARG004, ARG005, E501 - a callable need not use its arguments; a row of the table is a line
import copy
import sys

import numpy as np
import torch
from torch import nn

from rope_lab.audit import laws

D = 8
THETA = 1e4 ** (-torch.arange(D // 2).double() / (D // 2))


def turn(x, angle, layout="half", sine=None):
    cos, sin = angle.cos().to(x.dtype), (angle if sine is None else sine).sin().to(x.dtype)
    if layout == "half":
        a, b = x.chunk(2, -1)
        return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)


def rot(x, p, *, layout="half", way=1.0, theta=THETA):
    return turn(x, way * p.double()[..., None] * theta, layout)


def counted(count, **more):
    """Turned by another count of the positions."""
    return lambda x, p: rot(x, count(p), **more)


def native(f):
    """A kernel for numbers of fewer bits, beside plain code for float64."""
    return lambda x, p: rot(x, p) if x.dtype == torch.float64 else f(x, p)


def under_grad(f):
    """A path of its own where x asks for a gradient."""
    return lambda x, p: f(x, p) if x.requires_grad else rot(x, p)


def unpacked(x):
    """x read as if it were (batch, T, heads, head_dim) in memory, wherever it is no copy of its own."""
    _, h, t, d = x.shape
    return x if x.is_contiguous() else x.as_strided(x.shape, (t * h * d, d, h * d, 1), 0)


slow = counted(lambda p: p, theta=THETA * 1e-5)


def left(where, **more):
    """Some parts along an axis of a call are left as they are: where(their numbers, how many there are)."""
    axis = more.get("axis", -2)

    def f(x, p):
        n = x.shape[axis]
        shape = [1] * 4
        shape[axis] = n
        return torch.where(torch.as_tensor(where(torch.arange(n), n)).expand(n).view(shape), x, rot(x, p))

    return f


def tiled(n):
    """The same in tiles of n rows, each as it should be."""
    return lambda x, p: torch.cat([rot(a, b) for a, b in zip(x.split(n, -2), p.split(n), strict=True)], -2)


def from_rows(place):
    """Turned by the position of another row of the call: place(rows, their number)."""
    return lambda x, p: rot(x, p[place(torch.arange(len(p)), len(p))])


def backward(pull, layout="half"):
    """A kernel with a backward of its own: pull(g, p) is what comes back."""

    class Kernel(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, p):
            ctx.save_for_backward(p)
            return rot(x, p, layout=layout)

        @staticmethod
        def backward(ctx, g):
            return pull(g, *ctx.saved_tensors), None

    return Kernel.apply


def no_backward(x, p):
    class Kernel(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, p):
            return rot(x, p)

    return Kernel.apply(x, p)


def back(g, p, **more):
    return rot(g, p, way=-1.0, **more)


def partly(g, p, wrong, index):
    y = back(g, p).clone()
    y[index] = wrong(g, p)[index] if callable(wrong) else wrong
    return y


def table(n, *, refuse):
    def f(x, p):
        if refuse and (p.max() >= n or p.min() < 0):
            raise IndexError(f"the table ends at {n}")
        return rot(x, p.clamp(max=n - 1))

    return f


def float32(x, p):
    return turn(x, p.float()[..., None] * THETA.float())


def bfloat16(x, p):
    return float32(x.float(), p).to(torch.bfloat16)


def decays(sign, planes=True, per=512):
    scale = (torch.arange(D // 2).double() / (D // 2) + 0.4) / 1.4
    scale = torch.cat((scale, scale)) if planes else scale.repeat_interleave(2)
    return lambda x, p: rot(x, p) * (scale ** (sign * p.double()[:, None] / per)).to(x.dtype)


def times(matrix, f=rot):
    matrix = torch.as_tensor(np.asarray(matrix))
    return lambda x, p: f(x, p) * matrix.to(x.dtype) if matrix.ndim < 2 else f(x, p) @ matrix.to(x.dtype)


def mixed(seed):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(D, D)))[0]


def stream(pair):
    """Turned over the width of all heads, which are cut afterwards."""

    def f(x, p):
        batch, heads, length, d = x.shape
        wide = x.transpose(1, 2).reshape(batch, length, heads * d)
        theta = 1e4 ** (-torch.arange(heads * d // 2).double() / (heads * d // 2))
        return turn(wide, p.double()[:, None] * theta, pair).view(batch, length, heads, d).transpose(1, 2)

    return f


def by_head(change):
    """change(head) makes of the plain angles, and of the positions, those of one head."""
    return lambda x, p: torch.cat([change(h)(x[:, h : h + 1], p) for h in range(x.shape[1])], 1)


class Kept(nn.Module):
    """Tables that are kept between calls: under a key, or in the dtype of the call."""

    def __init__(self, key=None, cast=False):
        super().__init__()
        self.kept, self.key, self.cast, self.angle = {}, key, cast, THETA.clone()

    def forward(self, x, p):
        if self.key:
            p = self.kept.setdefault(self.key(x, p), p.clone())
        if self.cast:
            self.angle = self.angle.to(x.dtype)
        return rot(x, p, theta=self.angle.double())


SLOW = torch.tensor([0.0, 0, 0, 1]).double()
ROWS, FAR, GRAD, PAIR = "rows of a call", "long positions", "gradient", "relativity"
CASES = [
    *((ROWS, f"rows from {n} on are not turned", left(lambda i, _, n=n: i >= n), tiled(n)) for n in (16, 24, 100, 512)),
    *((ROWS, f"row {n} alone is not turned", left(lambda i, _, n=n: i == n), tiled(n)) for n in (37, 1500)),
    (ROWS, "odd rows from 64 on", left(lambda i, _: (i % 2 == 1) & (i > 64)), tiled(65)),
    (ROWS, "the last tile, if it is not full", left(lambda i, n: (i >= n // 32 * 32) & (n > 32)), tiled(32)),
    (ROWS, "the last row of a long call", left(lambda i, n: (i == n - 1) & (n > 40)), tiled(41)),
    (ROWS, "every tile starts anew", from_rows(lambda i, n: i % 128), tiled(128)),
    (ROWS, "a tile counts on from its first row", lambda x, p: rot(x, p[::16].repeat_interleave(16)[: len(p)]
        + torch.arange(len(p)) % 16 if len(p) > 16 else p), from_rows(lambda i, n: i)),
    (ROWS, "a long call counts on from its first row", lambda x, p: rot(x, p[0] + torch.arange(len(p)) if len(p) > 64
        else p), lambda x, p: rot(x, p[0] + (p - p[0]))),
    (ROWS, "a long call is turned backwards in time", from_rows(lambda i, n: n - 1 - i if n > 300 else i),
        lambda x, p: rot(x.flip(-2), p.flip(0)).flip(-2)),
    *((ROWS, f"heads from {n} on are not turned", left(lambda i, _, n=n: i >= n, axis=1), rot) for n in (8, 32)),
    *((ROWS, f"entries of the batch from {n} on", left(lambda i, _, n=n: i >= n, axis=0), rot) for n in (8, 48)),
    (ROWS, "odd entries of a large batch", left(lambda i, n: (i % 2 == 1) & (n > 16), axis=0), rot),
    (ROWS, "all rows of a batch counted in 16 bits", lambda x, p: torch.where(torch.arange(x[..., 0].numel()).view(x.shape[:3])
        [..., None] >= 65_535, x, rot(x, p)), tiled(331)),
    (ROWS, "a view of x, read as it lies in the memory", lambda x, p: rot(x if x.is_contiguous() or x.numel() < x.shape[-1]
        else torch.as_strided(x, x.shape, torch.empty(x.shape).stride()), p), lambda x, p: rot(x.contiguous(), p)),
    (FAR, "positions in the type of x", lambda x, p: rot(x, p.to(x.dtype)), lambda x, p: rot(x.float(), p).to(x.dtype)
        if x.dtype != torch.float64 else rot(x, p)),
    (FAR, "frequencies in the type of x", lambda x, p: rot(x, p, theta=THETA.to(x.dtype).double()), float32),
    *((FAR, f"a table of {n} rows that is read beyond", table(n, refuse=False), table(n, refuse=True))
        for n in (40_000, 2**17, 200_000, 1_000_000)),
    *((FAR, f"positions from {n} on begin again", counted(lambda p, n=n: p.abs() % n * p.sign()), counted(
        lambda p: p % 2**40 if p.min() >= 0 else p)) for n in (40_000, 200_000, 2**19 + 5)),
    (FAR, "16 bits", counted(lambda p: p.to(torch.int16)), counted(lambda p: p.to(torch.int32))),
    (FAR, "a product of 32 bits", counted(lambda p: ((p * 4096).to(torch.int32) / 4096)), counted(lambda p: p * 4096 / 4096)),
    (FAR, "bfloat16", counted(lambda p: p.to(torch.bfloat16)), bfloat16),
    (FAR, "float16", counted(lambda p: p.to(torch.float16)), float32),
    (FAR, "every second position far out", counted(lambda p: torch.where(p > 300_000, p // 2 * 2, p)), float32),
    (FAR, "a sine that drifts", lambda x, p: turn(x, a := p.double()[:, None] * THETA, sine=a + 1e-7 * p[:, None]), float32),
    (FAR, "a sine of other frequencies", lambda x, p: turn(x, a := p.double()[:, None] * THETA, sine=a * (1 + 2e-6)), float32),
    (FAR, "angles that bend", lambda x, p: turn(x, p.double()[:, None] * THETA * (1 + 1e-9 * p[:, None])), float32),
    (FAR, "the slowest plane stops", lambda x, p: turn(x, p.double()[:, None] * THETA - SLOW * (p[:, None] - 7e4).clamp(min=0)
        * THETA[-1]), counted(lambda p: p, theta=THETA * (1 - SLOW))),
    (FAR, "other frequencies beyond 2^18", counted(lambda p: torch.where(p > 2**18, p / 4, p)), counted(lambda p: p / 4)),
    (FAR, "a length beyond 2^18", lambda x, p: rot(x, p) * torch.where(p > 2**18, 1.01, 1.0)[:, None].to(x.dtype), rot),
    (GRAD, "turns further", backward(rot), backward(back)),
    (GRAD, "turns further, interleaved", backward(lambda g, p: rot(g, p, layout="interleaved"), "interleaved"),
        backward(lambda g, p: back(g, p, layout="interleaved"), "interleaved")),
    (GRAD, "of the other layout", backward(lambda g, p: back(g, p, layout="interleaved")), backward(back)),
    (GRAD, "is not turned", backward(lambda g, p: g), rot),
    (GRAD, "is zero", backward(lambda g, p: 0 * g), torch.no_grad()(rot)),
    (GRAD, "is missing", no_backward, torch.inference_mode()(rot)),
    (GRAD, "is cut off", lambda x, p: rot(x.detach(), p), lambda x, p: torch.from_numpy(rot(x, p).detach().numpy())),
    (GRAD, "is cut off in the second half", lambda x, p: rot(torch.cat((x[..., :4], x[..., 4:].detach()), -1), p), rot),
    (GRAD, "is half as long", backward(lambda g, p: back(g, p) / 2), lambda x, p: rot(x / 2, p) * 2),
    (GRAD, "is rounded to bfloat16", backward(lambda g, p: back(g, p).to(torch.bfloat16).to(g.dtype)), float32),
    (GRAD, "of the second half of the width", backward(lambda g, p: partly(g, p, 0.0, np.s_[..., 4:])), backward(back)),
    (GRAD, "from row 64 on", backward(lambda g, p: partly(g, p, rot, np.s_[..., 64:, :])), backward(back)),
    (GRAD, "of the second head", backward(lambda g, p: partly(g, p, rot, np.s_[:, 1])), backward(back)),
    (GRAD, "of the first entry of a batch alone", backward(lambda g, p: partly(g, p, 0.0, np.s_[1:])), backward(back)),
    (GRAD, "one place too far", backward(lambda g, p: back(g, p + 1)), backward(back)),
    (ROWS, "calls of 16 rows", lambda x, p: rot(x, p * (len(p) != 16)), tiled(16)),
    (ROWS, "the last of 8 heads", left(lambda i, n: (i == n - 1) & (n % 8 == 0), axis=1), rot),
    (ROWS, "calls of 512 rows", lambda x, p: rot(x, p * (len(p) != 512)), counted(lambda p: p if len(p) > 1 else p[2**30])),
    (GRAD, "of heads from 8 on", backward(lambda g, p: partly(g, p, 0.0, np.s_[:, 8:])), backward(back)),
    (GRAD, "counts from 0", backward(lambda g, p: back(g, torch.arange(len(p)))), backward(back)),
    (GRAD, "of a single token", backward(lambda g, p: back(g, p) if len(p) > 1 else g), backward(back)),
    (GRAD, "of far positions", backward(lambda g, p: back(g, p.clamp(max=5000))), backward(back)),
    ("isometry", "the same decay on both", (decays(1), decays(1)), (decays(1), decays(-1))),
    (PAIR, "a decay of coordinates", (decays(1, False), decays(-1, False)), (decays(1, per=300), decays(-1, per=300))),
    (PAIR, "a decay on queries alone", (decays(1), rot), (times(D**-0.5), rot)),
    (PAIR, "a factor of the position, twice", (grows := lambda x, p: rot(x, p) * (1 + p.abs() / 500)[:, None].to(x.dtype),) * 2,
        (grows, rot)),
    (PAIR, "an orthogonal map on queries alone", (times(mixed(0)), rot), (times(mixed(0)), times(mixed(0)))),
    (PAIR, "two orthogonal maps", (times(mixed(0)), times(mixed(1))), times(mixed(1))),
    (PAIR, "factors that part a plane", times(np.r_[1.2, [1.0] * 7]), times(np.r_[1.2, 1, 1, 1, 1.2, 1, 1, 1])),
    (PAIR, "factors on coordinates, twice", (times(np.arange(1.0, 9)), times(np.arange(1.0, 9))),
        (times(np.arange(1.0, 9)), times(1 / np.arange(1.0, 9)))),
    (PAIR, "another base for keys", (rot, counted(lambda p: p, theta=THETA**1.1)), (rot, rot)),
    (PAIR, "keys the other way", (rot, back), (back, back)),
    ("identity at zero", "queries count from 1", (counted(lambda p: p + 1), rot), counted(lambda p: p + 1)),
    ("isometry", "a factor for one head", by_head(lambda h: times(1.0 + h)), times(1.25)),
    ("isometry", "tables of the other layout", lambda x, p: x * (a := (p.double()[:, None] * THETA).repeat_interleave(2, -1)).cos()
        .to(x.dtype) + torch.cat((-x[..., 4:], x[..., :4]), -1) * a.sin().to(x.dtype), lambda x, p: rot(x, p, layout="interleaved")),
    ("non-vacuity", "pairs across heads", stream("half"), stream("interleaved")),
    ("non-vacuity", "tables along heads", lambda x, p: rot(x.transpose(1, 2), torch.arange(x.shape[1])).transpose(1, 2),
        lambda x, p: rot(x.transpose(1, 2), p[:, None]).transpose(1, 2)),
    ("non-vacuity", "one head is not turned", by_head(lambda h: rot if h != 1 else lambda x, p: x),
        by_head(lambda h: counted(lambda p: p, theta=THETA / (h + 1)))),
    ("identity at zero", "one head counts from 1", by_head(lambda h: counted(lambda p: p + (h == 1))),
        by_head(lambda h: counted(lambda p: p * (-1) ** h))),
    ("non-vacuity", "nothing turns", lambda x, p: x.clone(), counted(lambda p: p, theta=THETA * (1 - SLOW))),
    ("non-vacuity", "the place in the call", lambda x, p: rot(x, torch.arange(len(p))), rot),
    ("cached decoding", "a single token from 0", counted(lambda p: p * (len(p) > 1)), counted(lambda p: p.clone())),
    ("cached decoding", "a single token too far", counted(lambda p: p + (len(p) == 1)), lambda x, p: rot(x, p[None, None])),
    ("cached decoding", "a single token beyond 4096", counted(lambda p: p + ((len(p) == 1) & (p > 4096))), counted(lambda p: p.clone())),
    ("cached decoding", "the first row of a batch", lambda x, p: rot(x, p) if len(p) > 1
        else torch.cat((rot(x[:1], p), x[1:])), float32),
    ("linear", "a norm inside", lambda x, p: rot(x, p) * (1 + 0.01 * x.norm(dim=-1, keepdim=True)), rot),
    ("linear", "writes into x", lambda x, p: x.copy_(rot(x, p)), lambda x, p: x.clone().copy_(rot(x, p))),
    ("group law", "a root of the position", counted(lambda p: p.sign() * p.abs().double().sqrt()), rot),
    ("inverse", "no negative turn", counted(lambda p: p.abs()), table(70_000, refuse=True)),
    ("earlier dtypes", "the table is cast in place", Kept(cast=True), Kept()),
    ("earlier calls", "kept by length and ends", Kept(key=lambda x, p: (len(p), int(p[0]), int(p[-1]), int(p.sum()))), Kept()),
    ("earlier calls", "kept by length", Kept(key=lambda x, p: len(p)), Kept(key=lambda x, p: tuple(p.tolist()))),
    ("batch neighbours", "the mean of the batch", lambda x, p: rot(x - 1e-3 * x.mean(0) * (len(x) > 1), p), rot),
    ("rows of a call", "a half kernel of 64 rows", native(left(lambda i, n: i >= 64)), native(tiled(64))),
    ("gradient", "a half kernel turns on", native(backward(rot)), native(backward(lambda g, p: rot(g, p, way=-1.0)))),
    ("gradient", "another forward for training", under_grad(lambda x, p: (rot(x, p + 1) - rot(x, p)).detach() + rot(x, p)),
        under_grad(lambda x, p: rot(x, p.clone()))),
    ("linear", "writes into a single token", lambda x, p: x.copy_(rot(x, p)) if len(p) == 1 else rot(x, p), rot),
    ("rows of a call", "a single token of one stream", lambda x, p: x.clone() if len(x) == len(p) == 1 else rot(x, p), rot),
    ("rows of a call", "a single token in 16 bits", counted(lambda p: p.to(torch.int16) if len(p) == 1 else p), rot),
    ("rows of a call", "packed queries read as alone", lambda x, p: rot(unpacked(x), p), lambda x, p: rot(x.contiguous(), p)),
    ("rows of a call", "32 heads exchanged", lambda x, p: rot(x[:, torch.arange(32) ^ 1] if x.shape[1] == 32 else x, p), rot),
    ("rows of a call", "a long text far out", counted(lambda p: p.to(torch.int16) if len(p) >= 256 else p), rot),
    ("earlier calls", "leaves another default dtype", lambda x, p: (torch.set_default_dtype(torch.bfloat16), rot(x, p))[1], rot),
    ("non-vacuity", "one of slow heads is not turned", by_head(lambda h: slow if h != 1 else lambda x, p: x), slow),
    ("answers", "NaN at 2", lambda x, p: rot(x, p) * torch.where(p == 2, torch.nan, 1.0)[:, None].to(x.dtype), float32),
    (ROWS, "positions read as if they lay side by side", lambda x, p: rot(x, p.as_strided(p.shape, (1,), p.storage_offset())),
        lambda x, p: rot(x, p.contiguous())),
    (ROWS, "each entry of a batch at the positions of the first", lambda x, p: rot(x, p[0] if p.ndim > 1 else p),
        lambda x, p: torch.cat([rot(x[i : i + 1], n) for i, n in enumerate(p)]) if p.ndim > 1 else rot(x, p)),
    (ROWS, "the last of exactly 4,096 rows", left(lambda i, n: (i == n - 1) & (n == 4096)), tiled(4096)),
    (ROWS, "a half type reads a view as if it lay in one piece", lambda x, p: rot(x, p) if x.dtype == torch.float64 else
        rot(x.as_strided(x.shape, torch.empty(x.shape).stride()), p), lambda x, p: rot(x.contiguous(), p)),
    (GRAD, "training writes into x", lambda x, p: (rot(x.clone(), p), x.data.mul_(1 + x.requires_grad / 2))[0],
        rot),
    (GRAD, "gradients are switched off", lambda x, p: (rot(x, p), torch.set_grad_enabled(False))[0], rot),
    ("earlier calls", "torch is seeded for the process", lambda x, p: (torch.manual_seed(0), rot(x, p))[1],
        lambda x, p: (torch.Generator().manual_seed(0), rot(x, p))[1]),
]  # fmt: skip


class As(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, x, p):
        return self.f(x, p)


def asked(made):
    """The names of the laws that are broken, and of those that are not plainly kept."""
    q, k = made if isinstance(made, tuple) else (made, None)
    found = laws(As(copy.deepcopy(q)), head_dim=D, keys=None if k is None else As(k))
    return [law.name for law in found if law.broken], [law.name for law in found if not law.ok]


def main(words):
    rows = [case for case in CASES if all(word in f"{case[0]}: {case[1]}" for word in words)]
    missed = blamed = 0
    for law, name, faulty, twin in rows:
        (found, _), (wrongly, noted) = asked(faulty), asked(twin)
        missed, blamed = missed + (law not in found), blamed + bool(wrongly)
        twins = (
            f"BLAMED for {', '.join(wrongly)}"
            if wrongly
            else f"silent, notes: {', '.join(noted)}"
            if noted
            else "silent"
        )
        print(f"{'found ' if law in found else 'MISSED'}  {law:<16}  {name:<46}  twin {twins}", flush=True)
    print(f"{len(rows)} faulty modules, {missed} missed; {len(rows)} twins, {blamed} blamed")
    return int(missed + blamed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
