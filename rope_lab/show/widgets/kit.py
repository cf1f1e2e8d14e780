"""What every widget shares: one anywidget class that joins the kit's JavaScript and styles to a widget's own.

A widget ``<name>`` is ``<name>.py`` beside ``<name>.js`` (and ``<name>.css`` where it needs one). The script splits
into a pure ``compute(state)`` and a drawing; the class has the same ``compute``, and a browser test compares the two.
"""

import inspect
import json
import re
from html import escape
from math import floor, isfinite
from pathlib import Path

import anywidget
import traitlets
from IPython.display import display
from traitlets import Float, Int

from rope_lab.show import style

__all__ = ["Widget", "base_of", "constant", "join", "state"]

_KIT = Path(__file__).resolve().parent
_VIEW = "application/vnd.jupyter.widget-view+json"
_SHARED = ("draw", "controls", "kit")  # scripts of every widget; another that some share is named where it is imported
_FROM = re.compile(r'^import [^;]*? from "(\.\.?/[\w./]+\.js)";\n', re.MULTILINE)
_DATA = re.compile(r'^import (\w+) from "(\.\.?/[\w./]+\.json)";\n', re.MULTILINE)
_COMMENT = re.compile(r"^\s*(//.*|/\*\*.*\*/)\n", re.MULTILINE)
_INDENT = re.compile(r"^ +", re.MULTILINE)


def state(trait: traitlets.TraitType) -> traitlets.TraitType:
    """Mark a trait as part of a widget's state: the browser shares it, Reset restores it, a link carries it."""
    return trait.tag(sync=True, state=True)


def constant(value: object) -> traitlets.TraitType:
    """A number or a list that the script needs too: ``compute`` finds it in the state, and nothing changes it."""
    return traitlets.Any(value).tag(sync=True, constant=True)


def base_of(log_base: float) -> float:
    """The base that a slider over powers of ten stands for, rounded to two digits: 10^5.7 is 500,000."""
    unit = 10.0 ** floor(log_base - 1)
    return floor(10.0**log_base / unit + 0.5) * unit


def _is_state(trait: object) -> bool:
    return isinstance(trait, traitlets.TraitType) and any(trait.metadata.get(tag) for tag in ("state", "constant"))


def _is_bounded(trait: traitlets.TraitType) -> bool:
    ends = [trait.min, trait.max] if isinstance(trait, (Int, Float)) else [None]
    return all(end is not None and isfinite(end) for end in ends)


def _read(script: Path) -> str:
    """A script, with the JSON that it imports in its place: a page from file:// can fetch no data."""

    def constant(found: re.Match) -> str:
        data = json.loads((script.parent / found[2]).read_text(encoding="utf-8"))
        return f"const {found[1]} = {json.dumps(data, separators=(',', ':'))};\n"

    return _DATA.sub(constant, script.read_text(encoding="utf-8"))


def join(script: Path) -> str:
    """The kit, a widget's script and what that imports, as one module: a module made from text cannot import a file.

    The files keep their ``import`` and ``export`` lines, so an editor understands them; here they go, with comments and
    indentation: every page carries its widgets' scripts. A file of JSON that one imports stands in it as a constant.
    """
    own = _read(script)
    imported = [(script.parent / path).resolve() for path in _FROM.findall(own)]
    shared = dict.fromkeys([*(_KIT / f"{name}.js" for name in _SHARED), *imported])
    before = "".join(map(_read, shared))
    text = re.sub(r"^export ", "", before, flags=re.MULTILINE) + own
    return _INDENT.sub("", _COMMENT.sub("", _FROM.sub("", text)))


class Widget(anywidget.AnyWidget):
    """An interactive figure that computes in the browser and never needs a kernel.

    A subclass names its ``title``, its state (``m = state(Int(3, min=0, max=9))``), what else the script has to know
    (``reach = constant(REACH)``), the pure ``compute(state)``, and ``fallback()``: what the figure
    says where no script runs.
    """

    title = ""
    slug = ""
    _name = traitlets.Unicode().tag(sync=True)
    _title = traitlets.Unicode().tag(sync=True)
    _initial = traitlets.Dict().tag(sync=True)
    _limits = traitlets.Dict().tag(sync=True)  # of the numbers of the state: what a slider starts and ends with

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        if "compute" not in vars(cls):  # anywidget makes a class of its own for each instance: it inherits all this
            return
        taken = sorted({name for name, trait in vars(cls).items() if _is_state(trait)} & set(dir(anywidget.AnyWidget)))
        if taken:
            raise TypeError(f"{cls.__name__}: the state cannot be named {taken[0]!r}, ipywidgets has that name")
        script = Path(inspect.getfile(cls)).with_suffix(".js")
        cls.slug = script.stem
        own = script.with_suffix(".css")
        cls._esm = join(script)
        sheets = [style.css(), (_KIT / "kit.css").read_text(encoding="utf-8")]
        css = "".join([*sheets, own.read_text(encoding="utf-8") if own.exists() else ""])
        cls._css = re.sub(r" */\*.*?\*/", "", css, flags=re.DOTALL)

    def __init__(self, **values) -> None:
        known = self.state_names()
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise TypeError(f"{type(self).__name__} has no state {unknown[0]!r}; it has: {', '.join(known)}")
        super().__init__(**values)
        self._name = self.slug
        self._title = self.title
        self._initial = self.state()
        self._limits = {
            name: [trait.min, trait.max] for name, trait in self.traits(state=True).items() if _is_bounded(trait)
        }

    @classmethod
    def state_names(cls) -> list[str]:
        """The names of what changes."""
        return list(cls.class_traits(state=True))

    def state(self) -> dict:
        """The state now and the constants, as ``compute`` takes them."""
        return {name: getattr(self, name) for name in (*self.state_names(), *self.class_traits(constant=True))}

    @staticmethod
    def compute(state: dict) -> dict:
        """The numbers behind the picture, from the state alone; the script's ``compute`` returns the same."""
        raise NotImplementedError

    def fallback(self) -> str:
        """One or two sentences that say what the figure shows, for paper and for a browser without scripts."""
        raise NotImplementedError

    def hero(self, *, control: str, readout: str, figure: int = 0) -> None:
        """Show a second, small view of this figure and its state: what a chapter opens with.

        In the book it has no tools, and inside the form of a prediction it stands still until the reader commits to an
        answer. Elsewhere, in a notebook say, the whole figure appears.

        Args:
            control: The name of the state that its one control changes.
            readout: The key of its one number, among those that the script's ``ui.readout`` shows.
            figure: Its one picture, counted from 0 in the order in which the script makes them.

        Raises:
            ValueError: No state has that name.
        """
        if control not in self.state_names():
            known = ", ".join(self.state_names())
            raise ValueError(f"{type(self).__name__} has no state {control!r} to control; it has: {known}")
        bundle = self._repr_mimebundle_()
        data = dict((bundle[0] if isinstance(bundle, tuple) else bundle) or {})
        view = data.get(_VIEW)
        if view is not None:
            data[_VIEW] = {**view, "hero": {"control": control, "readout": readout, "figure": figure}}
        display({**data, "text/plain": self.title}, raw=True)

    def _repr_mimebundle_(self, **options):
        bundle = super()._repr_mimebundle_(**options)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if data:
            data["text/plain"] = self.fallback()
        return bundle

    def _ipython_display_(self) -> None:
        silent = f'<noscript><p class="rope-fallback">{escape(self.fallback())}</p></noscript>'
        display({"text/html": silent, "text/plain": ""}, raw=True)
        bundle = self._repr_mimebundle_()
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        display(data or {"text/plain": self.fallback()}, metadata=metadata, raw=True)
