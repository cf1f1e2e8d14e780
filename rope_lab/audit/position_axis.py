"""Along which axis does a callable turn? The answer for a token may depend on its own position and on nothing else.

>>> from rope_lab.audit.probe import Probe
>>> heads = Probe(lambda x, n: x * np.cos(np.arange(x.shape[-3]))[:, None, None], head_dim=4)
>>> diagnose_axis(heads, np.random.default_rng(0).normal(size=(2, 3, 5, 4)), np.arange(5), tolerance=1e-6)
'it turns with the head, not with the position'
"""

import numpy as np

from rope_lab.audit.probe import Probe


def diagnose_axis(p: Probe, x: np.ndarray, at: np.ndarray, *, tolerance: float) -> str | None:
    """What is wrong with the axis, in words, or None.

    ``x`` is (batch, heads, T, head_dim), ``at`` (T,). If batch entries or heads are exchanged, the answers must be
    exchanged in the same way; if one position changes, the answer for one token must change.
    """
    y = p(x, at)
    other = p(x, at + 1 + np.arange(len(at)))
    ignored = np.abs(other - y).max() <= tolerance
    for axis, name in ((1, "head"), (0, "batch entry")):
        if np.abs(np.roll(p(np.roll(x, 1, axis=axis), at), -1, axis=axis) - y).max() > tolerance:
            return f"it turns with the {name}" + (", not with the position" if ignored else "")
    if ignored and np.abs(y - x).max() > tolerance:
        return "it turns by the place in the sequence and ignores the positions"
    for t in range(len(at)):
        moved = at.copy()
        moved[t] += 3
        touched = np.abs(p(x, moved) - y).max(axis=(0, 1, 3)) > tolerance
        touched[t] = False
        if touched.any():
            return f"the position of token {t} turns token {int(touched.argmax())}"
    return None
