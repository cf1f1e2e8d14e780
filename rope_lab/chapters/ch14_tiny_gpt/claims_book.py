"""What chapter 14 says on its own account: losses, counts, paired starts and intervals."""

import math
from typing import Any

import numpy as np
import sympy as sp
from scipy import stats

from rope_lab.algebra import budget
from rope_lab.claims.ledger import claim
from rope_lab.training.results import intervals


def _read(V, rng, *, std):
    """The loss of a model of ``V`` tokens on random text, and the probability that it gave to each token."""
    import torch

    from rope_lab.nn import gpt
    from rope_lab.training.run import learner

    model = gpt.GPT(gpt.GPTConfig(vocab_size=V, seq_len=20, n_layers=1, n_heads=1, d_model=4, std=std))
    inputs, targets = torch.from_numpy(rng.integers(V, size=(2, 1, 20)))
    with torch.no_grad():
        loss, p = learner.NextTokenLoss(model)(inputs, targets), model(inputs).double().softmax(-1)
    return loss.item(), p.gather(-1, targets[..., None]).numpy().ravel()


@claim(
    "book.uniform-loss",
    statement=r"A model that finds all $V$ tokens equally likely has the loss $\ln V$, whatever the text.",
    tolerance=1e-6,
    witness=r"$V = 2$: every token costs $\ln 2 \approx [[0.693]]$ nats, one bit.",
    computed=lambda: float(np.log(2)),
    holds=math.log,
    control=math.log2,  # bits where nats are meant
)
def uniform_loss(formula, rng):
    return max(abs(_read(V, rng, std=0)[0] - formula(V)) for V in (2, 50, 1024))  # weights of zero: equal logits


@claim(
    "book.perplexity",
    statement=r"The perplexity $e^{\mathcal L}$ is the geometric mean, over the tokens, of one over the probability "
    r"that each was given. A model that finds all its $K$ tokens equally likely has perplexity $K$.",
    tolerance=1e-6,
    witness=r"Probabilities $\tfrac12$ and $\tfrac18$: $\mathcal L = \ln 4$, perplexity $[[4]]$; the arithmetic mean "
    r"of $2$ and $8$ would be $[[5]]$.",
    computed=lambda: (float(np.exp((np.log(2) + np.log(8)) / 2)), (2 + 8) / 2),
    holds=lambda p: np.prod(1 / p) ** (1 / len(p)),
    control=lambda p: np.mean(1 / p),  # the arithmetic mean
)
def perplexity(formula, rng):
    loss, p = _read(50, rng, std=1)
    torn = [abs(math.exp(_read(K, rng, std=0)[0]) / K - 1) for K in (1, 7, 1024)]
    return max(abs(math.exp(loss) / formula(p) - 1), *torn)


@claim(
    "book.parameter-count",
    statement=r"A gpt2 model of width $d$ with $L$ layers, an MLP of width $h$, a vocabulary of $V$ tokens, a tied "
    r"head and no biases has $V d + L\,(4 d^2 + 2 d h) + (2L + 1)\, d$ parameters. Each complex-linear projection "
    r"saves $\tfrac12 d^2$ in each layer.",
    cases="(V, d, L, h) = (3, 4, 1, 16) as it is, (11, 8, 2, 24) with QKV complex-linear, (7, 16, 3, 64) with QKVO",
    witness=r"$V = 3$, $d = 4$, $L = 1$, $h = 16$: $12 + (64 + 128) + 12 = [[216]]$.",
    computed=lambda: 12 + (4 * 4**2 + 2 * 4 * 16) + 3 * 4,
    holds=lambda V, d, L, h, c: V * d + L * (4 * d**2 + 2 * d * h) + (2 * L + 1) * d - L * c * d**2 // 2,
    control=lambda V, d, L, h, c: V * d + L * (4 * d**2 + 2 * d * h) + 2 * L * d - L * c * d**2 // 2,  # no last norm
)
def parameter_count(formula):
    from rope_lab.nn import counts, gpt

    equal = []
    for V, d, L, h, roles in ((3, 4, 1, 16, ""), (11, 8, 2, 24, "qkv"), (7, 16, 3, 64, "qkvo")):
        config = gpt.GPTConfig(
            vocab_size=V, d_model=d, n_layers=L, n_heads=2, mlp_width=h, seq_len=4, complex_linear=roles
        )
        built = counts.count_parameters(gpt.GPT(config))["total"]
        equal.append(built == budget.parameters(config.shape)["total"] == formula(V, d, L, h, len(roles)))
    return all(equal)


def _by_name(config, seed):
    from rope_lab.nn import gpt

    return gpt.GPT(config, seed=seed)


def _in_turn(config, seed):
    """All matrices from one stream, in the order of the modules: the usual way."""
    import torch

    model, stream = _by_name(config, seed), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.empty(p.shape).normal_(std=config.std, generator=stream))
    return model


@claim(
    "book.paired-start",
    statement=r"Initial parameters are drawn by seed and name. So two variants of one seed agree, to the last bit, in "
    r"every parameter that both have in the same shape; another seed gives other matrices, each of them.",
    witness=r"Make queries complex-linear, and the keys, values and MLPs start as they did. Drawn in turn from one "
    r"stream, everything after the first query projection would start differently.",
    cases="4 variants of one small model, and 2 seeds",
    holds=_by_name,
    control=_in_turn,
)
def paired_start(make):
    import torch

    from rope_lab.nn.gpt import GPTConfig

    size: dict[str, Any] = {"vocab_size": 11, "seq_len": 4, "n_layers": 2, "n_heads": 2, "d_model": 8}
    plain = dict(make(GPTConfig(**size), 0).named_parameters())
    other = dict(make(GPTConfig(**size), 1).named_parameters())
    for change in ({"complex_linear": "q"}, {"complex_linear": "qkvo"}, {"positions": "none"}, {"head_dim": 2}):
        variant = dict(make(GPTConfig(**(size | change)), 0).named_parameters())
        common = [n for n in plain if n in variant and variant[n].shape == plain[n].shape]
        if len(common) < 5 or not all(torch.equal(plain[n], variant[n]) for n in common):
            return False
    return not any(torch.equal(plain[n], other[n]) for n in plain if plain[n].ndim == 2)  # norms start at 1


@claim(
    "book.paired-variance",
    statement=r"The variance of a difference is $s_{a-b}^2 = s_a^2 + s_b^2 - 2\, s_{ab}$, with the covariance $s_{ab}$ "
    r"over the seeds. What two variants of a seed have in common cancels.",
    witness=r"$a = (1, 2, 3)$, $b = (0, 1, 2)$: both have variance $1$, and their difference has none.",
    cases="one seed in symbols, and the intervals of two lists",
    holds=-2,
    control=0,  # unpaired: as if the two had nothing in common
)
def paired_variance(factor):
    a, b, mean_a, mean_b = sp.symbols("a b bar_a bar_b")  # of one seed, and the means: sum over any number of seeds
    squares = (a - mean_a) ** 2 + (b - mean_b) ** 2 + factor * (a - mean_a) * (b - mean_b)
    # The intervals of our tables: differences of the variances 2 and 1/2.
    wide, narrow = (intervals.interval(gaps).half for gaps in ([2, -1, -1, 1, -1], [1, -1, 0, 0, 0]))
    return sp.expand(((a - b) - (mean_a - mean_b)) ** 2 - squares) == 0 and wide == 2 * narrow


@claim(
    "book.t-interval",
    statement=r"The interval $\bar d \pm t_{0.975,\,n-1}\, s_d / \sqrt n$ holds the true mean of normally distributed "
    r"differences in 95 of 100 repetitions, for each number $n$ of seeds from 2 to 12.",
    tolerance=1e-9,
    witness=r"For $n = 3$ the factor is $[[4.30]]$; the familiar $[[1.96]]$ belongs to infinitely many seeds.",
    computed=lambda: (stats.t.ppf(0.975, 2), stats.norm.ppf(0.975)),
    holds=intervals.interval,
    control=lambda d: intervals.Interval(
        float(np.mean(d)), 1.959964 * float(np.std(d, ddof=1)) / math.sqrt(len(d)), len(d)
    ),
)
def t_interval(make, rng):
    residual = 0.0
    for n in range(2, 13):
        d = rng.normal(size=n)
        made = make(d.tolist())
        t = made.half / d.std(ddof=1) * math.sqrt(n)
        residual = max(residual, abs(made.mean - d.mean()), abs(_held(t, n) - 0.95))
    return residual


def _held(t, n):
    """The share of samples of n numbers whose mean lies within t s / sqrt(n) of the true one: s is spread as chi."""
    return stats.chi(n - 1).expect(lambda chi: math.erf(t * chi / math.sqrt(2 * (n - 1))))
