"""Chapter 21, where less turns: a part of a head, a norm around the turn, and layers without any rotation."""

from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp
import torch

from rope_lab.algebra import frequency_schedules, placements, rotation, symbolic
from rope_lab.algebra.arguments import LAYOUTS
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim
from rope_lab.nn import attention, gpt, rotary

m, n, theta = sp.symbols("m n theta", real=True)

# --- a part of a head -----------------------------------------------------------------------------------------------


def _pairs(config):
    """Who turns with whom: the entries above the diagonal of the matrix."""
    x = torch.eye(config.head_dim, dtype=torch.float64)
    turned = rotary.rotate(x, rotary.rotary_table([1.0] * config.head_dim, config, dtype=torch.float64))
    return {(a, b) for a, b in torch.nonzero(turned).tolist() if a < b}


@claim(
    "book.partial-planes",
    statement=r"Half-split and partial, the share $p = r/d$ means two things. Over the rotary width the first $r$ "
    r"coordinates turn, in pairs $(i, i + r/2)$. Over the whole head (`proportional`) the pairs are $(i, i + d/2)$, so "
    r"two blocks turn: $0$ to $r/2 - 1$ and $d/2$ to $d/2 + r/2 - 1$.",
    witness=r"$d = 16$, $p = 1/2$: one block of 8, or two blocks of 4.",
    cases="heads of 16, 24 and 32 coordinates",
    holds=lambda d, r: {(i, i + d // 2) for i in range(r // 2)},
    control=lambda _d, r: {(i, i + r // 2) for i in range(r // 2)},
)
def who_turns_with_whom(of_the_whole_head):
    for d, r in ((16, 8), (24, 6), (32, 8)):
        schedule = frequency_schedules.Proportional(share=r / d)
        if _pairs(rotary.RotaryConfig(d, layout="half", rotary_dim=r)) != {(i, i + r // 2) for i in range(r // 2)}:
            return False
        if _pairs(rotary.RotaryConfig(d, layout="half", schedule=schedule)) != of_the_whole_head(d, r):
            return False
    return True


@claim(
    "book.partial-last",
    statement=r"A head that turns its last $r$ coordinates is one that turns its first $r$, after the coordinates are "
    r"moved round by $r$: one permutation for queries and keys.",
    tolerance=1e-12,
    witness=r"$d = 12$, $r = 4$ in both layouts; moved round the other way, the logit is another one.",
    holds=4,
    control=-4,
)
def the_last_ones(by, rng):
    q, k = rng.normal(size=(2, 12))
    misses = []
    for layout in LAYOUTS:
        at: dict[str, Any] = {"q_positions": [5], "k_positions": [2], "theta": [1.0, 0.01], "layout": layout}
        last = q[:8] @ k[:8] + rotation.logits(q[None, 8:], k[None, 8:], **at)
        first_q, first_k = np.roll(q, by), np.roll(k, by)
        first = rotation.logits(first_q[None, :4], first_k[None, :4], **at) + first_q[4:] @ first_k[4:]
        misses.append(float(np.abs(last - first).max()))
    return max(misses) if by == 4 else min(misses)


@claim(
    "book.partial-reach",
    statement=r"With one base, the two conventions give the turning planes different frequencies: plane $i$ has "
    r"$b^{-2i/r}$ over the rotary width, and $b^{-2i/d}$ over the whole head.",
    witness=r"$b = 10^4$, $d = 256$, $r = 64$: the slowest turning plane has a period of $[[47117]]$ or of "
    r"$[[58.5]]$ steps.",
    computed=lambda: (
        round(2 * np.pi / rotation.frequencies(64)[-1]),
        2 * np.pi / frequency_schedules.Proportional(share=0.25).frequencies(256, base=1e4)[31],
    ),
    tolerance=1e-12,
    holds=lambda b, i, d: b ** (-2 * i / d),
    control=lambda b, i, d: b ** (-2 * i / (d // 4)),
)
def two_denominators(frequency, rng):
    d, b = 64, float(np.exp(rng.uniform(5, 14)))
    made = frequency_schedules.Proportional(share=0.25).frequencies(d, base=b)[:8]
    narrow = rotation.frequencies(16, base=b)
    i = np.arange(8)
    return max(np.abs(made - frequency(b, i, d)).max(), np.abs(narrow - b ** (-2 * i / 16)).max())


# --- a norm before or after the turn --------------------------------------------------------------------------------


def _rms(x):
    return x / np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True))


def _centred(x):
    return _rms(x - x.mean(axis=-1, keepdims=True))


@claim(
    "book.norm-plain",
    statement=r"An RMS norm without gains commutes with the turn, since the turn keeps lengths: "
    r"$\mathrm{rms}(\mathcal R_n x) = \mathcal R_n\,\mathrm{rms}(x)$. A layer norm, which takes "
    r"the mean away, does not.",
    tolerance=1e-12,
    witness=r"A quarter turn of $(1, 3)$ is $(-3, 1)$: the mean was $2$ and is $-1$.",
    holds=_rms,
    control=_centred,
)
def a_norm_and_a_turn(norm, rng):
    theta_i, x = rotation.frequencies(12), rng.normal(size=12)
    return max(
        float(np.abs(norm(rotation.rotate(x, at, theta=theta_i)) - rotation.rotate(norm(x), at, theta=theta_i)).max())
        for at in (1.0, 7.5, -40.0)
    )


def _spread(gains_q, gains_k, rng, *, before=False):
    """The spread of the logits of one offset, with gains before or after the turn; the last plane turns by pi."""
    q, k = rng.normal(size=(2, 12))
    theta_i, norm, logits = np.append(rotation.frequencies(12, base=50.0)[:5], np.pi), _rms, []
    for at in (0.0, 3.0, 11.0):
        one, other = (
            rotation.rotate(g * norm(x), place, theta=theta_i)
            if before
            else g * norm(rotation.rotate(x, place, theta=theta_i))
            for x, g, place in ((q, gains_q, at), (k, gains_k, at + 4.0))
        )
        logits.append(float(one @ other))
    return max(logits) - min(logits)


@claim(
    "book.norm-before",
    statement=r"A norm before the turn leaves the logit relative, whatever its gains are.",
    tolerance=1e-10,
    witness=r"Twelve random gains for the queries and twelve for the keys; after the turn they break the law.",
    holds=True,
    control=False,
)
def gains_before(before, rng):
    q, k = rng.normal(size=(2, 12))
    return _spread(q, k, rng, before=before)


@claim(
    "book.norm-pairs",
    statement=r"A norm after the turn with one gain for both coordinates of a pair leaves the logit relative.",
    tolerance=1e-10,
    witness=r"Gains $(1, 1, 2, 2, \dots)$ pass, and $(1, 2, 1, 2, \dots)$ do not.",
    holds=lambda rng: np.repeat(rng.uniform(0.5, 2, 6), 2),
    control=lambda rng: np.tile(rng.uniform(0.5, 2, 6), 2),  # equal in the pairs of the other layout
)
def gains_equal_in_pairs(gains, rng):
    return _spread(gains(rng), gains(rng), rng)


@claim(
    "book.norm-products",
    statement=r"After the turn only the products of the gains count, $g^q_a g^k_a$: at whole positions the logit is "
    r"relative for all vectors exactly if the two products are equal in each pair that turns by no multiple of $\pi$.",
    tolerance=1e-10,
    witness=r"Gains $(1, 2)$ on the query and $(2, 1)$ on the key: both products are $2$.",
    holds=lambda g: 1.0 / g,
    control=lambda g: g,
)
def products_of_gains(of_keys, rng):
    gains = rng.uniform(0.5, 2, 12)
    keys = of_keys(gains) * np.repeat(rng.uniform(0.5, 2, 6), 2)
    for component in range(10):  # one product alone is changed, of each plane that turns by no multiple of pi
        if _spread(gains, np.where(np.arange(12) == component, 2, 1) * keys, rng) < 1e-6:
            return 1.0
    return _spread(gains, keys * np.append(np.ones(10), rng.uniform(0.5, 2, 2)), rng)


@claim(
    "book.norm-sum",
    statement=r"With unequal products $a$ and $b$ in a plane, the logit of the normed $q = k = (1, 0)$ is "
    r"$\tfrac{a+b}{2} \cos (n-m)\theta + \tfrac{a-b}{2}\cos (n+m)\theta$: the second term sees the sum of the "
    r"positions.",
    witness=r"$a = 4$, $b = 1$, $\theta = \pi/2$, offset $0$: $[[4]]$ at place 0 and $[[1]]$ at place 1.",
    computed=lambda: tuple(
        float(
            rotation.rotation_2d(at * np.pi / 2)[:, 0]
            @ (np.array([4.0, 1.0]) * rotation.rotation_2d(at * np.pi / 2)[:, 0])
        )
        for at in (0, 1)
    ),
    holds=lambda m, n: n + m,
    control=lambda m, n: n - m,
)
def a_term_in_the_sum(place):
    a, b = sp.symbols("a b", positive=True)
    q, k = (exact.rotation_2d(at * theta) * sp.Matrix([1, 0]) for at in (m, n))
    logit = (q.T * sp.diag(a, b) * k)[0]
    claimed = (a + b) / 2 * sp.cos((n - m) * theta) + (a - b) / 2 * sp.cos(place(m, n) * theta)
    return symbolic.same(sp.Matrix([logit]), sp.Matrix([claimed]))


# --- layers without rotation ----------------------------------------------------------------------------------------

SMALL = gpt.GPTConfig(vocab_size=20, seq_len=32, n_layers=1, n_heads=2, d_model=16, std=0.7, positions="none")


def _small_gpt(rng, **changes):
    torch.manual_seed(int(rng.integers(1000)))
    return gpt.GPT(replace(SMALL, **changes)).double().requires_grad_(False)


def _last(model, words):
    return model(torch.tensor([words]))[0, -1]


def _permuted(model, rng):
    """The largest change of the last logits when the earlier words change places."""
    words = rng.permutation(20)[:8].tolist()
    other = [*rng.permutation(words[:-1]).tolist(), words[-1]]
    other = other if other != words else [*words[-2::-1], words[-1]]
    return float((_last(model, words) - _last(model, other)).abs().max())


@claim(
    "book.nope-one-layer",
    statement=r"One causal layer without positions gives the last word the same output in whatever order the earlier "
    r"words stand. With two layers it does not: in the first each word has read what stood before it.",
    tolerance=1e-9,
    witness=r"Eight different words, the first seven in another order: one layer gives the same logits, "
    r"two give others.",
    holds=1,
    control=2,
)
def order_in_one_layer(n_layers, rng):
    return _permuted(_small_gpt(rng, n_layers=n_layers), rng)


@claim(
    "book.nope-no-rotation",
    statement=r"It is the missing rotation that makes one layer blind: one layer with RoPE sees the order.",
    tolerance=1e-9,
    witness=r"The same model of one layer, with and without RoPE.",
    holds="none",
    control="rotary",
)
def order_with_rotation(positions, rng):
    return _permuted(_small_gpt(rng, positions=positions), rng)


@claim(
    "book.nope-no-mask",
    statement=r"With a causal mask two layers see the order; without a mask no number of layers does.",
    tolerance=1e-9,
    witness=r"Attention without positions, of one, three and six layers without a mask and of two with one: the last "
    r"word's output, with the earlier ones in another order.",
    holds=False,
    control=True,
)
def order_without_a_mask(causal, rng):
    x, order = rng.normal(size=(7, 6)), [4, 2, 0, 5, 1, 3, 6]
    weights = rng.normal(size=(6, 3, 6, 6)) / 2
    ends = [[_stack(y, weights[:n], causal)[-1] for n in ((2,) if causal else (1, 3, 6))] for y in (x, x[order])]
    return float(np.abs(np.subtract(ends[0], ends[1])).max())


def _stack(x, weights, causal):
    """Layers of attention without positions: no norm, the words added again."""
    at = range(len(x))
    for maps in weights:
        q, k, v = (x @ W for W in maps)
        x = x + placements.attention(q, k, v, q_positions=at, k_positions=at, rotated="", theta=[1.0], causal=causal)
    return x


def _shares_of_the_mark(T):
    """The share of a mark on the first word that each of T words sees, where all weights are equal."""
    mark, nothing = torch.zeros(1, 1, T, 2, dtype=torch.float64), torch.zeros(1, 1, T, 2, dtype=torch.float64)
    mark[..., 0, 0] = 1.0
    return attention.attend(nothing, nothing, mark)[0, 0, :, 0].numpy()


@claim(
    "book.nope-count",
    statement=r"One causal layer without positions can count if the first word is marked: equal attention gives the "
    r"word at place $n = 0, 1, \dots$ the share $1/(n+1)$ of the mark.",
    cases="the first nine places",
    tolerance=1e-12,
    witness=r"The fourth word sees $[[0.25]]$ of the mark.",
    computed=lambda: float(_shares_of_the_mark(4)[3]),
    holds=lambda n: 1 / (n + 1),
    control=lambda n: np.full(len(n), 1.0),
)
def the_share_of_the_mark(share):
    return float(np.abs(_shares_of_the_mark(9) - share(np.arange(9))).max())


@claim(
    "book.nope-same-words",
    statement=r"Where all words are the same, layers without positions give every place the same output, however many "
    r"they are: a repeated word is not counted. One other word in front breaks that.",
    tolerance=1e-9,
    witness=r"Nine times the same word, in one layer, three and six.",
    holds=5,
    control=4,  # the first word, before eight fives
)
def nine_times_the_same(first, rng):
    outs = [_small_gpt(rng, n_layers=layers)(torch.tensor([[first] + [5] * 8]))[0] for layers in (1, 3, 6)]
    outs = outs if first == 5 else [out[1:] for out in outs]  # the word itself is another one
    return float((max if first == 5 else min)((out - out[:1]).abs().max() for out in outs))


def _layers(rng, turning, x, *, offset):
    """A stack of attention layers, of which some turn."""
    torch.manual_seed(int(rng))
    for turns, base in turning:
        config = attention.AttentionConfig(
            d_model=16,
            n_heads=2,
            head_dim=8,
            rotated="qk" if turns else "",
            rotary=rotary.RotaryConfig(8, base=base) if turns else None,
        )
        layer = attention.CausalAttention(config).double().requires_grad_(False)
        x = x + 4 * layer(x, offset=offset)
    return x


@claim(
    "book.nope-relative",
    statement=r"Layers without rotation turn all planes by $0$, which is relative. So a model that has some of them "
    r"does not notice when all positions move, nor does one whose layers have two bases.",
    tolerance=1e-9,
    witness=r"Four layers, the last without rotation, two bases; moved by 777. Positions added to the words are "
    r"noticed.",
    holds=0.0,
    control=1.0,
)
def moved_by_777(added, rng):
    x, seed = torch.from_numpy(rng.normal(size=(1, 7, 16))), rng.integers(1000)
    turning = [(True, 100.0), (True, 1e4), (True, 100.0), (False, 1.0)]
    outs = []
    for offset in (0, 777):
        at = torch.arange(7, dtype=torch.float64)[:, None] + offset
        outs.append(_layers(seed, turning, x + added * torch.sin(at), offset=offset))
    return float((outs[0] - outs[1]).abs().max())


@claim(
    "book.nope-wrong-way",
    statement=r"A list with 1 for a layer that turns and 0 for each fourth, read as 1 for a layer without rotation, "
    r"exchanges both kinds: three quarters of the layers lose their rotation, and one quarter gets one that it never "
    r"had.",
    tolerance=1e-9,
    witness=r"Four layers and the list $(1, 1, 1, 0)$: read rightly $[[3]]$ layers turn, read the other way $[[1]]$.",
    computed=lambda: (sum(_listed(4)), sum(1 - one for one in _listed(4))),
    holds=(3 / 4, 1 / 4),
    control=(1 / 4, 3 / 4),  # as if the list were read rightly
)
def the_list_read(lost_and_got, rng):
    listed = _listed(8)
    right, read = ([_notices_order(one == turning, rng) for one in listed] for turning in (1, 0))
    lost = sum(a and not b for a, b in zip(right, read, strict=True)) / 8
    got = sum(b and not a for a, b in zip(right, read, strict=True)) / 8
    return max(abs(lost - lost_and_got[0]), abs(got - lost_and_got[1]))


def _notices_order(turns, rng):
    """Whether the last word of one layer notices that two words before it changed places."""
    seed, x = rng.integers(1000), torch.from_numpy(rng.normal(size=(1, 7, 16)))
    a, b = (_layers(seed, [(turns, 100.0)], y, offset=0)[0, -1] for y in (x, x[:, [1, 0, 2, 3, 4, 5, 6]]))
    return float((a - b).abs().max()) > 1e-6


def _listed(layers, *, every=4):
    """The list that a configuration has by default: 1 where a layer turns, 0 in each fourth layer."""
    return [int((layer + 1) % every != 0) for layer in range(layers)]


@claim(
    "book.nope-list-read",
    statement=r"In transformers `no_rope_layers` has 1 for a layer **with** RoPE and 0 for a layer without: the name "
    r"says the opposite.",
    witness=r"`smollm3/modeling_smollm3.py`: `self.use_rope = config.no_rope_layers[layer_idx]`; the configurations of "
    r"Llama 4 and Mistral Large 4 build the list in the same way. Read in version 5.23.0.",
    date="2026-11-23",
)
def the_name_says_the_opposite():
    """Read; `tests/nn/test_layers_without.py` asks the installed library."""


@claim(
    "book.two-bases",
    statement=r"Where layers have bases of their own, a cached key is turned on with the base of its own layer. With "
    r"that of another layer every plane but the first misses its place, if the bases are rational and it moves by a "
    r"whole number of steps.",
    tolerance=1e-11,
    witness=r"Bases 10000 and 1000000, as local and global layers have.",
    holds=1e4,
    control=1e6,
)
def the_base_of_its_layer(base, rng):
    k, at, by = rng.normal(size=12), 40.0, 17.0
    own = rotation.frequencies(12, base=1e4)
    held = rotation.rotate(k, at, theta=own)
    moved = rotation.rotate(held, by, theta=rotation.frequencies(12, base=base))
    misses = np.linalg.norm((moved - rotation.rotate(k, at + by, theta=own)).reshape(6, 2), axis=1)
    return float(misses[1:].min() if misses.max() > 1e-11 else misses.max())
