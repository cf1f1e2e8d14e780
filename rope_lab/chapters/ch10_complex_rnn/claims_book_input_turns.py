"""Beside chapter 10's remark on turns that the text chooses: sums of angles, parity, and what fixed turns can't say."""

from itertools import product

import numpy as np
import sympy as sp

from rope_lab.algebra import recurrence, rotation
from rope_lab.claims import exact
from rope_lab.claims.ledger import claim


@claim(
    "book.input-sum",
    statement=r"If token $t$ turns one plane by its own angle $\phi_t$, the product of the turns is one turn by "
    r"$\Phi_n = \phi_1 + \dots + \phi_n$, in any order. The logit is that of RoPE at the places $\Phi$: "
    r"$q^\top R_{\Phi_n - \Phi_m}\, k$.",
    witness=r"All $\phi_t = \theta$: $\Phi_n = n\theta$, and this is RoPE.",
    tolerance=1e-12,
    holds=[2, 2, 2, 2, 2, 2],
    control=[2, 0, 2, 0, 2, 0],  # turns of space about two axes: the order matters
)
def one_turn_by_the_sum(axes, rng):
    def about(axis, angle):
        turn, plane = np.eye(3), [(axis + 1) % 3, (axis + 2) % 3]
        turn[np.ix_(plane, plane)] = rotation.rotation_2d(angle)
        return turn

    phi = rng.uniform(0, 3, size=len(axes))
    turned = np.eye(3)
    for axis, angle in zip(axes, phi, strict=True):
        turned = about(axis, angle) @ turned
    order = rng.permutation(len(phi))
    other = np.eye(3)
    for i in order:
        other = about(axes[i], phi[i]) @ other
    q, k, places = rng.normal(size=2), rng.normal(size=2), np.cumsum(phi)
    logit = rotation.logits(q[None], k[None], q_positions=places[1:2], k_positions=places[4:5], theta=[1.0])[0, 0]
    middle = np.eye(3)
    for axis, angle in zip(axes[2:5], phi[2:5], strict=True):
        middle = about(axis, angle) @ middle
    miss = abs(np.append(q, 0) @ middle @ np.append(k, 0) - logit)
    return max(np.abs(turned - other).max(), np.abs(turned - about(2, places[-1])).max(), miss)


@claim(
    "book.input-parity",
    statement=r"A plane that each bit $x_t$ turns by $\pi x_t$ ends at $(-1)^{x_1 + \dots + x_N}$ times its start: the "
    r"sign is the parity, at any length.",
    witness=r"Two ones make a whole turn.",
    holds=lambda bit: sp.pi * bit,
    control=lambda bit: sp.pi * bit / 2,  # a quarter turn: two ones look like a minus
)
def the_sign_is_the_parity(angle):
    turns = [exact.rotation_2d(angle(bit)) for bit in (0, 1)]
    for length in range(1, 7):
        for bits in product((0, 1), repeat=length):
            state = sp.eye(2)
            for bit in bits:
                state = turns[bit] * state
            if state != (-1) ** sum(bits) * sp.eye(2):
                return False
    return True


@claim(
    "book.input-fixed",
    statement=r"With fixed turns and decays the state $h_t = \gamma R_\theta^\top h_{t-1} + v(x_t)$ and every linear "
    r"readout $f$ of it are sums of one term for each bit. So $f(0,0) + f(1,1) = f(0,1) + f(1,0)$, and no threshold "
    r"on $f$ says whether two bits differ.",
    witness=r"Parity wants $f(0,0)$ and $f(1,1)$ on one side of the threshold, $f(0,1)$ and $f(1,0)$ on the other: the "
    r"two sums would differ.",
    tolerance=1e-12,
    holds=lambda theta, bits: theta + 0 * bits,
    control=lambda theta, bits: theta * bits,  # the bit chooses the turn
)
def fixed_turns_only_add(angle, rng):
    worst = 0.0
    for _ in range(5):
        gamma, theta, start = rng.uniform(0.5, 1.0), rng.uniform(0.5, 3.0), rng.normal(size=2)
        value, readout = rng.normal(size=(2, 2)), rng.normal(size=2)
        f = {}
        for bits in product((0, 1), repeat=2):
            state = start
            for bit in bits:
                turn = angle(theta, bit)
                state = recurrence.recurrent(value[[bit]], gamma=gamma, theta=turn, state=state)[-1]
            f[bits] = readout @ state
        worst = max(worst, abs(f[0, 0] + f[1, 1] - f[0, 1] - f[1, 0]))
    return worst
