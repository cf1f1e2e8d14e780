"""What to read differently in the sources: which claims make one item of the errata page, and whom it concerns.

What is printed, what to read instead and the witness stand in the ledger's entries; nothing is said twice. An item
appears on the page as soon as one of its claims is entered. Remarks on scope are no errata; they stay in the chapters.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ERRATA", "Erratum", "erratum_of"]


@dataclass(frozen=True)
class Erratum:
    """One item: an id ``source-words``, its title, who is affected (and what stands), and its claims in order."""

    id: str
    title: str
    affected: str
    claims: tuple[str, ...]

    @property
    def source(self) -> str:
        return self.id.partition("-")[0]


ERRATA = (
    Erratum(
        "su19-twice-exp",
        "An exponential written twice",
        "Whoever implements the first formula for MLA as it stands. What the article goes on to say does not use the "
        "second exponential.",
        ("su19.mla-mqa-eq",),
    ),
    Erratum(
        "su6-det",
        "A determinant of −1",
        "Whoever wants a reflection inside a position code. A rotation has determinant 1, so the RoPE of every model "
        "is untouched.",
        ("su6.det-minus-power", "su6.det-minus-conclusion", "su19.iso-rotation"),
    ),
    Erratum(
        "su6-tacit",
        "What the definition takes for granted",
        "Whoever takes the definition as the whole truth, or knows positions as whole numbers only. Every RoPE in use "
        "satisfies what is left unsaid.",
        ("su6.def", "su6.bch-implies-skew", "su19.general-solution"),
    ),
    Erratum(
        "blog-values",
        "One letter in the output",
        "Whoever copies the formula into code: nothing would be mixed.",
        ("blog.output-sum",),
    ),
    Erratum(
        "blog-swaps",
        "Moves of rows, not swaps",
        "Whoever counts the swaps to find the sign of the determinant. The conclusion, determinant 1, stands.",
        ("blog.row-swaps",),
    ),
    Erratum(
        "blog-logit",
        "The logit is relative, the weight is more",
        "Whoever reads one attention weight as a function of one distance.",
        ("blog.relative-def",),
    ),
    Erratum(
        "crope-softmax",
        "The exponential of the softmax",
        "Whoever implements Section 2 from the page. What follows in the paper speaks of the usual softmax.",
        ("crope.eq2", "crope.eq3"),
    ),
    Erratum(
        "crope-dagger",
        "A transpose for a conjugate transpose",
        "Whoever computes with the complex vectors as printed. With the conjugate transpose the equations hold, and "
        "the argument with them.",
        ("crope.eq11", "crope.eq12", "crope.eq13", "crope.eq27-sign", "crope.eq28-form", "crope.realform"),
    ),
    Erratum(
        "crope-order",
        "Order and index of the planes",
        "Whoever builds the vector of Section 4.1 coordinate by coordinate. The construction works with the slow "
        "planes, which are the ones meant.",
        ("crope.eq16-order", "crope.eq16-index"),
    ),
    Erratum(
        "crope-factors",
        "A factor and an index",
        "Whoever compares numbers with the page. The factor changes the scale of the logits and nothing else.",
        ("crope.eq22-23", "crope.eq6"),
    ),
    Erratum(
        "crope-delta",
        "Sums that become a delta",
        "Whoever needs the logits themselves to vanish away from one position. The softmax weights over a window do "
        "concentrate, and that is what the argument uses.",
        ("crope.eq21", "crope.eq23-limit", "crope.eq28-limit"),
    ),
    Erratum(
        "crope-absolute",
        "What absolute positions cannot do",
        "Whoever concludes that added positions cannot solve the task. They can on a finite window; for all positions "
        "at once the paper is right about bounded ones.",
        ("crope.eq25-26", "crope.abs-impossible"),
    ),
    Erratum(
        "crope-sums",
        "A normalisation",
        "Whoever builds the weights of Section 4.3. Suitably normalised, the construction does what the paper says.",
        ("crope.eq29-Wx", "crope.eq29-sum", "crope.eq29-keys"),
    ),
    Erratum(
        "crope-half",
        "Half of what",
        "Whoever quotes the saving, or rebuilds the model from its description.",
        ("crope.abs.savings50", "crope.model-5.1-conflict"),
    ),
    Erratum(
        "crope-captions",
        "Two captions",
        "Whoever reads the figures by their captions alone.",
        ("crope.fig2-caption", "crope.fig4-caption"),
    ),
    Erratum(
        "crope-plus-minus",
        "What ± means",
        "Whoever reads it as an interval and compares two rows by it.",
        ("crope.pm-meaning",),
    ),
)


def erratum_of(claim_id: str) -> Erratum | None:
    """The item that a claim belongs to.

    >>> erratum_of("blog.output-sum").title
    'One letter in the output'
    """
    return next((item for item in ERRATA if claim_id in item.claims), None)
