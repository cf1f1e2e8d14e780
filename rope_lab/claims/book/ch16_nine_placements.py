"""The article's chain of relations against the article's own table: arithmetic, nothing trained."""

from fractions import Fraction
from itertools import pairwise

from rope_lab.claims.ledger import claim
from rope_lab.training import cards

ORDER = (("QK", "QKVO"), ("K", "VO"), ("QKV",), ("NoPE",), ("Q", "V", "O"))  # groups, best first


@claim(
    "book.chain-of-table",
    locus="chapter 16",
    statement=r"Part 19's chain agrees with its table if “about equal” means a gap of at most $0.007$ and “better” one "
    r"of at least $0.012$, with Q, V and O as a set of which nothing is said but that NoPE beats them.",
    verdict="true",
    evidence="exact",
    chapter=16,
    tier="minor",
    witness=r"The largest gap called equal is QK to QKVO, $0.007$; the smallest called better is QKV to NoPE, $0.012$. "
    r"Inside the last set the losses spread over $0.015$.",
    holds=(Fraction(7, 1000), Fraction(12, 1000)),
    control=(Fraction(15, 1000), Fraction(12, 1000)),  # the last set taken for a group of equals
)
def gaps_of_the_chain(equal_and_better):
    losses = {name: Fraction(str(loss)) for name, loss in cards.published("placements")["losses"][""].items()}
    groups = [[losses[name] for name in group] for group in ORDER]
    equal = max(max(group) - min(group) for group in groups[:-1])
    better = min(min(worse) - max(group) for group, worse in pairwise(groups))
    spread = max(groups[-1]) - min(groups[-1])
    return (equal, better) == equal_and_better and equal < better and spread > better
