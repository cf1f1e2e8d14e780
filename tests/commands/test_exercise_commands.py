"""Exercises as a sheet of paper, with and without answers."""

import pytest
from typer.testing import CliRunner

from rope_lab import cli
from rope_lab.exercises import Task, load


def sheet(*arguments: str) -> str:
    done = CliRunner().invoke(cli.app, ["exercises", *arguments])
    assert done.exit_code == 0
    return done.stdout


@pytest.mark.parametrize("chapter", ["ch03", "3", "ch3"])
def test_a_chapter_is_named_in_any_way(chapter):
    ids = [name for name in load() if name.startswith("ch03.")]
    assert [line.split()[-1] for line in sheet(chapter).splitlines() if line.startswith("## ")] == ids


def test_answers_stand_there_only_when_asked_for():
    tasks = [item for item in load().values() if isinstance(item, Task)]
    without, answered = sheet(), sheet("--answers")
    assert all(item.source in answered for item in tasks)
    assert not any(item.source in without for item in tasks)
    assert "**Answer" not in without
