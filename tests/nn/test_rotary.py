"""The fast rotation equals its definition and keeps the laws; each law has a control that must fail."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra import rotation as algebra
from rope_lab.nn.rotary import RotaryConfig, rotary_table, rotate

LAYOUTS = ("interleaved", "half")
DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
places = st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6))


@st.composite
def configs(draw):
    head_dim = 2 * draw(st.integers(1, 8))
    rotary_dim = draw(st.one_of(st.none(), st.integers(1, head_dim // 2).map(lambda n: 2 * n)))
    return RotaryConfig(
        head_dim,
        base=draw(st.sampled_from([10.0, 10000.0, 5e5])),
        layout=draw(st.sampled_from(LAYOUTS)),
        rotary_dim=rotary_dim,
    )


@st.composite
def cases(draw, dtypes=DTYPES):
    """A configuration, an x (..., T, head_dim) and its positions, (T,) or (B, T)."""
    config, dtype = draw(configs()), draw(st.sampled_from(dtypes))
    batch, length = draw(st.lists(st.integers(1, 3), max_size=3)), draw(st.integers(1, 5))
    own = bool(batch) and draw(st.booleans())
    count = length * batch[0] if own else length
    positions = torch.tensor(draw(st.lists(places, min_size=count, max_size=count)), dtype=torch.float64)
    x = torch.randn(*batch, length, config.head_dim, generator=torch.Generator().manual_seed(draw(st.integers(0, 99))))
    return config, x.to(dtype), positions.reshape(batch[0], length) if own else positions


def table_for(x, positions, config):
    return rotary_table(positions, config, dtype=torch.float64 if x.dtype == torch.float64 else torch.float32)


def reference(x, positions, config, *, inverse=False):
    """The definition: matrices in float64, on the coordinates that turn."""
    x, positions = x.detach().double().numpy(), (-positions if inverse else positions).numpy()
    if positions.ndim == 2:
        positions = positions.reshape(len(positions), *[1] * (x.ndim - 3), -1)
    theta = algebra.frequencies(config.width, base=config.base)
    turned = algebra.rotate(x[..., : config.width], positions, theta=theta, layout=config.layout)
    return np.concatenate([turned, x[..., config.width :]], axis=-1)


def slack(x, positions):
    """Rounding in the dtype of x, and in float64 angles: n theta is known to n eps."""
    return float(x.abs().max()) * (4 * torch.finfo(x.dtype).eps + 64 * 2**-52 * float(positions.abs().max()))


def distance(y, expected):
    return float(np.abs(y.detach().double().numpy() - expected).max())


@given(case=cases(), inverse=st.booleans())
def test_the_fast_form_is_the_definition(case, inverse):
    config, x, positions = case
    y = rotate(x, table_for(x, positions, config), inverse=inverse)
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    assert distance(y, reference(x, positions, config, inverse=inverse)) <= slack(x, positions)
    assert torch.equal(y[..., config.width :], x[..., config.width :])  # the rest is untouched, to the bit


def test_control_of_the_definition():
    config, x, positions = RotaryConfig(8, rotary_dim=6), torch.randn(3, 8), torch.arange(1.0, 4.0)
    expected, bound = reference(x, positions, config), slack(x, positions)
    for change in ({"layout": "half"}, {"rotary_dim": None}, {"rotary_dim": 4}, {"base": 10.0}):
        assert distance(rotate(x, table_for(x, positions, replace(config, **change))), expected) > bound
    assert distance(rotate(x, table_for(x, positions, config), inverse=True), expected) > bound
    assert distance(rotate(x, table_for(x, positions + 1e-3, config)), expected) > bound


def test_tables_are_built_in_float64():
    config, positions = RotaryConfig(64), torch.tensor([123_456.0])
    exact = np.cos(positions.double().numpy()[:, None] * algebra.frequencies(64))
    assert distance(rotary_table(positions, config).cos, exact) < 6e-8
    rough = (positions[:, None] * torch.from_numpy(algebra.frequencies(64)).float()).cos()
    assert distance(rough, exact) > 1e-4  # control: angles in float32


@given(case=cases())
def test_isometry_and_inverse(case):
    config, x, positions = case
    table = table_for(x, positions, config)
    y = rotate(x, table)
    norms = [t.double().norm(dim=-1).numpy() for t in (x, y)]
    assert np.allclose(*norms, rtol=8 * torch.finfo(x.dtype).eps, atol=1e-6)
    error = distance(rotate(y, table, inverse=True), x.double().numpy())
    assert error <= 2 * slack(x, torch.zeros(1)) * config.head_dim**0.5  # the same table: no angle error


@given(config=configs(), m=places, n=places)
def test_group_law_and_identity(config, m, n):
    x = torch.randn(1, config.head_dim, dtype=torch.float64)
    turn = lambda x, p: rotate(x, rotary_table([p], config, dtype=x.dtype))  # noqa: E731
    bound = slack(x, torch.tensor([abs(m) + abs(n)], dtype=torch.float64)) + 1e-14
    assert distance(turn(turn(x, m), n), turn(x, m + n).numpy()) <= 2 * bound
    assert torch.equal(turn(x, 0), x)
    assert distance(turn(turn(x, 1), 1), turn(x, 1).numpy()) > 1e-3 * float(x[..., 0].abs())  # control


@given(config=configs(), m=places, n=places, shift=places, seed=st.integers(0, 99))
def test_relativity(config, m, n, shift, seed):
    """q and k at offsets of their own: only the difference counts."""
    q, k = torch.randn(2, 1, config.head_dim, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    turn = lambda x, p: rotate(x, rotary_table([p], config, dtype=x.dtype))  # noqa: E731
    dot = lambda a, b: float((turn(q, a) * turn(k, b)).sum())  # noqa: E731
    bound = 1e-12 + 1e-13 * (abs(m) + abs(n) + abs(shift)) * float(q.norm() * k.norm())
    assert abs(dot(m + shift, n + shift) - dot(m, n)) <= bound
    assert abs(dot(m, n) - float((q * turn(k, n - m)).sum())) <= bound


def test_control_relativity():
    q, k = torch.randn(2, 1, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    table = lambda p: rotary_table([p], RotaryConfig(8), dtype=torch.float64)  # noqa: E731
    mixed = lambda m, n: float((rotate(q, table(m)) * rotate(k, table(n), inverse=True)).sum())  # noqa: E731
    assert abs(mixed(2, 5) - mixed(3, 6)) > 1e-2  # k turned backwards sees n + m
    other = rotary_table([6], RotaryConfig(8, layout="half"), dtype=torch.float64)
    assert abs(float((rotate(q, table(3)) * rotate(k, other)).sum() - (q * rotate(k, table(3))).sum())) > 1e-2


@given(config=configs(), seed=st.integers(0, 99))
def test_layouts_are_conjugate(config, seed):
    width = config.width
    p = torch.from_numpy(algebra.layout_permutation(width))
    x = torch.randn(4, width, generator=torch.Generator().manual_seed(seed))
    table = {layout: rotary_table(range(4), RotaryConfig(width, layout=layout)) for layout in LAYOUTS}
    expected = rotate(x, table["interleaved"])[..., p]
    assert torch.allclose(rotate(x[..., p], table["half"]), expected, atol=1e-6)
    if width > 2:
        assert not torch.allclose(rotate(x, table["half"]), expected, atol=1e-6)  # control


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rotary_dim", [None, 4])
def test_gradients(layout, rotary_dim):
    config = RotaryConfig(6, layout=layout, rotary_dim=rotary_dim)
    x = torch.randn(2, 3, 6, dtype=torch.float64, requires_grad=True)
    table = rotary_table(torch.tensor([-1.0, 0.5, 7.0]), config, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x: rotate(x, table), x)
    assert torch.autograd.gradgradcheck(lambda x: rotate(x, table, inverse=True), x)
    assert torch.autograd.gradcheck(
        lambda p: rotate(x.detach(), rotary_table(p, config, dtype=torch.float64)),
        torch.tensor([0.3, 1.0, 2.0], dtype=torch.float64, requires_grad=True),
    )  # positions may be learned


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_memory_order(layout):
    table, x = rotary_table(range(5), RotaryConfig(8, layout=layout)), torch.randn(2, 5, 3, 17)
    heads = x.transpose(1, 2)  # strides are odd
    for view in (heads[..., 2:10], heads[..., 1:9], heads[..., :16:2], heads[:1, :1, :, :8].expand(2, 3, 5, 8)):
        assert torch.equal(rotate(view, table), rotate(view.contiguous(), table))
    assert rotate(torch.empty(2, 0, 8), rotary_table([], RotaryConfig(8, layout=layout))).shape == (2, 0, 8)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_view_may_begin_anywhere_in_memory(layout, first):
    x = torch.randn(49)[first : first + 48].view(2, 3, 8)
    table = rotary_table(range(3), RotaryConfig(8, layout=layout))
    assert torch.equal(rotate(x, table), rotate(x.clone(), table))
