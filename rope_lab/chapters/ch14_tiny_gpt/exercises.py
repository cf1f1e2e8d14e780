"""Chapter 14, A tiny GPT, and the luck of its seeds: a loss, what a variant weighs, what a few seeds can decide."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from hypothesis import strategies as st
from scipy import stats

from rope_lab.exercises.core import Question, Task
from rope_lab.training.results import cards

_V = 1024


# --- the prediction: how far runs of one model are apart ---


def same_model() -> dict[int, float]:
    """Seed -> final loss of the plan's runs of RoPE on WikiText-2, of which nothing but the seed differs."""
    return {card.seed: card.loss() for card in cards.load_all("crope-confirm", "cpu") if card.variant == "RoPE"}


def _how_far_apart() -> list[bool]:
    """Whether the gap from the best run to the worst is within a factor of three of each choice."""
    apart = max(same_model().values()) - min(same_model().values())
    return [guess / 3 < apart < guess * 3 for guess in (0.0002, 0.002, 0.02, 0.2)]


# --- the second prediction: the loss before the first step ---


def _first_loss() -> list[bool]:
    """Logits near zero, as small initial weights give them: the mean loss, compared with each choice."""
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=0.1, size=(2000, _V))
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    loss = -np.log(p[np.arange(2000), rng.integers(_V, size=2000)]).mean()
    return [bool(abs(loss - guess) < 0.1) for guess in (0.0, 0.5, math.log(_V), _V / 2)]


# --- a drop of the loss, as perplexity ---


def _drop() -> float:
    return 100 * (1 - math.exp(3.45) / math.exp(3.50))


# --- what complex-linear projections save ---


def _saved() -> float:
    real = sum(np.ones((64, 64)).size for _ in range(4 * 3))
    return real - 4 * 3 * 2 * np.ones((32, 32)).size  # a complex matrix of 32 by 32: two real ones


# --- the task: an interval for paired differences ---


def paired_interval(a, b):
    seeds = [seed for seed in a if seed in b]
    d = np.array([a[seed] - b[seed] for seed in seeds])
    n = len(d)
    half = stats.t.ppf(0.975, n - 1) * d.std(ddof=1) / n**0.5
    return np.array([d.mean(), half])


def _with(a, b, *, quantile=None, ddof=1, root=True):
    """A wrong attempt: another quantile, another standard deviation, or no square root of n."""
    d = np.array([a[seed] - b[seed] for seed in a if seed in b])
    t = stats.t.ppf(quantile or 0.975, len(d) - 1)
    return np.array([d.mean(), t * d.std(ddof=ddof) / (np.sqrt(len(d)) if root else 1)])


def _unpaired(a, b):
    seeds = [seed for seed in a if seed in b]
    x, y = (np.array([of[seed] for seed in seeds]) for of in (a, b))
    half = stats.t.ppf(0.975, len(x) - 1) * np.sqrt((x.var(ddof=1) + y.var(ddof=1)) / len(x))
    return np.array([x.mean() - y.mean(), half])


def _by_rank(a, b):
    """A wrong attempt: the losses are matched in the order in which they come."""
    n = min(len(a), len(b))
    d = dict(enumerate(x - y for x, y in zip(a.values(), b.values(), strict=False)))
    return paired_interval(d, dict.fromkeys(range(n), 0.0))


_losses = st.dictionaries(st.integers(3, 8), st.floats(3, 4).map(lambda x: round(x, 3)), max_size=3)
_shared = st.lists(st.floats(3, 4).map(lambda x: round(x, 3)), min_size=6, max_size=6)


def _pair(drawn):
    """Seeds 0, 1, 2 in both, the others where they happen to be; one of the two is listed backwards."""
    shared, extra_a, extra_b = drawn
    a = dict(enumerate(shared[:3])) | extra_a
    b = dict(reversed(list((dict(enumerate(shared[3:])) | extra_b).items())))
    return a, b


_examples = st.tuples(_shared, _losses, _losses).map(_pair)


EXERCISES = (
    Question(
        id="ch14.predict-spread",
        kind="prediction",
        prompt=r"A small model is trained eight times on the same text, with the same settings. Only the seed differs: "
        r"other initial weights, and other batches of the text. It ends between 3 and 4 nats per token. How far apart "
        r"are the best and the worst of the eight losses?",
        choices=("About 0.0002.", "About 0.002.", "About 0.02.", "About 0.2."),
        answer="C",
        truth=_how_far_apart,
        why=r"These are the best and the worst of eight. Two single runs are usually closer, and now and then they "
        r"are 0.02 apart. So with one run of each of two variants, luck can make such a difference, or hide it.",
        feedback={
            "A": r"So little comes from rounding. Other initial weights and batches lead to another model.",
            "B": r"One run ends nearly where the next one does, and the best and the worst of eight are farther apart.",
            "D": r"You expect too much luck. A model that has no positions at all is that far behind, in every seed.",
        },
    ),
    Question(
        id="ch14.predict-first-loss",
        kind="prediction",
        prompt=r"A model with a vocabulary of 1,024 tokens has just been made: small random weights, nothing learned. "
        r"Its loss is the mean of $-\ln p$, where $p$ is the probability that it gave to the token that came. "
        r"About how large is its loss?",
        choices=("About 0.", "About 0.5.", "About 7.", "About 500."),
        answer="C",
        truth=_first_loss,
        why=r"Small random weights give logits near zero, so all tokens are about equally likely. Each token that "
        r"comes had $p \approx 1/1024$, and $-\ln p \approx \ln 1024 \approx 6.93$.",
        feedback={
            "A": r"A loss of zero means that every next token was given the probability one. Who knows that without "
            r"having read anything?",
            "B": r"That would be a mean probability of about $0.6$ for the token that came: better than any language "
            r"model. This one has learned nothing.",
            "D": r"You counted the tokens that it would have to try. The loss is not a number of tokens but the "
            r"logarithm of one.",
        },
    ),
    Question(
        id="ch14.perplexity",
        prompt=r"The validation loss of a model falls from 3.50 to 3.45. By how many per cent does its "
        r"perplexity $e^{\mathcal L}$ fall?",
        answer=4.877,
        tolerance=0.1,
        unit="per cent",
        truth=_drop,
        hint="Divide the new perplexity by the old one before you compute either.",
        why=r"The ratio is $e^{3.45 - 3.50} = e^{-0.05} \approx 0.951$. So a small difference of losses, times 100, is "
        r"nearly the difference of perplexities in per cent, wherever the two losses lie.",
        feedback={
            "5": "That is the difference of the losses times 100, a good first estimate. The ratio of the two "
            "perplexities is asked for, to a tenth of a per cent.",
            "5.13": "You divided by the smaller perplexity. A fall is measured against where it began.",
            "1.43": "By so many per cent the loss itself falls. A perplexity is its exponential.",
        },
    ),
    Question(
        id="ch14.saved",
        prompt=r"A model has 4 layers of width $d = 64$. Its projections of queries, keys and values are made "
        r"complex-linear, the output projection stays real. How many parameters does that save?",
        answer=24576,
        tolerance=0.5,
        unit="parameters",
        truth=_saved,
        hint=r"A real projection has $d^2$ weights. A complex-linear one has two blocks $a$ and $b$ of half the width "
        r"and half the height. How many projections are changed in the whole model?",
        why=r"Each complex-linear projection has $2 \cdot (d/2)^2 = d^2/2$ weights, half of $d^2$. Three in each of "
        r"four layers: $12 \cdot 2048$.",
        feedback={
            "49152": "These are all the weights of the twelve projections. How many of them does a complex-linear one "
            "still need?",
            "36864": "You gave the complex matrix one number for each entry. A complex number is two.",
            "32768": "You made the output projection complex-linear too. It stays real here.",
            "6144": "That is one layer. The model has four.",
            "2048": "That is one projection of one layer.",
        },
    ),
    Task(
        id="ch14.paired-interval",
        statement=r"Write `paired_interval(a, b)`. Each argument is a dictionary from seed to final loss, "
        r"`{0: 3.48, 1: 3.51, ...}`; three seeds at least are in both. Subtract `b` from `a` seed by seed, over the "
        r"seeds that both have, and return an array of two numbers: the mean difference $\bar d$, and half the width "
        r"of its 95 % interval, $t_{0.975,\,n-1}\, s_d/\sqrt{n}$. `scipy.stats.t.ppf` knows $t$.",
        solution=paired_interval,
        examples=_examples,
        mistakes={
            "the two variants are treated as if they had nothing in common": _unpaired,
            "losses are matched in the order in which they come, not by seed": _by_rank,
            "the standard deviation divides by n, not by n - 1": lambda a, b: _with(a, b, ddof=0),
            "the square root of n is forgotten": lambda a, b: _with(a, b, root=False),
            "five per cent are left out on each side: the quantile is that of 90 %": lambda a, b: _with(
                a, b, quantile=0.95
            ),
        },
        hint=r"First the list of differences, one for each seed in both: `[a[s] - b[s] for s in a if s in b]`. "
        r"Then `std(ddof=1)`, and `stats.t.ppf(0.975, n - 1)`.",
        why=r"Losses of one seed rise and fall together, because parameters and batches are shared. The differences do "
        r"not carry that noise. Where it is most of the noise, their interval is narrower than that of two spreads.",
    ),
)


# --- the lab: tables that count letters ---


def table_loss(train, valid, size):
    pairs = Counter(zip(*train, strict=True))
    contexts = Counter(train[0])
    p = []
    for seen, token in zip(*valid, strict=True):
        n = pairs[seen, token] + 1
        p.append(n / (contexts[seen] + size))
    return -np.mean(np.log(p))


def _how_many_letters() -> list[bool]:
    """Tables of no letter, of one, two and three: which has the least loss on text that it has not counted."""
    from rope_lab.training.data import corpora

    corpus = corpora.load("tinyshakespeare", tokenizer="bpe-256")
    texts, losses = (corpus.train[:400_000].tolist(), corpus.valid[:20_000].tolist()), []
    for letters in range(4):
        contexts = [[tuple(x[i - letters : i]) for i in range(3, len(x))] for x in texts]
        train, valid = ((seen, x[3:]) for seen, x in zip(contexts, texts, strict=True))
        losses.append(float(table_loss(train, valid, 256)))
    return [loss == min(losses) for loss in losses]


_texts = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=12).map(
    lambda pairs: tuple(map(list, zip(*pairs, strict=True)))
)

LAB = (
    Task(
        id="ch14.table-loss",
        statement=r"""
        Write `table_loss(train, valid, size)`. Each text is two lists of one length: what the table sees at each place,
        and the token that comes next. After $c$ the table gives the token $t$ the probability
        $(n_{ct} + 1) / (n_c + \mathrm{size})$. Here $n_{ct}$ says how often $t$ came after $c$ in `train`, $n_c$ how
        often $c$ stood there at all, and `size` is the number of different tokens. Return the mean of $-\ln p$ over
        `valid`. What a table sees may be a tuple; `collections.Counter` counts it.
        """,
        solution=table_loss,
        examples=st.tuples(_texts, _texts, st.integers(5, 9)),
        mistakes={
            "the text that is counted is also the one that is judged": lambda a, _, size: table_loss(a, a, size),
            "the loss is a sum": lambda a, b, size: len(b[0]) * table_loss(a, b, size),
            "the table does not look at what stands before": lambda a, b, size: table_loss(
                ([0] * len(a[0]), a[1]), ([0] * len(b[0]), b[1]), size
            ),
            "the logarithm has base 2": lambda a, b, size: table_loss(a, b, size) / np.log(2),
        },
        hint=r"`Counter(zip(*train))` counts the pairs. A pair that never came counts 0.",
        why=r"The 1 keeps every probability above zero, so that a pair that never came does not cost infinitely much.",
    ),
    Question(
        id="ch14.how-many-letters",
        prompt=r"Tables have counted the first 400,000 letters of the text. Which has the smallest loss on the first "
        r"20,000 letters of the validation text?",
        choices=("It sees no letter.", "The last one.", "The last two.", "The last three."),
        answer="C",
        truth=_how_many_letters,
        feedback={
            "A": r"It knows only how often each letter occurs. After a q, for example, one can know more.",
            "B": r"One letter helps much. Does a second one still help?",
            "D": r"It knows more, but how often has it seen each three letters? Try it.",
        },
        hint=r"Give the experiment one more table, `(1, 2, 3)`.",
        why=r"With each letter more the table has more rows, and each row has been seen less often.",
    ),
)
