"""The model of the laboratory: a small GPT whose position scheme and projections are the experiment."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from rope_lab.algebra.arguments import expect_even
from rope_lab.algebra.rotation import frequencies
from rope_lab.nn.attention import AttentionConfig, CausalAttention, KVCache, roles
from rope_lab.nn.initial import initialise
from rope_lab.nn.latent_attention import LatentCache, LatentConfig, SharedLatentAttention, SplicedLatentAttention
from rope_lab.nn.rotary import RotaryConfig
from rope_lab.nn.tensor_arguments import expect_count, expect_prompt, expect_tokens, expect_vocabulary

POSITIONS = ("none", "absolute", "rotary")
ABSOLUTE = ("embedding", "vaswani", "unit")


@dataclass(frozen=True)
class GPTConfig:
    """Everything that decides the model. The defaults are the small GPT-2 of the CRoPE paper."""

    vocab_size: int = 50_257
    seq_len: int = 1024  # the longest context
    n_layers: int = 4
    n_heads: int = 4
    d_model: int = 128  # width of the residual stream
    head_dim: int | None = None  # width of a head; None: d_model / n_heads
    n_kv_heads: int | None = None  # heads of keys and values; None: n_heads, 1: MQA
    d_latent: int | None = None  # cache a latent of this width in place of keys and values: chapter 9's two forms
    d_rope: int = 0  # with a latent: MLA's rotary key beside it; 0: the latent itself turns, and the output turns back
    block: str = "gpt2"  # "gpt2": LayerNorm and a GELU MLP | "llama": RMSNorm and a SwiGLU MLP
    mlp_width: int | None = None  # None: 4 d_model for gpt2, and the nearest multiple of 32 to 8/3 d_model for llama
    positions: str = "rotary"  # "none" | "absolute": sinusoids added to the embedding | "rotary"
    absolute: str = "embedding"  # "embedding": sinusoid of the embedding's size | "vaswani": embedding x sqrt(d_model)
    #                              | "unit": sinusoid of amplitude 1 on an embedding of spread 0.02
    rotated: str = "qk"  # which of q, k, v, o turn with their position, when positions are rotary
    base: float = 10_000.0  # theta_i = base ** (-2i / width), for rotary (head_dim) and absolute (d_model) alike
    layout: str = "half"  # which coordinates form a plane; "half" is the layout that torch.compile makes fast
    complex_linear: str = ""  # which of the projections q, k, v, o are complex-linear
    tied: bool = True  # the head reads with the embedding's own matrix
    bias: bool = False  # biases in the linear layers and LayerNorms of the gpt2 block
    std: float = 0.02  # spread of the initial weights

    def __post_init__(self) -> None:
        for name, allowed in (("block", ("gpt2", "llama")), ("positions", POSITIONS), ("absolute", ABSOLUTE)):
            if (got := getattr(self, name)) not in allowed:
                raise ValueError(f"GPTConfig.{name}: expected one of {', '.join(allowed)}, got {got!r}")
        optional = ("head_dim", "mlp_width", "n_kv_heads", "d_latent")
        for name in ("vocab_size", "seq_len", "n_layers", "n_heads", "d_model", *optional):
            got = getattr(self, name)
            if got is None and name in optional:
                continue
            if isinstance(got, bool) or not isinstance(got, int) or got < 1:
                raise ValueError(f"GPTConfig.{name}: expected a whole number of at least 1, got {got!r}")
        if self.d_model % self.n_heads and self.head_dim is None:
            raise ValueError(f"expected d_model divisible by {self.n_heads} heads, got {self.d_model}: or set head_dim")
        if isinstance(self.std, bool) or not isinstance(self.std, int | float) or not 0 <= self.std < math.inf:
            raise ValueError(f"GPTConfig.std: expected a finite number of at least 0, got {self.std!r}")
        if self.bias and self.block == "llama":
            raise ValueError("expected no bias in a llama block, got bias=True: it has none")
        object.__setattr__(self, "rotated", roles(self.rotated, name="rotated"))
        object.__setattr__(self, "complex_linear", roles(self.complex_linear, name="complex_linear"))
        if self.d_latent is None and self.d_rope:
            raise ValueError(f"d_rope: expected 0 without a latent, got {self.d_rope}: set d_latent too")
        plain = (self.positions, self.rotated, self.complex_linear, self.n_kv_heads, self.bias)
        if self.d_latent is not None and plain != ("rotary", "qk", "", None, False):
            raise ValueError(
                "d_latent: expected rotary positions, rotated='qk', and neither complex_linear, n_kv_heads nor bias, "
                f"got {plain}: what turns and what is shared follows from d_latent and d_rope"
            )

    @property
    def width(self) -> int:
        """Width of a head."""
        return self.head_dim or self.d_model // self.n_heads

    @property
    def hidden(self) -> int:
        """Width of the MLP's hidden layer."""
        usual = 4 * self.d_model if self.block == "gpt2" else 32 * max(1, round(8 * self.d_model / 3 / 32))
        return self.mlp_width or usual

    @property
    def attention(self) -> AttentionConfig | LatentConfig:
        """The shape of each attention layer."""
        if self.d_latent is not None:
            return LatentConfig(
                d_model=self.d_model,
                n_heads=self.n_heads,
                head_dim=self.width,
                d_latent=self.d_latent,
                d_rope=self.d_rope,
                base=self.base,
                layout=self.layout,
                length=self.seq_len,
            )
        rotates = self.positions == "rotary" and self.rotated != ""
        return AttentionConfig(
            d_model=self.d_model,
            n_heads=self.n_heads,
            n_kv_heads=self.n_kv_heads,
            head_dim=self.width,
            layout=self.layout,
            bias=self.bias,
            length=self.seq_len,
            rotated=self.rotated if rotates else "",
            complex_linear=self.complex_linear,
            rotary=RotaryConfig(head_dim=self.width, base=self.base, layout=self.layout) if rotates else None,
        )


class GPT(nn.Module):
    """A decoder: embedding, blocks, norm, head. ``GPT(config, seed=0)(tokens)`` gives logits for the next token.

    Initial parameters are drawn by (seed, parameter name), so two variants agree in every parameter that both have.
    """

    def __init__(self, config: GPTConfig, *, seed: int = 0) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layers))
        self.norm = norm(config)
        self.head = None if config.tied else nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.register_buffer("sinusoids", sinusoids(config), persistent=False)
        initialise(self, seed=seed, std=config.std)
        with torch.no_grad():  # the two layers that write into the residual stream start smaller, as GPT-2's do
            for block in self.blocks:
                for p in (*block.attention.o.parameters(), *block.mlp.down.parameters()):
                    p.div_(math.sqrt(2 * config.n_layers))

    def forward(
        self, tokens: Int[Tensor, "batch T"], *, caches: list[KVCache] | list[LatentCache] | None = None
    ) -> Float[Tensor, "batch T vocab"]:
        """Logits of the token after each of T tokens. With caches, one a block, they continue what the caches saw.

        ``TypeError`` for tokens that are no whole numbers; ``ValueError`` for more than ``seq_len`` of them, for
        another number of caches and, on a processor, for tokens that the vocabulary lacks.
        """
        expect_tokens(tokens)
        if caches and len(caches) != len(self.blocks):
            raise ValueError(f"caches: expected {len(self.blocks)}, one for each block, got {len(caches)}")
        start = caches[0].seen if caches else 0
        if (end := start + tokens.shape[-1]) > self.config.seq_len:
            raise ValueError(f"expected at most {self.config.seq_len} tokens of context, got {end}: shorten them")
        try:
            x = self.embedding(tokens)  # (batch, T, d_model)
        except IndexError:  # the embedding looks at the numbers on a processor, and nobody does on a GPU
            expect_vocabulary(tokens, vocab_size=self.config.vocab_size)
            raise
        if self.config.positions == "absolute":
            scale = math.sqrt(self.config.d_model) if self.config.absolute == "vaswani" else 1.0
            x = scale * x + self.sinusoids[start:end]  # (batch, T, d_model)
        for block, cache in zip(self.blocks, caches or [None] * len(self.blocks), strict=True):
            x = block(x, cache=cache)  # (batch, T, d_model)
        return F.linear(self.norm(x), (self.head or self.embedding).weight)  # (batch, T, vocab)

    @torch.no_grad()
    def generate(
        self,
        tokens: Int[Tensor, "batch T"],
        *,
        n_tokens: int,
        temperature: float = 1.0,
        top_k: int | None = None,
        generator: torch.Generator | None = None,
    ) -> Int[Tensor, "batch longer"]:
        """Continue each row by ``n_tokens`` tokens; temperature 0, or one too small for float32, takes the likeliest.

        Keys and values of earlier tokens are kept, so a new token costs one column and not a whole pass.
        ``ValueError`` for a prompt that is empty or not of this vocabulary, and for a temperature or numbers of tokens
        that mean nothing; ``TypeError`` for anything but whole numbers.
        """
        expect_prompt(tokens, vocab_size=self.config.vocab_size)
        expect_count(n_tokens, name="n_tokens", mend="give an int")
        if top_k is not None and (isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1):
            raise ValueError(f"top_k: expected at least 1 token to choose from, got {top_k!r}; None chooses from all")
        if not 0 <= temperature < math.inf:  # not a number is refused here too
            raise ValueError(f"temperature: expected a finite number of at least 0, got {temperature}")
        caches = [KVCache() if self.config.d_latent is None else LatentCache() for _ in self.blocks]
        new = tokens
        for _ in range(n_tokens):
            logits = self(new, caches=caches)[:, -1].float()  # (batch, vocab)
            if top_k is not None:
                least = logits.topk(min(top_k, logits.shape[-1])).values[:, -1:]
                logits = logits.masked_fill(logits < least, -math.inf)
            if temperature < torch.finfo(torch.float32).tiny:
                new = logits.argmax(-1, keepdim=True)  # (batch, 1)
            else:  # the largest becomes 0, so that a small temperature sends none to +infinity
                logits = logits - logits.amax(-1, keepdim=True)
                new = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)  # (batch, 1)
            tokens = torch.cat((tokens, new), 1)
        return tokens


class Block(nn.Module):
    """x + attention(norm(x)), then x + mlp(norm(x))."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.attention_norm, self.attention = norm(config), attention(config)
        self.mlp_norm, self.mlp = norm(config), MLP(config)

    def forward(self, x: Tensor, *, cache: KVCache | LatentCache | None) -> Tensor:
        x = x + self.attention(self.attention_norm(x), cache=cache)  # (batch, T, d_model)
        return x + self.mlp(self.mlp_norm(x))  # (batch, T, d_model)


def attention(config: GPTConfig) -> nn.Module:
    """The attention layer of a block: keys and values by head, or one of the two forms over a latent."""
    if config.d_latent is None:
        return CausalAttention(config.attention)
    return (SplicedLatentAttention if config.d_rope else SharedLatentAttention)(config.attention)


class MLP(nn.Module):
    """gpt2: down(gelu(up(x))). llama: down(silu(gate(x)) * up(x))."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.up = nn.Linear(config.d_model, config.hidden, bias=config.bias)
        self.gate = nn.Linear(config.d_model, config.hidden, bias=False) if config.block == "llama" else None
        self.down = nn.Linear(config.hidden, config.d_model, bias=config.bias)

    def forward(self, x: Tensor) -> Tensor:
        up = self.up(x)  # (batch, T, hidden)
        return self.down(F.gelu(up) if self.gate is None else F.silu(self.gate(x)) * up)  # (batch, T, d_model)


def norm(config: GPTConfig) -> nn.Module:
    """LayerNorm for gpt2, RMSNorm for llama."""
    if config.block == "llama":
        return nn.RMSNorm(config.d_model, eps=1e-5)
    return nn.LayerNorm(config.d_model, bias=config.bias)


def sinusoids(config: GPTConfig) -> Tensor | None:
    """What absolute positions add to the embedding: (seq_len, d_model), in the size that ``absolute`` names."""
    if config.positions != "absolute":
        return None
    width = expect_even(config.d_model, name="d_model")
    theta = torch.tensor(frequencies(width, base=config.base))  # float64: float32 angles drift with m
    angles = torch.arange(config.seq_len)[:, None] * theta  # (seq_len, d_model / 2)
    waves = torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)  # (seq_len, d_model), of rms 1/sqrt(2)
    return (waves * (config.std * math.sqrt(2) if config.absolute == "embedding" else 1.0)).float()
