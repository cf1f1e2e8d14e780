"""Pictures in one call, for who works in a lab: maps, curves, bars and points, in the book's one look.

Each returns a :class:`~rope_lab.show.svg.Picture`; who wants more draws with :func:`~rope_lab.show.svg.figure`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from rope_lab.show import style
from rope_lab.show.svg import Picture, Sheet, figure, line

__all__ = ["bars", "curves", "maps", "points"]

# In this order, and again from the start: what is compared in a lab is rarely a query or a key.
_KINDS = ("one", "linear", "conjugate", "two", "wrong")
_WIDEST = 128  # rows or columns of a map: its cells are shapes in the page
_WIDTH = 4.9  # inches: on a phone the words are still large enough to read
_PAPER = {"facecolor": style.LIGHT["paper"], "edgecolor": "none", "pad": 1}  # behind a number, over a line
_SHADES = 32  # of a map: the cells of a shade are one shape


def maps(
    named: Mapping[str, Any],
    *,
    title: str,
    across: str = "key position",
    down: str = "query position",
    columns: Sequence[Any] = (),
    rows: Sequence[Any] = (),
    signed: bool = False,
    full: float | None = None,
) -> Picture:
    """Draw matrices side by side as maps: the larger the number, the stronger the ink of the cell.

    Args:
        named: Matrices of shape (rows, columns), at most 128 each way, by the words above them; NumPy or torch.
        title: What the maps show, in words; readers hear it and see it in a tooltip, and no title is drawn.
        across: What a column is.
        down: What a row is.
        columns: Words below the columns of each map, in place of their numbers.
        rows: Words beside the rows, from the top, in place of their numbers.
        signed: Whether numbers below zero have an ink of their own; otherwise the smallest number is blank paper.
        full: The number that has all the ink, and those beyond it; by default the largest, however small that is.

    Returns:
        The picture; all maps share one scale, which its description names.

    >>> maps({"a": np.eye(3)}, title="The identity").desc
    'a: 3 rows and 3 columns, from 0 to 1.'
    """
    tables = {words: _array(table, dims=2) for words, table in named.items()}
    if not tables or max(max(table.shape) for table in tables.values()) > _WIDEST:
        sizes = {words: table.shape for words, table in tables.items()}
        raise ValueError(f"expected matrices of at most {_WIDEST} rows and columns, got {sizes}")
    low, high = min(t.min() for t in tables.values()), max(t.max() for t in tables.values())
    zero = 0.0 if signed else low
    reach = (max(abs(high - zero), abs(low - zero)) if full is None else full - zero) or 1.0
    said = [
        f"{w}: {len(t)} rows and {t.shape[1]} columns, from {t.min():.3g} to {t.max():.3g}." for w, t in tables.items()
    ]
    wide, high = min(2, len(tables)), -(-len(tables) // 2)  # three in a row would be too small to read on a phone
    with figure(title=title, desc=" ".join(said), size=(2.45 * wide if wide > 1 else 4.2, 2.8 * high)) as fig:
        fig.set_layout_engine("constrained", hspace=0.08)
        places = list(fig.subplots(high, wide, squeeze=False).flat)
        for place, (ax, words, table) in enumerate(zip(places, tables, tables.values(), strict=False)):
            for role, part in (("one", table - zero), ("conjugate", zero - table))[: 2 if signed else 1]:
                shades = np.clip(np.ceil(part / reach * _SHADES - 1e-9), 0, _SHADES).astype(int)
                for shade in np.unique(shades[shades > 0]):
                    ink: dict[str, Any] = {"facecolor": style.LIGHT[role], "alpha": shade / _SHADES, "linewidth": 0}
                    ax.add_patch(PathPatch(_cells(shades == shade), **ink))
            ax.set(title=words, xlabel=across, xlim=(-0.5, table.shape[1] - 0.5), ylim=(len(table) - 0.5, -0.5))
            ax.set_aspect("equal" if 0.4 < len(table) / table.shape[1] < 2.5 else "auto")
            for axis, names, n in ((ax.xaxis, columns, table.shape[1]), (ax.yaxis, rows, len(table))):
                axis.set_major_locator(MaxNLocator(4, integer=True))
                if len(names) not in (0, n):
                    raise ValueError(f"expected {n} words for the rows or columns of {words!r}, got {list(names)}")
                if len(names):
                    axis.set_ticks(range(n), map(str, names))
            if place % wide == 0:
                ax.set_ylabel(down)
        for ax in places[len(tables) :]:  # what is left in the last row
            ax.axis("off")
    return fig.picture


def curves(named: Mapping[str, Any], x: Any = None, *, title: str, across: str, up: str, log: str = "") -> Picture:
    """Draw curves, each with its words at its end.

    Args:
        named: The heights of each curve, shape (points,), by its words.
        x: Where the points stand, shape (points,); left out, they are counted from 0.
        title: What the curves show, in words.
        across: What the horizontal axis is, with its unit.
        up: What the vertical axis is, with its unit.
        log: The axes with a logarithmic scale: "", "x", "y" or "xy".

    Returns:
        The picture.

    >>> curves({"rises": [0, 1, 4]}, title="Squares", across="number", up="square").desc
    'rises: from 0 to 4, between 0 and 4.'
    """
    heights = {words: _array(row, dims=1) for words, row in named.items()}
    places = {words: np.arange(len(y)) if x is None else _array(x, dims=1) for words, y in heights.items()}
    for words, y in heights.items():
        if len(y) != len(places[words]):
            raise ValueError(f"expected {len(y)} places for {words!r}, one for each height, got {len(places[words])}")
    said = [
        f"{w}: from {y[0]:.3g} to {y[-1]:.3g}, between {y.min():.3g} and {y.max():.3g}." for w, y in heights.items()
    ]
    with figure(title=title, desc=" ".join(said), size=(_WIDTH, 3.0)) as fig:
        ax = _axes(fig, across, up, log)
        for i, (words, y) in enumerate(heights.items()):
            look = line(_KINDS[i % len(_KINDS)]) | ({} if i else {"linestyle": "-"})
            ax.plot(places[words], y, label=fill(words, 36), **look)
        _few_ticks(ax, log)
        if len(heights) > 1:
            _legend(fig, most=4, handlelength=4)
    return fig.picture


def bars(named: Mapping[str, Any], *, title: str, along: str, limit: float | None = None, log: bool = False) -> Picture:
    """Draw lying bars with their numbers.

    Args:
        named: The length of each bar, by its words.
        title: What the bars show, in words.
        along: What a length is, with its unit.
        limit: Where a line across all bars stands, such as chance; none by default.
        log: Whether the axis is logarithmic; the bars then begin at 1, and no length may be smaller.

    Returns:
        The picture.

    >>> bars({"half": 0.5}, title="A half", along="share").desc
    'half: 0.5.'
    """
    lengths = dict(zip(named, _array([_bare(value) for value in named.values()], dims=1).tolist(), strict=True))
    if log and min(lengths.values()) < 1:
        raise ValueError(f"expected lengths of at least 1 on a logarithmic axis, got {min(lengths.values()):.3g}")
    said = " ".join(f"{words}: {value:.3g}." for words, value in lengths.items())
    with figure(title=title, desc=said, size=(_WIDTH, 0.8 + 0.34 * len(lengths))) as fig:
        ax = fig.subplots()
        ax.barh(list(lengths), list(lengths.values()), color=style.LIGHT["one"], alpha=0.45, height=0.62)
        for place, value in enumerate(lengths.values()):
            side: dict[str, Any] = {"xytext": (4 if value >= 0 else -4, 0), "ha": "left" if value >= 0 else "right"}
            ax.annotate(f"{value:,.4g}", (value, place), textcoords="offset points", va="center", bbox=_PAPER, **side)
        if min(lengths.values()) < 0:
            ax.axvline(0, color=style.LIGHT["muted"], linewidth=1)
        if limit is not None:
            ax.axvline(limit, color=style.LIGHT["wrong"], linewidth=1.5, linestyle=(0, (3, 3)))
        ax.set_xlabel(along, loc="right")  # it may be longer than the axis, which begins after the names
        ax.set(xmargin=0.12 if min(lengths.values()) >= 0 else 0.32)
        if log:
            ax.set(xscale="log", xlim=(1, max(10, max(lengths.values()) ** 1.15)))
            ax.xaxis.set_major_formatter("{x:g}")
        ax.invert_yaxis()
    return fig.picture


def points(
    named: Mapping[str, Any], *, title: str, across: str, up: str, log: str = "", circle: bool = False
) -> Picture:
    """Draw clouds of points, a marker for each cloud.

    Args:
        named: Points of shape (points, 2) by the words of their cloud; complex numbers of shape (points,) too.
        title: What the points show, in words.
        across: What the horizontal axis is.
        up: What the vertical axis is.
        log: The axes with a logarithmic scale: "", "x", "y" or "xy".
        circle: Whether the unit circle is drawn and both axes have one scale, as for eigenvalues.

    Returns:
        The picture.

    >>> points({"i": [1j]}, title="One number", across="real", up="imaginary", circle=True).desc
    'i: 1 points.'
    """
    clouds = {words: _plane(cloud) for words, cloud in named.items()}
    said = " ".join(f"{words}: {len(cloud)} points." for words, cloud in clouds.items())
    with figure(title=title, desc=said, size=(4.2, 4.0) if circle else (_WIDTH, 3.2)) as fig:
        ax = _axes(fig, across, up, log)
        if circle:
            turn = np.linspace(0, 2 * np.pi, 181)
            ax.plot(np.cos(turn), np.sin(turn), color=style.LIGHT["hair"], linewidth=1)
            ax.set_aspect("equal")
        for i, (words, cloud) in enumerate(clouds.items()):
            role = style.ROLES[_KINDS[i % len(_KINDS)]]
            ax.plot(*cloud.T, linestyle="", marker=role.marker, color=role.light, alpha=0.8, label=fill(words, 36))
        _few_ticks(ax, log)
        if len(clouds) > 1:
            _legend(fig, most=2 if circle else 4)
    return fig.picture


def _legend(fig: Sheet, *, most: int, **look: Any) -> None:
    """Name what is drawn above it, in as many columns as the picture is wide."""
    for columns in range(most, 0, -1):
        legend = fig.legend(loc="outside upper left", ncols=columns, **look)
        if columns == 1 or legend.get_window_extent().width <= fig.bbox.width:
            return
        legend.remove()


def _array(numbers: Any, *, dims: int) -> np.ndarray:
    """The numbers in float64, from lists, NumPy or torch; a number that is not finite is refused."""
    found = np.asarray(_bare(numbers), dtype=float)
    if found.ndim != dims or not found.size or not np.isfinite(found).all():
        what = "a row of finite numbers" if dims == 1 else "a matrix of finite numbers"
        raise ValueError(f"expected {what}, got an array of shape {found.shape}")
    return found


def _bare(numbers: Any) -> Any:
    """Return what NumPy can read: a tensor without its gradient."""
    return numbers.detach().cpu() if hasattr(numbers, "detach") else numbers


def _plane(cloud: Any) -> np.ndarray:
    cloud = np.asarray(_bare(cloud))
    return _array(np.stack([cloud.real, cloud.imag], axis=-1) if np.iscomplexobj(cloud) else cloud, dims=2)


def _axes(fig: Sheet, across: str, up: str, log: str) -> Any:
    ax = fig.subplots()
    ax.set(xlabel=fill(across, 44), ylabel=fill(up, 30), **{f"{axis}scale": "log" for axis in log})
    return ax


def _few_ticks(ax: Any, log: str) -> None:
    """On a logarithmic axis of less than two decades label 1, 2 and 5; its minor ticks would run into each other."""
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        if axis.axis_name in log and high < 100 * low:
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter(NullFormatter())


def _cells(mask: np.ndarray) -> Path:
    """The outline of all cells where the mask is true; neighbours in a row are one box."""
    boxes = []
    for row, marks in enumerate(mask):
        edges = np.flatnonzero(np.diff(marks.astype(int), prepend=0, append=0))
        for left, right in edges.reshape(-1, 2) - 0.5:
            corners = [(left, row - 0.5), (right, row - 0.5), (right, row + 0.5), (left, row + 0.5), (left, row - 0.5)]
            boxes.append(Path(np.array(corners), closed=True))
    return Path.make_compound_path(*boxes)
