"""What a decoder keeps for each token it has read: counts for every scheme, and the shapes of some published models.

>>> llama = next(shape for shape in MODELS if shape.name == "Llama 3 70B")
>>> bytes_per_token("gqa", llama) // 1024, bytes_per_token("mha", llama) // 1024  # KiB; as built, and without sharing
(320, 2560)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from rope_lab.algebra.arguments import expect_flag, expect_kind, expect_one_of, expect_whole

Scheme = Literal["mha", "gqa", "mqa", "mla", "shared"]
"""The type of a scheme's name: one of `SCHEMES`."""
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
"""What may be kept of a token: ``mha``, ``gqa``, ``mqa``, ``mla``, ``shared``, as `numbers_per_token` counts them."""


@dataclass(frozen=True)
class CacheShape:
    """What of a model's shape decides its cache. ``source`` is a key of the bibliography."""

    name: str
    layers: int
    heads: int
    kv_heads: int  # groups that share one key and one value
    head_dim: int
    latent: int = 0  # width of the one tensor that MLA or the shared form keeps; 0: the model has none
    rope: int = 0  # width of MLA's separate rotary key
    built: Scheme = "mha"  # the scheme that the model was built with
    source: str = ""

    def __post_init__(self) -> None:
        for field in ("layers", "heads", "kv_heads", "head_dim"):
            expect_whole(getattr(self, field), name=field, least=1)
        for field in ("latent", "rope"):
            expect_whole(getattr(self, field), name=field, least=0)
        if self.heads % self.kv_heads:
            raise ValueError(
                f"kv_heads: expected a divisor of the {self.heads} heads, got {self.kv_heads}; every group of heads "
                "shares one key, and the groups are equal"
            )


def numbers_per_token(scheme: Scheme, shape: CacheShape) -> int:
    r"""Count the numbers that one layer keeps for one token.

    mha $2Hd$; gqa $2Gd$; mqa $2d$; mla $d_c + d_r$; shared $d_c$

    The factor 2 is one key and one value; the shared form has a single tensor for both.

    Args:
        scheme: how keys and values are shared.
        shape: H is ``heads``, G ``kv_heads``, d ``head_dim``, $d_c$ ``latent``, $d_r$ ``rope``.

    Raises:
        ValueError: if the scheme is unknown, or if mla or shared meets a shape without a latent.

    Claims:
        `book.cache-formulas`, `su19.mla-vo-shared`

    >>> shape = CacheShape("a small one", layers=2, heads=8, kv_heads=2, head_dim=64, latent=128, rope=32)
    >>> [numbers_per_token(scheme, shape) for scheme in SCHEMES]
    [1024, 256, 128, 160, 128]
    """
    expect_one_of(scheme, SCHEMES, name="scheme")
    expect_kind(shape, CacheShape, name="shape")
    if scheme in ("mla", "shared") and not shape.latent:
        raise ValueError(f"latent: expected a width above 0 for the scheme {scheme!r}, got 0; say latent=512, for one")
    groups = {"mha": shape.heads, "gqa": shape.kv_heads, "mqa": 1}
    if scheme in groups:
        return 2 * groups[scheme] * shape.head_dim
    return shape.latent + (shape.rope if scheme == "mla" else 0)


def bytes_per_token(scheme: Scheme, shape: CacheShape, *, size: int = 2) -> int:
    r"""Count the bytes that the whole model keeps for one token.

    $\mathrm{layers} \cdot \mathrm{numbers} \cdot \mathrm{size}$

    Args:
        scheme: how keys and values are shared.
        shape: of the model.
        size: bytes of one number, 2 for bfloat16 and float16, 4 for float32, 1 for an eight-bit cache.

    Raises:
        ValueError: as `numbers_per_token` does.

    Claims:
        `book.cache-formulas`

    >>> bytes_per_token("mha", CacheShape("one layer", layers=1, heads=1, kv_heads=1, head_dim=2))
    8
    """
    return numbers_per_token(scheme, shape) * shape.layers * expect_whole(size, name="size", least=1)


def products_per_pair(scheme: Scheme, shape: CacheShape, *, absorbed: bool) -> int:
    r"""Multiplications that one query-key pair costs in one layer: for all the logits, and for all the weighted sums.

    keys and values of each head made out: $H(d + d_r + d)$; absorbed, on the latent itself: $H(d_c + d_r + d_c)$

    Args:
        scheme: how keys and values are shared.
        shape: of the model.
        absorbed: on which vectors the heads work. It matters for mla alone: mha, gqa and mqa have no latent, so they
            always pay the first, with $d_r = 0$; the shared form always pays the second, with $d_r = 0$, because its
            rotation stands between the latent and $W_v$.

    Raises:
        ValueError: as `numbers_per_token` does.

    Claims:
        `book.latent-cost`

    >>> v2 = next(shape for shape in MODELS if shape.name == "DeepSeek-V2")
    >>> [products_per_pair("mla", v2, absorbed=form) // v2.heads for form in (False, True)]
    [320, 1088]
    """
    numbers_per_token(scheme, shape)  # refuses what it refuses
    on_latent = scheme == "shared" or (expect_flag(absorbed, name="absorbed") and scheme == "mla")
    rope = shape.rope if scheme == "mla" else 0
    return shape.heads * (2 * (shape.latent if on_latent else shape.head_dim) + rope)


MODELS = (
    CacheShape("GPT-3 175B", 96, 96, 96, 128, built="mha", source="brown2020gpt3"),
    CacheShape("PaLM 540B", 118, 48, 1, 256, built="mqa", source="chowdhery2022palm"),
    CacheShape("Llama 2 7B", 32, 32, 32, 128, built="mha", source="touvron2023llama2"),
    CacheShape("Llama 2 70B", 80, 64, 8, 128, built="gqa", source="touvron2023llama2"),
    CacheShape("Mistral 7B", 32, 32, 8, 128, built="gqa", source="jiang2023mistral"),
    CacheShape("Llama 3 8B", 32, 32, 8, 128, built="gqa", source="llama2024herd"),
    CacheShape("Llama 3 70B", 80, 64, 8, 128, built="gqa", source="llama2024herd"),
    CacheShape("Llama 3 405B", 126, 128, 8, 128, built="gqa", source="llama2024herd"),
    CacheShape("DeepSeek-V2", 60, 128, 128, 128, latent=512, rope=64, built="mla", source="deepseek2024v2"),
    CacheShape("DeepSeek-V3", 61, 128, 128, 128, latent=512, rope=64, built="mla", source="deepseek2024v3"),
)
"""Ten published shapes. DeepSeek's ``head_dim`` is that of a value and of a key's part without rotation."""
