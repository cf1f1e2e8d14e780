"""Two variants along their runs: what is paired, at which steps, and what a change of the gap is."""

import pytest

from rope_lab.training.results.paired_curves import along
from tests.training.tiny import card


def run(variant, seed, losses, steps=None, **more):
    steps = steps or [10 * i for i in range(len(losses))]
    train = [4.0] * len(losses)
    return card(variant, seed, curve={"step": steps, "train_loss": train, "valid_loss": losses}, **more)


def test_gaps_are_taken_step_by_step_and_seed_by_seed():
    runs = [("A", 0, [3.5, 3.25]), ("B", 0, [3.0, 3.0]), ("A", 1, [4.0, 3.0]), ("B", 1, [3.5, 3.25])]
    found = along([run(*args) for args in runs], "A", "B")
    assert found.steps == [0, 10]
    assert found.by_seed == {0: [0.5, 0.25], 1: [0.5, -0.25]}
    assert [gap.mean for gap in found.at_each_step] == [0.5, 0.0]
    assert (found.change.mean, found.change.n) == (-0.5, 2)


def test_only_what_every_run_has_is_compared():
    full, short = [3.0, 2.0, 1.0], [3.5, None, 1.5]
    found = along([run("A", 0, short), run("B", 0, full), run("A", 1, full), run("C", 1, full)], "A", "B")
    assert (found.steps, found.by_seed) == ([0, 20], {0: [0.5, 0.5]})


def test_the_middle_belongs_to_neither_half():
    found = along([run("A", 0, [1.0, 9.0, 3.0]), run("B", 0, [0.0, 0.0, 0.0])], "A", "B")
    assert found.change.mean == 2.0


def test_nothing_to_pair():
    found = along([run("A", 0, [1.0]), run("B", 1, [1.0])], "A", "B")
    assert (found.steps, found.by_seed, found.at_each_step) == ([], {}, [])


def test_settings_are_not_mixed_along_a_run():
    with pytest.raises(ValueError, match="expected the cards of one setting"):
        along([run(name, 0, [1.0], config={"setting": name}) for name in "AB"], "A", "B")
