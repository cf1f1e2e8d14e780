"""A number that chapter 10 states in words, counted."""

from itertools import pairwise


def test_how_often_the_scores_of_two_answers_change_places():
    """What the page says of the bell: 35 times in 128 steps, and 17 times in the even ones; 17 decays allow 16."""
    pairs = [(a, b) for a in range(7) for b in range(7) if a != b]
    for step, least in ((1, 35), (2, 17)):
        told = [[n % 7 for n in range(0, 128, step) if n % 7 in pair] for pair in pairs]
        assert min(sum(x != y for x, y in pairwise(each)) for each in told) == least > 16
