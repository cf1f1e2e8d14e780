"""Why far steps are others than near ones: what more calls show, and no more than they show.

>>> from rope_lab.algebra.layouts import rotate_elementwise
>>> slower = Probe(lambda x, n: rotate_elementwise(x, np.where(n > 99, n / 4, n), theta=[1.0]), head_dim=2)
>>> x = np.ones((1, 1, 5, 2))
>>> why(slower, x, x, 200, off=1.0, room=1e-5)
'the steps there are alike and others than at 0, as with other frequencies'
"""

import numpy as np

from rope_lab.audit.probe import Probe, Refused

STEPS = 8  # in a row: a half type, where it first rounds, puts at most five neighbours into one place


def apart(p: Probe, x: np.ndarray, y: np.ndarray, m: int, n: int) -> np.ndarray:
    """The scores of tokens at m and n."""
    return (p(x, (m,) * 5) * p(y, (n,) * 5)).sum(axis=-1)


def why(p: Probe, x: np.ndarray, y: np.ndarray, n: int, *, off: float, room: float) -> str:
    """What is wrong with the step from n to n + 1, which is ``off`` by so much; ``room``: for the answer's rounding."""
    found = disturbed(p, x, n + 1, room=room)
    if found:
        return found
    try:
        still = all(np.array_equal(p(x, (m,) * 5), p(x, (n,) * 5)) for m in range(n, n + STEPS + 1))
        turns = [apart(p, x, y, m, m + 1) for m in range(n, n + STEPS)]
    except Refused:  # a table that ends here
        return "it turns otherwise than from 0 to 1"
    if still:
        return f"nothing turns from {n} to {n + STEPS}: positions are cut"
    if np.ptp(turns, axis=0).max() > off / 4:
        return "the steps there are not alike, as with rounded or cut positions or angles"
    return "the steps there are alike and others than at 0, as with other frequencies"


def disturbed(p: Probe, x: np.ndarray, n: int, *, room: float) -> str:
    """What a token at n shows that no rounded or cut position does, in words, or nothing."""
    long, short = (np.linalg.norm(p(x, (m,) * 5), axis=-1) for m in (n, 0))
    worst = (long / short).flat[np.abs(long / short - 1).argmax()]
    if abs(worst - 1) > room:
        return f"a length at {n} is {worst:.6g} times that at 0"
    alone, with_far = (p(x, (0, 1, 2, 3, last))[..., :4, :] for last in (4, n))
    if np.abs(with_far - alone).max() > room * np.abs(x).max():
        return f"a call that reaches {n} turns its other tokens otherwise too"  # as dynamic scaling does
    return ""
