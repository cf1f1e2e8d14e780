"""One schedule, two ways of counting its planes."""

import numpy as np

from rope_lab.algebra import rotation
from rope_lab.claims.ledger import claim


@claim(
    "cross.theta-index",
    locus="all sources",
    statement=r"The blog's exponent $-2(i-1)/d$ with $i$ from $1$ gives the frequencies of this book's $-2i/d$ with "
    r"$i$ from $0$.",
    correction=r"Read in the sources, not checked: the article on completeness counts the planes from $0$, the blog "
    r"and CRoPE from $1$. CRoPE gives no schedule.",
    tier="minor",
    witness=r"The first plane turns by $1$ radian per position in both: "
    r"$10000^{-2 \cdot (1-1)/d} = 10000^{-2 \cdot 0/d}$.",
    tolerance=1e-12,
    holds=lambda i: i + 1,
    control=lambda i: i,  # the blog's formula fed with our index
)
def the_same_plane_by_two_names(blog_index, rng):
    worst = 0.0
    for _ in range(5):
        d, base = int(2 * rng.integers(1, 100)), rng.uniform(100, 1e6)
        i = np.arange(d // 2)
        of_the_blog = base ** (-2 * (blog_index(i) - 1) / d)
        worst = max(worst, np.abs(of_the_blog / rotation.frequencies(d, base=base) - 1).max())
    return worst
