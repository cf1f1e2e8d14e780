"""Chapter 17's widget: a rotary embedding that does not say what it is, and what its answers give away."""

from math import atan2, cos, exp, floor, log, sin

from traitlets import Bool, Enum, Float, Int

from rope_lab.show.widgets.kit import Widget, state

__all__ = ["FingerprintPlayground"]

D = 8  # coordinates of the head
FAR = 12  # the last position
PAIRINGS, SENSES, TURNING = ("interleaved", "half"), ("counter", "clock"), ("2", "4", "6", "8")
FAULTS = ("none", "nothing", "tables", "signs", "leak", "rounded", "from_one")
LAWS = ("lengths", "zero", "steps", "offset", "turns")
EPS = 1e-9


def _pairs(pairing: str, r: int) -> list[list[int]]:
    return [[2 * i, 2 * i + 1] if pairing == "interleaved" else [i, i + r // 2] for i in range(r // 2)]


def _device(state: dict):
    """The thing to be asked: ``ask(a, n)`` is its answer to the unit vector e_a at position n."""
    r, fault = int(state["turning"]), state["fault"]
    sense = 1 if state["sense"] == "counter" else -1
    theta = [sense * 10.0 ** (-state["log_base"] * 2 * i / r) for i in range(r // 2)]
    table, partner, sign = [0.0] * D, list(range(D)), [0] * D
    for i, (a, b) in enumerate(_pairs(state["pairing"], r)):
        table[a] = table[b] = theta[i]
        partner[a], partner[b], sign[a], sign[b] = b, a, -1, 1
    if fault == "tables":  # the rows of the tables are laid out for the other pairing
        other = "half" if state["pairing"] == "interleaved" else "interleaved"
        for i, (a, b) in enumerate(_pairs(other, r)):
            table[a] = table[b] = theta[i]
    if fault == "signs":
        sign = [abs(s) for s in sign]

    def ask(a: int, n: int) -> list[float]:
        if fault == "nothing":
            return [float(j == a) for j in range(D)]
        at = n + 1 if fault == "from_one" else 2 * floor(n / 2) if fault == "rounded" and n > 4 else n
        size = 0.97**n if fault == "leak" else 1.0
        return [
            size * (cos(at * table[j]) if j == a else sign[j] * sin(at * table[j]) if partner[j] == a else 0.0)
            for j in range(D)
        ]

    return ask


def _gap(one: list, two: list) -> float:
    return max(abs(x - y) for a, b in zip(one, two, strict=True) for x, y in zip(a, b, strict=True))


def _against(one: list, two: list) -> list:
    """All dot products between the answers of two positions."""
    return [[sum(x * y for x, y in zip(a, b, strict=True)) for b in two] for a in one]


def _after(one: list, two: list) -> list:
    """First two, then one: column a of the product."""
    return [[sum(column[k] * one[k][j] for k in range(D)) for j in range(D)] for column in two]


def _fingerprint(ask) -> dict:
    """From the answers alone."""
    F = {n: [ask(a, n) for a in range(D)] for n in (0, 1, 2, 3, 5, 7, 9, 12)}
    one, unit = F[1], [[float(j == a) for j in range(D)] for a in range(D)]
    partner = []
    for a in range(D):
        b = max((j for j in range(D) if j != a), key=lambda j: (abs(one[a][j]), -j))
        partner.append(b if abs(one[a][b]) > EPS else -1)
    pairs = [[a, b] for a, b in enumerate(partner) if b > a and partner[b] == a]
    angles, r = [atan2(one[a][b], one[a][a]) for a, b in pairs], 2 * len(pairs)
    fits = [name for name in PAIRINGS if r and pairs == _pairs(name, r)]
    senses = {1 if angle > 0 else -1 for angle in angles}
    slope, residual = 0.0, 0.0
    if r > 2:
        u, logs = [2 * i / r for i in range(r // 2)], [log(abs(angle)) for angle in angles]
        slope = -sum(x * y for x, y in zip(u, logs, strict=True)) / sum(x * x for x in u)
        residual = max(abs(y + x * slope) for x, y in zip(u, logs, strict=True))
    lawful = {
        "lengths": max(_gap(_against(F[n], F[n]), unit) for n in (1, 3, 7)),
        "zero": _gap(F[0], unit),
        "steps": max(_gap(_after(F[1], F[1]), F[2]), _gap(_after(F[2], F[3]), F[5])),
        "offset": max(
            _gap(_against(F[m], F[n]), _against(F[m + step], F[n + step]))
            for m, n, step in [(0, 1, 2), (1, 3, 6), (0, 5, 7)]
        ),
    }
    return {
        "partner": partner,
        "pairs": pairs,
        "pairing": "none" if not r else "either" if len(fits) == 2 else fits[0] if fits else "other",
        "sense": senses.pop() if len(senses) == 1 else 0,
        "angles": angles,
        "base": exp(slope) if r > 2 and residual < EPS else 0.0,
        "laws": {name: miss < EPS for name, miss in lawful.items()} | {"turns": _gap(one, unit) > EPS},
    }


class FingerprintPlayground(Widget):
    r"""Eight unit vectors go in at position n; the answers come out, and from them the fingerprint.

    State: what the embedding is (``pairing``, ``sense``, ``turning`` coordinates, ``log_base`` as a power of ten, a
    ``fault``), the position ``n`` asked, whether all this is ``shown``, and the reader's three guesses.

    >>> found = FingerprintPlayground.compute(FingerprintPlayground().state())["found"]
    >>> found["pairing"], found["sense"], round(found["base"])
    ('half', -1, 100)
    """

    title = "Fingerprint playground: what the answers of a rotary embedding give away"
    n = state(Int(1, min=0, max=FAR))
    pairing = state(Enum(PAIRINGS, default_value="half"))
    sense = state(Enum(SENSES, default_value="clock"))
    turning = state(Enum(TURNING, default_value="6"))
    log_base = state(Float(2.0, min=0.5, max=5.0))
    fault = state(Enum(FAULTS, default_value="none"))
    shown = state(Bool(False))
    guess_pairing = state(Enum(("", *PAIRINGS), default_value=""))
    guess_sense = state(Enum(("", *SENSES), default_value=""))
    guess_turning = state(Enum(("", *TURNING), default_value=""))

    @staticmethod
    def compute(state: dict) -> dict:
        ask = _device(state)
        return {"answers": [ask(a, state["n"]) for a in range(D)], "found": _fingerprint(ask)}

    @staticmethod
    def random_state(rng) -> dict:
        def one_of(names):
            return names[rng.integers(0, len(names))]

        return {
            "n": int(rng.integers(0, FAR + 1)),
            "pairing": one_of(PAIRINGS),
            "sense": one_of(SENSES),
            "turning": one_of(TURNING),
            "log_base": round(float(rng.uniform(0.5, 5)), 1),
            "fault": one_of(FAULTS),
            "shown": bool(rng.integers(0, 2)),
            "guess_pairing": one_of(("", *PAIRINGS)),
            "guess_sense": one_of(("", *SENSES)),
            "guess_turning": one_of(("", *TURNING)),
        }

    def fallback(self) -> str:
        found = self.compute(self.state())["found"]
        way = {1: "counter-clockwise", -1: "clockwise", 0: "no one way"}[found["sense"]]
        together = ", ".join(f"{a} with {b}" for a, b in found["pairs"])
        return (
            f"Interactive figure: the answers of a rotary embedding to {D} unit vectors, as clocks and as a table of "
            f"discs, with settings to guess. Here the answers at position 1 say: {together}; {way}; base "
            f"{found['base']:.0f}; {2 * len(found['pairs'])} of {D} coordinates turn."
        )
