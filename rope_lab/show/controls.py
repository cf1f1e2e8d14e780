"""Controls above whatever a function draws: for what only a kernel can compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.display import display
from ipywidgets import VBox, interactive

from rope_lab.errors import printable

__all__ = ["play"]


def play(draw: Callable[..., Any], /, **controls: Any) -> None:
    """Show what ``draw`` returns, below controls that draw it again.

    Where no kernel runs, as on a built page, the first picture stands there without its controls.

    Args:
        draw: Takes one argument for each control, by name, and returns what a cell would show, such as a picture.
        controls: By name, what ``ipywidgets.interact`` takes: ``(0, 10)`` or ``(0.0, 1.0, 0.1)`` for a slider, which
            starts in its middle, a list of choices, True or False, or a widget: ``FloatSlider(0.2, min=0, max=1)``.

    Raises:
        ValueError: If a control is none of these.
    """
    made = {name: interactive.widget_from_abbrev(control) for name, control in controls.items()}
    if wrong := [f"{name}={controls[name]!r}" for name, widget in made.items() if widget is None]:
        raise ValueError(f"expected a slider's (lowest, highest), a list, a truth value or a widget, got {wrong[0]}")
    for name, widget in made.items():
        widget.description = widget.description or name.replace("_", " ")
        widget.style.description_width = "initial"
        if hasattr(widget, "continuous_update"):
            widget.continuous_update = False  # a drag would ask for more pictures than a kernel draws

    def picture() -> Any:
        return draw(**{name: widget.value for name, widget in made.items()})

    display(VBox(list(made.values())))
    shown = display(picture(), display_id=True)

    def again(change: Any) -> None:  # noqa: ARG001  (an observer is told what has changed)
        try:
            shown.update(picture())
        except Exception as error:  # an error here would otherwise be seen by nobody
            shown.update(_Words(f"{type(error).__name__}: {printable(str(error))}"))

    for widget in made.values():
        widget.observe(again, "value")


class _Words(str):
    """Text that a cell shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
