r"""The complex linear recurrence in linear time, with its gradient and a state to go on from.

>>> v = torch.randn(2, 100, 8)  # (..., T, d)
>>> theta = torch.linspace(0.1, 1.5, 4)
>>> whole, _ = linear_rnn(v, gamma=0.9, theta=theta)
>>> first, state = linear_rnn(v[:, :37], gamma=0.9, theta=theta)
>>> rest, _ = linear_rnn(v[:, 37:], gamma=0.9, theta=theta, state=state)
>>> torch.allclose(torch.cat((first, rest), dim=-2), whole, atol=1e-5)
True
"""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.forward_ad import unpack_dual
from torch.autograd.function import once_differentiable

from rope_lab.algebra.expect import Layout, expect_layout
from rope_lab.nn.complex_planes import as_complex
from rope_lab.nn.expect import expect_vectors, working_dtype
from rope_lab.nn.scan import Rate, rate_of, scan


@torch.compiler.disable
def linear_rnn(
    v: Float[Tensor, "*batch T d"],
    *,
    gamma: Any,
    theta: Any,
    state: Float[Tensor, "*batch d"] | None = None,
    layout: Layout = "interleaved",
) -> tuple[Float[Tensor, "*batch T d"], Float[Tensor, "*batch d"]]:
    r"""Every state of the complex recurrence, and the last one to go on from.

    $h_t = \lambda\, h_{t-1} + \tilde v_t$ with $\lambda = \gamma e^{-\mathrm i\theta}$, computed in chunks of K = 16
    steps: $h_t = \lambda^{t-K} \sum_{s \le t} \lambda^{K-s} \tilde v_s$ in each, and what the chunks end with is such a
    recurrence again, with $\lambda^{16}$

    ``v``: (..., T, d), planes are the pairs (2i, 2i+1), or (i, i + d/2) in the layout "half";
    ``gamma``: numbers from 0 to 1 that broadcast with (..., d/2), such as one, one for each plane, or (heads, 1);
    ``theta``: (d/2,) or one number, radians per step; ``state``: the second result of an earlier call, (..., d), zeros
    if it is None.
    Half types are computed in float32, and the state stays float32. T may be 0. A NaN or infinity in v spoils its own
    plane from its step on. Differentiable once, in v, gamma, theta and state; in forward mode only in v and state, as
    gamma and theta are read as numbers. In a compiled model it runs uncompiled.
    TypeError or ValueError for what does not fit, or a gamma outside of [0, 1]. Claims ``su19.rnn-geometric``,
    ``book.decay-chunks``, ``book.decay-running-sum``, ``book.decay-gradient``.

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
    gamma, theta = _decay(gamma, v, planes, low=0.0), _reals(theta, name="theta")
    if theta.ndim > 1 or theta.numel() not in (1, planes):
        raise ValueError(f"theta: expected {planes} frequencies for v {tuple(v.shape)}, or one number, got shape "
                         f"{tuple(theta.shape)}; give one for each plane")  # fmt: skip
    state = _state(state, v, dtype)
    z = _planes(v.to(dtype), expect_layout(layout))
    z = _states(z, gamma, theta.expand(planes), None if state is None else _planes(state, layout))
    h = _coordinates(z, layout)
    return h.to(v.dtype), _last(h, state)


@torch.compiler.disable
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
    u = _states(x.to(dtype), gamma, None, state)
    return u.to(x.dtype), _last(u, state)


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

    Shows the relation; it holds T matrices of d x value at once. ``gamma`` as in `linear_rnn`, so (heads, 1) too.
    Claim ``su19.lru-retnet``.
    """
    columns = torch.einsum("...tv,...td->v...td", v, k)  # (value, ..., T, d): in front, so that gamma meets the heads
    S, _ = linear_rnn(columns, gamma=gamma, theta=theta)
    return torch.einsum("v...td,...td->...tv", S, q)


def _states(v: Tensor, gamma: Tensor, theta: Tensor | None, state: Tensor | None) -> Tensor:
    """Every state: complex (..., T, planes), or real (..., T, channels) if theta is None."""
    inputs = v, gamma, theta, state
    if any(x is not None and unpack_dual(x).tangent is not None for x in (gamma, theta)):
        raise ValueError("gamma and theta: expected no forward-mode derivative, got one; take the gradient backwards")
    rate = rate_of(gamma, theta)  # read where they are: the scan needs numbers, and only the gradient needs tensors
    if torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in inputs):
        gamma, theta = gamma.to(v.device), None if theta is None else theta.to(v.device)
        return _Recurrence.apply(v, gamma, theta, state, rate)
    return scan(v, rate, state)


def _last(h: Tensor, state: Tensor | None) -> Tensor:
    if h.shape[-2]:
        return h[..., -1, :].clone()
    return h.new_zeros(*h.shape[:-2], h.shape[-1]) if state is None else state.clone()


class _Recurrence(torch.autograd.Function):
    """Forward: the scan. Backward: the same scan from the other end, where the conjugate rate turns the other way."""

    @staticmethod
    def forward(ctx: Any, v: Tensor, gamma: Tensor, theta: Tensor | None, state: Tensor | None, rate: Rate) -> Tensor:
        ctx.rate = rate
        h = scan(v, rate, state)
        ctx.save_for_backward(gamma, theta, state, h)
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        gamma, theta, state, h = ctx.saved_tensors
        if not h.shape[-2]:
            return upstream, *(None if x is None else torch.zeros_like(x) for x in (gamma, theta, state)), None
        back = ctx.rate if theta is None else ctx.rate._replace(theta=tuple(-x for x in ctx.rate.theta))
        grad = scan(upstream.flip(-2), back, None).flip(-2)
        turn = 1 if theta is None else torch.polar(torch.ones_like(theta), -theta)
        to_gamma = to_theta = to_state = None
        if any(ctx.needs_input_grad[1:3]):
            first = torch.zeros_like(h[..., 0, :]) if state is None else state
            before = torch.cat((first[..., None, :], h[..., :-1, :]), dim=-2)  # h_(t-1) beside the gradient at step t
            # h_t = rate h_(t-1) + v_t, so all that is to learn about the rate is one sum over time.
            to_rate = (grad * before.conj()).sum(-2).to(torch.promote_types(h.dtype, torch.float64))
            turned = to_rate.conj() * turn
            to_gamma = turned.real.sum_to_size(gamma.shape)
            to_theta = None if theta is None else (turned.imag * gamma).sum_to_size(theta.shape)
        if state is not None:
            to_state = grad[..., 0, :] * (gamma * turn).conj().to(grad.dtype)
        return grad, to_gamma, to_theta, to_state, None


def _planes(x: Tensor, layout: Layout) -> Tensor:
    """Each pair of coordinates as one complex number."""
    if layout == "half":
        return torch.complex(*x.chunk(2, dim=-1))
    return as_complex(x.unflatten(-1, (-1, 2)))


def _coordinates(z: Tensor, layout: Layout) -> Tensor:
    return torch.cat((z.real, z.imag), dim=-1) if layout == "half" else torch.view_as_real(z).flatten(-2)


def _reals(values: Any, *, name: str) -> Tensor:
    if not isinstance(values, Tensor):
        try:
            values = torch.as_tensor(values, dtype=torch.float64, device="cpu")
        except (TypeError, ValueError, RuntimeError):
            raise TypeError(f"{name}: expected real numbers, got {values!r}; give a number or a tensor") from None
    if values.is_complex() or values.dtype == torch.bool:
        raise TypeError(f"{name}: expected real numbers, got {values.dtype}; the turn is theta, the decay is gamma")
    if not all(map(math.isfinite, values.flatten().tolist())):
        raise ValueError(f"{name}: expected finite numbers, got {values.tolist()}; look for a division by zero")
    return values.double()


def _decay(gamma: Any, x: Tensor, width: int, *, low: float) -> Tensor:
    gamma = _reals(gamma, name="gamma")
    if not all(low <= g <= 1 for g in gamma.flatten().tolist()):
        mend = "a negative one is a turn by pi: add it to theta" if low == 0 else "sequences would grow without bound"
        raise ValueError(f"gamma: expected numbers from {low:g} to 1, got {gamma.tolist()}; {mend}")
    want = (*x.shape[:-2], width)
    fits = all(size in (1, wanted) for size, wanted in zip(reversed(gamma.shape), reversed(want), strict=False))
    if gamma.ndim > len(want) or not fits:
        raise ValueError(f"gamma: expected a shape that broadcasts with {want} (x without T), got "
                         f"{tuple(gamma.shape)}; one for each head is (heads, 1)")  # fmt: skip
    return gamma


def _state(state: Tensor | None, x: Tensor, dtype: torch.dtype) -> Tensor | None:
    if state is None:
        return None
    want = (*x.shape[:-2], x.shape[-1])
    if not isinstance(state, Tensor) or state.shape != want or not state.is_floating_point():
        got = tuple(state.shape) if isinstance(state, Tensor) else repr(state)
        raise ValueError(f"state: expected a real tensor {want}, x without T, got {got}; an earlier call returns one")
    return state.to(dtype)
