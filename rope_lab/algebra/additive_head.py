r"""One head with absolute positions, added to the embedding: what it can do on a window, and what that costs.

>>> head = parabola_head(8, offsets=(1, 2), content=0)
>>> int(head.logits(m=3, kind=0).argmax()), int(head.logits(m=3, kind=1).argmax())  # one ahead, and two
(4, 5)
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from rope_lab.algebra import rotation
from rope_lab.algebra.arguments import (
    LONGEST,
    WIDEST,
    expect_float,
    expect_narrow,
    expect_real,
    expect_shapes,
    expect_whole,
)

__all__ = ["AdditiveHead", "least_tilt_range", "parabola_head", "sinusoid_head"]


@dataclass(frozen=True)
class AdditiveHead:
    r"""Positions, and the two projections that see the sum of token and position.

    $s_{mn} = (x_m + p_m)^\top W_q^\top W_k (x_n + p_n)$

    An embedding has one coordinate for each kind of token (1 for its own kind, 0 for the others), then ``content``
    coordinates with anything in them, then those of the position.
    """

    positions: Float64[np.ndarray, "window pos"]
    W_q: Float64[np.ndarray, "rows width"]
    W_k: Float64[np.ndarray, "rows width"]
    kinds: int

    @property
    def content(self) -> int:
        return self.W_q.shape[1] - self.kinds - self.positions.shape[1]

    def embed(self, kind: int, position: int, content: ArrayLike | None = None) -> Float64[np.ndarray, "width"]:
        """Token plus position. ``content`` is 0 where none is given."""
        content = np.zeros(self.content) if content is None else expect_real(content, name="content")
        return np.concatenate((np.eye(self.kinds)[kind], content, self.positions[position]))

    def logits(self, *, m: int, kind: int, contents: ArrayLike | None = None) -> Float64[np.ndarray, "window"]:
        """The query's row: a token of that kind at position m, and keys of kind 0 with any ``contents``."""
        window = len(self.positions)
        contents = np.zeros((window, self.content)) if contents is None else expect_real(contents, name="contents")
        keys = np.stack([self.embed(0, n, contents[n]) for n in range(window)])
        return keys @ self.W_k.T @ (self.W_q @ self.embed(kind, m))

    def tilt(self, *, kinds: tuple[int, int] = (0, 1)) -> Float64[np.ndarray, "window"]:
        r"""The change of each key's logit when the query's kind changes: the same for queries at all positions.

        $a(n) = (x' - x)^\top W_q^\top W_k (x_n + p_n)$.

        Claims:
            ``crope.abs-impossible``
        """
        return self.logits(m=0, kind=kinds[1]) - self.logits(m=0, kind=kinds[0])


def least_tilt_range(window: int, *, margin: float) -> float:
    r"""The least range of the tilt of any such head that looks one or two places ahead, everywhere in the window.

    $a(n+1) - a(n) \ge 2\varepsilon$ for $N - 2$ steps, so at least $2\varepsilon\,(N - 2)$, with the margin
    $\varepsilon$ by which the wanted key must lead. ValueError below 2 positions.

    Args:
        window: How many positions N there are, 2 or more.
        margin: $\varepsilon$, by which the wanted key must lead.

    Returns:
        A float, in units of the logit.

    Raises:
        ValueError: If there are fewer than 2 positions.

    Claims:
        ``crope.toy-advantage``

    >>> least_tilt_range(1002, margin=5.0)
    10000.0
    """
    window = expect_whole(
        window, name="window", least=2, limit=LONGEST, fix="with fewer positions there is nothing to tell apart"
    )
    return 2.0 * expect_float(margin, name="margin") * (window - 2)


def parabola_head(
    window: int, *, offsets: tuple[float, ...] = (1, 2), content: int = 3, steepness: float = 5.0
) -> AdditiveHead:
    r"""The head with positions $p_n = (1, n, n^2)$: its logits are a parabola over the keys, with its top where wanted.

    $s_{mn} = c\,[2(m + s)\,n - n^2] = -c\,(n - m - s)^2 + c\,(m+s)^2$; the last term is the same for all keys of a row

    The wanted key leads by ``steepness`` c at least, in any window.

    Args:
        window: Positions are 0 to ``window`` - 1.
        offsets: s for each kind of token.
        content: Coordinates that no logit sees.
        steepness: $c$.

    Returns:
        The head.

    Claims:
        ``crope.abs-impossible``

    >>> parabola_head(5, content=0).logits(m=1, kind=0).tolist()  # 5 (4n - n^2): the top at n = 2
    [0.0, 15.0, 20.0, 15.0, 0.0]
    """
    window = expect_whole(window, name="window", least=1, limit=LONGEST)
    content = expect_whole(content, name="content", least=0, limit=WIDEST)
    (wanted,) = expect_shapes(offsets=(offsets, "kinds"))
    n, kinds, steepness = np.arange(window, dtype=np.float64), len(wanted), expect_float(steepness, name="steepness")
    blind = np.zeros((2, content))
    W_q = np.hstack(([2.0 * wanted, np.zeros(kinds)], blind, [[0, 2, 0], [-1, 0, 0]]))
    W_k = np.hstack((np.zeros((2, kinds)), blind, [[0, 1, 0], [0, 0, 1]]))
    return AdditiveHead(np.stack((np.ones(window), n, n**2), axis=1), steepness * W_q, W_k, kinds)


def sinusoid_head(
    window: int, *, head_dim: int = 128, base: float = 10000.0, margin: float = 12.0, content: int = 3
) -> AdditiveHead:
    r"""The head with the usual bounded positions, $p_n = (\sin n\theta_i, \cos n\theta_i)_i$: looks 1 or 2 ahead.

    $s_{mn} = c \sum_i \cos((n - m - \tfrac32)\,\theta_i) \mp b \sin((n - \tfrac{N-1}2)\,\theta_j)$

    All planes together make a peak halfway between the two keys. One slow plane j, nearly straight over the window, is
    added or taken away by the kind of token and tips the balance. Both c and b grow like ``window``.

    Args:
        window: How many positions.
        head_dim: Width of the position vector, even.
        base: Of its frequencies.
        margin: The least lead of the wanted key.
        content: Coordinates that no logit sees.

    Returns:
        The head.

    Raises:
        ValueError: If no plane is nearly straight over the window.

    Claims:
        ``crope.abs-impossible``, ``crope.toy-advantage``

    >>> head = sinusoid_head(64)
    >>> int(head.logits(m=30, kind=0).argmax()), int(head.logits(m=30, kind=1).argmax())
    (31, 32)
    """
    expect_whole(window, name="window", least=2, limit=WIDEST)
    content = expect_whole(content, name="content", least=0, limit=WIDEST)
    margin = expect_float(margin, name="margin")
    theta, n = rotation.frequencies(expect_narrow(head_dim, name="head_dim"), base=base), np.arange(window)
    if not 2 <= window <= 1 / theta[-1]:
        raise ValueError(
            f"window: expected 2 to {int(1 / theta[-1])} positions, over which the slowest plane is nearly straight, "
            f"got {window}; a larger base reaches further"
        )
    slow, planes, middle = int(np.argmax(theta * window <= 1)), len(theta), (window - 1) / 2
    tilt = margin / (2 * np.sin(theta[slow] / 2) * np.cos(middle * theta[slow]))  # b: one step is worth the margin
    steps = np.arange(1, window)
    lost = (np.cos(theta / 2) - np.cos(np.outer(steps + 0.5, theta))).sum(axis=1)  # from the peak's two best keys on
    peak = float(((tilt * theta[slow] * steps + margin) / lost).max())  # c: no tilt outruns the peak
    positions = np.stack((np.sin(np.outer(n, theta)), np.cos(np.outer(n, theta))), axis=-1).reshape(window, -1)
    # Rows: the planes for the peak, then one row for the tilt. Content and kind are not seen by keys.
    turn = rotation.rotation_matrix(-1.5, theta=theta)  # (sin, cos) of n turned by -x is (sin, cos) of n + x
    W_q = np.zeros((2 * planes + 1, 2 + content + 2 * planes))
    W_k = np.zeros_like(W_q)
    W_q[:-1, 2 + content :], W_k[:-1, 2 + content :] = peak * turn, np.eye(2 * planes)
    W_q[-1, :2] = -tilt, tilt
    at = 2 + content + 2 * slow
    W_k[-1, at], W_k[-1, at + 1] = np.cos(middle * theta[slow]), -np.sin(middle * theta[slow])
    return AdditiveHead(positions, W_q, W_k, 2)
