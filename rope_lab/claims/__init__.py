"""The ledger: every claim of the sources as an executable check, with a control that must fail."""

from rope_lab.claims.entry import SOURCES, Claim, MalformedClaim, Result
from rope_lab.claims.ledger import LEDGER, NoSuchClaim, claim, load, run, select, verify

__all__ = [
    "LEDGER",
    "SOURCES",
    "Claim",
    "MalformedClaim",
    "NoSuchClaim",
    "Result",
    "claim",
    "load",
    "run",
    "select",
    "verify",
]
