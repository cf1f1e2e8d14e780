"""The fast recurrence equals its definition, in value and gradient; its state resumes; what does not fit is refused.

All of it twice: as the compiled loop, and as running sums, which readers without numba and accelerators have.
"""

import io

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra import recurrence as slow
from rope_lab.nn.recurrence import compiled, running_sums
from rope_lab.nn.recurrence.forms import decay_scan, linear_rnn
from tests.nn import peer

LENGTHS = st.one_of(st.integers(0, 40), st.sampled_from([64, 65, 255, 257]))


@pytest.fixture(scope="module", autouse=True, params=["compiled loop", "running sums"])
def form(request):
    if request.param == "compiled loop":
        peer.load("numba")
        yield request.param
    else:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compiled, "loops", lambda: None)
            yield request.param


@st.composite
def cases(draw):
    planes, length, batch = draw(st.integers(1, 3)), draw(LENGTHS), draw(st.lists(st.integers(1, 2), max_size=2))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 999)))
    v = torch.randn(*batch, length, 2 * planes, generator=generator, dtype=torch.float64)
    shape = draw(st.sampled_from([(), (planes,), (*batch, planes), (*batch, 1)]))
    gamma = torch.rand(shape, generator=generator, dtype=torch.float64)
    return v, gamma, torch.randn(planes, generator=generator).double()


def reference(v, gamma, theta):
    planes, rows = v.shape[-1] // 2, v.flatten(0, -3) if v.ndim > 2 else v[None]
    decays = gamma.expand(*v.shape[:-2], planes).reshape(-1, planes)
    found = [slow.recurrent(x.numpy(), gamma=g.numpy(), theta=theta.numpy()) for x, g in zip(rows, decays, strict=True)]
    return torch.from_numpy(np.array(found)).reshape(v.shape)


@pytest.mark.deep(keep=1)
@given(cases())
def test_equals_the_definition(case):
    v, gamma, theta = case
    h, state = linear_rnn(v, gamma=gamma, theta=theta)
    torch.testing.assert_close(h, reference(v, gamma, theta), rtol=0, atol=1e-10)
    if v.shape[-2]:
        assert torch.equal(state, h[..., -1, :])
    else:
        assert not state.any()


def test_control_the_other_sense_of_turning():
    v, theta = torch.randn(50, 2, dtype=torch.float64), torch.tensor([1.0])
    assert (linear_rnn(v, gamma=0.9, theta=-theta)[0] - linear_rnn(v, gamma=0.9, theta=theta)[0]).abs().max() > 0.1


@given(cases())
def test_halves_are_neighbours_in_another_order(case):
    v, gamma, theta = case
    order = torch.arange(v.shape[-1]).view(-1, 2).T.flatten()  # half-split: all first coordinates, then all second ones
    state = torch.randn(*v.shape[:-2], v.shape[-1], dtype=v.dtype)
    for found, expected in zip(
        linear_rnn(v[..., order], gamma=gamma, theta=theta, state=state[..., order], layout="half"),
        linear_rnn(v, gamma=gamma, theta=theta, state=state),
        strict=True,
    ):
        assert torch.equal(found, expected[..., order])


def test_control_another_layout_is_another_recurrence():
    v = torch.ones(9, 4)
    h = [linear_rnn(v, gamma=0.9, theta=[1.0, 0.2], layout=layout)[0] for layout in ("half", "interleaved")]
    assert (h[0] - h[1]).abs().max() > 0.1


@pytest.mark.deep(keep=1)
@given(cases(), st.integers(0, 260))
def test_a_saved_state_resumes(case, cut):
    v, gamma, theta = case
    whole, end = linear_rnn(v, gamma=gamma, theta=theta)
    first, state = linear_rnn(v[..., :cut, :], gamma=gamma, theta=theta)
    torch.save(state, disk := io.BytesIO())
    disk.seek(0)
    rest, last = linear_rnn(v[..., cut:, :], gamma=gamma, theta=theta, state=torch.load(disk))
    torch.testing.assert_close(torch.cat((first, rest), dim=-2), whole, rtol=0, atol=1e-10)
    torch.testing.assert_close(last, end, rtol=0, atol=1e-10)


@pytest.mark.deep(keep=4)
@pytest.mark.parametrize("length", [1, 5, 17, 300])
@pytest.mark.parametrize("shape", [(), (2,), (2, 1), (2, 2)])
def test_gradients(length, shape):
    v = torch.randn(2, length, 4, dtype=torch.float64, requires_grad=True)
    gamma = (0.2 + 0.7 * torch.rand(shape, dtype=torch.float64)).requires_grad_()
    theta = torch.randn(2, dtype=torch.float64, requires_grad=True)
    state = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    call = lambda v, g, t, s: linear_rnn(v, gamma=g, theta=t, state=s)  # noqa: E731
    assert torch.autograd.gradcheck(call, (v, gamma, theta, state), fast_mode=length > 5)
    real = (0.9 - 1.8 * torch.rand((4,) if shape else (), dtype=torch.float64)).requires_grad_()
    call = lambda v, g, s: decay_scan(v, gamma=g, state=s)  # noqa: E731
    assert torch.autograd.gradcheck(call, (v, real, state), fast_mode=length > 5)


def test_control_the_gradient_turns_back():
    """With the wrong direction of turning, the adjoint of the scan would be another."""
    v = torch.randn(20, 2, dtype=torch.float64, requires_grad=True)
    upstream = torch.randn(20, 2, dtype=torch.float64)
    (found,) = torch.autograd.grad(linear_rnn(v, gamma=0.9, theta=1.0)[0], v, upstream)
    backwards = linear_rnn(upstream.flip(0), gamma=0.9, theta=-1.0)[0].flip(0)
    torch.testing.assert_close(found, backwards)
    assert (found - linear_rnn(upstream.flip(0), gamma=0.9, theta=1.0)[0].flip(0)).abs().max() > 0.1


@pytest.mark.parametrize("gamma", [0.1, 0.5, 0.6, 0.78, 0.99, 0.9999, 1.0])  # below 0.595 a chunk of 32 is a loop
def test_single_precision_keeps_its_digits(gamma, form):
    generator = torch.Generator().manual_seed(0)
    v, theta = torch.randn(20_000, 8, generator=generator), torch.tensor([1.0, 0.3, 0.01, 3.1])
    exact, _ = linear_rnn(v.double(), gamma=gamma, theta=theta)
    found, _ = linear_rnn(v, gamma=gamma, theta=theta)
    assert float((found - exact).norm() / exact.norm()) < (5e-8 if form == "compiled loop" else 5e-7)


@pytest.mark.parametrize("axes", [(), (3,), (2, 3)])
def test_no_steps_at_all_leave_the_state_as_it_was(axes):
    nothing, state = torch.zeros(*axes, 0, 8), torch.randn(*axes, 8)
    for scan in (
        lambda **kept: linear_rnn(nothing, gamma=0.5, theta=1.0, **kept),
        lambda **kept: decay_scan(nothing, gamma=0.5, **kept),
    ):
        h, last = scan()
        assert h.shape == nothing.shape
        assert torch.equal(last, torch.zeros(*axes, 8))
        assert torch.equal(scan(state=state)[1], state)


def test_real_decay_is_the_loop_also_below_zero():
    x, gamma = torch.randn(3, 100, 4, dtype=torch.float64), torch.tensor([0.9, -0.9, 0.0, 1.0], dtype=torch.float64)
    u, expected = torch.zeros(3, 4, dtype=torch.float64), []
    for t in range(100):
        u = gamma * u + x[:, t]
        expected.append(u)
    torch.testing.assert_close(decay_scan(x, gamma=gamma)[0], torch.stack(expected, dim=1))


def test_half_types_compute_in_float32():
    v = torch.randn(40, 4).bfloat16()
    h, state = linear_rnn(v, gamma=0.9, theta=[1.0, 0.2])
    exact, _ = linear_rnn(v.float(), gamma=0.9, theta=[1.0, 0.2])
    assert (h.dtype, state.dtype) == (torch.bfloat16, torch.float32)
    assert torch.equal(h, exact.bfloat16())


def test_a_nan_spoils_its_plane_from_its_step_on():
    v = torch.randn(100, 4)
    v[37, 1] = torch.nan
    h, _ = linear_rnn(v, gamma=0.9, theta=[1.0, 0.2])
    assert h[:37].isfinite().all()
    assert h[:, 2:].isfinite().all()
    assert h[37, 1].isnan()
    assert h[38:, :2].isnan().all()


@pytest.mark.parametrize("scale", [1e36, 1e-30])
@pytest.mark.parametrize("gamma", [0.1, 0.6, 0.99])
def test_powers_do_not_leave_the_range_of_numbers(gamma, scale):
    """Nothing on the way overflows where h does not; values far above the smallest normal number keep their digits."""
    v = torch.rand(200, 4, generator=torch.Generator().manual_seed(0))
    small, _ = linear_rnn(v, gamma=gamma, theta=[1.0, 0.2])
    large, _ = linear_rnn(v * scale, gamma=gamma, theta=[1.0, 0.2])
    torch.testing.assert_close(large / scale, small, rtol=0, atol=1e-5)


def test_a_rate_that_was_changed_in_place_is_another():
    v, gamma, theta = torch.randn(100, 4), torch.tensor(0.9), torch.tensor([1.0, 0.25])
    linear_rnn(v, gamma=gamma, theta=theta)
    gamma.fill_(0.5)
    theta.mul_(2)
    found, _ = linear_rnn(v, gamma=gamma, theta=theta)
    assert torch.equal(found, linear_rnn(v, gamma=0.5, theta=[2.0, 0.5])[0])


@pytest.mark.deep(keep=1)
def test_tables_of_large_rates_are_not_kept(form):
    """A decay for each row of a large batch: sixteen such tables would hold many times the memory of v."""
    v, gamma, theta = torch.randn(64, 16, 20, 16), 0.9 + 0.1 * torch.rand(64, 16, 1), torch.rand(8)
    running_sums._tables.cache_clear()
    h, _ = linear_rnn(v, gamma=gamma, theta=theta)
    assert running_sums._tables.cache_info().currsize == 0
    torch.testing.assert_close(h[:1], linear_rnn(v[:1], gamma=gamma[:1], theta=theta)[0])
    assert running_sums._tables.cache_info().currsize == (form == "running sums")


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_any_place_in_memory(layout):
    rows = torch.randn(50, 5)
    for v in (rows[:, 1:], rows[:, :4].T.contiguous().T, rows[::2, :4], rows[:1, :4].expand(50, 4)):
        call = lambda x: linear_rnn(x, gamma=0.9, theta=[1.0, 0.2], layout=layout)[0]  # noqa: E731
        torch.testing.assert_close(call(v), call(v.clone(memory_format=torch.contiguous_format)))


def test_windows_that_overlap():
    rows = torch.arange(500.0).unfold(0, 96, 8)[:, :, None]  # (windows, 96, 1)
    torch.testing.assert_close(decay_scan(rows, gamma=0.9), decay_scan(rows.clone(), gamma=0.9))


@pytest.mark.parametrize("length", [31, 32, 70, 96])
def test_results_lie_whole_in_memory(length):
    for layout in ("interleaved", "half"):
        h, last = linear_rnn(torch.randn(3, length, 4), gamma=0.9, theta=1.0, layout=layout)
        assert h.is_contiguous()
        assert last.is_contiguous()
        assert h.untyped_storage().nbytes() == 4 * h.numel()


def test_only_a_rate_that_learns_keeps_the_states(form):
    v, gamma = torch.ones(3, 2, requires_grad=True), torch.tensor(0.5, requires_grad=True)
    h, _ = linear_rnn(v, gamma=0.5, theta=1.0)
    if form == "compiled loop":
        h += 1
        h.sum().backward()
        assert v.grad is not None
    h, _ = linear_rnn(v.detach(), gamma=gamma, theta=1.0)
    with pytest.raises(RuntimeError, match=r"in-?place"):
        h.add_(1).sum().backward()


def test_a_state_from_inference():
    v = torch.ones(3, 2, requires_grad=True)
    with torch.inference_mode():
        _, state = linear_rnn(torch.ones(3, 2), gamma=0.5, theta=1.0)
    h, _ = linear_rnn(v, gamma=0.5, theta=1.0, state=state)
    h.sum().backward()
    assert v.grad.isfinite().all()


def test_gradients_of_no_steps():
    v, state = torch.ones(0, 2, requires_grad=True), torch.ones(2, requires_grad=True)
    gamma = torch.tensor(0.5, requires_grad=True)
    h, last = linear_rnn(v, gamma=gamma, theta=1.0, state=state)
    (h.sum() + last.sum()).backward()
    assert (gamma.grad, state.grad.tolist()) == (0, [1, 1])


@pytest.mark.parametrize("gamma", [np.array([0.1, 0.5])[::-1], np.array([0.5, 0.1], dtype=">f4"), [0.5, 0.1]])
def test_numbers_of_any_make(gamma):
    v = torch.randn(40, 4, requires_grad=True)
    found, expected = (linear_rnn(v, gamma=g, theta=np.array(1.0))[0] for g in (gamma, torch.tensor([0.5, 0.1])))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)
    assert torch.autograd.grad(found.sum(), v)[0].isfinite().all()


def test_where_v_is():
    """ "meta" stands for a GPU: numbers are read where they are, tables come to v."""
    v, theta = torch.zeros(2, 100, 4, device="meta", requires_grad=True), torch.tensor([1.0, 0.2], requires_grad=True)
    h, state = linear_rnn(v, gamma=0.9, theta=theta)
    assert {h.device.type, state.device.type, torch.autograd.grad(h.sum(), v)[0].device.type} == {"meta"}
    assert decay_scan(v, gamma=[0.9, 0.5, -0.5, 0.0])[0].device.type == "meta"


@pytest.mark.parametrize(("here", "there"), [("cpu", "meta"), ("meta", "cpu")])
@pytest.mark.parametrize("length", [5, 0])
@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_state_is_where_the_sequence_is(here, there, length, requires_grad):
    v = torch.ones(length, 4, device=here, requires_grad=requires_grad)
    state = torch.ones(4, device=there)
    words = f"state: expected it on {here}, where the sequence is, got {there}; move it with .to\\('{here}'"
    with pytest.raises(ValueError, match=words):
        linear_rnn(v, gamma=0.5, theta=1.0, state=state)
    with pytest.raises(ValueError, match=words):
        decay_scan(v, gamma=0.5, state=state)
    assert linear_rnn(v, gamma=0.5, theta=1.0, state=torch.ones(4, device=here))[1].device.type == here


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_rate_has_values(device):
    """A tensor on "meta" has a shape and no numbers, whatever v is."""
    v, none, some = torch.ones(5, 4, device=device), torch.ones(2, device="meta"), [0.5, 0.25]
    for name, rates in (("gamma", (none, some)), ("theta", (some, none))):
        with pytest.raises(ValueError, match=f"{name}: expected numbers, got a tensor on meta, which holds none; give"):
            linear_rnn(v, gamma=rates[0], theta=rates[1])
    with pytest.raises(ValueError, match="gamma: expected numbers, got a tensor on meta"):
        decay_scan(v, gamma=none[0])


def test_torchs_defaults_change_nothing():
    v = torch.zeros(1_100_000, 2)  # so long that step numbers leave the range of float16
    v[0] = 1
    expected, _ = linear_rnn(v, gamma=1.0, theta=0.12345)
    running_sums._tables.cache_clear()
    try:
        torch.set_default_dtype(torch.float16)
        torch.set_default_device("meta")
        found, _ = linear_rnn(v, gamma=1.0, theta=0.12345)
    finally:
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)
    assert torch.equal(found, expected)


@pytest.mark.deep(keep=1)
@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")  # torch's own forward mode, at its first use
def test_forward_derivatives_are_right_or_refused():
    """The rate is read as numbers, so a derivative in it would be lost without a word."""
    v = torch.randn(100, 2)
    run = lambda x, g: linear_rnn(x, gamma=g, theta=1.0)[0]  # noqa: E731
    gamma, one = torch.tensor(0.9), torch.tensor(1.0)
    for g in (gamma, 0.1):  # by running sums, and by a loop
        torch.testing.assert_close(torch.func.jvp(lambda x, g=g: run(x, g), (v,), (v,))[1], run(v, g))
    with pytest.raises(ValueError, match="gamma and theta: expected no forward-mode derivative"):
        torch.func.jvp(lambda g: run(v, g), (gamma,), (one,))


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_a_vmap_is_a_batch():
    v, state = torch.randn(3, 100, 4), torch.randn(3, 4)
    run = lambda x, s: linear_rnn(x, gamma=0.9, theta=1.0, state=s)[0]  # noqa: E731
    torch.testing.assert_close(torch.func.vmap(run)(v, state), run(v, state))


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # the compiler looks at it behind a break of the graph
def test_a_compiled_model_runs_it_as_it_is():
    v, gamma = torch.randn(100, 4), torch.tensor(0.9, requires_grad=True)
    call = lambda x, g: 3 * linear_rnn(2 * x, gamma=g, theta=1.0)[0]  # noqa: E731
    found = torch.compile(call, backend="eager")(v, gamma)
    expected = call(v, gamma)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(*(torch.autograd.grad(h.sum(), gamma) for h in (found, expected)))


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"gamma": 1.01}, ValueError, "gamma: expected numbers from 0 to 1"),
        ({"gamma": -0.5}, ValueError, "a turn by pi: add it to theta"),
        ({"gamma": float("nan")}, ValueError, "gamma: expected finite"),
        ({"gamma": 0.5j}, TypeError, "gamma: expected real"),
        ({"gamma": np.array([0.5 + 0.5j])}, TypeError, "gamma: expected real numbers, got dtype complex"),
        ({"gamma": True}, TypeError, "gamma: expected real numbers"),
        ({"gamma": [torch.tensor(0.5, requires_grad=True)] * 2}, TypeError, "gamma: expected what numpy can hold"),
        ({"state": torch.ones(4, dtype=torch.long)}, ValueError, "got torch.int64"),
        ({"gamma": torch.ones(3)}, ValueError, "gamma: expected a shape that broadcasts"),
        ({"theta": [1.0, 2.0, 3.0]}, ValueError, "theta: expected 2 frequencies"),
        ({"theta": "fast"}, TypeError, "theta: expected real numbers"),
        ({"v": torch.ones(5, 3)}, ValueError, "with an even d"),
        ({"v": torch.ones(4)}, ValueError, r"x: expected \(\.\.\., T, head_dim\)"),
        ({"v": torch.ones(5, 4, dtype=torch.long)}, TypeError, "real floating-point tensor"),
        ({"state": torch.ones(3)}, ValueError, "state: expected a real tensor"),
        ({"layout": "halves"}, ValueError, "layout: expected"),
    ],
)
def test_refusals(change, error, words):
    given_ = {"v": torch.ones(5, 4), "gamma": 0.5, "theta": [1.0, 2.0]} | change
    with pytest.raises(error, match=words):
        linear_rnn(given_.pop("v"), **given_)
