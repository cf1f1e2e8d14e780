"""Beside chapter 1: a plane's logit with the angles of the contents taken out of it."""

import numpy as np
import sympy as sp

from rope_lab.algebra import rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

m, n, theta, delta, alpha = sp.symbols("m n theta delta alpha", real=True)
mu, nu = sp.symbols("mu nu", positive=True)


@claim(
    "book.polar-logit",
    statement=r"Let the contents give lengths $\mu, \nu > 0$ alone: the query $(\mu, 0)$ and the key "
    r"$\nu(\cos\delta, \sin\delta)$ with a fixed $\delta$. RoPE's logit of this plane is "
    r"$\mu\nu\cos((n - m)\theta + \delta)$.",
    witness=r"$\delta = 0$: the largest logit is at offset 0.",
    holds=lambda delta: delta,
    control=lambda delta: delta - alpha,  # a query with an angle of its own
)
def lengths_and_one_phase(phase):
    query = exact.rotation_2d(m * theta) * sp.Matrix([mu, 0])
    key = exact.rotation_2d(n * theta) * nu * sp.Matrix([sp.cos(delta), sp.sin(delta)])
    goal = mu * nu * sp.cos((n - m) * theta + phase(delta))
    return symbolic.same(sp.Matrix([query.dot(key)]), sp.Matrix([goal]))


@claim(
    "book.polar-peak",
    statement=r"In such a plane every query and key has its largest logit at the same offset, $-\delta/\theta$. In "
    r"RoPE the angles $\alpha$ and $\beta$ of query and key move it to $(\alpha - \beta)/\theta$.",
    witness=r"$\delta = 0$: no content can make a plane look one step back.",
    tolerance=1e-12,
    holds=lambda x, angle: np.array([np.hypot(*x) * np.cos(angle), np.hypot(*x) * np.sin(angle)]),
    control=lambda x, angle: x,  # noqa: ARG005 - the content keeps its angle
)
def one_best_offset(content, rng):
    theta, delta, worst = 0.7, -1.2, 0.0
    for q, k in rng.normal(size=(8, 2, 2)):
        logit = rotation.logits(
            content(q, 0.0)[None],
            content(k, delta)[None],
            q_positions=[0.0],
            k_positions=[-delta / theta],
            theta=[theta],
        )[0, 0]
        worst = max(worst, 1 - logit / (np.hypot(*q) * np.hypot(*k)))
    return abs(worst)
