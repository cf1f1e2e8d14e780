"""The one look: what colour, line and marker each object has, on pages, in widgets and in figures, in both themes.

The palette is chosen here and nowhere else. ``css()`` hands it to the browser as ``--rope-query`` and so on;
``book/_static/rope.css`` holds that text between two marks, and a test compares them.
"""

from dataclasses import dataclass

import numpy as np

__all__ = ["DARK", "INKS", "LIGHT", "PAGES", "RESERVED", "ROLES", "Role", "css"]


@dataclass(frozen=True)
class Role:
    """How one object is drawn: an ink for light pages and one for dark, a line pattern and a marker."""

    name: str
    light: str
    dark: str
    dash: tuple[float, ...]  # lengths in line widths, as matplotlib counts them; () is a solid line
    marker: str  # matplotlib's name of the marker


# Query, key, value and output have a colour each, and nothing else has it; the two parts of a real map have one each.
# "one" and "two" are for any other pair of things; "wrong" is what is wrong, as printed or as run, with a cross.
RESERVED = ("query", "key", "value", "output")
ROLES = {
    role.name: role
    for role in (
        Role("query", "#c83a02", "#fb8239", (), "o"),
        Role("key", "#0b62e8", "#74a4ff", (4, 2), "s"),
        Role("value", "#227b40", "#74e48f", (1, 1.6), "^"),
        Role("output", "#8f309d", "#e6b3f4", (6, 2, 1, 2), "D"),
        Role("linear", "#0b666a", "#5cc9bf", (8, 2), "P"),
        Role("conjugate", "#6a4700", "#f4b02a", (3, 1.6, 1, 1.6, 1, 1.6), "X"),
        Role("one", "#17233d", "#f6f8fb", (12, 1.5), "v"),
        Role("two", "#7a5c9e", "#b39ddb", (2.5, 1.2), "p"),
        Role("wrong", "#8f1d1d", "#ff8f85", (5, 1.4, 1.4, 1.4), "x"),
    )
}

# The page's own inks: writing and thin drawing, quiet writing, hairlines (decoration only), and the paper itself.
INKS = {
    "ink": ("#222832", "#ced6dd"),
    "muted": ("#57606e", "#a3acb8"),
    "hair": ("#d5d9df", "#3d4653"),
    "paper": ("#ffffff", "#121212"),
    "wash": ("#f6f7f8", "#1e1e1e"),
}

LIGHT = {name: role.light for name, role in ROLES.items()} | {name: pair[0] for name, pair in INKS.items()}
DARK = {name: role.dark for name, role in ROLES.items()} | {name: pair[1] for name, pair in INKS.items()}

# The papers the inks must be read on: the book's, JupyterLab's and Colab's, and our own washes.
PAGES = {"light": ("#ffffff", INKS["wash"][0]), "dark": ("#121212", "#111111", INKS["wash"][1], "#383838")}

# The outline of a letter F, corners as (x, y): a turn and a mirror image of it cannot be mistaken for each other.
_CORNERS = "0 0, 0 1, 0.62 1, 0.62 0.78, 0.24 0.78, 0.24 0.56, 0.5 0.56, 0.5 0.34, 0.24 0.34, 0.24 0"
FLAG = np.array([corner.split() for corner in _CORNERS.split(", ")], dtype=float)

# Who says that the page is dark: the book's theme, JupyterLab, Colab's output frame, VS Code.
_DARK_PAGES = ("html[data-theme=dark]", "body[data-jp-theme-light=false]", "html[theme=dark]", "body.vscode-dark")


def css() -> str:
    """The palette as CSS custom properties: light by default, dark wherever a known page says so."""
    light = {**LIGHT, "paper": f"var(--pst-color-background, var(--jp-layout-color0, {LIGHT['paper']}))"}
    dark = {**DARK, "paper": f"var(--pst-color-background, var(--jp-layout-color0, {DARK['paper']}))"}
    return _rule(":root", light) + _rule(",\n".join(_DARK_PAGES), dark)


def _rule(selector: str, palette: dict[str, str]) -> str:
    properties = "".join(f"  --rope-{name}: {colour};\n" for name, colour in palette.items())
    return f"{selector} {{\n{properties}}}\n"
