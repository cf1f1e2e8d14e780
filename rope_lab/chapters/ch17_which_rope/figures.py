"""Chapter 17's static figures: four answers to one question, and lists of frequencies that have a base or have none."""

from collections.abc import Mapping, Sequence

import numpy as np

from rope_lab.algebra.arguments import Layout
from rope_lab.algebra.rotation import frequencies, rotate
from rope_lab.audit import shift_results
from rope_lab.show.style import LIGHT
from rope_lab.show.svg import Picture, figure

__all__ = ["four_answers", "one_answer", "schedule_lines"]


def _shifted() -> tuple[int, int, int]:
    """The families that were asked; those that a shift changes; and those of them that add absolute positions."""
    asked = [row for row in shift_results()["rows"] if not row["skipped"]]
    causes = [row["causes"] for row in asked if not row["relative"]]
    return len(asked), len(causes), causes.count(["absolute positions added"])


MEASURED = {"moved": lambda: _shifted()[1::-1], "added": lambda: _shifted()[:0:-1]}


def four_answers(*, head_dim: int = 8, position: float = 1.0) -> Picture:
    """The answers to the unit vector e_0 from the two layouts and the two directions.

    Args:
        head_dim: Width of the head, even.
        position: Where the vector stands; the first plane turns by as many radians.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    theta, question = frequencies(head_dim), np.eye(head_dim)[0]
    layouts: tuple[Layout, ...] = ("interleaved", "half")
    kinds = [(layout, way) for layout in layouts for way in (1, -1)]
    answers = {kind: rotate(question, kind[1] * position, theta=theta, layout=kind[0]) for kind in kinds}
    names = {"interleaved": "interleaved", "half": "half-split", 1: "counter-clockwise", -1: "clockwise"}
    listed = "; ".join(
        f"{names[layout]}, {names[way]}: {answers[layout, way][0]:.2f} at 0 and "
        f"{answers[layout, way][other]:.2f} at {other}"
        for layout, way in kinds
        for other in [int(np.abs(answers[layout, way][1:]).argmax()) + 1]
    )
    with figure(
        title="What four rotary embeddings make of one unit vector",
        desc=f"The unit vector 0 goes in at position {position:g}. {listed}.",
        size=(4.8, 4.0),
    ) as fig:
        for axes, kind in zip(fig.subplots(2, 2, sharex=True, sharey=True).flat, kinds, strict=True):
            y, places = answers[kind], np.arange(head_dim)
            axes.axhline(0, color=LIGHT["muted"], lw=0.8)
            axes.plot(places[y == 0], y[y == 0], "o", ms=3, color=LIGHT["muted"])
            for at in np.flatnonzero(y):
                ink = LIGHT["one" if at == 0 else "two"]
                axes.plot([at, at], [0, y[at]], color=ink, lw=3)
                axes.plot(at, y[at], "o" if at == 0 else "s", ms=7, color=ink)
            axes.set_title(f"{names[kind[0]]},\n{names[kind[1]]}", fontsize=11)
            axes.set(ylim=(-1.25, 1.25), yticks=[-1, 0, 1], xticks=places)
    return fig.picture


def one_answer(*, head_dim: int = 8) -> Picture:
    """The clues in the answer to e_0: the place, the side and the height of two bars.

    Args:
        head_dim: Width of the head, even; the layout is half-split.

    Returns:
        A `Picture`: inline SVG with title and description.
    """
    y, other = rotate(np.eye(head_dim)[0], 1.0, theta=frequencies(head_dim), layout="half"), head_dim // 2
    with figure(
        title="What one answer gives away",
        desc=f"The answer to the unit vector 0 has a bar of height {y[0]:.2f} at 0 and one of height {y[other]:.2f} at "
        f"{other}. Where the second bar stands is the layout, its side the direction, both heights the frequency.",
        size=(4.8, 2.6),
    ) as fig:
        axes, places = fig.subplots(), np.arange(head_dim)
        axes.axhline(0, color=LIGHT["muted"], lw=0.8)
        axes.plot(places[y == 0], y[y == 0], "o", ms=3, color=LIGHT["muted"])
        for at, role, mark in ((0, "one", "o"), (other, "two", "s")):
            axes.plot([at, at], [0, y[at]], color=LIGHT[role], lw=3)
            axes.plot(at, y[at], mark, ms=7, color=LIGHT[role])
        axes.text(0.3, y[0], "heights: frequency", fontsize=11, va="center")
        axes.text(other + 0.3, y[other], "up: direction", fontsize=11, va="center")
        axes.text(other, -0.45, "place: layout", fontsize=11, ha="center")
        axes.set(ylim=(-0.7, 1.25), yticks=[0, 1], xticks=places)
    return fig.picture


def schedule_lines(lists: Mapping[str, Sequence[float]]) -> Picture:
    """Frequencies on a logarithmic axis against the plane's place in the list, u = 2i/r: a base is a line from 1.

    Args:
        lists: One to five lists of frequencies by name, in radians per position, in the order of the planes.

    Returns:
        A `Picture`: inline SVG with title and description.

    Raises:
        ValueError: If there is no list, or more than five.
    """
    looks = [("one", "-"), ("two", (0, (5, 2))), ("muted", (0, (1, 2))), ("ink", (0, (6, 2, 1, 2))), ("two", "-")]
    if not 1 <= len(lists) <= len(looks):
        raise ValueError(f"expected one to {len(looks)} lists of frequencies, got {len(lists)}; each needs a look")
    ends = ", ".join(f"{name} from {theta[0]:.3g} to {theta[-1]:.2g}" for name, theta in lists.items())
    with figure(
        title="Lists of frequencies: a base is a straight line that starts at the frequency 1",
        desc=f"Logarithm of the frequency against the place of the plane. {ends}.",
        size=(4.8, 3.8),
    ) as fig:
        axes = fig.subplots()
        for (name, theta), (role, dash) in zip(lists.items(), looks, strict=False):
            place = np.arange(len(theta)) / len(theta)
            axes.plot(place, theta, color=LIGHT[role], linestyle=dash, lw=2.2, label=name)
        axes.set(yscale="log", xlabel="place of the plane, 2i/r", ylabel="radians per position", xlim=(0, 1))
        axes.minorticks_off()
        axes.set_yticks([10.0**-p for p in range(6)], ["1", "0.1", "0.01", "0.001", "0.0001", "0.00001"])
        axes.legend(loc="lower left")
    return fig.picture
