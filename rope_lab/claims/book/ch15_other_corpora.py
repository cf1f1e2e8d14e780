"""What chapter 15 says of the learning rates on the plan's three corpora, from the seeds that chose them."""

from __future__ import annotations

from rope_lab.claims.ledger import claim
from rope_lab.training.experiments import planned_more
from rope_lab.training.experiments.definition import NotYetError
from rope_lab.training.experiments.rate_choice import Losses, UndecidedError, losses_by_rate
from rope_lab.training.results import cards, plan_answers

TIED, PLAIN = "CRoPE QKV", "RoPE"
LISTS = {"WikiText-2": "crope-rates", "Penn Treebank": "crope-rates-ptb", "PG-19": "crope-rates-pg19"}
OTHERS = {"ptb": "PTB", "pg19": "PG-19"}  # question: setting
OLD, SEEDS = 0.002, 3


def _both(name: str) -> tuple[Losses, list[float]]:
    """The losses of a list, and the rates at which both models have three seeds."""
    found = losses_by_rate(cards.load_all(name, "cpu"))
    plain, tied = found.get(PLAIN, {}), found.get(TIED, {})
    return found, sorted(rate for rate in plain if len(plain[rate].keys() & tied.get(rate, {}).keys()) >= SEEDS)


@claim(
    "book.sign-turns-on-three-corpora",
    statement=r"On WikiText-2, Penn Treebank and PG-19, with one rate for both models, CRoPE QKV ends above RoPE in "
    r"each of three seeds at the rate 0.002, and below it in each seed at the highest rate that both were given.",
    verdict="empirical",
    correction=r"Stated after a look at the runs.",
    witness=r"Three corpora, two rates, three seeds, in chapter 15's figures.",
)
def sign_turns():
    for name in LISTS.values():
        found, rates = _both(name)
        if OLD not in rates or rates[-1] == OLD:
            return "not attempted"
        low, high = ([found[TIED][r][s] - found[PLAIN][r][s] for s in found[PLAIN][r]] for r in (OLD, rates[-1]))
        if not min(low) > 0 > max(high):
            return "not reproduced"
    return "reproduced"


@claim(
    "book.level-on-two-corpora",
    statement=r"On Penn Treebank and on PG-19, each model at its own best rate, CRoPE QKV and RoPE differ by less than "
    r"the margin of 0.02 nats in each of the three seeds that chose the rates.",
    verdict="empirical",
    correction=r"Stated after a look at the runs. Seeds that chose a rate do not judge it.",
    witness=r"Two corpora, three seeds, in chapter 15's figures.",
)
def level():
    gaps = []
    for question, setting in OTHERS.items():
        try:
            rates = planned_more.own_rates(question)
        except (NotYetError, UndecidedError):
            return "not attempted"
        found = losses_by_rate(cards.load_all(f"crope-rates-{question}", "cpu"))
        tied, plain = (found[model][rates[model, setting]] for model in (TIED, PLAIN))
        gaps += [tied[seed] - plain[seed] for seed in plain]
    return "reproduced" if max(map(abs, gaps)) < plan_answers.MARGIN else "not reproduced"
