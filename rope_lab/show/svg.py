"""Static figures as inline SVG: drawn once by matplotlib, inked by the page, so one drawing serves both themes.

A figure names the palette's light colours (``style.LIGHT``); here each becomes a CSS variable, and a colour that is not
in the palette is refused. Words stay words, in the page's own face; mathematics between dollars is drawn as outlines.
"""

import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure
from matplotlib.text import Text

from rope_lab.show import style

__all__ = ["Picture", "figure", "line", "two_rows"]

COLUMN, PHONE = 790 / 90, 358 / 90  # inches: the widths of a page's column

_RC: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": style.LIGHT["muted"],
    "axes.facecolor": "none",
    "axes.grid": False,
    "axes.labelcolor": style.LIGHT["ink"],
    "axes.labelsize": 11,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 12,
    "axes.unicode_minus": True,
    "figure.dpi": 72,
    "figure.facecolor": "none",
    "font.family": "sans-serif",
    "font.size": 11,
    "grid.color": style.LIGHT["hair"],
    "grid.linewidth": 0.8,
    "legend.edgecolor": style.LIGHT["hair"],
    "legend.facecolor": style.LIGHT["paper"],
    "legend.frameon": False,
    "lines.linewidth": 2.0,
    "lines.markersize": 6,
    "mathtext.fontset": "cm",
    "patch.linewidth": 0.8,
    "svg.fonttype": "path",
    "svg.hashsalt": "rope-lab",
    "text.color": style.LIGHT["ink"],
    "xtick.color": style.LIGHT["muted"],
    "xtick.labelsize": 11,
    "ytick.color": style.LIGHT["muted"],
    "ytick.labelsize": 11,
}
_VARIABLES = {colour: f"var(--rope-{name}, {colour})" for name, colour in style.LIGHT.items()} | {
    style.LIGHT["ink"]: "currentColor"
}
# The width of the place decides which drawing shows: in less than 640 pixels the first has letters below 11.
_BY_WIDTH = """.rope-svg:has(> svg + svg) { container-type: inline-size; }
@container (width >= 640px) { .rope-svg > svg + svg { display: none; } }
@container (width < 640px) { .rope-svg > svg:has(+ svg) { display: none; } }
"""


class Picture:
    """An inline SVG with a title and a description; a notebook or a page shows it as it is."""

    def __init__(self, *, title: str, desc: str) -> None:
        for name, text in (("title", title), ("desc", desc)):
            if not text.strip():
                raise ValueError(f"expected a {name} in words, got {text!r}: who cannot see the figure needs it")
        self.title, self.desc = title, desc
        self.svg = self.narrow = ""  # the second is for phones, or there is none
        self.sheet: Figure | None = None

    def png(self, *, dpi: int = 144) -> io.BytesIO:
        """Draw the picture in pixels on white paper, for places that show no SVG: a file that is open to be read."""
        if self.sheet is None:
            raise ValueError("expected a picture that is drawn, got one whose `with figure(...)` block has not ended")
        out = io.BytesIO()
        with mpl.rc_context(_RC):
            self.sheet.savefig(out, format="png", dpi=dpi, facecolor=style.LIGHT["paper"])
        out.seek(0)
        return out

    def _repr_html_(self) -> str:
        play = (
            f'<button type="button" class="rope-play-once" hidden aria-label="Play: {escape(self.title, quote=True)}">'
        )
        button = f"{play}Play</button>" if "data-plays=" in self.svg else ""
        css = style.css() + (_BY_WIDTH if self.narrow else "")
        return f'<div class="rope-svg"><style>{css}</style>{self.svg}{self.narrow}{button}</div>'

    def __repr__(self) -> str:
        return f"{self.title}. {self.desc}"


class Sheet(Figure):
    """A matplotlib figure that becomes a :class:`Picture`."""

    picture: Picture

    def __init__(self, **options) -> None:
        super().__init__(**options)
        self.moves: dict[str, Callable[[], dict]] = {}  # by the name of a group: how it plays
        self.on_phone: Callable[[], object] = lambda: None  # what changes before the narrow drawing

    def plays(
        self,
        artist: Artist,
        *,
        turn: float = 0.0,
        about: tuple[float, float] = (0.0, 0.0),
        upright: bool = False,
        along: np.ndarray | None = None,
        appear: bool = False,
        begin: float = 0.0,
        seconds: float = 0.4,
    ) -> None:
        """Let an artist move in when a reader presses Play: the picture itself is how the play ends.

        ``book/_static/moving_figures.js`` does it. On paper, without scripts and for who wants no motion the picture
        stands still, and no button shows.

        Args:
            artist: What moves; it belongs to axes.
            turn: Radians that it turns counter-clockwise before it stands as drawn.
            about: The centre of the turn, in data units.
            upright: A text that goes round the centre and does not lean.
            along: Points that it passes, in data units, shape (points, 2); the last is where it stands.
            appear: Whether it is not there before ``begin``.
            begin: Seconds until it starts.
            seconds: How long it moves or takes to appear.
        """
        artist.set_gid(f"move-{len(self.moves)}")

        def place(points) -> np.ndarray:
            if artist.axes is None:
                raise ValueError(f"expected an artist of axes, got {artist}: only there are data units places")
            return artist.axes.transData.transform(points)

        def spec() -> dict:  # when the layout is done: only then are data units places in the picture
            move: dict[str, Any] = {"begin": begin, "seconds": seconds}
            if turn:
                x, y = place(about)
                move |= {"turn": round(float(np.degrees(turn)), 2), "at": [_pixel(x), _pixel(self.bbox.height - y)]}
            if upright and isinstance(artist, Text):
                u, v = place(artist.get_position())
                move["upright"] = [_pixel(u), _pixel(self.bbox.height - v)]
            if along is not None:
                way = place(along) - place(along[-1])
                move["along"] = [[_pixel(u), _pixel(-v)] for u, v in way]
            return move | ({"appear": True} if appear else {})

        self.moves[f"move-{len(self.moves)}"] = spec

    def name_lines(self, axes: Axes, *, gap: float = 8) -> None:
        """Write the label of each line beside its end, in its ink; a comma ends a row.

        Of two names that would lie on each other the upper one moves up. ``gap`` is in points.
        """
        self.draw_without_rendering()  # only then is it known where the ends stand
        named = [one for one in axes.lines if not str(one.get_label()).startswith("_")]
        ends = [(one, np.asarray(one.get_xydata())[-1]) for one in named]
        heights, free = [float(axes.transData.transform(end)[1]) for _, end in ends], -np.inf
        for y, (one, (u, v)) in sorted(zip(heights, ends, strict=True), key=lambda found: found[0]):
            words = str(one.get_label()).replace(", ", ",\n")
            half = 7 * (1 + words.count("\n"))
            at = max(y, free + half)
            axes.annotate(words, (u, v), (gap, at - y), textcoords="offset points", va="center", color=one.get_color())
            free = at + half


def _pixel(length: float) -> float:
    return round(float(length), 1)


@contextmanager
def figure(
    *, title: str, desc: str, size: tuple[float, float] = (4.9, 3.2), heights: tuple[float, float] | None = None
) -> Iterator[Sheet]:
    """Draw with matplotlib inside the block; afterwards ``fig.picture`` is the :class:`Picture` to show.

    ``size`` is in inches of 90 pixels, where the page is wide enough. A figure of measured numbers has ``heights``
    in its place: it is laid out twice, as wide as a page's column and as a phone, and the page shows what has room.
    Draw with the colours of ``style.LIGHT``; :func:`line` gives an object's own. Shades are made with ``alpha``.

    >>> with figure(title="A line", desc="It rises.") as fig:
    ...     _ = fig.subplots().plot([0, 1], [0, 1], **line("one"))
    >>> "var(--rope-one" in fig.picture.svg
    True
    """
    picture = Picture(title=title, desc=desc)
    with mpl.rc_context(_RC):
        fig = Sheet(figsize=(COLUMN, heights[0]) if heights else size, layout="constrained")
        fig.picture = picture
        yield fig
        picture.svg = _page_ink(_render(fig), *fig.get_size_inches(), title=title, desc=desc)
        if heights:
            fig.set_size_inches(PHONE, heights[1])
            fig.on_phone()
            picture.narrow = _page_ink(_render(fig), PHONE, heights[1], title=title, desc=desc, of=picture.svg)
            fig.set_size_inches(COLUMN, heights[0])
        picture.sheet = fig
        picture.svg = _with_moves(picture.svg, fig.moves)
        _refuse_borrowed_colours(fig, picture.svg)


def _with_moves(drawn: str, moves: dict[str, Callable[[], dict]]) -> str:
    for name, spec in moves.items():
        move = escape(json.dumps(spec(), separators=(",", ":")))
        drawn, count = re.subn(rf'(<g id="f\w+-{name}")', rf'\1 data-plays="{move}"', drawn)
        if count != 1:
            raise ValueError(f"expected one group for {name}, got {count}: give plays() what is drawn, such as a line")
    return drawn


_NAMES = {  # what a reader must see where the colour stands for it: the word, or its letter in mathematics
    "query": r"\bquer(y|ies)\b|(?<![\\a-z])q(?![a-z])",
    "key": r"\bkeys?\b|(?<![\\a-z])k(?![a-z])",
    "value": r"\bvalues?\b|(?<![\\a-z])v(?![a-z])",
    "output": r"\boutputs?\b|(?<![\\a-z])o(?![a-z])",
}


def _refuse_borrowed_colours(fig: Figure, drawn: str) -> None:
    words = " ".join(text.get_text() for text in fig.findobj(Text)).lower()
    for role in style.RESERVED:
        if f"var(--rope-{role}," in drawn and not re.search(_NAMES[role], words):
            raise ValueError(
                f"expected a label that names the {role}, for the figure has its colour, got {words!r}: "
                "label it, or take another role, such as one and two"
            )


def line(role: str) -> dict:
    """Keywords of ``Axes.plot`` for one object of the book: its colour and its line pattern.

    >>> line("key")["linestyle"]
    (0, (4, 2))
    """
    if role not in style.ROLES:
        raise ValueError(f"expected one of {', '.join(style.ROLES)}, got {role!r}")
    dash = style.ROLES[role].dash
    return {"color": style.LIGHT[role], "linestyle": (0, dash) if dash else "-"}


def two_rows(axes: Axes) -> None:
    """Write every second number below the axis a row lower, where they would run into each other."""
    words = [label.get_text() for label in axes.get_xticklabels()]
    axes.set_xticks(axes.get_xticks(), [f"\n{word}" if n % 2 else word for n, word in enumerate(words)])


class _Renderer(RendererSVG):
    """Words as words, mathematics as outlines: the page has no font that knows matplotlib's mathematics."""

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        if not ismath:
            with mpl.rc_context({"svg.fonttype": "none"}):
                super().draw_text(gc, x, y, s, prop, angle, mtext=mtext)
            return
        across, up = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
        parts = re.split(r"(?<!\\)\$", s)
        for n, part in enumerate(parts):  # every second one is mathematics; between words \$ is a dollar
            one = f"${part}$" if n % 2 else part.replace(r"\$", "$")
            wide = self.get_text_width_height_descent(one, prop, n % 2 == 1)[0]
            if n % 2:
                super().draw_text(gc, x, y, one, prop, angle, ismath=True)
            elif words := one.strip():  # the page's letters are not as wide as reckoned: they keep to the mathematics
                bare = self.get_text_width_height_descent(words, prop, False)[0]
                first, last = n == 0, n == len(parts) - 1
                at, ha = (bare, "right") if first else (wide - bare, "left") if last else (wide / 2, "center")
                place = Text(x + at * across, self.height - y + at * up, ha=ha, rotation_mode="anchor")
                self.draw_text(gc, x, y, words, prop, angle, mtext=place)
            x, y = x + wide * across, y - wide * up


def _render(fig: Figure) -> str:
    out = io.StringIO()
    width, height = fig.get_size_inches() * 72
    renderer = _Renderer(width, height, out, image_dpi=72, metadata={"Date": None, "Creator": None})
    fig.draw(renderer)
    renderer.finalize()
    return out.getvalue()


def _page_ink(text: str, width: float, height: float, *, title: str, desc: str, of: str = "") -> str:
    """The file without prolog and fonts, with ids of its own, the page's inks, a title and a description.

    A second drawing ``of`` a first has the words of that one, so that a page says them once.
    """
    key = "f" + hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:8]
    body = text[text.index("<svg") :]
    body = body[body.index(">") + 1 :]
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", body, flags=re.DOTALL)
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', body))
    body = re.sub(r' id="(?!move-)([^"]+)"', lambda name: name[0] * (name[1] in used), body)
    body = re.sub(r'\bid="([^"]+)"', rf'id="{key}-\1"', body)
    body = re.sub(r'(href="#|url\(#)', rf"\g<1>{key}-", body)
    body = re.sub(r"#[0-9a-f]{6}\b", _variable, body)
    body = re.sub(r"font: (?:[a-z0-9]+ )*?([\d.]+px) [^;\"]*", r"font-size: \1", body)  # matplotlib before 3.10
    body = re.sub(r" *font-family: [^;\"]*;?", "", body)
    body = re.sub(r"\s*\n\s*", " ", body).replace("> <", "><")
    body = re.sub(r' (?:d|x|y)="[^"]*"', lambda path: re.sub(r"-?\d+\.\d+", _short, path[0]), body)
    told = f'<title id="{key}-title">{escape(title)}</title><desc id="{key}-desc">{escape(desc)}</desc>'
    if of:
        key, told = of.split('aria-labelledby="')[1].split("-title")[0], ""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {72 * width:g} {72 * height:g}" width="{90 * width:g}" height="{90 * height:g}" '
        f'stroke-linejoin="round" role="img" aria-labelledby="{key}-title" aria-describedby="{key}-desc">'
    )
    return head + told + body.strip()


def _variable(match: re.Match) -> str:
    colour = match[0]
    if colour not in _VARIABLES:
        raise ValueError(f"expected a colour of style.LIGHT, got {colour}: name one, and make shades with alpha")
    return _VARIABLES[colour]


def _short(number: re.Match) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
