"""What no source says about generators: whole positions see an angle only modulo one turn."""

import sympy as sp

from rope_lab.algebra import symbolic
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim

theta = sp.Symbol("theta", real=True)
n, k = sp.symbols("n k", integer=True)
step = sp.Symbol("k", integer=True, nonzero=True)
_FLIP = sp.diag(1, -1)


@claim(
    "unsaid.aliasing",
    locus="in none of the sources",
    statement=r"On whole positions a frequency counts modulo $2\pi$, and up to its sign if the basis is free. "
    r"Positions between the whole ones tell the aliases apart: $\theta + 2\pi k$ and $\theta$ at $n = \tfrac{1}{2k}$.",
    witness=r"$\theta$ and $\theta + 2\pi$: the same matrix at every whole $n$, the opposite one at $n = \tfrac12$.",
    holds=2 * sp.pi,
    control=sp.pi,  # half a turn
)
def whole_positions_see_angles_modulo_a_turn(turn):
    def R(position, frequency):
        return exact.rotation_2d(position * frequency)

    whole = symbolic.same(
        R(n, theta + k * turn).applyfunc(sp.expand_trig).applyfunc(sp.simplify),
        R(n, theta).applyfunc(sp.expand_trig).applyfunc(sp.simplify),
    )
    mirrored = symbolic.same(_FLIP * R(n, theta) * _FLIP, R(n, -theta))
    place = 1 / (2 * step)  # the alias of this number shows itself here: a half turn too much
    between = symbolic.same(R(place, theta + step * turn), -R(place, theta))
    return whole and mirrored and between
