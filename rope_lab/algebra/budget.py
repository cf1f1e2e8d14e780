r"""What a block costs, in parameters and in multiplications, when its projections are complex-linear.

Section 5.1 of CRoPE can be read in three ways. All have a name here, beside the dense model that they save against.

>>> paper = ModelShape(width=128, heads=4, layers=4, vocab=50_257)
>>> [saving(paper, "qkv", of=of) for of in ("qkv", "attention", "block", "model")]
[Fraction(1, 2), Fraction(3, 8), Fraction(1, 8), Fraction(768, 56401)]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

from rope_lab.algebra.arguments import expect_flag, expect_kind, expect_one_of, expect_whole

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
"""Part of a model -> the roles of the weights that it has: what `saving` can be a share of."""


@dataclass(frozen=True)
class ModelShape:
    """What of a decoder's shape decides its costs.

    A model of `rope_lab.nn` has it as ``config.shape``.
    """

    width: int  # of the residual stream
    heads: int
    layers: int
    vocab: int = 0  # 0: count no embedding
    mlp_width: int | None = None  # hidden width; None: 4 width
    mlp_matrices: int = 2  # 3 for a gated MLP
    tied: bool = True  # the head reads with the embedding's matrix
    bias: bool = False  # in every linear layer, and in the norms if there are any
    norms: bool = False  # count their scales
    head_dim: int | None = None  # width of a head; None: width / heads
    kv_heads: int | None = None  # heads of keys and values; None: as many as of queries
    complex_linear: str = ""  # which of the projections q, k, v, o are complex-linear
    latent: int = 0  # cache a latent of this width in place of keys and values
    rope: int = 0  # with a latent: the width of a rotary key beside it

    def __post_init__(self) -> None:
        at_least_1 = ("width", "heads", "layers", "mlp_matrices", "head_dim", "kv_heads")
        for name in (*at_least_1, "vocab", "mlp_width", "latent", "rope"):
            value = getattr(self, name)
            if value is not None or name not in ("mlp_width", "head_dim", "kv_heads"):
                expect_whole(value, name=name, least=int(name in at_least_1))
        if self.head_dim is None and self.width % self.heads:
            raise ValueError(f"width: expected a multiple of {self.heads} heads, got {self.width}; or give head_dim")

    @property
    def hidden(self) -> int:
        """Width of the MLP's hidden layer."""
        return 4 * self.width if self.mlp_width is None else self.mlp_width

    @property
    def head_width(self) -> int:
        """Width of one head."""
        return self.width // self.heads if self.head_dim is None else self.head_dim

    def inner(self, role: str) -> int:
        """Width of all heads of a role together: those of keys and values may be fewer."""
        heads = self.heads if self.kv_heads is None or role not in "kv" else self.kv_heads
        return heads * self.head_width


def read_as(shape: ModelShape, reading: Reading) -> ModelShape:
    """Return the model in one of the `READINGS`.

    Raises:
        ValueError: if the reading is unknown, or if half a head would not consist of whole planes.

    >>> read_as(ModelShape(width=128, heads=4, layers=1), "narrow").head_width
    16
    """
    expect_one_of(reading, READINGS, name="reading")
    expect_kind(shape, ModelShape, name="shape")
    if shape.latent or shape.head_width % 4:
        raise ValueError(
            "expected heads of keys and values, of a width that is a multiple of 4, got "
            f"{shape.head_width} and a latent of {shape.latent}; a head holds whole planes, also at half its width"
        )
    head_dim = shape.head_width // 2 if reading == "narrow" else shape.head_width
    return replace(shape, complex_linear=COMPLEX[reading], head_dim=head_dim)


def parameters(shape: ModelShape, reading: Reading | None = None) -> dict[str, int]:
    r"""Parameters by part, over all layers.

    A projection into heads of width $w$ has $n\,H\,w$ weights, half of that if it is complex-linear; its bias stays
    whole. MLP: ``mlp_matrices`` $\cdot\, n \cdot$ ``hidden``.

    Args:
        shape: the model.
        reading: how section 5.1 is read; None: the model as it is.

    Returns:
        Ints by part: q, k, v, o, mlp, norm, and final (norm), embedding, head, total; with a latent also latent.

    Raises:
        ValueError: if the reading is unknown, or if it does not fit the heads.

    Claims:
        `crope.savings.qkvo`, `crope.model-5.1-conflict`

    >>> parameters(ModelShape(width=128, heads=4, layers=1), "qkv")["q"]
    8192
    """
    shape = expect_kind(shape, ModelShape, name="shape") if reading is None else read_as(shape, reading)
    n, layers, of_latent = shape.width, shape.layers, shape.heads * shape.head_width * shape.latent
    counts = {}
    for role in "qkvo":
        inner = shape.inner(role)
        weights = n * inner // (2 if role in shape.complex_linear else 1)
        counts[role] = layers * (weights + shape.bias * (n if role == "o" else inner))
    if shape.latent:  # W_k and W_v of each head read the latent
        counts |= {"latent": layers * n * shape.latent, "k": layers * of_latent, "v": layers * of_latent}
        counts["q"] += layers * n * shape.heads * shape.rope
        counts["k"] += layers * n * shape.rope
    biases = (shape.mlp_matrices - 1) * shape.hidden + n
    counts["mlp"] = layers * (shape.mlp_matrices * n * shape.hidden + shape.bias * biases)
    norm = shape.norms * n * (1 + shape.bias)
    counts["norm"], counts["final"] = 2 * layers * norm, norm
    counts["embedding"] = shape.vocab * n
    counts["head"] = 0 if shape.tied else shape.vocab * n
    return {**counts, "total": sum(counts.values())}


def saving(shape: ModelShape, reading: Reading, *, of: Part = "block") -> Fraction:
    r"""The share of a part's parameters that a reading saves against the dense model.

    With $r\,n^2$ weights in the MLP and no biases, qkv saves $\tfrac32 / (4 + r)$ of the block.

    Args:
        shape: the model.
        reading: how section 5.1 is read.
        of: the part.

    Returns:
        An exact fraction.

    Raises:
        ValueError: if the part or the reading is unknown.

    Claims:
        `crope.abs.savings50`, `crope.savings.block`

    >>> saving(ModelShape(width=128, heads=4, layers=1), "qkvo", of="block")
    Fraction(1, 6)
    """
    expect_one_of(of, PARTS, name="of")
    dense, small = (parameters(shape, which) for which in ("dense", reading))
    whole = sum(dense[part] for part in PARTS[of])
    return Fraction(whole - sum(small[part] for part in PARTS[of]), whole)


def multiplications(
    shape: ModelShape, reading: Reading | None = None, *, context: int, gauss: bool = False
) -> dict[str, int]:
    r"""Real multiplications of the matrix products for one new token, by part, over all layers.

    A complex product takes 4 real ones, 3 by Gauss's rule (at the price of more additions), so a complex-linear
    $W$ takes $4 (n/2)^2 = n^2$, what a dense one takes, or $\tfrac34 n^2$. Scores: one product with each of
    ``context`` keys and values, $2\,\mathrm{context}\cdot$ their width. The rotations themselves, norms, activations
    and the look-up of the embedding are left out.

    Args:
        shape: the model.
        reading: how section 5.1 is read; None: the model as it is.
        context: how many tokens the new one attends to, itself among them.
        gauss: multiply complex numbers by Gauss's rule.

    Returns:
        Ints by part: q, k, v, o, scores, mlp, head, total.

    Raises:
        ValueError: if the reading is unknown, the context is below 1, or the model has a latent.

    Claims:
        `unsaid.crope-flops`

    >>> shape = ModelShape(width=128, heads=4, layers=1)
    >>> [multiplications(shape, which, context=1)["q"] for which in READINGS]
    [16384, 16384, 16384, 8192]
    >>> multiplications(shape, "qkv", context=1, gauss=True)["q"]
    12288
    """
    expect_whole(context, name="context", least=1, fix="a token attends to itself")
    shape = expect_kind(shape, ModelShape, name="shape") if reading is None else read_as(shape, reading)
    if shape.latent:
        raise ValueError(f"latent: expected 0, got {shape.latent}; only heads of keys and values are counted")
    n, layers = shape.width, shape.layers
    counts = {}
    for role in "qkvo":
        in_complex = (3 if expect_flag(gauss, name="gauss") else 4) * (n // 2) * (shape.inner(role) // 2)
        counts[role] = layers * (in_complex if role in shape.complex_linear else n * shape.inner(role))
    counts["scores"] = layers * 2 * context * shape.inner("q")
    counts["mlp"] = layers * shape.mlp_matrices * n * shape.hidden
    counts["head"] = shape.vocab * n
    return {**counts, "total": sum(counts.values())}


def cache(shape: ModelShape, reading: Reading | None = None) -> int:
    r"""Numbers that a token leaves in the cache, over all layers: a key and a value, or a latent and its rotary key.

    Args:
        shape: the model.
        reading: how section 5.1 is read; None: the model as it is.

    Claims:
        `unsaid.crope-flops`

    >>> [cache(ModelShape(width=128, heads=4, layers=1), which) for which in READINGS]
    [256, 256, 256, 128]
    """
    shape = expect_kind(shape, ModelShape, name="shape") if reading is None else read_as(shape, reading)
    return shape.layers * (shape.latent + shape.rope if shape.latent else shape.inner("k") + shape.inner("v"))
