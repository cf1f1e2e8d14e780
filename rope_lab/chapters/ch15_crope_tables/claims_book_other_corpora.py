"""What chapter 15 says of the learning rates on the plan's three corpora, from the seeds that chose them."""

from __future__ import annotations

from statistics import stdev

from rope_lab.chapters.ch15_crope_tables import plan_answers
from rope_lab.claims.ledger import claim
from rope_lab.training.results import cards
from rope_lab.training.results.cards import Card

TIED, PLAIN = "CRoPE QKV", "RoPE"
LISTS = {"WikiText-2": "crope-rates", "Penn Treebank": "crope-rates-ptb", "PG-19": "crope-rates-pg19"}
OTHERS = {"ptb": "PTB", "pg19": "PG-19"}  # question: setting
OLD, SEEDS = 0.002, 3


def _gaps(name: str) -> dict[float, list[float]]:
    """Tied minus plain at each rate at which both models have three seeds, one number for each seed."""
    found = plan_answers.gaps_by_rate(plan_answers.tried(name), TIED, PLAIN)
    return {rate: gaps for rate, gaps in found.items() if len(gaps) >= SEEDS}


def _outcomes(corpus: str) -> dict[str, str]:
    """The outcome of each comparison with the eight seeds of a corpus; empty while a card is missing."""
    return {finding.name: finding.outcome for finding in plan_answers.by_corpus().get(corpus, [])}


@claim(
    "book.sign-turns-on-three-corpora",
    statement=r"On WikiText-2, Penn Treebank and PG-19, in 500 steps with one rate for both models, CRoPE QKV ends "
    r"above RoPE in each of three seeds at the rate 0.002, and below it in each seed at the highest rate that both "
    r"were given.",
    verdict="empirical",
    correction=r"Stated after a look at the runs.",
    witness=r"Three corpora, two rates, three seeds, in chapter 15 and the CRoPE laboratory. Cards: `crope-rates`, "
    r"`crope-rates-pg19`, `crope-rates-ptb`.",
)
def sign_turns():
    for name in LISTS.values():
        gaps = _gaps(name)
        if OLD not in gaps or max(gaps) == OLD:
            return "not attempted"
        if not min(gaps[OLD]) > 0 > max(gaps[max(gaps)]):
            return "not reproduced"
    return "reproduced"


@claim(
    "book.level-on-two-corpora",
    statement=r"On Penn Treebank and on PG-19, after 500 steps, each model at its own best rate (rates a factor of two "
    r"apart), CRoPE QKV and RoPE differ by less than the margin of 0.02 nats in each of the three seeds that chose the "
    r"rates.",
    verdict="empirical",
    correction=r"Stated after a look at the runs. Seeds that chose a rate do not judge it.",
    witness=r"Two corpora, three seeds, in chapter 15 and the CRoPE laboratory. Cards: `crope-rates`, "
    r"`crope-rates-pg19`, `crope-rates-ptb`.",
)
def level():
    gaps = []
    for question, setting in OTHERS.items():
        rates = plan_answers.rates_elsewhere(question)
        if not rates:
            return "not attempted"
        found = plan_answers.tried(f"crope-rates-{question}")
        tied, plain = (found[model][rates[model, setting]] for model in (TIED, PLAIN))
        gaps += [tied[seed] - plain[seed] for seed in plain]
    if len(gaps) < 3 * len(OTHERS):
        return "not attempted"
    return "reproduced" if max(map(abs, gaps)) < plan_answers.MARGIN else "not reproduced"


@claim(
    "book.tied-on-penn-treebank",
    statement=r"On Penn Treebank, after 500 steps, with eight seeds that chose nothing and each model at its own best "
    r"rate (rates a factor of two apart), CRoPE QKV ends below RoPE and below the RoPE of its size on the mean, after "
    r"Holm's correction over five comparisons. CRoPE QKVO is undecided against RoPE and against the RoPE of its size.",
    verdict="empirical",
    correction=r"Stated after a look at the runs. Exploratory, as the plan says: it cannot change the answers of "
    r"WikiText-2.",
    witness=r"Five comparisons, eight seeds, in a table of the CRoPE laboratory. Cards: `crope-confirm-ptb`, "
    r"`crope-rates-ptb`, and `crope-rates` for the grid.",
)
def on_penn_treebank():
    outcomes = _outcomes("Penn Treebank")
    if not outcomes:
        return "not attempted"
    expected = {"QKV": "better", "QKVO": "undecided"}
    told = [
        outcomes[f"CRoPE {tied} minus {plain}"] == outcome
        for tied, outcome in expected.items()
        for plain in (PLAIN, f"{PLAIN}, size of {tied}")
    ]
    return "reproduced" if all(told) else "not reproduced"


@claim(
    "book.open-on-pg19",
    statement=r"On PG-19, after 500 steps, with eight seeds that chose nothing and each model at its own best rate "
    r"(rates a factor of two apart), after Holm's correction over five comparisons: all four of a tied model are "
    r"undecided, and absolute positions end above RoPE on the mean.",
    verdict="empirical",
    correction=r"Stated after a look at the runs. Exploratory, as the plan says: it cannot change the answers of "
    r"WikiText-2.",
    witness=r"Five comparisons, eight seeds, in a table of the CRoPE laboratory. Cards: `crope-confirm-pg19`, "
    r"`crope-rates-pg19`, and `crope-rates` for the grid.",
)
def open_on_pg19():
    outcomes = _outcomes("PG-19")
    if not outcomes:
        return "not attempted"
    told = [outcome == ("worse" if "absolute" in name else "undecided") for name, outcome in outcomes.items()]
    return "reproduced" if all(told) else "not reproduced"


NARROWEST = "RoPE, size of QKVO"
APART = {PLAIN: -1, NARROWEST: 1}  # whose run stands apart, and on which side
FROM = 200  # the step from which it does


def _beyond(curves: list[dict[int, float]], side: int) -> dict[int, float]:
    """At each step, how far the run that ends farthest to that side lies beyond its nearest neighbour there."""
    far = max(curves, key=lambda curve: side * curve[max(curve)])
    others = [curve for curve in curves if curve is not far]
    return {step: min(side * (far[step] - other[step]) for other in others) for step in far}


def _validated(card: Card) -> dict[int, float]:
    return {s: loss for s, loss in zip(card.curve["step"], card.curve["valid_loss"], strict=True) if loss is not None}


@claim(
    "book.pg19-stands-apart",
    statement=r"On PG-19 the standard deviation of RoPE's final losses over eight seeds is more than five times that "
    r"on WikiText-2. From step 200 on one run of RoPE lies below its seven neighbours, in the end by a tenth of a nat, "
    r"and one run of RoPE with the size of QKVO above its own, in the end by more than a tenth.",
    verdict="empirical",
    correction=r"Stated after a look at the runs. We do not know why.",
    witness=r"Sixteen runs of two models, and eight on WikiText-2. Cards: `crope-confirm`, `crope-confirm-pg19`, "
    r"`crope-rates`, `crope-rates-pg19`.",
)
def stands_apart():
    home, rates = plan_answers.own_rates()[PLAIN], plan_answers.rates_elsewhere("pg19")
    runs = [c for c in cards.load_all("crope-confirm-pg19", "cpu") if c.config["lr"] == rates.get((c.variant, "PG-19"))]
    at_home = list(plan_answers.tried("crope-confirm").get(PLAIN, {}).get(home, {}).values())
    held = {variant: [card for card in runs if card.variant == variant] for variant in APART}
    if min(len(at_home), *map(len, held.values())) < len(plan_answers.SEEDS):
        return "not attempted"
    beyond = {variant: _beyond([_validated(card) for card in held[variant]], side) for variant, side in APART.items()}
    ends = {variant: steps[max(steps)] for variant, steps in beyond.items()}
    told = [
        stdev(card.loss() for card in held[PLAIN]) > 5 * stdev(at_home),
        all(gap > 0 for steps in beyond.values() for step, gap in steps.items() if step >= FROM),
        0.09 <= ends[PLAIN] <= 0.11,
        ends[NARROWEST] > 0.1,
    ]
    return "reproduced" if all(told) else "not reproduced"
