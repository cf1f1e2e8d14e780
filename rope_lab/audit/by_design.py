r"""What a rotary embedding may do besides turning: a constant factor, another order of coordinates, a first position.

With $f(x, n) = S\,\mathcal R_n x$ and one matrix S for all positions, $S^{-1}f$ is a rotation. A law that f breaks and
$S^{-1}f$ keeps is broken by design if S is a factor on lengths (YaRN), an order of the coordinates (DeepSeek's way of
pairing neighbours), or a turn $\mathcal R_c$ (counting from c); any other S is a fault. In every case $S^\top S$
commutes with the rotation. A logit is $q^\top \mathcal R_m^\top S^\top S\,\mathcal R_n k$, so only then does it
see the offset alone.

>>> from rope_lab.algebra.layouts import rotate_elementwise
>>> scaled = Probe(lambda x, n: 1.5 * rotate_elementwise(x, n, theta=[1.0, 0.1]), head_dim=4)
>>> start_of(scaled).words
'a constant factor 1.5 on lengths'
>>> start_of(Probe(lambda x, n: rotate_elementwise(x, n + 1, theta=[1.0, 0.1]), head_dim=4)).words
'positions count from 1'
"""

from dataclasses import dataclass

import numpy as np

from rope_lab.audit.matrices import basis_matrices
from rope_lab.audit.probe import Probe, RefusedError


@dataclass(frozen=True)
class Start:
    """What f does at position 0, and its name."""

    matrix: np.ndarray
    words: str


class Corrected(Probe):
    """A callable with its start divided out."""

    def __init__(self, probe: Probe, start: Start) -> None:
        self.__dict__.update(probe.__dict__)
        self.inverse = np.linalg.inv(start.matrix)

    def _call(self, form, x, positions):
        return super()._call(form, x, positions) @ self.inverse.T


def start_of(probe: Probe) -> Start | None:
    """What f does at position 0 if that has a harmless name, else None."""
    try:
        first, second = basis_matrices(probe, (0, 1))
    except RefusedError:
        return None
    tolerance = 16 * max(probe.eps, 2.0**-22)
    gram = first.T @ first
    lengths = np.sqrt(np.diag(gram))
    if not (lengths > tolerance).all() or np.abs(gram - np.diag(lengths**2)).max() > tolerance * lengths.max() ** 2:
        return None
    factor = lengths[np.abs(lengths - 1).argmax()]
    if not np.isclose(np.minimum(abs(lengths - 1), abs(lengths - factor)), 0, atol=tolerance * factor).all():
        return None
    step = np.linalg.inv(first) @ second
    if np.abs(gram @ step - step @ gram).max() > tolerance * lengths.max() ** 2:
        return None
    words = [f"a constant factor {factor:.6g} on lengths"] if abs(factor - 1) > tolerance else []
    turned = first / lengths  # an orthogonal matrix
    if np.abs(np.abs(turned).max(axis=1) - 1).max() <= tolerance:
        order = np.abs(turned).argmax(axis=1)
        if (order != np.arange(len(order))).any():
            words.append("the answer has its coordinates in another order")
        if (turned[np.arange(len(order)), order] < 0).any():
            words.append("coordinates change sign")
    else:
        offset = _offset(turned, step, tolerance)
        if offset is None:
            return None
        words.append(f"positions count from {offset:.6g}")
    return Start(first, ", ".join(words)) if words else None


def _offset(turned: np.ndarray, step: np.ndarray, tolerance: float) -> float | None:
    """c where ``turned`` is the rotation of position c, from the planes of one step; None where there is no such c."""
    mixing = np.maximum(abs(step), abs(turned)) > tolerance
    mixing |= mixing.T
    np.fill_diagonal(mixing, False)
    if (mixing.sum(axis=0) > 1).any() or not mixing.any():
        return None
    a, b = np.array([(i, j) for i, j in np.argwhere(mixing) if i < j]).T
    theta, phi = (np.angle(m[a, a] + m[b, b] + 1j * (m[b, a] - m[a, b])) for m in (step, turned))
    turning = np.abs(theta) > tolerance
    if not turning.any():
        return None
    c = 0.0
    for i in np.argsort(np.where(turning, np.abs(theta), np.inf))[: turning.sum()]:  # slow planes count whole turns
        miss = np.angle(np.exp(1j * (phi[i] - c * theta[i])))
        if c and abs(miss) > 0.5:
            return None
        c += miss / theta[i]
    c = round(c) if abs(c - round(c)) < 1e-3 else c
    misses = np.abs(np.angle(np.exp(1j * (phi - c * theta))))
    return float(c) if misses.max() <= 64 * tolerance * max(1.0, abs(c)) else None
