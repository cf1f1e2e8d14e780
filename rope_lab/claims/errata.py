"""What to read differently in the sources: the items of the errata page, as the claims bring them.

What is printed, what to read instead and the witness stand in the ledger's entries; nothing is said twice. Remarks on
scope are no errata; they stay in the chapters.
"""

from __future__ import annotations

from rope_lab.claims.entry import Claim, Erratum
from rope_lab.claims.ledger import load

__all__ = ["errata_items", "erratum_of"]


def errata_items() -> list[tuple[Erratum, list[Claim]]]:
    """The items in the order of the page, each with its claims.

    >>> [claim.id for claim in errata_items()[6][1]]
    ['crope.eq2', 'crope.eq3']
    """
    ledger = load()
    items = [
        (entry.erratum, [entry, *(ledger[name] for name in entry.erratum.also)])
        for entry in ledger.values()
        if entry.erratum
    ]
    return sorted(items, key=lambda item: item[0].number)


def erratum_of(claim_id: str) -> Erratum | None:
    """The item that a claim belongs to.

    >>> erratum_of("blog.output-sum").title
    'One letter in the output'
    """
    return next((item for item, claims in errata_items() if claim_id in (claim.id for claim in claims)), None)
