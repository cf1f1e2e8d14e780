"""Pictures in one call: what is drawn is what was given, in the page's inks, and what cannot be drawn is refused."""

import re

import numpy as np
import pytest
import torch

from rope_lab.show import plots

IDENTITY = np.eye(5)


def levels(picture) -> set[float]:
    return {float(alpha) for alpha in re.findall(r"(?<!stroke-)opacity: ([\d.]+)", picture.svg)}


def test_a_map_shades_by_size_on_one_scale():
    picture = plots.maps({"one": IDENTITY, "half": IDENTITY / 2}, title="Two maps")
    assert levels(picture) == {0.5}  # a full shade has no opacity of its own
    assert "half: 5 rows and 5 columns, from 0 to 0.5." in picture.desc
    assert levels(plots.maps({"a": np.ones((3, 3))}, title="Ones")) == set()  # equal numbers: blank paper


def test_a_signed_map_has_an_ink_for_each_sign():
    plain = plots.maps({"a": [[1.0, -1.0]]}, title="Signs")
    signed = plots.maps({"a": [[1.0, -1.0]]}, title="Signs", signed=True)
    assert "--rope-conjugate" in signed.svg
    assert "--rope-conjugate" not in plain.svg


@pytest.mark.parametrize("long", [5, 20, 45])
def test_the_names_above_a_picture_fit_it(long):
    fig = plots.curves({name * long: [0, 1] for name in "abcd"}, title="t", across="x", up="y").sheet
    assert fig.legends[0].get_window_extent().width < fig.bbox.width


def test_tensors_that_learn_are_drawn():
    row = torch.arange(3.0, requires_grad=True)
    drawn = (
        plots.curves({"a": row}, row.detach() + 1, title="t", across="x", up="y", log="x"),
        plots.maps({"a": row[None]}, title="t"),
        plots.points({"a": torch.polar(row, row)}, title="t", across="x", up="y", circle=True),
        plots.bars({"a": row[2]}, title="t", along="x", limit=1.0),
    )
    assert [picture.desc[:2] for picture in drawn] == ["a:"] * 4


def test_curves_are_told_apart_by_ink_and_dash():
    drawn = plots.curves({"a": [1, 2], "b": [2, 1], "c": [1, 1]}, title="t", across="x", up="y").svg
    assert {"--rope-one", "--rope-linear", "--rope-conjugate"} <= set(re.findall(r"--rope-[a-z]+", drawn))
    assert len(set(re.findall(r"stroke-dasharray: ([\d., ]+)", drawn))) > 1


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (lambda: plots.maps({"a": np.zeros((129, 3))}, title="t"), r"at most 128 rows and columns, got .*129"),
        (lambda: plots.maps({}, title="t"), "expected matrices of at most"),
        (lambda: plots.maps({"a": [1.0, 2.0]}, title="t"), r"a matrix of finite numbers, got .* of shape \(2,\)"),
        (lambda: plots.curves({"a": [1.0, np.nan]}, title="t", across="x", up="y"), "finite numbers"),
        (lambda: plots.curves({"a": [1.0]}, [1.0, 2.0], title="t", across="x", up="y"), r"1 places for 'a', .* got 2"),
        (lambda: plots.bars({"a": np.inf}, title="t", along="x"), "finite numbers"),
        (lambda: plots.bars({"a": 0.5}, title="t", along="x", log=True), "at least 1 on a logarithmic axis, got 0.5"),
        (lambda: plots.maps({"a": IDENTITY}, title="t", rows="ab"), r"5 words for .* of 'a', got \['a', 'b'\]"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, says):
    with pytest.raises(ValueError, match=says):
        draw()


def test_a_short_logarithmic_axis_has_few_labels():
    drawn = plots.curves({"a": [1, 2, 3]}, [20, 60, 300], title="t", across="x", up="y", log="x").svg
    assert re.findall(r">(\d+)</text>", drawn)[:4] == ["20", "50", "100", "200"]
    drawn = plots.bars({"a": 5, "b": 500}, title="t", along="x", log=True).svg
    assert re.findall(r">(\d+)</text>", drawn)[:3] == ["1", "10", "100"]


def test_a_map_can_be_told_what_full_ink_is_and_what_its_rows_and_columns_are():
    assert levels(plots.maps({"a": [[0.0, 0.25]]}, title="t", full=1.0)) == {0.25}
    drawn = plots.maps({"a": IDENTITY[:2]}, title="t", rows=("early", "late"), columns=range(253, 258)).svg
    assert re.findall(r">(early|late|25\d|\d)</text>", drawn) == ["253", "254", "255", "256", "257", "early", "late"]
