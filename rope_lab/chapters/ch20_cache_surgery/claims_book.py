"""Chapter 20: what moving, dropping and splicing cached tokens keeps, and what many small turns do to slow planes."""

from typing import Any, Literal

import numpy as np
import sympy as sp
import torch

from rope_lab.algebra import (
    frequency_schedules,
    generators,
    grid_positions,
    half_precision,
    rotation,
    rounded_cache,
    symbolic,
)
from rope_lab.algebra.half_precision import FORMATS
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim
from rope_lab.nn import attention, cache, cache_surgery, gpt, latent_attention, rotary

n, D, theta = sp.symbols("n D theta", real=True)
SHAPE: dict[str, Any] = {"vocab_size": 30, "seq_len": 96, "n_layers": 3, "n_heads": 2, "d_model": 16, "std": 0.7}
MODELS: dict[str, dict[str, Any]] = {
    "interleaved": {},
    "half-split, shared heads": {"layout": "half", "block": "llama", "n_kv_heads": 1},
    "turned values": {"rotated": "qkvo"},
}
OLD, NEW = 9, 4  # tokens that are held, and tokens that come after


def model(name="interleaved"):
    return gpt.GPT(gpt.GPTConfig(**SHAPE | MODELS[name])).double().requires_grad_(False)


def words(rng, length):
    return torch.from_numpy(rng.integers(30, size=(1, length)))


def both(one, other):
    return zip(one.tensors(), other.tensors(), strict=True)


def read(net, tokens, *, offset=0):
    caches = [cache.KVCache(offset=offset) for _ in net.blocks]
    net(tokens, caches=caches)
    return caches


def apart(here, there):
    """The largest difference of what two lists of caches hold."""
    pairs = zip(here, there, strict=True)
    return max(float((a - b).abs().max()) for one, other in pairs for a, b in both(one, other))


@claim(
    "book.cache-shift",
    statement=r"$R_{n+D}\,k = R_D\,(R_n k)$: a key that was turned to place $n$ is turned on to place $n + D$ without "
    r"knowing $n$ or $k$.",
    witness=r"$\theta = \pi/2$: two quarter turns make a half turn.",
    cases="one plane",
    holds=lambda by: exact.rotation_2d(by * theta),
    control=lambda by: exact.rotation_2d(-by * theta),
)
def turned_on(turn):
    k = sp.Matrix(sp.symbols("a b", real=True))
    return symbolic.same(turn(D) * (exact.rotation_2d(n * theta) * k), exact.rotation_2d((n + D) * theta) * k)


def _forget_a_layer(net, caches, by):
    for layer, block in enumerate(net.blocks):
        if layer != 1:
            cache_surgery.shift_tokens(block.attention, caches[layer], by)
    caches[1].offset += by


@claim(
    "book.cache-shift-all",
    statement=r"Moving all cached tokens by $D$ gives in every layer what a reading at the new place gives, and no "
    r"later token notices: the logits stay as they were.",
    tolerance=1e-9,
    witness=r"Three layers, both layouts, shared heads and turned values, $D = 40$ and $D = -17$.",
    holds=cache_surgery.shift_tokens,
    control=_forget_a_layer,
)
def moving_everything(shift, rng):
    misses = []
    for name in MODELS:
        net, old, new = model(name), words(rng, OLD), words(rng, NEW)
        plain = net(new, caches=read(net, old))
        for start, by in ((0, 40), (50, -17)):
            here = read(net, old, offset=start)
            shift(net, here, by)
            misses.append(apart(here, read(net, old, offset=start + by)))
            misses.append(float((net(new, caches=here) - plain).abs().max()))
    return max(misses)


@claim(
    "book.cache-drop",
    statement=r"Drop the tokens $s$ to $t - 1$ and turn the keys behind them by $-(t - s)$. In the first layer the "
    r"cache then holds what a reading of the shortened text gives. From the second on it does not: its tokens have "
    r"read what is gone.",
    tolerance=1e-9,
    witness=r"Three layers, nine tokens, three of them dropped.",
    holds=(0,),
    control=(1, 2),  # the second layer and the third
)
def the_first_layer_forgets(held, rng):
    misses = []
    for name in MODELS:
        net, old = model(name), words(rng, OLD)
        here = read(net, old)
        cache_surgery.drop_tokens(net, here, 2, 5)
        fresh = read(net, torch.cat((old[:, :2], old[:, 5:]), 1))
        misses += [apart([here[layer]], [fresh[layer]]) for layer in held]
    return max(misses) if 0 in held else min(misses)


@claim(
    "book.cache-drop-end",
    statement=r"Dropping the last tokens is exact in every layer: nothing has read them.",
    tolerance=1e-9,
    witness=r"A wrong continuation of four tokens, taken back.",
    holds=lambda old, new: (old, new),
    control=lambda old, new: (new, old),  # what is dropped stood in front
)
def taken_back(order, rng):
    misses = []
    for name in MODELS:
        net, old, new = model(name), words(rng, OLD), words(rng, NEW)
        first, second = order(old, new)
        here = read(net, torch.cat((first, second), 1))
        at = 0 if first is new else OLD
        cache_surgery.drop_tokens(net, here, at, at + NEW)
        misses.append(apart(here, read(net, old)))
    return max(misses)


@claim(
    "book.cache-splice",
    statement=r"A chunk that was read alone and is spliced in behind a text holds, in every layer, what a reading of "
    r"the chunk alone from its new place gives.",
    tolerance=1e-9,
    witness=r"A chunk of four tokens behind nine: its first layer is also that of the whole text, the second is not.",
    holds=lambda net, old, new: read(net, new, offset=OLD),  # noqa: ARG005
    control=lambda net, old, new: _last(read(net, torch.cat((old, new), 1)), NEW),  # a reading of the whole text
)
def spliced_in(expected, rng):
    net, old, new = model(), words(rng, OLD), words(rng, NEW)
    here = read(net, old)
    cache_surgery.splice_tokens(net, here, read(net, new, offset=3))
    return apart(_last(here, NEW), expected(net, old, new))


def _last(caches, count):
    kept = []
    for one in caches:
        part = cache.KVCache()
        part.extend(one.k[..., -count:, :], one.v[..., -count:, :])
        kept.append(part)
    return kept


def _attention(q, k, v, *, q_at, k_at, seen, theta):
    """Rotary attention with a mask: what is not seen has no weight."""
    scores = np.where(seen, rotation.logits(q, k, q_positions=q_at, k_positions=k_at, theta=theta), -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (weights / weights.sum(axis=1, keepdims=True)) @ v


@claim(
    "book.cache-packing",
    statement=r"Two texts packed into one row: if no token sees the other text, it does not matter whether the second "
    r"counts from 0 or goes on counting. Each comes out as if it were read alone.",
    tolerance=1e-12,
    witness=r"Without the block mask the second text reads the first, wherever it counts from.",
    holds=lambda block: block,
    control=np.ones_like,
)
def packed(mask, rng):
    q, k, v = rng.normal(size=(3, 9, 8))
    theta, text = rotation.frequencies(8), np.repeat([0, 1], [5, 4])
    seen = np.tril(np.ones((9, 9), dtype=bool)) & mask(text[:, None] == text)
    right = []
    for own, at in ((slice(5), np.arange(5)), (slice(5, 9), np.arange(4))):
        past = np.tril(np.ones((len(at), len(at)), dtype=bool))
        right.append(_attention(q[own], k[own], v[own], q_at=at, k_at=at, seen=past, theta=theta))
    misses = []
    for at in (np.arange(9), np.concatenate((np.arange(5), np.arange(4)))):
        packed = _attention(q, k, v, q_at=at, k_at=at, seen=seen, theta=theta)
        misses.append(np.abs(packed - np.vstack(right)).max())
    return max(misses)


@claim(
    "book.cache-padding",
    statement=r"Padding on the left that nothing sees changes nothing, whether positions count from the first slot or "
    r"from the first word, as long as keys and queries count alike: $\mathcal R_{m+c}^\top \mathcal R_{n+c} = "
    r"\mathcal R_{n-m}$.",
    tolerance=1e-12,
    witness=r"Four slots of padding: keys counted from the slot and queries from the word see every offset four too "
    r"large.",
    holds=lambda slot: [(slot, slot), (slot - 4, slot - 4)],
    control=lambda slot: [(slot - 4, slot)],
)
def padded(counted, rng):
    q, k, v = rng.normal(size=(3, 9, 8))
    theta, slot = rotation.frequencies(8), np.arange(9)
    seen = np.tril(np.ones((9, 9), dtype=bool)) & ((slot >= 4) | (slot[:, None] < 4))  # padding sees padding
    alone = np.tril(np.ones((5, 5), dtype=bool))
    right = _attention(q[4:], k[4:], v[4:], q_at=np.arange(5), k_at=np.arange(5), seen=alone, theta=theta)
    misses = [
        np.abs(_attention(q, k, v, q_at=q_at, k_at=k_at, seen=seen, theta=theta)[4:] - right).max()
        for q_at, k_at in counted(slot)
    ]
    for q_at, k_at in counted(slot):
        m_turn, n_turn = (rotation.rotation_matrix(at, theta=theta) for at in (q_at[:, None], k_at))
        by_offset = rotation.rotation_matrix(slot - slot[:, None], theta=theta)
        misses.append(np.abs(m_turn.swapaxes(-1, -2) @ n_turn - by_offset).max())
    return max(misses)


@claim(
    "book.cache-axes",
    statement=r"With several axes a key moves by a vector: $\mathcal R_{x+a,\,y+b} = \mathcal R_{a,b}\,\mathcal "
    r"R_{x,y}$ if the generators commute, as those of an axial or M-RoPE table do.",
    tolerance=1e-11,
    witness=r"Two axes. A picture moved down by three rows and right by one column: each plane turns by its own axis.",
    holds=lambda axis: axis,
    control=np.zeros_like,  # one count for all planes, that of the first axis
)
def moved_by_a_vector(axis_of, rng):
    theta, axis = rotation.frequencies(8), np.array([0, 0, 1, 1])
    Q = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    x, y, a, b = rng.normal(size=4) * 5
    misses = []
    for pair in rng.normal(size=(2, 4)), (theta * (axis == 0), theta * (axis == 1)):  # both in each plane, and axial
        B_1, B_2 = (Q @ generators.generator_matrix(speeds) @ Q.T for speeds in pair)
        key, there, shift = (grid_positions.grid_turn(*at, B_1=B_1, B_2=B_2) for at in ((x, y), (x + a, y + b), (a, b)))
        misses.append(np.abs(shift @ key - there).max())
    by = np.array([a, b])[axis_of(axis)]
    turned = rotation.rotate((Q.T @ key).T, 1.0, theta=by * theta).T  # of the axial one, each column a key
    return float(max(*misses, np.abs(turned - Q.T @ there).max()))


@claim(
    "book.cache-values",
    statement=r"Where values turn too, they need a turn of their own: with the keys alone turned on, the output of "
    r"later tokens is another one.",
    tolerance=1e-9,
    witness=r"Keys and values turn at their own frequencies: base 100 and base 7.",
    holds=True,
    control=False,
)
def values_turn_too(turn_values, rng):
    config = attention.AttentionConfig(
        d_model=16,
        n_heads=2,
        head_dim=8,
        rotated="qkvo",
        rotary=rotary.RotaryConfig(8, base=100.0),
        rotary_vo=rotary.RotaryConfig(8, base=7.0, layout="half"),
    )
    torch.manual_seed(int(rng.integers(1000)))
    layer = attention.CausalAttention(config).double().requires_grad_(False)
    x = torch.from_numpy(rng.normal(size=(1, 8, 16)))
    here, fresh = cache.KVCache(), cache.KVCache()
    layer(x, cache=here)
    left = here.tensors()[1]
    cache_surgery.drop_tokens(layer, here, 0, 3)
    if not turn_values:
        here.v = left[..., 3:, :]
    layer(x[:, 3:], cache=fresh)
    new = torch.from_numpy(rng.normal(size=(1, 2, 16)))
    return float((layer(new, cache=here) - layer(new, cache=fresh)).abs().max())


@claim(
    "book.cache-latent",
    statement=r"Of MLA's cached $(c_n, \mathcal R_n k^r_n)$ only the rotary key is turned on; the latent has no place.",
    tolerance=1e-9,
    witness=r"Twelve latent coordinates stay as they are, four of the rotary key turn.",
    holds=slice(12, 16),
    control=slice(0, 16),  # the whole of it, as if it were the shared form
)
def the_latent_stays(turning, rng):
    config = latent_attention.LatentConfig(
        d_model=16, n_heads=2, head_dim=8, layout="interleaved", d_latent=12, d_rope=4
    )
    torch.manual_seed(int(rng.integers(1000)))
    layer = latent_attention.SplicedLatentAttention(config).double().requires_grad_(False)
    x, here, there = torch.from_numpy(rng.normal(size=(1, 6, 16))), cache.LatentCache(), cache.LatentCache(offset=9)
    layer(x, cache=here)
    layer(x, cache=there)
    before = here.tensors()[0].numpy().copy()
    cache_surgery.shift_tokens(layer, here, 9)
    part = before[..., turning]
    speeds = rotation.frequencies(4) if part.shape[-1] == 4 else rotation.frequencies(16)
    before[..., turning] = rotation.rotate(part, np.full(6, 9.0), theta=speeds)
    return max(apart([here], [there]), float(np.abs(before - there.tensors()[0].numpy()).max()))


@claim(
    "book.cache-factor",
    statement=r"With an attention factor $a$ a cached key is $a R_n k$. It is turned on by $R_D$ alone: the factor "
    r"came with the first turn, and a second one would stretch the key once more.",
    tolerance=1e-6,
    witness=r"YaRN with a factor of 4: $a = [[1.1386]]$. After a hundred drops of one token a table that is applied "
    r"again would have stretched the key by $a^{100}$.",
    computed=lambda: frequency_schedules.Yarn(factor=4.0, window=64).attention_factor,
    holds=lambda a: 1.0,  # noqa: ARG005
    control=lambda a: a,
)
def stretched_once(again, rng):
    config = rotary.RotaryConfig(8, schedule=frequency_schedules.Yarn(factor=4.0, window=64), layout="half")
    torch.manual_seed(int(rng.integers(1000)))
    layer = attention.CausalAttention(attention.AttentionConfig(d_model=8, n_heads=1, rotary=config)).double()
    x, here, there = torch.from_numpy(rng.normal(size=(1, 5, 8))), cache.KVCache(), cache.KVCache(offset=7)
    with torch.no_grad():
        layer(x, cache=here)
        layer(x, cache=there)
        cache_surgery.shift_tokens(layer, here, 7)
        plain = attention.CausalAttention(attention.AttentionConfig(d_model=8, n_heads=1, rotated="")).double()
        plain.load_state_dict(layer.state_dict(), strict=False)  # the same weights, and no turn
        plain(x, cache=(unturned := cache.KVCache()))
    a = config.schedule.attention_factor
    assert unturned.k is not None and there.k is not None  # noqa: PT018
    held = a * rotation.rotate(unturned.k.numpy(), np.arange(7.0, 12.0), theta=config.frequencies, layout="half")
    return float(max((again(a) * here.k - there.k).abs().max(), np.abs(held - there.k.numpy()).max()))


@claim(
    "book.cache-other-list",
    statement=r"A key that was turned by $n\theta_i$ is repaired for another list of frequencies $\theta'_i$ by "
    r"turning plane $i$ by $n(\theta'_i - \theta_i)$. With an NTK list no shift by up to 5,000 places does that.",
    tolerance=1e-11,
    witness=r"Keys written under dynamic NTK before the text grew long.",
    holds=lambda n, old, new: n * (new - old),
    control=lambda n, old, new: n * (new[1] - old[1]) / old[1] * old,  # a shift that is right for one plane
)
def another_list(angles, rng):
    old = rotation.frequencies(8)
    new = frequency_schedules.NTK(factor=3.0).frequencies(8, base=10000.0)
    misses = []
    for at in (5.0, 700.0):
        k = rng.normal(size=8)
        held = rotation.rotate(k, at, theta=old)
        mended = rotation.rotate(held, 1.0, theta=angles(at, old, new))
        misses.append(np.abs(mended - rotation.rotate(k, at, theta=new)).max())
        shifted = rotation.rotate(np.tile(held, (10_001, 1)), np.arange(-5000.0, 5001.0), theta=old)
        misses.append(float(np.abs(shifted - rotation.rotate(k, at, theta=new)).max(axis=1).min() < 1e-3))
    return max(misses)


@claim(
    "book.cache-ranges",
    statement=r"Over all real positions the largest coordinate of a turned pair $(A, B)$, in size, is $\sqrt{A^2 + "
    r"B^2}$ in both of its channels. Whole positions come as near as one likes if $\theta/\pi$ is irrational.",
    tolerance=1e-4,
    witness=r"An outlier of $10$ beside a $1$: before the turn one channel needs a range of $10$, after it both need "
    r"$[[10.05]]$. A pair $(1, 1)$ goes to $[[1.41]]$ in both.",
    computed=lambda: (np.hypot(10, 1), np.hypot(1, 1)),
    holds=lambda A, B: (np.hypot(A, B), np.hypot(A, B)),
    control=lambda A, B: (A, B),  # the ranges before the turn
)
def ranges_after_the_turn(ranges, rng):
    misses = []
    for A, B in ((10.0, 1.0), *np.abs(rng.normal(size=(5, 2)))):
        for theta, at in ((1.0, np.arange(4000)), (0.5 * np.pi, np.linspace(0, 4, 4001))):  # whole, and real ones
            orbit = rotation.rotate(np.array([A, B]), at, theta=[theta])
            misses.append(np.abs(np.abs(orbit).max(axis=0) / ranges(A, B) - 1).max())
    return max(misses)


# What many small turns of a rounded cache do to the slow planes.

HALVES: tuple[Literal["bfloat16", "float16"], ...] = ("bfloat16", "float16")


def _pairs(rng, dtype, *, ratio):
    """Pairs of numbers of a format, whose coordinates differ by a factor of at most ``ratio``."""
    a = rng.uniform(0.5, 4.0, size=2000)
    b = a * np.exp(rng.uniform(-np.log(ratio), np.log(ratio), size=2000))
    pairs = half_precision.round_to(np.stack((a, b), -1) * rng.choice([-1, 1], size=(2000, 2)), dtype=dtype)
    return pairs[np.abs(np.log(np.abs(pairs[:, 0] / pairs[:, 1]))) <= np.log(ratio)]


@claim(
    "book.cache-frozen",
    statement=r"A cached pair of numbers with $p$ significant bits, which differ by a factor of at most $r$, stands "
    r"still under a turn by $\varphi$ if $\varphi r + \varphi^2/2 < 2^{-p-1}$: each coordinate would change by less "
    r"than half the way to its next number.",
    witness=r"bfloat16, $r = 1$: below $[[0.00195]]$ radians nothing moves. Of the 64 planes of a head with base "
    r"10,000, a shift by one place turns the last $[[20]]$ by less.",
    computed=lambda: (
        rounded_cache.still_below("bfloat16"),
        (rotation.frequencies(128) < rounded_cache.still_below("bfloat16")).sum(),
    ),
    tolerance=1e-9,
    holds=lambda dtype, ratio: 0.999 * rounded_cache.still_below(dtype, ratio=ratio),
    control=lambda dtype, ratio: 4 * rounded_cache.still_below(dtype, ratio=ratio),  # two steps in place of half a one
)
def too_small_a_turn(angle, rng):
    misses = []
    for dtype in HALVES:
        for ratio in (1.0, 2.0, 8.0):
            pairs = _pairs(rng, dtype, ratio=ratio)
            after = rounded_cache.turned_again(pairs, theta=[angle(dtype, ratio)], steps=3, store=dtype)
            phi, half_step = rounded_cache.still_below(dtype, ratio=ratio), 2.0 ** -(FORMATS[dtype].bits + 1)
            misses += [np.abs(after - pairs).max(), abs((phi * ratio + phi**2 / 2) / half_step - 1)]
    return max(misses)


@claim(
    "book.cache-lag",
    statement=r"A pair that stands still lags by $N\varphi$ after $N$ turns. It misses its place by "
    r"$2\,|\sin(N\varphi/2)|$ of its length: linear in $N$ at first, not like $\sqrt N$.",
    tolerance=1e-12,
    witness=r"$\varphi = 0.001$ in bfloat16, $N = 1000$: $[[0.959]]$.",
    computed=lambda: rounded_cache.turn_miss([1.0, 1.0], theta=[1e-3], steps=1000, store="bfloat16")[0],
    holds=lambda N, phi: 2 * abs(np.sin(N * phi / 2)),
    control=lambda N, phi: 2 * abs(np.sin(np.sqrt(N) * phi / 2)),  # as if errors had random signs
)
def linear_in_the_number_of_turns(law, rng):
    misses = []
    for dtype in HALVES:
        phi = rng.uniform(0.3, 0.9) * rounded_cache.still_below(dtype)
        pair = half_precision.round_to(np.full(2, rng.uniform(1, 2)), dtype=dtype)
        for N in (10, 100, 1000):
            miss = rounded_cache.turn_miss(pair, theta=[phi], steps=N, store=dtype)[0]
            misses.append(abs(miss - law(N, phi)))
    return max(misses)


@claim(
    "book.cache-one-turn",
    statement=r"One turn from a rounded cache into a rounded cache errs by at most $2^{-p}$ of the length of each "
    r"pair, however far it goes, if nothing falls below the smallest normal number.",
    tolerance=1e-9,
    witness=r"bfloat16: $2^{-8} = [[0.39]]\,\%$, for a shift by one place and for a shift by a million.",
    computed=lambda: 100 * 2**-8,
    holds=1,
    control=64,  # the same way in 64 turns
)
def one_rounding(turns, rng):
    theta, worst = rotation.frequencies(32), 0.0
    for dtype in HALVES:
        keys = rng.normal(size=(40, 32))
        for far in (1, 64, 10**6):
            miss = rounded_cache.turn_miss(keys, theta=theta, steps=turns, by=far / turns, store=dtype)
            worst = max(worst, float(miss.max()) - 2.0 ** -FORMATS[dtype].bits)
    return max(0.0, worst)


@claim(
    "book.cache-many-turns",
    statement=r"$N$ turns err by at most $(1 + u)^N - 1$ of the length of each pair, $u = 2^{-p}$, if nothing falls "
    r"below the smallest normal number.",
    tolerance=1e-9,
    witness=r"bfloat16, $N = 64$: at most $[[28.3]]\,\%$.",
    computed=lambda: 100 * ((1 + 2**-8) ** 64 - 1),
    holds=lambda N, u: (1 + u) ** N - 1,
    control=lambda N, u: np.sqrt(N) * u / 2,  # a random walk
)
def a_bound_for_many(bound, rng):
    theta, worst = rotation.frequencies(32), 0.0
    for dtype in HALVES:
        keys, u = rng.normal(size=(40, 32)), 2.0 ** -FORMATS[dtype].bits
        for N in (4, 64):
            miss = rounded_cache.turn_miss(keys, theta=theta, steps=N, store=dtype)
            worst = max(worst, float(miss.max()) - bound(N, u))
    return max(0.0, worst)
