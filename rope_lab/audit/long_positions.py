"""Diagnosis of the law of long positions: why a step far out differs from the step from 0 to 1.

>>> from rope_lab.algebra.layouts import rotate_elementwise
>>> slower = Probe(lambda x, n: rotate_elementwise(x, np.where(n > 99, n / 4, n), theta=[1.0]), head_dim=2)
>>> x = np.ones((1, 1, 5, 2))
>>> diagnose_step(slower, x, x, 200, off=1.0, tolerance=1e-5)
'the steps there are equal to each other, but not to the step from 0 to 1, as with other frequencies'
"""

import numpy as np

from rope_lab.audit.probe import Probe, RefusedError

STEPS = 8  # in a row: a half type, where it first rounds, puts at most five neighbours into one place


def scores_at(p: Probe, x: np.ndarray, y: np.ndarray, m: int, n: int) -> np.ndarray:
    """The scores of x at position m with y at position n."""
    return (p(x, (m,) * 5) * p(y, (n,) * 5)).sum(axis=-1)


def diagnose_step(p: Probe, x: np.ndarray, y: np.ndarray, n: int, *, off: float, tolerance: float) -> str:
    """What is wrong with the step from n to n + 1, in words.

    ``off`` is the error of its scores; ``tolerance`` is what the answer's own rounding may change.
    """
    problem = diagnose_token(p, x, n + 1, tolerance=tolerance)
    if problem:
        return problem
    try:
        still = all(np.array_equal(p(x, (m,) * 5), p(x, (n,) * 5)) for m in range(n, n + STEPS + 1))
        turns = [scores_at(p, x, y, m, m + 1) for m in range(n, n + STEPS)]
    except RefusedError:  # a table that ends here
        return "the turn is not the one from 0 to 1"
    if still:
        return f"nothing turns from {n} to {n + STEPS}: positions are cut"
    if np.ptp(turns, axis=0).max() > off / 4:
        return "the steps there differ from each other, as with rounded or cut positions or angles"
    return "the steps there are equal to each other, but not to the step from 0 to 1, as with other frequencies"


def diagnose_token(p: Probe, x: np.ndarray, n: int, *, tolerance: float) -> str:
    """What is wrong with a token at n that rounded or cut positions do not explain, in words; or an empty string."""
    long, short = (np.linalg.norm(p(x, (m,) * 5), axis=-1) for m in (n, 0))
    worst = (long / short).flat[np.abs(long / short - 1).argmax()]
    if abs(worst - 1) > tolerance:
        return f"a length at {n} is {worst:.6g} times that at 0"
    alone, with_far = (p(x, (0, 1, 2, 3, last))[..., :4, :] for last in (4, n))
    if np.abs(with_far - alone).max() > tolerance * np.abs(x).max():
        return f"a call that reaches {n} turns its other tokens otherwise too"  # as dynamic scaling does
    return ""
