"""Beside chapter 11: the second part of the complex logit is the logit of a query that was turned by a right angle."""

import numpy as np

from rope_lab.algebra import rotation, widely_linear
from rope_lab.claims.ledger import claim


@claim(
    "book.query-times-i",
    statement=r"Let $z = \sum_i \overline{\tilde q_i}\,\tilde k_i\, e^{\mathrm i(n-m)\theta_i}$. Its real part is the "
    r"logit, and its imaginary part is the logit of the query $\mathrm i q$ with the same keys: $-\mathrm{Im}\,z$ that "
    r"of $-\mathrm i q$. The quarter turn may come before or after the rotation.",
    witness=r"$\overline{\mathrm i}\, z = -\mathrm i z$ has the real part $\mathrm{Im}\, z$.",
    tolerance=1e-12,
    holds="interleaved",
    control="half",  # a quarter turn in the other layout: pairs that do not turn together
)
def a_quarter_turn_of_the_query(layout, rng):
    d, theta = 8, rotation.frequencies(8, base=50.0)
    q, k, J = rng.normal(size=d), rng.normal(size=d), widely_linear.times_i(d, layout=layout)
    z_q, z_k = (widely_linear.to_complex(x) for x in (q, k))
    misses = []
    for m, n in ((3.0, 11.0), (40.0, 2.0)):
        z = (z_q.conj() * z_k * np.exp(1j * (n - m) * theta)).sum()
        turned = rotation.logits((J @ q)[None], k[None], q_positions=[m], k_positions=[n], theta=theta)[0, 0]
        after = J @ rotation.rotate(q[None], [m], theta=theta)[0] @ rotation.rotate(k[None], [n], theta=theta)[0]
        misses += [abs(turned - z.imag), abs(after - z.imag)]
    return max(misses)
