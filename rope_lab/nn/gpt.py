"""The model of the laboratory: a small GPT whose position scheme and projections are the experiment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from rope_lab.algebra.arguments import expect_even
from rope_lab.algebra.budget import ModelShape
from rope_lab.algebra.rotation import frequencies
from rope_lab.nn.attention import AttentionConfig, CausalAttention
from rope_lab.nn.cache import Cache, KVCache, LatentCache, expect_counting
from rope_lab.nn.heads import HeadsConfig, ProjectionConfig, expect_sizes, fields_of
from rope_lab.nn.initial import initialise
from rope_lab.nn.latent_attention import LatentConfig, SharedLatentAttention, SplicedLatentAttention
from rope_lab.nn.rotary import RotaryConfig
from rope_lab.nn.tensor_arguments import expect_count, expect_prompt, expect_standing, expect_tokens, expect_vocabulary

BlockKind = Literal["gpt2", "llama"]
Positions = Literal["none", "absolute", "rotary"]
Absolute = Literal["embedding", "vaswani", "unit"]


@dataclass(frozen=True)
class GPTConfig(ProjectionConfig):
    """Everything that decides the model. The defaults are the small GPT-2 of the CRoPE paper.

    Widths, heads, layout and projections are the fields of `ProjectionConfig`, which its attention layers have too.
    """

    vocab_size: int = 50_257
    seq_len: int = 1024  # the longest context
    n_layers: int = 4
    d_latent: int | None = None  # cache a latent of this width in place of keys and values: chapter 9's two forms
    d_rope: int = 0  # with a latent: MLA's rotary key beside it; 0: the latent itself turns, and the output turns back
    block: BlockKind = "gpt2"  # "gpt2": LayerNorm and a GELU MLP | "llama": RMSNorm and a SwiGLU MLP
    mlp_width: int | None = None  # None: 4 d_model for gpt2, and the nearest multiple of 32 to 8/3 d_model for llama
    positions: Positions = "rotary"  # "absolute": sinusoids added to the embedding
    absolute: Absolute = "embedding"  # "embedding": sinusoid of the embedding's size
    #                              | "vaswani": embedding x sqrt(d_model)
    #                              | "unit": sinusoid of amplitude 1 on an embedding of spread 0.02
    base: float = RotaryConfig.base  # theta_i = base ** (-2i / width): rotary (of a head) and absolute (of d_model)
    tied: bool = True  # the head reads with the embedding's own matrix
    std: float = 0.02  # spread of the initial weights

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_sizes(self, "vocab_size", "seq_len", "n_layers", "mlp_width", "d_latent")
        for name, kind in (("block", BlockKind), ("positions", Positions), ("absolute", Absolute)):
            if (got := getattr(self, name)) not in get_args(kind):
                raise ValueError(f"GPTConfig.{name}: expected one of {', '.join(get_args(kind))}, got {got!r}")
        if isinstance(self.std, bool) or not isinstance(self.std, int | float) or not 0 <= self.std < math.inf:
            raise ValueError(f"GPTConfig.std: expected a finite number of at least 0, got {self.std!r}")
        if self.bias and self.block == "llama":
            raise ValueError("expected no bias in a llama block, got bias=True: it has none")
        if self.d_latent is None and self.d_rope:
            raise ValueError(f"d_rope: expected 0 without a latent, got {self.d_rope}: set d_latent too")
        plain = (self.positions, self.rotated, self.complex_linear, self.n_kv_heads, self.bias)
        if self.d_latent is not None and plain != ("rotary", "qk", "", None, False):
            raise ValueError(
                "d_latent: expected rotary positions, rotated='qk', and neither complex_linear, n_kv_heads nor bias, "
                f"got {plain}: what turns and what is shared follows from d_latent and d_rope"
            )

    @property
    def hidden(self) -> int:
        """Width of the MLP's hidden layer."""
        usual = 4 * self.d_model if self.block == "gpt2" else 32 * max(1, round(8 * self.d_model / 3 / 32))
        return self.mlp_width or usual

    @property
    def shape(self) -> ModelShape:
        """The shape that decides the costs: `rope_lab.algebra.budget` counts them."""
        return ModelShape(
            width=self.d_model,
            heads=self.n_heads,
            layers=self.n_layers,
            vocab=self.vocab_size,
            mlp_width=self.hidden,
            mlp_matrices=2 if self.block == "gpt2" else 3,
            tied=self.tied,
            bias=self.bias,
            norms=True,
            head_dim=self.width,
            kv_heads=self.kv_heads,
            complex_linear=self.complex_linear,
            latent=self.d_latent or 0,
            rope=self.d_rope,
        )

    @property
    def attention(self) -> AttentionConfig | LatentConfig:
        """The shape of each attention layer."""
        if self.d_latent is not None:
            heads = fields_of(HeadsConfig, self)
            return LatentConfig(
                **heads, d_latent=self.d_latent, d_rope=self.d_rope, base=self.base, length=self.seq_len
            )
        projections = fields_of(ProjectionConfig, self)
        if self.positions != "rotary":
            projections["rotated"] = ""
        rotary = (
            RotaryConfig(head_dim=self.width, base=self.base, layout=self.layout) if projections["rotated"] else None
        )
        return AttentionConfig(**projections, rotary=rotary, length=self.seq_len)


class GPT(nn.Module):
    """A decoder: embedding, blocks, norm, head.

    Initial parameters are drawn by (seed, parameter name), so two variants agree in every parameter that both have.

    Args:
        config: everything that decides the model.
        seed: of the initial parameters.

    >>> model = GPT(GPTConfig(vocab_size=10, n_layers=1, n_heads=2, d_model=8))
    >>> model(torch.tensor([[1, 2, 3]])).shape
    torch.Size([1, 3, 10])
    """

    sinusoids: Tensor | None  # no buffer: a buffer is in no state dict, and lost where the meta device gets memory

    def __init__(self, config: GPTConfig, *, seed: int = 0) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layers))
        self.norm = norm(config)
        self.head = None if config.tied else nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.sinusoids = _sinusoids_on(config, torch.get_default_device())
        initialise(self, seed=seed, std=config.std)
        with torch.no_grad():  # the two layers that write into the residual stream start smaller, as GPT-2's do
            for name, p in self.blocks.named_parameters():
                if ".attention.o." in name or ".mlp.down." in name:
                    p.div_(math.sqrt(2 * config.n_layers))

    def forward(
        self,
        tokens: Int[Tensor, "batch T"],
        *,
        offset: int = 0,
        caches: Sequence[Cache] | None = None,
        positions: Any = None,
        mask: Tensor | None = None,
    ) -> Float[Tensor, "batch T vocab"]:
        """Logits of the token after each of T tokens, which continue the text that the caches have seen.

        Positions hide nothing: who sees whom goes by the order of the tokens, unless a mask says otherwise.

        Args:
            tokens: (batch, T), int64 or int32.
            offset: the position of the first token; 0 beside caches, which have their own.
            caches: one for each block, all at one position; it is where the first of the tokens stands.
            positions: (T,) or (batch, T), where the tokens stand; None: one after the other.
            mask: booleans (T, S) or (batch, T, S) over all S tokens, those held first; as `CausalAttention` takes it.

        Returns:
            (batch, T, vocab), in the dtype of the weights.

        Raises:
            TypeError: if the tokens are not whole numbers, or as `CausalAttention` raises it.
            ValueError: if they reach beyond position ``seq_len``, if there are not as many caches as blocks, if an
                offset other than 0 stands beside caches or positions, if positions or mask do not fit, and, on a CPU,
                if the vocabulary lacks a token.
        """
        expect_tokens(tokens)
        start = expect_count(offset, name="offset") if caches is None else self._first_position(caches, positions)
        end = start + tokens.shape[-1]
        if positions is not None:
            positions = self._expect_window(expect_standing(positions, tokens.shape))
        elif end > self.config.seq_len:
            longest = self.config.seq_len
            raise ValueError(
                f"expected at most {longest} positions of context, got {end}: {end - start} from {start} on"
            )
        try:
            x = self.embedding(tokens)  # (batch, T, d_model)
        except IndexError:  # on a CPU the embedding looks at the numbers; on a GPU nobody does
            expect_vocabulary(tokens, vocab_size=self.config.vocab_size)
            raise
        if self.config.positions == "absolute":
            scale = math.sqrt(self.config.d_model) if self.config.absolute == "vaswani" else 1.0
            self._follow(x.device)  # assign=True has moved the parameters alone
            rows = slice(start, end) if positions is None else positions.to(x.device, torch.int64)
            x = scale * x + self.sinusoids[rows].to(x.dtype)  # type: ignore[index]  # (batch, T, d_model)
        for i, block in enumerate(self.blocks):
            cache = caches[i] if caches else None
            x = block(x, offset=offset, cache=cache, positions=positions, mask=mask)  # (batch, T, d_model)
        return F.linear(self.norm(x), (self.head or self.embedding).weight)  # (batch, T, vocab)

    def _expect_window(self, positions: Tensor) -> Tensor:
        """Positions that the model knows: within its window, and rows of its table where they are added."""
        added = self.config.positions == "absolute"
        if added and not torch.compiler.is_compiling() and bool((positions % 1 != 0).any()):
            raise ValueError("positions: expected whole numbers, got others; between two rows of a table is none")
        if not torch.compiler.is_compiling() and positions.numel():
            low, high = positions.min().item(), positions.max().item()
            if high > self.config.seq_len - 1 or (added and low < 0):
                raise ValueError(
                    f"positions: expected 0 to {self.config.seq_len - 1}, a place in the context of the model, got "
                    f"{low} to {high}; a larger seq_len takes them"
                )
        return positions

    def _follow(self, device: torch.device) -> None:
        """Have the sinusoids on this device, made anew: on the meta device there is nothing to copy."""
        if self.sinusoids is not None and self.sinusoids.device != device:
            self.sinusoids = _sinusoids_on(self.config, device)

    def _apply(self, fn, recurse=True):
        """Follow ``module.to(device)`` with the sinusoids, but not its dtype."""
        super()._apply(fn, recurse)
        self._follow(fn(torch.empty(0)).device)
        return self

    def new_caches(self, *, offset: int = 0) -> list[Cache]:
        """Empty caches, one for each block, for a text that begins at ``offset``.

        >>> model = GPT(GPTConfig(vocab_size=10, n_layers=2, n_heads=2, d_model=8))
        >>> [cache.position for cache in model.new_caches(offset=3)]
        [3, 3]
        """
        kind = KVCache if self.config.d_latent is None else LatentCache
        return [kind(offset=offset) for _ in self.blocks]

    def _first_position(self, caches: Sequence[Cache], positions: Any) -> int:
        """The position of the first new token: the caches know, and have to agree."""
        if len(caches) != len(self.blocks):
            raise ValueError(f"caches: expected {len(self.blocks)}, one for each block, got {len(caches)}")
        if any(cache.position != caches[0].position for cache in caches):
            places = ", ".join(str(cache.position) for cache in caches)
            raise ValueError(f"caches: expected all at one position, got {places}; start each with the same offset")
        for cache in caches:
            expect_counting(cache, positions)
        return caches[0].position

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
        """Continue each row by ``n_tokens`` tokens.

        Keys and values of earlier tokens are kept, so a new token costs one column and not a whole pass.

        Args:
            tokens: (batch, T) with T of at least 1, the prompts.
            n_tokens: how many tokens to add.
            temperature: 0, or a number too small for float32, takes the likeliest token.
            top_k: choose among this many likeliest tokens; None: among all.
            generator: the source of random numbers.

        Returns:
            (batch, T + n_tokens): the prompts and what follows.

        Raises:
            TypeError: if the tokens or ``n_tokens`` are not whole numbers.
            ValueError: if a prompt is empty or has a token that the vocabulary lacks, or if ``n_tokens``,
                ``temperature`` or ``top_k`` is out of range.
        """
        expect_prompt(tokens, vocab_size=self.config.vocab_size)
        expect_count(n_tokens, name="n_tokens", fix="give an int")
        if top_k is not None and (isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1):
            raise ValueError(f"top_k: expected at least 1 token to choose from, got {top_k!r}; None chooses from all")
        if not 0 <= temperature < math.inf:  # not a number is refused here too
            raise ValueError(f"temperature: expected a finite number of at least 0, got {temperature}")
        caches, new = self.new_caches(), tokens
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
        self.attention_norm, self.attention = norm(config), attention_layer(config.attention)
        self.mlp_norm, self.mlp = norm(config), MLP(config)

    def forward(
        self, x: Tensor, *, offset: int = 0, cache: Cache | None, positions: Any = None, mask: Tensor | None = None
    ) -> Tensor:
        """Add attention and then the MLP to the stream.

        Args:
            x: (batch, T, d_model).
            offset: The position of the first token; 0 beside a cache, which has its own.
            cache: Where the keys and values of earlier tokens are, and where these are added. None: there are none.
            positions, mask: As `GPT.forward` takes them.

        Returns:
            (batch, T, d_model), in the dtype of the weights.
        """
        given = {} if positions is None and mask is None else {"positions": positions, "mask": mask}
        x = x + self.attention(self.attention_norm(x), offset=offset, cache=cache, **given)  # (batch, T, d_model)
        return x + self.mlp(self.mlp_norm(x))  # (batch, T, d_model)


def attention_layer(config: AttentionConfig | LatentConfig) -> nn.Module:
    """The attention layer of a block: keys and values by head, or one of the two forms over a latent."""
    if isinstance(config, AttentionConfig):
        return CausalAttention(config)
    return (SplicedLatentAttention if config.d_rope else SharedLatentAttention)(config)


class MLP(nn.Module):
    """gpt2: down(gelu(up(x))). llama: down(silu(gate(x)) * up(x))."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.up = nn.Linear(config.d_model, config.hidden, bias=config.bias)
        self.gate = nn.Linear(config.d_model, config.hidden, bias=False) if config.block == "llama" else None
        self.down = nn.Linear(config.hidden, config.d_model, bias=config.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the MLP to each token by itself.

        Args:
            x: (batch, T, d_model).

        Returns:
            (batch, T, d_model), in the dtype of the weights.
        """
        up = self.up(x)  # (batch, T, hidden)
        return self.down(F.gelu(up) if self.gate is None else F.silu(self.gate(x)) * up)  # (batch, T, d_model)


def norm(config: GPTConfig) -> nn.Module:
    """LayerNorm for gpt2, RMSNorm for llama."""
    if config.block == "llama":
        return nn.RMSNorm(config.d_model, eps=1e-5)
    return nn.LayerNorm(config.d_model, bias=config.bias)


def _sinusoids_on(config: GPTConfig, device: torch.device) -> Tensor | None:
    """The sinusoids with the same numbers on every device: those of the CPU."""
    with torch.device("cpu"):
        made = sinusoids(config)
    return None if made is None else made.to(device)


def sinusoids(config: GPTConfig) -> Tensor | None:
    """The sinusoids of absolute positions, (seq_len, d_model), in the size that ``absolute`` names.

    Args:
        config: The model's settings: `positions`, `absolute`, `d_model`, `seq_len`, `base` and `std` count.

    Returns:
        (seq_len, d_model), float32, from angles in float64; None unless `positions` is "absolute".

    Raises:
        ValueError: If d_model is odd.
    """
    if config.positions != "absolute":
        return None
    width = expect_even(config.d_model, name="d_model")
    theta = torch.tensor(frequencies(width, base=config.base))  # float64: float32 angles drift with m
    angles = torch.arange(config.seq_len)[:, None] * theta  # (seq_len, d_model / 2)
    waves = torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)  # (seq_len, d_model), of rms 1/sqrt(2)
    return (waves * (config.std * math.sqrt(2) if config.absolute == "embedding" else 1.0)).float()
