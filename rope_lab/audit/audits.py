"""Audits of named targets, as `rope-lab audit` prints them; and the table of conventions: a row for each library.

>>> from rope_lab.audit.gallery import right
>>> row = examine("ours", right, head_dim=8).row
>>> row["layout"], row["base"], row["broken_laws"]
('half-split', 10000.0, {})
>>> [seen.name for seen in audit_every("rope_lab.audit.gallery:right", head_dim=8)]
['rope_lab.audit.gallery:right']
>>> print(report(audit("no_such_library:rotate")))
skipped: no_such_library is not installed
>>> len({entry.name for entry in LIBRARY}) == len(LIBRARY)
True
"""

import json
import platform
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from importlib import resources
from typing import Any

from rope_lab.algebra.arguments import expect_narrow, expect_whole
from rope_lab.algebra.hf_schedules import RopeSettings
from rope_lab.audit.adapters import Adapted, adapt
from rope_lab.audit.constructions import scaled
from rope_lab.audit.far_positions import LEAST
from rope_lab.audit.fingerprints import Axis, Fingerprint, arrangement, axes_of, fingerprint, near_fingerprint
from rope_lab.audit.foreign_code import TargetError, TimeUpError, expect_target, find, guarded, time_limit, version
from rope_lab.audit.gallery import Mistake, like_in_gallery
from rope_lab.audit.law_suite import Law, laws, module_laws
from rope_lab.reading import json_text

LIMIT = 120.0  # seconds; an audit takes one or two
LENGTHS_ALONE = (  # problems of one callable that are none of a pair which shares a factor
    "lengths change with the position",
    "not orthogonal: lengths and angles between vectors change",
)

# A law that is broken, a word of what was seen, and how people who meet it call it: a heading of the index by symptom.
CALLED = (
    ("isometry", "", "The length of a vector changes under RoPE"),
    ("non-vacuity", "with the head", "Right with one head, wrong with several"),
    ("non-vacuity", "of the heads", "Right with one head, wrong with several"),
    ("non-vacuity", "nothing turns", "My RoPE passes its tests, and the model is still wrong"),
    ("cached decoding", "", "Good without the cache, wrong with it"),
    ("long positions", "rounded", "Wrong beyond 256 tokens in bfloat16"),
    ("relativity", "", "Moving all positions changes the logits"),
)


@dataclass(frozen=True)
class Audit:
    """Fingerprint and laws of one implementation, or the reason why it could not be audited."""

    name: str
    fingerprint: Fingerprint | None = None
    laws: tuple[Law, ...] = ()
    about: str = ""
    skipped: str | None = None
    axes: tuple[Axis, ...] = ()  # where the positions have several axes, what each turns
    choices: tuple[str, tuple[Any, ...]] | None = None  # the setting that it leaves open, with its values
    like: Mistake | None = None  # the mistake of the gallery whose answers it gives

    @property
    def ok(self) -> bool:
        """Whether the target was audited, no law is broken otherwise than by design, and no problem was seen."""
        fine = self.fingerprint is None or self.fingerprint.ok
        return not self.skipped and fine and not any(law.broken for law in self.laws)

    @property
    def row(self) -> dict[str, Any]:
        """The audit as one row of the table of conventions."""
        if self.fingerprint is None:
            return {"name": self.name, "skipped": self.skipped}
        broken = {law.name: law.saw for law in self.laws if law.broken}
        by_design = {law.name: law.by_design for law in self.laws if law.by_design}
        begin = {
            "name": self.name,
            "skipped": None,
            "about": self.about,
            "broken_laws": broken,
            "by_design": by_design,
            "cautions": {law.name: law.caution for law in self.laws if law.caution},
            "not_asked": {law.name: law.saw.partition(": ")[2] for law in self.laws if not law.asked},
            "axes": [asdict(axis) for axis in self.axes],
        }
        if self.like:
            begin["like_in_gallery"] = self.like.name
        if self.axes:
            begin["arrangement"] = arrangement(self.axes)
        return begin | json.loads(self.fingerprint.to_json())


def examine(
    name: str,
    f: Any,
    *,
    head_dim: int,
    keys: Any = None,
    about: str = "",
    settings: RopeSettings | None = None,
    window: int | None = None,
) -> Audit:
    """The fingerprint and the laws of one callable; ``keys`` turns k, if f does not.

    Args:
        name: What the audit is called.
        f: The callable `f(x, positions)` that turns q, as in `fingerprint`.
        head_dim: The width of a head, a positive even integer.
        keys: The callable that turns k. Default: f.
        about: A remark that the row of the table carries.
        settings: What the model's configuration says, if known; it serves the words of the fingerprint alone.
        window: How many positions there are, at least 16. Default: 2^20.

    Returns:
        An `Audit`. An error that f raises is not passed on, but breaks a law.

    Raises:
        TypeError: If head_dim is not an integer.
        ValueError: If head_dim is not positive and even, or window below 16.
    """
    checked = laws(f, head_dim=head_dim, keys=keys, window=window)
    like = like_in_gallery(f, head_dim=head_dim) if any(law.broken for law in checked) else None
    kept = all(law.ok and law.asked for law in checked if law.name in ("answers", "isometry", "long positions"))
    read = near_fingerprint if kept else fingerprint  # thousands of positions need not be asked twice
    seen = read(f, head_dim=head_dim, settings=settings, window=window)
    sound = ("isometry", "long positions")  # the pair is; f was asked without it
    if any(law.name in sound and (law.by_design or law.caution) for law in checked):
        told = [text for text in seen.problems if text in LENGTHS_ALONE]
        seen = replace(
            seen,
            problems=tuple(text for text in seen.problems if text not in told),
            notes=(*seen.notes, *(f"{text}, as the laws tell" for text in told)),
        )
    return Audit(name, seen, tuple(checked), about, like=like)


def audit(
    target: str,
    *,
    head_dim: int | None = None,
    layer_type: str | None = None,
    name: str | None = None,
    limit: float | None = LIMIT,
    window: int | None = None,
    **settings: Any,
) -> Audit:
    """Audit what a target names: a function, class or module of an installed library or of your own.

    A family of transformers is asked under its default configuration, which need not be that of a released model. For
    a model that you have loaded there is `rotary_of`.

    Args:
        target: MODULE:NAME, such as ``my_package.rope:apply_rotary``.
        head_dim: The width of a head. Default: that of the library's own configuration, else 64.
        layer_type: Which kind of layer, where the configuration has frequencies for each kind.
        name: What the audit is called. Default: the target.
        limit: Seconds after which the audit is given up, in the main thread of a system with alarms; None: never.
        window: How many positions there are, at least 16. Default: what the configuration says, else 2^20.
        **settings: Passed to the configuration of the target, or to its class.

    Returns:
        An `Audit` of what the target names and of nothing else. If the target cannot be imported, built or called, or
        does not come to an end, its ``skipped`` says why: nothing that the target's code raises comes out.

    Raises:
        TypeError: If head_dim is not an integer.
        ValueError: If the target is not of that form, head_dim is not positive and even, or window is below 16.

    >>> audit("rope_lab.audit.gallery:right", head_dim=8).fingerprint.direction
    1
    >>> audit("no_such_library:rotate").skipped
    'no_such_library is not installed'
    """
    expect_target(target)
    if head_dim is not None:
        expect_narrow(head_dim, name="head_dim", most=2048)
    if window is not None:
        expect_whole(window, name="window", least=LEAST)
    called = name or target
    try:
        with time_limit(limit), guarded(f"asking {target.partition(':')[2]}"):
            adapted = adapt(find(target), head_dim=head_dim, layer_type=layer_type, **settings)
            if adapted.head_dim % 2:
                raise TargetError(f"a head of {adapted.head_dim} coordinates, an odd number; set another with head_dim")
            seen = examine(
                called,
                adapted.f,
                head_dim=adapted.head_dim,
                keys=adapted.keys,
                about=adapted.about,
                settings=scaled(adapted.built.settings) if adapted.built else None,
                window=window or (adapted.built.sold if adapted.built else None),
            )
            more = module_laws(adapted.f, adapted.head_dim, adapted.built, axes=adapted.axes)
            seen = replace(seen, laws=(*seen.laws, *more))
            return _with_axes(seen, adapted)
    except TargetError as reason:
        return Audit(called, skipped=str(reason), choices=reason.choices)
    except TimeUpError:
        return Audit(called, skipped=f"no answer within {limit:g} seconds")


def _with_axes(seen: Audit, adapted: Adapted) -> Audit:
    """The audit with what each axis turns; where one axis was asked, the fingerprint gets the rule of that axis."""
    if adapted.along is None:
        return seen
    axes = axes_of(adapted.along, axes=adapted.axes, head_dim=adapted.head_dim)
    print_ = seen.fingerprint
    if adapted.axis is not None and print_ is not None:
        own = axes[adapted.axis]
        print_ = replace(print_, base=own.base, base_residual=own.base_residual, scheme=own.scheme)
    return replace(seen, fingerprint=print_, axes=axes)


def audit_every(target: str, **options: Any) -> tuple[Audit, ...]:
    """Audit a target, once for each choice that it leaves open.

    Args:
        target: MODULE:NAME.
        **options: As `audit` takes them.

    Returns:
        One `Audit`, or one for each kind of layer, whose names then end in ``[layer_type=...]``.

    Raises:
        TypeError: If head_dim is not an integer.
        ValueError: If the target is not of that form, or head_dim is not positive and even.
    """
    seen = audit(target, **options)
    if not seen.choices:
        return (seen,)
    setting, values = seen.choices
    named = {value: f"{seen.name} [{setting}={value}]" for value in values}
    return tuple(audit(target, **options | {setting: value, "name": name}) for value, name in named.items())


def report(seen: Audit) -> str:
    """The fingerprint, what was done to ask, and the laws; or why it was skipped."""
    if seen.fingerprint is None:
        return f"skipped: {seen.skipped}"
    about = f"{'note':<14}{seen.about}\n" if seen.about else ""
    axes = [axis.words.removeprefix("axis ") for axis in seen.axes]
    rows = [("axes", arrangement(seen.axes)), *(("axis", words) for words in axes)] if axes else []
    about = "".join(f"{name:<14}{words}\n" for name, words in rows) + about
    like = seen.like
    more = f"\n\nLike a mistake of the gallery, {like.name}: {like.about} {like.fix}" if like else ""
    asked = "\n".join(map(str, seen.laws))
    head = f"{seen.name}\ncalled with     {seen.fingerprint.form}\n{seen.fingerprint}\n{about}"
    return f"{head}\n{asked}{more}{symptom(seen.laws)}"


def symptom(laws: tuple[Law, ...]) -> str:
    """Name the book's symptom of the first broken law that has one, in a sentence; an empty string if none has.

    >>> symptom((Law("isometry", False, "a length times 2", ""),))
    '\\n\\nIn the book, index by symptom: "The length of a vector changes under RoPE"'
    """
    saw = {law.name: law.saw for law in laws if law.broken}
    found = (heading for name, word, heading in CALLED if name in saw and word in saw[name])
    heading = next(found, "")
    return f'\n\nIn the book, index by symptom: "{heading}"' if heading else ""


HF = "transformers.models"
SCALINGS: dict[str, dict[str, Any]] = {
    "linear scaling": {"rope_type": "linear", "factor": 4.0},
    "dynamic NTK": {"rope_type": "dynamic", "factor": 4.0},
    "YaRN": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096},
    "Llama-3 scaling": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
}
# Two lists, as LongRoPE has them; checkpoints bring their own, these two only show what the switch between them does.
LONGROPE: dict[str, Any] = {
    "max_position_embeddings": 16384,
    "original_max_position_embeddings": 4096,
    "rope_parameters": {
        "rope_type": "longrope",
        "rope_theta": 10000.0,
        "short_factor": [1.0] * 48,
        "long_factor": [4.0] * 48,
    },
}


@dataclass(frozen=True)
class Entry:
    """One target of the table, with its name there and its settings."""

    name: str
    target: str
    settings: dict[str, Any] = field(default_factory=dict)  # beside the family's own defaults
    layer_type: str | None = None  # where a family has frequencies for each kind of layer

    @property
    def package(self) -> str:
        return self.target.partition(".")[0].partition(":")[0]


def _family(name: str, module: str, function: str = "apply_rotary_pos_emb", **settings: Any) -> Entry:
    return Entry(name, f"{HF}.{module}.modeling_{module}:{function}", settings)


def _layers(name: str, module: str, layer_type: str) -> Entry:
    """One kind of layer of a family that has frequencies for each kind."""
    return Entry(name, f"{HF}.{module}.modeling_{module}:apply_rotary_pos_emb", layer_type=layer_type)


def _scaled(name: str) -> Entry:
    rule = SCALINGS[name]
    base = 500000.0 if name == "Llama-3 scaling" else 10000.0
    longest = int(rule["factor"] * rule.get("original_max_position_embeddings", 512))
    rotation = {"rope_theta": base} | rule
    return _family(f"Llama, {name}", "llama", rope_parameters=rotation, max_position_embeddings=longest)


LIBRARY = (
    _family("Llama", "llama"),
    *(_scaled(name) for name in SCALINGS),
    _family("Mistral", "mistral"),
    _family("Qwen 2", "qwen2"),
    _family("Gemma", "gemma"),
    _family("OLMo 2", "olmo2"),
    _family("GPT-NeoX", "gpt_neox"),
    _family("Phi", "phi"),
    _family("StableLM", "stablelm"),
    _family("GPT-OSS", "gpt_oss"),
    _family("GPT-J", "gptj"),
    _family("CodeGen", "codegen"),
    _family("Cohere", "cohere"),
    _family("GLM", "glm"),
    _family("Helium", "helium"),
    _family("Ernie 4.5", "ernie4_5"),
    _family("Llama 4", "llama4", "apply_rotary_emb"),
    _family("DeepSeek-V3, interleaved", "deepseek_v3", "apply_rotary_pos_emb_interleave"),
    _family("Qwen 3", "qwen3"),
    _family("Qwen 3.5, text", "qwen3_5"),
    _family("SmolLM3", "smollm3"),
    _family("Phi-3, LongRoPE", "phi3", **LONGROPE),
    _layers("Gemma 3, window", "gemma3", "sliding_attention"),
    _layers("Gemma 3, global", "gemma3", "full_attention"),
    _layers("Gemma 4, window", "gemma4", "sliding_attention"),
    _layers("Gemma 4, global", "gemma4", "full_attention"),
    _layers("ModernBERT, global", "modernbert", "full_attention"),
    _layers("OLMo 3, global", "olmo3", "full_attention"),
    _layers("DeepSeek-V4, main", "deepseek_v4", "main"),
    _layers("DeepSeek-V4, compressed", "deepseek_v4", "compress"),
    _family("HunYuan V1", "hunyuan_v1_dense"),
    _family("Mistral Large 4", "mistral_large4", "apply_rotary_pos_emb_interleave"),
    Entry("rotary-embedding-torch", "rotary_embedding_torch:RotaryEmbedding"),
    Entry("x-transformers", "x_transformers.x_transformers:RotaryEmbedding"),
    Entry("torchtune", "torchtune.modules:RotaryPositionalEmbeddings", {"max_seq_len": 4096}),
    Entry("Equinox", "equinox.nn:RotaryPositionalEmbedding"),
)


def audit_all(entries: tuple[Entry, ...] = LIBRARY, *, ask: Any = None) -> dict[str, Any]:
    """Audit every entry of a list of targets, by default those of `LIBRARY`.

    Args:
        entries: The targets, each with its package and the settings for its configuration.
        ask: What gives the row of a target, called as `audit` is. Default: an audit in this process.

    Returns:
        A table that can be written as JSON, with the date, the versions of Python and of the libraries, and a row for
        each entry.

    Raises:
        ValueError: If a target does not have the form MODULE:NAME.
    """
    ask, rows = ask or (lambda target, **options: audit(target, **options).row), []
    for entry in entries:
        row = ask(entry.target, name=entry.name, layer_type=entry.layer_type, **entry.settings)
        rows.append({"library": entry.package, "target": entry.target} | row)
    packages = {entry.package: version(entry.package) for entry in entries}
    return {
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "torch": version("torch"),
        "libraries": packages,
        "rows": rows,
    }


def conventions() -> dict[str, Any]:
    """The table of conventions as it is shipped: what `rope-lab audit --all` last measured.

    Returns:
        The date, the versions, and ``rows``: one dict for each library, with the fields of `Fingerprint`. No library
        needs to be installed.

    >>> table = conventions()
    >>> sorted(table)
    ['date', 'libraries', 'python', 'rows', 'torch']
    """
    return json.loads((resources.files("rope_lab.audit") / "data" / "conventions.json").read_text(encoding="utf-8"))


def as_text(table: dict[str, Any]) -> str:
    """The table as JSON with one line for each row."""
    head = {key: value for key, value in table.items() if key != "rows"}
    rows = ",\n".join("  " + json_text(row) for row in table["rows"])
    return json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n' + rows + "\n ]\n}\n"


def lines(table: dict[str, Any]) -> list[list[str]]:
    """The rows of a table of conventions in words: name, layout, width, direction, base, laws that do not hold.

    Args:
        table: What `audit_all` or `conventions` returned.

    Returns:
        Six strings for each row; a law that was not asked is named as such. A row that was skipped has its name, the
        reason and four empty strings.
    """
    found = []
    for row in table["rows"]:
        if row["skipped"]:
            found.append([row["name"], row["skipped"], "", "", "", ""])
            continue
        base = f"{row['base']:,.10g}" if row["base"] else row["scheme"]
        direction = {1: "+1", -1: "-1", 0: "mixed"}[row["direction"]]
        laws_left = [*row["broken_laws"], *(f"{law} (by design)" for law in row.get("by_design", {}))]
        unasked = ", ".join(row.get("not_asked", {}))
        broken = ", ".join(laws_left) or ("all asked hold" if unasked else "all hold")
        broken += f"; not asked: {unasked}" if unasked else ""
        width = f"{row['rotated_dims']} of {row['head_dim']}"
        found.append([row["name"], row["layout"], width, direction, base, broken])
    return found
