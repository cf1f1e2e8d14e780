"""The palette can be read by everyone, in both themes, and stands in one place."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from rope_lab.show import style

ROPE_CSS = Path(__file__).parents[2] / "book" / "_static" / "rope.css"
THEMES = {"light": style.LIGHT, "dark": style.DARK}

# How a reader without one kind of cone sees linear RGB (Machado, Oliveira, Fernandes 2009, severity 1).
VISION = {
    "full": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TOGETHER = [
    *combinations(("query", "key", "value", "output"), 2),
    ("linear", "conjugate"),
    *combinations(("one", "two", "wrong"), 2),
]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", [*style.ROLES, "ink", "muted"])
def test_inks_can_be_read_as_text(theme, name):
    for paper in style.PAGES[theme]:
        assert contrast(THEMES[theme][name], paper) >= 4.5


def test_control_vermilion_straight_from_the_tube_is_too_pale():
    assert contrast("#d55e00", "#ffffff") < 4.5


def test_contrast_at_its_ends():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#123456", "#123456") == 1


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("vision", VISION)
def test_roles_drawn_together_differ_for_every_eye(theme, vision):
    for one, other in TOGETHER:
        assert distance(THEMES[theme][one], THEMES[theme][other], vision) > 0.07, (one, other)


def test_control_red_and_green_of_one_lightness_are_the_same_to_a_deuteranope():
    assert distance("#b04a20", "#6a6a1a", "deuteranopia") < 0.07 < distance("#b04a20", "#6a6a1a", "full")


def test_colour_is_never_the_only_cue():
    roles = style.ROLES.values()
    assert len({role.dash for role in roles}) == len({role.marker for role in roles}) == len(style.ROLES)


def test_the_site_has_the_same_palette():
    sheet = ROPE_CSS.read_text(encoding="utf-8")
    start, end = "/* palette: rope_lab/show/style.py */\n", "/* end of palette */\n"
    assert sheet[sheet.index(start) + len(start) : sheet.index(end)] == style.css()


def distance(one: str, other: str, vision: str) -> float:
    """Difference of two colours in Oklab, as the given eye sees them."""
    return float(np.linalg.norm(oklab(one, vision) - oklab(other, vision)))


def linear(colour: str) -> np.ndarray:
    """Red, green and blue as amounts of light."""
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Contrast ratio of WCAG 2.2, from 1 (none) to 21 (black on white): 4.5 suits text, 3 suits lines."""
    dark, light = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def oklab(colour: str, vision: str) -> np.ndarray:
    seen = np.clip(np.array(VISION[vision]) @ linear(colour), 0, 1)
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    opponents = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return opponents @ np.cbrt(cones @ seen)
