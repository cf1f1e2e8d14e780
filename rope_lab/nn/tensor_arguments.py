"""What the layers expect of tensors. A refusal says what was expected, what came, and how to fix it."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rope_lab.algebra.arguments import expect_real


def expect_positions(positions: Any) -> Tensor:
    """Return ``positions`` as a tensor (T,) or (B, T) of finite real numbers, on its own device if it was one."""
    positions = _expect_finite(positions)
    if positions.ndim not in (1, 2):
        raise ValueError(
            f"positions: expected (T,) or (B, T), got shape {tuple(positions.shape)}; write one position as [n]"
        )
    return positions


def expect_places(places: Any, *, axes: int) -> Tensor:
    """Return ``places`` as a tensor (T, axes) or (B, T, axes) of finite real numbers, as `expect_positions` does."""
    places = _expect_finite(places)
    if places.ndim not in (2, 3) or places.shape[-1] != axes:
        raise ValueError(
            f"positions: expected (T, {axes}) or (B, T, {axes}), one coordinate for each axis, got shape "
            f"{tuple(places.shape)}; write one place as [[{', '.join('xyz'[:axes])}]]"
        )
    return places


def _expect_finite(positions: Any) -> Tensor:
    if not isinstance(positions, Tensor):
        array = expect_real(positions, name="positions")
        _expect_wide(np.asarray(positions).dtype, np.finfo)
        positions = torch.from_numpy(array)
    if positions.dtype == torch.bool or positions.is_complex():
        raise TypeError(f"positions: expected real numbers, got dtype {positions.dtype}; a mask says which, not where")
    if positions.is_floating_point():
        _expect_wide(positions.dtype, torch.finfo)
    # Looking at values would break a compiled graph; integers are always finite.
    if positions.is_floating_point() and not torch.compiler.is_compiling() and not positions.isfinite().all():
        first = positions[~positions.isfinite()][0].item()
        raise ValueError(f"positions: expected finite numbers, got {first}; look for a division by zero")
    return positions


def _expect_wide(dtype: Any, finfo: Any) -> None:
    """Refuse positions in a half type: a table in float64 cannot bring back what a cast of the positions has lost."""
    if dtype.itemsize < 4 and (dtype.is_floating_point if isinstance(dtype, torch.dtype) else dtype.kind == "f"):
        lost = f"{2 / float(finfo(dtype).eps) + 1:.0f}"
        raise TypeError(
            f"positions: expected integers, float32 or float64, got {dtype}, which has no {lost}; keep them in int64 "
            "from torch.arange on: a cast back comes too late"
        )


def expect_standing(positions: Any, shape: Sequence[int], *, axes: int | None = None) -> Tensor:
    """Return where the tokens of ``shape`` (..., T) stand: (T,) or (B, T), and behind these ``axes`` if not None."""
    found = expect_positions(positions) if axes is None else expect_places(positions, axes=axes)
    each = tuple(found.shape if axes is None else found.shape[:-1])
    if each[-1] != shape[-1] or (len(each) == 2 and (len(shape) < 2 or each[0] not in (1, shape[0]))):
        raise ValueError(
            f"positions: expected one for each token, (T,) or (B, T) of {tuple(shape)}, got {each}; give those of the "
            "new tokens alone: earlier ones are turned already"
        )
    return found


def expect_mask(mask: Any, shape: Sequence[int], *, keys: int) -> Tensor:
    """Return who may look where, as attention takes it: (..., 1, T, keys) for queries of ``shape`` (..., T)."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        got = f"dtype {mask.dtype}" if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(
            f"mask: expected a tensor of booleans, true where one may look, got {got}; write order[:, None] >= order"
        )
    batch = mask.shape[:-2]
    if mask.shape[-2:] != (shape[-1], keys) or (batch and batch != torch.Size(shape[:-1])):
        raise ValueError(
            f"mask: expected ({shape[-1]}, {keys}), a row for each new token and a column for each token held or new, "
            f"or one such for each text of the batch, got {tuple(mask.shape)}; columns stand in the order of the cache"
        )
    if not torch.compiler.is_compiling() and not mask.any(-1).all():
        raise ValueError("mask: expected a token to look at for each, got a row without one; let each see itself")
    return mask.unsqueeze(-3)


def expect_floating(x: Any, *, name: str = "x") -> None:
    """Refuse an ``x`` that is not a tensor of real floating-point numbers."""
    if not isinstance(x, Tensor) or not x.is_floating_point():
        got = f"dtype {x.dtype}" if isinstance(x, Tensor) else type(x).__name__
        raise TypeError(
            f"{name}: expected a real floating-point tensor, got {got}; convert with torch.as_tensor({name}).float()"
        )


def expect_vectors(x: Any, *, name: str = "x") -> None:
    """Refuse an ``x`` that is not a real floating-point tensor (..., T, head_dim)."""
    expect_floating(x, name=name)
    if x.ndim < 2:
        raise ValueError(
            f"{name}: expected (..., T, head_dim), got shape {tuple(x.shape)}; write one vector as {name}[None, :]"
        )


def expect_tokens(tokens: Any) -> None:
    """Refuse what is not a tensor of whole numbers. Values are not looked at: a GPU would have to be waited for."""
    if not isinstance(tokens, Tensor) or tokens.dtype not in (torch.int32, torch.int64):
        got = f"dtype {tokens.dtype}" if isinstance(tokens, Tensor) else type(tokens).__name__
        raise TypeError(
            f"tokens: expected a tensor of int64 or int32, got {got}; convert with torch.as_tensor(tokens).long()"
        )


def expect_prompt(tokens: Any, *, vocab_size: int) -> None:
    """Refuse a prompt that is not (batch, T) of token numbers, with T of at least 1."""
    expect_tokens(tokens)
    if tokens.ndim != 2:
        raise ValueError(f"tokens: expected (batch, T), got {tuple(tokens.shape)}; write one text as tokens[None]")
    if tokens.shape[1] == 0:
        raise ValueError("tokens: expected at least one token to continue, got none: begin with a token of your own")
    expect_vocabulary(tokens, vocab_size=vocab_size)


def expect_vocabulary(tokens: Tensor, *, vocab_size: int) -> None:
    """Refuse numbers that the vocabulary lacks. This looks at values, and so waits for the GPU that may hold them."""
    if tokens.numel() and not 0 <= tokens.min() <= tokens.max() < vocab_size:
        raise ValueError(
            f"tokens: expected numbers from 0 to {vocab_size - 1}, got {tokens.min().item()} to {tokens.max().item()}; "
            "take the tokenizer that the model was trained with"
        )


def expect_weights(x: Tensor, weight: Tensor) -> None:
    """Refuse an ``x`` in another dtype than the weights that multiply it, unless autocast brings the two together."""
    if x.dtype == weight.dtype:
        return
    if torch.float64 in (x.dtype, weight.dtype) or not torch.is_autocast_enabled(x.device.type):
        raise TypeError(
            f"x: expected {weight.dtype}, the dtype of the layer's weights, got {x.dtype}; "
            f"convert one of the two: x.to({weight.dtype}), or the layer with .to({x.dtype})"
        )


def expect_stream(x: Any, weight: Tensor, *, d_model: int) -> None:
    """Refuse an ``x`` that is not (..., T, d_model) in the dtype of ``weight``, the matrix that multiplies it first."""
    expect_floating(x)
    if x.ndim < 2 or x.shape[-1] != d_model:
        raise ValueError(
            f"x: expected (..., T, d_model) with d_model = {d_model}, got {tuple(x.shape)}; "
            "the layer is as wide as the stream that it reads"
        )
    expect_weights(x, weight)


def expect_heads(q: Any, k: Any, v: Any) -> None:
    """Refuse queries, keys and values that do not fit each other; each is (..., heads, tokens, width)."""
    for name, x in (("q", q), ("k", k), ("v", v)):
        expect_vectors(x, name=name)
    if not q.dtype == k.dtype == v.dtype and not torch.is_autocast_enabled(q.device.type):
        raise TypeError(
            f"attend: expected q, k and v in one dtype, got {q.dtype}, {k.dtype}, {v.dtype}; convert with .to(q.dtype)"
        )
    if k.shape[-2] < q.shape[-2] or v.shape[-2] != k.shape[-2]:
        raise ValueError(
            f"attend: expected as many values as keys, and no fewer than queries, got {q.shape[-2]} queries, "
            f"{k.shape[-2]} keys, {v.shape[-2]} values; the queries are the last tokens of the keys"
        )
    got = f"got q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}"
    if q.shape[-1] != k.shape[-1] or q.shape[-1] == 0:
        raise ValueError(f"attend: expected q and k of one head_dim, at least 1, {got}; a score is their product")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2] and not _serve(q.shape[:-2], k.shape[:-2], v.shape[:-2]):
        raise ValueError(
            f"attend: expected as many heads of values as of keys, a divisor of the heads of queries, and batches that "
            f"broadcast, {got}; give each as (..., heads, tokens, head_dim)"
        )


def _serve(q: torch.Size, k: torch.Size, v: torch.Size) -> bool:
    """Does each head of k and v serve a whole number of q's heads? The axes before the heads may be broadcast."""
    if k != v or not q or not k or k[-1] == 0 or q[-1] % k[-1]:
        return False
    return all(m == n or 1 in (m, n) for m, n in zip(q[-2::-1], k[-2::-1], strict=False))


def expect_fit(x: Tensor, cos: Tensor, head_dim: int) -> None:
    """Refuse vectors x, (..., T, head_dim), that the table of ``cos`` was not built for."""
    if x.shape[-1] != head_dim:
        raise ValueError(
            f"x: expected (..., T, {head_dim}) for head_dim={head_dim}, got shape {tuple(x.shape)}; "
            "split the heads first, or configure this head_dim"
        )
    if x.shape[-2] != cos.shape[-2]:
        raise ValueError(
            f"positions: expected one for each of the {x.shape[-2]} tokens of x {tuple(x.shape)}, got {cos.shape[-2]}; "
            "the axis before the last is T: move the heads in front of it"
        )
    if cos.ndim == 3 and (x.ndim < 3 or cos.shape[0] not in (1, x.shape[0])):
        raise ValueError(
            f"positions: expected (T,) or ({x.shape[0]}, T) for x {tuple(x.shape)}, got {tuple(cos.shape[:2])}; "
            "the first axis of both is the batch"
        )
    if cos.dtype != working_dtype(x):
        raise TypeError(
            f"table: expected {working_dtype(x)} for x of {x.dtype}, got {cos.dtype}; "
            f"build it with rotary_table(..., dtype={working_dtype(x)})"
        )


def expect_count(value: Any, *, name: str, fix: str = "count from 0") -> int:
    """Return ``value`` as an int if it is one and not negative (under the compiler it may be a symbolic one)."""
    if isinstance(value, bool) or not isinstance(value, (Integral, torch.SymInt)):
        raise TypeError(f"{name}: expected an integer of at least 0, got {value!r}; {fix}")
    if value < 0:
        raise ValueError(f"{name}: expected an integer of at least 0, got {value}; {fix}")
    if isinstance(value, torch.SymInt):
        return value  # type: ignore[return-value]  # a symbolic int counts as one
    return int(value)


def working_dtype(x: Tensor) -> torch.dtype:
    """The precision in which ``x`` turns: float64 in its own, everything else in float32."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32
