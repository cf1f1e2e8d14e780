"""Chapter 6's widget: an orbit in four dimensions, in the coordinates given and in a basis that turns towards P."""

from math import atan2, cos, hypot, sin, sqrt

from traitlets import Float

from rope_lab.show.widgets.kit import Widget, state

__all__ = ["FallingApart"]

NAMES = ("b12", "b13", "b14", "b23", "b24", "b34")
PAIRS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
REST = (0.6, -0.5)  # the start's third and fourth coordinates; the script has the same numbers
DIMS = range(4)


class FallingApart(Widget):
    r"""The point $x(t) = e^{tB} x(0)$ for a skew B, and the same point in the basis S, which goes from I to P.

    State: the time ``t``; ``s``, how far the basis has turned from the given one (0) to P (1); the start's first two
    coordinates ``x1``, ``x2``; the six entries of B above its diagonal. The basis is found in closed form.

    >>> values = FallingApart.compute(FallingApart(s=1.0).state())
    >>> round(values["outside"], 12), [round(speed, 3) for speed in values["theta"]]
    (0.0, [1.326, 0.52])
    """

    title = "Falling apart: one orbit, two bases"
    t = state(Float(20.0, min=0.0, max=40.0))
    s = state(Float(0.0, min=0.0, max=1.0))
    x1 = state(Float(0.8, min=-1.0, max=1.0))
    x2 = state(Float(0.6, min=-1.0, max=1.0))
    b12 = state(Float(-0.7, min=-1.5, max=1.5))
    b13 = state(Float(-0.4, min=-1.5, max=1.5))
    b14 = state(Float(0.4, min=-1.5, max=1.5))
    b23 = state(Float(-0.3, min=-1.5, max=1.5))
    b24 = state(Float(0.8, min=-1.5, max=1.5))
    b34 = state(Float(-0.7, min=-1.5, max=1.5))

    @staticmethod
    def compute(state: dict) -> dict:
        B = [[0.0] * 4 for _ in DIMS]
        for (i, j), name in zip(PAIRS, NAMES, strict=True):
            B[i][j], B[j][i] = state[name], -state[name]
        P, theta = _planes(B)
        S = _on_the_way(P, state["s"])
        start = _times(_transpose(P), [[state["x1"]], [state["x2"]], [REST[0]], [REST[1]]])
        turned = []
        for plane, speed in enumerate(theta):
            (u,), (v,), angle = start[2 * plane], start[2 * plane + 1], state["t"] * speed
            turned += [[u * cos(angle) - v * sin(angle)], [u * sin(angle) + v * cos(angle)]]
        x = _times(P, turned)
        seen = _times(_transpose(S), _times(B, S))
        return {
            "theta": theta,
            "P": P,
            "S": S,
            "seen": seen,
            "outside": max(abs(seen[i][j]) for i in (0, 1) for j in (2, 3)),
            "x": [row[0] for row in x],
            "y": [row[0] for row in _times(_transpose(S), x)],
            "start": [row[0] for row in start],
            "radii": [hypot(start[0][0], start[1][0]), hypot(start[2][0], start[3][0])],
        }

    @staticmethod
    def random_state(rng) -> dict:
        entries = rng.uniform(-1.5, 1.5, size=6)
        if rng.random() < 0.25:  # two equal speeds
            entries = [entries[0], entries[1], entries[2], entries[2], -entries[1], entries[0]]
        return {
            "t": float(rng.uniform(0, 40)),
            "s": float(rng.choice([0.0, rng.uniform(0, 1), 1.0])),
            "x1": float(rng.uniform(-1, 1)),
            "x2": float(rng.uniform(-1, 1)),
        } | {name: float(entry) for name, entry in zip(NAMES, entries, strict=True)}

    def fallback(self) -> str:
        values = self.compute(self.state())
        fast, slow = (abs(speed) for speed in values["theta"])
        r, q = values["radii"]
        return (
            "Interactive figure: the orbit of a point under a skew matrix in four dimensions, drawn in the coordinates "
            "1, 2 and 3, 4. In the given coordinates it is a tangle. A slider turns the basis to P, and there it is "
            f"two circles: radius {r:.2f} at {fast:.2f} radians per position, radius {q:.2f} at {slow:.2f}."
        )


def _times(left: list, right: list) -> list:
    columns = list(zip(*right, strict=True))
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in left]


def _transpose(matrix: list) -> list:
    return [list(column) for column in zip(*matrix, strict=True)]


def _unit(v: list) -> list:
    length = sqrt(sum(entry * entry for entry in v))
    return [entry / length for entry in v]


def _longest(projection: list) -> list:
    """The column of a projection whose axis leans most on its space, made of length one."""
    lean = [projection[i][i] for i in DIMS]
    j = next(i for i in DIMS if lean[i] > (1 - 1e-6) * max(lean))
    return _unit([projection[i][j] for i in DIMS])


def _cross(a: list, b: list, c: list) -> list:
    """The fourth vector: perpendicular to three, with determinant +1."""

    def det(i, j, k):
        return (
            a[i] * (b[j] * c[k] - b[k] * c[j]) - a[j] * (b[i] * c[k] - b[k] * c[i]) + a[k] * (b[i] * c[j] - b[j] * c[i])
        )

    return [-det(1, 2, 3), det(0, 2, 3), -det(0, 1, 3), det(0, 1, 2)]


def _planes(B: list) -> tuple[list, list]:
    """P with determinant 1, and the two speeds: the first is the faster, the second may run backwards."""
    one = [[float(i == j) for j in DIMS] for i in DIMS]
    total = sum(B[i][j] ** 2 for i, j in PAIRS)
    if total < 1e-18:
        return one, [0.0, 0.0]
    pfaffian = abs(B[0][1] * B[2][3] - B[0][2] * B[1][3] + B[0][3] * B[1][2])
    gap = sqrt(max(0.0, total - 2 * pfaffian)) * sqrt(total + 2 * pfaffian)  # of the squares of the speeds
    if gap < 1e-6 * total:  # equal speeds, up to the root of rounding: then every vector lies in a fast plane
        gap = 0.0
    fast = sqrt((total + gap) / 2)
    square, slow = _times(B, B), (total - gap) / 2
    first = one if gap == 0.0 else [[-(square[i][j] + (slow if i == j else 0.0)) / gap for j in DIMS] for i in DIMS]
    u = _longest(first)
    v = _unit([sum(B[i][k] * u[k] for k in DIMS) for i in DIMS])
    w = _longest([[one[i][j] - u[i] * u[j] - v[i] * v[j] for j in DIMS] for i in DIMS])
    z = _cross(u, v, w)
    second = sum(z[i] * B[i][k] * w[k] for i in DIMS for k in DIMS)
    return _transpose([u, v, w, z]), [fast, second]


def _on_the_way(P: list, s: float) -> list:
    """P as a product of six turns of coordinate planes, each done to the share s."""
    left, turns = [list(row) for row in P], []
    for column in range(3):
        for row in range(3, column, -1):
            angle = atan2(left[row][column], left[row - 1][column])
            c, d = cos(angle), sin(angle)
            above, below = left[row - 1], left[row]
            left[row - 1] = [c * a + d * b for a, b in zip(above, below, strict=True)]
            left[row] = [c * b - d * a for a, b in zip(above, below, strict=True)]
            turns.append((row, angle))
    S = [[float(i == j) for j in DIMS] for i in DIMS]
    for row, angle in reversed(turns):
        c, d = cos(s * angle), sin(s * angle)
        above, below = S[row - 1], S[row]
        S[row - 1] = [c * a - d * b for a, b in zip(above, below, strict=True)]
        S[row] = [d * a + c * b for a, b in zip(above, below, strict=True)]
    return S
