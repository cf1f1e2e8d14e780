r"""The complex linear recurrence in linear time: rotate the values, decay them with real numbers, rotate back.

>>> v = torch.randn(2, 100, 8)  # (..., T, d)
>>> theta = torch.linspace(0.1, 1.5, 4)
>>> whole, _ = linear_rnn(v, gamma=0.9, theta=theta)
>>> first, state = linear_rnn(v[:, :37], gamma=0.9, theta=theta)
>>> rest, _ = linear_rnn(v[:, 37:], gamma=0.9, theta=theta, state=state)
>>> torch.allclose(torch.cat((first, rest), dim=-2), whole, atol=1e-5)
True
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from rope_lab.algebra.expect import Layout, expect_layout
from rope_lab.nn.expect import expect_vectors, working_dtype

STEPS = 16  # steps of a chunk. Chunks advance together, and their carries are a sequence 16 times as short ...
LAST = 64  # ... until no more than this are left, which are one chunk: a level more costs more than their steps.


def linear_rnn(
    v: Float[Tensor, "*batch T d"],
    *,
    gamma: Any,
    theta: Any,
    state: Float[Tensor, "*batch d"] | None = None,
    layout: Layout = "interleaved",
) -> tuple[Float[Tensor, "*batch T d"], Float[Tensor, "*batch d"]]:
    r"""Every state of the complex recurrence, and the last one to go on from.

    $h_t = \gamma\, e^{-\mathrm i\theta}\, h_{t-1} + \tilde v_t$, computed as
    $u_t = \gamma u_{t-1} + e^{\mathrm i t\theta} \tilde v_t,\ h_t = e^{-\mathrm i t\theta} u_t$ in chunks of 16 steps,
    each with a frame of its own; what chunks hand on is such a recurrence again, with $\gamma^{16}$ and $16\,\theta$

    ``v``: (..., T, d), planes are the pairs (2i, 2i+1), or (i, i + d/2) in the layout "half";
    ``gamma``: numbers from 0 to 1 that broadcast with (..., d/2), such as one, one for each plane, or (heads, 1);
    ``theta``: (d/2,) or one number, radians per step; ``state``: the second result of an earlier call, (..., d), zeros
    if it is None.
    Half types are computed in float32, and the state stays float32. T may be 0. A NaN or infinity in v spoils its own
    plane from its step on. Differentiable once, in v, gamma, theta and state. TypeError or ValueError for what does
    not fit, or a gamma outside of [0, 1]. Claims ``su19.rnn-geometric``, ``book.decay-frame``, ``book.decay-gradient``.

    >>> pulse = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    >>> linear_rnn(pulse, gamma=0.5, theta=torch.pi / 2)[0].mul(4).round().int()
    tensor([[ 4,  0],
            [ 0, -2],
            [-1,  0]], dtype=torch.int32)
    """
    expect_vectors(v)
    if v.shape[-1] % 2 or not v.shape[-1]:
        raise ValueError(f"v: expected (..., T, d) with an even d, got shape {tuple(v.shape)}; planes are pairs")
    planes, dtype = v.shape[-1] // 2, working_dtype(v)
    gamma, theta = _decay(gamma, v, planes, low=0.0), _reals(theta, name="theta").to(v.device)
    if theta.ndim > 1 or theta.numel() not in (1, planes):
        raise ValueError(f"theta: expected {planes} frequencies for v {tuple(v.shape)}, or one number, got shape "
                         f"{tuple(theta.shape)}; give one for each plane")  # fmt: skip
    state = _state(state, v, dtype)
    if expect_layout(layout) == "half":
        h, last = linear_rnn(_shuffled(v, (2, planes)), gamma=gamma, theta=theta, state=_shuffled(state, (2, planes)))
        return _shuffled(h, (planes, 2)), _shuffled(last, (planes, 2))
    h = _Recurrence.apply(v.to(dtype), gamma, theta.expand(planes), state)
    last = h[..., -1, :] if v.shape[-2] else state
    return h.to(v.dtype), last.clone()


def decay_scan(
    x: Float[Tensor, "*batch T channels"], *, gamma: Any, state: Float[Tensor, "*batch channels"] | None = None
) -> tuple[Float[Tensor, "*batch T channels"], Float[Tensor, "*batch channels"]]:
    r"""The real recurrence: every coordinate decays by itself, and nothing turns.

    $u_t = \gamma\, u_{t-1} + x_t$

    ``gamma``: numbers from -1 to 1 that broadcast with (..., channels). All else as in `linear_rnn`.

    >>> decay_scan(torch.ones(4, 1), gamma=0.5)[0].T
    tensor([[1.0000, 1.5000, 1.7500, 1.8750]])
    """
    expect_vectors(x)
    dtype = working_dtype(x)
    gamma, state = _decay(gamma, x, x.shape[-1], low=-1.0), _state(state, x, dtype)
    u = _Recurrence.apply(x.to(dtype), gamma, None, state)
    last = u[..., -1, :] if x.shape[-2] else state
    return u.to(x.dtype), last.clone()


def retention(
    q: Float[Tensor, "*batch T d"],
    k: Float[Tensor, "*batch T d"],
    v: Float[Tensor, "*batch T value"],
    *,
    gamma: Any,
    theta: Any,
) -> Float[Tensor, "*batch T value"]:
    r"""RetNet's retention as this recurrence: each column of $k_t v_t^\top$ is a sequence of its own.

    $S_t = \gamma e^{-\mathrm i\theta} S_{t-1} + k_t v_t^\top, \quad o_t = S_t^\top q_t$

    Shows the relation; it holds T matrices of d x value at once. ``gamma``: one number. Claim ``su19.lru-retnet``.
    """
    columns = v.transpose(-1, -2)[..., None] * k[..., None, :, :]  # (..., value, T, d)
    S, _ = linear_rnn(columns, gamma=gamma, theta=theta)
    return torch.einsum("...vtd,...td->...tv", S, q)


class _Recurrence(torch.autograd.Function):
    """Forward: the scan. Backward: the same scan from the other end, where the conjugate rate turns the other way."""

    @staticmethod
    def forward(ctx: Any, v: Tensor, gamma: Tensor, theta: Tensor | None, state: Tensor) -> Tensor:
        h = _scan(v, gamma, theta, state)
        ctx.save_for_backward(gamma, theta, state, h)
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        gamma, theta, state, h = ctx.saved_tensors
        if not h.shape[-2]:
            return upstream, *(None if x is None else torch.zeros_like(x) for x in (gamma, theta, state))
        grad = _scan(upstream, gamma, theta, None, reverse=True)
        before = torch.cat((state[..., None, :], h[..., :-1, :]), dim=-2)  # h_(t-1) beside the gradient at step t
        if theta is None:
            to_gamma = (grad * before).sum(-2).double().sum_to_size(gamma.shape)
            return grad, to_gamma, None, grad[..., 0, :] * gamma.to(grad.dtype)
        # In complex numbers h_t = rate h_(t-1) + v_t, so all that is to learn about the rate is one sum over time.
        unit = torch.polar(torch.ones_like(theta), -theta)
        to_rate = (_complex(grad) * _complex(before).conj()).sum(-2).to(torch.complex128)
        turned = to_rate.conj() * unit
        to_state = _complex(grad[..., 0, :]) * (gamma * unit.conj()).to(to_rate.dtype)
        return (grad, turned.real.sum_to_size(gamma.shape), (turned.imag * gamma).sum_to_size(theta.shape),
                torch.view_as_real(to_state).flatten(-2).to(grad.dtype))  # fmt: skip


def _scan(v: Tensor, gamma: Tensor, theta: Tensor | None, state: Tensor | None, *, reverse: bool = False) -> Tensor:
    """Every state, (..., T, width). All chunks take their first step together, then all their second, and so on."""
    *batch, length, width = v.shape
    if not v.numel():
        return v.clone()
    steps = length if length <= LAST else STEPS
    chunks = -(-length // steps)
    if spare := steps * chunks - length:  # zeros at the end change nothing, from either side
        v = torch.nn.functional.pad(v, (0, 0, 0, spare))
    v = v.reshape(-1, chunks, steps, width)
    rate = _rate(gamma, batch, width).to(v.dtype)  # rounded from float64 at each level: its powers do not drift
    turns = None if theta is None else _turns(theta, steps, v.dtype, reverse)
    # Each of y is (rows, chunks, width), contiguous: what reaches a chunk comes first, its steps follow.
    y = v.new_empty(steps + 1, v.shape[0], chunks, width)
    _turned(v.permute(2, 0, 1, 3), None if turns is None else turns[:, None, None], out=y[:-1] if reverse else y[1:])
    reaching, *inside = reversed(y.unbind(0)) if reverse else y.unbind(0)
    reaching[:, -1 if reverse else 0] = 0 if state is None else state.reshape(-1, width)
    if chunks > 1:
        ends = inside[0].clone()  # what each chunk alone hands on
        for x in inside[1:]:
            torch.addcmul(x, ends, rate, out=ends)
        if turns is not None:
            _complex(ends).mul_(turns[0 if reverse else -1].conj())
        carried = _scan(ends.view(*batch, chunks, width), gamma**steps, None if theta is None else steps * theta,
                        state, reverse=reverse).view_as(ends)  # fmt: skip
        into, of = (slice(None, -1), slice(1, None)) if reverse else (slice(1, None), slice(None, -1))
        reaching[:, into] = carried[:, of]
    for x in inside:
        reaching = torch.addcmul(x, reaching, rate, out=x)
    out = torch.empty_like(v)
    _turned((y[:-1] if reverse else y[1:]).permute(1, 2, 0, 3), None if turns is None else turns.conj(), out=out)
    out = out.view(*batch, steps * chunks, width)
    return out[..., :length, :] if spare else out


def _turns(theta: Tensor, steps: int, dtype: torch.dtype, reverse: bool) -> Tensor:
    """(steps, planes): the turn of a chunk's frame at each of its steps, counted from the end where it begins."""
    count = torch.arange(-steps, 0, device=theta.device) if reverse else torch.arange(1, steps + 1, device=theta.device)
    angles = count[:, None] * theta  # float64, as theta is
    return torch.complex(angles.cos().to(dtype), angles.sin().to(dtype))


def _turned(x: Tensor, turns: Tensor | None, *, out: Tensor) -> None:
    if turns is None:
        out.copy_(x)
    else:
        torch.mul(_complex(x), turns, out=_complex(out))


def _rate(gamma: Tensor, batch: list[int], width: int) -> Tensor:
    """gamma as one number, (1, 1, width) or (rows, 1, width); both coordinates of a plane have the plane's."""
    if gamma.numel() == 1:
        return gamma.view(())
    if gamma.shape[-1] != width:
        gamma = gamma.repeat_interleave(2, dim=-1)
    return gamma.expand(*batch, width).reshape(-1, 1, width) if gamma.ndim > 1 else gamma


def _shuffled(x: Tensor, sizes: tuple[int, int]) -> Tensor:
    """(2, planes): from halves to neighbours; (planes, 2): back."""
    return x.unflatten(-1, sizes).transpose(-1, -2).flatten(-2)


def _complex(x: Tensor) -> Tensor:
    return torch.view_as_complex(x.unflatten(-1, (-1, 2)))


def _reals(values: Any, *, name: str) -> Tensor:
    if not isinstance(values, Tensor):
        try:
            values = torch.as_tensor(values, dtype=torch.float64)
        except (TypeError, ValueError, RuntimeError):
            raise TypeError(f"{name}: expected real numbers, got {values!r}; give a number or a tensor") from None
    if values.is_complex() or values.dtype == torch.bool:
        raise TypeError(f"{name}: expected real numbers, got {values.dtype}; the turn is theta, the decay is gamma")
    if not torch.compiler.is_compiling() and not values.isfinite().all():
        raise ValueError(f"{name}: expected finite numbers, got {values.tolist()}; look for a division by zero")
    return values.double()


def _decay(gamma: Any, x: Tensor, width: int, *, low: float) -> Tensor:
    gamma = _reals(gamma, name="gamma").to(x.device)
    if not torch.compiler.is_compiling() and not ((gamma >= low) & (gamma <= 1)).all():
        mend = "a negative one is a turn by pi: add it to theta" if low == 0 else "sequences would grow without bound"
        raise ValueError(f"gamma: expected numbers from {low:g} to 1, got {gamma.tolist()}; {mend}")
    want = (*x.shape[:-2], width)
    try:
        fits = torch.broadcast_shapes(gamma.shape, want) == want
    except RuntimeError:
        fits = False
    if not fits:
        raise ValueError(f"gamma: expected a shape that broadcasts with {want} (x without T), got "
                         f"{tuple(gamma.shape)}; one for each head is (heads, 1)")  # fmt: skip
    return gamma.expand(*gamma.shape[:-1], width) if gamma.numel() > 1 else gamma


def _state(state: Tensor | None, x: Tensor, dtype: torch.dtype) -> Tensor:
    want = (*x.shape[:-2], x.shape[-1])
    if state is None:
        return x.new_zeros(want, dtype=dtype)
    if not isinstance(state, Tensor) or state.shape != want or not state.is_floating_point():
        got = tuple(state.shape) if isinstance(state, Tensor) else repr(state)
        raise ValueError(f"state: expected a real tensor {want}, x without T, got {got}; an earlier call returns one")
    return state.to(dtype)
