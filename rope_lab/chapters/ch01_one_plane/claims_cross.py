"""One rotation, several spellings: the sources name positions and offsets each in its own way."""

import numpy as np
import sympy as sp

from rope_lab.algebra import rotation, symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim


@claim(
    "cross.conventions",
    locus="all sources",
    statement=r"With the query at $m$ and the key at $n$, these are one matrix: $R_{n-m}$, which one article writes "
    r"$R_{j-i}$ with query $i$ and key $j$; the transpose $R_{m-n}^\top$; and the complex factor "
    r"$\overline{e^{i(m-n)\theta}}$ between $\overline{\tilde q}$ and $\tilde k$, of which the logit is the real part.",
    witness=r"$q = (1, 0)$, $k = (0, 1)$, a quarter turn per position, $n - m = 1$: every spelling gives $[[-1]]$.",
    computed=lambda: rotation.logits([[1, 0]], [[0, 1]], q_positions=[0], k_positions=[1], theta=[np.pi / 2]).item(),
    holds=sp.conjugate,
    control=lambda factor: factor,  # the conjugate dropped: the offset with the wrong sign
)
def spellings_of_one_logit(conjugate):
    m, n, theta = sp.symbols("m n theta", real=True)
    q, k = sp.Matrix(sp.symbols("q_1:3", real=True)), sp.Matrix(sp.symbols("k_1:3", real=True))

    def R(position):
        return exact.rotation_2d(position * theta)

    factor = conjugate(sp.exp(sp.I * (m - n) * theta))
    complex_form = sp.re(sp.expand((q[0] - sp.I * q[1]) * factor.rewrite(sp.cos) * (k[0] + sp.I * k[1])))
    spellings = [(q.T * R(n - m) * k)[0], (q.T * R(m - n).T * k)[0], complex_form]
    quarter = {m: 0, n: 1, theta: sp.pi / 2, q[0]: 1, q[1]: 0, k[0]: 0, k[1]: 1}
    return all(symbolic.same(spelling, ((R(m) * q).T * (R(n) * k))[0]) for spelling in spellings) and all(
        spelling.subs(quarter) == -1 for spelling in spellings
    )
