"""What all tests of the rooms share."""

import pytest

from rope_lab.training.experiments import catalogue


@pytest.fixture(scope="session", autouse=True)
def _lists_of_runs_are_loaded():
    """A list that is first imported while a test has put other cards in place would keep them."""
    catalogue.names()
