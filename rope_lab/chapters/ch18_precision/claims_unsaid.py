"""What no source says about the number format of a position."""

import numpy as np

from rope_lab.algebra import half_precision, rotation
from rope_lab.claims.ledger import claim

HALVES = {"bfloat16": 8, "float16": 11}  # significant bits


@claim(
    "unsaid.precision",
    locus="in none of the sources",
    statement=r"Positions must not be cast to half precision before they are multiplied by $\theta$. With $p$ "
    r"significant bits the integers up to $2^p$ survive, and $2^p + 1$ becomes $2^p$: from there on different "
    r"positions get the same rotation, in every plane.",
    witness=r"float16: $2049$ becomes $[[2048]]$. bfloat16: $257$ becomes $[[256]]$.",
    computed=lambda: (
        half_precision.round_to(2049, dtype="float16").item(),
        half_precision.round_to(257, dtype="bfloat16").item(),
    ),
    cases="bfloat16 and float16",
    holds=lambda n, dtype: half_precision.round_to(n, dtype=dtype),
    control=lambda n, _: half_precision.round_to(n, dtype="float32"),  # the cast left out
)
def positions_that_collide(cast, halves=HALVES):
    for dtype, p in halves.items():
        n = np.arange(2 ** (p + 3))
        there = cast(n, dtype)
        first = int(np.argmax(there != n))  # the first position that moves
        same = np.array_equal(*rotation.rotation_matrix(there[[first - 1, first]], theta=rotation.frequencies(8)))
        if not (first == 2**p + 1 and there[first] == 2**p and same):
            return False
    return True
