"""The turn of each plane at thousands of positions up to a window, each compared with what the nearer ones foretell.

A plane that turns by theta per position stands at n theta. What float32 loses of n theta grows with n theta, so each
plane has a tolerance of its own: a slow plane that is off by 0.001 at position 100,000 was not rounded.

>>> from rope_lab.algebra.layouts import rotate_elementwise
>>> def ends(x, n): return rotate_elementwise(x, np.minimum(n, 69_999), theta=[1.0, 0.01])
>>> seen = far_turns(Probe(ends, head_dim=4), window=2**17)
>>> seen.wrong, seen.words
(70000, 'nothing turns from 69999 on: positions are cut')
>>> far_turns(Probe(ends, head_dim=4), window=70_000).wrong is None
True
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rope_lab.audit.foreign_code import in_a_line
from rope_lab.audit.probe import HEADS, Probe, RefusedError

WINDOW = 2**20  # positions that are asked where nobody says how many there are
LEAST = 16  # positions, below which no law can be asked
FLOOR = 4e-6  # cos and sin that were rounded to float32, with a margin
DRIFT = 2.5e-7  # of its angle that a plane may be off in float32: n theta rounded once, with a margin
DENSE, BLOCK, SCATTERED = 1024, 9, 1500  # positions asked one by one, around each power of two, and at random, twice
CHUNK = 128  # positions in one call; of 64 to 1,024 among the fastest for wide heads
SEEN = (0, 1, 2, 3, 5, 8, 21, 144, 987, 16381, 262139)  # the positions that show which coordinates make a plane


@dataclass(frozen=True)
class Far:
    """What was seen of one callable, up to a window."""

    asked: int  # the number of positions
    reached: int  # the farthest of them
    worst: float  # the largest miss, as a share of a vector
    wrong: int | None = None  # the first position that is not what it should be
    words: str = ""  # what happens there
    unasked: str = ""  # what was not asked, and why


def places(window: int) -> np.ndarray:
    """The positions that are asked: the first ones, a block around each power of two, some thousand at random.

    >>> at = places(40_000)
    >>> int(at[0]), int(at[-1]), all(n in at for n in (*range(1024), *range(32760, 32777))), len(at) > 3000
    (0, 39999, True, True)
    """
    rng = np.random.default_rng(5)
    edges = np.array([*(2**k for k in range(1, 62) if 2**k < window), window])
    blocks = (edges[:, None] + np.arange(-BLOCK, BLOCK)).ravel()
    even = rng.integers(0, window, SCATTERED)
    by_size = np.exp(rng.uniform(0, np.log(window), SCATTERED)).astype(np.int64)
    at = np.unique(np.concatenate([np.arange(DENSE), blocks, even, by_size]))
    return at[(at >= 0) & (at < window)]


def head_maps(p: Probe, positions: np.ndarray) -> np.ndarray:
    """The matrix of each head at each position, (heads, T, head_dim, head_dim), all heads asked at once."""
    d = p.head_dim
    eye = np.broadcast_to(np.eye(d)[:, None, None, :], (d, HEADS, len(positions), d))
    return p(eye, positions).transpose(1, 2, 3, 0)


def _as_far_as_answered(p: Probe, positions: list[int]) -> np.ndarray:
    while True:
        try:
            return head_maps(p, np.array(positions))
        except RefusedError:
            if len(positions) < 3:
                raise
            positions = positions[:-1]  # a table that ends


def planes_of(maps: np.ndarray, *, eps: float) -> tuple[np.ndarray, float]:
    """Rows C of one head with C M_n v = exp(i n theta) C v, one for each plane and each coordinate that stands still.

    Also how well they part the planes: 0 where planes are pairs of coordinates.
    """
    d = maps.shape[-1]
    links = np.abs(maps).max(axis=0) > 2e-6
    links |= links.T
    np.fill_diagonal(links, False)
    if (links.sum(axis=0) <= 1).all():
        rows = np.eye(d, dtype=complex)
        for a, b in np.argwhere(np.triu(links)):
            rows[a, b] = 1j
        return rows[[not links[i, :i].any() for i in range(d)]], 0.0
    skew = sum(w * (M - M.T) for w, M in zip(np.random.default_rng(0).uniform(0.5, 1, len(maps)), maps, strict=True))
    values, vectors = np.linalg.eigh(1j * skew)
    rows = vectors.conj().T[values > -d * max(1e-9, 8 * eps)]
    inside = np.einsum("ik,tkl,jl->tij", rows, maps, rows.conj())
    return rows, float(np.abs(inside * (1 - np.eye(len(rows)))).max(initial=0.0))


def _parts(to: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The product with rows. Those with a single entry take that coordinate: of a wide head that is a hundredth."""
    if (np.count_nonzero(to, axis=1) > 1).any():
        turned = np.ascontiguousarray(to.T)
        return lambda y: y @ turned
    at = np.abs(to).argmax(axis=1)
    size = to[np.arange(len(to)), at]
    return lambda y: y.take(at, axis=-1) * size


class _Asked:
    """One callable, asked position by position: the component of two vectors in each plane, as complex numbers."""

    def __init__(self, p: Probe, *, near: int) -> None:
        self.p = p
        seen = SEEN[:: 2 if p.head_dim >= 256 else 1]  # of a wide head each map costs much
        maps = _as_far_as_answered(p, [n for n in seen if n < max(near, 2)])
        eye, parted = np.eye(p.head_dim), []
        for head in maps:
            still = (head[0] == eye).all()
            back = eye if still else np.linalg.inv(head[0])
            rows, leak = planes_of(head if still else back @ head, eps=p.eps)
            to = rows if still else rows @ back
            parted.append((_parts(to.real), _parts(to.imag), leak))
        self.planes = [pair for *pair, _ in parted]
        self.leak = max(leak for *_, leak in parted)
        self.x = np.random.default_rng(6).choice([-1.0, 1.0], size=(2, HEADS, 1, p.head_dim))
        self.at_zero = self._components(np.array([0]))
        self.size = np.maximum(np.sqrt((np.abs(self.at_zero) ** 2).mean(axis=0)), 0.1)[0]

    def _components(self, positions: np.ndarray) -> np.ndarray:
        """(vectors, T, planes of all heads)."""
        if len(positions) == 1:  # a single token may be a case of its own, which another law asks
            return self._components(np.repeat(positions, 2))[:, :1]
        y = self.p(np.broadcast_to(self.x, (2, HEADS, len(positions), self.p.head_dim)), positions)
        parts = [[part(y[:, h]) for part in pair] for h, pair in enumerate(self.planes)]
        z = np.empty((*y.shape[::2], sum(real.shape[-1] for real, _ in parts)), dtype=complex)
        for part, of in ((z.real, 0), (z.imag, 1)):
            np.concatenate([pair[of] for pair in parts], axis=-1, out=part)
        return z

    def turns(self, positions: np.ndarray, *, any_length: bool) -> tuple[np.ndarray, np.ndarray]:
        """The turn of each plane relative to position 0, (T, planes), and what no turn explains of the components."""
        z = self._components(positions)
        turn = (z * self.at_zero.conj()).sum(axis=0)
        size = np.abs(turn)
        length = size / (np.abs(self.at_zero) ** 2).sum(axis=0)
        if any_length and not (length.min() > 1e-150 and length.max() < 1e150):
            raise RefusedError("lengths leave what float64 holds")
        turn /= np.maximum(size, 1e-300)
        rest = (z / np.maximum(length, 1e-300) if any_length else z) - turn * self.at_zero
        rest = np.sqrt((rest.real**2 + rest.imag**2).max(axis=0))  # not np.abs, which takes three times as long
        return turn, rest / self.size

    def all_turns(self, at: np.ndarray, *, any_length: bool) -> tuple[np.ndarray, np.ndarray, str]:
        """`turns` of as many of the ascending positions as are answered, and why not of the others."""
        found, said = [], ""
        for i in range(0, len(at), CHUNK):
            part = at[i : i + CHUNK]
            try:
                found.append(self.turns(part, any_length=any_length))
                continue
            except RefusedError as refusal:
                said = in_a_line(refusal)
            low, high = 0, len(part)  # so many are answered; so many are not
            while high - low > 1:
                middle = (low + high) // 2
                try:
                    last = self.turns(part[:middle], any_length=any_length)
                except RefusedError as refusal:
                    high, said = middle, in_a_line(refusal)
                else:
                    low = middle
            found += [last] if low else []
            break
        turn, rest = (np.concatenate([pair[i] for pair in found]) for i in (0, 1))
        return turn, rest, said


def far_turns(p: Probe, *, window: int, any_length: bool = False) -> Far:
    """Compare the turns of a callable at the `places` of a window with those that nearer positions foretell.

    Args:
        p: The callable.
        window: How many positions there are.
        any_length: Whether lengths may change with the position, as in a pair of queries and keys that share a factor.

    Returns:
        What was seen. A callable that refuses positions is asked as far as it answers.

    Raises:
        RefusedError: If not even the first positions are answered.
    """
    at = places(window)
    try:
        asked = _Asked(p, near=window)
    except np.linalg.LinAlgError:
        return Far(0, 0, 0.0, unasked="the map at position 0 has no inverse")
    turn, rest, refusal = asked.all_turns(at, any_length=any_length)
    at = at[: len(turn)]
    rounding = max(FLOOR, 4 * p.eps) + 4 * asked.leak
    theta, known = np.angle(turn[1]) if len(turn) > 1 else np.zeros(turn.shape[1]), 1
    miss, allowed = np.zeros(turn.shape), np.full(turn.shape, rounding)
    for k in range(int(at[-1]).bit_length()):
        octave = slice(*np.searchsorted(at, (2**k, 2 ** (k + 1))))
        n = at[octave, None]
        off = (turn[octave].real - np.cos(n * theta)) ** 2 + (turn[octave].imag - np.sin(n * theta)) ** 2
        miss[octave] = np.sqrt(off + rest[octave] ** 2)
        allowed[octave] = rounding * (2 + n / known) + DRIFT * n * np.abs(theta)
        if n[0] == 2**k and (miss[octave][0] <= allowed[octave][0]).all():  # this one is known, and foretells the next
            theta, known = theta + np.angle(turn[octave][0] * np.exp(-1j * n[0] * theta)) / n[0], 2**k
        if (miss[octave] > allowed[octave]).any():
            break
    unasked = f"positions from {_next(at, window)} on are refused: {refusal}" if refusal else ""
    bad = np.flatnonzero((miss > allowed).any(axis=1))
    if not len(bad):
        return Far(len(at), int(at[-1]), float(miss.max()), unasked=unasked)
    first, step = int(at[bad[0]]), (theta, rounding * 4 + DRIFT * int(at[bad[0]]) * np.abs(theta))
    last = int(at[bad[0] - 1])
    while first - last > 1:  # between the last right one and the first wrong one of those asked
        middle = (first + last) // 2
        good = _right(asked, middle, *step, any_length=any_length)
        first, last = (first, middle) if good else (middle, last)
    plane = int((miss - allowed)[bad[0]].argmax())
    off = f"off by {miss[bad[0], plane]:.1e}, where float32 angles may miss by {allowed[bad[0], plane]:.1e}"
    return Far(len(at), int(at[-1]), float(miss[bad[0]].max()), first, _words(asked, first, off), unasked)


def _next(at: np.ndarray, window: int) -> int:
    return int(places(window)[len(at)])


def _right(asked: _Asked, n: int, theta: np.ndarray, allowed: np.ndarray, *, any_length: bool) -> bool:
    try:
        turn, rest = asked.turns(np.array([n]), any_length=any_length)
    except RefusedError:
        return True
    return bool((np.hypot(np.abs(turn[0] - np.exp(1j * n * theta)), rest[0]) <= allowed).all())


def _words(asked: _Asked, first: int, off: str) -> str:
    """Say what happens from the first wrong position on."""
    try:
        turn, _ = asked.turns(np.array([0, first - 1, first, first + 1, first + 2]), any_length=True)
    except RefusedError:
        return f"position {first} does not turn {first} times as far as position 1: {off}"
    if np.abs(turn[2:] - turn[1]).max() < FLOOR:
        return f"nothing turns from {first - 1} on: positions are cut"
    if np.abs(turn[2] - turn[0]).max() < FLOOR:
        return f"position {first} turns as position 0 does: they begin again"
    return f"position {first} does not turn {first} times as far as position 1: {off}"
