"""What chapter 15 says of two of the plan's exploratory questions: Table 2's rows at tuned rates, and four lengths."""

from __future__ import annotations

from itertools import pairwise, product
from statistics import fmean

from rope_lab.chapters.ch15_crope_tables import plan_answers, run_lengths
from rope_lab.claims.ledger import claim
from rope_lab.training.results.intervals import interval

SLOW, FAST, NARROW = plan_answers.TABLE2_ROWS
MODELS = plan_answers.TABLE2_MODELS
RATES = (0.00025, 0.0005, 0.001, 0.002)  # each model in each row has these
SEEDS = (0, 1, 2)


def _tried() -> dict[str, plan_answers.Losses]:
    """Final losses by row, model, rate and seed; empty while a card is missing."""
    losses = plan_answers.tried_in_table2()
    asked = [own.get(model, {}).get(rate, {}) for own in losses.values() for model in MODELS for rate in RATES]
    return losses if all(set(of) >= set(SEEDS) for of in asked) else {}


@claim(
    "book.table2-old-rate",
    statement=r"In `crope-rates-table2` (PG-19, windows of 128 tokens, one a step) the old rate 0.002 costs each of "
    r"three models of width 128 more than 0.25 nats beside its best rate, in both rows, as a mean of three seeds. RoPE "
    r"and CRoPE QKV of width 64 have their best rate there.",
    verdict="empirical",
    correction=r"Stated after a look at the runs.",
    witness=r"Three rows, three models, four or five rates, three seeds, in the CRoPE laboratory's figure of Table 2.",
)
def old_rate():
    losses = _tried()
    if not losses:
        return "not attempted"
    costs = {}
    for row, model in product(losses, MODELS):
        means = {rate: fmean(of.values()) for rate, of in losses[row][model].items()}
        costs[row, model] = means[0.002] - min(means.values())
    wide = all(costs[row, model] > 0.25 for row in (SLOW, FAST) for model in MODELS)
    narrow = all(costs[NARROW, model] == 0 for model in MODELS[:2])
    return "reproduced" if wide and narrow else "not reproduced"


@claim(
    "book.table2-sign-turns",
    statement=r"In `crope-rates-table2` (PG-19), in both rows of width 128, CRoPE QKV ends above RoPE in each of three "
    r"seeds if both have the rate 0.0005, and below it in each seed if both have the rate 0.002.",
    verdict="empirical",
    correction=r"Stated after a look at the runs.",
    witness=r"Two rows, two rates, three seeds.",
)
def sign_turns():
    losses = _tried()
    if not losses:
        return "not attempted"
    wide = [plan_answers.gaps_by_rate(losses[row]) for row in (SLOW, FAST)]
    turns = all(min(gaps[0.0005]) > 0 > max(gaps[0.002]) for gaps in wide)
    return "reproduced" if turns else "not reproduced"


@claim(
    "book.table2-wide-is-ahead",
    statement=r"In `crope-confirm-table2`, with the decay every 400 steps and each model at its own best rate, width "
    r"128 ends below width 64 in each of eight seeds, with RoPE, with CRoPE QKV and with absolute positions.",
    verdict="empirical",
    correction=r"Stated after a look at the runs; the plan calls them exploratory.",
    witness=r"Three comparisons, eight seeds, in a table of the CRoPE laboratory. Cards: `crope-confirm-table2`, "
    r"`crope-rates-table2`.",
)
def wide_is_ahead():
    findings = plan_answers.table2()
    if not findings:
        return "not attempted"
    gaps = [gap for name, finding in findings.items() if name.startswith("width") for gap in finding.differences]
    return "reproduced" if min(gaps) > 0 else "not reproduced"


@claim(
    "book.table2-tied-gains-nothing",
    statement=r"In `crope-confirm-table2` (PG-19), each model at its own best rate, CRoPE QKV minus RoPE over eight "
    r"seeds is above zero in the whole 95 % interval where width 128 has the decay every 800 steps, lies inside ±0.02 "
    r"nats in the whole 95 % interval where it has the decay every 400 steps, and holds zero at width 64.",
    verdict="empirical",
    correction=r"Stated after a look at the runs; the plan calls them exploratory. The intervals are not corrected for "
    r"their number, and Holm's rule over the table's six rows leaves the first undecided.",
    witness=r"Three comparisons, eight seeds, in a table of the CRoPE laboratory. Cards: `crope-confirm-table2`, "
    r"`crope-rates-table2`.",
)
def tied_gains_nothing():
    findings = plan_answers.table2()
    if not findings:
        return "not attempted"
    slow, fast, narrow = (findings[f"CRoPE QKV minus RoPE, {row}"].interval for row in (SLOW, FAST, NARROW))
    above = slow.mean - slow.half > 0 and findings[f"CRoPE QKV minus RoPE, {SLOW}"].outcome == "undecided"
    level = plan_answers.smallest_margin(fast) < plan_answers.MARGIN
    return "reproduced" if above and level and not narrow.decided else "not reproduced"


AT = {250: "undecided", 500: "better", 1000: "equivalent", 2000: "undecided"}  # steps: outcome
SIDES = {250: 0, 500: -1, 1000: 0, 2000: 1}  # steps: where the interval of the share lies, 0 where it holds zero


@claim(
    "book.tied-by-length",
    statement=r"On WikiText-2, with eight seeds that chose nothing and each model at its own best rate for the length "
    r"(rates a factor of two apart), CRoPE QKV ends below RoPE on the mean after 500 steps, after Holm's correction "
    r"over four lengths. After 1,000 steps the two are level within the margin of 0.02 nats, after the same "
    r"correction. After 250 and 2,000 steps nothing is decided, and after 2,000 the mean of CRoPE QKV is above RoPE's.",
    verdict="empirical",
    correction=r"Stated after a look at the runs. Exploratory, as the plan says: it cannot change the answers of "
    r"500 steps.",
    witness=r"Four lengths, eight seeds, in a table of the CRoPE laboratory. Cards: `crope-confirm-lengths`, "
    r"`crope-rates`, `crope-rates-lengths`.",
)
def by_length():
    findings = run_lengths.compared()
    if not findings:
        return "not attempted"
    told = {steps: finding.outcome for steps, finding in findings.items()} == AT
    return "reproduced" if told and findings[2000].interval.mean > 0 else "not reproduced"


@claim(
    "book.tied-after-more-steps",
    statement=r"On WikiText-2, with eight seeds that chose nothing and each model at its own best rate for the length, "
    r"the mean of CRoPE QKV minus RoPE rises from 500 to 1,000 and from 1,000 to 2,000 steps. After 2,000 steps its "
    r"95 % interval lies above zero, and reaches beyond the margin of 0.02 nats.",
    verdict="empirical",
    correction=r"Stated after a look at the runs. The interval is not corrected for four lengths. The rates are a "
    r"factor of two apart, and after 500 steps closer rates move the mean by more than the margin.",
    witness=r"Three lengths, eight seeds, in a table of the CRoPE laboratory. Cards: `crope-confirm-lengths`, "
    r"`crope-rates`, `crope-rates-lengths`.",
)
def after_more_steps():
    found = {steps: finding.interval for steps, finding in run_lengths.compared().items()}
    if not found:
        return "not attempted"
    rises = all(found[short].mean < found[long].mean for short, long in ((500, 1000), (1000, 2000)))
    last = found[2000]
    told = rises and last.mean - last.half > 0 and plan_answers.smallest_margin(last) > plan_answers.MARGIN
    return "reproduced" if told else "not reproduced"


@claim(
    "book.tied-in-steps",
    statement=r"On WikiText-2, each model at its own best rate for the length, how many per cent more steps CRoPE QKV "
    r"needs to end where RoPE of the same seed ends: over eight seeds the 95 % interval lies below zero in runs of 500 "
    r"steps, above zero in runs of 2,000, and holds zero in runs of 250 and 1,000. All four intervals lie between 8 "
    r"per cent fewer and 6 per cent more.",
    verdict="empirical",
    correction=r"Stated after a look at the runs. The four intervals are not corrected for their number. RoPE's steps "
    r"are read off straight lines through its four ends over the logarithm of the steps.",
    witness=r"Four lengths, eight seeds, in the third column of the laboratory's table of lengths. Cards: "
    r"`crope-confirm-lengths`, `crope-rates`, `crope-rates-lengths`.",
)
def in_steps():
    shares = {steps: interval(own) for steps, own in run_lengths.more_steps().items()}
    if not shares:
        return "not attempted"
    sides = {steps: (1 if own.mean > 0 else -1) if own.decided else 0 for steps, own in shares.items()}
    near = all(own.mean - own.half > -0.08 and own.mean + own.half < 0.06 for own in shares.values())
    return "reproduced" if sides == SIDES and near else "not reproduced"


@claim(
    "book.doubling-the-run",
    statement=r"On WikiText-2, from 250 to 2,000 steps, each doubling lowers RoPE's final loss at its own best rates, "
    r"on the mean of eight seeds, by a quarter of a nat or more.",
    verdict="empirical",
    correction=r"Stated after a look at the runs.",
    witness=r"Four lengths, eight seeds. Cards: `crope-confirm-lengths`, `crope-rates`, `crope-rates-lengths`.",
)
def doubling():
    means = [fmean(own.values()) for own in run_lengths.ends(run_lengths.PLAIN).values()]
    if not means:
        return "not attempted"
    return "reproduced" if min(before - after for before, after in pairwise(means)) >= 0.25 else "not reproduced"
