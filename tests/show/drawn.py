"""Random states of the widgets: from the ends of their traits, or by a draw of its own where these say too little."""

from importlib import import_module
from pathlib import Path

import traitlets

import rope_lab
from rope_lab.show.widgets.kit import Widget
from rope_lab.show.widgets.runs import quantiles

PACKAGE = Path(rope_lab.__file__).parent

# Sliders that know some numbers only: the step from one to the next.
STEPS = {
    "bf16_positions": {"plane": 1},
    "budget_calculator": {"mlp": 1 / 16},
    "cache_calculator": {"head_dim": 32, "latent": 64, "rope": 16, "log_context": 1},
    "cached_keys": {"moves": 1},
    "learning_curves": {"at": 1},
    "patch_grid": {"column": 1, "row": 1, "frame": 1, "start": 1, "stride": 1},
    "powers_of_o": {"n": 1 / 4},
}


def catalogue() -> list[type[Widget]]:
    """Every widget of the book, in the order of their names."""
    for script in [*PACKAGE.glob("show/widgets/*.js"), *PACKAGE.glob("chapters/*/*.js")]:
        if script.with_suffix(".py").exists():
            import_module(".".join([PACKAGE.name, *script.relative_to(PACKAGE).with_suffix("").parts]))
    known = {
        cls.slug: cls
        for cls in Widget.__subclasses__()
        if cls.__module__.startswith("rope_lab.") and cls.__module__.endswith(f".{cls.slug}")
    }
    return [known[slug] for slug in sorted(known)]


def random_state(cls: type[Widget], rng) -> dict:
    """A state of this widget, drawn by ``rng``, a NumPy generator."""
    own = OWN.get(cls.slug, lambda rng: {})(rng)  # noqa: ARG005
    steps = STEPS.get(cls.slug, {})
    others = {name: trait for name, trait in cls.class_traits(state=True).items() if name not in own}
    return {name: _within(trait, rng, steps.get(name)) for name, trait in others.items()} | own


def _within(trait, rng, step):
    if isinstance(trait, traitlets.Bool):
        return bool(rng.integers(2))
    if isinstance(trait, traitlets.Enum):
        return list(trait.values)[rng.integers(len(trait.values))]
    if not isinstance(trait, (traitlets.Int, traitlets.Float)):
        raise TypeError(f"{trait.name}: expected ends or a list of values, got {trait}; give it a draw in OWN")
    whole = isinstance(trait, traitlets.Int)
    if whole or step:
        step = step or 1
        drawn = trait.min + step * rng.integers(int((trait.max - trait.min) / step) + 1)
        return int(drawn) if whole else float(drawn)
    return float(rng.uniform(trait.min, trait.max))


def _bf16_positions(rng):
    return {"n": float(rng.integers(2 ** int(rng.integers(3, 18))))}  # as many small ones as large ones


def _falling_apart(rng):
    b, s = rng.uniform(-1.5, 1.5, 6).tolist(), _of(rng, 0.0, 1.0, float(rng.uniform(0, 1)))
    if rng.random() < 0.25:  # two equal speeds; an angle of the basis can then be pi as well as -pi, so no share of it
        b, s = [b[0], b[1], b[2], b[2], -b[1], b[0]], round(s)
    return {"s": float(s), **dict(zip(("b12", "b13", "b14", "b23", "b24", "b34"), b, strict=True))}


def _fingerprint_playground(rng):
    tenths = round(float(rng.uniform(0.5, 5)), 1)
    return {"log_base": tenths, "points": int(rng.integers(9)), "answered": int(rng.integers(9))}


def _panels(rng, names, run, *keys, **more):
    """Results of one to four seeds for each of these names, once for each key."""

    def runs():
        return [{"variant": name, "seed": seed, **run()} for name in names for seed in range(rng.integers(1, 5))]

    return [{"key": key, "names": names, "t": quantiles(4), **more, "runs": runs()} for key in keys]


def _learning_curves(rng):
    names, lengths = list("abcd")[: rng.integers(1, 5)], {"validation": 3, "training": 7}
    steps = {f"{kind}_steps": [10 * (i + 1) for i in range(n)] for kind, n in lengths.items()}

    def run():
        return {kind: rng.uniform(3, 7, n).tolist() for kind, n in lengths.items()}

    variant, reference = rng.choice([*names, ""], 2).tolist()
    panels = _panels(rng, names, run, "one", "two", reference=names[-1], **steps)
    return {"panel": _of(rng, "one", "two", ""), "variant": variant, "reference": reference, "panels": panels}


def _table_explorer(rng):
    names = list("abcd")[: rng.integers(1, 5)]
    said = {name: rng.uniform(0.01, 7, 2).tolist() for name in names[: rng.integers(4)]}

    def run():
        return {when: float(rng.uniform(3, 3.1)) for when in ("final", "best")}

    panels = _panels(rng, names, run, "one", "two", reference=names[-1], published=said)
    return {"panel": _of(rng, "one", "two", ""), "reference": _of(rng, *names, ""), "panels": panels}


def _ordering_explorer(rng):
    names = list("abcde")[: rng.integers(1, 6)]

    def run():
        return {"losses": rng.uniform(3, 3.4, 4).tolist()}

    first, second = _panels(rng, names, run, "first", "second", steps=[10, 20, 30, 40], published={})
    first["published"] = {name: float(rng.uniform(2.7, 2.9)) for name in names}
    one, other = rng.choice([*names, ""], 2).tolist()
    mine = rng.permutation(names).tolist() if rng.integers(4) else []
    panel = _of(rng, "first", "second", "")
    return {"panel": panel, "one": one, "other": other, "at": int(rng.integers(7)), "mine": mine} | {
        "panels": [first, second]
    }


def _placement_board(rng):
    T = int(rng.integers(1, 7))
    return {
        "shift": float(rng.choice([rng.integers(13), rng.uniform(0, 12)])),
        "theta": float(rng.uniform(0.1, 0.5)),
        "query": rng.uniform(-1.5, 1.5, 2).tolist(),
        "content_k": rng.uniform(-1.5, 1.5, (T, 2)).tolist(),
        "content_v": rng.uniform(-1.5, 1.5, (T, 2)).tolist(),
    }


def _ride(rng):
    return {"theta": float(rng.uniform(0, 2))}


def _shift_sentence(rng):
    length = int(rng.integers(2, 9))
    return {
        "theta": float(rng.uniform(0, 2)),
        "amplitude": float(rng.uniform(0, 1)),
        "typed": " ".join(rng.choice(["a", "b", "c", ""], int(rng.integers(10)))),
        "q": rng.uniform(-1, 1, (length, 2)).tolist(),
        "k": rng.uniform(-1, 1, (length, 2)).tolist(),
    }


def _so4_explorer(rng):
    if rng.random() > 0.3:
        return {}
    b21 = float(rng.uniform(-2, 2))  # one half or both vanish, the angles meet
    return {**dict.fromkeys(("b31", "b41", "b32", "b42"), 0.0), "b21": b21, "b43": b21 * float(rng.choice([-1, 0, 1]))}


def _story(rng):
    shift = int(rng.integers(50_001))  # float16 has no larger numbers than 65,504
    return {"prompt": _of(rng, "Once upon a time", "One day", "日本"), "shift": shift}


def _tapestry(rng):
    rotary, low = 2 * int(rng.integers(1, 65)), float(rng.uniform(0.5, 4))
    own = {} if rng.integers(2) else {"model": "yours"}
    return own | {
        "rotary": rotary,
        "head_dim": rotary + 2 * int(rng.integers(33)),
        "base": float(10.0 ** rng.uniform(2, 7)),
        "window": int(rng.integers(512, 65536)),
        "factor": float(rng.uniform(1, 16)),
        "low": low,
        "high": low + float(rng.uniform(1, 32)),
    }


def _of(rng, *choices):
    return choices[rng.integers(len(choices))]


OWN = {
    "bf16_positions": _bf16_positions,
    "falling_apart": _falling_apart,
    "fingerprint_playground": _fingerprint_playground,
    "learning_curves": _learning_curves,
    "ordering_explorer": _ordering_explorer,
    "placement_board": _placement_board,
    "ride": _ride,
    "shift_sentence": _shift_sentence,
    "so4_explorer": _so4_explorer,
    "story": _story,
    "table_explorer": _table_explorer,
    "tapestry": _tapestry,
}
