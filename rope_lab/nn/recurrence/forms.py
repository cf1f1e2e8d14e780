r"""The complex linear recurrence in linear time, with its gradient and a state to go on from.

>>> v = torch.randn(2, 100, 8)  # (..., T, d)
>>> theta = torch.linspace(0.1, 1.5, 4)
>>> whole, _ = linear_rnn(v, gamma=0.9, theta=theta)
>>> first, state = linear_rnn(v[:, :37], gamma=0.9, theta=theta)
>>> rest, _ = linear_rnn(v[:, 37:], gamma=0.9, theta=theta, state=state)
>>> torch.allclose(torch.cat((first, rest), dim=-2), whole, atol=1e-5)
True
"""

import functools
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.forward_ad import unpack_dual
from torch.autograd.function import once_differentiable

from rope_lab.algebra.arguments import Layout, expect_layout
from rope_lab.nn.complex_planes import to_complex, to_real
from rope_lab.nn.recurrence import compiled
from rope_lab.nn.recurrence.rates import Rate, decay_of, frequencies_of
from rope_lab.nn.recurrence.running_sums import scan
from rope_lab.nn.tensor_arguments import expect_vectors, working_dtype


def uncompiled(f: Callable[..., Any]) -> Callable[..., Any]:
    """Let a compiled model step out of its graph for f; whatever is not compiled does not pay for that."""
    disabled = torch.compiler.disable(f)

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (disabled if torch.compiler.is_compiling() else f)(*args, **kwargs)

    return call


@uncompiled
def linear_rnn(
    v: Float[Tensor, "*batch T d"],
    *,
    gamma: Any,
    theta: Any,
    state: Float[Tensor, "*batch d"] | None = None,
    layout: Layout = "interleaved",
) -> tuple[Float[Tensor, "*batch T d"], Float[Tensor, "*batch d"]]:
    r"""Every state of the complex recurrence, in linear time, and the last one to go on from.

    $h_t = \lambda\, h_{t-1} + \tilde v_t$ with $\lambda = \gamma e^{-\mathrm i\theta}$

    On a CPU with numba it runs as it stands, as a compiled loop (`rope_lab.nn.recurrence.compiled`), otherwise by
    running sums (`rope_lab.nn.recurrence.running_sums`). It is differentiable once, in v, gamma, theta and state; in
    forward mode only in v and state. In a model under torch.compile it runs uncompiled. A NaN or infinity in v spoils
    its own plane from its step on.

    Args:
        v: (..., T, d) with an even d; T may be 0.
        gamma: decays, numbers from 0 to 1 that broadcast with (..., d/2): one, one for each plane, or (heads, 1).
        theta: turns, (d/2,) or one number, in radians per step.
        state: (..., d), the second result of an earlier call; None: zeros.
        layout: which coordinates form a plane.

    Returns:
        All states, (..., T, d), in the dtype of v, and the last one, (..., d), in float32, or float64 for a float64 v.
        Half types are computed in float32.

    Raises:
        TypeError: if v is not a floating-point tensor, or if gamma or theta are not real numbers.
        ValueError: if shapes do not fit, or if a gamma lies outside of [0, 1].

    Claims:
        `su19.rnn-geometric`, `book.decay-chunks`, `book.decay-running-sum`, `book.decay-gradient`

    >>> pulse = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    >>> linear_rnn(pulse, gamma=0.5, theta=torch.pi / 2)[0].mul(4).round().int()
    tensor([[ 4,  0],
            [ 0, -2],
            [-1,  0]], dtype=torch.int32)
    """
    expect_vectors(v)
    if v.shape[-1] % 2 or not v.shape[-1]:
        raise ValueError(f"v: expected (..., T, d) with an even d, got shape {tuple(v.shape)}; planes are pairs")
    planes = v.shape[-1] // 2
    rate = Rate(*decay_of(gamma, (*v.shape[:-2], planes), low=0.0), frequencies_of(theta, planes))
    return _states(v, gamma, theta, state, rate, expect_layout(layout))


@uncompiled
def decay_scan(
    x: Float[Tensor, "*batch T channels"], *, gamma: Any, state: Float[Tensor, "*batch channels"] | None = None
) -> tuple[Float[Tensor, "*batch T channels"], Float[Tensor, "*batch channels"]]:
    r"""The real recurrence: every coordinate decays by itself, and nothing turns.

    $u_t = \gamma\, u_{t-1} + x_t$

    Args:
        x: (..., T, channels).
        gamma: decays, numbers from -1 to 1 that broadcast with (..., channels).
        state: (..., channels), the second result of an earlier call; None: zeros.

    Returns:
        All states, (..., T, channels), and the last one, with the dtypes of `linear_rnn`.

    Raises:
        TypeError, ValueError: as `linear_rnn` does, with gamma in [-1, 1].

    >>> decay_scan(torch.ones(4, 1), gamma=0.5)[0].T
    tensor([[1.0000, 1.5000, 1.7500, 1.8750]])
    """
    expect_vectors(x)
    rate = Rate(*decay_of(gamma, (*x.shape[:-2], x.shape[-1]), low=-1.0), theta=None)
    return _states(x, gamma, None, state, rate, None)


def _states(
    v: Tensor, gamma: Any, theta: Any, state: Tensor | None, rate: Rate, layout: Layout | None
) -> tuple[Tensor, Tensor]:
    """Every state and the last; nothing turns if theta is None, and then there is no layout.

    The forms need gamma and theta as numbers, in ``rate``; only the gradient needs them as tensors.
    """
    x = v if v.dtype == working_dtype(v) else v.to(working_dtype(v))
    state = _state(state, x)
    if _has_tangent(gamma, theta):
        raise ValueError("gamma and theta: expected no forward-mode derivative, got one; take the gradient backwards")
    if torch.is_grad_enabled() and any(isinstance(x, Tensor) and x.requires_grad for x in (v, gamma, theta, state)):
        h = _Recurrence.apply(x, *_learned(gamma, theta, rate, v.device), state, rate, layout)
    else:
        h = _run(x, rate, state, layout)
    if h.shape[-2]:
        last = h.select(-2, -1).clone()
    else:
        last = h.new_zeros(*h.shape[:-2], h.shape[-1]) if state is None else state.clone()
    return h if x is v else h.to(v.dtype), last


def _learned(gamma: Any, theta: Any, rate: Rate, device: torch.device) -> tuple[Tensor, Tensor | None]:
    """gamma and theta in float64, as tensors that a gradient may go to."""
    float64 = functools.partial(torch.tensor, dtype=torch.float64, device=device)
    gamma = gamma.to(device, torch.float64) if isinstance(gamma, Tensor) else float64(rate.gamma).view(rate.shape)
    if rate.theta is None or isinstance(theta, Tensor):
        return gamma, None if theta is None else theta.to(device, torch.float64)
    return gamma, float64(rate.theta)


def _run(v: Tensor, rate: Rate, state: Tensor | None, layout: Layout | None, *, last_first: bool = False) -> Tensor:
    """Every state: by the loop where numbers are in reach and it is compiled, otherwise by running sums."""
    if v.device.type == "cpu" and v.numel() and not _has_tangent(v, state) and (loops := compiled.loops()):
        try:
            values, first = v.numpy(force=True), None if state is None else state.numpy(force=True)
        except RuntimeError:  # in torch.func.vmap no tensor has memory of its own
            pass
        else:
            return torch.from_numpy(compiled.states(values, rate, first, layout, loops, last_first=last_first))
    z = _planes(v.flip(-2) if last_first else v, layout)
    h = _coordinates(scan(z, rate, None if state is None else _planes(state, layout)), layout)
    return h.flip(-2) if last_first else h


def _has_tangent(*inputs: Any) -> bool:
    return any(isinstance(x, Tensor) and unpack_dual(x).tangent is not None for x in inputs)


class _Recurrence(torch.autograd.Function):
    """Backward: the same recurrence from the other end, where the conjugate rate turns the other way."""

    @staticmethod
    def forward(
        ctx: Any, v: Tensor, gamma: Tensor, theta: Tensor | None, state: Tensor | None, rate: Rate, layout: Any
    ) -> Tensor:
        ctx.rate, ctx.layout = rate, layout
        h = _run(v, rate, state, layout)
        ctx.save_for_backward(gamma, theta, *((state, h) if any(ctx.needs_input_grad[1:3]) else ()))
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        gamma, theta, *kept = ctx.saved_tensors
        back = ctx.rate if theta is None else ctx.rate._replace(theta=tuple(-x for x in ctx.rate.theta))
        to_v = _run(upstream, back, None, ctx.layout, last_first=True)
        planes = functools.partial(_planes, layout=ctx.layout)
        turn = 1 if theta is None else torch.polar(torch.ones_like(theta), -theta)
        to_gamma = to_theta = to_state = None
        if kept:
            state, h = kept
            first = h.new_zeros(*h.shape[:-2], h.shape[-1]) if state is None else state
            before = torch.cat((first[..., None, :], h), dim=-2)[..., :-1, :]  # h_(t-1) beside the gradient at step t
            # h_t = rate h_(t-1) + v_t, so all that is to learn about the rate is one sum over time.
            to_rate = (planes(to_v) * planes(before).conj()).sum(-2)
            turned = to_rate.to(torch.promote_types(to_rate.dtype, torch.float64)).conj() * turn
            to_gamma = turned.real.sum_to_size(gamma.shape)
            to_theta = None if theta is None else (turned.imag * gamma).sum_to_size(theta.shape)
        if ctx.needs_input_grad[3]:
            first = planes(to_v[..., :1, :].sum(-2))  # of the first step; 0 where there is none
            to_state = _coordinates(first * (gamma * turn).conj().to(first.dtype), ctx.layout)
        return to_v, to_gamma, to_theta, to_state, None, None


def _planes(x: Tensor, layout: Layout | None) -> Tensor:
    """The numbers that the recurrence runs over: planes, or each coordinate by itself where nothing turns."""
    return x if layout is None else to_complex(x, layout=layout)


def _coordinates(z: Tensor, layout: Layout | None) -> Tensor:
    return z if layout is None else to_real(z, layout=layout)


def _state(state: Tensor | None, x: Tensor) -> Tensor | None:
    if state is None:
        return None
    want = (*x.shape[:-2], x.shape[-1])
    if not isinstance(state, Tensor) or state.shape != want or not state.is_floating_point():
        got = f"{state.dtype} {tuple(state.shape)}" if isinstance(state, Tensor) else repr(state)
        raise ValueError(f"state: expected a real tensor {want}, x without T, got {got}; an earlier call returns one")
    if state.device != x.device:
        raise ValueError(
            f"state: expected it on {x.device}, where the sequence is, got {state.device}; "
            f"move it with .to({str(x.device)!r})"
        )
    return state.to(x.dtype)
