"""The fast rotation for models: one form for each layout, with tables that are built in float64.

>>> rotary = Rotary(RotaryConfig(head_dim=64))
>>> q = torch.randn(2, 8, 10, 64)  # (batch, heads, T, head_dim)
>>> back = rotary(rotary(q, offset=5), offset=5, inverse=True)
>>> tuple(back.shape), torch.allclose(back, q, atol=1e-5)
((2, 8, 10, 64), True)
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from rope_lab.algebra.arguments import Layout, expect_base, expect_even, expect_layout, expect_number, expect_real
from rope_lab.algebra.frequency_schedules import Schedule
from rope_lab.algebra.gguf import gguf_layout, gguf_metadata, gguf_settings
from rope_lab.algebra.hf_schedules import rope_settings
from rope_lab.errors import checking_arguments
from rope_lab.nn.complex_planes import to_complex, to_real
from rope_lab.nn.tensor_arguments import (
    expect_count,
    expect_fit,
    expect_places,
    expect_positions,
    expect_vectors,
    working_dtype,
)

PLAIN = Schedule()  # one base


@dataclass(frozen=True)
class RotaryConfig:
    """Which coordinates turn, how fast, and how they pair."""

    head_dim: int  # width of one head, even
    base: float = 10000.0  # theta_i = base^(-2i/rotary_dim)
    layout: Layout = "interleaved"  # planes (2i, 2i+1); "half": planes (i, i + rotary_dim/2)
    rotary_dim: int | None = None  # only the first rotary_dim coordinates turn; None: all of them
    schedule: Schedule = PLAIN  # how a longer window slows them; as a plain value it changes nothing
    # Several axes: the vector of each plane, (planes, axes), in the place of base and schedule. None: one axis.
    vectors: tuple[Any, ...] | None = None
    factor: float = 1.0  # beside vectors: what cosines and sines are multiplied by; else the schedule says it
    # Of the planes, in radians per position; none where they depend on the length of the text, which `at` takes.
    frequencies: tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        expect_even(self.head_dim, name="head_dim")
        expect_base(self.base)
        expect_layout(self.layout)
        if self.rotary_dim is not None and expect_even(self.rotary_dim, name="rotary_dim") > self.head_dim:
            raise ValueError(
                f"rotary_dim: expected at most head_dim = {self.head_dim}, got {self.rotary_dim}; "
                "leave it out to rotate every coordinate"
            )
        if not isinstance(self.schedule, Schedule):
            raise TypeError(f"schedule: expected a Schedule, got {self.schedule!r}; write Linear(factor=4)")
        if not expect_number(self.factor, name="factor") > 0:
            raise ValueError(f"factor: expected a number above 0, got {self.factor}; 1 changes nothing")
        if self.vectors is not None:
            self._take_vectors()
            return
        if self.factor != 1:
            raise ValueError(f"factor: expected 1 without vectors, got {self.factor}; a schedule has its own")
        made = () if self.schedule.by_length else self.schedule.frequencies(self.width, base=self.base).tolist()
        object.__setattr__(self, "frequencies", tuple(made))

    def _take_vectors(self) -> None:
        vectors = _expect_vectors_of_planes(self.vectors)
        if len(vectors) != self.width // 2:
            raise ValueError(
                f"vectors: expected one row for each of the {self.width // 2} planes, got {len(vectors)}; "
                "RotaryConfig.of_axes(vectors) takes the width from them"
            )
        if self.schedule != PLAIN or self.base != RotaryConfig.base:
            raise ValueError(
                f"vectors: expected neither base nor schedule beside them, got {self.base} and {self.schedule}; "
                "make the vectors with that base"
            )
        object.__setattr__(self, "vectors", vectors)
        object.__setattr__(self, "frequencies", ())

    @classmethod
    def of_axes(
        cls, vectors: Any, *, head_dim: int | None = None, layout: Layout = "interleaved", factor: float = 1.0
    ) -> "RotaryConfig":
        """The rotation for places with several coordinates, from the frequency vector of each plane.

        Args:
            vectors: (planes, axes), radians per step, such as `axial_frequencies` gives.
            head_dim: None: twice the number of planes; where it is more, the coordinates behind them stay.
            layout: As in the configuration of one axis.
            factor: What cosines and sines are multiplied by, as YaRN does.

        Raises:
            ValueError: If the vectors are no such table, or have more planes than the head.

        >>> from rope_lab.algebra import axial_frequencies
        >>> config = RotaryConfig.of_axes(axial_frequencies(8), layout="half")
        >>> config.head_dim, config.axes
        (8, 2)
        """
        made = _expect_vectors_of_planes(vectors)
        width = 2 * len(made)
        if head_dim is None or head_dim == width:
            return cls(width, layout=layout, vectors=made, factor=factor)
        return cls(head_dim, layout=layout, rotary_dim=width, vectors=made, factor=factor)

    @classmethod
    @checking_arguments()
    def from_hf(cls, config: Any, *, layer_type: str | None = None, layout: Layout = "half") -> "RotaryConfig":
        """The rotation of a model in transformers, from its configuration or its ``config.json`` as a dictionary.

        A file is read as its family reads it (see `rope_lab.algebra.rope_settings`), nested ``rope_parameters`` and
        the older ``rope_scaling`` and ``rope_theta``. Where it has ``mrope_section``, places have several coordinates:
        time, height and width.

        Args:
            config: The configuration.
            layer_type: Such as "full_attention", where the layers differ.
            layout: Few configurations say it, and it is not read: most models there are half-split, DeepSeek-V3 with
                ``rope_interleave`` is not. `rope_lab.audit` finds it.

        Raises:
            ArgumentError: If a setting is missing, not understood or out of its range, if the kind of scaling is
                unknown or does not go with sections, or if nothing turns. It is a ValueError; and a TypeError too if a
                setting is of another kind, such as a text in place of a number.

        >>> old = {"hidden_size": 64, "num_attention_heads": 8, "rope_theta": 500.0}
        >>> RotaryConfig.from_hf(old | {"rope_scaling": {"rope_type": "linear", "factor": 2.0}}).frequencies[0]
        0.5
        """
        found = rope_settings(config, layer_type=layer_type)
        if (vectors := found.vectors) is not None:
            factor = found.schedule.attention_factor
            return cls.of_axes(vectors, head_dim=found.head_dim, layout=layout, factor=factor)
        return cls(found.head_dim, base=found.base, layout=layout, rotary_dim=found.rotary_dim, schedule=found.schedule)

    @classmethod
    @checking_arguments()
    def from_gguf(cls, source: Any, *, layer_type: str | None = None, layout: Layout | None = None) -> "RotaryConfig":
        """The rotation that llama.cpp gives a GGUF file, read from its header (see `rope_lab.algebra.gguf_settings`).

        Args:
            source: The path of the file, or what `rope_lab.algebra.gguf_metadata` gives.
            layer_type: "full_attention" or "sliding_attention", where the layers differ.
            layout: None: that of the file's architecture, which its weights are ordered for.

        Raises:
            ValueError: If the header says what is not understood, or the architecture's layout is not known.
        """
        source = source if isinstance(source, Mapping) else gguf_metadata(source)
        found = gguf_settings(source, layer_type=layer_type)
        layout = gguf_layout(source) if layout is None else layout
        if (vectors := found.vectors) is not None:
            factor = found.schedule.attention_factor
            return cls.of_axes(vectors, head_dim=found.head_dim, layout=layout, factor=factor)
        return cls(found.head_dim, base=found.base, layout=layout, rotary_dim=found.rotary_dim, schedule=found.schedule)

    def at(self, length: int) -> "RotaryConfig":
        """The configuration for a text of ``length`` tokens, where the frequencies depend on the length.

        >>> from rope_lab.algebra import DynamicNTK
        >>> RotaryConfig(8, schedule=DynamicNTK(factor=2, window=4096)).at(8192).schedule
        NTK(factor=3.0)
        """
        return replace(self, schedule=self.schedule.at(length))

    @property
    def width(self) -> int:
        """The number of coordinates that turn: rotary_dim, or head_dim where it is None."""
        return self.head_dim if self.rotary_dim is None else self.rotary_dim

    @property
    def attention_factor(self) -> float:
        """The factor that cosines and sines are multiplied by."""
        return self.factor * self.schedule.attention_factor

    @property
    def axes(self) -> int:
        """The number of coordinates of a place."""
        return 1 if self.vectors is None else len(self.vectors[0])


class RotaryTable(NamedTuple):
    """Cosine and sine of every angle n theta_i, and the configuration that they were built for."""

    cos: Float[Tensor, "*batch T planes"]
    sin: Float[Tensor, "*batch T planes"]
    config: RotaryConfig


def rotary_table(
    positions: Any,
    config: RotaryConfig,
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> RotaryTable:
    r"""The table for tokens that stand at ``positions``.

    $a\cos(n\,\theta_i), a\sin(n\,\theta_i)$ with $\theta_i = \mathrm{base}^{-2i/\mathrm{rotary\_dim}}$ or what the
    schedule makes of it, angles in radians; a is the schedule's attention factor, mostly 1. With several axes the
    angle is $n \cdot \theta_i$, the product of two vectors.

    Args:
        positions: (T,), or (B, T) when each sequence of a batch has its own: a tensor, an array or a sequence of finite
            reals, negative and non-integer ones too. For a config with several axes (T, axes) or (B, T, axes).
        config: which coordinates turn, and how fast.
        dtype: float32 or float64. The angles are float64; only their cosines and sines are cast.
        device: where the table is to be; None: where the positions are.

    Returns:
        Cosines and sines, each (..., T, planes) in ``dtype``, and the config.

    Raises:
        TypeError: if the positions are not real numbers, or ``config`` is not a `RotaryConfig`.
        ValueError: if positions have another shape or are not finite, if ``dtype`` is another one, or if the
            frequencies depend on the length of the text.

    Claims:
        `blog.theta`, `unsaid.precision`, `book.axes-offset`

    >>> table = rotary_table([0.0, 0.5, -3.0], RotaryConfig(head_dim=8))
    >>> tuple(table.cos.shape), table.cos.dtype
    ((3, 4), torch.float32)
    """
    if dtype not in (torch.float32, torch.float64):
        raise ValueError(f"dtype: expected torch.float32 or torch.float64, got {dtype}; half types rotate in float32")
    if not isinstance(config, RotaryConfig):
        raise TypeError(f"config: expected a RotaryConfig, got {config!r}; write RotaryConfig(head_dim=64)")
    if not config.frequencies and config.vectors is None:
        raise ValueError(
            f"config: expected frequencies that do not depend on the length of the text, got "
            f"{type(config.schedule).__name__}; say for which length: config.at(8192)"
        )
    positions = expect_positions(positions) if config.vectors is None else expect_places(positions, axes=config.axes)
    device = positions.device if device is None else torch.device(device)
    # Angles in float64: float32 ones err by 1e-5 after some thousand positions. MPS has no float64, so it asks the CPU.
    positions = positions.to("cpu" if device.type == "mps" else device, torch.float64)
    if config.vectors is None:
        angles = positions[..., None] * torch.tensor(config.frequencies, dtype=torch.float64, device=positions.device)
    else:
        angles = positions @ torch.tensor(config.vectors, dtype=torch.float64, device=positions.device).T
    # Cosines and sines of a position lie side by side in memory: one stream to read beside x, not two.
    table = config.attention_factor * torch.stack((angles.cos(), angles.sin()), dim=-2)  # (..., T, 2, planes)
    cos, sin = table.to(device, dtype).unbind(-2)
    return RotaryTable(cos, sin, config)


def rotate(
    x: Float[Tensor, "*batch T head_dim"], table: RotaryTable, *, inverse: bool = False
) -> Float[Tensor, "*batch T head_dim"]:
    r"""Turn every vector of ``x`` by the angles of its row in ``table``; the other way round with ``inverse``.

    $\tilde x_i \mapsto e^{\mathrm{i} n\theta_i}\,\tilde x_i$ in plane i, where $\tilde x_i = x_a + \mathrm{i}\,x_b$;
    inverse: the conjugate $e^{-\mathrm{i} n\theta_i}$. A schedule with an attention factor stretches besides.

    Args:
        x: (..., T, head_dim); for a table of (B, T) positions (B, ..., T, head_dim).
        table: from `rotary_table`, in float64 for a float64 x and in float32 for any other.
        inverse: turn back.

    Returns:
        The shape and dtype of x; bfloat16 and float16 turn in float32. The coordinates from rotary_dim on are x's own.

    Raises:
        TypeError: if x is not a floating-point tensor, or the table has another dtype than x needs.
        ValueError: if rank, head_dim or length do not fit the table.

    Claims:
        `blog.props`, `blog.half-matrix`

    >>> table = rotary_table([0, 1], RotaryConfig(head_dim=2))
    >>> rotate(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), table)
    tensor([[1.0000, 0.0000],
            [0.5403, 0.8415]])
    """
    expect_vectors(x)
    return _rotate(x, table, inverse)


class Rotary(nn.Module):
    """Rotate by position: 0, 1, 2, ... from ``offset`` on, or the ``positions`` given.

    Its table grows when a longer x comes, and follows the dtype and device of x. It is neither parameter nor buffer, so
    it is not saved and ``module.to(torch.bfloat16)`` does not round it.

    Args:
        config: which coordinates turn, and how fast.
        length: how many rows of the table to build at once. A model under torch.compile should ask for its context.

    >>> rotary = Rotary(RotaryConfig(head_dim=8, layout="half"))
    >>> x = torch.ones(3, 8)
    >>> torch.equal(rotary(x, offset=2), rotary(x, positions=[2, 3, 4]))
    True
    """

    def __init__(self, config: RotaryConfig, *, length: int = 0) -> None:
        super().__init__()
        self.table = _first_rows(expect_count(length, name="length"), config)

    def forward(
        self, x: Float[Tensor, "*batch T head_dim"], *, positions: Any = None, offset: int = 0, inverse: bool = False
    ) -> Float[Tensor, "*batch T head_dim"]:
        """Rotate x by its positions.

        Args:
            x: (..., T, head_dim).
            positions: where the tokens stand, as in `rotary_table`; None: one after the other from ``offset`` on.
            offset: the position of the first token.
            inverse: turn back.

        Returns:
            The shape and dtype of x, as `rotate` does.

        Raises:
            TypeError, ValueError: as `rotary_table` and `rotate` do; if an offset stands beside positions, or if there
                are several axes and no positions.
        """
        expect_vectors(x)
        if positions is None:
            if self.config.vectors is not None:
                raise ValueError(
                    f"positions: expected (T, {self.config.axes}), got none: places with several coordinates have no "
                    "order of their own; write positions=places"
                )
            start = expect_count(offset, name="offset", fix="a Rotary takes other places as positions=")
            return _rotate(x, self._rows(start, x), inverse)
        if not isinstance(offset, int) or offset != 0:
            raise ValueError(f"offset: expected 0 beside positions, got {offset!r}; add it to the positions")
        table = rotary_table(positions, self.config, dtype=working_dtype(x), device=x.device)
        return _rotate(x, table, inverse)

    @property
    def config(self) -> RotaryConfig:
        """The configuration that the table was built for."""
        return self.table.config

    def extra_repr(self) -> str:
        """The text between the brackets when the module is printed: its configuration."""
        return str(self.config)

    def _rows(self, start: int, x: Tensor) -> RotaryTable:
        stop, dtype = start + x.shape[-2], working_dtype(x)
        cos, sin, _ = self.table
        if cos.shape[0] < stop or cos.dtype != dtype or cos.device != x.device:
            length = max(cos.shape[0], 1 << (stop - 1).bit_length())  # powers of two: decoding grows it rarely
            self.table = _first_rows(length, self.config, dtype=dtype, device=x.device)
            cos, sin, _ = self.table
        return RotaryTable(cos[start:stop], sin[start:stop], self.config)

    def _apply(self, fn, recurse=True):
        """Follow ``module.to(device)`` with the table, but never its dtype."""
        super()._apply(fn, recurse)
        device = fn(torch.empty(0)).device
        if device != self.table.cos.device:
            length, dtype = self.table.cos.shape[0], self.table.cos.dtype
            self.table = _first_rows(length, self.config, dtype=dtype, device=device)
        return self


def _first_rows(
    length: int, config: RotaryConfig, *, dtype: torch.dtype = torch.float32, device: torch.device | None = None
) -> RotaryTable:
    with torch.inference_mode(False):  # a table made while sampling must still serve training
        rows = torch.arange(length, device=device)
        if isinstance(config, RotaryConfig) and config.vectors is not None:
            rows = rows.new_zeros((0, config.axes))  # places come with each call
        return rotary_table(rows, config, dtype=dtype)


def _rotate(x: Tensor, table: RotaryTable, inverse: bool) -> Tensor:
    """`rotate` for an x that is known to be vectors."""
    cos, sin, config = table
    expect_fit(x, cos, config.head_dim)
    if inverse:
        if config.attention_factor != 1:
            raise ValueError(
                f"inverse: expected a turn without an attention factor, got {config.attention_factor}: the "
                "opposite turn would stretch once more; give values and outputs a schedule without one"
            )
        sin = -sin
    while cos.ndim < x.ndim:  # (B, T, planes) -> (B, 1, T, planes): the axes between batch and T share positions
        cos, sin = cos.unsqueeze(-3), sin.unsqueeze(-3)
    turn = _turn_interleaved if config.layout == "interleaved" else _turn_half
    if config.width == config.head_dim:
        return turn(x, cos, sin)
    return torch.cat((turn(x[..., : config.width], cos, sin), x[..., config.width :]), dim=-1)


def _turn_interleaved(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    wide = x.to(cos.dtype)  # half types turn in float32
    if torch.compiler.is_compiling():  # the compiler has no complex numbers; it fuses the real form as well
        a, b = wide.unflatten(-1, (cos.shape[-1], 2)).unbind(-1)
        return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2).to(x.dtype)
    return to_real(to_complex(wide) * torch.complex(cos, sin)).to(x.dtype)


def _turn_half(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    a, b = x.to(cos.dtype).unflatten(-1, (2, cos.shape[-1])).unbind(-2)  # half types turn in float32
    # Each half is cast before they are joined, and joined by stack: the compiler then writes the result once, in its
    # own dtype, in one loop.
    return torch.stack(((a * cos - b * sin).to(x.dtype), (a * sin + b * cos).to(x.dtype)), dim=-2).flatten(-2)


def _expect_vectors_of_planes(vectors: Any) -> tuple[tuple[float, ...], ...]:
    table = expect_real(vectors, name="vectors")
    if table.ndim != 2 or not table.size:
        raise ValueError(
            f"vectors: expected (planes, axes), one row for each plane, got shape {table.shape}; "
            "make them with axial_frequencies(head_dim)"
        )
    return tuple(map(tuple, table.tolist()))
