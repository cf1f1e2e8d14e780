"""Which mistake of the gallery a callable makes, if its answers are those of that mistake.

>>> from rope_lab.audit.gallery import right
>>> wrong = {mistake.name: mistake for mistake in GALLERY}["mismatched cos/sin layout"]
>>> like_in_gallery(lambda x, n: wrong.f(x, n), head_dim=8).name, like_in_gallery(right, head_dim=8)
('mismatched cos/sin layout', None)
"""

import inspect
from typing import Any

import numpy as np

from rope_lab.audit.gallery import GALLERY, Mistake, right
from rope_lab.audit.law_checks import FLOOR
from rope_lab.audit.probe import Probe, RefusedError

BASES = (10000.0, 500000.0, 1000000.0, 100.0)  # of texts and of images, where a mistake can be made with any
AT = (0, 3, 1, 7, 4)


def like_in_gallery(f: Any, *, head_dim: int) -> Mistake | None:
    """The first mistake of the gallery whose answers f gives, at positions near 0 and for several bases.

    A mistake counts that a law finds in one callable without memory. What is lawful and only not what was meant is
    no mistake that answers could show.

    Args:
        f: The callable `f(x, positions)`, as in `fingerprint`.
        head_dim: The width of a head, a positive even integer.

    Returns:
        The `Mistake`, or None where f answers like none of them or does not answer.

    Raises:
        TypeError: If head_dim is not an integer.
        ValueError: If head_dim is not positive and even.
    """
    x, at = np.random.default_rng(3).normal(size=(2, 3, len(AT), head_dim)), np.array(AT)
    try:
        probe = Probe(f, head_dim=head_dim)
        answer = probe(x, at)
    except RefusedError:
        return None

    def same(other: np.ndarray) -> bool:
        return bool(np.abs(answer - other).max() <= 8 * max(FLOOR, probe.eps) * np.abs(x).max())

    if any(same(right(x, at, base=base, layout=layout)) for base in BASES for layout in ("half", "interleaved")):
        return None
    for mistake in GALLERY:
        if mistake.keys is None and not mistake.expected and inspect.isfunction(mistake.f):
            takes_base = "base" in inspect.signature(mistake.f).parameters
            if any(same(mistake.f(x, at, base=base) if takes_base else mistake.f(x, at)) for base in BASES):
                return mistake
    return None
