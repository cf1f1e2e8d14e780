r"""What a block costs, in parameters and in multiplications, when its projections are complex-linear.

Section 5.1 of CRoPE can be read in three ways. All have a name here, beside the dense model that they save against.

>>> paper = Shape(width=128, heads=4, layers=4, vocab=50_257)
>>> [saving(paper, "qkv", of=of) for of in ("qkv", "attention", "block", "model")]
[Fraction(1, 2), Fraction(3, 8), Fraction(1, 8), Fraction(768, 56401)]
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Literal, get_args

Reading = Literal["dense", "qkv", "qkvo", "narrow"]
READINGS: tuple[Reading, ...] = get_args(Reading)
Part = Literal["qkv", "attention", "block", "model"]

# dense: every projection is a real matrix.
# qkv: Eq 30 on W_q, W_k, W_v; the output projection stays dense.
# qkvo: Eq 30 on all four.
# narrow: Section 5.1 to the letter: real projections with half the outputs, so heads of half the width.
COMPLEX: dict[Reading, str] = {"dense": "", "qkv": "qkv", "qkvo": "qkvo", "narrow": ""}
PARTS: dict[Part, tuple[str, ...]] = {
    "qkv": ("q", "k", "v"),
    "attention": ("q", "k", "v", "o"),
    "block": ("q", "k", "v", "o", "mlp", "norm"),
    "model": ("q", "k", "v", "o", "mlp", "norm", "final", "embedding", "head"),
}


@dataclass(frozen=True)
class Shape:
    """What of a decoder's shape decides its costs. Heads have the width ``width / heads``."""

    width: int  # of the residual stream
    heads: int
    layers: int
    vocab: int = 0  # 0: count no embedding
    mlp_width: int | None = None  # hidden width; None: 4 width
    mlp_matrices: int = 2  # 3 for a gated MLP
    tied: bool = True  # the head reads with the embedding's matrix
    bias: bool = False  # in every linear layer, and in the norms if there are any
    norms: bool = False  # count their scales

    def __post_init__(self) -> None:
        for name, least in (("width", 4), ("heads", 1), ("layers", 1), ("vocab", 0), ("mlp_matrices", 1)):
            if isinstance(got := getattr(self, name), bool) or not isinstance(got, Integral):
                raise TypeError(f"{name}: expected a whole number, got {got!r}; counts are ints")
            if got < least:
                raise ValueError(f"{name}: expected at least {least}, got {got}")
        if self.width % (4 * self.heads):
            raise ValueError(
                f"width: expected a multiple of {4 * self.heads} for {self.heads} heads, got {self.width}; a head "
                "holds whole planes, also at half its width"
            )

    @property
    def hidden(self) -> int:
        """Width of the MLP's hidden layer."""
        return 4 * self.width if self.mlp_width is None else self.mlp_width


def parameters(shape: Shape, reading: Reading = "dense") -> dict[str, int]:
    r"""Parameters by part, over all layers: q, k, v, o, mlp, norm, and final (norm), embedding, head, total.

    A projection has $n^2$ weights, $\tfrac12 n^2$ if it is complex-linear or narrow; a bias stays whole, unless the
    output is narrow. MLP: ``mlp_matrices`` $\cdot\, n \cdot$ ``hidden``.

    Ints. ValueError for an unknown reading. Claims ``crope.savings.qkvo``, ``crope.model-5.1-conflict``.

    >>> parameters(Shape(width=128, heads=4, layers=1), "qkv")["q"]
    8192
    """
    n, layers, inner = shape.width, shape.layers, _inner(shape, reading)
    counts = {}
    for role in "qkvo":
        weights = n * inner // (2 if role in COMPLEX[reading] else 1)
        counts[role] = layers * (weights + shape.bias * (n if role == "o" else inner))
    biases = (shape.mlp_matrices - 1) * shape.hidden + n
    counts["mlp"] = layers * (shape.mlp_matrices * n * shape.hidden + shape.bias * biases)
    norm = shape.norms * n * (1 + shape.bias)
    counts["norm"], counts["final"] = 2 * layers * norm, norm
    counts["embedding"] = shape.vocab * n
    counts["head"] = 0 if shape.tied else shape.vocab * n
    return {**counts, "total": sum(counts.values())}


def saving(shape: Shape, reading: Reading, *, of: Part = "block") -> Fraction:
    r"""The share of a part's parameters that a reading saves against the dense model.

    With $r\,n^2$ weights in the MLP and no biases, qkv saves $\tfrac32 / (4 + r)$ of the block.

    An exact fraction. ValueError for an unknown part or reading. Claims ``crope.abs.savings50``,
    ``crope.savings.block``.

    >>> saving(Shape(width=128, heads=4, layers=1), "qkvo", of="block")
    Fraction(1, 6)
    """
    if of not in PARTS:
        raise ValueError(f"of: expected one of {', '.join(PARTS)}, got {of!r}")
    dense, small = (parameters(shape, which) for which in ("dense", reading))
    whole = sum(dense[part] for part in PARTS[of])
    return Fraction(whole - sum(small[part] for part in PARTS[of]), whole)


def multiplications(shape: Shape, reading: Reading = "dense", *, context: int, gauss: bool = False) -> dict[str, int]:
    r"""Real multiplications for one new token, by part, over all layers: q, k, v, o, scores, mlp, head, total.

    A complex product takes 4 real ones, 3 by Gauss's rule (at the price of more additions), so a complex-linear
    $W$ takes $4 (n/2)^2 = n^2$, what a dense one takes, or $\tfrac34 n^2$. Scores: one product with each of
    ``context`` keys and values, $2\,\mathrm{context}\cdot$ their width. The rotations themselves are left out.

    Ints. ValueError for an unknown reading or a context below 1. Claim ``unsaid.crope-flops``.

    >>> shape = Shape(width=128, heads=4, layers=1)
    >>> [multiplications(shape, which, context=1)["q"] for which in READINGS]
    [16384, 16384, 16384, 8192]
    >>> multiplications(shape, "qkv", context=1, gauss=True)["q"]
    12288
    """
    if context < 1:
        raise ValueError(f"context: expected at least 1 token, got {context}; a token attends to itself")
    n, layers, inner = shape.width, shape.layers, _inner(shape, reading)
    counts = {}
    for role in "qkvo":
        complex_products = (n // 2) * (inner // 2)
        in_complex = (3 if gauss else 4) * complex_products
        counts[role] = layers * (in_complex if role in COMPLEX[reading] else n * inner)
    counts["scores"] = layers * 2 * context * inner
    counts["mlp"] = layers * shape.mlp_matrices * n * shape.hidden
    counts["head"] = shape.vocab * n
    return {**counts, "total": sum(counts.values())}


def cache(shape: Shape, reading: Reading = "dense") -> int:
    r"""Numbers that a token leaves in the cache, over all layers: a key and a value, $2n$ a layer; half if narrow.

    Claim ``unsaid.crope-flops``.

    >>> [cache(Shape(width=128, heads=4, layers=1), which) for which in READINGS]
    [256, 256, 256, 128]
    """
    return 2 * shape.layers * _inner(shape, reading)


def _inner(shape: Shape, reading: Reading) -> int:
    """Width of all heads together."""
    if reading not in READINGS:
        raise ValueError(f"reading: expected one of {', '.join(READINGS)}, got {reading!r}")
    return shape.width // 2 if reading == "narrow" else shape.width
