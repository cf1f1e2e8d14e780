"""What "RoPE on values" says about one cached tensor: the latent as key and value, the dilemma, and the way out."""

import numpy as np
import sympy as sp

from rope_lab.algebra import latent, rotation
from rope_lab.claims.entry import Erratum
from rope_lab.claims.ledger import claim

T, D_C = 6, 8


def draw(rng, *shapes):
    return [rng.normal(size=shape) for shape in shapes]


@claim(
    "su19.mla-mqa-eq",
    locus="Some Thoughts, the first MLA formula",
    statement=r"With one shared latent, the weights are $a_{mn} \propto e^{s_{mn}}$ and the logits are "
    r"$s_{mn} = \exp(q_m^\top c_n)$.",
    verdict="false",
    slip=True,
    mend=r"a_{mn} \propto e^{s_{mn}}, \quad s_{mn} = [-\exp(-]q_m^\top c_n[-)-]",
    gives=(1, 0),
    correction=r"Read $s_{mn} = q_m^\top c_n$, as in the last MLA formula of the same article: the exponential is "
    r"written twice.",
    witness=r"$q^\top c = (0, 1)$: with the exponential once the weights are $([[0.2689, 0.7311]])$, with two of them "
    r"$([[0.1521, 0.8479]])$.",
    computed=lambda: (latent.softmax([0, 1]).tolist(), latent.softmax(np.exp([0, 1])).tolist()),
    erratum=Erratum(
        1,
        "su19-twice-exp",
        "An exponential written twice",
        "Whoever implements the first formula for MLA as it stands. What the article goes on to say does not use "
        "the second exponential.",
        matters="code",
    ),
    tolerance=1e-12,
    holds=lambda s: s,
    printed=np.exp,
    control=lambda s: -s,
)
def weights_over_the_latents(logit, rng):
    q, c = draw(rng, (1, T, D_C), (T, D_C))
    one = np.eye(D_C)[None]
    meant = latent.absorbed(q, c, W_k=one, W_v=one)[0, -1]
    return np.abs(latent.softmax(logit(c @ q[0, -1])) @ c - meant).max()


@claim(
    "su19.mla-mqa-approx",
    locus="Some Thoughts, on MLA",
    statement=r"If every head makes its keys and values from one latent, $k_n = W_k c_n$ and $v_n = W_v c_n$, then "
    r"decoding is MQA with $c_n$ as key and value: $W_k^\top$ goes to the query, $W_v$ behind the sum.",
    correction=r"Exact without positions. MLA itself keeps a small rotary key beside the latent, which is no part of "
    r"the value; hence the article's “roughly”.",
    witness=r"One head, two tokens, $W_k = (2)$, $W_v = (3)$: query $1$ against keys $2c_n$, or query $2$ against "
    r"$c_n$; three times the sum, or the sum of three times.",
    tolerance=1e-11,
    holds=lambda W_k: W_k,
    control=lambda W_k: W_k.transpose(0, 2, 1),  # W_k q in the place of W_k^T q
)
def absorbed_is_expanded(given, rng):
    q, c, W_k, W_v = draw(rng, (3, T, D_C), (T, D_C), (3, D_C, D_C), (3, 4, D_C))
    wide, narrow = (q, given(W_k), W_k), (q[..., :5], W_k[:, :5], W_k[:, :5])  # heads as wide as the latent, and less
    return max(
        np.abs(latent.absorbed(x, c, W_k=to, W_v=W_v) - latent.expanded(x, c, W_k=made, W_v=W_v)).max()
        for x, to, made in (wide, narrow)
    )


@claim(
    "su19.mla-dilemma-share",
    locus="Some Thoughts, first of the two cases",
    statement=r"If the keys are $\mathcal R_n c_n$ and the values $c_n$, then either both are cached, which doubles "
    r"the cache, or the cached latents are turned again at each step.",
    witness=r"Three tokens of width 2: 12 numbers kept and 3 vectors turned, or 6 numbers and $1 + 2 + 3 = 6$ vectors.",
    cases="(tokens, width) = (1, 2), (3, 2) and (7, 4)",
    holds=lambda tokens, width: {
        "two caches": (2 * tokens * width, tokens),
        "turn again": (tokens * width, tokens * (tokens + 1) // 2),
    },
    control=lambda tokens, width: {
        "two caches": (2 * tokens * width, tokens),
        "turn again": (tokens * width, tokens),  # as if each were turned once
    },
)
def what_the_two_ways_keep_and_turn(counted):
    for tokens, width in ((1, 2), (3, 2), (7, 4)):
        x, theta = np.ones((tokens, width)), rotation.frequencies(width)
        for way, expected in counted(tokens, width).items():
            run = latent.decode(x, x, way, positions=np.arange(tokens), theta=theta)
            if (run.numbers, run.turned) != expected:
                return False
    return True


@claim(
    "su19.mla-dilemma-abs",
    locus="Some Thoughts, second of the two cases",
    statement=r"If the values are the rotated latents too, key and value are one tensor, but the output is no longer "
    r"relative: a text moved by $s$ has the output $\mathcal R_s o_m$ in the place of $o_m$.",
    correction=r"The shift acts through $o \mapsto \mathcal R_s o$ and in no other way. That is what turning the "
    r"output back removes.",
    witness=r"A single token with $c = (1, 0)$: its output is $\mathcal R_m c$, which is $([[1, 0]])$ at $m = 0$ and "
    r"$([[-1, 0]])$ half a turn later.",
    computed=lambda: tuple(rotation.rotate([1, 0], m, theta=[np.pi]).tolist() for m in (0, 1)),
    tolerance=1e-11,
    holds=lambda R: R,
    control=lambda R: np.eye(len(R)),  # "nothing moves"
)
def a_shift_turns_the_output(action, rng):
    q, c = draw(rng, (T, D_C), (T, D_C))
    theta, shifts = rotation.frequencies(D_C), (0.0, 1.0, 4.0, -20.5)
    runs = [latent.decode(q, c, "turned values", positions=np.arange(T) + s, theta=theta) for s in shifts]
    if any(run.numbers != c.size for run in runs):  # one tensor
        return 1.0
    turns = [action(rotation.rotation_matrix(s, theta=theta)) for s in shifts]
    return max(np.abs(run.outputs - runs[0].outputs @ R.T).max() for run, R in zip(runs, turns, strict=True))


@claim(
    "su19.mla-vo-shared",
    locus="Some Thoughts, the last MLA formula",
    statement=r"Cache $\mathcal R_n c_n$ alone, use it as key and as value, and turn the output back: "
    r"$\mathcal R_m^\top \sum_n a_{mn} \mathcal R_n c_n = \sum_n a_{mn} \mathcal R_{n-m} c_n$ with "
    r"$s_{mn} = q_m^\top \mathcal R_{n-m} c_n$. One tensor, and relative.",
    witness=r"A single token: its output is $\mathcal R_m^\top \mathcal R_m c = c$ wherever it stands.",
    tolerance=1e-10,
    holds="undo",
    control="turned values",
)
def one_cache_and_relative(way, rng):
    q, c = draw(rng, (T, D_C), (T, D_C))
    theta, gaps = rotation.frequencies(D_C), []
    expected = latent.relative(q, c, positions=np.arange(T), theta=theta)
    for shift in (0.0, 1000.0):
        run = latent.decode(q, c, way, positions=np.arange(T) + shift, theta=theta)
        gaps.append(np.abs(run.outputs - expected).max() + abs(run.numbers - c.size))
    return max(gaps)


def _rank_after_one_step():
    W = np.array([[1, 0, 1, 0], [0, 1, 0, 2]])
    R = rotation.rotation_matrix(1, theta=np.arccos([3 / 5, 5 / 13]))
    return int(np.linalg.matrix_rank(np.vstack([W, W @ R])))


@claim(
    "su19.mla-training",
    locus="Some Thoughts, end of the section",
    statement=r"The way out cannot be used directly in the form in which MLA is trained, where each head makes its "
    r"own values $W_v c_n$ first.",
    correction=r"The reason: no rotation, and no other matrix $X$, has $W_v \mathcal R_1 = X W_v$ for a general "
    r"$W_v$ with fewer rows than columns. Some $W_v$ do have one: those whose kernel $\mathcal R_1$ maps to itself.",
    witness=r"$W_v = \begin{pmatrix} 1 & 0 & 1 & 0 \\ 0 & 1 & 0 & 2 \end{pmatrix}$ and two planes with cosines "
    r"$\frac35$ and $\frac5{13}$: $W_v$ over $W_v \mathcal R_1$ has rank [[4]], so the rows of $W_v \mathcal R_1$ "
    r"are no combinations of those of $W_v$.",
    computed=_rank_after_one_step,
    cases="one matrix of 2 rows and 4 columns",
    holds=((1, 0, 1, 0), (0, 1, 0, 2)),
    control=((1, 0, 0, 0), (0, 1, 0, 0)),  # a whole plane: this one has a training form
)
def no_matrix_after_w_does_it(rows):
    W, turns = sp.Matrix(rows), [(3, 4, 5), (5, 12, 13)]
    blocks = [sp.Matrix([[a, -b], [b, a]]) / c for a, b, c in turns]
    none = W.col_join(W * sp.diag(*blocks)).rank() > W.rank()
    theta = [np.arctan2(b, a) for a, b, _ in turns]
    apart = latent.training_form(np.array(rows, dtype=float), theta=theta)[1]
    return none and bool(apart > 1e-3)


@claim(
    "su19.mla-splice",
    locus="Some Thoughts, on MLA",
    statement=r"MLA avoids the dilemma by a splice: most of each logit without positions, and a small rotary part.",
    verdict="empirical",
    date="2026-11-21",
    tier="minor",
    correction=r"In DeepSeek-V2 and V3 each head has 128 dimensions without rotation and 64 with it; 512 numbers of "
    r"latent and 64 of rotary key are cached.",
)
def what_mla_splices():
    """Read: the paper on DeepSeek-V2, and the configuration of V3 in Hugging Face's transformers."""
