"""Chapter 7, places with several coordinates: what a logit sees, what commutes, what a table gives to each axis."""

from math import floor, log, tau

import numpy as np

from rope_lab.algebra import generators, grid_positions, many_axes, normal_form, rotation, schedule
from rope_lab.claims.ledger import claim

QWEN2, QWEN3 = [16, 24, 24], [24, 20, 20]  # sections of Qwen2-VL and Qwen3-VL: time, height, width
TABLES = {
    "axial": many_axes.axial_frequencies(12, base=9.0),
    "mixed": many_axes.mixed_frequencies(12, angles=[0.3, 1.0, -2.0]),
    "sections": many_axes.section_frequencies([2, 1, 3], base=50.0),
    "interleaved": many_axes.interleaved_frequencies([2, 2, 2], base=50.0),
}


def turn(x, angles):
    return rotation.rotate(x, 1.0, theta=angles)


def logit_of(q, k, table, *, angles=many_axes.plane_angles):
    """The logit as a function of both places."""
    return lambda m, n: float(turn(q, angles(m, table)) @ turn(k, angles(n, table)))


@claim(
    "book.axes-offset",
    statement=r"In place $p$ plane $i$ turns by $p\cdot\theta_i$, with one frequency vector $\theta_i$ for each plane. "
    r"Then a logit depends on the offset vector $p' - p$ alone, and is $q^\top \mathcal R_{p'-p}\, k$.",
    tolerance=1e-10,
    witness=r"Axial, mixed, by sections and interleaved: each table at two pairs of places with one offset.",
    holds=many_axes.plane_angles,
    control=lambda p, table: many_axes.plane_angles(np.square(p), table),
)
def the_offset_vector(angles, rng):
    misses = []
    for table in TABLES.values():
        q, k = rng.normal(size=(2, 12))
        here, there, by = rng.integers(-9, 10, size=(3, table.shape[1])).astype(float)
        logit = logit_of(q, k, table, angles=angles)
        misses += [abs(logit(p, p + by) - q @ turn(k, angles(by, table))) for p in (here, there)]
    return max(misses)


@claim(
    "book.axes-commuting",
    statement=r"Skew generators that commute in pairs, one for each axis, have a common orthonormal basis in which all "
    r"of them are blocks of size 2. So up to a change of basis a table of frequency vectors is the only form.",
    tolerance=1e-8,
    witness=r"$B$, $B^3$ and $B^5$ commute, and the planes of one combination are the planes of all three.",
    holds=lambda B, rng: [B, B @ B @ B, np.linalg.matrix_power(B, 5)],  # noqa: ARG005
    control=lambda B, rng: [B, _skew(rng, len(B))],
)
def common_planes(family, rng):
    worst = 0.0
    for size in (4, 5, 7):
        B, shared = _skew(rng, size), np.linalg.qr(rng.normal(size=(size, size)))[0]
        inside = generators.block_diag(*[np.ones((2, 2))] * (size // 2), *[np.ones((1, 1))] * (size % 2))
        # Powers of one generator; and those of axial columns, of which each turns one plane and rests in the others.
        columns = [np.pad(generators.generator_matrix(row), (0, size % 2)) for row in np.eye(size // 2)]
        for made in (family(B / np.linalg.norm(B, 2), rng), [shared @ A @ shared.T for A in columns]):
            weights = rng.normal(size=len(made))
            form = normal_form.skew_normal_form(sum(w * A for w, A in zip(weights, made, strict=True)))
            worst = max(worst, *(np.abs((form.P.T @ A @ form.P) * (1 - inside)).max() for A in made))
    return worst


@claim(
    "book.axes-how-many",
    statement=r"In $d$ dimensions at most $\lfloor d/2 \rfloor$ independent skew generators commute with one another: "
    r"one for each plane. More axes than planes share their turns.",
    witness=r"What commutes with one generator in general position is a space of dimension $\lfloor d/2 \rfloor$.",
    cases="3 to 6 dimensions, each from a generator with different, with equal and with one single pace",
    holds=lambda d: d // 2,
    control=lambda d: d - 1,
)
def the_largest_family(count):
    for d in (3, 4, 5, 6):
        e = np.eye(d)
        basis = [np.outer(e[i], e[j]) - np.outer(e[j], e[i]) for i in range(d) for j in range(i)]
        for paces in {tuple(range(1, d // 2 + 1)), (1,) * (d // 2), (1,) + (0,) * (d // 2 - 1)}:
            if len(_grown(np.pad(generators.generator_matrix(paces), (0, d % 2)), basis)) != count(d):
                return False
    return True


def _grown(first, basis):
    """A family that begins with one generator and takes in whatever commutes with all of it and is new."""
    family = [first]
    while True:
        rows = np.array([np.concatenate([(F @ E - E @ F).ravel() for F in family]) for E in basis]).T
        free = np.linalg.svd(rows)[2][np.linalg.matrix_rank(rows) :]
        found = (sum(c * E for c, E in zip(v, basis, strict=True)) for v in free)
        new = [N for N in found if np.linalg.matrix_rank([F.ravel() for F in [*family, N]]) > len(family)]
        if not new:
            return family
        family.append(new[0])


def _skew(rng, size):
    A = rng.normal(size=(size, size))
    return A - A.T


def _quarters(x, y, *, common):
    """The logit of two first basis vectors, turned about two axes of space, at the offset (1, 1) from (x, y)."""
    about = [np.zeros((3, 3)) for _ in range(2)]
    for A, (i, j) in zip(about, [(0, 1), (0, 1) if common else (1, 2)], strict=True):
        A[i, j], A[j, i] = -np.pi / 2, np.pi / 2
    here, there = (grid_positions.grid_turn(a, b, B_1=about[0], B_2=about[1]) for a, b in ((x, y), (x + 1, y + 1)))
    return float((here.T @ there)[0, 0])


@claim(
    "book.axes-not-commuting",
    statement=r"With generators that do not commute, $e^{xB_1 + yB_2}$ gives another logit at the same offset when "
    r"both places move.",
    witness=r"Quarter turns about two axes of space, offset $(1, 1)$: the logit is $[[0.197]]$ from $(0, 0)$ and "
    r"$[[-0.324]]$ from $(1, 0)$.",
    computed=lambda: (_quarters(0, 0, common=False), _quarters(1, 0, common=False)),
    cases="one pair of generators, 4 places",
    tolerance=1e-10,
    holds=True,  # one plane for both
    control=False,
)
def the_logit_moves(common):
    made = [_quarters(x, y, common=common) for x, y in ((0, 0), (1, 0), (0, 1), (2, -1))]
    return max(made) - min(made)


@claim(
    "book.axes-additive",
    statement=r"Where each plane turns with one axis alone (axial, by sections, interleaved) the logit of an offset is "
    r"a sum with one term for each axis: $s(h, w) = f(h) + g(w)$. A mixed table has in general no such form.",
    tolerance=1e-10,
    witness=r"$s(h, w) - s(h, 0) - s(0, w) + s(0, 0) = 0$ for all offsets.",
    holds=lambda: [TABLES["axial"], TABLES["sections"], TABLES["interleaved"]],
    control=lambda: [TABLES["mixed"]],
)
def one_term_for_each_axis(tables, rng):
    misses = []
    for table in tables():
        q, k = rng.normal(size=(2, 12))
        logit = logit_of(q, k, table)
        axes = table.shape[1]
        zero = np.zeros(axes)
        for offset in 4 * rng.normal(size=(3, axes)):
            alone = sum(logit(zero, along) for along in np.diag(offset)) - (axes - 1) * logit(zero, zero)
            misses.append(abs(logit(zero, offset) - alone))
    return max(misses)


@claim(
    "book.axes-axial",
    statement=r"The axial form with $A$ axes is $A$ ordinary rotations side by side: block $a$ is a head of width "
    r"$d/A$ whose position is coordinate $a$.",
    tolerance=1e-12,
    witness=r"Two and three axes, $d = 12$.",
    holds=lambda size, base: rotation.frequencies(size, base=base),
    control=lambda size, base: rotation.frequencies(12, base=base)[: size // 2],  # as if of the whole head
)
def side_by_side(list_of, rng):
    misses = []
    for axes in (2, 3):
        x, place = rng.normal(size=12), rng.normal(size=axes) * 9
        table = many_axes.axial_frequencies(12, axes=axes, base=70.0)
        own = np.concatenate(
            [
                rotation.rotate(part, n, theta=list_of(12 // axes, 70.0))
                for part, n in zip(np.split(x, axes), place, strict=True)
            ]
        )
        misses.append(np.abs(turn(x, many_axes.plane_angles(place, table)) - own).max())
    return max(misses)


@claim(
    "book.axes-mixed",
    statement=r"A mixed table with one angle $\alpha$ for all planes is the axial one on a grid that is turned by "
    r"$-\alpha$. With an angle for each plane it is not.",
    tolerance=1e-12,
    witness=r"$\alpha = \pi/2$ exchanges rows and columns, up to a sign.",
    holds=lambda rng: np.full(3, rng.uniform(-3, 3)),
    control=lambda rng: rng.uniform(-3, 3, size=3),
)
def a_turned_grid(angles, rng):
    alpha, place = angles(rng), rng.normal(size=2) * 9
    mixed = many_axes.plane_angles(place, many_axes.mixed_frequencies(12, angles=alpha, base=9.0))
    axial = many_axes.plane_angles(rotation.rotation_2d(-alpha[0]) @ place, many_axes.axial_frequencies(12, base=9.0))
    return float(np.abs(mixed - axial).max())


@claim(
    "book.axes-text",
    statement=r"A word of a text stands at $(n, n, n)$. By sections or interleaved, all its planes then turn by "
    r"$n\theta_i$: M-RoPE on text is plain RoPE.",
    tolerance=1e-12,
    witness=r"Both tables of 64 planes: the place $(7, 7, 7)$ turns plane $i$ by $7\theta_i$.",
    holds=lambda n: [n, n, n],
    control=lambda n: [n, 0.0, 0.0],  # a count of time alone
)
def text_is_plain(place, rng):
    n = rng.uniform(1, 100)
    return max(
        float(np.abs(many_axes.plane_angles(place(n), made) - n * rotation.frequencies(128, base=1e6)).max())
        for made in (many_axes.section_frequencies(QWEN2, base=1e6), many_axes.interleaved_frequencies(QWEN3, base=1e6))
    )


def _wavelengths(table):
    """The shortest and the longest of each axis, in steps."""
    return [(tau / column.max(), tau / column[column > 0].min()) for column in table.T]


@claim(
    "book.axes-sections",
    statement=r"By sections the wavelengths of the axes do not overlap: the slowest plane of one axis is faster than "
    r"the fastest of the next. Interleaved, they share one range.",
    witness=r"Sections $[16, 24, 24]$ and base $10^6$: time has wavelengths from $[[6.3]]$ to $[[160.1]]$ steps, "
    r"height from $[[198.7]]$ to $[[28472.8]]$, width from $[[35.3]]$ to $[[5063.3]]$ thousand.",
    computed=lambda: tuple(
        w / unit
        for pair, unit in zip(_wavelengths(many_axes.section_frequencies(QWEN2, base=1e6)), (1, 1, 1000), strict=True)
        for w in pair
    ),
    cases="the sections [22, 21, 21] and [24, 20, 20], with the base 1,000,000",
    holds=many_axes.section_frequencies,
    control=many_axes.interleaved_frequencies,
)
def ranges_apart(make):
    cases = ([22, 21, 21], QWEN3)
    ranges = [_wavelengths(make(sections, base=1e6)) for sections in cases]
    shared = [np.array(_wavelengths(many_axes.interleaved_frequencies(sections, base=1e6))) for sections in cases]
    overlap = all(one[:, 0].max() < one[:, 1].min() for one in shared)
    return bool(overlap) and all(one[a][1] < one[a + 1][0] for one in ranges for a in range(2))


@claim(
    "book.axes-width",
    statement=r"By sections of $c_1, c_2, c_3$ planes the width turns across $n$ patches by at most "
    r"$n\,\mathrm{base}^{-(c_1 + c_2)/(c_1 + c_2 + c_3)}$.",
    tolerance=1e-10,
    witness=r"Qwen2-VL, 64 patches: $[[0.0114]]$ radians for the width and $[[2.02]]$ for the height.",
    computed=lambda: tuple(
        many_axes.largest_turns(many_axes.section_frequencies(QWEN2, base=1e6), steps=64)[[2, 1]].tolist()
    ),
    holds=lambda s, base, n: n * base ** (-(s[0] + s[1]) / sum(s)),
    control=lambda s, base, n: n * base ** (-s[2] / sum(s)),
)
def how_far_the_width_turns(bound, rng):
    misses = []
    for sections in (QWEN2, [3, 5, 2], rng.integers(1, 20, size=3).tolist()):
        base, n = 10 ** rng.uniform(1, 6), rng.integers(1, 100)
        made = many_axes.section_frequencies(sections, base=base)
        misses.append(abs(many_axes.largest_turns(made, steps=n)[2] - bound(sections, base, n)))
    return max(misses)


@claim(
    "book.axes-interleaved",
    statement=r"Interleaved, the fastest plane of axis $a = 0, 1, 2$ is plane $a$: across $n$ patches it turns by "
    r"$n\,\mathrm{base}^{-2a/d}$.",
    tolerance=1e-10,
    witness=r"Qwen3-VL, base $5\cdot 10^6$, 64 patches: the width turns by $[[39.5]]$ radians, and its fastest plane "
    r"has a wavelength of $[[10.2]]$ patches.",
    computed=lambda: (
        float(many_axes.largest_turns(many_axes.interleaved_frequencies(QWEN3, base=5e6), steps=64)[2]),
        _wavelengths(many_axes.interleaved_frequencies(QWEN3, base=5e6))[2][0],
    ),
    cases="the sections [24, 20, 20], [2, 1, 1] and [11, 11, 10], 64 patches, base 5,000,000",
    holds=many_axes.interleaved_frequencies,
    control=many_axes.section_frequencies,
)
def one_plane_after_the_other(make):
    misses = []
    for sections in (QWEN3, [2, 1, 1], [11, 11, 10]):
        d = 2 * sum(sections)
        far = many_axes.largest_turns(make(sections, base=5e6), steps=64)
        misses.append(np.abs(far - 64 * 5e6 ** (-2 * np.arange(3) / d)).max())
    return max(misses)


@claim(
    "book.axes-last-planes",
    statement=r"Interleaved with sections $s$, the planes from $3\max(s_2, s_3)$ on are all of the first axis.",
    witness=r"$[24, 20, 20]$: the last $[[4]]$ of 64 planes turn with time alone.",
    computed=lambda: int(np.argmax(many_axes.interleaved_frequencies(QWEN3)[::-1].argmax(axis=1) > 0)),
    cases="the sections [24, 20, 20], [5, 3, 3], [9, 4, 2] and [9, 2, 4]",
    holds=lambda s: 3 * max(s[1:]),
    control=lambda s: 3 * max(s[1:]) - 3,
)
def time_keeps_the_slowest(start):
    sections = (QWEN3, [5, 3, 3], [9, 4, 2], [9, 2, 4])
    owners = {tuple(s): many_axes.interleaved_frequencies(s).argmax(axis=1)[start(s) :] for s in sections}
    return all(len(last) > 0 and (last == 0).all() for last in owners.values())


@claim(
    "book.axes-order",
    statement=r"An axial table that is fed columns before rows is the same table with its blocks exchanged, so a "
    r"permutation of the head repairs it. By sections no permutation does: the axes own different frequencies.",
    witness=r"$d = 4$: exchange the first plane with the second.",
    cases="a head of 16 coordinates and two axes",
    holds=lambda: many_axes.axial_frequencies(16),
    control=lambda: many_axes.section_frequencies([4, 4]),
)
def rows_and_columns_exchanged(make):
    table = make()
    swapped = table[:, ::-1]
    return sorted(map(tuple, table)) == sorted(map(tuple, swapped))


@claim(
    "book.axes-flat",
    statement=r"Patches counted row by row, $n = Wh + w$, are the table of vectors $\theta_i (W, 1)$. Its logits "
    r"cannot tell the offset $(h, w)$ from $(h + 1, w - W)$.",
    tolerance=1e-9,
    witness=r"The last patch of a row and the first of the next row are neighbours.",
    holds=lambda W: [1, -W],
    control=lambda W: [1, W],  # the sign
)
def counted_row_by_row(step, rng):
    W = int(rng.integers(2, 30))
    theta = rotation.frequencies(12, base=50.0)
    q, k = rng.normal(size=(2, 12))
    logit = logit_of(q, k, theta[:, None] * [W, 1.0])
    zero, offset = np.zeros(2), rng.integers(-7, 8, size=2).astype(float)
    as_one = rotation.frequencies(12, base=50.0) * (offset @ [W, 1])
    same = np.abs(many_axes.plane_angles(offset, theta[:, None] * [W, 1.0]) - as_one).max()
    return max(float(same), abs(logit(zero, offset) - logit(zero, offset + step(W))))


@claim(
    "book.axes-vision-base",
    statement=r"On a grid of side $n$ with $P$ planes for each axis, and with $2\pi \le n < 2\pi\,\mathrm{base}$, "
    r"$\lfloor P \ln(n/2\pi) / \ln \mathrm{base}\rfloor "
    r"+ 1$ planes of an axis make a full turn.",
    witness=r"$32 \times 32$ patches and 16 planes: $[[3]]$ with base 10000, $[[6]]$ with base 100.",
    computed=lambda: tuple(_full_turns(32, 16, base) for base in (1e4, 100.0)),
    cases="(side, planes, base) = (32, 16, 10000), (32, 16, 100), (64, 20, 10000), (16, 8, 50), "
    "(7, 16, 100), (628, 16, 100)",
    holds=lambda n, P, base: floor(P * log(n / tau) / log(base)) + 1,
    control=lambda n, P, base: floor(P * log(n) / log(base)) + 1,  # a radian taken for a turn
)
def turns_on_a_small_grid(count):
    cases = [(32, 16, 1e4), (32, 16, 100.0), (64, 20, 1e4), (16, 8, 50.0), (7, 16, 100.0), (628, 16, 100.0)]
    return all(_full_turns(*case) == count(*case) for case in cases)


def _full_turns(n, planes, base):
    column = many_axes.axial_frequencies(4 * planes, base=base)[:planes, 0]
    return (schedule.turns(n, theta=column) >= 1).sum()


@claim(
    "book.axes-two-interleavings",
    statement=r"The interleaved *layout* pairs neighbouring coordinates, and a permutation of the head undoes it: no "
    r"logit changes. Interleaved *axes* say which coordinate turns a plane, and no permutation of the head turns "
    r"sections into them.",
    tolerance=1e-10,
    witness=r"Two layouts with one table agree; two tables in one layout do not.",
    holds=(many_axes.section_frequencies, many_axes.section_frequencies),
    control=(many_axes.section_frequencies, many_axes.interleaved_frequencies),
)
def layout_is_not_axes(makes, rng):
    q, k = rng.normal(size=(2, 12))
    place, tables = rng.integers(1, 9, size=3), [make([2, 2, 2], base=50.0) for make in makes]
    if sorted(map(tuple, tables[0])) != sorted(map(tuple, tables[1])):
        return np.inf  # no order of the planes makes one of the other
    one, other = (many_axes.plane_angles(place, table) for table in tables)
    to_half = rotation.layout_permutation(12)
    paired = rotation.rotate(q, 1.0, theta=one) @ k
    halves = rotation.rotate(q[to_half], 1.0, theta=other, layout="half") @ k[to_half]
    return abs(float(paired - halves))


@claim(
    "book.axes-generators",
    statement=r"The rotation of a table is $e^{\sum_a p_a B_a}$ with the generators of its columns, and these commute.",
    tolerance=1e-11,
    witness=r"Two columns of an axial table: $B_1 B_2 = B_2 B_1 = 0$.",
    holds=generators.generator_matrix,
    control=lambda column: generators.generator_matrix(-column),
)
def columns_are_generators(generator, rng):
    misses = []
    for table in TABLES.values():
        p, x = rng.normal(size=table.shape[1]) * 3, rng.normal(size=12)
        made = [generator(column) for column in table.T]
        turned = generators.exponential(sum(a * B for a, B in zip(p, made, strict=True))) @ x
        misses.append(np.abs(turned - turn(x, many_axes.plane_angles(p, table))).max())
        misses += [np.abs(A @ B - B @ A).max() for A in made for B in made]
    return max(misses)
