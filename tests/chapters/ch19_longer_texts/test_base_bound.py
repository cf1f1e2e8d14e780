"""The islands that ship with the widget are those that the package computes, and there is more than one."""

import re

import pytest

from rope_lab.chapters.ch19_longer_texts.base_bound import WINDOWS, BaseBound, islands


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("window", WINDOWS)
def test_the_islands_are_computed(window):
    shipped = BaseBound().islands[window]
    assert shipped == islands(int(window))
    assert len(re.findall("o+", shipped)) > 1  # so the smallest base that passes is no lower bound
