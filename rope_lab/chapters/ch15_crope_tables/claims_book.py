"""What chapter 15 and its laboratory say on their own account: margins, counted work, and shares over a pairing."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from rope_lab.algebra import budget, pairing
from rope_lab.algebra.widely_linear import times_i
from rope_lab.chapters.ch15_crope_tables import plan_answers
from rope_lab.claims.ledger import claim
from rope_lab.training.results.intervals import Interval


@claim(
    "book.smallest-margin",
    statement=r"The interval $\bar d \pm h$ lies within $\pm\delta$ if and only if $\delta \ge |\bar d| + h$.",
    witness=r"$+0.02 \pm 0.03$: no margin below $0.05$ will do, though the interval holds zero.",
    holds=lambda d, h: abs(d) + h,
    control=lambda d, h: sp.Max(abs(d), h),  # the interval is not centred at zero
)
def smallest_margin(formula):
    d, h = sp.symbols("d h", real=True)
    least = sp.Max(h - d, h + d)  # how far the two ends lie from zero, to the left and to the right
    cases = product(range(-3, 4), range(4), range(8))  # and our functions for whole numbers
    met = all(
        plan_answers.smallest_margin(Interval(mean, half, 2)) == formula(mean, half)
        and (plan_answers.verdict(mean, half, margin) == "within") == (margin >= formula(mean, half))
        for mean, half, margin in cases
    )
    return least.rewrite(sp.Abs) == formula(d, h) and met


@claim(
    "book.work-of-a-token",
    statement=r"Training a GPT of width $d$ with $L$ layers, an MLP of $4d$, a vocabulary $V$ and windows of $T$ "
    r"tokens takes $6\,(V d + L\,(12 d^2 + (T+1)\,d))$ floating-point operations in matrix products for each token, on "
    r"the mean over a window.",
    tier="minor",
    cases="(V, d, L, T) = (3, 2, 1, 1), (5, 4, 2, 7) and (50304, 128, 4, 1024)",
    correction=r"An operation is one multiplication or one addition. The backward pass takes twice the forward pass.",
    witness=r"$V = 3$, $d = 2$, $L = 1$, $T = 1$: $6\,(6 + 48 + 4) = [[348]]$.",
    computed=lambda: 6 * (3 * 2 + 12 * 2**2 + 2 * 2),
    holds=lambda V, d, L, T: 6 * (V * d + L * (12 * d**2 + (T + 1) * d)),
    control=lambda V, d, L, T: 6 * (V * d + L * (12 * d**2 + 2 * T * d)),  # as if every token saw the whole window
)
def work_of_a_token(formula):
    def counted(V, d, L, T):
        shape = budget.ModelShape(width=d, heads=1, layers=L, vocab=V)
        products = sum(budget.multiplications(shape, context=t)["total"] for t in range(1, T + 1))
        return Fraction(2 * 3 * products, T)

    return all(formula(*shape) == counted(*shape) for shape in ((3, 2, 1, 1), (5, 4, 2, 7), (50304, 128, 4, 1024)))


@claim(
    "book.equal-parameters",
    statement=r"Four complex-linear projections save $2 d^2$ weights in each layer: as many as $d$ hidden units of a "
    r"gpt2 MLP have.",
    cases="widths 8, 16 and 128",
    witness=r"$d = 4$: four matrices save $8$ weights each, and $4$ hidden units have $8$ weights each.",
    holds=lambda d: d,
    control=lambda d: 2 * d,  # as if a hidden unit had d weights, not d in and d out
)
def equal_parameters(units):
    from rope_lab.nn import gpt

    equal = []
    for d in (8, 16, 128):
        size: dict[str, Any] = {"vocab_size": 11, "seq_len": 4, "n_layers": 3, "n_heads": 2, "d_model": d}
        plain = budget.parameters(gpt.GPTConfig(**size).shape)["total"]
        tied = gpt.GPTConfig(**size, complex_linear="qkvo", mlp_width=4 * d + units(d))
        equal.append(budget.parameters(tied.shape)["total"] == plain)
    return all(equal)


@claim(
    "book.share-of-the-reverse",
    statement=r"What of a map is complex-linear over a pairing $J$ and what is complex-linear over $-J$ add up to the "
    r"whole. So if each pairing is as likely as its reverse, the mean share is one half, whatever the map.",
    tolerance=1e-12,
    witness=r"The mirror $\mathrm{diag}(1, -1)$: nothing of it over $J$, all of it over $-J$.",
    holds=lambda W, J: 1 - pairing.linear_share(W, J, out_heads=2),
    control=lambda W, J: pairing.linear_share(W, J, out_heads=2),  # as if the direction did not matter
)
def share_of_the_reverse(formula, rng):
    residual = 0.0
    for rows, columns in ((4, 2), (8, 6), (12, 12)):
        W, J = rng.normal(size=(rows, columns)), pairing.random_pairing(columns, rng)
        residual = max(residual, abs(pairing.linear_share(W, -J, out_heads=2) - formula(W, J)))
    return residual


@claim(
    "book.orthogonal-pairing",
    statement=r"Every orthogonal matrix $W$ is complex-linear, all of it, over the pairing $J = W^\top J_0 W$ of its "
    r"input, where $J_0$ pairs its outputs.",
    tolerance=1e-12,
    witness=r"A mirror of the plane, $W = \mathrm{diag}(1, -1)$: $J = -J_0$.",
    holds=lambda W, J0: W.T @ J0 @ W,
    control=lambda W, J0: W @ J0 @ W.T,
)
def orthogonal_pairing(formula, rng):
    residual = 0.0
    for size in (4, 8, 12):
        W = np.linalg.qr(rng.normal(size=(size, size)))[0]
        residual = max(residual, abs(pairing.linear_share(W, formula(W, times_i(size))) - 1))
    return residual
