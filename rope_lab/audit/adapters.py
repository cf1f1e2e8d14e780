"""Adapters from other signatures to f(x, positions), chosen by the names of the parameters and not by the library.

>>> from rope_lab.audit.gallery import right
>>> adapt(right, head_dim=8).f is right
True
"""

import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, is_dataclass, replace
from importlib import import_module
from typing import Any

from rope_lab.audit.constructions import (
    AXES,
    BASES,
    COUNTS,
    LENGTHS,
    WIDTHS,
    Arguments,
    Built,
    arguments,
    build,
    builds_tables,
    changed,
    config_classes,
    cut_of,
    given_parts,
    head_widths,
    layer_types,
    longest_of,
    required,
    rule_of,
    width_of,
    window_of,
    wrong_layer_type,
)
from rope_lab.audit.foreign_code import OFFSETS, TargetError, by_offset, parameters_of, told
from rope_lab.audit.probe import OfBoth, Probe, RefusedError, RotaryCallable
from rope_lab.audit.table_calls import (
    COS_SIN_POSITIONS,
    KEYS,
    MOST,
    PLACES,
    QUERIES,
    SIDES,
    TABLES,
    apply_cos_sin,
    cos_sin_function,
    for_both,
    parameter_names,
    repeated_entries,
    takes_tables,
    tensor,
    whole_rows,
)
from rope_lab.audit.ways import (
    PICTURE,
    Way,
    find_way,
    functions_beside,
    in_pictures,
    of_mlx,
    rotary_class_of,
    size_words,
    turns_pictures,
    whole_sequence_call,
    whole_sequences,
)


@dataclass(frozen=True)
class Adapted:
    """A rotary embedding as f(x, positions); ``keys`` where k is turned by another result of the same call."""

    f: RotaryCallable
    head_dim: int
    keys: RotaryCallable | None = None
    about: str = ""
    along: Callable[[int | None], RotaryCallable] | None = None  # for one axis of the positions, if there are several
    axes: int = 1
    axis: int | None = None  # the one that f is asked along, if not all
    built: Built | None = None  # the module that answers, where the audit built it


APPLY = ("apply_rotary_pos_emb", "apply_rotary_emb")
THREE_AXES = 96  # the width of a head that three axes share evenly, where 64 is refused
ANGLES = (["t", "freqs"], ["freqs", "t"])


def adapt(target: Any, *, head_dim: int | None = None, layer_type: str | None = None, **settings: Any) -> Adapted:
    """A function, class or module as f(x, positions), identified by the names of its parameters.

    ``settings`` go to the configuration if there is one (transformers), else to the class. ``layer_type`` names the
    list of frequencies where the configuration has one for each kind of layer.

    Raises:
        TargetError: If the parameters are not those of a known signature and more than two are required, or if the
            module lacks what builds the tables that the signature needs.
    """
    if not callable(target):
        raise TargetError(f"it is not callable: {type(target).__name__}; name a function, a class or a torch module")
    try:
        parameters = parameters_of(target).values()
    except ValueError as error:
        raise TargetError("it does not say what its parameters are; wrap it as f(x, positions)") from error
    if not _reads_configurations(target):
        unread = [n for n, given in (("config", "config" in settings), ("layer_type", layer_type is not None)) if given]
        if unread:
            raise TargetError(
                f"{unread[0]}: expected a class or function of a family with a configuration, got "
                f"{getattr(target, '__name__', type(target).__name__)}, which reads none; name the family's own, "
                "or set head_dim and what it takes"
            )
    names = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
    usual = 64 if head_dim is None else head_dim
    home = import_module(target.__module__) if hasattr(target, "__module__") else None
    if names == ["tensor", "sin", "cos"]:
        return _sines_first(target, home, head_dim, layer_type, settings)
    if names[:2] in ANGLES:
        return _with_angles(target, home, usual, settings)
    if inspect.isfunction(target) and builds_tables(target.__name__, required(target)):
        return _of_builder(target, usual, settings, asked=head_dim is not None)
    if not inspect.isclass(target) and takes_tables(target):
        return _tables_and_apply(target, head_dim, layer_type, settings)
    if inspect.isclass(target):
        return _module(target, usual, head_dim, layer_type, settings)
    if found := _by_names(target, names, usual):
        return found
    if len([p for p in parameters if p.default is p.empty]) > 2 or any("seqlens" in name for name in names[:2]):
        raise TargetError(f"no adapter for the parameters {', '.join(names)}; wrap it as f(x, positions)")
    if settings or layer_type is not None:
        named = ", ".join([*settings, *([] if layer_type is None else ["layer_type"])])
        raise TargetError(f"a function f(x, positions) takes no settings, got {named}; wrap it with them")
    return Adapted(target, usual)


def _reads_configurations(target: Any) -> bool:
    """Whether what a configuration says reaches the target."""
    if inspect.isclass(target):
        return _is_configured(target)
    names = parameter_names(target)
    if names == ["tensor", "sin", "cos"]:
        return True
    if names[:2] in ANGLES or not takes_tables(target):
        return False
    with suppress(TargetError):
        return _is_configured(rotary_class_of(target))
    return False


def _is_configured(Class: Any) -> bool:
    """Whether a class is built from a family's configuration and not from a width."""
    return "config" in parameters_of(Class.__init__) and _record(Class) is Class


def _record(Class: Any) -> Any:
    """The dataclass that a class takes as its one argument, whose fields then are what it needs; else the class."""
    taken = config_classes(Class) if list(required(Class)) == ["config"] else []
    return taken[0] if len(taken) == 1 and is_dataclass(taken[0]) and not hasattr(taken[0], "to_dict") else Class


def _family(
    Class: Any, functions: list[Any] | None, head_dim: int | None, layer_type: str | None, settings: dict[str, Any]
) -> Adapted:
    """A class that takes a configuration, with the functions that may apply its tables; default: those beside it."""
    settings = dict(settings)
    axis, given = settings.pop("axis", None), settings.pop("config", None)
    if head_dim is not None:
        heads = 4
        settings = {"num_attention_heads": heads, "hidden_size": heads * head_dim, "head_dim": head_dim} | settings
    rotary, config = build(Class, settings=settings, given=given, layer_type=layer_type)
    kinds = layer_types(rotary, config)
    if layer_type not in (kinds or (None,)):
        open_choice = ("layer_type", kinds) if kinds and layer_type is None else None
        raise TargetError(wrong_layer_type(layer_type, kinds, Class.__name__), open_choice)
    way = find_way(
        rotary,
        config,
        functions=functions or functions_beside(Class, config),
        widths=head_widths(config, layer_type),
        which={} if layer_type is None else {"layer_type": layer_type},
        cut=cut_of(config, layer_type),
    )
    _expect_axis(axis, way)
    found = _of_way(way, axis, _about(config, settings, given), type(rotary).__name__)
    settings_of, unread = rule_of(config, layer_type)
    return replace(found, built=Built(rotary, settings_of, window_of(config), unread, longest_of(config)))


def _expect_axis(axis: int | None, way: Way) -> None:
    if axis is not None and axis not in range(way.axes):
        raise TargetError(f"axis: expected a number below {way.axes}, got {axis!r}: it has {way.axes} axes")


def _about(config: Any, settings: dict[str, Any], given: Any) -> str:
    """The origin of the numbers, in words."""
    name = type(config).__name__
    if settings:
        return f"{name} with {', '.join(settings)} set for this audit"
    if given:
        return f"{name} as the given configuration sets it"
    return f"as {name}() sets it: the library's default, not a released model's"


def _of_way(way: Way, axis: int | None, about: str, name: str) -> Adapted:
    """A way as f(x, positions), with its class and function in words."""
    turn = way.along(axis)
    here = " of this audit, as the entries repeat" if way.function == repeated_entries.__name__ else ""
    remarks = [*([about] if about else []), f"{name} applied by {way.function}{here}"]
    if way.axes > 1:
        asked = "all at once" if axis is None else f"along axis {axis}"
        remarks.append(f"positions of {way.axes} axes, {way.shape}, asked {asked}")
    elif way.shape not in ("(1, T)", "(T,)"):
        remarks.append(f"asked with {way.shape}")
    return Adapted(
        OfBoth(turn),
        way.head_dim,
        keys=OfBoth(turn, -1),
        about="; ".join(remarks),
        along=None if way.axes < 2 else lambda a: lambda x, n: way.along(a)(x, n)[0],
        axes=way.axes,
        axis=axis,
    )


def _made(Class: Any, head_dim: int, settings: dict[str, Any], *, asked: bool = False) -> tuple[Any, Arguments]:
    """An instance of a class that takes the width of a head, and the arguments that it was built with."""
    taken = _record(Class)
    needed = [name for name in required(taken) if name not in settings]
    first = next(iter(parameters_of(taken)), "")
    alone = set(needed) <= {first} and first not in (*AXES, *BASES, *LENGTHS)
    named = first in needed or first in WIDTHS or (asked and "dim" in first)
    refused: list[TargetError] = []
    for head in (head_dim,) if asked else (head_dim, THREE_AXES):
        width = (head,) if alone and first and named else ()
        found = Arguments(settings, "") if alone else arguments(taken, width=head, asked=asked, settings=settings)
        try:
            made = taken(*width, **found.given)
            made = made if taken is Class else Class(made)
            if hasattr(made, "named_buffers"):  # in training some move coordinates by chance
                made = made.eval()
            return made, Arguments(dict(zip([first], width, strict=False)) | found.given, found.about)
        except Exception as error:
            given = ", ".join([*map(str, width), *(f"{name}={value}" for name, value in found.given.items())])
            text = f"{Class.__name__}({given}) raised {told(error)}"
            refused.append(TargetError(text))
            refused[-1].__cause__ = error
    raise refused[0]


def _tables_and_apply(apply: Any, head_dim: int | None, layer_type: str | None, settings: dict[str, Any]) -> Adapted:
    """apply(q, k, cos, sin): tables from RotaryEmbedding(dim), or from a family's class with its configuration."""
    width = 64 if head_dim is None else head_dim
    try:
        Class = rotary_class_of(apply)
    except TargetError:
        builders = [f for f in vars(import_module(apply.__module__)).values() if inspect.isfunction(f)]
        builders = [f for f in builders if builds_tables(f.__name__, parameter_names(f))]
        if not builders:
            raise
        return _of_builder(builders[0], width, settings, asked=head_dim is not None, apply=apply)
    if _is_configured(Class):
        return _family(Class, [apply], head_dim, layer_type, settings)
    try:
        return _with_function(Class, apply, width, settings)
    except TargetError as refused:
        made, built = _made(Class, width, settings)
        try:
            return _with_module(_of_tables(made, Class, built, width, None, None, functions=[apply]), made)
        except TargetError:
            raise refused from None


def _with_function(Class: Any, apply: Any, width: int, settings: dict[str, Any]) -> Adapted:
    """apply(q, k, cos, sin) with the tables of a class that takes the width of a head."""
    made, _ = _made(Class, width, settings)
    tables = cos_sin_function(made, head_dim=width)
    if tables is None:
        said = f"{Class.__name__}({width}) gives no tables (cos, sin) for positions or seq_len"
        raise TargetError(f"{said}; wrap it as f(x, positions)")
    turn, numbered = for_both(apply), "position_ids" in required(apply)

    def both(x: Any, n: Any) -> Any:
        rows = {"position_ids": n.new_ones(1, len(n)).cumsum(1) - 1} if numbered else {}  # of the rows looked up
        return turn(x, x.clone(), *tables(tensor(x), n), **rows)

    return _with_module(Adapted(OfBoth(both), width, keys=OfBoth(both, -1)), made)


def _module(Class: Any, head_dim: int, asked: int | None, layer_type: str | None, settings: dict[str, Any]) -> Adapted:
    """A class: its module's own function if it has one, else an instance called with x and positions."""
    home = import_module(Class.__module__)
    if _is_configured(Class):
        return _family(Class, None, asked, layer_type, settings)
    settings = dict(settings)
    axis = settings.pop("axis", None)
    beside = [getattr(home, name) for name in APPLY if hasattr(home, name)]
    angles = [apply for apply in beside if parameter_names(apply)[:2] in ANGLES]
    if angles and Class.__name__ == "RotaryEmbedding":
        return _with_angles(angles[0], home, head_dim, settings)
    made, built = _made(Class, head_dim, settings, asked=asked is not None)
    names = parameter_names(getattr(made, "call", getattr(made, "forward", made)))
    if own := _own_call(made, names, head_dim, axis, built.about):
        return own
    axes = next((len(v) for n, v in built.given.items() if n in AXES and isinstance(v, tuple | list)), None)
    axes = next((v for n, v in built.given.items() if n in COUNTS and isinstance(v, int)), axes)
    refused = None
    functions = [apply for apply in beside if {"cos", "sin"} <= set(parameter_names(apply))]
    if axes is None and functions:
        try:
            return _with_function(Class, functions[0], head_dim, settings)
        except TargetError as error:
            refused = error
    elif axes is None and not functions_beside(Class, None) and (tables := cos_sin_function(made, head_dim=head_dim)):
        f, about = apply_cos_sin(tables, head_dim=head_dim)
        return _with_module(Adapted(f, head_dim, about=about), made)
    gives_tables = hasattr(made, "forward") or (names and names[0] in (*PLACES, *LENGTHS))
    if names[:2] == ["x", "positions"] or not gives_tables:
        return _with_module(Adapted(made, head_dim), made)
    try:
        found = _of_tables(made, Class, built, head_dim, axes, axis)
    except TargetError as error:
        if len(names) > 1 and names[0][:1] == "x" and names[1] in PLACES and _turns(made, head_dim):
            return _with_module(Adapted(made, head_dim), made)
        raise refused or error from error
    if refused and found.axes == 1:  # the function beside it wants other tables than these
        raise refused
    return _with_module(found, made)


def _turns(made: Any, head_dim: int) -> bool:
    """Whether a module answers x and positions itself, with two tokens as among four: places of two axes do not."""
    with suppress(RefusedError):
        probe = Probe(made, head_dim=head_dim)
        if probe.first is not None:
            x, n, y = probe.first
            return bool((abs(probe(x[..., 1:3, :], n[1:3]) - y[..., 1:3, :]) < 1e-2).all())
    return False


def _own_call(made: Any, names: list[str], head_dim: int, axis: int | None, about: str) -> Adapted | None:
    """A module that turns x itself, in another form than f(x, positions), by the ``names`` of what its call takes."""
    if "input_pos" in names:  # torchtune: (batch, T, heads, d)
        swapped = Adapted(lambda x, n: made(tensor(x).transpose(1, 2), input_pos=n[None]).transpose(1, 2), head_dim)
        return _with_module(swapped, made)
    if names[:1] == ["inputs"] and "positions" in names:  # Keras: (batch, T, heads, d)
        return Adapted(lambda x, n: made(tensor(x).transpose(1, 2), positions=n).transpose(1, 2), head_dim)
    if names == ["x"] and hasattr(made, "named_buffers") and turns_pictures(made, head_dim=head_dim):
        return _with_module(_of_pictures(made, head_dim, axis, about), made)
    if found := _by_names(made, names, head_dim):
        return _with_module(found, made)
    if whole := whole_sequence_call(made, names, head_dim=head_dim):
        said = "takes no positions: asked with one token at each place"
        keys = whole_sequence_call(made, names, head_dim=head_dim, which=1) if names[1:2] and names[1] in KEYS else None
        k = None if keys is None else whole_sequences(keys, longest=1024)
        return _with_module(Adapted(whole_sequences(whole, longest=1024), head_dim, keys=k, about=said), made)
    return None


def _by_names(call: Any, names: list[str], head_dim: int) -> Adapted | None:
    """The function that turns x by an offset, q and k by positions, or x by position_ids; None without one."""
    both_offset = names[2:3] if names[1:2] and names[1] in KEYS else []
    if (place := next(iter(both_offset or names[1:2]), "")) in OFFSETS and names[0] != "qkv" and not of_mlx(call):
        said = f"asked by its {place}, a call for each run of positions"
        if not both_offset:
            return Adapted(by_offset(call, place, head_dim=head_dim), head_dim, about=said)

        def turned(which: int) -> RotaryCallable:
            return by_offset(lambda x, **start: call(x, x.clone(), **start)[which], place, head_dim=head_dim)

        return Adapted(turned(0), head_dim, keys=turned(1), about=said)
    at = next((name for name in names if name in COS_SIN_POSITIONS), None)
    if at is None or set(names) & set(TABLES):
        return None
    q, k = (next((name for name in names if name in known and name != at), None) for known in (QUERIES, KEYS))
    plain = at != "position_ids" if inspect.isfunction(call) else names[:2] == ["x", "positions"]
    if q is None or (k is None and plain):  # f(x, positions) as it is
        return None

    import torch

    def both(x: Any, n: Any) -> Any:
        if of_rows and n.ndim == 1:
            raise ValueError("position_ids are (batch, T)")
        given = {q: tensor(x), at: n[None] if of_one else n} | ({} if k is None else {k: x.clone()})
        answer = call(**given)
        answer = tuple(answer.values()) if isinstance(answer, dict) else answer
        return answer if isinstance(answer, tuple | list) else (answer,)

    def turns(places: Any) -> bool:
        for shape in ((2, 3, 4, head_dim), (2, 4, head_dim), (2, 4, 3, head_dim)):
            with suppress(Exception):
                if [y.shape for y in both(torch.ones(shape), places)] == [shape] * (1 if k is None else 2):
                    return True
        return False

    of_rows, of_one = at == "position_ids", False
    if of_rows and not turns(torch.arange(4).expand(2, 4)):  # it may take one row for all
        of_rows, of_one = False, True
    if k is None:  # it may as well give tables
        asked = torch.arange(4).expand(2, 4) if of_rows else torch.arange(4)
        return Adapted(lambda x, n: both(x, n)[0], head_dim) if turns(asked) else None
    ask, said = _in_one_row(both, head_dim) if names[0] == at else (both, "")
    return Adapted(OfBoth(ask), head_dim, keys=OfBoth(ask, -1), about=said)


def _in_one_row(both: Any, head_dim: int) -> tuple[Any, str]:
    """The call of q and k, or one that gives tokens in one row, (T, heads * head_dim), where it takes those (vLLM)."""
    import torch

    def rows(x: Any, n: Any) -> Any:
        turned = [both(row.transpose(0, 1).flatten(1), n) for row in tensor(x)]
        return [torch.stack([y[i].view(x.shape[2], -1, head_dim).transpose(0, 1) for y in turned]) for i in (0, 1)]

    same = torch.linspace(0.5, 1.5, head_dim).expand(1, 3, 4, head_dim).clone()
    for ask, said in ((both, ""), (rows, "asked with tokens in one row, (T, heads * head_dim)")):
        with suppress(Exception):  # what turns the same vector otherwise in another head reads it in another order
            if bool((ask(same, torch.arange(4))[0].diff(dim=1).abs() < 1e-3).all()):
                return ask, said
    return both, ""


def _with_module(found: Adapted, made: Any) -> Adapted:
    """The adapted target with the torch module that answers, so that the module's own laws can be asked."""
    return replace(found, built=Built(made, None, None)) if hasattr(made, "named_buffers") else found


def _of_pictures(made: Any, head_dim: int, axis: int | None, about: str) -> Adapted:
    """A module that turns the channels of a picture itself, asked with a token in each place."""
    turn = in_pictures(made)
    said = f"a picture of {PICTURE} x {PICTURE} patches{size_words(made, head_dim=head_dim)}"
    way = Way(lambda x, P: [turn(tensor(x), P)], 2, head_dim, head_dim, "its own call", said)
    _expect_axis(axis, way)
    return _of_way(way, axis, about, type(made).__name__)


def _of_tables(
    made: Any,
    owner: Any,
    built: Arguments,
    head_dim: int,
    axes: int | None,
    axis: int | None,
    *,
    functions: list[Any] | None = None,
) -> Adapted:
    """A module or a function that gives tables, with the function that applies them, given or beside it, by trying."""
    widths = [sum(v) if isinstance(v, tuple | list) else v for n, v in built.given.items() if n in (*WIDTHS, *AXES)]
    way = find_way(
        made,
        None,
        functions=functions or functions_beside(owner, None),
        widths=widths or [head_dim],
        which={},
        cut=None,
        axes=axes,
        last=repeated_entries,
    )
    _expect_axis(axis, way)
    return _of_way(way, axis, built.about, owner.__name__)


def _of_builder(function: Any, width: int, settings: dict[str, Any], *, asked: bool, apply: Any = None) -> Adapted:
    """A function that builds tables for a width, with the function that applies them; default: one beside it."""
    settings = dict(settings)
    axis = settings.pop("axis", None)
    built = arguments(function, width=width, asked=asked, settings=settings, later=(*PLACES, *SIDES))
    needed, every = list(required(function)), parameter_names(function)
    lengths, later = ([n for n in some if n in LENGTHS and n not in settings][:1] for some in (needed, every))
    open_names = lengths or [n for n in needed if n not in built.given] or later
    if not any(n in WIDTHS for n in needed):
        built.given.update({n: width for n in every if n in WIDTHS and n not in settings})
    given = {name: value for name, value in built.given.items() if name not in open_names}

    def tables(*at: Any) -> Any:
        return function(**given, **dict(zip(open_names, at, strict=True)))

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    tables.__name__ = function.__name__
    tables.__dict__["__signature__"] = inspect.Signature([inspect.Parameter(name, kind) for name in open_names])
    functions = None if apply is None else [apply]
    return _of_tables(tables, function, replace(built, given=given), width, None, axis, functions=functions)


def _sines_first(
    apply: Any, home: Any, head_dim: int | None, layer_type: str | None, settings: dict[str, Any]
) -> Adapted:
    """GPT-J and CodeGen: apply(tensor, sin, cos) with rows looked up in a table, heads behind the tokens.

    The module's configuration says how wide a head is, and how many of its first coordinates turn.
    """
    _from_module(home, "create_sinusoidal_positions")
    settings = dict(settings)
    given = settings.pop("config", None)
    if layer_type is not None:
        raise TargetError(wrong_layer_type(layer_type, (), apply.__name__))
    config = next((c for c in _defaults(home) if getattr(c, "rotary_dim", None)), None)
    if config is None and (given or settings):
        named = ", ".join(["config"] * bool(given) + list(settings))
        raise TargetError(f"{named}: expected none, got it, and {home.__name__} has no configuration that takes it")
    if given:
        config = given_parts(given, [type(config)], prefer="text")[0]
    if settings:
        config = changed(config, settings)
    whole, turning, about = head_dim or 64, head_dim or 64, ""
    if config is not None and (head_dim is None or given or settings):
        whole, turning = head_dim or width_of(config, None), config.rotary_dim
        about = _about(config, settings, given)

    held = [home.create_sinusoidal_positions(1, turning)]  # the model makes one table of all its positions

    def f(x, positions):
        import torch

        x = tensor(x).transpose(1, 2)
        if len(held[0]) <= (last := int(whole_rows(positions).max())):
            held[0] = home.create_sinusoidal_positions(2 ** last.bit_length(), turning)
        rows = held[0][positions][None]
        sin, cos = rows.chunk(2, dim=-1)
        return torch.cat((apply(x[..., :turning], sin, cos), x[..., turning:]), dim=-1).transpose(1, 2)

    return Adapted(f, whole, about=about)


def _with_angles(apply: Any, home: Any, head_dim: int, settings: dict[str, Any]) -> Adapted:
    """A module gives the angles, a function applies them: rotary-embedding-torch, x-transformers, Megatron."""
    rotary = _from_module(home, "RotaryEmbedding")(head_dim, **settings)
    angles_first = next(iter(parameters_of(apply))) == "freqs"
    of_length = next(iter(parameters_of(getattr(rotary, "forward", rotary))), "") in LENGTHS

    def f(x, positions):
        if of_length:  # Megatron: angles (length, 1, 1, head_dim) for x (T, batch, heads, head_dim)
            angles = rotary(int(whole_rows(positions, MOST).max()) + 1)[positions]
            return apply(tensor(x).permute(2, 0, 1, 3), angles).permute(1, 2, 0, 3)
        dtype = next(held.dtype for held in (*rotary.parameters(), *rotary.buffers()) if held.is_floating_point())
        angles = rotary(tensor(x).new_tensor(positions.tolist(), dtype=dtype))
        return apply(angles, x) if angles_first else apply(x, *angles)

    return _with_module(Adapted(f, head_dim), rotary)


def _from_module(home: Any, name: str) -> Any:
    """The object of this name in the function's module, which builds its tables."""
    if not hasattr(home, name):
        raise TargetError(f"{home.__name__} has no {name} that would build the tables; wrap it as f(x, positions)")
    return getattr(home, name)


def _defaults(home: Any) -> list[Any]:
    """The default configurations of the classes of configurations that a module names."""
    found = []
    for name, Config in vars(home).items():
        if name.endswith("Config") and inspect.isclass(Config):
            with suppress(Exception):
                found.append(Config())
    return found
