"""The claims of the sources that this book sets out to check, by id: what the ledger is to contain in the end.

The ledger itself says what is entered. A claim of our own (``book.``) is not on this list.
"""

from __future__ import annotations

__all__ = ["INVENTORY"]

_NAMES = {
    "su19": """
        abs-list attn-def chain en-zh-diff experiment-setup general-solution iso-rotation lru-retnet
        lru-vs-rwkv mla-dilemma-abs mla-dilemma-share mla-mqa-approx mla-mqa-eq mla-splice mla-training
        mla-vo-shared o-rope-def qk-relative rnn-complete rnn-complex-form rnn-geometric rnn-special rot-law
        table.k table.nope table.o table.q table.qk table.qkv table.qkvo table.v table.vo v-absolute
        vo-relative vo-two-absolute vo-vs-nope-qk zh-double-negative zh-poyo zh-roper
    """,
    "su6": """
        absorb-identity absorb-no-loss bch-implies-skew bch-order2 blockdiag-exp blockdiag-form broader def
        det-exp det-minus-conclusion det-minus-factor det-minus-power det1-converse exp-orth exp-power
        exp-similar history-4 linattn-identity linattn-improve linattn-not-absorbable not-all-exp
        orthogonal-power rtheta-exp simplest-cost skew-normal-form
    """,
    "blog": """
        angle attn-def block-R det-parity efficient-cost efficient-interleaved half-det half-efficient
        half-matrix half-orth inner-chain len2 llama-layout order-wr output-sum pairings props relative-def
        row-swaps same-effects theta
    """,
    "crope": """
        ablation-design abs-impossible abs-markedly-higher abs.negligible abs.not-complex-linear
        abs.redundancy abs.savings50 crope-beats-absolute eq1 eq10 eq11 eq12 eq13 eq13-dof-argument
        eq13-not-equivalent eq14-15 eq15-similarity eq16-exists eq16-index eq16-order eq17-18 eq19-20 eq2
        eq20-monotone eq21 eq22-23 eq23-limit eq24 eq25-26 eq27-sign eq28-form eq28-limit eq29-Wx eq29-keys
        eq29-sum eq3 eq30-count eq30-structure eq4 eq5 eq6 eq7 eq8-9 fig2-caption fig4-caption figure-task
        half-function-space half-params half-redundant-task in-subspace intro.half-reserved
        intro.remains-significant model-5.1-conflict one-layer pm-meaning realform remark.activation
        remark.context remark.rel-extra-params savings.block savings.qkvo sec4.1-crope-same
        sec4.2-constant-embedding sec4.more-dims sec4.near-perfect sec6-sensitivity sigma.basis
        sigma.expressivity sigma.geometry sigma.missing-reflections sigma.multi-vector sigma.rot-scale
        sigma.single-vector sigma.span table1-vs-2 table1.pg19 table1.ptb table1.wikitext2 table2.row1
        table2.row2 table2.row3 table2.row4 toy-advantage train-order training-budget within-noise xpos-name
    """,
    "cross": """
        conventions theta-index
    """,
    "unsaid": """
        aliasing bias cosmetic-C crope-degenerate crope-flops crope-v crope-width decay general-qk layouts
        linattn-normaliser norm partial precision real-index recurrence single-side-order theta-choice
        vo-freq
    """,
}
INVENTORY = frozenset(f"{source}.{name}" for source, names in _NAMES.items() for name in names.split())
