"""What part 19 takes over from part 6: every orthogonal solution is the block rotation in other coordinates."""

import numpy as np
import sympy as sp

from rope_lab.algebra import orthogonal_powers
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

FLIP, HALF_TURN = sp.diag(1, -1), sp.diag(-1, -1)
ODD = sp.diag(exact.rotation_2d(sp.pi / 2), -1)
ANY = sp.Symbol("c", real=True)  # the cosine of one plane's angle, to be solved for


def _reproduced(O, planes) -> bool:  # noqa: E741 - the book's letter
    """Are the logits of the powers of O also those of rotating planes, for q = (1, 2, ...) and k = (1, 1, ...)?"""
    q, k = sp.Matrix(range(1, O.rows + 1)), sp.ones(O.rows, 1)
    logits = sp.Matrix([(q.T * O**r * k)[0] for r in range(6)])
    if planes is ANY:  # one plane: each logit is c times twice its neighbours' mean, with a cosine c
        found = sp.solve([logits[r + 2] + logits[r] - 2 * ANY * logits[r + 1] for r in range(4)], ANY, dict=True)
        return any(abs(one[ANY]) <= 1 for one in found)
    turns = [exact.rotation_matrix(r, theta=planes) for r in range(6)]
    tones = sp.Matrix([[R[row, 2 * i] for i in range(len(planes)) for row in (2 * i, 2 * i + 1)] for R in turns])
    return tones.rank() == tones.row_join(logits).rank()


def _logits_of_the_mirror():
    """The first three, the sum of the neighbours of the second, and the cosine that one plane would need."""
    powers = [orthogonal_powers.orthogonal_power(np.diag([1, -1]), r) for r in range(3)]
    logits = [np.dot([1, 2], O @ [1, 1]) for O in powers]  # noqa: E741
    both = logits[0] + logits[2]
    return logits, both, both / (2 * logits[1])


@claim(
    "su19.iso-rotation",
    locus="Basic Review, last paragraph",
    statement=r"Every orthogonal solution $O^n$ is the rotation in $2 \times 2$ blocks after fixed matrices have been "
    r"absorbed.",
    verdict="conditional",
    correction=r"True for $\det O = 1$ and even $d$; a pair of $-1$ is a half turn. For $\det O = -1$ one component "
    r"$(-1)^n$ is left that no rotation of the same size has. Two more dimensions suffice, one for odd $d$, with "
    r"planes of frequency $0$ and $\pi$ that are half used.",
    witness=r"$O = \mathrm{diag}(1, -1)$, $q = (1, 2)$, $k = (1, 1)$: logits $[[3, -1, 3]], \dots$. In one plane a "
    r"logit's two neighbours add to $2\cos\theta$ times itself: $[[6]] = -2\cos\theta$, and no angle has the cosine "
    r"$[[-3]]$.",
    computed=_logits_of_the_mirror,
    holds=((HALF_TURN, ANY), (HALF_TURN, (sp.pi,)), (FLIP, (0, sp.pi)), (ODD, (sp.pi / 2, sp.pi))),
    printed=((FLIP, ANY),),
    control=((FLIP, (sp.pi,)),),  # one plane at a half turn: it flips both components
    cases="a half turn, a mirror of the plane and a mirror beside a quarter turn, with one query and one key each",
)
def logits_of_the_powers(cases):
    return all(_reproduced(O, planes) for O, planes in cases)  # noqa: E741
